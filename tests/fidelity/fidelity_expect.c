/* fidelity_expect.c: what a recording says, in the lines that fidelity_run.c writes; and the comparison. */
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "fidelity.h"
#include "tensor/core.h"

#define X(name, text) #name,
const char *const fid_aspect_names[FID_ASPECT_COUNT] = {FID_ASPECTS(X)};
#undef X
#define X(name, text) text,
const char *const fid_aspect_texts[FID_ASPECT_COUNT] = {FID_ASPECTS(X)};
#undef X
const char *const fid_mode_names[FID_MODES] = {"no_dispatch", "normal"};

void fid_account_deinit(struct fid_account *account)
{
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++)
		tt_str_deinit(&account->lines[i]);
}

const struct tt_json *fid_run(const struct fid_program *program, enum fid_mode mode)
{
	return tt_json_get(tt_json_get(program->record, "runs"), fid_mode_names[mode]);
}

static const char *text_of(const struct tt_json *object, const char *key)
{
	const char *text = tt_json_string(tt_json_get(object, key), NULL);

	return text ? text : "";
}

static unsigned long long number_of(const struct tt_json *object, const char *key)
{
	uint64_t number = 0;

	tt_json_uint(&number, tt_json_get(object, key));
	return number;
}

/* ---- messages ------------------------------------------------------------------------------------- */

/* Cuts the text where `mark` begins. */
static size_t cut(const char *text, size_t length, const char *mark)
{
	const char *at = strstr(text, mark);

	return at && (size_t)(at - text) < length ? (size_t)(at - text) : length;
}

/* Behind "TT_FATAL @ file:line: ". */
static const char *skip_banner(const char *text)
{
	static regex_t banner;
	static bool compiled;
	regmatch_t match;

	if (!compiled)
		compiled =
			regcomp(&banner,
				"^TT_(FATAL|THROW|ASSERT) @ [^\n ]*:[0-9]+: ", REG_EXTENDED) == 0;
	return compiled && regexec(&banner, text, 1, &match, 0) == 0 ? text + match.rm_eo : text;
}

/* Writes `to` for every match. */
static char *replace(struct tt_arena *arena, const char *text, const char *pattern, const char *to)
{
	struct tt_str out = {0};
	regmatch_t match;
	regex_t compiled;
	char *copy;

	if (regcomp(&compiled, pattern, REG_EXTENDED) != 0)
		return tt_arena_strdup(arena, text);
	while (*text && regexec(&compiled, text, 1, &match, 0) == 0 && match.rm_eo > match.rm_so) {
		tt_str_add(&out, text, (size_t)match.rm_so);
		tt_str_adds(&out, to);
		text += match.rm_eo;
	}
	tt_str_adds(&out, text);
	regfree(&compiled);
	copy = tt_arena_strdup(arena, tt_str_text(&out));
	tt_str_deinit(&out);
	return copy;
}

const char *fid_message(struct tt_arena *arena, const char *text)
{
	size_t length = cut(text, strlen(text), "\nbacktrace:");
	const char *info;
	char *copy;

	length = cut(text, length, "\n\nAvailable signatures:");
	copy = tt_arena_strndup(arena, text, length);
	if (!copy)
		return "";
	info = strstr(copy, "\ninfo:\n");
	text = info ? info + 7 : skip_banner(copy);
	copy = replace(arena, text, "\\b0x[0-9a-f]{6,16}\\b", "0xPTR");
	copy = copy ? replace(arena, copy, "[A-Za-z0-9_./<>-]+\\.(cpp|hpp|h|c|py):[0-9]+",
			      "<place>")
		    : NULL;
	if (!copy)
		return "";
	while (isspace((unsigned char)*copy))
		copy++;
	length = strlen(copy);
	while (length && isspace((unsigned char)copy[length - 1]))
		copy[--length] = '\0';
	return copy;
}

/* ---- outcome and texts ------------------------------------------------------------------------------- */

static void line_refusal(struct tt_str *out, struct tt_arena *arena, const struct tt_json *failure)
{
	fid_line(out, "%s: %s", text_of(failure, "type"),
		 fid_message(arena, text_of(failure, "text")));
}

