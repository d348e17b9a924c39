/* convert_tensor.c: tensors and memory configurations, read from any layout and written in one. */
#include <stdio.h>
#include <string.h>

#include "store/convert_parts.h"
#include "tensor/memory.h"
#include "tensor/value_json.h"

/* ---- texts --------------------------------------------------------------------------------------------- */

/* "std::nullopt", "None", null or nothing. */
static bool is_none(const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);

	if (text)
		return strcmp(text, "std::nullopt") == 0 || strcmp(text, "nullopt") == 0 ||
		       strcmp(text, "None") == 0;
	return tt_json_kind(value) == TT_JSON_NULL || tt_json_kind(value) == TT_JSON_ABSENT;
}

/* The member of "TensorMemoryLayout::INTERLEAVED" or "TensorMemoryLayout.INTERLEAVED"; or `otherwise`. */
static const char *member(const struct tt_json *value, const char *otherwise)
{
	const char *text = tt_json_string(value, NULL), *last;

	if (!text || !*text)
		return otherwise;
	last = strrchr(text, ':');
	if (!last)
		last = strrchr(text, '.');
	return last ? last + 1 : text;
}

/* "key": "Type::MEMBER" or "Type.MEMBER". */
static void put_member(struct tt_jsonw *w, const char *key, const char *type, const char *name,
		       enum tt_master_layout to)
{
	char text[128];

	snprintf(text, sizeof(text), "%s%s%s", type, to == TT_MASTER_V2 ? "." : "::", name);
	tt_jsonw_key_string(w, key, text);
}

/* Numbers of a text "{224, 32}" or "[224, 32]"; how many. */
static size_t numbers_in(uint64_t out[8], const char *text)
{
	size_t count = 0;

	for (text += strcspn(text, "0123456789"); *text && count < 8; count++) {
		out[count] = 0;
		for (; *text >= '0' && *text <= '9'; text++)
			out[count] = 10 * out[count] + (uint64_t)(*text - '0');
		text += strcspn(text, "0123456789");
	}
	return count;
}

/* The same of a list or of its text. */
static size_t numbers_of(uint64_t out[8], const struct tt_json *value)
{
	const char *text = tt_json_string(value, NULL);
	struct tt_json_iter it = tt_json_iter(value);
	size_t count = 0;

	if (text)
		return numbers_in(out, text);
	while (tt_json_kind(value) == TT_JSON_ARRAY && count < 8 && tt_json_next(&it))
		if (!tt_json_uint(&out[count++], it.value))
			return 0;
	return count;
}

static void put_numbers(struct tt_jsonw *w, const uint64_t *numbers, size_t count)
{
	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		tt_jsonw_uint(w, numbers[i]);
	tt_jsonw_end(w);
}

static bool same_numbers(const struct tt_json *a, const struct tt_json *b)
{
	uint64_t left[8], right[8];
	size_t count = numbers_of(left, a);

	return count == numbers_of(right, b) && memcmp(left, right, count * sizeof(left[0])) == 0;
}

/* ---- grids ----------------------------------------------------------------------------------------------- */

struct range {
	const struct tt_json *start, *end;
};

/* A range: {"start", "end"}, or a pair of cores. */
static struct range range_of(const struct tt_json *value)
{
	if (tt_json_kind(value) == TT_JSON_OBJECT)
		return (struct range){tt_json_get(value, "start"), tt_json_get(value, "end")};
	return (struct range){tt_json_at(value, 0), tt_json_at(value, 1)};
}

/* A grid that is one pair of cores: its first element has coordinates. */
static bool is_pair(const struct tt_json *grid)
{
	return tt_json_get(tt_json_at(grid, 0), "x") != NULL;
}

static void put_core(struct tt_jsonw *w, const struct tt_json *core)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "x");
	tt_jsonw_value(w, tt_json_get(core, "x"));
	tt_jsonw_key(w, "y");
	tt_jsonw_value(w, tt_json_get(core, "y"));
	tt_jsonw_end(w);
}

static void put_range(struct tt_jsonw *w, struct range range, enum tt_master_layout to)
{
	if (to == TT_MASTER_V2) {
		tt_jsonw_object(w);
		tt_jsonw_key(w, "end");
		put_core(w, range.end);
		tt_jsonw_key(w, "start");
		put_core(w, range.start);
	} else {
		tt_jsonw_array(w);
		put_core(w, range.start);
		put_core(w, range.end);
	}
	tt_jsonw_end(w);
}

