#include "base/opt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* ---- arguments by kind ------------------------------------------------------------------------ */

static tt_status set_int(const struct tt_opt *opt, const char *spelled, const char *text)
{
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (end == text || *end || errno)
		return tt_fail(TTNN_INVALID, "%s: '%s' is not a whole number", spelled, text);
	*(int64_t *)opt->target = value;
	return TTNN_OK;
}

static tt_status set_count(const struct tt_opt *opt, const char *spelled, const char *text)
{
	int least = opt->kind == TT_OPT_POSITIVE;
	char *end;
	long long value;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (end == text || *end || errno || value < least || value > TT_OPT_COUNT_MOST)
		return tt_fail(TTNN_INVALID, "%s: '%s' is not a whole number from %d to %d",
			       spelled, text, least, TT_OPT_COUNT_MOST);
	*(int64_t *)opt->target = value;
	return TTNN_OK;
}

static tt_status set_size(const struct tt_opt *opt, const char *spelled, const char *text)
{
	static const char units[] = "KMGT";
	unsigned long long value = 0;
	const char *unit;
	unsigned shift;
	char *end = NULL;

	errno = 0;
	if (*text >= '0' && *text <= '9')
		value = strtoull(text, &end, 10);
	unit = end && *end ? strchr(units, *end) : NULL;
	shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (!end || errno || !value || end[unit ? 1 : 0] || (shift && value >> (64 - shift)))
		return tt_fail(
			TTNN_INVALID,
			"%s: '%s' is not a size: a number from 1 on, or one with K, M, G or T behind",
			spelled, text);
	*(uint64_t *)opt->target = value << shift;
	return TTNN_OK;
}

static tt_status set_double(const struct tt_opt *opt, const char *spelled, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !isfinite(value))
		return tt_fail(TTNN_INVALID, "%s: '%s' is not a number", spelled, text);
	*(double *)opt->target = value;
	return TTNN_OK;
}

/* No path, mark or name is empty: one that is comes from a variable that is not set. */
static tt_status need_text(const struct tt_opt *opt, const char *spelled, const char *text)
{
	if (*text)
		return TTNN_OK;
	return tt_fail(TTNN_INVALID, "option '%s' needs an argument that is not empty: %s", spelled,
		       opt->arg);
}

static tt_status set_string(const struct tt_opt *opt, const char *spelled, const char *text)
{
	TT_TRY(need_text(opt, spelled, text));
	*(const char **)opt->target = text;
	return TTNN_OK;
}

static tt_status add_string(const struct tt_opt *opt, const char *spelled, const char *text)
{
	struct tt_opt_list *list = opt->target;
	const char **slot;

	TT_TRY(need_text(opt, spelled, text));
	slot = TT_VEC_PUSH(list);
	if (!slot)
		return tt_fail_nomem();
	*slot = text;
	return TTNN_OK;
}

static tt_status set_choice(const struct tt_opt *opt, const char *spelled, const char *text)
{
	size_t length = strlen(text);
	int index = 0;

	for (const char *word = opt->arg; *word; index++) {
		size_t end = strcspn(word, "|");

		if (end == length && memcmp(word, text, length) == 0) {
			*(int *)opt->target = index;
			return TTNN_OK;
		}
		word += end + (word[end] == '|');
	}
	return tt_fail(TTNN_INVALID, "%s: '%s' is none of %s", spelled, text, opt->arg);
}

/* NULL: a flag, which takes no argument. */
static tt_status (*const setters[])(const struct tt_opt *opt, const char *spelled,
				    const char *text) = {
	[TT_OPT_INT] = set_int,     [TT_OPT_COUNT] = set_count,   [TT_OPT_POSITIVE] = set_count,
	[TT_OPT_SIZE] = set_size,   [TT_OPT_DOUBLE] = set_double, [TT_OPT_STRING] = set_string,
	[TT_OPT_LIST] = add_string, [TT_OPT_CHOICE] = set_choice,
};

/* ---- tables ------------------------------------------------------------------------------------ */

static const struct tt_opt no_options[] = {{0}};
static const struct tt_cmd *const no_commands[] = {NULL};

static const struct tt_opt *options_of(const struct tt_cmd *cmd)
{
	return cmd->options ? cmd->options : no_options;
}

static const struct tt_cmd *const *commands_of(const struct tt_cmd *cmd)
{
	return cmd->commands ? cmd->commands : no_commands;
}

