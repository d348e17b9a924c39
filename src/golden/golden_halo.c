/*
 * golden_halo.c: what the first chip's pictures need of its neighbours', pixel after pixel as the buffer has them; and pictures
 * that get it around them, by counting how many pixels of a section came before.
 */
#include <inttypes.h>

#include "device/device.h"
#include "device/devtensor.h"
#include "golden/golden_collective.h"
#include "golden/golden_mesh.h"

/* The parts of chips, of which `inside` is a rim that they have already. */
struct field {
	const struct tt_array *parts[64];
	const struct tt_device *device;
	int64_t height, width, inside[2], axis[2];
	bool zeros;
};

/* A number of a pixel, which may be a neighbour's or nobody's. */
static double value_of(const struct field *f, uint64_t frame, int64_t y, int64_t x,
		       uint64_t channel)
{
	int64_t place[2] = {y, x}, extent[2] = {f->height, f->width}, chip[2] = {0, 0};
	const struct tt_array *part;
	const uint32_t *dim;

	for (int i = 1; i >= 0; i--) {
		int64_t chips = f->axis[i] ? f->device->cols : f->device->rows;
		int64_t *own = &chip[f->axis[i]];

		if (place[i] >= extent[i] && *own + 1 < chips) {
			++*own;
			place[i] -= extent[i];
		}
		if (place[i] >= 0 && place[i] < extent[i])
			continue;
		if (f->zeros)
			return 0;
		place[i] = place[i] < 0 ? 0 : extent[i] - 1;
	}
	part = f->parts[chip[0] * f->device->cols + chip[1]];
	if (!part)
		return 0;
	dim = part->shape.dim;
	return *tt_at(part, ((frame * dim[2] + (uint64_t)(place[0] + f->inside[0])) * dim[3] +
			     (uint64_t)(place[1] + f->inside[1])) *
					    dim[4] +
				    channel);
}

/* A box of pixels, appended. */
struct box {
	int64_t y, rows, x, columns;
};

static void append(struct tt_array *out, uint64_t *at, const struct field *f, struct box box)
{
	const struct tt_array *first = f->parts[0];
	const uint32_t *dim;

	if (!first)
		return;
	dim = first->shape.dim;
	for (uint64_t frame = 0; frame < (uint64_t)dim[0] * dim[1]; frame++)
		for (int64_t i = 0; i < box.rows * box.columns && *at < out->count; i++)
			for (uint64_t c = 0; c < dim[4]; c++)
				*tt_at(out, (*at)++) = value_of(f, frame, box.y + i / box.columns,
								box.x + i % box.columns, c);
}

static tt_status read_field(struct field *f, struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	struct tt_tensor *in = tt_call_tensor(call, "input");
	const char *mode = tt_call_arg(call, "padding_mode")->text;

	f->device = tt_tensor_device(in);
	f->inside[0] = tt_call_int(call, "input_pad_h", 0);
	f->inside[1] = tt_call_int(call, "input_pad_w", 0);
	f->axis[0] = tt_call_int(call, "np_cluster_axis", 0);
	f->axis[1] = tt_call_int(call, "np_pad2_cluster_axis", 1);
	f->zeros = !mode || mode[0] == 'z';
	TT_NEED(in->spec.shape.rank == 5 && f->device && f->device->rows * f->device->cols <= 64,
		"pictures of five dimensions on a mesh of up to 64 chips have neighbours");
	f->height = in->spec.shape.dim[2] - 2 * f->inside[0];
	f->width = in->spec.shape.dim[3] - 2 * f->inside[1];
	for (int i = 0; i < 2; i++)
		TT_NEED((f->axis[i] | 1) == 1 && f->inside[i] >= 0,
			"a mesh has the axes 0 and 1, and no rim is narrower than nothing");
	TT_NEED(f->height > 0 && f->width > 0, "nothing is left within the rim");
	for (uint32_t i = 0; i < f->device->rows * f->device->cols; i++) {
		f->parts[i] = tt_golden_mesh_in(golden, "input", i);
		TT_GOLDEN_NEED(f->parts[i]);
	}
	golden->first_chip = true;
	return TTNN_OK;
}

