#include "cli/stop.h"

#include <signal.h>
#include <stddef.h>
#include <ttnn_frontend.h>

#include "cli/cli.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t came;

/* The second one ends the program at once, whatever it leaves. */
static void note(int number)
{
	if (came) {
		signal(number, SIG_DFL);
		raise(number);
	}
	came = number;
}

static bool go_on(void)
{
	return !came;
}

void cli_stop_watch(void)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, before;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		/* One that is ignored was meant to be: nohup. */
		if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
			sigaction(signals[i], &action, NULL);
	}
	ttnn_set_poll(go_on);
}

int cli_stop_fail(void)
{
	if (!came)
		return cli_fail();
	/* Who waits for the program is to see what ended it. */
	signal(came, SIG_DFL);
	raise(came);
	return TT_EXIT_ERROR;
}