static void expect_outcome(struct fid_account *out, struct tt_arena *arena,
			   const struct tt_json *run)
{
	static const struct {
		const char *key, *where;
	} ends[] = {{"setup_error", "before the capture"}, {"error", "in the capture"}};
	struct tt_json_iter it = tt_json_iter(tt_json_get(run, "failures"));
	struct tt_str tolerated = {0};
	bool refused = false;

	while (tt_json_next(&it)) {
		tt_str_addf(&tolerated, "%s%llu", tolerated.length ? ", " : "",
			    number_of(it.value, "step"));
		line_refusal(&out->lines[FID_text], arena, it.value);
	}
	for (size_t i = 0; i < 2 && !refused; i++) {
		const struct tt_json *failure = tt_json_get(run, ends[i].key);

		if (!failure)
			continue;
		fid_line(&out->lines[FID_outcome], "refused %s, step %llu", ends[i].where,
			 number_of(failure, "step"));
		line_refusal(&out->lines[FID_text], arena, failure);
		refused = true;
	}
	if (!refused && tolerated.length)
		fid_line(&out->lines[FID_outcome], "ran, refusing steps %s",
			 tt_str_text(&tolerated));
	else if (!refused)
		fid_line(&out->lines[FID_outcome], "ran");
	out->present[FID_outcome] = true;
	out->present[FID_text] = refused || tolerated.length;
	tt_str_deinit(&tolerated);
}

/* ---- results --------------------------------------------------------------------------------------------- */

