#include "device/yaml.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

/* Deeper texts are refused: the parser recurses. */
#define MAX_DEPTH 64
/* A map of more keys is no descriptor, and duplicates are found by looking through the keys. */
#define MAX_KEYS 8192

struct parser {
	struct tt_yaml_doc *doc;
	const char *at, *end;
	const char *line_start;
	uint32_t line;
	uint32_t depth;
};

static tt_status parse_block(struct tt_yaml **out, struct parser *p, ptrdiff_t outer);
static tt_status parse_flow(struct tt_yaml **out, struct parser *p);

TTNN_PRINTF(2, 3) static tt_status complain(const struct parser *p, const char *format, ...)
{
	char message[200];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return tt_fail(TTNN_FORMAT, "%s:%u: %s", p->doc->name, p->line, message);
}

/* ---- characters -------------------------------------------------------------------------- */

static char peek(const struct parser *p, size_t ahead)
{
	return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : '\0';
}

static bool at_end(const struct parser *p)
{
	return p->at == p->end;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Whether c ends a word: a space, the end of the line or of the text. */
static bool is_break(char c)
{
	return is_space(c) || c == '\n' || c == '\0';
}

static ptrdiff_t column(const struct parser *p)
{
	return p->at - p->line_start;
}

/* Goes over spaces and a comment, up to the end of the line. */
static void skip_spaces(struct parser *p)
{
	while (!at_end(p) && is_space(*p->at))
		p->at++;
	if (!at_end(p) && *p->at == '#' && (p->at == p->line_start || is_space(p->at[-1])))
		while (!at_end(p) && *p->at != '\n')
			p->at++;
}

/* Goes to the next thing that means something, over any number of lines. */
static void skip_blank(struct parser *p)
{
	for (;;) {
		skip_spaces(p);
		if (at_end(p) || *p->at != '\n')
			return;
		p->at++;
		p->line++;
		p->line_start = p->at;
	}
}

/* The same in block style, where the indentation means something and must not hold tabs. */
static tt_status skip_lines(struct parser *p)
{
	skip_blank(p);
	if (at_end(p))
		return TTNN_OK;
	for (const char *c = p->line_start; c < p->at && is_space(*c); c++)
		if (*c == '\t')
			return complain(p, "a tab in the indentation");
	return TTNN_OK;
}

static bool at_line_end(const struct parser *p)
{
	return at_end(p) || *p->at == '\n';
}

/* ---- nodes ------------------------------------------------------------------------------- */

static tt_status new_node(struct tt_yaml **out, struct parser *p, enum tt_yaml_kind kind)
{
	struct tt_yaml *node = tt_arena_calloc(&p->doc->arena, 1, sizeof(*node));

	if (!node)
		return tt_fail_nomem();
	node->kind = kind;
	node->line = p->line;
	node->key = node->text = "";
	*out = node;
	return TTNN_OK;
}

/* A place to add values at: the end of a list or map that is being read. */
struct tail {
	struct tt_yaml *into, **end;
};

static struct tail tail_of(struct tt_yaml *into)
{
	return (struct tail){into, &into->first};
}

static void append(struct tail *tail, struct tt_yaml *value)
{
	*tail->end = value;
	tail->end = &value->next;
	tail->into->count++;
}

static tt_status append_pair(struct tail *tail, struct parser *p, const struct tt_yaml *key,
			     struct tt_yaml *value)
{
	if (key->kind != TT_YAML_TEXT)
		return complain(p, "a key must be a text or a number");
	if (tail->into->count >= MAX_KEYS)
		return complain(p, "more than %d keys in one map", MAX_KEYS);
	if (tt_yaml_find(tail->into, key->text))
		return complain(p, "the key \"%.80s\" is given twice", key->text);
	value->key = key->text;
	append(tail, value);
	return TTNN_OK;
}

static tt_status enter(struct parser *p)
{
	if (++p->depth > MAX_DEPTH)
		return complain(p, "more than %d levels", MAX_DEPTH);
	return TTNN_OK;
}

/* ---- scalars ----------------------------------------------------------------------------- */

static void add_utf8(struct tt_str *str, uint32_t code)
{
	if (code < 0x80) {
		tt_str_addc(str, (char)code);
	} else if (code < 0x800) {
		tt_str_addc(str, (char)(0xc0 | code >> 6));
		tt_str_addc(str, (char)(0x80 | (code & 0x3f)));
	} else {
		tt_str_addc(str, (char)(0xe0 | code >> 12));
		tt_str_addc(str, (char)(0x80 | (code >> 6 & 0x3f)));
		tt_str_addc(str, (char)(0x80 | (code & 0x3f)));
	}
}

/* What stands behind a backslash in double quotes. */
static tt_status parse_escape(struct tt_str *str, struct parser *p)
{
	static const char from[] = "\"\\/bfnrt0", to[] = "\"\\/\b\f\n\r\t\0";
	char c = peek(p, 0);
	const char *found = c ? strchr(from, c) : NULL;

	if (found) {
		tt_str_addc(str, to[found - from]);
		p->at++;
		return TTNN_OK;
	}
	if (c == 'u' && p->end - p->at > 4) {
		char digits[5] = {p->at[1], p->at[2], p->at[3], p->at[4], 0};

		if (strspn(digits, "0123456789abcdefABCDEF") == 4) {
			add_utf8(str, (uint32_t)strtoul(digits, NULL, 16));
			p->at += 5;
			return TTNN_OK;
		}
	}
	return complain(p, "an unknown escape sequence");
}

static tt_status parse_quoted(struct tt_yaml **out, struct parser *p)
{
	struct tt_str str = {0};
	char quote = *p->at++;
	tt_status status = new_node(out, p, TT_YAML_TEXT);

	while (status == TTNN_OK) {
		char c = peek(p, 0);

		if (at_end(p) || c == '\n') {
			status = complain(p, "a text without its closing quote");
		} else if (c == '\\' && quote == '"') {
			p->at++;
			status = parse_escape(&str, p);
		} else if (c == quote && quote == '\'' && peek(p, 1) == '\'') {
			tt_str_addc(&str, c);
			p->at += 2;
		} else if (c == quote) {
			p->at++;
			break;
		} else {
			tt_str_addc(&str, c);
			p->at++;
		}
	}
	if (status == TTNN_OK)
		status = tt_str_status(&str);
	if (status == TTNN_OK) {
		(*out)->quoted = true;
		(*out)->text = tt_arena_strndup(&p->doc->arena, tt_str_text(&str), str.length);
		if (!(*out)->text)
			status = tt_fail_nomem();
	}
	tt_str_deinit(&str);
	return status;
}

static tt_status check_plain_start(const struct parser *p)
{
	static const struct {
		char first;
		const char *name;
	} refused[] = {
		{'&', "anchors"},       {'*', "aliases"},       {'!', "tags"},
		{'|', "block scalars"}, {'>', "block scalars"}, {'%', "directives"},
	};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (*p->at == refused[i].first)
			return complain(p, "%s are not supported", refused[i].name);
	if (strchr("@`,]}?:", *p->at))
		return complain(p, "an unexpected '%c'", *p->at);
	return TTNN_OK;
}

/* A word, up to the end of the line, a comment, ": ", and in flow style a bracket or comma. */
static tt_status parse_plain(struct tt_yaml **out, struct parser *p, bool flow)
{
	const char *start = p->at, *end;

	TT_TRY(check_plain_start(p));
	TT_TRY(new_node(out, p, TT_YAML_TEXT));
	for (; !at_line_end(p); p->at++) {
		char c = *p->at, next = peek(p, 1);

		if (c == '#' && is_space(p->at[-1]))
			break;
		if (c == ':' && (is_break(next) || (flow && strchr(",]}", next))))
			break;
		if (flow && strchr(",]}[{", c))
			break;
		if ((unsigned char)c < ' ' && !is_space(c))
			return complain(p, "a control character");
	}
	for (end = p->at; end > start && is_space(end[-1]); end--)
		;
	(*out)->text = tt_arena_strndup(&p->doc->arena, start, (size_t)(end - start));
	if (!(*out)->text)
		return tt_fail_nomem();
	return TTNN_OK;
}

static tt_status parse_scalar(struct tt_yaml **out, struct parser *p, bool flow)
{
	return *p->at == '"' || *p->at == '\'' ? parse_quoted(out, p) : parse_plain(out, p, flow);
}

static void settle_none(struct tt_yaml *node)
{
	if (node->kind != TT_YAML_TEXT || node->quoted)
		return;
	if (!*node->text || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0)
		node->kind = TT_YAML_NONE;
}

/* ---- flow style: [a, b] and {a: b} --------------------------------------------------------- */

static tt_status expect_pair(struct tail *tail, struct parser *p, struct tt_yaml *key)
{
	struct tt_yaml *value = NULL;

	p->at++; /* the colon */
	skip_blank(p);
	if (at_end(p) || strchr(",]}", *p->at))
		TT_TRY(new_node(&value, p, TT_YAML_NONE));
	else
		TT_TRY(parse_flow(&value, p));
	return append_pair(tail, p, key, value);
}

/* One value of a list: also `key: value`, which is a map of that one pair. */
static tt_status parse_flow_item(struct tail *tail, struct parser *p)
{
	struct tt_yaml *item = NULL, *pair = NULL;
	struct tail inner;

	TT_TRY(parse_flow(&item, p));
	skip_blank(p);
	if (at_end(p) || *p->at != ':') {
		append(tail, item);
		return TTNN_OK;
	}
	TT_TRY(new_node(&pair, p, TT_YAML_MAP));
	inner = tail_of(pair);
	TT_TRY(expect_pair(&inner, p, item));
	append(tail, pair);
	return TTNN_OK;
}

static tt_status parse_flow_collection(struct tt_yaml **out, struct parser *p)
{
	bool map = *p->at == '{';
	char close = map ? '}' : ']';
	struct tt_yaml *key;
	struct tail tail;

	TT_TRY(new_node(out, p, map ? TT_YAML_MAP : TT_YAML_LIST));
	TT_TRY(enter(p));
	tail = tail_of(*out);
	p->at++;
	for (;;) {
		skip_blank(p);
		if (at_end(p))
			return complain(p, "a '%c' of line %u that is not closed", map ? '{' : '[',
					(*out)->line);
		if (*p->at == close)
			break;
		if (map) {
			TT_TRY(parse_scalar(&key, p, true));
			skip_blank(p);
			if (at_end(p) || *p->at != ':')
				return complain(p, "expected ':' behind the key \"%.80s\"",
						key->text);
			TT_TRY(expect_pair(&tail, p, key));
		} else {
			TT_TRY(parse_flow_item(&tail, p));
		}
		skip_blank(p);
		if (!at_end(p) && *p->at == ',')
			p->at++;
		else if (!at_end(p) && *p->at != close)
			return complain(p, "expected ',' or '%c'", close);
	}
	p->at++;
	p->depth--;
	return TTNN_OK;
}

static tt_status parse_flow(struct tt_yaml **out, struct parser *p)
{
	if (*p->at == '[' || *p->at == '{')
		return parse_flow_collection(out, p);
	TT_TRY(parse_scalar(out, p, true));
	settle_none(*out);
	return TTNN_OK;
}

/* ---- block style: by indentation ---------------------------------------------------------- */

static bool at_marker(const struct parser *p, const char *marker)
{
	return column(p) == 0 && p->end - p->at >= 3 && memcmp(p->at, marker, 3) == 0 &&
	       is_break(peek(p, 3));
}

/* Whether nothing of the document is left. */
static bool is_over(const struct parser *p)
{
	return at_end(p) || at_marker(p, "---") || at_marker(p, "...");
}

static bool at_dash(const struct parser *p)
{
	return peek(p, 0) == '-' && is_break(peek(p, 1));
}

static tt_status parse_block_list(struct tt_yaml **out, struct parser *p)
{
	ptrdiff_t indent = column(p);
	struct tt_yaml *item;
	struct tail tail;

	TT_TRY(new_node(out, p, TT_YAML_LIST));
	TT_TRY(enter(p));
	tail = tail_of(*out);
	while (!is_over(p) && column(p) == indent && at_dash(p)) {
		p->at++;
		TT_TRY(parse_block(&item, p, indent));
		append(&tail, item);
		TT_TRY(skip_lines(p));
	}
	if (!is_over(p) && column(p) > indent)
		return complain(p, "the indentation fits nothing above");
	p->depth--;
	return TTNN_OK;
}

/* What stands behind "key:", on the line or below it. */
static tt_status parse_block_value(struct tt_yaml **out, struct parser *p, ptrdiff_t indent)
{
	skip_spaces(p);
	if (!at_line_end(p)) {
		if (*p->at == '[' || *p->at == '{')
			return parse_flow(out, p);
		if (at_dash(p))
			return complain(p, "a list behind a key starts on its own line");
		TT_TRY(parse_scalar(out, p, false));
		settle_none(*out);
		skip_spaces(p);
		return at_line_end(p) ? TTNN_OK : complain(p, "an unexpected '%c'", *p->at);
	}
	TT_TRY(skip_lines(p));
	if (!is_over(p) && column(p) == indent && at_dash(p))
		return parse_block_list(out, p);
	return parse_block(out, p, indent);
}

static tt_status parse_block_map(struct tt_yaml **out, struct parser *p, ptrdiff_t indent,
				 struct tt_yaml *key)
{
	struct tt_yaml *value = NULL;
	struct tail tail;

	TT_TRY(new_node(out, p, TT_YAML_MAP));
	TT_TRY(enter(p));
	tail = tail_of(*out);
	for (;;) {
		p->at++; /* the colon */
		TT_TRY(parse_block_value(&value, p, indent));
		TT_TRY(append_pair(&tail, p, key, value));
		TT_TRY(skip_lines(p));
		if (is_over(p) || column(p) < indent)
			break;
		if (column(p) > indent || at_dash(p) || *p->at == '[' || *p->at == '{')
			return complain(p, "the indentation fits nothing above");
		TT_TRY(parse_scalar(&key, p, false));
		skip_spaces(p);
		if (at_end(p) || *p->at != ':')
			return complain(p, "expected ':' behind the key \"%.80s\"", key->text);
	}
	p->depth--;
	return TTNN_OK;
}

/* The value that starts here or below, further in than column `outer`; nothing if there is none. */
static tt_status parse_block(struct tt_yaml **out, struct parser *p, ptrdiff_t outer)
{
	struct tt_yaml *scalar;
	ptrdiff_t indent;

	TT_TRY(skip_lines(p));
	if (is_over(p) || column(p) <= outer)
		return new_node(out, p, TT_YAML_NONE);
	if (at_dash(p))
		return parse_block_list(out, p);
	if (*p->at == '[' || *p->at == '{')
		return parse_flow(out, p);
	indent = column(p);
	TT_TRY(parse_scalar(&scalar, p, false));
	skip_spaces(p);
	if (!at_end(p) && *p->at == ':')
		return parse_block_map(out, p, indent, scalar);
	if (!at_line_end(p))
		return complain(p, "an unexpected '%c'", *p->at);
	settle_none(scalar);
	*out = scalar;
	return TTNN_OK;
}

/* ---- documents --------------------------------------------------------------------------- */

static tt_status parse_document(struct parser *p)
{
	if (memchr(p->at, '\0', (size_t)(p->end - p->at)))
		return complain(p, "a zero byte: this is not a text");
	skip_blank(p);
	if (at_marker(p, "---"))
		p->at += 3;
	TT_TRY(parse_block(&p->doc->root, p, -1));
	TT_TRY(skip_lines(p));
	if (at_marker(p, "...")) {
		p->at += 3;
		skip_blank(p);
	}
	if (!at_end(p))
		return complain(p, at_marker(p, "---") ? "more than one document"
						       : "more text behind the end");
	return TTNN_OK;
}

tt_status tt_yaml_parse(struct tt_yaml_doc *doc, const char *text, size_t length, const char *name)
{
	struct parser p;
	tt_status status;

	*doc = (struct tt_yaml_doc){0};
	p = (struct parser){doc, text, text + length, text, 1, 0};
	doc->name = tt_arena_strdup(&doc->arena, name);
	status = doc->name ? parse_document(&p) : tt_fail_nomem();
	if (status != TTNN_OK)
		tt_yaml_deinit(doc);
	return status;
}

tt_status tt_yaml_load(struct tt_yaml_doc *doc, const char *path)
{
	tt_status status;
	char *text;
	size_t size;

	*doc = (struct tt_yaml_doc){0};
	TT_TRY(tt_file_read(&text, &size, path));
	status = tt_yaml_parse(doc, text, size, path);
	tt_free(text);
	return status;
}

void tt_yaml_deinit(struct tt_yaml_doc *doc)
{
	tt_arena_deinit(&doc->arena);
	*doc = (struct tt_yaml_doc){0};
}

/* ---- reading values ---------------------------------------------------------------------- */

const struct tt_yaml *tt_yaml_find(const struct tt_yaml *map, const char *key)
{
	if (map && map->kind == TT_YAML_MAP)
		for (const struct tt_yaml *value = map->first; value; value = value->next)
			if (strcmp(value->key, key) == 0)
				return value;
	return NULL;
}

tt_status tt_yaml_fail(const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *format, ...)
{
	char message[400];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return tt_fail(TTNN_FORMAT, "%s:%u: %s", doc->name, node ? node->line : 1, message);
}

static const char *kind_name(enum tt_yaml_kind kind)
{
	static const char *const names[] = {"nothing", "a text or number", "a list", "a map"};

	return names[kind];
}

tt_status tt_yaml_expect(const struct tt_yaml_doc *doc, const struct tt_yaml *node,
			 const char *what, enum tt_yaml_kind kind)
{
	if (node->kind == kind || (node->kind == TT_YAML_NONE && kind != TT_YAML_TEXT))
		return TTNN_OK;
	return tt_yaml_fail(doc, node, "%s must be %s, not %s", what, kind_name(kind),
			    kind_name(node->kind));
}

tt_status tt_yaml_need(const struct tt_yaml **out, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *map, const char *key)
{
	*out = tt_yaml_find(map, key);
	return *out ? TTNN_OK : tt_yaml_fail(doc, map, "\"%s\" is missing", key);
}

tt_status tt_yaml_text(const char **out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what)
{
	TT_TRY(tt_yaml_expect(doc, node, what, TT_YAML_TEXT));
	*out = node->text;
	return TTNN_OK;
}

tt_status tt_yaml_uint(uint64_t *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what, uint64_t max)
{
	const char *text;
	unsigned long long number;
	char *end;
	bool hex;

	TT_TRY(tt_yaml_text(&text, doc, node, what));
	hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && text[2];
	if (!hex && (*text < '0' || *text > '9'))
		return tt_yaml_fail(doc, node, "%s must be a whole number, not \"%.80s\"", what,
				    text);
	errno = 0;
	number = strtoull(text, &end, hex ? 16 : 10);
	if (*end)
		return tt_yaml_fail(doc, node, "%s must be a whole number, not \"%.80s\"", what,
				    text);
	if (errno || number > max)
		return tt_yaml_fail(doc, node, "%s is %.80s, which is more than %llu", what, text,
				    (unsigned long long)max);
	*out = number;
	return TTNN_OK;
}

tt_status tt_yaml_u32(uint32_t *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		      const char *what)
{
	uint64_t number;

	TT_TRY(tt_yaml_uint(&number, doc, node, what, UINT32_MAX));
	*out = (uint32_t)number;
	return TTNN_OK;
}

tt_status tt_yaml_real(double *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what)
{
	const char *text;
	double number;
	char *end;

	TT_TRY(tt_yaml_text(&text, doc, node, what));
	number = strtod(text, &end);
	if (node->quoted || end == text || *end || !isfinite(number))
		return tt_yaml_fail(doc, node, "%s must be a number, not \"%.80s\"", what, text);
	*out = number;
	return TTNN_OK;
}

tt_status tt_yaml_bool(bool *out, const struct tt_yaml_doc *doc, const struct tt_yaml *node,
		       const char *what)
{
	const char *text;

	TT_TRY(tt_yaml_text(&text, doc, node, what));
	*out = strcmp(text, "true") == 0;
	if (node->quoted || (!*out && strcmp(text, "false") != 0))
		return tt_yaml_fail(doc, node, "%s must be true or false, not \"%.80s\"", what,
				    text);
	return TTNN_OK;
}

tt_status tt_yaml_u32s(uint32_t *out, size_t count, const struct tt_yaml_doc *doc,
		       const struct tt_yaml *node, const char *what)
{
	TT_TRY(tt_yaml_expect(doc, node, what, TT_YAML_LIST));
	if (node->count != count)
		return tt_yaml_fail(doc, node, "%s must be %zu numbers, not %zu", what, count,
				    node->count);
	for (const struct tt_yaml *item = node->first; item; item = item->next)
		TT_TRY(tt_yaml_u32(out++, doc, item, what));
	return TTNN_OK;
}
