/* mutate.c: configurations beside recorded ones. */
#include "sweep/mutate.h"

#include <stdio.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "base/vec.h"
#include "event/event.h"
#include "store/element.h"
#include "sweep/traced.h"
#include "tensor/tile.h"

#define MOST_TENSORS 64
#define SHARD_CORES 8 /* that shards of a mutation are spread over, in a row */

/* ---- the choices ---------------------------------------------------------------------------------------- */

static const char *const kind_words[] = {"shape", "dtype", "layout", "sharding"};

/* Choice i + 1 of each kind. To add one: a row. */
static const struct {
	const char *name;
	bool rows; /* of the height, else of the width */
	int more;
} shapes[] = {{"width+32", false, TT_TILE},
	      {"width-32", false, -(int)TT_TILE},
	      {"rows+32", true, TT_TILE},
	      {"rows-32", true, -(int)TT_TILE}};

static const struct {
	const char *name;
	enum ttnn_dtype dtype;
} dtypes[] = {{"dtype=bfloat16", TTNN_BFLOAT16},
	      {"dtype=float32", TTNN_FLOAT32},
	      {"dtype=bfloat8_b", TTNN_BFLOAT8_B}};

static const struct {
	const char *name;
	enum ttnn_layout layout;
} layouts[] = {{"layout=row_major", TTNN_ROW_MAJOR}, {"layout=tile", TTNN_TILE}};

static const struct {
	const char *name;
	enum ttnn_memory_layout layout;
	enum ttnn_buffer_type buffer;
} places[] = {{"place=dram", TTNN_INTERLEAVED, TTNN_DRAM},
	      {"place=l1", TTNN_INTERLEAVED, TTNN_L1},
	      {"place=height_sharded", TTNN_HEIGHT_SHARDED, TTNN_L1},
	      {"place=width_sharded", TTNN_WIDTH_SHARDED, TTNN_L1}};

bool tt_mutation_kind(enum tt_mutation_kind *out, const char *word, size_t length)
{
	for (unsigned i = 0; i < TT_MUTATION_KINDS; i++)
		if (strlen(kind_words[i]) == length && memcmp(kind_words[i], word, length) == 0) {
			*out = (enum tt_mutation_kind)i;
			return true;
		}
	return false;
}

unsigned tt_mutation_choices(enum tt_mutation_kind kind)
{
	static const unsigned counts[] = {TT_COUNT(shapes), TT_COUNT(dtypes), TT_COUNT(layouts),
					  TT_COUNT(places)};

	return counts[kind] + 1;
}

static const char *choice_name(enum tt_mutation_kind kind, unsigned choice)
{
	return kind == TT_MUTATE_SHAPE    ? shapes[choice - 1].name
	       : kind == TT_MUTATE_DTYPE  ? dtypes[choice - 1].name
	       : kind == TT_MUTATE_LAYOUT ? layouts[choice - 1].name
					  : places[choice - 1].name;
}

void tt_mutation_name(char out[TT_MUTATION_NAME], struct tt_mutation mutation)
{
	size_t used = 0;

	out[0] = '\0';
	for (unsigned kind = 0; kind < TT_MUTATION_KINDS; kind++)
		if (mutation.choice[kind])
			used += (size_t)snprintf(
				out + used, TT_MUTATION_NAME - used, "%s%s", used ? "," : "",
				choice_name((enum tt_mutation_kind)kind, mutation.choice[kind]));
	if (!used)
		snprintf(out, TT_MUTATION_NAME, "recorded");
}

static bool parse_choice(struct tt_mutation *out, const char *word, size_t length)
{
	for (unsigned kind = 0; kind < TT_MUTATION_KINDS; kind++)
		for (unsigned i = 1; i < tt_mutation_choices((enum tt_mutation_kind)kind); i++) {
			const char *name = choice_name((enum tt_mutation_kind)kind, i);

			if (strlen(name) == length && memcmp(name, word, length) == 0) {
				out->choice[kind] = (unsigned char)i;
				return true;
			}
		}
	return false;
}

bool tt_mutation_parse(struct tt_mutation *out, const char *name)
{
	*out = (struct tt_mutation){0};
	if (strcmp(name, "recorded") == 0)
		return true;
	for (;;) {
		size_t length = strcspn(name, ",");

		if (!parse_choice(out, name, length))
			return false;
		if (!name[length])
			return true;
		name += length + 1;
	}
}

