#include "backend/cpu/lane.h"

#include <string.h>

#include "tensor/convert.h"
#include "tensor/dtype.h"

struct tt_lane_kind tt_lane_kind(bool whole)
{
	struct tt_lane_kind kind = {
		.whole = whole,
		.bytes = whole ? sizeof(int64_t) : sizeof(float),
		.real_fns = tt_float_fns_get(),
		.int_fns = tt_int_fns_get(),
	};

	return kind;
}

/* ---- in and out ------------------------------------------------------------------------------- */

/* The conversions here cannot fail: the types were checked when the tensors were made. */

void tt_lanes_load(const struct tt_lane_kind *kind, void *lanes, const void *elements,
		   enum ttnn_dtype dtype, size_t count)
{
	if (kind->whole)
		kind->int_fns->load[dtype](lanes, elements, count);
	else
		(void)tt_convert(lanes, TTNN_FLOAT32, elements, dtype, count);
}

void tt_lanes_store(const struct tt_lane_kind *kind, void *elements, enum ttnn_dtype dtype,
		    const void *lanes, size_t count)
{
	float real[TT_CPU_PIECE];

	if (!kind->whole && kind->int_fns->cast[dtype]) {
		kind->int_fns->cast[dtype](elements, lanes, count);
	} else if (!kind->whole) {
		(void)tt_convert(elements, dtype, lanes, TTNN_FLOAT32, count);
	} else if (kind->int_fns->store[dtype]) {
		kind->int_fns->store[dtype](elements, lanes, count);
	} else {
		kind->int_fns->to_float(real, lanes, count);
		(void)tt_convert(elements, dtype, real, TTNN_FLOAT32, count);
	}
}

void tt_lanes_load_tile(const struct tt_lane_kind *kind, void *lanes, const void *elements,
			enum ttnn_dtype dtype, const struct ttnn_tile *tile)
{
	if (tt_dtype_is_block(dtype))
		(void)tt_convert_tiles(lanes, TTNN_FLOAT32, elements, dtype,
				       &(struct tt_tile_run){*tile, 1});
	else
		tt_lanes_load(kind, lanes, elements, dtype, (size_t)tile->height * tile->width);
}

void tt_lanes_store_tile(const struct tt_lane_kind *kind, void *elements, enum ttnn_dtype dtype,
			 const void *lanes, const struct ttnn_tile *tile)
{
	size_t count = (size_t)tile->height * tile->width;
	float real[TT_CPU_PIECE];

	if (!tt_dtype_is_block(dtype)) {
		tt_lanes_store(kind, elements, dtype, lanes, count);
		return;
	}
	if (kind->whole) {
		kind->int_fns->to_float(real, lanes, count);
		lanes = real;
	}
	(void)tt_convert_tiles(elements, dtype, lanes, TTNN_FLOAT32,
			       &(struct tt_tile_run){*tile, 1});
}

/* ---- constants -------------------------------------------------------------------------------- */

void tt_lanes_repeat(const struct tt_lane_kind *kind, void *lanes, const void *from, size_t count)
{
	size_t total = count * kind->bytes, done = kind->bytes;
	uint8_t *to = lanes;

	if (!count)
		return;
	memmove(to, from, kind->bytes);
	for (; done < total; done *= 2) /* by doubling: memcpy is faster than any loop here */
		memcpy(to + done, to, done < total - done ? done : total - done);
}

void tt_lanes_set(const struct tt_lane_kind *kind, void *lanes, double value, size_t count)
{
	int64_t whole = tt_whole(value);
	float real = (float)value;

	tt_lanes_repeat(kind, lanes, kind->whole ? (const void *)&whole : (const void *)&real,
			count);
}

/* ---- functions -------------------------------------------------------------------------------- */

/* Whole numbers of 32 bits are held inside of 16; other types take the low bits. */
static void hold(int64_t *out, const int64_t *in, size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = in[i] < 0 ? 0 : in[i] > UINT16_MAX ? UINT16_MAX : in[i];
}

/* What a typecast in the middle of a chain does to the values; parameters: from, to. */
static void cast(const struct tt_lane_kind *kind, void *out, const void *in, size_t count,
		 const struct tt_unary_step *step)
{
	enum ttnn_dtype dtype = (enum ttnn_dtype)step->params[1];
	uint32_t elements[TT_CPU_PIECE];

	if (step->count < 2 || !tt_dtype_find(dtype) ||
	    (kind->whole && !kind->int_fns->load[dtype])) {
		if (out != in)
			memcpy(out, in, count * kind->bytes);
		return;
	}
	if (kind->whole && dtype == TTNN_UINT16) {
		hold(out, in, count);
		return;
	}
	dtype = tt_cpu_single(dtype);
	tt_lanes_store(kind, elements, dtype, in, count);
	tt_lanes_load(kind, out, elements, dtype, count);
}

void tt_lanes_wrap(const struct tt_lane_kind *kind, void *lanes, enum ttnn_dtype dtype,
		   size_t count)
{
	uint32_t elements[TT_CPU_PIECE];

	if (!kind->whole || !kind->int_fns->store[dtype])
		return;
	kind->int_fns->store[dtype](elements, lanes, count);
	kind->int_fns->load[dtype](lanes, elements, count);
}

bool tt_lanes_know(const struct tt_lane_kind *kind, enum tt_unary_fn fn)
{
	if ((unsigned)fn >= TT_UNARY_FNS)
		return false;
	if (fn == TT_UNARY_IDENTITY || fn == TT_UNARY_TYPECAST)
		return true;
	return kind->whole ? kind->int_fns->unary[fn] != NULL : kind->real_fns->unary[fn] != NULL;
}

void tt_lanes_step(const struct tt_lane_kind *kind, void *out, const void *in, size_t count,
		   const struct tt_unary_step *step)
{
	if (step->fn == TT_UNARY_TYPECAST) {
		cast(kind, out, in, count, step);
	} else if (step->fn == TT_UNARY_IDENTITY) {
		if (out != in)
			memcpy(out, in, count * kind->bytes);
	} else if (kind->whole) {
		kind->int_fns->unary[step->fn](out, in, count, step->params);
	} else {
		kind->real_fns->unary[step->fn](out, in, count, step->params);
	}
}