static void line_list(struct tt_str *out, const char *where, const char *what,
		      const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_str text = {0};

	while (tt_json_next(&it)) {
		uint64_t number = 0;

		tt_json_uint(&number, it.value);
		tt_str_addf(&text, "%s%llu", text.length ? ", " : "", (unsigned long long)number);
	}
	fid_line(out, "%s.%s [%s]", where, what, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void line_grid(struct tt_str *out, const char *where, const struct tt_json *ranges)
{
	struct tt_json_iter it = tt_json_iter(ranges);
	struct tt_str text = {0};

	while (tt_json_next(&it)) {
		uint64_t n[4] = {0};

		for (size_t i = 0; i < 4; i++)
			tt_json_uint(&n[i], tt_json_at(it.value, i));
		tt_str_addf(&text, "%s[%u-%u - %u-%u]", text.length ? ", " : "", (unsigned)n[0],
			    (unsigned)n[1], (unsigned)n[2], (unsigned)n[3]);
	}
	fid_line(out, "%s.grid {%s}", where, tt_str_text(&text));
	tt_str_deinit(&text);
}

static void lines_memory(struct tt_str *out, const char *where, const struct tt_json *memory)
{
	const struct tt_json *shard = tt_json_get(memory, "shard_spec");
	const struct tt_json *nd = tt_json_get(memory, "nd_shard_spec");
	char inside[256];

	fid_line(out, "%s %s", where, text_of(memory, "memory_layout"));
	fid_line(out, "%s %s", where, text_of(memory, "buffer_type"));
	if (shard) {
		snprintf(inside, sizeof(inside), "%s.shard_spec", where);
		line_grid(out, inside, tt_json_get(shard, "grid"));
		line_list(out, inside, "shape", tt_json_get(shard, "shape"));
		fid_line(out, "%s %s", inside, text_of(shard, "orientation"));
	}
	if (nd) {
		snprintf(inside, sizeof(inside), "%s.nd_shard_spec", where);
		line_grid(out, inside, tt_json_get(nd, "grid"));
		line_list(out, inside, "shape", tt_json_get(nd, "shard_shape"));
		fid_line(out, "%s %s", inside, text_of(nd, "orientation"));
		fid_line(out, "%s %s", inside, text_of(nd, "strategy"));
	}
}

static void lines_value(struct tt_str *out, const char *where, const struct tt_json *value)
{
	const struct tt_json *torch = tt_json_get(value, "torch");
	bool allocated = true;

	if (!tt_json_get(value, "shape") && !torch) {
		fid_line(out, "%s %s", where,
			 tt_json_kind(value) == TT_JSON_NULL ? "None" : tt_json_kind_name(value));
		return;
	}
	if (torch) {
		line_list(out, where, "torch", torch);
		fid_line(out, "%s %s", where, text_of(value, "dtype"));
		return;
	}
	line_list(out, where, "shape", tt_json_get(value, "shape"));
	line_list(out, where, "padded_shape", tt_json_get(value, "padded_shape"));
	fid_line(out, "%s %s", where, text_of(value, "dtype"));
	fid_line(out, "%s %s", where, text_of(value, "layout"));
	fid_line(out, "%s %s", where, text_of(value, "storage"));
	if (tt_json_bool(&allocated, tt_json_get(value, "allocated")) && !allocated)
		fid_line(out, "%s not allocated", where);
	if (tt_json_get(value, "memory_config"))
		lines_memory(out, where, tt_json_get(value, "memory_config"));
	if (tt_json_get(value, "tile"))
		line_list(out, where, "tile", tt_json_get(value, "tile"));
}

/*
 * A result may be a list of results, and of numbers that tell of them: tensors count, in order. Calls
 * visit() with each one's name, "y[1]".
 */
struct results {
	const char *key;
	size_t count;
	struct tt_str *out; /* NULL: only count */
	void (*visit)(struct tt_str *out, const char *where, const struct tt_json *value);
};

static void each_result(struct results *results, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	enum tt_json_kind kind = tt_json_kind(value);
	char where[128];

	if (kind == TT_JSON_ARRAY) {
		while (tt_json_next(&it))
			each_result(results, it.value);
	} else if (kind == TT_JSON_OBJECT || kind == TT_JSON_NULL) {
		snprintf(where, sizeof(where), "%s[%zu]", results->key, results->count++);
		if (results->out)
			results->visit(results->out, where, value);
	}
}

static void expect_specs(struct tt_str *out, const struct tt_json *outputs)
{
	struct tt_json_iter it = tt_json_iter(outputs);

	while (tt_json_next(&it)) {
		struct results results = {.key = it.key, .visit = lines_value};

		if (tt_json_kind(it.value) != TT_JSON_ARRAY) {
			lines_value(out, it.key, it.value);
			continue;
		}
		each_result(&results, it.value);
		fid_line(out, "%s: %zu", it.key, results.count);
		results.count = 0;
		results.out = out;
		each_result(&results, it.value);
	}
}

static void line_address(struct tt_str *out, const char *where, const struct tt_json *value)
{
	uint64_t address;

	if (tt_json_uint(&address, tt_json_get(value, "address")))
		fid_line(out, "%s %llu", where, (unsigned long long)address);
}

static void expect_addresses(struct tt_str *out, const struct tt_json *named,
			     const struct tt_json *except)
{
	struct tt_json_iter it = tt_json_iter(named);

	while (tt_json_next(&it)) {
		struct results results = {.key = it.key, .out = out, .visit = line_address};

		if (tt_json_get(except, it.key))
			continue;
		if (tt_json_kind(it.value) == TT_JSON_ARRAY)
			each_result(&results, it.value);
		else
			line_address(out, it.key, it.value);
	}
}

/* ---- what the graph tells ------------------------------------------------------------------------------------ */

/* Reads a number at *at and moves behind it. */
static bool read_number(uint32_t *out, const char **at)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)**at))
		return false;
	while (isdigit((unsigned char)**at) && number < 1000000)
		number = number * 10 + (uint64_t)(*(*at)++ - '0');
	*out = (uint32_t)number;
	return true;
}

/* "[0-0 - 7-3]" */
static bool read_range(struct ttnn_core_range *out, const char **at)
{
	const char *text = *at;
	uint32_t *into[] = {&out->start.x, &out->start.y, &out->end.x, &out->end.y};
	static const char *const behind[] = {"-", " - ", "-", "]"};

	if (*text++ != '[')
		return false;
	for (size_t i = 0; i < 4; i++) {
		if (!read_number(into[i], &text) ||
		    strncmp(text, behind[i], strlen(behind[i])) != 0)
			return false;
		text += strlen(behind[i]);
	}
	*at = text;
	return true;
}