static bool is_row(const struct tt_opt *opt)
{
	return opt->name || opt->letter;
}

const struct tt_cmd *tt_cmd_find(const struct tt_cmd *cmd, const char *name)
{
	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++)
		if (strcmp((*sub)->name, name) == 0)
			return *sub;
	return NULL;
}

/* ---- suggestions ------------------------------------------------------------------------------- */

#define WORD_MOST 64

/* Letters to insert, delete, replace or swap to get from one word to the other. */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][WORD_MOST + 1], la = strlen(a), lb = strlen(b);
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	if (la > WORD_MOST || lb > WORD_MOST)
		return WORD_MOST;
	for (size_t k = 0; k <= lb; k++)
		last[k] = before[k] = k;
	for (size_t i = 1; i <= la; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t k = 1; k <= lb; k++) {
			size_t best = last[k - 1] + (a[i - 1] != b[k - 1]);

			best = last[k] + 1 < best ? last[k] + 1 : best;
			best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] &&
			    before[k - 2] + 1 < best)
				best = before[k - 2] + 1;
			row[k] = best;
		}
		before = last;
		last = row;
		row = oldest;
	}
	return last[lb];
}

/* The nearest word so far; close enough is one letter in three, and one always. */
struct nearest {
	const char *typed, *word;
	size_t distance;
};

static void consider(struct nearest *nearest, const char *word)
{
	size_t d = word ? distance(nearest->typed, word) : WORD_MOST;

	if (d <= 1 + strlen(nearest->typed) / 4 && (!nearest->word || d < nearest->distance)) {
		nearest->word = word;
		nearest->distance = d;
	}
}

tt_status tt_cmd_fail_unknown(const struct tt_cmd *cmd, const char *path, const char *name)
{
	struct nearest nearest = {.typed = name};

	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++)
		consider(&nearest, (*sub)->name);
	if (nearest.word)
		return tt_fail(TTNN_INVALID, "'%s' is no command of %s; did you mean '%s'?", name,
			       path, nearest.word);
	return tt_fail(TTNN_INVALID, "'%s' is no command of %s", name, path);
}

static tt_status fail_unknown_option(const struct tt_cmd *cmd, const char *name)
{
	struct nearest nearest = {.typed = name};

	consider(&nearest, "help");
	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++)
		consider(&nearest, opt->name);
	if (nearest.word)
		return tt_fail(TTNN_INVALID, "unknown option '--%s'; did you mean '--%s'?", name,
			       nearest.word);
	return tt_fail(TTNN_INVALID, "unknown option '--%s'", name);
}

/* ---- parsing ----------------------------------------------------------------------------------- */

struct parse {
	const struct tt_cmd *cmd;
	const struct tt_opt *chosen; /* of those that exclude each other; NULL: none so far */
	size_t argc, at;
	char **argv;
	struct tt_opt_result result;
};

/* Whether a name is one of the words in "tree|peak". */
static bool is_among(const char *words, const char *name)
{
	size_t length = strlen(name);

	for (const char *word = words; word && *word;) {
		size_t end = strcspn(word, "|");

		if (end == length && memcmp(word, name, length) == 0)
			return true;
		word += end + (word[end] == '|');
	}
	return false;
}

/* Of options that exclude each other the first one stays; itself again is no contradiction. */
static tt_status choose(struct parse *parse, const struct tt_opt *opt)
{
	if (!opt->name || !is_among(parse->cmd->exclusive, opt->name))
		return TTNN_OK;
	if (parse->chosen && parse->chosen != opt)
		return tt_fail(TTNN_INVALID, "--%s and --%s exclude each other",
			       parse->chosen->name, opt->name);
	parse->chosen = opt;
	return TTNN_OK;
}

/* `value` is what was behind "=" or the letter; NULL: the next word is the argument. */
static tt_status apply(struct parse *parse, const struct tt_opt *opt, const char *spelled,
		       const char *value)
{
	TT_TRY(choose(parse, opt));
	if (opt->kind == TT_OPT_FLAG) {
		*(bool *)opt->target = true;
		return TTNN_OK;
	}
	if (!value && parse->at == parse->argc)
		return tt_fail(TTNN_INVALID, "option '%s' needs an argument: %s", spelled,
			       opt->arg);
	return setters[opt->kind](opt, spelled, value ? value : parse->argv[parse->at++]);
}

static const struct tt_opt help_row = {"help", 'h', TT_OPT_FLAG, NULL, NULL, "print this help"};