/* One range is a bare pair in the lists of V1. */
static void put_grid(struct tt_jsonw *w, const struct tt_json *grid, enum tt_master_layout to)
{
	struct tt_json_iter it = tt_json_iter(grid);
	size_t count = tt_json_count(grid);

	if (tt_json_kind(grid) != TT_JSON_ARRAY) {
		tt_jsonw_value(w, grid);
		return;
	}
	if (to != TT_MASTER_V2 && (is_pair(grid) || count == 1)) {
		put_range(w, range_of(is_pair(grid) ? grid : tt_json_at(grid, 0)), to);
		return;
	}
	tt_jsonw_array(w);
	if (is_pair(grid))
		put_range(w, range_of(grid), to);
	else
		while (tt_json_next(&it))
			put_range(w, range_of(it.value), to);
	tt_jsonw_end(w);
}

/* ---- memory configurations -------------------------------------------------------------------------------- */

struct memory {
	const char *layout, *buffer;      /* members of their enumerations */
	const struct tt_json *shard, *nd; /* objects, texts that nobody parsed, or NULL */
	bool nd_absent; /* not told: then it follows from where the configuration stands */
	uint64_t created_with_nd;
	const struct tt_json *hash;
};

static struct memory read_memory(const struct tt_json *value)
{
	struct memory out = {
		.layout = member(tt_json_get(value, "memory_layout"), "INTERLEAVED"),
		.buffer = member(tt_json_get(value, "buffer_type"), "DRAM"),
		.shard = tt_json_get(value, "shard_spec"),
		.nd = tt_json_get(value, "nd_shard_spec"),
		.hash = tt_json_get(value, "hash"),
	};

	out.nd_absent = !out.nd;
	if (is_none(out.shard))
		out.shard = NULL;
	if (is_none(out.nd))
		out.nd = NULL;
	if (!tt_json_uint(&out.created_with_nd, tt_json_get(value, "created_with_nd_shard_spec")))
		out.created_with_nd = 0;
	return out;
}

static void put_shard(struct tt_jsonw *w, const struct tt_json *shard, enum tt_master_layout to)
{
	uint64_t numbers[8];
	size_t count = numbers_of(numbers, tt_json_get(shard, "shape"));
	const char *orientation = member(tt_json_get(shard, "orientation"), "ROW_MAJOR");
	char text[64];

	if (tt_json_kind(shard) != TT_JSON_OBJECT) {
		tt_jsonw_value(w, shard);
		return;
	}
	tt_jsonw_object(w);
	tt_jsonw_key(w, "grid");
	put_grid(w, tt_json_get(shard, "grid"), to);
	tt_jsonw_key(w, "shape");
	if (to == TT_MASTER_V1 && count == 2) {
		snprintf(text, sizeof(text), "{%llu, %llu}", (unsigned long long)numbers[0],
			 (unsigned long long)numbers[1]);
		tt_jsonw_string(w, text);
	} else {
		put_numbers(w, numbers, count);
	}
	if (to == TT_MASTER_V2)
		tt_jsonw_key_string(w, "orientation", orientation);
	else
		put_member(w, "orientation", "ShardOrientation", orientation, to);
	tt_jsonw_end(w);
}

/* What distributes the shards of a layout. */
static const char *strategy_of(const char *layout)
{
	return strcmp(layout, "BLOCK_SHARDED") == 0 ? "GRID_2D" : "ROUND_ROBIN_1D";
}

/* Whether the shard spec of any number of dimensions says no more than that of two. */
static bool is_derived(const struct memory *memory)
{
	const struct tt_json *nd = memory->nd, *shard = memory->shard;

	if (!nd || !shard)
		return !nd && !shard;
	return same_numbers(tt_json_get(nd, "shard_shape"), tt_json_get(shard, "shape")) &&
	       strcmp(member(tt_json_get(nd, "orientation"), "ROW_MAJOR"),
		      member(tt_json_get(shard, "orientation"), "ROW_MAJOR")) == 0 &&
	       strcmp(member(tt_json_get(nd, "shard_distribution_strategy"),
			     strategy_of(memory->layout)),
		      strategy_of(memory->layout)) == 0;
}

