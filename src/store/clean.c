#include "store/clean.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "tensor/enums.h"
#include "tensor/value_json.h"

bool tt_clean_dropped(const char *keyword)
{
	return strcmp(keyword, "multi_device_global_semaphore") == 0 ||
	       strcmp(keyword, "barrier_semaphore") == 0;
}

static void put_text(struct tt_jsonw *w, struct tt_str *text)
{
	if (tt_str_status(text) != TTNN_OK && w->status == TTNN_OK)
		w->status = TTNN_NOMEM;
	tt_jsonw_stringn(w, tt_str_text(text), text->length);
	tt_str_deinit(text);
}

/* ---- texts ------------------------------------------------------------------------------------------- */

/* How many bytes " at 0x7f12ab" has here; 0: something else stands here. */
static size_t address_length(const char *text)
{
	size_t length = 6;

	if (strncmp(text, " at 0x", 6) != 0)
		return 0;
	while (isxdigit((unsigned char)text[length]))
		length++;
	return length > 6 ? length : 0;
}

/* A text without the addresses that objects print. */
static void put_string(struct tt_jsonw *w, const char *string)
{
	struct tt_str text = {0};

	if (!strstr(string, " at 0x")) {
		tt_jsonw_string(w, string);
		return;
	}
	while (*string) {
		size_t length = address_length(string);

		if (!length)
			tt_str_addc(&text, *string);
		string += length ? length : 1;
	}
	put_text(w, &text);
}

/* "ShardSpec{grid=[...], shape=[...], orientation=...}" as an object; "None" as null. */
static void put_shard_spec(struct tt_jsonw *w, const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL), *member;
	struct ttnn_shard_spec spec;
	const struct ttnn_core_range *ranges;
	size_t count;

	if (strcmp(text, "None") == 0) {
		tt_jsonw_null(w);
		return;
	}
	if (tt_json_read_shard_spec(&spec, value) != TTNN_OK) {
		put_string(w, text);
		return;
	}
	ranges = ttnn_core_set_ranges(spec.grid, &count);
	member = tt_enum_name(&tt_enum_orientation, spec.orientation);
	tt_jsonw_object(w);
	tt_jsonw_key(w, "grid");
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_json_write_core_range(w, &ranges[i]);
	tt_jsonw_end(w);
	tt_jsonw_uints(w, "shape", (const uint32_t[]){spec.height, spec.width}, 2);
	tt_jsonw_key_string(w, "orientation", member ? member : "ROW_MAJOR");
	tt_jsonw_end(w);
}

/* ---- devices ------------------------------------------------------------------------------------------ */

/* A list as Python prints it: "[1, 2]", "['PlacementShard(2)']". */
static void put_printed(struct tt_jsonw *w, const struct tt_json *list)
{
	struct tt_json_iter it = tt_json_iter(list);
	struct tt_str text = {0};
	int64_t number;

	tt_str_addc(&text, '[');
	for (const char *before = ""; tt_json_next(&it); before = ", ") {
		tt_str_adds(&text, before);
		if (tt_json_int(&number, it.value))
			tt_str_addi(&text, number);
		else if (tt_json_string(it.value, NULL))
			tt_str_addf(&text, "'%s'", tt_json_string(it.value, NULL));
	}
	tt_str_addc(&text, ']');
	put_text(w, &text);
}

static bool pair(uint32_t out[2], const struct tt_json *list)
{
	uint64_t rows, cols;

	if (tt_json_count(list) != 2 || !tt_json_uint(&rows, tt_json_at(list, 0)) ||
	    !tt_json_uint(&cols, tt_json_at(list, 1)))
		return false;
	out[0] = (uint32_t)rows;
	out[1] = (uint32_t)cols;
	return true;
}

/* The mesh that a tensor is on: its own shape, else what its distribution and the machine let guess. */
static void infer_mesh(uint32_t out[2], const struct tt_master_machine *machine,
		       const struct tt_json *mesh)
{
	static const struct {
		const char *series;
		uint32_t cards, mesh[2];
	} known[] = {{"tt-galaxy-wh", 32, {4, 8}}, {"n300", 1, {1, 2}}, {"p150b", 1, {1, 1}}};
	const struct tt_json *spread = tt_json_get(mesh, "distribution_shape");
	uint64_t line = 0;

	if (pair(out, tt_json_get(mesh, "shape")) || pair(out, spread))
		return;
	tt_json_uint(&line, tt_json_at(spread, 0));
	out[0] = 1;
	out[1] = line ? (uint32_t)line : machine->card_count ? machine->card_count : 1;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (machine->device_series &&
		    strcmp(known[i].series, machine->device_series) == 0 &&
		    known[i].cards == machine->card_count &&
		    (!line || line == known[i].mesh[0] * known[i].mesh[1])) {
			out[0] = known[i].mesh[0];
			out[1] = known[i].mesh[1];
		}
}