static void print_cores(struct tt_str *out, const char *text)
{
	struct ttnn_core_range ranges[256];
	const ttnn_core_set *set;
	size_t count = 0;

	for (const char *at = text; *at && count < 256;)
		if (read_range(&ranges[count], &at))
			count++;
		else
			at++;
	if (ttnn_core_set_make(&set, ranges, count) == TTNN_OK)
		fid_cores(out, set);
	else
		tt_str_adds(out, text);
}

static void expect_memory(struct tt_str *out, const char *type, const struct tt_json *params)
{
	struct tt_str cores = {0};
	bool borrowed = strcmp(text_of(params, "globally_allocated"), "1") == 0 ||
			strcmp(text_of(params, "borrows_memory"), "1") == 0;

	print_cores(&cores, text_of(params, "core_range_set"));
	fid_line(out, "%.*s %llu on %s%s", (int)(strlen(type) - strlen("_allocate")), type,
		 number_of(params, "size"), tt_str_text(&cores), borrowed ? " borrowed" : "");
	tt_str_deinit(&cores);
}

/* Programs inside of others are heard before those: lines that wait for the end of their function. */
struct waiting {
	struct tt_str lines[64];
	size_t depth;
};

static struct tt_str *wait_for_end(struct waiting *waiting)
{
	size_t at = waiting->depth++;

	return at < sizeof(waiting->lines) / sizeof(waiting->lines[0]) ? &waiting->lines[at] : NULL;
}

static void let_go(struct waiting *waiting, struct tt_str *out)
{
	size_t at;

	if (!waiting->depth)
		return;
	at = --waiting->depth;
	if (at >= sizeof(waiting->lines) / sizeof(waiting->lines[0]))
		return;
	tt_str_adds(out, tt_str_text(&waiting->lines[at]));
	tt_str_deinit(&waiting->lines[at]);
	waiting->lines[at] = (struct tt_str){0};
}

static void expect_graph(struct fid_account *out, const struct tt_json *run)
{
	const struct tt_json *graph = tt_json_get(run, "graph");
	struct tt_json_iter inner = tt_json_iter(tt_json_get(run, "captures"));
	struct tt_json_iter it = tt_json_iter(graph);
	struct waiting waiting = {.depth = 0};
	size_t depth = 0;

	while (tt_json_next(&it)) {
		struct tt_str *line;
		const struct tt_json *params = tt_json_get(it.value, "params");
		const char *type = text_of(it.value, "node_type");
		bool hit;

		if (strcmp(type, "function_end") == 0) {
			depth -= depth > 0;
			let_go(&waiting, &out->lines[FID_programs]);
		}
		if (strcmp(type, "circular_buffer_allocate") == 0 ||
		    strcmp(type, "dataflow_buffer_allocate") == 0 ||
		    strcmp(type, "scratchpad_allocate") == 0)
			expect_memory(&out->lines[FID_buffers], type, params);
		if (strcmp(type, "function_start") != 0)
			continue;
		fid_line(&out->lines[FID_scopes], "%*s%s", (int)(2 * depth++), "",
			 text_of(params, "name"));
		line = wait_for_end(&waiting);
		if (line && tt_json_bool(&hit, tt_json_get(params, "program_cache_hit")))
			fid_line(line, "%s %s %llu %s", text_of(params, "name"),
				 text_of(params, "program_factory_type"),
				 number_of(params, "program_factory_index"), hit ? "hit" : "miss");
	}
	while (waiting.depth)
		let_go(&waiting, &out->lines[FID_programs]);
	fid_nodes(&out->lines[FID_graph], graph);
	while (tt_json_next(&inner))
		fid_inner(&out->lines[FID_graph], inner.key, inner.value);
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++)
		if (i == FID_buffers || i == FID_programs || i == FID_scopes || i == FID_graph)
			out->present[i] = out->lines[i].length > 0;
	/* Graphs of whole models are kept without edges and texts. */
	if (!tt_json_count(tt_json_get(tt_json_at(graph, 0), "connections")))
		out->present[FID_graph] = false;
}

/* The text with 0xPTR for every address of the machine's. */
static void pointers(struct tt_str *out, const char *text)
{
	while (*text) {
		size_t digits =
			strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdef") : 0;

		if (digits >= 6) {
			tt_str_adds(out, "0xPTR");
			text += 2 + digits;
		} else {
			tt_str_addc(out, *text++);
		}
	}
}

