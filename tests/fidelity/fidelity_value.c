/* fidelity_value.c: expressions of recorded steps, and what a step calls. */
#include <string.h>

#include "fidelity.h"
#include "ops/conv/conv.h"
#include "ops/objects.h"
#include "ops/op_enums.h"
#include "tensor/dtype.h"
#include "tensor/sharding.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As many arguments as a recorded call may have. */
#define ARGS 32

struct list {
	struct ttnn_arg args[ARGS];
	size_t count;
};

/* ---- slots ---------------------------------------------------------------------------------------- */

struct fid_slot *fid_slot_find(struct fid_names *names, const char *name)
{
	for (size_t i = 0; i < names->slots.count; i++) {
		struct fid_slot *slot = &names->slots.data[i];

		if (slot->name && strcmp(slot->name, name) == 0)
			return slot;
	}
	return NULL;
}

/* As Python does when the last name of a tensor goes, or of a list of them: then from its end. */
void fid_slot_clear(struct fid_slot *slot)
{
	for (size_t i = slot->count; i > 0; i--)
		tt_call_drop(NULL, slot->tensors[i - 1]);
	slot->count = 0;
}

/* ---- names under ttnn -------------------------------------------------------------------------------- */

static const struct ttnn_memory_config memory_dram = {.buffer = TTNN_DRAM};
static const struct ttnn_memory_config memory_l1 = {.buffer = TTNN_L1};
static const struct ttnn_memory_config memory_height = {.layout = TTNN_HEIGHT_SHARDED,
							.buffer = TTNN_L1};
static const struct ttnn_memory_config memory_width = {.layout = TTNN_WIDTH_SHARDED,
						       .buffer = TTNN_L1};
static const struct ttnn_memory_config memory_block = {.layout = TTNN_BLOCK_SHARDED,
						       .buffer = TTNN_L1};

static const struct {
	const char *name;
	const struct ttnn_memory_config *memory;
} memories[] = {
	{"DRAM_MEMORY_CONFIG", &memory_dram},
	{"L1_MEMORY_CONFIG", &memory_l1},
	{"L1_HEIGHT_SHARDED_MEMORY_CONFIG", &memory_height},
	{"L1_WIDTH_SHARDED_MEMORY_CONFIG", &memory_width},
	{"L1_BLOCK_SHARDED_MEMORY_CONFIG", &memory_block},
};

/* How create_sharded_memory_config() names the memory layouts. */
static const struct tt_enum_row strategy_rows[] = {{TTNN_HEIGHT_SHARDED, "HEIGHT"},
						   {TTNN_WIDTH_SHARDED, "WIDTH"},
						   {TTNN_BLOCK_SHARDED, "BLOCK"}};
static const struct tt_enum strategies = {"ShardStrategy", strategy_rows, 3};

static const struct tt_enum *const enums[] = {&tt_enum_topology,
					      &tt_enum_reduce_type,
					      &tt_enum_dtype,
					      &tt_enum_layout,
					      &tt_enum_buffer_type,
					      &tt_enum_memory_layout,
					      &tt_enum_orientation,
					      &tt_enum_math_fidelity,
					      &tt_enum_unary,
					      &tt_enum_binary,
					      &tt_enum_shard_strategy,
					      &strategies,
					      &tt_enum_embeddings,
					      &tt_enum_loss_reduction,
					      &tt_enum_gelu_variant,
					      &tt_enum_sigmoid_mode,
					      &tt_enum_bcast_math,
					      &tt_enum_bcast_dim,
					      &tt_enum_sparse_kv_format,
					      &tt_enum_wy_inverse,
					      &tt_enum_rgb_range,
					      &tt_enum_yuv_space,
					      &tt_enum_yuv_format,
					      &tt_enum_yuv_range,
					      &tt_enum_routed_expert_activation,
					      &tt_enum_signal_aggregators,
					      &tt_enum_worker_mode,
					      &tt_enum_dispatch_algorithm,
					      &tt_enum_moe_activation,
					      &tt_enum_moreh_softmax,
					      &tt_enum_moreh_softmax_strategy,
					      &tt_enum_moreh_softmax_backward,
					      &tt_enum_moreh_softmax_backward_strategy};

