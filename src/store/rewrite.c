#include "store/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"

#define DEPTH 32
#define RANGES 256

/* A text being read; `bad` says why it could not be. */
struct reader {
	const char *at;
	struct tt_jsonw *w;
	const char *bad;
	unsigned depth;
};

static void skip(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\n')
		r->at++;
}

static bool take(struct reader *r, char wanted)
{
	skip(r);
	if (*r->at != wanted)
		return false;
	r->at++;
	return true;
}

/* "DataType::BFLOAT16", "in0_block_w", "ttnn.Shape" */
static size_t word_length(const char *at)
{
	size_t length = 0;

	if (!isalpha((unsigned char)*at) && *at != '_')
		return 0;
	while (isalnum((unsigned char)at[length]) || at[length] == '_' ||
	       (at[length] == ':' && (at[length + 1] == ':' || at[length - 1] == ':')) ||
	       (at[length] == '.' && isalpha((unsigned char)at[length + 1])))
		length++;
	return length;
}

static bool is_word(const char *word, size_t length, const char *text)
{
	return strlen(text) == length && strncmp(word, text, length) == 0;
}

static void read_value(struct reader *r);

/* ---- grids --------------------------------------------------------------------------------------------- */

/* Where a grid ends; its braces may not balance. */
static const char *grid_end(const char *at)
{
	const char *end = *at == '{' ? strstr(at, "]}") : NULL;
	unsigned open = 0;

	if (end)
		return end + 2;
	do {
		open += *at == '[' || *at == '{';
		open -= (*at == ']' || *at == '}') && open;
		if (*at == ']' && strncmp(at, "], ", 3) != 0)
			return at + 1;
		if (*at == ']' && at[3] != '[')
			return at + 1;
		at++;
	} while (*at && open);
	return at;
}

static void put_core(struct tt_jsonw *w, const unsigned long *xy)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "x");
	tt_jsonw_uint(w, xy[0]);
	tt_jsonw_key(w, "y");
	tt_jsonw_uint(w, xy[1]);
	tt_jsonw_end(w);
}

/* However a grid is printed, four numbers are a range. */
static void read_grid(struct reader *r)
{
	unsigned long numbers[4 * RANGES];
	size_t count = 0;
	const char *end;
	char *behind;

	skip(r);
	end = grid_end(r->at);
	while (r->at < end && count < 4 * RANGES) {
		if (!isdigit((unsigned char)*r->at)) {
			r->at++;
			continue;
		}
		numbers[count++] = strtoul(r->at, &behind, 10);
		r->at = behind;
	}
	r->at = end;
	if (!count || count % 4)
		r->bad = "a grid that is none";
	if (count != 4)
		tt_jsonw_array(r->w);
	for (size_t i = 0; i + 3 < count; i += 4) {
		tt_jsonw_array(r->w);
		put_core(r->w, numbers + i);
		put_core(r->w, numbers + i + 2);
		tt_jsonw_end(r->w);
	}
	if (count != 4)
		tt_jsonw_end(r->w);
}

/* ---- lists and objects --------------------------------------------------------------------------------- */

static void read_list(struct reader *r)
{
	r->at++;
	tt_jsonw_array(r->w);
	while (!r->bad && !take(r, ']')) {
		read_value(r);
		take(r, ',');
		if (!*r->at)
			r->bad = "a list that does not end";
	}
	tt_jsonw_end(r->w);
}

/* {"shard_shape":[...], ...}: JSON, but for its grid. */
static void read_json(struct reader *r)
{
	r->at++;
	tt_jsonw_object(r->w);
	while (!r->bad && !take(r, '}')) {
		const char *key, *end;

		if (!take(r, '"') || !(end = strchr(r->at, '"'))) {
			r->bad = "an object without a key";
			break;
		}
		key = r->at;
		r->at = end + 1;
		if (!take(r, ':'))
			r->bad = "a key without a value";
		tt_jsonw_keyn(r->w, key, (size_t)(end - key));
		if (is_word(key, (size_t)(end - key), "grid"))
			read_grid(r);
		else
			read_value(r);
		take(r, ',');
	}
	tt_jsonw_end(r->w);
}