/* What a name or the beginning of names may mean; the name itself outdoes longer ones. */
struct meant {
	const char *typed;
	const struct tt_opt *option, *another;
};

static void offer(struct meant *meant, const struct tt_opt *opt)
{
	size_t length = strlen(meant->typed);

	if (!opt->name || strncmp(opt->name, meant->typed, length) != 0)
		return;
	if (!opt->name[length])
		*meant = (struct meant){.typed = meant->typed, .option = opt};
	else if (!meant->option)
		meant->option = opt;
	else if (meant->option->name[length])
		meant->another = opt;
}

/* The option of that name, or the only one whose name begins so; NULL sets the message. */
static const struct tt_opt *find_long(const struct tt_cmd *cmd, const char *name)
{
	struct meant meant = {.typed = name};

	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++)
		offer(&meant, opt);
	offer(&meant, &help_row);
	if (!meant.option || !*name) {
		fail_unknown_option(cmd, name);
		return NULL;
	}
	if (!meant.another)
		return meant.option;
	tt_fail(TTNN_INVALID, "option '--%s' may be '--%s' or '--%s'", name, meant.option->name,
		meant.another->name);
	return NULL;
}

static tt_status parse_long(struct parse *parse, char *word)
{
	char *name = word + 2, *value = strchr(name, '=');
	const struct tt_opt *opt;

	if (value)
		*value++ = '\0';
	opt = find_long(parse->cmd, name);
	if (!opt)
		return TTNN_INVALID;
	if (value && opt->kind == TT_OPT_FLAG)
		return tt_fail(TTNN_INVALID, "option '%s' takes no argument", word);
	if (opt == &help_row) {
		parse->result.help = true;
		return TTNN_OK;
	}
	return apply(parse, opt, word, value);
}

/* One word of letters: flags, and at its end one that takes an argument. */
static tt_status parse_letters(struct parse *parse, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		char spelled[] = {'-', *letter, '\0'};
		const struct tt_opt *opt = options_of(parse->cmd);

		while (is_row(opt) && opt->letter != *letter)
			opt++;
		if (!is_row(opt)) {
			if (*letter != 'h')
				return tt_fail(TTNN_INVALID, "unknown option '%s'", spelled);
			parse->result.help = true;
		} else if (opt->kind == TT_OPT_FLAG) {
			TT_TRY(apply(parse, opt, spelled, NULL));
		} else {
			return apply(parse, opt, spelled, letter[1] ? letter + 1 : NULL);
		}
	}
	return TTNN_OK;
}

static void keep_operand(struct parse *parse, char *word)
{
	parse->argv[parse->result.count++] = word;
}

/* How many, and that none is empty; what follows a program's name is its own. */
static tt_status check_operands(const struct tt_cmd *cmd, size_t count, char **operands)
{
	if (count < cmd->least)
		return tt_fail(TTNN_INVALID, "missing operand: %s",
			       cmd->operands ? cmd->operands : "");
	if (count > cmd->most)
		return tt_fail(TTNN_INVALID, "unexpected operand '%s'", operands[cmd->most]);
	for (size_t i = 0; i < (cmd->stop_at_operand && count ? 1 : count); i++)
		if (!*operands[i])
			return tt_fail(TTNN_INVALID, "an operand is empty: %s",
				       cmd->operands ? cmd->operands : "");
	return TTNN_OK;
}

tt_status tt_opt_parse(struct tt_opt_result *out, const struct tt_cmd *cmd, size_t argc,
		       char **argv)
{
	struct parse parse = {.cmd = cmd, .argc = argc, .argv = argv};
	bool rest = false;

	while (parse.at < argc) {
		char *word = argv[parse.at++];

		if (rest || word[0] != '-' || !word[1]) {
			keep_operand(&parse, word);
			rest = rest || cmd->stop_at_operand || cmd->commands;
		} else if (strcmp(word, "--") == 0) {
			rest = true;
		} else if (word[1] == '-') {
			TT_TRY(parse_long(&parse, word));
		} else {
			TT_TRY(parse_letters(&parse, word));
		}
	}
	*out = parse.result;
	return parse.result.help || cmd->commands ? TTNN_OK : check_operands(cmd, out->count, argv);
}

/* ---- help -------------------------------------------------------------------------------------- */

#define HELP_WIDTH 80
#define HELP_COLUMN 28 /* where texts begin at the latest */

static void add_spaces(struct tt_str *out, size_t count)
{
	tt_str_addf(out, "%*s", (int)count, "");
}