/* Modules whose enumerations and objects are known by their names alone. */
static const char *without_module(const char *name)
{
	static const char *const modules[] = {"transformer.", "experimental.", "operations.ccl.",
					      "_ttnn.operations.moreh."};

	for (size_t i = 0; i < COUNT(modules); i++)
		if (strncmp(name, modules[i], strlen(modules[i])) == 0)
			return name + strlen(modules[i]);
	return name;
}

static tt_status attr_value(struct ttnn_value *out, struct tt_arena *arena, const char *name)
{
	const char *dot = strrchr(name, '.');
	enum ttnn_dtype dtype;
	int64_t member;

	name = without_module(name);
	for (size_t i = 0; dot && i < COUNT(enums); i++)
		if (strlen(enums[i]->name) == (size_t)(dot - name) &&
		    memcmp(enums[i]->name, name, (size_t)(dot - name)) == 0 &&
		    tt_enum_find(&member, enums[i], dot + 1)) {
			*out = tt_value_enum(enums[i], member);
			return TTNN_OK;
		}
	for (size_t i = 0; i < COUNT(memories); i++)
		if (strcmp(memories[i].name, name) == 0) {
			*out = ttnn_v_memory(memories[i].memory);
			return TTNN_OK;
		}
	if (strncmp(name, "Op2DDRAMSlice", 13) == 0) {
		*out = tt_value_enum(&tt_enum_slice, strcmp(name + 13, "Height") == 0
							     ? TT_SLICE_HEIGHT
							     : TT_SLICE_WIDTH);
		return TTNN_OK;
	}
	if (strcmp(name, "Conv2dL1FullSliceConfig") == 0) {
		struct ttnn_arg whole = {"slice_type", tt_value_enum(&tt_enum_slice, TT_SLICE_L1)};

		return tt_object_make(out, arena, "Op2DSliceConfig", &whole, 1);
	}
	if (strcmp(name, "TILE_LAYOUT") == 0 || strcmp(name, "ROW_MAJOR_LAYOUT") == 0) {
		*out = ttnn_v_layout(name[0] == 'T' ? TTNN_TILE : TTNN_ROW_MAJOR);
		return TTNN_OK;
	}
	if (ttnn_dtype_find(&dtype, name) == TTNN_OK) {
		*out = ttnn_v_dtype(dtype);
		return TTNN_OK;
	}
	return tt_fail(TTNN_NOTFOUND, "no ttnn.%s", name);
}

/* ---- objects ---------------------------------------------------------------------------------------------- */

/* The argument at a position or of a name; absent when it was not given. */
static const struct ttnn_value *pick(const struct list *list, size_t position, const char *name)
{
	static const struct ttnn_value absent;

	for (size_t i = 0; i < list->count; i++)
		if (list->args[i].name ? strcmp(list->args[i].name, name) == 0 : i == position)
			return &list->args[i].value;
	return &absent;
}

/* A member of an enumeration; the first for what is none. */
static int64_t member(const struct ttnn_value *value)
{
	return value->kind == TTNN_VALUE_ENUM ? value->integer : 0;
}

static tt_status wrong(const char *type)
{
	return tt_fail(TTNN_TYPE, "%s(): incompatible function arguments.", type);
}

static bool small(uint32_t *out, const struct ttnn_value *value)
{
	int64_t number;

	if (!tt_value_integer(&number, value) || number < 0 || number > UINT32_MAX)
		return false;
	*out = (uint32_t)number;
	return true;
}

static tt_status make_core(struct ttnn_value *out, struct fid_names *names, const struct list *list)
{
	struct ttnn_core core;

	(void)names;
	if (!small(&core.x, pick(list, 0, "x")) || !small(&core.y, pick(list, 1, "y")))
		return wrong("CoreCoord");
	*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = core};
	return TTNN_OK;
}

static tt_status make_tile(struct ttnn_value *out, struct fid_names *names, const struct list *list)
{
	const struct ttnn_value *extents = pick(list, 0, "tile_shape");
	struct ttnn_tile *tile = tt_arena_calloc(&names->arena, 1, sizeof(*tile));

	if (!tile)
		return tt_fail_nomem();
	if (extents->kind != TTNN_VALUE_LIST || extents->count != 2 ||
	    !small(&tile->height, &extents->items[0]) || !small(&tile->width, &extents->items[1]))
		return wrong("Tile");
	*out = (struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = tile};
	return TTNN_OK;
}