/* A value of a node: as it is, but for what differs from run to run. */
static void write_normal(struct tt_jsonw *w, const char *key, const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	const char *text = tt_json_string(value, NULL);
	struct tt_str cores = {0};

	if (tt_json_kind(value) == TT_JSON_OBJECT) {
		tt_jsonw_object(w);
		while (tt_json_next(&it)) {
			tt_jsonw_key(w, it.key);
			write_normal(w, it.key, it.value);
		}
		tt_jsonw_end(w);
	} else if (tt_json_kind(value) == TT_JSON_ARRAY) {
		tt_jsonw_array(w);
		while (tt_json_next(&it))
			write_normal(w, key, it.value);
		tt_jsonw_end(w);
	} else if (text && strcmp(key, "core_range_set") == 0) {
		print_cores(&cores, text);
		tt_jsonw_string(w, tt_str_text(&cores));
		tt_str_deinit(&cores);
	} else if (text && strcmp(key, "arguments") == 0 && strstr(text, "0x")) {
		pointers(&cores, text);
		tt_jsonw_string(w, tt_str_text(&cores));
		tt_str_deinit(&cores);
	} else if (strcmp(key, "duration_ns") == 0) {
		tt_jsonw_int(w, 1);
	} else {
		tt_jsonw_value(w, value);
	}
}

static void line_value(struct tt_str *out, size_t node, const char *where, const char *key,
		       const struct tt_json *value)
{
	struct tt_jsonw w;

	tt_str_addf(out, "%zu%s%s ", node, where, key);
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){.utf8 = true});
	write_normal(&w, key, value);
	if (tt_jsonw_finish(&w) != TTNN_OK)
		tt_str_adds(out, ttnn_error());
	tt_str_addc(out, '\n');
}

void fid_nodes(struct tt_str *out, const struct tt_json *graph)
{
	struct tt_json_iter it = tt_json_iter(graph);

	for (size_t i = 0; tt_json_next(&it); i++) {
		struct tt_json_iter member = tt_json_iter(it.value);

		line_value(out, i, ".", "node_type", tt_json_get(it.value, "node_type"));
		while (tt_json_next(&member)) {
			struct tt_json_iter param = tt_json_iter(member.value);

			if (strcmp(member.key, "arguments") == 0)
				while (tt_json_next(&param))
					line_value(out, i, ".", "arguments", param.value);
			else if (strcmp(member.key, "params") != 0 || !tt_json_count(member.value))
				line_value(out, i, ".", member.key, member.value);
			else
				while (tt_json_next(&param))
					line_value(out, i, ".params.", param.key, param.value);
		}
	}
}

void fid_inner(struct tt_str *out, const char *name, const struct tt_json *graph)
{
	fid_line(out, "capture %s", name);
	fid_nodes(out, graph);
}

/* The second run is recorded in short: [type, cache hit, name, ...]. */
static void expect_warm(struct fid_account *out, const struct tt_json *warm)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(warm, "nodes"));
	struct waiting waiting = {.depth = 0};
	bool hit;

	if (!warm || tt_json_get(warm, "error"))
		return;
	while (tt_json_next(&it)) {
		const char *type = tt_json_string(tt_json_at(it.value, 0), NULL);
		struct tt_str *line;

		if (type && strcmp(type, "function_end") == 0)
			let_go(&waiting, &out->lines[FID_warm]);
		if (!type || strcmp(type, "function_start") != 0)
			continue;
		line = wait_for_end(&waiting);
		if (line && tt_json_bool(&hit, tt_json_at(it.value, 1)))
			fid_line(line, "%s %s", tt_json_string(tt_json_at(it.value, 2), NULL),
				 hit ? "hit" : "miss");
	}
	while (waiting.depth)
		let_go(&waiting, &out->lines[FID_warm]);
	fid_line(&out->lines[FID_warm], "entries %llu", number_of(warm, "cache_entries"));
	out->present[FID_warm] = true;
}

/* ---- the device ------------------------------------------------------------------------------------------------ */