static void put_placement(struct tt_jsonw *w, struct tt_master_machine *machine,
			  const struct tt_json *mesh)
{
	const struct tt_json *placements = tt_json_get(mesh, "placements");
	size_t devices = tt_json_count(tt_json_get(mesh, "device_ids"));
	struct tt_str text = {0};
	uint32_t shape[2];

	infer_mesh(shape, machine, mesh);
	if (!machine->mesh[0]) {
		machine->mesh[0] = shape[0];
		machine->mesh[1] = shape[1];
		machine->device_count = devices ? (uint32_t)devices : shape[0] * shape[1];
	}
	if (!tt_json_count(placements))
		return;
	tt_jsonw_key(w, "tensor_placement");
	tt_jsonw_object(w);
	tt_jsonw_key(w, "placement");
	put_printed(w, placements);
	tt_jsonw_key(w, "distribution_shape");
	put_printed(w, tt_json_get(mesh, "distribution_shape"));
	tt_jsonw_key(w, "mesh_device_shape");
	tt_str_addf(&text, "[%u, %u]", (unsigned)shape[0], (unsigned)shape[1]);
	put_text(w, &text);
	tt_jsonw_end(w);
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool same(const struct tt_json *a, const struct tt_json *b)
{
	struct tt_json_iter i = tt_json_iter(a), k = tt_json_iter(b);
	const char *text = tt_json_string(a, NULL), *other = tt_json_string(b, NULL);
	int64_t number, wanted;

	if (tt_json_kind(a) != tt_json_kind(b))
		return false;
	if (text)
		return strcmp(text, other) == 0;
	if (tt_json_int(&number, a))
		return tt_json_int(&wanted, b) && number == wanted;
	if (tt_json_kind(a) != TT_JSON_ARRAY || tt_json_count(a) != tt_json_count(b))
		return false;
	while (tt_json_next(&i) && tt_json_next(&k))
		if (!same(i.value, k.value))
			return false;
	return true;
}

/* Spellings of the older dialects in a tensor: "bfloat16", "TILE", "DEVICE_STORAGE". */
static bool put_qualified(struct tt_jsonw *w, const char *key, const char *text)
{
	static const struct {
		const char *key, *type;
	} rows[] = {{"dtype", "DataType"},
		    {"original_dtype", "DataType"},
		    {"layout", "Layout"},
		    {"storage_type", "StorageType"}};
	struct tt_str out = {0};
	size_t i = 0, length;

	while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(rows[i].key, key) != 0)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]) || strchr(text, '.'))
		return false;
	tt_str_addf(&out, "%s.", rows[i].type);
	length = strlen(text);
	if (length > 8 && strcmp(text + length - 8, "_STORAGE") == 0)
		length -= 8;
	for (size_t k = 0; k < length; k++)
		tt_str_addc(&out, (char)toupper((unsigned char)text[k]));
	put_text(w, &out);
	return true;
}

static void put_object(struct tt_jsonw *w, struct tt_master_machine *machine,
		       const struct tt_json *object)
{
	const struct tt_json *mesh = tt_json_get(object, "mesh_device");
	const char *type = tt_json_string(tt_json_get(object, "type"), NULL);
	bool tensor = type && strcmp(type, "ttnn.Tensor") == 0;
	bool qualify = tensor && tt_json_get(object, "original_dtype");
	struct tt_json_iter it = tt_json_iter(object);

	tt_jsonw_object(w);
	while (tt_json_next(&it)) {
		const char *text = tt_json_string(it.value, NULL);

		if (tt_json_kind(mesh) == TT_JSON_OBJECT && it.value == mesh) {
			put_placement(w, machine, mesh);
			continue;
		}
		if ((strcmp(it.key, "shape") == 0 &&
		     same(it.value, tt_json_get(object, "original_shape"))) ||
		    (strcmp(it.key, "dtype") == 0 &&
		     same(it.value, tt_json_get(object, "original_dtype"))) ||
		    (tensor && strcmp(it.key, "values") == 0))
			continue;
		tt_jsonw_keyn(w, it.key, it.key_length);
		if (text && strcmp(it.key, "shard_spec") == 0)
			put_shard_spec(w, it.value);
		else if (!(text && qualify && put_qualified(w, it.key, text)))
			tt_clean_value(w, machine, it.value);
	}
	tt_jsonw_end(w);
}

void tt_clean_value(struct tt_jsonw *w, struct tt_master_machine *machine,
		    const struct tt_json *value)
{
	struct tt_json_iter it = tt_json_iter(value);
	double real;

	switch (tt_json_kind(value)) {
	case TT_JSON_OBJECT:
		put_object(w, machine, value);
		break;
	case TT_JSON_ARRAY:
		tt_jsonw_array(w);
		while (tt_json_next(&it))
			tt_clean_value(w, machine, it.value);
		tt_jsonw_end(w);
		break;
	case TT_JSON_STRING:
		put_string(w, tt_json_string(value, NULL));
		break;
	case TT_JSON_REAL:
		if (tt_json_real(&real, value) && !isfinite(real)) {
			tt_jsonw_string(w, isnan(real) ? "nan" : real > 0 ? "inf" : "-inf");
			break;
		}
		tt_jsonw_value(w, value);
		break;
	default:
		tt_jsonw_value(w, value);
	}
}