/* The text from `column` on, its further lines indented to there. The cursor stands at `at`. */
static void add_wrapped(struct tt_str *out, size_t at, size_t column, const char *text)
{
	size_t used = column;

	if (at + 2 > column) {
		tt_str_addc(out, '\n');
		at = 0;
	}
	add_spaces(out, column - at);
	while (*text) {
		size_t word = strcspn(text, " ");

		if (used > column && used + 1 + word > HELP_WIDTH) {
			tt_str_addc(out, '\n');
			add_spaces(out, column);
			used = column;
		} else if (used > column) {
			tt_str_addc(out, ' ');
			used++;
		}
		tt_str_add(out, text, word);
		used += word;
		text += word + strspn(text + word, " ");
	}
	tt_str_addc(out, '\n');
}

/* "  -o, --output DIR" */
static void add_option_name(struct tt_str *out, const struct tt_opt *opt)
{
	if (opt->letter)
		tt_str_addf(out, "  -%c%s", opt->letter, opt->name ? ", " : "");
	else
		tt_str_adds(out, "      ");
	if (opt->name)
		tt_str_addf(out, "--%s", opt->name);
	if (opt->kind != TT_OPT_FLAG)
		tt_str_addf(out, " %s", opt->arg);
}

static size_t option_width(const struct tt_opt *opt)
{
	size_t width = 6 + (opt->name ? strlen(opt->name) + 2 : 0);

	return width + (opt->kind == TT_OPT_FLAG ? 0 : strlen(opt->arg) + 1);
}

static void add_option(struct tt_str *out, const struct tt_opt *opt, size_t column)
{
	size_t before = out->length;

	add_option_name(out, opt);
	add_wrapped(out, out->length - before, column, opt->help);
}

/* Texts begin two columns behind the longest name that leaves them room. */
static size_t help_column(const struct tt_cmd *cmd)
{
	size_t column = option_width(&help_row) + 2;
	struct tt_cmd_word word;

	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++)
		if (option_width(opt) + 2 > column && option_width(opt) + 2 <= HELP_COLUMN)
			column = option_width(opt) + 2;
	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++)
		if (strlen((*sub)->name) + 4 > column)
			column = strlen((*sub)->name) + 4;
	for (size_t i = 0; cmd->word && cmd->word(&word, i); i++)
		if (strlen(word.name) + 4 > column)
			column = strlen(word.name) + 4;
	return column;
}

static void add_topic(struct tt_str *out, const struct tt_cmd *cmd, size_t column)
{
	struct tt_cmd_word word;

	if (cmd->word)
		tt_str_addf(out, "\n%s:\n", cmd->topic);
	for (size_t i = 0; cmd->word && cmd->word(&word, i); i++) {
		tt_str_addf(out, "  %s", word.name);
		add_wrapped(out, 2 + strlen(word.name), column, word.help);
	}
}

void tt_cmd_help(struct tt_str *out, const struct tt_cmd *cmd, const char *path)
{
	size_t column = help_column(cmd);

	tt_str_addf(out, "Usage: %s [OPTIONS]", path);
	if (cmd->commands)
		tt_str_adds(out, " COMMAND ...");
	if (cmd->operands)
		tt_str_addf(out, " %s", cmd->operands);
	tt_str_addf(out, "\n\n%s\n", cmd->help);
	if (cmd->commands)
		tt_str_adds(out, "\nCommands:\n");
	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++) {
		tt_str_addf(out, "  %s", (*sub)->name);
		add_wrapped(out, 2 + strlen((*sub)->name), column, (*sub)->help);
	}
	tt_str_adds(out, "\nOptions:\n");
	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++)
		add_option(out, opt, column);
	add_option(out, &help_row, column);
	add_topic(out, cmd, column);
	if (cmd->more)
		tt_str_addf(out, "\n%s\n", cmd->more);
}

/* ---- running ----------------------------------------------------------------------------------- */

static int print_help(const struct tt_cmd *cmd, const char *path)
{
	struct tt_str text = {0};
	int code = TT_EXIT_DONE;

	tt_cmd_help(&text, cmd, path);
	if (tt_str_status(&text) == TTNN_OK)
		fputs(tt_str_text(&text), stdout);
	else
		code = TT_EXIT_ERROR;
	tt_str_deinit(&text);
	return code;
}

int tt_cmd_complain(const char *path)
{
	fprintf(stderr, "%s: %s\nTry '%s --help'.\n", path, ttnn_error(), path);
	return TT_EXIT_ERROR;
}