static void expect_allocator(struct tt_str *out, const struct tt_json *memory)
{
	struct tt_json_iter it = tt_json_iter(memory);

	while (tt_json_next(&it)) {
		struct tt_json_iter blocks = tt_json_iter(tt_json_get(it.value, "blocks"));

		fid_line(out, "%s banks %llu bank_bytes %llu allocated %llu largest_free %llu",
			 it.key, number_of(it.value, "banks"), number_of(it.value, "bank_bytes"),
			 number_of(it.value, "allocated"), number_of(it.value, "largest_free"));
		while (tt_json_next(&blocks)) {
			uint64_t block[2] = {0};

			tt_json_uint(&block[0], tt_json_at(blocks.value, 0));
			tt_json_uint(&block[1], tt_json_at(blocks.value, 1));
			fid_line(out, "%s block [%llu, %llu]", it.key, (unsigned long long)block[0],
				 (unsigned long long)block[1]);
		}
	}
}

bool fid_expect(struct fid_account *out, const struct fid_program *program, enum fid_mode mode)
{
	const struct tt_json *run = fid_run(program, mode);
	const struct tt_json *outputs = tt_json_get(run, "outputs");
	struct tt_arena arena = {0};

	if (tt_json_get(run, "crash")) {
		out->present[FID_outcome] = true;
		return false;
	}
	out->present[FID_memory] = true; /* and no line in it: the model is our own */
	expect_outcome(out, &arena, run);
	if (outputs && tt_json_count(outputs)) {
		expect_specs(&out->lines[FID_specs], outputs);
		out->present[FID_specs] = true;
	}
	if (outputs && mode == FID_NORMAL) {
		expect_addresses(&out->lines[FID_addresses], tt_json_get(run, "inputs"), outputs);
		expect_addresses(&out->lines[FID_addresses], outputs, NULL);
		out->present[FID_addresses] = out->lines[FID_addresses].length > 0;
	}
	expect_graph(out, run);
	if (tt_json_get(run, "memory")) {
		expect_allocator(&out->lines[FID_allocator], tt_json_get(run, "memory"));
		out->present[FID_allocator] = true;
	}
	if (tt_json_get(run, "cache_entries")) {
		fid_line(&out->lines[FID_cache], "entries %llu", number_of(run, "cache_entries"));
		out->present[FID_cache] = true;
	}
	expect_warm(out, tt_json_get(run, "warm"));
	tt_arena_deinit(&arena);
	return true;
}

/* ---- comparing ---------------------------------------------------------------------------------------------------- */

static size_t line_length(const char *line)
{
	return strcspn(line, "\n");
}

static const char *next_line(const char *line)
{
	line += line_length(line);
	return *line ? line + 1 : line;
}

/* Where to begin to show two long lines, so that it is seen in what they differ. */
static size_t shown_from(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t same = 0;

	while (same < a_length && same < b_length && a[same] == b[same])
		same++;
	return same > 120 ? same - 60 : 0;
}

/* Behind lines that tell edges: these differ as soon as anything behind them does. */
static const char *skip_edges(const char *line)
{
	for (; *line; line = next_line(line)) {
		const char *name = line + strspn(line, "0123456789");

		if (strncmp(name, ".connections ", 13) != 0 &&
		    strncmp(name, ".input_tensors ", 15) != 0)
			break;
	}
	return line;
}

/* The first lines that differ, as one sentence; NULL when none does. */
static const char *difference(struct tt_arena *arena, const char *expected, const char *got,
			      bool edges)
{
	for (size_t n = 1;; n++) {
		size_t want, have;

		if (!edges) {
			expected = skip_edges(expected);
			got = skip_edges(got);
		}
		want = line_length(expected);
		have = line_length(got);
		if (!*expected && !*got)
			return NULL;
		if (want != have || memcmp(expected, got, want) != 0 || !*expected || !*got) {
			size_t from = shown_from(expected, want, got, have);

			return tt_arena_printf(
				arena, "line %zu: expected %.12s%s%.*s, got %.*s", n,
				from ? expected : "", from ? " ... " : "",
				want && *expected ? (want - from > 300 ? 300 : (int)(want - from))
						  : 7,
				*expected ? expected + from : "nothing",
				have && *got ? (have - from > 300 ? 300 : (int)(have - from)) : 7,
				*got ? got + from : "nothing");
		}
		expected = next_line(expected);
		got = next_line(got);
	}
}