/* ---- tensors ---------------------------------------------------------------------------------------------- */

/* A change that is under way: what the first tensor was. */
struct change {
	struct tt_mutation mutation;
	bool known; /* the first tensor was seen */
	struct ttnn_tensor_spec first;
	bool differs; /* something has changed */
	tt_status status;
	size_t used;
	struct ttnn_tensor_spec specs[MOST_TENSORS];
	struct tt_event_tensor tensors[MOST_TENSORS];
};

/* Every extent that is the first tensor's becomes another: what was to fit still does. */
static bool change_shape(struct change *change, struct ttnn_spec_args *args)
{
	unsigned choice = change->mutation.choice[TT_MUTATE_SHAPE];
	uint32_t back = choice && shapes[choice - 1].rows ? 2 : 1, was;
	const struct ttnn_shape *first = &change->first.shape;

	if (!choice)
		return true;
	if (first->rank < back)
		return false;
	was = first->dim[first->rank - back];
	if ((int64_t)was + shapes[choice - 1].more <= 0)
		return false;
	for (uint32_t i = 0; i < args->shape.rank; i++)
		if (args->shape.dim[i] == was && i + 2 >= args->shape.rank)
			args->shape.dim[i] = (uint32_t)((int64_t)was + shapes[choice - 1].more);
	return true;
}

static bool is_real(enum ttnn_dtype dtype)
{
	for (size_t i = 0; i < TT_COUNT(dtypes); i++)
		if (dtypes[i].dtype == dtype)
			return true;
	return false;
}

static bool change_types(struct change *change, struct ttnn_spec_args *args)
{
	unsigned dtype = change->mutation.choice[TT_MUTATE_DTYPE],
		 layout = change->mutation.choice[TT_MUTATE_LAYOUT];

	if (dtype && !is_real(change->first.dtype))
		return false;
	if (dtype && args->dtype == change->first.dtype)
		args->dtype = dtypes[dtype - 1].dtype;
	if (layout && args->layout == change->first.layout)
		args->layout = layouts[layout - 1].layout;
	return true;
}

static uint32_t tiles_up(uint64_t extent, uint32_t parts)
{
	uint64_t tiles = (extent + TT_TILE - 1) / TT_TILE;

	return (uint32_t)((tiles + parts - 1) / parts * TT_TILE);
}

/* A shard for each of some cores, cut along height or width. */
static tt_status shard(struct ttnn_memory_config *out, const struct ttnn_spec_args *args,
		       enum ttnn_memory_layout layout)
{
	struct ttnn_shard_spec spec = {0};
	const struct ttnn_shape *shape = &args->shape;
	uint64_t volume, width, height;
	uint32_t cores;

	TT_TRY(ttnn_shape_volume(&volume, shape));
	width = shape->rank ? shape->dim[shape->rank - 1] : 1;
	if (!volume || !width)
		return tt_fail(TTNN_INVALID, "an empty tensor has no shards");
	height = volume / width;
	if (layout == TTNN_HEIGHT_SHARDED) {
		spec.height = tiles_up(height, SHARD_CORES);
		spec.width = tiles_up(width, 1);
		cores = (uint32_t)((height + spec.height - 1) / spec.height);
	} else {
		spec.height = tiles_up(height, 1);
		spec.width = tiles_up(width, SHARD_CORES);
		cores = (uint32_t)((width + spec.width - 1) / spec.width);
	}
	TT_TRY(ttnn_core_set_make(&spec.grid, &(struct ttnn_core_range){{0, 0}, {cores - 1, 0}},
				  1));
	return ttnn_memory_config_sharded(out, layout, TTNN_L1, &spec);
}

static bool same_place(const struct ttnn_memory_config *a, const struct ttnn_memory_config *b)
{
	return a->layout == b->layout && a->buffer == b->buffer;
}

static bool change_place(struct change *change, struct ttnn_spec_args *args, bool on_host)
{
	unsigned choice = change->mutation.choice[TT_MUTATE_PLACE];
	enum ttnn_memory_layout layout;

	if (!choice)
		return true;
	if (on_host || !same_place(&args->memory, &change->first.memory))
		return change->used > 0;
	layout = places[choice - 1].layout;
	if (same_place(&args->memory,
		       &(struct ttnn_memory_config){.layout = layout,
						    .buffer = places[choice - 1].buffer}))
		return false;
	if (layout != TTNN_INTERLEAVED)
		return shard(&args->memory, args, layout) == TTNN_OK;
	args->memory =
		(struct ttnn_memory_config){.layout = layout, .buffer = places[choice - 1].buffer};
	return true;
}

