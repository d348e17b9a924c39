/* option tables: parsing, help, completion */
#include "test.h"

#include <fcntl.h>

#include "base/opt.h"
#include "base/vec.h"

static bool verbose, quiet;
static int64_t level;
static uint64_t limit;
static double ratio;
static const char *output;
static struct tt_opt_list tags;
static int format;

static const struct tt_opt options[] = {
	{"verbose", 'v', TT_OPT_FLAG, &verbose, NULL, "say more"},
	{"quiet", 'q', TT_OPT_FLAG, &quiet, NULL, "say less"},
	{"level", 'l', TT_OPT_INT, &level, "N", "how deep"},
	{"limit", 0, TT_OPT_SIZE, &limit, "BYTES", "at most so many bytes (K, M, G, T)"},
	{"ratio", 0, TT_OPT_DOUBLE, &ratio, "X", "a part"},
	{"output", 'o', TT_OPT_STRING, &output, "FILE",
	 "where to write what was found, which may be a rather long text that needs another line"},
	{NULL, 't', TT_OPT_LIST, &tags, "TAG", "a tag; may be given more than once"},
	{"count", 0, TT_OPT_COUNT, &level, "N", "how many"},
	{"depth", 0, TT_OPT_POSITIVE, &level, "N", "how far down"},
	{"format", 'f', TT_OPT_CHOICE, &format, "graph|csv|svg", "what to write"},
	{"an-option-of-a-long-name", 0, TT_OPT_FLAG, &quiet, NULL, "its text is below"},
	{0},
};

static int run_count;

static int run(const struct tt_cmd *cmd, size_t count, char **operands)
{
	(void)operands;
	run_count++;
	return strcmp(cmd->name, "show") == 0 ? (int)count : TT_EXIT_NO;
}

static const struct tt_cmd show = {
	.name = "show",
	.help = "print a trace",
	.operands = "TRACE...",
	.least = 1,
	.most = 3,
	.more = "Example:\n  ttnn show a.ttrace",
	.options = options,
	.exclusive = "quiet|depth|ratio",
	.run = run,
};

static const struct tt_cmd exec = {
	.name = "exec",
	.help = "run a program",
	.most = TT_CMD_ANY,
	.stop_at_operand = true,
	.options = options,
	.run = run,
};

static const struct tt_cmd *const commands[] = {&show, &exec, NULL};
static const struct tt_cmd root = {.name = "prog", .help = "a program", .commands = commands};

/* Splits a line at blanks, resets the targets, parses. */
static tt_status parse(struct tt_opt_result *result, const struct tt_cmd *cmd, char *line,
		       char **words)
{
	size_t count = 0;
	char *save = NULL;

	verbose = quiet = false;
	level = 0;
	limit = 0;
	ratio = 0;
	output = NULL;
	tags.count = 0;
	format = -1;
	for (char *word = strtok_r(line, " ", &save); word; word = strtok_r(NULL, " ", &save))
		words[count++] = word;
	return tt_opt_parse(result, cmd, count, words);
}

#define PARSE(cmd, text)                                                                           \
	char line[] = text, *words[16];                                                            \
	struct tt_opt_result result;                                                               \
	CHECK_OK(parse(&result, cmd, line, words))

TEST(every_kind_long)
{
	PARSE(&show, "a --verbose --level -12 --limit=3M b --ratio 0.25 --output=x=y --format csv");
	CHECK(verbose && !quiet);
	CHECK_INT(level, -12);
	CHECK_INT(limit, 3 << 20);
	CHECK(ratio == 0.25);
	CHECK_STR(output, "x=y");
	CHECK_INT(format, 1);
	CHECK_INT(result.count, 2);
	CHECK_STR(words[0], "a");
	CHECK_STR(words[1], "b");
}

TEST(beginnings_of_names)
{
	PARSE(&show, "a --verb --lev 3 --out=x --form svg --an-option");
	CHECK(verbose && quiet);
	CHECK_INT(level, 3);
	CHECK_STR(output, "x");
	CHECK_INT(format, 2);
	CHECK_INT(result.count, 1);
}

TEST(a_name_outdoes_longer_ones)
{
	static bool plain, longer;
	static const struct tt_opt rows[] = {
		{"json-lines", 0, TT_OPT_FLAG, &longer, NULL, "more"},
		{"json", 0, TT_OPT_FLAG, &plain, NULL, "less"},
		{"json-text", 0, TT_OPT_FLAG, &longer, NULL, "more"},
		{"hello", 0, TT_OPT_FLAG, &longer, NULL, "greet"},
		{0},
	};
	static const struct tt_cmd cmd = {.name = "x", .help = "x", .options = rows};
	PARSE(&cmd, "--json");
	CHECK(plain && !longer);
	CHECK_FAILS(parse(&result, &cmd, (char[]){"--json-"}, words), TTNN_INVALID,
		    "option '--json-' may be '--json-lines' or '--json-text'");
	CHECK_FAILS(parse(&result, &cmd, (char[]){"--hel"}, words), TTNN_INVALID,
		    "option '--hel' may be '--hello' or '--help'");
	CHECK_FAILS(parse(&result, &cmd, (char[]){"--=3"}, words), TTNN_INVALID,
		    "unknown option '--'");
	CHECK_OK(parse(&result, &cmd, (char[]){"--help"}, words));
	CHECK(result.help);
}