/* The inside of "Name(field=value,...)" or "Name{...}"; a list alone stands for itself. */
static void read_fields(struct reader *r, char close)
{
	skip(r);
	if (*r->at == '[') {
		read_list(r);
		if (!r->bad && !take(r, close))
			r->bad = "more than a list";
		return;
	}
	tt_jsonw_object(r->w);
	while (!r->bad && !take(r, close)) {
		size_t length;

		skip(r);
		length = word_length(r->at);
		if (!length || r->at[length] != '=') {
			r->bad = "a value without a name";
			break;
		}
		tt_jsonw_keyn(r->w, r->at, length);
		r->at += length + 1;
		if (is_word(r->at - length - 1, length, "grid"))
			read_grid(r);
		else
			read_value(r);
		take(r, ',');
	}
	tt_jsonw_end(r->w);
}

/* "{32, 32}" stays a text. */
static void read_set(struct reader *r)
{
	const char *end = strchr(r->at, '}');

	if (!end || strspn(r->at + 1, "0123456789, -") != (size_t)(end - r->at - 1)) {
		r->bad = "a set of something";
		return;
	}
	tt_jsonw_stringn(r->w, r->at, (size_t)(end - r->at) + 1);
	r->at = end + 1;
}

/* "8-7", as a core is printed today. */
static bool read_core(struct reader *r)
{
	unsigned long xy[2];
	char *end;

	if (!isdigit((unsigned char)*r->at))
		return false;
	xy[0] = strtoul(r->at, &end, 10);
	if (*end != '-' || !isdigit((unsigned char)end[1]))
		return false;
	xy[1] = strtoul(end + 1, &end, 10);
	put_core(r->w, xy);
	r->at = end;
	return true;
}

static void read_number(struct reader *r)
{
	size_t length = strspn(r->at, "+-0123456789.eE");
	char *end;

	if (read_core(r))
		return;
	strtod(r->at, &end);
	if (!length || end != r->at + length || strspn(r->at, "+."))
		r->bad = "something unexpected";
	else
		tt_jsonw_raw(r->w, r->at, length);
	r->at += length;
}

static void read_value(struct reader *r)
{
	const char *end;
	size_t length;

	skip(r);
	if (r->bad || ++r->depth > DEPTH) {
		r->bad = r->bad ? r->bad : "too deep";
		return;
	}
	length = word_length(r->at);
	if (length && (r->at[length] == '(' || r->at[length] == '{')) {
		char close = r->at[length] == '(' ? ')' : '}';

		r->at += length + 1;
		read_fields(r, close);
	} else if (length) {
		tt_jsonw_stringn(r->w, r->at, length);
		r->at += length;
	} else if (*r->at == '"') {
		end = strchr(r->at + 1, '"');
		r->bad = end ? NULL : "a text that does not end";
		if (end)
			tt_jsonw_stringn(r->w, r->at + 1, (size_t)(end - r->at - 1));
		r->at = end ? end + 1 : r->at;
	} else if (*r->at == '[')
		read_list(r);
	else if (*r->at == '{' && r->at[1] == '"')
		read_json(r);
	else if (*r->at == '{')
		read_set(r);
	else
		read_number(r);
	r->depth--;
}

/* ---- arguments ------------------------------------------------------------------------------------------ */

/* What November's printer said of a tensor besides, and today's says by the names of its parts. */
static void put_tensor_tail(struct tt_jsonw *w, const char *text)
{
	if (strstr(text, "storage_type="))
		return;
	tt_jsonw_key_string(w, "storage_type",
			    strstr(text, "HostStorage") ? "StorageType::HOST"
							: "StorageType::DEVICE");
	tt_jsonw_key_string(w, "layout",
			    strstr(text, "RowMajorPageConfig") ? "Layout::ROW_MAJOR"
							       : "Layout::TILE");
}

/* "Tensor(storage=DeviceStorage(),tensor_spec=...)" with two fields more at its end. */
static void read_tensor(struct reader *r, bool listed)
{
	const char *text = r->at;

	r->at += strlen("Tensor(");
	tt_jsonw_object(r->w);
	while (!r->bad && !take(r, ')')) {
		size_t length;

		skip(r);
		length = word_length(r->at);
		if (!length || r->at[length] != '=') {
			r->bad = "a value without a name";
			break;
		}
		tt_jsonw_keyn(r->w, r->at, length);
		r->at += length + 1;
		read_value(r);
		take(r, ',');
	}
	if (!listed)
		put_tensor_tail(r->w, text);
	tt_jsonw_end(r->w);
}