/* Whether it follows from where it stands: a tensor has both shard specs, an argument the one that was given. */
static bool has_usual_nd(const struct memory *memory, bool in_tensor)
{
	if (memory->nd_absent)
		return true;
	return in_tensor ? is_derived(memory) : !memory->nd;
}

static void put_derived(struct tt_jsonw *w, const struct memory *memory)
{
	const struct tt_json *shard = memory->shard;
	uint64_t numbers[8];
	size_t count = numbers_of(numbers, tt_json_get(shard, "shape"));

	if (tt_json_kind(shard) != TT_JSON_OBJECT) {
		tt_jsonw_string(w, "std::nullopt");
		return;
	}
	tt_jsonw_object(w);
	tt_jsonw_key(w, "shard_shape");
	put_numbers(w, numbers, count);
	tt_jsonw_key(w, "grid");
	put_grid(w, tt_json_get(shard, "grid"), TT_MASTER_V1);
	put_member(w, "orientation", "ShardOrientation",
		   member(tt_json_get(shard, "orientation"), "ROW_MAJOR"), TT_MASTER_V1);
	put_member(w, "shard_distribution_strategy", "ShardDistributionStrategy",
		   strategy_of(memory->layout), TT_MASTER_V1);
	tt_jsonw_end(w);
}

static void memory_to_v1(struct tt_jsonw *w, const struct memory *memory, bool in_tensor)
{
	put_member(w, "memory_layout", "TensorMemoryLayout", memory->layout, TT_MASTER_V1);
	put_member(w, "buffer_type", "BufferType", memory->buffer, TT_MASTER_V1);
	tt_jsonw_key(w, "shard_spec");
	if (memory->shard)
		put_shard(w, memory->shard, TT_MASTER_V1);
	else
		tt_jsonw_string(w, "std::nullopt");
	tt_jsonw_key(w, "nd_shard_spec");
	if (memory->nd)
		tt_jsonw_value(w, memory->nd);
	else if (memory->nd_absent && in_tensor)
		put_derived(w, memory);
	else
		tt_jsonw_string(w, "std::nullopt");
	tt_jsonw_key(w, "created_with_nd_shard_spec");
	tt_jsonw_uint(w, memory->created_with_nd);
}

/* As V1, without what follows from the rest. */
static void memory_to_seed(struct tt_jsonw *w, const struct memory *memory, bool in_tensor)
{
	put_member(w, "buffer_type", "BufferType", memory->buffer, TT_MASTER_SEED);
	put_member(w, "memory_layout", "TensorMemoryLayout", memory->layout, TT_MASTER_SEED);
	if (memory->shard) {
		tt_jsonw_key(w, "shard_spec");
		put_shard(w, memory->shard, TT_MASTER_SEED);
	}
	if (!has_usual_nd(memory, in_tensor)) {
		tt_jsonw_key(w, "nd_shard_spec");
		if (memory->nd)
			tt_jsonw_value(w, memory->nd);
		else
			tt_jsonw_string(w, "std::nullopt");
	}
	if (memory->created_with_nd) {
		tt_jsonw_key(w, "created_with_nd_shard_spec");
		tt_jsonw_uint(w, memory->created_with_nd);
	}
}

/* The number that our own traces have for a memory configuration; absent where it is none. */
static void put_hash(struct tt_jsonw *w, const struct memory *memory, const struct tt_json *value)
{
	struct ttnn_memory_config config;

	if (memory->hash) {
		tt_jsonw_key(w, "hash");
		tt_jsonw_value(w, memory->hash);
	} else if (tt_json_read_memory_config(&config, value) == TTNN_OK) {
		tt_memory_config_strip(&config);
		tt_jsonw_key(w, "hash");
		tt_jsonw_int(w, (int64_t)(tt_memory_config_hash(0, &config) >> 1));
	}
}

static void memory_to_v2(struct tt_jsonw *w, const struct memory *memory,
			 const struct tt_json *value)
{
	bool sharded = strcmp(memory->layout, "INTERLEAVED") != 0;

	put_member(w, "buffer_type", "BufferType", memory->buffer, TT_MASTER_V2);
	put_hash(w, memory, value);
	tt_jsonw_key(w, "interleaved");
	tt_jsonw_bool(w, !sharded);
	tt_jsonw_key(w, "is_sharded");
	tt_jsonw_bool(w, sharded);
	put_member(w, "memory_layout", "TensorMemoryLayout", memory->layout, TT_MASTER_V2);
	tt_jsonw_key(w, "shard_spec");
	if (memory->shard)
		put_shard(w, memory->shard, TT_MASTER_V2);
	else
		tt_jsonw_null(w);
}