TEST(letters_together_and_apart)
{
	PARSE(&show, "-vqqofile -t one -ttwo -l0x10 -f svg -- -v --");
	CHECK(verbose && quiet);
	CHECK_STR(output, "file");
	CHECK_INT(tags.count, 2);
	CHECK_STR(tags.data[1], "two");
	CHECK_INT(level, 16);
	CHECK_INT(format, 2);
	CHECK_INT(result.count, 2);
	CHECK_STR(words[0], "-v");
	CHECK_STR(words[1], "--");
	TT_VEC_DEINIT(&tags);
}

TEST(options_behind_a_program_are_its_own)
{
	PARSE(&exec, "-v prog -q --unknown");
	CHECK(verbose && !quiet);
	CHECK_INT(result.count, 3);
	CHECK_STR(words[2], "--unknown");
}

TEST(a_dash_is_an_operand)
{
	PARSE(&show, "-");
	CHECK_INT(result.count, 1);
}

TEST(help_counts_alone)
{
	PARSE(&show, "-vh");
	CHECK(result.help);
}

TEST(wrong_usage)
{
	static const struct {
		const char *line, *says;
	} rows[] = {
		{"--vebose a", "unknown option '--vebose'; did you mean '--verbose'?"},
		{"--ouptut x", "unknown option '--ouptut'; did you mean '--output'?"},
		{"--hlp x", "did you mean '--help'?"},
		{"--zebra a", "unknown option '--zebra'"},
		{"-vx a", "unknown option '-x'"},
		{"a --output", "option '--output' needs an argument: FILE"},
		{"a -vo", "option '-o' needs an argument: FILE"},
		{"a --verbose=1", "option '--verbose' takes no argument"},
		{"a --level 12x", "--level: '12x' is not a whole number"},
		{"a -l 99999999999999999999", "-l: '99999999999999999999' is not a whole number"},
		{"a --count 12x", "--count: '12x' is not a whole number from 0 to 2147483647"},
		{"a --count -1", "is not a whole number from 0"},
		{"a --count 2147483648", "is not a whole number from 0"},
		{"a --count 99999999999999999999", "is not a whole number from 0"},
		{"a --depth 0", "--depth: '0' is not a whole number from 1 to 2147483647"},
		{"a --quiet --depth 1", "--quiet and --depth exclude each other"},
		{"a --ratio 1 -vq", "--ratio and --quiet exclude each other"},
		{"a --count=", "--count: '' is not a whole number"},
		{"a --level 99999999999999999999", "is not a whole number"},
		{"a --limit 99999999999999999999", "is not a size"},
		{"a --ratio 1e999", "--ratio: '1e999' is not a number"},
		{"a --ratio nan", "--ratio: 'nan' is not a number"},
		{"a --output=", "option '--output' needs an argument that is not empty: FILE"},
		{"a --limit 5Q", "--limit: '5Q' is not a size"},
		{"a --limit -5", "is not a size"},
		{"a --limit 0", "is not a size"},
		{"a --limit 0K", "is not a size"},
		{"a --limit 5MB", "is not a size"},
		{"a --limit 16777216T", "is not a size"},
		{"a --ratio=half", "--ratio: 'half' is not a number"},
		{"a --ratio=", "--ratio: '' is not a number"},
		{"a -f cs", "-f: 'cs' is none of graph|csv|svg"},
		{"-v", "missing operand: TRACE..."},
		{"a b c d", "unexpected operand 'd'"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_opt_result result;
		char line[64], *words[16];

		snprintf(line, sizeof(line), "%s", rows[i].line);
		CHECK_FAILS(parse(&result, &show, line, words), TTNN_INVALID, rows[i].says);
	}
	CHECK_FAILS(tt_cmd_fail_unknown(&root, "prog", "shwo"), TTNN_INVALID,
		    "'shwo' is no command of prog; did you mean 'show'?");
	CHECK_FAILS(tt_cmd_fail_unknown(&root, "prog", "bananas"), TTNN_INVALID,
		    "'bananas' is no command of prog");
	CHECK(!strstr(ttnn_error(), "mean"));
}

TEST(nothing_is_empty)
{
	struct tt_opt_result result;
	char name[] = "-o", tag[] = "-t", none[] = "", operand[] = "a";
	char *option[] = {operand, name, none}, *list[] = {operand, tag, none};
	char *operands[] = {operand, none}, *program[] = {none}, *arguments[] = {operand, none};

	CHECK_FAILS(tt_opt_parse(&result, &show, 3, option), TTNN_INVALID,
		    "option '-o' needs an argument that is not empty: FILE");
	CHECK_FAILS(tt_opt_parse(&result, &show, 3, list), TTNN_INVALID, "not empty: TAG");
	CHECK_FAILS(tt_opt_parse(&result, &show, 2, operands), TTNN_INVALID,
		    "an operand is empty: TRACE...");
	CHECK_FAILS(tt_opt_parse(&result, &exec, 1, program), TTNN_INVALID, "an operand is empty");
	/* A program may get what it likes. */
	CHECK_OK(tt_opt_parse(&result, &exec, 2, arguments));
}

TEST(sizes)
{
	static const struct {
		const char *text;
		uint64_t size;
	} rows[] = {{"17", 17},
		    {"1K", 1024},
		    {"2G", UINT64_C(2) << 30},
		    {"16777215T", UINT64_C(16777215) << 40},
		    {"18446744073709551615", UINT64_MAX}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_opt_result result;
		char line[64], *words[16];

		snprintf(line, sizeof(line), "a --limit %s", rows[i].text);
		CHECK_OK(parse(&result, &show, line, words));
		CHECK(limit == rows[i].size);
	}
}

TEST(help_text)
{
	struct tt_str text = {0};

	tt_cmd_help(&text, &show, "prog show");
	CHECK_STR(tt_str_text(&text),
		  "Usage: prog show [OPTIONS] TRACE...\n"
		  "\n"
		  "print a trace\n"
		  "\n"
		  "Options:\n"
		  "  -v, --verbose      say more\n"
		  "  -q, --quiet        say less\n"
		  "  -l, --level N      how deep\n"
		  "      --limit BYTES  at most so many bytes (K, M, G, T)\n"
		  "      --ratio X      a part\n"
		  "  -o, --output FILE  where to write what was found, which may be a rather long\n"
		  "                     text that needs another line\n"
		  "  -t TAG             a tag; may be given more than once\n"
		  "      --count N      how many\n"
		  "      --depth N      how far down\n"
		  "  -f, --format graph|csv|svg\n"
		  "                     what to write\n"
		  "      --an-option-of-a-long-name\n"
		  "                     its text is below\n"
		  "  -h, --help         print this help\n"
		  "\n"
		  "Example:\n"
		  "  ttnn show a.ttrace\n");
	tt_str_deinit(&text);
}

TEST(commands_run_and_tell)
{
	char *good[] = {"show", "-v", "x", "y"}, *bad[] = {"exec"}, *wrong[] = {"nothing"};
	int old = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY);

	run_count = 0;
	CHECK_INT(tt_cmd_run(&root, "prog", 4, good), 2);
	CHECK(verbose);
	CHECK_INT(tt_cmd_run(&root, "prog", 1, bad), TT_EXIT_NO);
	dup2(nowhere, STDERR_FILENO);
	CHECK_INT(tt_cmd_run(&root, "prog", 1, wrong), TT_EXIT_ERROR);
	CHECK_INT(tt_cmd_run(&root, "prog", 0, wrong), TT_EXIT_ERROR);
	dup2(old, STDERR_FILENO);
	close(old);
	close(nowhere);
	CHECK_INT(run_count, 2);
}

TEST(completion_knows_all_words)
{
	struct tt_str text = {0};

	tt_cmd_completion_bash(&text, &root);
	CHECK(strstr(tt_str_text(&text), "\t\"prog\") echo \"show exec --help -h\" ;;\n"));
	CHECK(strstr(tt_str_text(&text),
		     "\t\"prog exec\") echo \"--verbose -v --quiet -q "
		     "--level -l --limit --ratio --output -o -t --count --depth --format -f "
		     "--an-option-of-a-long-name --help -h\" ;;\n"));
	CHECK(strstr(tt_str_text(&text), "\t\"prog show --format\" | \"prog show -f\") echo "
					 "\"graph csv svg\" ;;\n"));
	tt_str_deinit(&text);
}

SCENARIO(options_survive_exhaustion)
{
	struct tt_opt_result result;
	struct tt_str text = {0};
	char line[] = "a -t 1 -t 2 -t 3 -t 4 -t 5", *words[16];
	tt_status status = parse(&result, &show, line, words);

	TT_VEC_DEINIT(&tags);
	TT_TRY(status);
	tt_cmd_help(&text, &root, "prog");
	tt_cmd_completion_bash(&text, &root);
	status = tt_str_status(&text);
	tt_str_deinit(&text);
	return status;
}