/* The tensor after the change; NULL: there is no such one. */
static const struct tt_event_tensor *change_tensor(struct change *change,
						   const struct tt_json *json)
{
	struct ttnn_tensor_spec was, *spec;
	struct tt_event_tensor *tensor;
	struct ttnn_spec_args args;
	bool on_host;

	if (change->used == MOST_TENSORS || tt_traced_spec(&was, &on_host, json) != TTNN_OK)
		return NULL;
	if (!change->known)
		change->first = was;
	change->known = true;
	args = (struct ttnn_spec_args){
		.shape = was.shape, .dtype = was.dtype, .layout = was.layout, .memory = was.memory};
	if (!change_shape(change, &args) || !change_types(change, &args) ||
	    !change_place(change, &args, on_host))
		return NULL;
	spec = &change->specs[change->used];
	tensor = &change->tensors[change->used++];
	if (ttnn_tensor_spec_make(spec, &args) != TTNN_OK)
		return NULL;
	/* One that is not concerned stays to the letter, its alignment too. */
	if (ttnn_shape_equal(&spec->shape, &was.shape) && spec->dtype == was.dtype &&
	    spec->layout == was.layout && ttnn_memory_config_equal(&spec->memory, &was.memory))
		*spec = was;
	else
		change->differs = true;
	*tensor = (struct tt_event_tensor){.spec = spec, .on_device = !on_host};
	return tensor;
}

/* ---- arguments --------------------------------------------------------------------------------------------- */

static struct ttnn_value seen(const struct tt_event_tensor *tensor)
{
	return (struct ttnn_value){.kind = TTNN_VALUE_SEEN_TENSOR, .seen = tensor};
}

static bool change_list(struct tt_jsonw *w, struct change *change, const struct tt_json *list)
{
	struct ttnn_value items[MOST_TENSORS], value;
	struct tt_json_iter it = tt_json_iter(list);
	size_t count = 0;

	while (tt_json_next(&it)) {
		const struct tt_event_tensor *tensor =
			count < MOST_TENSORS ? change_tensor(change, it.value) : NULL;

		if (!tensor)
			return false;
		items[count++] = seen(tensor);
	}
	value = ttnn_v_list(items, count);
	tt_element_value(w, &value);
	return true;
}

static bool change_value(struct tt_jsonw *w, struct change *change, const struct tt_json *value)
{
	const struct tt_json *tensor = tt_json_get(value, "Tensor");
	const struct tt_event_tensor *changed;
	struct ttnn_value made;

	if (tt_json_kind(value) == TT_JSON_ARRAY &&
	    tt_json_get(tt_json_at(value, 0), "tensor_spec"))
		return change_list(w, change, value);
	if (!tensor) {
		tt_jsonw_value(w, value);
		return true;
	}
	changed = change_tensor(change, tensor);
	if (!changed)
		return false;
	made = seen(changed);
	tt_element_value(w, &made);
	return true;
}

static bool change_args(struct tt_jsonw *w, struct change *change, const struct tt_json *args)
{
	struct tt_json_iter it = tt_json_iter(args);

	tt_jsonw_array(w);
	while (tt_json_next(&it)) {
		struct tt_json_iter member = tt_json_iter(it.value);

		tt_jsonw_object(w);
		while (tt_json_next(&member)) {
			tt_jsonw_keyn(w, member.key, member.key_length);
			if (!change_value(w, change, member.value))
				return false;
		}
		tt_jsonw_end(w);
	}
	tt_jsonw_end(w);
	return true;
}

tt_status tt_mutate(struct tt_str *out, bool *applies, const struct tt_json *args,
		    struct tt_mutation mutation)
{
	struct change *change = tt_calloc(1, sizeof(*change));
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status = TTNN_OK;

	*applies = false;
	if (!change)
		return tt_fail_nomem();
	change->mutation = mutation;
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	if (change_args(&w, change, args) && change->differs) {
		status = tt_jsonw_finish(&w);
		*applies = status == TTNN_OK && tt_str_status(&text) == TTNN_OK;
	}
	if (*applies)
		tt_str_add(out, tt_str_text(&text), text.length);
	if (status == TTNN_OK && text.failed)
		status = tt_fail_nomem();
	tt_str_deinit(&text);
	tt_free(change);
	return status;
}