/* Rows come first here. */
static tt_status make_grid(struct ttnn_value *out, struct fid_names *names, const struct list *list)
{
	struct ttnn_core core;

	(void)names;
	if (!small(&core.y, pick(list, 0, "y")) || !small(&core.x, pick(list, 1, "x")))
		return wrong("CoreGrid");
	*out = (struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = core};
	return TTNN_OK;
}

/* A place on a mesh is a shape of two. */
static tt_status make_place(struct ttnn_value *out, struct fid_names *names,
			    const struct list *list)
{
	struct ttnn_shape *place = tt_arena_calloc(&names->arena, 1, sizeof(*place));

	TT_NEED_MEMORY(place);
	place->rank = 2;
	if (!small(&place->dim[0], pick(list, 0, "row")) ||
	    !small(&place->dim[1], pick(list, 1, "col")))
		return wrong("MeshCoordinate");
	*out = ttnn_v_shape(place);
	return TTNN_OK;
}

/* Sub-devices are numbers. */
static tt_status make_sub_device(struct ttnn_value *out, struct fid_names *names,
				 const struct list *list)
{
	uint32_t id;

	(void)names;
	if (!small(&id, pick(list, 0, "id")))
		return wrong("SubDeviceId");
	*out = ttnn_v_int(id);
	return TTNN_OK;
}

/* A range is a set of one. */
static tt_status make_range(struct ttnn_value *out, struct fid_names *names,
			    const struct list *list)
{
	const struct ttnn_value *start = pick(list, 0, "start"), *end = pick(list, 1, "end");
	struct ttnn_core_range range;
	const ttnn_core_set *set;

	(void)names;
	if (start->kind != TTNN_VALUE_CORE || end->kind != TTNN_VALUE_CORE)
		return wrong("CoreRange");
	range = (struct ttnn_core_range){start->core, end->core};
	TT_TRY(ttnn_core_set_make(&set, &range, 1));
	*out = ttnn_v_core_set(set);
	return TTNN_OK;
}

static tt_status make_range_set(struct ttnn_value *out, struct fid_names *names,
				const struct list *list)
{
	const struct ttnn_value *given = pick(list, 0, "core_ranges");
	struct ttnn_core_range *ranges;
	const ttnn_core_set *set;

	if (given->kind == TTNN_VALUE_CORE_SET) {
		*out = *given;
		return TTNN_OK;
	}
	if (given->kind != TTNN_VALUE_LIST)
		return wrong("CoreRangeSet");
	ranges = tt_arena_calloc(&names->arena, given->count ? given->count : 1, sizeof(*ranges));
	if (!ranges)
		return tt_fail_nomem();
	for (uint32_t i = 0; i < given->count; i++) {
		if (given->items[i].kind != TTNN_VALUE_CORE_SET ||
		    !ttnn_core_set_cores(given->items[i].core_set))
			return wrong("CoreRangeSet");
		ranges[i] = *ttnn_core_set_ranges(given->items[i].core_set, NULL);
	}
	TT_TRY(ttnn_core_set_make(&set, ranges, given->count));
	*out = ttnn_v_core_set(set);
	return TTNN_OK;
}

static bool to_shape(struct ttnn_shape *out, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_SHAPE) {
		*out = *value->shape;
		return true;
	}
	if (value->kind != TTNN_VALUE_LIST || value->count > TTNN_MAX_RANK)
		return false;
	out->rank = value->count;
	for (uint32_t i = 0; i < value->count; i++)
		if (!small(&out->dim[i], &value->items[i]))
			return false;
	return true;
}

static tt_status make_shape(struct ttnn_value *out, struct fid_names *names,
			    const struct list *list)
{
	struct ttnn_shape *shape = tt_arena_alloc(&names->arena, sizeof(*shape));

	if (!shape)
		return tt_fail_nomem();
	if (!to_shape(shape, pick(list, 0, "shape")))
		return wrong("Shape");
	*out = ttnn_v_shape(shape);
	return TTNN_OK;
}