static void put_memory(struct tt_jsonw *w, const struct tt_json *value, bool in_tensor,
		       enum tt_master_layout to)
{
	struct memory memory = read_memory(value);

	tt_jsonw_object(w);
	if (to == TT_MASTER_V1)
		memory_to_v1(w, &memory, in_tensor);
	else if (to == TT_MASTER_V2)
		memory_to_v2(w, &memory, value);
	else
		memory_to_seed(w, &memory, in_tensor);
	tt_jsonw_end(w);
}

void tt_convert_memory(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to)
{
	put_memory(w, value, false, to);
}

/* ---- tensors ---------------------------------------------------------------------------------------------- */

struct tensor {
	const struct tt_json *shape, *memory, *alignment, *page_config, *storage, *placement;
	const char *dtype, *layout, *storage_type; /* members of their enumerations */
};

static struct tensor read_tensor(const struct tt_json *value)
{
	const struct tt_json *spec = tt_json_get(value, "tensor_spec"),
			     *page = tt_json_get(spec, "tensor_layout");
	struct tensor out = {
		.placement = tt_json_get(value, "tensor_placement"),
		.storage_type = member(tt_json_get(value, "storage_type"), "DEVICE"),
		.layout = member(tt_json_get(value, "layout"), "TILE"),
	};

	if (!spec) {
		out.shape = tt_json_get(value, "original_shape");
		out.dtype = member(tt_json_get(value, "original_dtype"), "BFLOAT16");
		out.memory = tt_json_get(value, "memory_config");
		return out;
	}
	out.shape = tt_json_get(spec, "logical_shape");
	out.dtype = member(tt_json_get(page, "dtype"), "BFLOAT16");
	out.memory = tt_json_get(page, "memory_config");
	out.alignment = tt_json_get(page, "alignment");
	out.page_config = tt_json_get(page, "page_config");
	out.storage = tt_json_get(value, "storage");
	/* In lists of tensors the layout is missing, and in the seed's block: rows show by their alignment. */
	if (!tt_json_get(value, "layout") && out.alignment && tt_json_count(out.alignment) < 2)
		out.layout = "ROW_MAJOR";
	return out;
}

/* The alignment that a tensor has unless it was given another; how many numbers. */
static size_t usual_alignment(uint64_t out[2], const struct tensor *tensor)
{
	struct memory memory = read_memory(tensor->memory);
	uint64_t shape[8];

	out[0] = out[1] = 32;
	if (strcmp(tensor->layout, "TILE") == 0)
		return 2;
	out[0] = numbers_of(shape, tt_json_get(memory.shard, "shape")) == 2 ? shape[1] : 1;
	return 1;
}

static bool has_usual_alignment(const struct tensor *tensor)
{
	uint64_t usual[2], numbers[8];
	size_t count = usual_alignment(usual, tensor);

	return !tensor->alignment || (numbers_of(numbers, tensor->alignment) == count &&
				      memcmp(numbers, usual, count * sizeof(usual[0])) == 0);
}

static bool has_usual_tile(const struct tensor *tensor)
{
	const struct tt_json *tile =
		tt_json_get(tt_json_get(tensor->page_config, "config"), "tile");
	uint64_t numbers[8];

	return !tensor->page_config || (numbers_of(numbers, tt_json_get(tile, "tile_shape")) == 2 &&
					numbers[0] == 32 && numbers[1] == 32);
}

static void put_page_config(struct tt_jsonw *w, const struct tensor *tensor)
{
	static const char usual[] = "{\"config\": {\"tile\": {\"tile_shape\": \"{32, 32}\", "
				    "\"face_shape\": \"{16, 16}\", \"num_faces\": 4}}}";

	tt_jsonw_key(w, "page_config");
	if (tensor->page_config)
		tt_jsonw_value(w, tensor->page_config);
	else
		tt_jsonw_raw(w, usual, sizeof(usual) - 1);
}