/* "{Tensor(...), Tensor(...)}" */
static void read_tensors(struct reader *r)
{
	r->at++;
	tt_jsonw_array(r->w);
	while (!r->bad && !take(r, '}')) {
		skip(r);
		if (strncmp(r->at, "Tensor(", 7) == 0)
			read_tensor(r, true);
		else
			r->bad = "a list of tensors and others";
		take(r, ',');
	}
	tt_jsonw_end(r->w);
}

/* A text as it is, but for how lists and nothing are printed today. */
static void put_plain(struct tt_jsonw *w, const char *text)
{
	size_t length = strlen(text);
	struct tt_str list = {0};
	bool set = *text == '{' && length > 2 &&
		   strspn(text + 1, "0123456789, -.e+") == length - 2 && text[length - 1] == '}';

	if (strcmp(text, "std::nullopt") == 0) {
		tt_jsonw_string(w, "nullopt");
		return;
	}
	if (strncmp(text, "SmallVector(", 12) == 0 && text[length - 1] == ')')
		tt_str_add(&list, text + 12, length - 13);
	else if (set)
		tt_str_addf(&list, "[%.*s]", (int)(length - 2), text + 1);
	else
		tt_str_adds(&list, text);
	tt_jsonw_string(w, tt_str_text(&list));
	tt_str_deinit(&list);
}

static void put_argument(struct tt_jsonw *w, const char *text, const char **bad)
{
	struct reader r = {.at = text, .w = w};
	size_t length = word_length(text);
	bool named = length && (text[length] == '(' || text[length] == '{') &&
		     strncmp(text, "SmallVector", 11) != 0;

	if (strncmp(text, "{Tensor(", 8) == 0) {
		read_tensors(&r);
	} else if (named) {
		size_t module = strncmp(text, "ttnn.", 5) == 0 ? 5 : 0;

		tt_jsonw_object(w);
		tt_jsonw_keyn(w, text + module, length - module);
		if (strncmp(text, "Tensor(", 7) == 0) {
			read_tensor(&r, false);
		} else {
			r.at += length + 1;
			read_fields(&r, text[length] == '(' ? ')' : '}');
		}
		tt_jsonw_end(w);
	} else {
		put_plain(w, text);
		return;
	}
	skip(&r);
	*bad = r.bad ? r.bad : *r.at ? "something behind the value" : NULL;
}

/* {"argN": VALUE}; false, with the reason, when the text cannot be read. */
static bool read_element(struct tt_str *out, const char *key, const char *text, const char **bad)
{
	struct tt_jsonw w;

	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, key);
	put_argument(&w, text, bad);
	if (*bad)
		return false;
	tt_jsonw_end(&w);
	*bad = "something that is not JSON";
	return tt_jsonw_finish(&w) == TTNN_OK;
}

static tt_status write_unparsed(struct tt_str *out, const char *key, const char *text,
				const char *bad)
{
	struct tt_str info = {0};
	struct tt_jsonw w;

	tt_str_addf(&info, "{\"%s\": %s}", key, text);
	tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
	tt_jsonw_object(&w);
	tt_jsonw_key(&w, "UnparsedElement");
	tt_jsonw_object(&w);
	tt_jsonw_key_string(&w, "error", bad);
	tt_jsonw_key_string(&w, "element_info", tt_str_text(&info));
	tt_jsonw_end(&w);
	tt_jsonw_end(&w);
	tt_str_deinit(&info);
	return tt_jsonw_finish(&w);
}

static tt_status add_element(struct tt_str *out, size_t index, const char *text)
{
	struct tt_str element = {0};
	const char *bad = NULL;
	tt_status status = TTNN_OK;
	char key[32];

	snprintf(key, sizeof(key), "arg%zu", index);
	if (read_element(&element, key, text, &bad))
		tt_str_add(out, tt_str_text(&element), element.length);
	else
		status = write_unparsed(out, key, text, bad);
	tt_str_deinit(&element);
	return status;
}

tt_status tt_rewrite_arguments(struct tt_str *out, const char *const *texts, size_t count)
{
	tt_str_addc(out, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		TT_TRY(add_element(out, i, texts[i]));
	}
	tt_str_addc(out, ']');
	return tt_str_status(out);
}