static tt_status make_shard(struct ttnn_value *out, struct fid_names *names,
			    const struct list *list)
{
	const struct ttnn_value *grid = pick(list, 0, "grid");
	const struct ttnn_value *orientation = pick(list, 2, "shard_orientation");
	struct ttnn_shard_spec *spec = tt_arena_calloc(&names->arena, 1, sizeof(*spec));
	struct ttnn_shape shape;

	if (!spec)
		return tt_fail_nomem();
	if (grid->kind != TTNN_VALUE_CORE_SET || !to_shape(&shape, pick(list, 1, "shard_shape")) ||
	    shape.rank != 2)
		return wrong("ShardSpec");
	*spec = (struct ttnn_shard_spec){grid->core_set, shape.dim[0], shape.dim[1],
					 (enum ttnn_orientation)member(orientation)};
	*out = (struct ttnn_value){.kind = TTNN_VALUE_SHARD, .shard = spec};
	return TTNN_OK;
}

static tt_status make_nd_shard(struct ttnn_value *out, struct fid_names *names,
			       const struct list *list)
{
	const struct ttnn_value *grid = pick(list, 1, "grid");
	struct ttnn_nd_shard_spec *spec = tt_arena_calloc(&names->arena, 1, sizeof(*spec));

	if (!spec)
		return tt_fail_nomem();
	if (grid->kind != TTNN_VALUE_CORE_SET ||
	    !to_shape(&spec->shape, pick(list, 0, "shard_shape")))
		return wrong("NdShardSpec");
	spec->grid = grid->core_set;
	spec->orientation = (enum ttnn_orientation)member(pick(list, 2, "orientation"));
	spec->strategy =
		(enum ttnn_shard_strategy)member(pick(list, 3, "shard_distribution_strategy"));
	*out = (struct ttnn_value){.kind = TTNN_VALUE_ND_SHARD, .nd_shard = spec};
	return TTNN_OK;
}

static tt_status make_memory(struct ttnn_value *out, struct fid_names *names,
			     const struct list *list)
{
	const struct ttnn_value *first = pick(list, 0, "memory_layout");
	const struct ttnn_value *buffer = pick(list, 1, "buffer_type");
	const struct ttnn_value *shard = pick(list, 2, "shard_spec");
	const struct ttnn_value *nd = pick(list, 1, "nd_shard_spec");
	struct ttnn_memory_config *memory = tt_arena_calloc(&names->arena, 1, sizeof(*memory));

	if (!memory)
		return tt_fail_nomem();
	*out = ttnn_v_memory(memory);
	if (nd->kind == TTNN_VALUE_ND_SHARD) {
		const struct ttnn_value *type =
			first->kind == TTNN_VALUE_ENUM ? first : pick(list, 0, "buffer_type");

		return ttnn_memory_config_nd(memory, (enum ttnn_buffer_type)member(type),
					     nd->nd_shard);
	}
	memory->layout = (enum ttnn_memory_layout)member(first);
	memory->buffer = (enum ttnn_buffer_type)member(buffer);
	if (memory->layout == TTNN_INTERLEAVED)
		return TTNN_OK;
	return ttnn_memory_config_sharded(memory, memory->layout, memory->buffer,
					  shard->kind == TTNN_VALUE_SHARD ? shard->shard : NULL);
}

static tt_status make_sharded(struct ttnn_value *out, struct fid_names *names,
			      const struct list *list)
{
	const struct ttnn_value *cores = pick(list, 1, "core_grid");
	const struct ttnn_value *is_shape = pick(list, 5, "use_height_and_width_as_shard_shape");
	struct tt_sharded_args args = {
		.layout = (enum ttnn_memory_layout)member(pick(list, 2, "strategy")),
		.orientation = (enum ttnn_orientation)member(pick(list, 3, "orientation")),
		.shard_is_shape = is_shape->kind == TTNN_VALUE_BOOL && is_shape->boolean,
	};
	struct ttnn_memory_config *memory = tt_arena_calloc(&names->arena, 1, sizeof(*memory));

	if (!memory)
		return tt_fail_nomem();
	if (!to_shape(&args.shape, pick(list, 0, "shape")))
		return wrong("create_sharded_memory_config");
	if (cores->kind == TTNN_VALUE_CORE_SET)
		args.cores = cores->core_set;
	if (cores->kind == TTNN_VALUE_CORE) {
		args.grid_width = cores->core.x;
		args.grid_height = cores->core.y;
	}
	*out = ttnn_v_memory(memory);
	return tt_memory_config_create_sharded(memory, &args);
}