static int run_below(const struct tt_cmd *cmd, const char *path, size_t argc, char **argv)
{
	const struct tt_cmd *sub = tt_cmd_find(cmd, argv[0]);
	struct tt_str below = {0};
	int code = TT_EXIT_ERROR;

	if (!sub) {
		tt_cmd_fail_unknown(cmd, path, argv[0]);
		return tt_cmd_complain(path);
	}
	tt_str_addf(&below, "%s %s", path, sub->name);
	if (tt_str_status(&below) == TTNN_OK)
		code = tt_cmd_run(sub, below.data, argc - 1, argv + 1);
	else
		tt_cmd_complain(path);
	tt_str_deinit(&below);
	return code;
}

int tt_cmd_run(const struct tt_cmd *cmd, const char *path, size_t argc, char **argv)
{
	struct tt_opt_result result;

	if (tt_opt_parse(&result, cmd, argc, argv) != TTNN_OK)
		return tt_cmd_complain(path);
	if (result.help)
		return print_help(cmd, path);
	if (cmd->commands && result.count)
		return run_below(cmd, path, result.count, argv);
	if (cmd->run)
		return cmd->run(cmd, result.count, argv);
	tt_fail(TTNN_INVALID, "a command is missing");
	return tt_cmd_complain(path);
}

/* ---- completion -------------------------------------------------------------------------------- */

/* One line of the script's table for the words that may follow `path`. */
static void add_words(struct tt_str *out, const struct tt_cmd *cmd, const char *path)
{
	tt_str_addf(out, "\t\"%s\") echo \"", path);
	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++)
		tt_str_addf(out, "%s ", (*sub)->name);
	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++) {
		if (opt->name)
			tt_str_addf(out, "--%s ", opt->name);
		if (opt->letter)
			tt_str_addf(out, "-%c ", opt->letter);
	}
	tt_str_adds(out, "--help -h\" ;;\n");
}

static void add_choice(struct tt_str *out, const struct tt_opt *opt, const char *path)
{
	size_t start;

	tt_str_addf(out, "\t\"%s ", path);
	if (opt->name)
		tt_str_addf(out, "--%s\"", opt->name);
	if (opt->name && opt->letter)
		tt_str_addf(out, " | \"%s ", path);
	if (opt->letter)
		tt_str_addf(out, "-%c\"", opt->letter);
	tt_str_adds(out, ") echo \"");
	start = out->length;
	tt_str_adds(out, opt->arg);
	for (size_t i = start; i < out->length; i++)
		if (out->data[i] == '|')
			out->data[i] = ' ';
	tt_str_adds(out, "\" ;;\n");
}

static void add_table(struct tt_str *out, const struct tt_cmd *cmd, const char *path)
{
	add_words(out, cmd, path);
	for (const struct tt_opt *opt = options_of(cmd); is_row(opt); opt++)
		if (opt->kind == TT_OPT_CHOICE)
			add_choice(out, opt, path);
	for (const struct tt_cmd *const *sub = commands_of(cmd); *sub; sub++) {
		struct tt_str below = {0};

		tt_str_addf(&below, "%s %s", path, (*sub)->name);
		if (below.failed)
			out->failed = true;
		else
			add_table(out, *sub, below.data);
		tt_str_deinit(&below);
	}
}

void tt_cmd_completion_bash(struct tt_str *out, const struct tt_cmd *cmd)
{
	const char *name = cmd->name;

	tt_str_addf(out,
		    "# Completion for bash: source <(%s completion bash)\n"
		    "_%s_words() {\n\tcase $1 in\n",
		    name, name);
	add_table(out, cmd, name);
	tt_str_addf(
		out,
		"\tesac\n}\n"
		"_%s() {\n"
		"\tlocal path=%s words word i\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tword=${COMP_WORDS[i]}\n"
		"\t\t[[ $word != -* && -n $(_%s_words \"$path $word\") ]] && path=\"$path $word\"\n"
		"\tdone\n"
		"\twords=$(_%s_words \"$path ${COMP_WORDS[COMP_CWORD - 1]}\")\n"
		"\t[[ ${COMP_WORDS[COMP_CWORD - 1]} == -* && -n $words ]] ||\n"
		"\t\twords=$(_%s_words \"$path\")\n"
		"\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n"
		"}\n"
		"complete -o default -F _%s %s\n",
		name, name, name, name, name, name, name);
}