tt_status tt_golden_neighbor_halo(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	int64_t up = tt_call_int(call, "np_padding_h", 0);
	int64_t left = tt_call_int(call, "np_pad2_left", 0);
	int64_t right = tt_call_int(call, "np_pad2_right", 0);
	struct tt_tensor *padded = tt_call_tensor(call, "padded_output");
	const struct tt_array *before =
		tt_golden_mesh_in(golden, padded ? "padded_output" : "halo_buffer", 0);
	struct tt_array *out;
	struct field f = {0};
	uint64_t at = 0;

	TT_TRY(read_field(&f, golden));
	TT_NEED(up >= 0 && left >= 0 && right >= 0 && up < INT16_MAX && left < INT16_MAX &&
			right < INT16_MAX,
		"a picture with a rim of %" PRId64 ", %" PRId64 " and %" PRId64 " has no golden",
		up, left, right);
	TT_GOLDEN_NEED(before);
	out = tt_golden_out(golden, &before->shape, tt_golden_tensor(golden, "input")->spec.dtype);
	TT_GOLDEN_NEED(out);
	for (uint64_t i = 0; i < out->count; i++)
		*tt_at(out, i) = *tt_at(before, i);
	if (padded) {
		uint64_t wide = (uint64_t)(f.width + left + right),
			 tall = (uint64_t)(f.height + 2 * up);
		uint64_t channels = before->shape.dim[4];

		TT_NEED(before->shape.rank == 5, "a padded picture has five dimensions");
		for (uint64_t i = 0; i < out->count; i++) {
			int64_t x = (int64_t)(i / channels % wide) - left;
			int64_t y = (int64_t)(i / channels / wide % tall) - up;

			if (x >= 0 && y >= 0 && x < f.width && y < f.height)
				*tt_at(out, i) = value_of(&f, i / channels / wide / tall, y, x,
							  i % channels);
		}
		return TTNN_OK;
	}
	append(out, &at, &f, (struct box){-up, up, 0, f.width});
	append(out, &at, &f, (struct box){f.height, up, 0, f.width});
	append(out, &at, &f, (struct box){-up, f.height + 2 * up, -left, left});
	append(out, &at, &f, (struct box){-up, f.height + 2 * up, f.width, right});
	return TTNN_OK;
}

tt_status tt_golden_halo_scatter(struct tt_golden *golden)
{
	const struct tt_call *call = &golden->call;
	const struct tt_array *halo = tt_golden_in(golden, "compact_buffer");
	const struct tt_array *in = tt_golden_in(golden, "interior_src");
	uint64_t up = (uint64_t)tt_call_int(call, "np_padding_h", 0), inside = 0, section[4] = {0};
	uint64_t aside = (uint64_t)tt_call_int(call, "np_padding_w", 0), tall, wide, frames,
		 channels;
	bool border = tt_call_bool(call, "border_only", false);
	struct tt_array *out;

	TT_GOLDEN_NEED(halo && in);
	TT_NEED(in->shape.rank == 5 && up < INT16_MAX && aside < INT16_MAX,
		"pictures have five dimensions, and a rim of less than %d", INT16_MAX);
	tall = in->shape.dim[2] + (border ? 0 : 2 * up);
	wide = in->shape.dim[3] + (border ? 0 : 2 * aside);
	frames = (uint64_t)in->shape.dim[0] * in->shape.dim[1];
	channels = in->shape.dim[4];
	out = tt_golden_out(golden,
			    &TT_SHAPE(in->shape.dim[0], in->shape.dim[1], (uint32_t)tall,
				      (uint32_t)wide, (uint32_t)channels),
			    tt_golden_tensor(golden, "interior_src")->spec.dtype);
	TT_GOLDEN_NEED(out);
	section[1] = frames * up * (wide - 2 * aside);
	section[2] = 2 * section[1];
	section[3] = section[2] + frames * tall * aside;
	for (uint64_t i = 0; i < frames * tall * wide; i++) {
		uint64_t x = i % wide, y = i / wide % tall;
		uint64_t *next = x < aside           ? &section[2]
				 : x >= wide - aside ? &section[3]
				 : y < up            ? &section[0]
				 : y >= tall - up    ? &section[1]
						     : &inside;

		for (uint64_t c = 0; c < channels; c++) {
			uint64_t own = border ? i : inside;

			*tt_at(out, i * channels + c) =
				next == &inside ? *tt_at(in, own * channels + c)
						: *tt_at(halo, *next * channels + c);
		}
		++*next;
	}
	return TTNN_OK;
}