static tt_status make_replicate(struct ttnn_value *out, struct fid_names *names,
				const struct list *list)
{
	(void)names, (void)list;
	*out = (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "ReplicateTensorToMesh"};
	return TTNN_OK;
}

static tt_status make_cutter(struct ttnn_value *out, struct fid_names *names,
			     const struct list *list)
{
	(void)names;
	*out = *pick(list, 1, "dim");
	return out->kind == TTNN_VALUE_INT ? TTNN_OK : wrong("ShardTensorToMesh");
}

/* What can be made with arguments. All else is asked of the library's own table. */
/* clang-format off */
static const struct {
	const char *name;
	tt_status (*make)(struct ttnn_value *out, struct fid_names *names, const struct list *list);
} makers[] = {
	{"CoreCoord", make_core},
	{"CoreGrid", make_grid},
	{"CoreRange", make_range},
	{"CoreRangeSet", make_range_set},
	{"MemoryConfig", make_memory},
	{"MeshCoordinate", make_place},
	{"NdShardSpec", make_nd_shard},
	{"ReplicateTensorToMesh", make_replicate},
	{"Shape", make_shape},
	{"ShardSpec", make_shard},
	{"ShardTensorToMesh", make_cutter},
	{"SubDeviceId", make_sub_device},
	{"Tile", make_tile},
	{"create_sharded_memory_config", make_sharded},
};
/* clang-format on */

static tt_status read_args(struct list *out, struct fid_names *names, const struct tt_json *json)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(json, "args"));

	out->count = 0;
	for (int keywords = 0; keywords < 2; keywords++) {
		while (tt_json_next(&it)) {
			if (out->count == ARGS)
				return tt_fail(TTNN_UNSUPPORTED, "more than %d arguments", ARGS);
			out->args[out->count].name = it.key;
			TT_TRY(fid_value(&out->args[out->count].value, names, it.value, false));
			out->count++;
		}
		it = tt_json_iter(tt_json_get(json, "kwargs"));
	}
	return TTNN_OK;
}

static tt_status new_value(struct ttnn_value *out, struct fid_names *names,
			   const struct tt_json *json)
{
	const char *name = tt_json_string(tt_json_get(json, "new"), NULL);
	struct list list;

	TT_TRY(read_args(&list, names, json));
	for (size_t i = 0; i < COUNT(makers); i++)
		if (strcmp(makers[i].name, name) == 0)
			return makers[i].make(out, names, &list);
	return tt_object_make(out, &names->arena, without_module(name), list.args, list.count);
}

/* ---- expressions -------------------------------------------------------------------------------------------- */

static tt_status list_value(struct ttnn_value *out, struct fid_names *names,
			    const struct tt_json *json, bool torch)
{
	size_t count = tt_json_count(json), i = 0;
	struct ttnn_value *items = tt_arena_calloc(&names->arena, count + 1, sizeof(*items));
	struct tt_json_iter it = tt_json_iter(json);

	if (!items)
		return tt_fail_nomem();
	while (tt_json_next(&it))
		TT_TRY(fid_value(&items[i++], names, it.value, torch));
	*out = ttnn_v_list(items, count);
	return TTNN_OK;
}

static tt_status named_value(struct ttnn_value *out, struct fid_names *names,
			     const struct tt_json *json)
{
	const char *name = tt_json_string(tt_json_get(json, "$"), NULL);
	struct fid_slot *slot = name ? fid_slot_find(names, name) : NULL;
	struct ttnn_value *items;
	int64_t index;

	if (!slot)
		return tt_fail(TTNN_INVALID, "there is no %s", name ? name : "?");
	if (tt_json_int(&index, tt_json_get(json, "i"))) {
		if (index < 0 || (size_t)index >= slot->count)
			return tt_fail(TTNN_INVALID, "%s has no item %d", name, (int)index);
		*out = ttnn_v_tensor(slot->tensors[index]);
		return TTNN_OK;
	}
	if (slot->made.kind) {
		*out = slot->made;
		return TTNN_OK;
	}
	if (!slot->list) {
		*out = ttnn_v_tensor(slot->count ? slot->tensors[0] : NULL);
		return TTNN_OK;
	}
	items = tt_arena_calloc(&names->arena, slot->count + 1, sizeof(*items));
	if (!items)
		return tt_fail_nomem();
	for (size_t i = 0; i < slot->count; i++)
		items[i] = ttnn_v_tensor(slot->tensors[i]);
	*out = ttnn_v_list(items, slot->count);
	return TTNN_OK;
}