/* NULL when the run ended as recorded, else how it ended. */
static const char *disagreement(struct tt_arena *arena, const struct fid_account *expected,
				const struct fid_account *got, bool died)
{
	const char *want = died ? "a refusal (the original dies)\n"
				: tt_str_text(&expected->lines[FID_outcome]);
	const char *have = tt_str_text(&got->lines[FID_outcome]);
	const char *text = tt_str_text(&got->lines[FID_text]);

	if (died ? strncmp(have, "refused", 7) == 0 : strcmp(want, have) == 0)
		return NULL;
	return tt_arena_printf(arena, "expected %.*s, got %.*s%s%.*s", (int)line_length(want), want,
			       (int)line_length(have), have, *text ? ": " : "",
			       line_length(text) > 300 ? 300 : (int)line_length(text), text);
}

static void judge(struct fid_result *out, struct tt_arena *arena,
		  const struct fid_account *expected, const struct fid_account *got, bool died)
{
	const char *ending = disagreement(arena, expected, got, died);

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++) {
		if (!expected->present[i])
			continue;
		/* Whatever became of the run, memory was as it was. */
		out->reason[i] = i == FID_memory ? NULL : ending;
		if (!ending && i == FID_graph)
			out->reason[i] = difference(arena, tt_str_text(&expected->lines[i]),
						    tt_str_text(&got->lines[i]), false);
		if (!out->reason[i] && i != FID_outcome)
			out->reason[i] = difference(arena, tt_str_text(&expected->lines[i]),
						    tt_str_text(&got->lines[i]), true);
		out->verdict[i] = out->reason[i] ? FID_FAILED : FID_PASSED;
	}
}

void fid_judge(struct fid_result *out, struct tt_arena *arena, const struct fid_program *program,
	       enum fid_mode mode)
{
	struct fid_account expected = {0}, got = {0};
	bool died = !fid_expect(&expected, program, mode);

	fid_observe(&got, program, mode);
	judge(out, arena, &expected, &got, died);
	fid_account_deinit(&expected);
	fid_account_deinit(&got);
}

/* ---- showing ------------------------------------------------------------------------------------------------------- */

static void print_lines(const char *mark, const char *lines)
{
	for (; *lines; lines = next_line(lines))
		printf("    %s %.*s\n", mark, (int)line_length(lines), lines);
}

/* The lines that both begin with are printed once. */
static void print_difference(const char *expected, const char *got)
{
	while (*expected && *got && line_length(expected) == line_length(got) &&
	       memcmp(expected, got, line_length(got)) == 0) {
		printf("      %.*s\n", (int)line_length(got), got);
		expected = next_line(expected);
		got = next_line(got);
	}
	print_lines("-", expected);
	print_lines("+", got);
}

void fid_show(const struct fid_program *program, enum fid_mode mode)
{
	struct fid_account expected = {0}, got = {0};
	bool died = !fid_expect(&expected, program, mode);
	struct tt_arena arena = {0};
	struct fid_result result;

	fid_observe(&got, program, mode);
	judge(&result, &arena, &expected, &got, died);
	printf("\n%s on %s, %s: got %s", program->name, program->label, fid_mode_names[mode],
	       tt_str_text(&got.lines[FID_outcome]));
	print_lines("!", tt_str_text(&got.lines[FID_text]));
	for (size_t i = 0; i < FID_ASPECT_COUNT; i++) {
		if (result.verdict[i] == FID_NOTHING)
			continue;
		printf("  %s: %s%s\n", fid_aspect_names[i],
		       result.reason[i] ? "DIFFERS: " : "equal",
		       result.reason[i] ? result.reason[i] : "");
		if (result.reason[i])
			print_difference(tt_str_text(&expected.lines[i]),
					 tt_str_text(&got.lines[i]));
		else
			print_lines(" ", tt_str_text(&got.lines[i]));
	}
	tt_arena_deinit(&arena);
	fid_account_deinit(&expected);
	fid_account_deinit(&got);
}