static void put_alignment(struct tt_jsonw *w, const struct tensor *tensor)
{
	uint64_t usual[2];
	size_t count = usual_alignment(usual, tensor);

	tt_jsonw_key(w, "alignment");
	if (tensor->alignment)
		tt_jsonw_value(w, tensor->alignment);
	else
		put_numbers(w, usual, count);
}

static void put_placement(struct tt_jsonw *w, const struct tensor *tensor)
{
	static const char usual[] = "{\"distribution_shape\": \"[1]\", \"mesh_device_shape\": "
				    "\"[1, 1]\", \"placement\": \"['PlacementReplicate']\"}";

	tt_jsonw_key(w, "tensor_placement");
	if (tensor->placement)
		tt_jsonw_value(w, tensor->placement);
	else
		tt_jsonw_raw(w, usual, sizeof(usual) - 1);
}

/* On one device: what every tensor has that was not spread. */
static bool has_usual_placement(const struct tensor *tensor)
{
	const char *placement = tt_json_string(tt_json_get(tensor->placement, "placement"), NULL),
		   *mesh = tt_json_string(tt_json_get(tensor->placement, "mesh_device_shape"),
					  NULL);

	return !tensor->placement ||
	       (placement && strcmp(placement, "['PlacementReplicate']") == 0 && mesh &&
		strcmp(mesh, "[1, 1]") == 0);
}

static void tensor_to_v2(struct tt_jsonw *w, const struct tensor *tensor)
{
	put_member(w, "layout", "Layout", tensor->layout, TT_MASTER_V2);
	tt_jsonw_key(w, "memory_config");
	put_memory(w, tensor->memory, true, TT_MASTER_V2);
	put_member(w, "original_dtype", "DataType", tensor->dtype, TT_MASTER_V2);
	tt_jsonw_key(w, "original_shape");
	tt_jsonw_value(w, tensor->shape);
	put_member(w, "storage_type", "StorageType", tensor->storage_type, TT_MASTER_V2);
	put_placement(w, tensor);
	tt_jsonw_key_string(w, "type", "ttnn.Tensor");
}

/* `bare`: in a list of tensors, where layout and storage are not told unless they are unusual. */
static void tensor_to_list(struct tt_jsonw *w, const struct tensor *tensor, bool bare,
			   enum tt_master_layout to)
{
	bool whole = to == TT_MASTER_V1, tiles = strcmp(tensor->layout, "TILE") == 0;

	if (whole || tt_json_count(tensor->storage)) {
		tt_jsonw_key(w, "storage");
		if (tensor->storage)
			tt_jsonw_value(w, tensor->storage);
		else
			tt_jsonw_raw(w, "{}", 2);
	}
	tt_jsonw_key(w, "tensor_spec");
	tt_jsonw_object(w);
	tt_jsonw_key(w, "logical_shape");
	tt_jsonw_value(w, tensor->shape);
	tt_jsonw_key(w, "tensor_layout");
	tt_jsonw_object(w);
	put_member(w, "dtype", "DataType", tensor->dtype, to);
	if (whole || !has_usual_tile(tensor))
		put_page_config(w, tensor);
	tt_jsonw_key(w, "memory_config");
	put_memory(w, tensor->memory, true, to);
	if (whole || !has_usual_alignment(tensor))
		put_alignment(w, tensor);
	tt_jsonw_end(w);
	tt_jsonw_end(w);
	if ((whole && !bare) || strcmp(tensor->storage_type, "DEVICE") != 0)
		put_member(w, "storage_type", "StorageType", tensor->storage_type, to);
	if ((whole && !bare) || !tiles)
		put_member(w, "layout", "Layout", tensor->layout, to);
	if (!has_usual_placement(tensor))
		put_placement(w, tensor);
}

void tt_convert_tensor(struct tt_jsonw *w, const struct tt_json *value, enum tt_master_layout to)
{
	struct tensor tensor = read_tensor(value);

	tt_jsonw_object(w);
	if (to == TT_MASTER_V2)
		tensor_to_v2(w, &tensor);
	else
		tensor_to_list(w, &tensor, false, to);
	tt_jsonw_end(w);
}

void tt_convert_bare_tensor(struct tt_jsonw *w, const struct tt_json *value,
			    enum tt_master_layout to)
{
	struct tensor tensor = read_tensor(value);

	tt_jsonw_object(w);
	tensor_to_list(w, &tensor, true, to);
	tt_jsonw_end(w);
}