/* A torch tensor of zeros. It lives until the names end, under a name that no program uses. */
static tt_status torch_value(struct ttnn_value *out, struct fid_names *names,
			     const struct tt_json *json)
{
	static const struct {
		const char *torch;
		enum ttnn_dtype dtype;
	} dtypes[] = {
		{"float32", TTNN_FLOAT32}, {"bfloat16", TTNN_BFLOAT16}, {"int32", TTNN_INT32},
		{"uint8", TTNN_UINT8},     {"int8", TTNN_INT8},         {"uint16", TTNN_UINT16},
		{"uint32", TTNN_UINT32},
	};
	const char *name = tt_json_string(tt_json_get(json, "dtype"), NULL);
	struct ttnn_spec_args args = {.dtype = TTNN_FLOAT32};
	struct tt_json_iter it = tt_json_iter(tt_json_get(json, "torch"));
	struct ttnn_tensor_spec spec;
	struct fid_slot *slot;
	bool known = !name, before;
	tt_status status;

	for (size_t i = 0; name && i < COUNT(dtypes); i++)
		if (strcmp(dtypes[i].torch, name) == 0) {
			args.dtype = dtypes[i].dtype;
			known = true;
		}
	if (!known)
		return tt_fail(TTNN_NOTFOUND, "no torch.%s", name);
	while (tt_json_next(&it)) {
		uint64_t extent;

		if (!tt_json_uint(&extent, it.value) || args.shape.rank == TTNN_MAX_RANK)
			return tt_fail(TTNN_INVALID, "this is no shape");
		args.shape.dim[args.shape.rank++] = (uint32_t)extent;
	}
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	slot = TT_VEC_PUSH(&names->slots);
	if (!slot)
		return tt_fail_nomem();
	*slot = (struct fid_slot){.tensors = tt_arena_alloc(&names->arena, sizeof(ttnn_tensor *))};
	if (!slot->tensors)
		return tt_fail_nomem();
	before = tt_tensor_hide(true); /* the original does not count it */
	status = ttnn_tensor_new(&slot->tensors[0], &spec);
	tt_tensor_hide(before);
	TT_TRY(status);
	slot->count = 1;
	*out = ttnn_v_tensor(slot->tensors[0]);
	return TTNN_OK;
}

static tt_status object_value(struct ttnn_value *out, struct fid_names *names,
			      const struct tt_json *json, bool torch)
{
	static const char *const lists[] = {"tuple", "slice", "set"};

	if (tt_json_get(json, "$"))
		return named_value(out, names, json);
	if (tt_json_get(json, "device")) {
		*out = ttnn_v_device(names->device);
		return TTNN_OK;
	}
	if (tt_json_get(json, "attr"))
		return attr_value(out, &names->arena,
				  tt_json_string(tt_json_get(json, "attr"), NULL));
	if (tt_json_get(json, "new"))
		return new_value(out, names, json);
	if (tt_json_get(json, "torch")) {
		if (torch)
			return torch_value(out, names, json);
		*out = (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "torch.Tensor"};
		return TTNN_OK;
	}
	for (size_t i = 0; i < COUNT(lists); i++)
		if (tt_json_get(json, lists[i]))
			return list_value(out, names, tt_json_get(json, lists[i]), torch);
	return tt_fail(TTNN_NOTFOUND, "an expression of an unknown kind");
}

static tt_status recorded_value(struct ttnn_value *out, struct fid_names *names,
				const struct tt_json *json, bool torch)
{
	double real = 0;
	int64_t number = 0;
	bool truth = false;

	switch (tt_json_kind(json)) {
	case TT_JSON_BOOL:
		tt_json_bool(&truth, json);
		*out = ttnn_v_bool(truth);
		return TTNN_OK;
	case TT_JSON_INT:
		if (!tt_json_int(&number, json))
			return tt_fail(TTNN_INVALID, "a number beyond 64 bits");
		*out = ttnn_v_int(number);
		return TTNN_OK;
	case TT_JSON_REAL:
		tt_json_real(&real, json);
		*out = ttnn_v_real(real);
		return TTNN_OK;
	case TT_JSON_STRING:
		*out = ttnn_v_string(tt_json_string(json, NULL));
		return TTNN_OK;
	case TT_JSON_ARRAY:
		return list_value(out, names, json, torch);
	case TT_JSON_OBJECT:
		return object_value(out, names, json, torch);
	default:
		*out = ttnn_v_none();
		return TTNN_OK;
	}
}

tt_status fid_value(struct ttnn_value *out, struct fid_names *names, const struct tt_json *json,
		    bool torch)
{
	TT_TRY(recorded_value(out, names, json, torch));
	fid_change(out, names);
	return TTNN_OK;
}

/* ---- calls ---------------------------------------------------------------------------------------------------- */

/* Methods and operators of a tensor: the operation, and whether Python records the call. */
static const struct {
	const char *method, *op;
	bool frontend;
} methods[] = {
	{"__add__", "ttnn.add", true},         {"__radd__", "ttnn.add", true},
	{"__sub__", "ttnn.subtract", true},    {"__rsub__", "ttnn.rsub", true},
	{"__mul__", "ttnn.multiply", true},    {"__rmul__", "ttnn.multiply", true},
	{"__truediv__", "ttnn.divide", true},  {"__rtruediv__", "ttnn.rdiv", true},
	{"__matmul__", "ttnn.matmul", true},   {"__pow__", "ttnn.pow", true},
	{"__neg__", "ttnn.neg", true},         {"__eq__", "ttnn.eq", true},
	{"__ne__", "ttnn.ne", true},           {"__gt__", "ttnn.gt", true},
	{"__ge__", "ttnn.ge", true},           {"__lt__", "ttnn.lt", true},
	{"__le__", "ttnn.le", true},           {"__getitem__", "ttnn.Tensor.__getitem__", true},
	{"cpu", "ttnn.Tensor.cpu", false},     {"reshape", "ttnn.Tensor.reshape", false},
	{"to", "ttnn.Tensor.to", false},       {"pad", "ttnn.Tensor.pad", false},
	{"unpad", "ttnn.Tensor.unpad", false}, {"deallocate", "ttnn.Tensor.deallocate", false},
};

bool fid_callee(struct fid_callee *out, const struct tt_json *step)
{
	const char *call = tt_json_string(tt_json_get(step, "call"), NULL);

	*out = (struct fid_callee){.op = call, .frontend = true};
	if (!call)
		return false;
	out->torch = strcmp(call, "from_torch") == 0 || strcmp(call, "as_tensor") == 0;
	if (!tt_json_get(step, "self"))
		return true;
	out->op = NULL;
	for (size_t i = 0; i < COUNT(methods); i++)
		if (strcmp(methods[i].method, call) == 0) {
			out->op = methods[i].op;
			out->frontend = methods[i].frontend;
		}
	return true;
}

static bool have_object(const char *name)
{
	for (size_t i = 0; i < COUNT(makers); i++)
		if (strcmp(makers[i].name, name) == 0)
			return true;
	return tt_object_known(without_module(name));
}

static bool have_values(const struct tt_json *json)
{
	const char *name = tt_json_string(tt_json_get(json, "new"), NULL);
	struct tt_json_iter it = tt_json_iter(json);

	if (name && !have_object(name))
		return false;
	while (tt_json_next(&it))
		if (!have_values(it.value))
			return false;
	return true;
}

bool fid_have(const struct tt_json *program)
{
	static const char *const parts[] = {"setup", "body"};

	for (size_t i = 0; i < COUNT(parts); i++) {
		struct tt_json_iter it = tt_json_iter(tt_json_get(program, parts[i]));

		while (tt_json_next(&it)) {
			struct fid_callee callee;

			if (!have_values(it.value))
				return false;
			if (fid_callee(&callee, it.value) &&
			    (!callee.op || (!tt_op_find(callee.op) && !fid_makes(callee.op))))
				return false;
		}
	}
	return true;
}
