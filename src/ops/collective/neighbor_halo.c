/*
 * neighbor_halo.c: what a chip's pictures need of its neighbours', in one compact buffer, and what puts it around a picture.
 *
 * Models, of ttnn 0.81, NpHaloDeviceOperation (a program for each chip) and NpHaloScatterDeviceOperation: refusals, memory, cores of
 * the senders, of the workers that share their links when there is much to send, and of those that copy the inside. Not
 * modelled: routes; links that a machine does not have.
 *
 * The buffer has a row of it for every pixel, as wide as the channels: rows above (of all frames), rows below, columns to the left
 * (of all frames, as high as the picture with both rims), columns to the right.
 */
#include <inttypes.h>
#include <string.h>

#include "device/buffer.h"
#include "device/fabric.h"
#include "golden/golden_collective.h"
#include "ops/collective/collective.h"
#include "ops/usual.h"

#define ATTRS(X)                                                                                   \
	X(UP, "np_padding_h")                                                                      \
	X(ASIDE, "np_padding_w")                                                                   \
	X(AXIS, "np_cluster_axis")                                                                 \
	X(LEFT, "np_pad2_left")                                                                    \
	X(RIGHT, "np_pad2_right")                                                                  \
	X(AXIS2, "np_pad2_cluster_axis")                                                           \
	X(LINKS, "np_num_links")                                                                   \
	X(LINKS2, "np_pad2_num_links")                                                             \
	X(TOPOLOGY, "np_topology")                                                                 \
	X(MEMORY, "memory_config")                                                                 \
	X(MODE, "padding_mode")                                                                    \
	X(INSIDE_H, "input_pad_h")                                                                 \
	X(INSIDE_W, "input_pad_w")                                                                 \
	X(BORDER, "border_only")
TT_ATTRS(schema, "<NpHaloParams>", ATTRS);
enum { IN, HALO, PADDED, INPUTS };

#define SCATTER_ATTRS(X)                                                                           \
	X(S_UP, "np_padding_h")                                                                    \
	X(S_ASIDE, "np_padding_w")                                                                 \
	X(S_MEMORY, "memory_config")                                                               \
	X(S_BORDER, "border_only")
TT_ATTRS(scatter_schema, "NpHaloScatterParams", SCATTER_ATTRS);

#define DIMS 5 /* batches, frames, rows, columns, channels */
#define PAGES_AT_ONCE 8

/* ---- pictures ---------------------------------------------------------------------------------------------- */

/* A picture without its rim, and the rim. */
struct picture {
	uint64_t frames, height, width;
	uint64_t up, left, right;
	uint64_t inside_h, inside_w; /* the rim that the input has already */
};

static struct picture picture_of(const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[IN]->spec.shape.dim;
	struct picture p = {.frames = (uint64_t)dim[0] * dim[1],
			    .up = tt_attr_u32(launch, UP),
			    .left = tt_attr_u32(launch, LEFT),
			    .right = tt_attr_u32(launch, RIGHT),
			    .inside_h = tt_attr_u32(launch, INSIDE_H),
			    .inside_w = tt_attr_u32(launch, INSIDE_W)};

	p.height = dim[2] - 2 * p.inside_h;
	p.width = dim[3] - 2 * p.inside_w;
	return p;
}

/* Rows of the buffer. */
static uint64_t halo_rows(const struct picture *p)
{
	return p->frames * (2 * p->up * p->width + (p->left + p->right) * (p->height + 2 * p->up));
}

/* The row of the buffer for a pixel of the padded picture, or one behind the last for pixels inside. */
static uint64_t halo_row(const struct picture *p, uint64_t frame, uint64_t y, uint64_t x)
{
	uint64_t tall = p->height + 2 * p->up, section = p->frames * p->up * p->width;
	uint64_t sides = 2 * section;

	if (x < p->left)
		return sides + (frame * tall + y) * p->left + x;
	if (x >= p->left + p->width)
		return sides + p->frames * tall * p->left + (frame * tall + y) * p->right + x -
		       p->left - p->width;
	if (y < p->up)
		return (frame * p->up + y) * p->width + x - p->left;
	if (y >= p->up + p->height)
		return section + (frame * p->up + y - p->up - p->height) * p->width + x - p->left;
	return halo_rows(p);
}

/* ---- numbers of the exchange ----------------------------------------------------------------------------------- */

/* The parts of all chips while a kernel runs, and where a chip stands. */
struct parts {
	struct tt_tensor **in;
	uint64_t page, bytes; /* from pixel to pixel in a part; of channels */
};

/* A place along one axis: where it leads out of the picture, to the neighbour's or to the edge; false: there is nothing. */
static bool step_to(uint32_t *chip, int64_t *place, const struct tt_launch *launch, int axis,
		    int64_t extent)
{
	bool copies = strcmp(launch->attrs[MODE].text, "zeros") != 0;
	struct tt_group group;
	int64_t step = *place < 0 ? -1 : *place >= extent;

	if (!step)
		return true;
	tt_group_find(&group, launch->device, launch->attrs[axis].integer, *chip);
	if ((int64_t)group.own + step < 0 || (int64_t)group.own + step >= group.count) {
		*place = step < 0 ? 0 : extent - 1;
		return copies;
	}
	*chip = group.chips[(int64_t)group.own + step];
	*place -= step * extent;
	return *place >= 0 && *place < extent;
}

/* The channels of a pixel, NULL for zeros. */
static const uint8_t *pixel_of(const struct tt_launch *launch, const struct parts *parts,
			       const struct picture *p, uint32_t chip, const int64_t at[3])
{
	int64_t y = at[1], x = at[2];
	uint64_t row;

	if (!step_to(&chip, &x, launch, AXIS2, (int64_t)p->width) ||
	    !step_to(&chip, &y, launch, AXIS, (int64_t)p->height))
		return NULL;
	row = ((uint64_t)at[0] * (p->height + 2 * p->inside_h) + (uint64_t)y + p->inside_h) *
		      (p->width + 2 * p->inside_w) +
	      (uint64_t)x + p->inside_w;
	return (const uint8_t *)tt_tensor_data(parts->in[chip]) + row * parts->page;
}

/* The rim to the buffer of one chip, and its own pixels to the padded picture if there is one. */
static void exchange(uint8_t *halo, uint8_t *padded, const struct tt_launch *launch,
		     const struct parts *parts, uint32_t chip)
{
	const struct picture p = picture_of(launch);
	uint64_t tall = p.height + 2 * p.up, wide = p.width + p.left + p.right;

	for (uint64_t i = 0; i < p.frames * tall * wide; i++) {
		const int64_t at[3] = {(int64_t)(i / tall / wide),
				       (int64_t)(i / wide % tall) - (int64_t)p.up,
				       (int64_t)(i % wide) - (int64_t)p.left};
		uint64_t row = halo_row(&p, i / tall / wide, i / wide % tall, i % wide);
		bool inside = row == halo_rows(&p);
		const uint8_t *from;
		uint8_t *to;

		if (inside && !padded)
			continue;
		to = inside ? padded + i * parts->page : halo + row * parts->page;
		from = pixel_of(launch, parts, &p, chip, at);
		if (from)
			memcpy(to, from, parts->bytes);
		else
			memset(to, 0, parts->bytes);
	}
}

static tt_status exchange_chip(const struct tt_launch *launch, const struct parts *parts,
			       uint32_t chip)
{
	struct tt_tensor *halo = NULL, *padded = NULL;
	tt_status status = tt_tensor_resident(&halo, launch->inputs[HALO], chip, TT_BUFFER_UPDATE);

	if (status == TTNN_OK && launch->inputs[PADDED])
		status =
			tt_tensor_resident(&padded, launch->inputs[PADDED], chip, TT_BUFFER_UPDATE);
	if (status == TTNN_OK)
		exchange(tt_tensor_data(halo), padded ? tt_tensor_data(padded) : NULL, launch,
			 parts, chip);
	ttnn_tensor_unref(halo);
	ttnn_tensor_unref(padded);
	return status;
}

static tt_status halo_kernel(struct tt_launch *launch)
{
	uint32_t chips = launch->device->rows * launch->device->cols;
	struct parts parts = {.in = tt_arena_calloc(launch->arena, chips, sizeof(*parts.in)),
			      .page = launch->inputs[IN]->spec.page_bytes,
			      .bytes = launch->inputs[IN]->spec.page_bytes};
	tt_status status = TTNN_OK;

	TT_NEED_MEMORY(parts.in);
	for (uint32_t i = 0; i < chips && status == TTNN_OK; i++)
		status = tt_tensor_resident(&parts.in[i], launch->inputs[IN], i, TT_BUFFER_READ);
	for (uint32_t i = 0; i < chips && status == TTNN_OK; i++)
		status = exchange_chip(launch, &parts, i);
	for (uint32_t i = 0; i < chips; i++)
		ttnn_tensor_unref(parts.in[i]);
	return status;
}

/* ---- refusals of the exchange ------------------------------------------------------------------------------------ */

static uint64_t pages_of(const struct tt_tensor *tensor)
{
	const struct ttnn_shape *shape = &tensor->spec.padded;
	uint64_t count = 1;

	for (uint32_t d = 0; d + 1 < shape->rank; d++)
		count *= shape->dim[d];
	return count;
}

static uint64_t aligned_page(const struct tt_tensor *tensor)
{
	return tt_tensor_buffer(tensor)->layout.aligned_page;
}

static tt_status check_buffer(const struct tt_launch *launch)
{
	const struct tt_tensor *in = launch->inputs[IN], *halo = launch->inputs[HALO];
	const struct picture p = picture_of(launch);

	TT_REQUIRE(
		halo->spec.dtype == in->spec.dtype, "halo_buffer.dtype() == input_tensor.dtype()",
		"NpHalo: halo_buffer dtype (DataType::%s) must match input dtype (DataType::%s).",
		tt_enum_name(&tt_enum_dtype, (int64_t)halo->spec.dtype),
		tt_enum_name(&tt_enum_dtype, (int64_t)in->spec.dtype));
	TT_NEED(halo->spec.layout == TTNN_ROW_MAJOR, "NpHalo: halo_buffer must be row-major.");
	TT_NEED(in->spec.shape.dim[2] > 2 * p.inside_h && in->spec.shape.dim[3] > 2 * p.inside_w &&
			p.frames && in->spec.shape.dim[4],
		"NpHalo: there is nothing inside of the rim");
	TT_REQUIRE(pages_of(halo) >= halo_rows(&p),
		   "halo_buffer.buffer()->num_pages() >= required_pages",
		   "NpHalo: halo_buffer holds %" PRIu64
		   " pages but the [Htop|Hbot|Wleft|Wright] sections need %" PRIu64
		   " (outer=%" PRIu64 ", H_dev=%" PRIu64 ", W_dev=%" PRIu64 ", pH=%" PRIu64
		   ", pad2_left=%" PRIu64 ", pad2_right=%" PRIu64 ").",
		   pages_of(halo), halo_rows(&p), p.frames, p.height, p.width, p.up, p.left,
		   p.right);
	TT_REQUIRE(aligned_page(halo) == aligned_page(in),
		   "halo_buffer.buffer()->aligned_page_size() == "
		   "input_tensor.buffer()->aligned_page_size()",
		   "NpHalo: halo_buffer page size (%" PRIu64 " B) must match the input's (%" PRIu64
		   " B); the exchange moves whole sticks.",
		   aligned_page(halo), aligned_page(in));
	TT_NEED(halo->spec.page_bytes == in->spec.page_bytes,
		"NpHalo: the buffer has other channels than the pictures");
	return TTNN_OK;
}

static tt_status check_padded(const struct tt_launch *launch)
{
	const struct picture p = picture_of(launch);
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec, *out;
	uint64_t wide = p.width + p.left + p.right;

	if (!launch->inputs[PADDED])
		return TTNN_OK;
	out = &launch->inputs[PADDED]->spec;
	TT_NEED(out->dtype == in->dtype && out->layout == TTNN_ROW_MAJOR &&
			out->page_bytes == in->page_bytes && out->shape.rank == DIMS &&
			(uint64_t)out->shape.dim[0] * out->shape.dim[1] == p.frames &&
			out->shape.dim[2] == p.height + 2 * p.up && out->shape.dim[3] == wide,
		"NpHalo: padded_output is not as pictures with their rims are");
	return TTNN_OK;
}

static tt_status halo_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[IN]->spec;
	const char *mode = launch->attrs[MODE].text;

	TT_REQUIRE(in->shape.rank == DIMS, "input_shape.size() == 5",
		   "NpHalo: Activation tensor must have 5 dimensions (BTHWC). got %u",
		   in->shape.rank);
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "input_tensor.layout() == Layout::ROW_MAJOR",
		   "NpHalo: Activation tensor must be row-major.");
	TT_REQUIRE(in->dtype == TTNN_BFLOAT16 || in->dtype == TTNN_FLOAT32,
		   "input_tensor.dtype() == DataType::BFLOAT16 || input_tensor.dtype() == "
		   "DataType::FLOAT32",
		   "NpHalo: Activation tensor must be bfloat16 or float32. got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(strcmp(mode, "zeros") == 0 || strcmp(mode, "replicate") == 0,
		   "args.padding_mode == \"zeros\" || args.padding_mode == \"replicate\"",
		   "NpHalo: Padding mode must be zeros or replicate. got %s", mode);
	TT_TRY(check_buffer(launch));
	return check_padded(launch);
}

static tt_status halo_infer(struct tt_launch *launch)
{
	launch->specs[0] = launch->inputs[launch->inputs[PADDED] ? PADDED : HALO]->spec;
	return TTNN_OK;
}

/* ---- program memory of the exchange ------------------------------------------------------------------------------- */

#define MUCH 4096u        /* bytes of a link that two workers share */
#define VERY_MUCH 262144u /* and these four */
#define PACKET_PAGES 64u  /* pages of a packet at most */
#define LINKS_MOST 4u

/* Links of rows and columns, pages of a packet of each (0: one by one), workers that share a link. */
struct senders {
	uint64_t links[2], packet[2], workers[2], used; /* used: cores of rows that have frames */
};

static uint64_t workers_for(uint64_t bytes)
{
	return bytes > VERY_MUCH ? 4 : bytes > MUCH ? 2 : 1;
}

/* All senders are in one column. */
static tt_status share_column(struct senders *s, uint64_t rows)
{
	TT_NEED(s->links[0] && s->links[1], "neighbor_pad_halo: there must be links");
	if (2 * (s->links[0] + s->links[1]) > rows) {
		s->links[1] = rows > 2 * s->links[0] ? (rows - 2 * s->links[0]) / 2 : 0;
		if (!s->links[1]) {
			s->links[1] = 1;
			s->links[0] = (rows - 2) / 2;
		}
	}
	TT_REQUIRE(s->links[1] <= LINKS_MOST, "pad2_num_links <= MAX_PAD2_NUM_LINKS",
		   "pad2_num_links (%" PRIu64 ") exceeds maximum supported (%u)", s->links[1],
		   LINKS_MOST);
	return TTNN_OK;
}

static tt_status senders_of(struct senders *s, const struct tt_launch *launch)
{
	const struct picture p = picture_of(launch);
	uint64_t page = aligned_page(launch->inputs[IN]), rows = p.frames * (p.height + 2 * p.up);
	uint64_t most = page < TT_FABRIC_PAYLOAD ? TT_FABRIC_PAYLOAD / page : 1, units;
	bool zeros = strcmp(launch->attrs[MODE].text, "zeros") == 0;

	*s = (struct senders){.links = {tt_attr_u32(launch, LINKS), tt_attr_u32(launch, LINKS2)},
			      .workers = {1, 1}};
	TT_TRY(share_column(s, launch->device->info.compute_grid.y));
	most = tt_lesser(most, PACKET_PAGES);
	most = most < 2 ? 0 : most;
	s->packet[0] = p.up == 1 && zeros ? most : 0;
	s->packet[1] = p.left == 1 && p.right == 1 && zeros ? most : 0;
	if (zeros && p.frames / s->links[0] >= 2)
		s->workers[0] = workers_for(p.frames * p.up * p.width * page / s->links[0]);
	if (zeros)
		s->workers[1] = workers_for(rows * p.left * page / s->links[1]);
	units = rows / s->links[1] / 8;
	s->workers[1] = tt_lesser(s->workers[1], units ? units : 1);
	for (int i = 0; i < 2; i++)
		if (!s->packet[i])
			s->workers[i] = 1;
	s->used = tt_lesser(2 * s->links[0], 2 * p.frames);
	return TTNN_OK;
}

/* A box of cores, which must be there. */
static tt_status box(const ttnn_core_set **out, const struct tt_launch *launch, uint64_t x,
		     uint64_t y, const uint64_t size[2])
{
	const struct ttnn_core_range range = {
		{(uint32_t)x, (uint32_t)y},
		{(uint32_t)(x + size[0] - 1), (uint32_t)(y + size[1] - 1)}};
	struct ttnn_core grid = launch->device->info.compute_grid;

	TT_NEED(range.end.x < grid.x && range.end.y < grid.y,
		"No core coordinate found at location: (%u, %u, TENSIX, LOGICAL)",
		range.end.x < grid.x ? range.end.x : grid.x, range.start.y);
	return ttnn_core_set_make(out, &range, 1);
}

/* Workers of links: the first column mixes what they send, where a chip sends. */
static tt_status worker_rows(struct tt_plan *plan, const struct tt_launch *launch,
			     const struct senders *s)
{
	uint64_t page = aligned_page(launch->inputs[IN]), from = 1;
	uint64_t width = picture_of(launch).width;
	const ttnn_core_set *cores;

	if (s->workers[1] > 1)
		from += 1 + s->workers[1];
	if (s->workers[0] > 1) {
		TT_TRY(box(&cores, launch, from + 1, 0,
			   (const uint64_t[]){s->workers[0], 2 * s->links[0]}));
		TT_TRY(TT_PLAN(plan, cores, TT_CB_ROW(2, "hsend", .pages = 4 * width, .page = page),
			       TT_CB_ROW(0, "sender", .pages = 2, .page = page)));
	}
	if (s->workers[1] == 1)
		return TTNN_OK;
	TT_TRY(box(&cores, launch, 2, 0, (const uint64_t[]){s->workers[1], 2 * s->links[1]}));
	return TT_PLAN(plan, cores,
		       TT_CB_ROW(0, "sender", .pages = 16 * s->packet[1], .page = page));
}

/* Where a chip is along an axis: first, between, last, both. Programs differ in what sends. */
enum { FIRST = 1, LAST = 2, SPOTS = 4 };

static uint32_t spot_of(const struct tt_launch *launch, int axis, uint32_t chip)
{
	struct tt_group group;

	tt_group_find(&group, launch->device, launch->attrs[axis].integer, chip);
	return (group.own == 0 ? FIRST : 0u) + (group.own + 1 == group.count ? LAST : 0u);
}

static uint32_t halo_part(const struct tt_launch *launch, uint32_t chip)
{
	return launch->inputs[PADDED]
		       ? spot_of(launch, AXIS, chip) * SPOTS + spot_of(launch, AXIS2, chip)
		       : 0;
}

/* Takes the cores of a link's workers and of what mixes theirs from those that are free. */
static tt_status take_workers(const ttnn_core_set **free, const struct tt_launch *launch,
			      const uint64_t shape[3], uint32_t spot)
{
	uint64_t from = shape[0], workers = shape[1], links = shape[2];
	const ttnn_core_set *cores;

	TT_TRY(box(&cores, launch, from + 1, 0, (const uint64_t[]){workers, 2 * links}));
	TT_TRY(ttnn_core_set_subtract(free, *free, cores));
	for (uint64_t i = 0; i < 2 * links; i++) {
		if (spot & (i % 2 ? FIRST : LAST))
			continue; /* there is no neighbour to send to */
		TT_TRY(box(&cores, launch, from, i, (const uint64_t[]){1, 1}));
		TT_TRY(ttnn_core_set_subtract(free, *free, cores));
	}
	return TTNN_OK;
}

/* The inside is copied on all cores that are left but the first column. */
static tt_status copy_rows(struct tt_plan *plan, const struct tt_launch *launch,
			   const struct senders *s)
{
	struct ttnn_core grid = launch->device->info.compute_grid;
	uint64_t page = aligned_page(launch->inputs[IN]), from = 1;
	const ttnn_core_set *cores;

	if (!launch->inputs[PADDED] || grid.x < 2)
		return TTNN_OK;
	TT_TRY(box(&cores, launch, 1, 0, (const uint64_t[]){grid.x - 1, grid.y}));
	if (s->workers[1] > 1)
		from += 1 + s->workers[1];
	if (s->workers[0] > 1)
		TT_TRY(take_workers(&cores, launch,
				    (const uint64_t[]){from, s->workers[0], s->links[0]},
				    launch->part / SPOTS));
	if (s->workers[1] > 1)
		TT_TRY(take_workers(&cores, launch,
				    (const uint64_t[]){1, s->workers[1], s->links[1]},
				    launch->part % SPOTS));
	return TT_PLAN(plan, cores, TT_CB_ROW(0, "inside", .pages = PAGES_AT_ONCE, .page = page));
}

static tt_status halo_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	uint64_t page = aligned_page(launch->inputs[IN]), corners;
	const struct picture p = picture_of(launch);
	const ttnn_core_set *rows, *columns;
	struct senders s;

	for (int i = 0; i < 2; i++) {
		int64_t axis = launch->attrs[i ? AXIS2 : AXIS].integer;

		TT_REQUIRE(axis < 2, "physical_coord.dims() > cluster_axis.value()",
			   "cluster axis %" PRId64 " is out of range for physical coord rank 2 ",
			   axis);
	}
	TT_TRY(senders_of(&s, launch));
	corners = tt_div_up(2 * p.frames, s.used) * p.up * tt_lesser(p.left + p.right, p.width);
	TT_TRY(box(&rows, launch, 0, 0, (const uint64_t[]){1, s.used}));
	TT_TRY(box(&columns, launch, 0, 2 * s.links[0], (const uint64_t[]){1, 2 * s.links[1]}));
	TT_TRY(TT_PLAN(plan, rows, TT_CB_ROW(0, "sender", .pages = 2, .page = page),
		       TT_CB_ROW(2, "hsend", .pages = 2 * p.width, .page = page),
		       TT_CB_ROW(1, "received", .pages = corners, .page = page)));
	TT_TRY(TT_PLAN(
		plan, columns,
		TT_CB_ROW(0, "sender", .pages = s.packet[1] ? 2 * s.packet[1] : 2, .page = page)));
	TT_TRY(worker_rows(plan, launch, &s));
	return copy_rows(plan, launch, &s);
}

/* All attributes, and the pictures: not the buffer. */
static void halo_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, launch->attrs, schema_count);
	tt_key_spec(key, &launch->inputs[IN]->spec);
	tt_key_number(key, launch->inputs[PADDED] != NULL);
}

static const struct tt_prog halo_program = {
	.device_op = "NpHaloDeviceOperation",
	.prim = "ttnn::prim::neighbor_pad_halo",
	.attrs = &schema,
	.infer = halo_infer,
	.validate = halo_validate,
	TT_FACTORY("ttnn::experimental::prim::NpHaloMeshWorkloadFactory", halo_memory),
	.key = halo_key,
	TT_KERNEL(halo_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
	.together = true,
	.part = halo_part,
	.parts = SPOTS * SPOTS,
};

/* ---- putting it around a picture ----------------------------------------------------------------------------------- */

static struct picture scatter_picture(const struct tt_launch *launch)
{
	const uint32_t *dim = launch->inputs[1]->spec.shape.dim;
	bool border = launch->attrs[S_BORDER].boolean;
	struct picture p = {.frames = (uint64_t)dim[0] * dim[1],
			    .up = tt_attr_u32(launch, S_UP),
			    .left = tt_attr_u32(launch, S_ASIDE),
			    .right = tt_attr_u32(launch, S_ASIDE)};

	p.height = dim[2] - (border ? 2 * p.up : 0);
	p.width = dim[3] - (border ? 2 * p.left : 0);
	return p;
}

static tt_status scatter_infer(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *in = &launch->inputs[1]->spec;
	struct ttnn_shape shape = in->shape;

	TT_TRY(tt_need_dim(&shape, 4));
	TT_NEED(tt_attr_u32(launch, S_UP) < UINT16_MAX && tt_attr_u32(launch, S_ASIDE) < UINT16_MAX,
		"HaloScatter: no picture has a rim of %u or more", UINT16_MAX);
	if (launch->attrs[S_BORDER].boolean) {
		launch->specs[0] = *in;
		return TTNN_OK;
	}
	shape.rank = DIMS;
	shape.dim[2] += 2 * tt_attr_u32(launch, S_UP);
	shape.dim[3] += 2 * tt_attr_u32(launch, S_ASIDE);
	return tt_spec_simple(&launch->specs[0], &shape, in->dtype, TTNN_ROW_MAJOR,
			      launch->attrs[S_MEMORY].memory);
}

static tt_status scatter_validate(struct tt_launch *launch)
{
	const struct ttnn_tensor_spec *halo = &launch->inputs[0]->spec,
				      *in = &launch->inputs[1]->spec;
	uint32_t up = tt_attr_u32(launch, S_UP), aside = tt_attr_u32(launch, S_ASIDE);

	TT_REQUIRE(halo->layout == TTNN_ROW_MAJOR, "compact.layout() == Layout::ROW_MAJOR",
		   "HaloScatter: compact_buffer must be row-major.");
	TT_REQUIRE(in->layout == TTNN_ROW_MAJOR, "x.layout() == Layout::ROW_MAJOR",
		   "HaloScatter: interior_src must be row-major.");
	TT_REQUIRE(halo->dtype == in->dtype, "compact.dtype() == x.dtype()",
		   "HaloScatter: compact (DataType::%s) and interior_src (DataType::%s) dtype must "
		   "match.",
		   tt_enum_name(&tt_enum_dtype, (int64_t)halo->dtype),
		   tt_enum_name(&tt_enum_dtype, (int64_t)in->dtype));
	TT_REQUIRE(halo->dtype == TTNN_BFLOAT16 || halo->dtype == TTNN_FLOAT32,
		   "compact.dtype() == DataType::BFLOAT16 || compact.dtype() == DataType::FLOAT32",
		   "HaloScatter: dtype must be bfloat16 or float32. got DataType::%s",
		   tt_enum_name(&tt_enum_dtype, (int64_t)halo->dtype));
	TT_REQUIRE(in->shape.rank == DIMS, "x.logical_shape().size() == 5",
		   "HaloScatter: interior_src must be rank 5 [B,T,H,W,C]. got %u", in->shape.rank);
	TT_NEED(!launch->attrs[S_BORDER].boolean ||
			(in->shape.dim[2] > 2 * up && in->shape.dim[3] > 2 * aside),
		"HaloScatter: there is nothing inside of the rim");
	return TTNN_OK;
}

static tt_status scatter_memory(struct tt_plan *plan, const struct tt_launch *launch)
{
	struct picture p = scatter_picture(launch);
	uint64_t all = p.frames * (p.height + 2 * p.up) * (p.width + p.left + p.right);
	uint64_t work = launch->attrs[S_BORDER].boolean ? halo_rows(&p) : all;
	struct tt_work_split split;

	TT_TRY(tt_split_work(&split, launch->device->info.compute_grid, work ? work : 1,
			     TTNN_ORIENT_ROW_MAJOR));
	return TT_PLAN(plan, split.all,
		       TT_CB_ROW(0, "rows", .pages = PAGES_AT_ONCE,
				 .page = aligned_page(launch->inputs[0])));
}

/* A pixel of the rim is a row of the buffer, if it has so many; without `in` the inside is as it was. */
static void put_around(struct tt_tensor *out, const struct picture *p, struct tt_tensor *halo,
		       struct tt_tensor *in)
{
	uint64_t tall = p->height + 2 * p->up, wide = p->width + p->left + p->right, own = 0;
	uint64_t page = out->spec.page_bytes, bytes = tt_lesser(page, halo->spec.page_bytes);

	for (uint64_t i = 0; i < p->frames * tall * wide; i++) {
		uint64_t row = halo_row(p, i / tall / wide, i / wide % tall, i % wide);
		uint8_t *to = (uint8_t *)tt_tensor_data(out) + i * page;

		if (row == halo_rows(p)) {
			if (in)
				memcpy(to, (uint8_t *)tt_tensor_data(in) + own++ * page, page);
			continue;
		}
		memset(to, 0, page);
		if (row < pages_of(halo))
			memcpy(to, (uint8_t *)tt_tensor_data(halo) + row * halo->spec.page_bytes,
			       bytes);
	}
}

/* Whether pages are pixels: shards may cut them. */
static bool has_pixels(const struct tt_tensor *out, const struct tt_tensor *in,
		       const struct picture *p)
{
	uint64_t page = out->spec.page_bytes, inside = p->frames * p->height * p->width;
	uint64_t all = p->frames * (p->height + 2 * p->up) * (p->width + p->left + p->right);

	return all * page <= out->spec.bytes &&
	       (!in || (in->spec.page_bytes == page && inside * page <= in->spec.bytes));
}

static tt_status scatter_kernel(struct tt_launch *launch)
{
	const struct picture p = scatter_picture(launch);
	bool border = launch->attrs[S_BORDER].boolean;
	struct tt_tensor *halo = NULL, *in = NULL, *out = NULL;
	tt_status status =
		tt_tensor_resident(&halo, launch->inputs[0], launch->chip, TT_BUFFER_READ);

	if (status == TTNN_OK && !border)
		status = tt_tensor_resident(&in, launch->inputs[1], launch->chip, TT_BUFFER_READ);
	if (status == TTNN_OK)
		status = tt_tensor_resident(&out, launch->outputs[0], launch->chip,
					    border ? TT_BUFFER_UPDATE : TT_BUFFER_OVERWRITE);
	if (status == TTNN_OK && !has_pixels(out, in, &p))
		status = tt_fail(TTNN_INVALID, "HaloScatter: a result of other pages than pixels");
	if (status == TTNN_OK)
		put_around(out, &p, halo, in);
	ttnn_tensor_unref(halo);
	ttnn_tensor_unref(in);
	ttnn_tensor_unref(out);
	return status;
}

static void scatter_key(struct tt_key *key, const struct tt_launch *launch)
{
	tt_key_values(key, launch->attrs, scatter_schema_count);
	tt_key_spec(key, &launch->inputs[1]->spec);
}

static const struct tt_prog scatter_program = {
	.device_op = "NpHaloScatterDeviceOperation",
	.prim = "ttnn::prim::halo_scatter",
	.attrs = &scatter_schema,
	.infer = scatter_infer,
	.validate = scatter_validate,
	TT_FACTORY("ttnn::experimental::prim::NpHaloScatterMeshWorkloadFactory", scatter_memory),
	.key = scatter_key,
	TT_KERNEL(scatter_kernel),
	.cost = tt_cost_unmodelled_move,
	.per_chip = true,
};

/* ---- the calls ---------------------------------------------------------------------------------------------------- */

static tt_status need_there(const struct tt_call *call, const char *name)
{
	struct tt_tensor *tensor = tt_call_tensor(call, name);

	TT_REQUIRE(tensor && tt_tensor_device(tensor), "storage_type == DEVICE",
		   "%s: %s must be on a device", call->entry->op->name, name);
	return TTNN_OK;
}

static tt_status halo_expand(struct tt_call *call)
{
	struct tt_tensor *in = tt_call_tensor(call, "input"),
			 *halo = tt_call_tensor(call, "halo_buffer");
	struct tt_tensor *padded = tt_call_tensor(call, "padded_output");
	int64_t axis = tt_call_int(call, "np_cluster_axis", 0);
	const struct tt_device *device;
	uint32_t chips;

	TT_TRY(need_there(call, "input"));
	TT_TRY(need_there(call, "halo_buffer"));
	if (padded)
		TT_TRY(need_there(call, "padded_output"));
	device = tt_tensor_device(in);
	chips = axis ? device->cols : device->rows;
	TT_REQUIRE(tt_call_int(call, "np_padding_h", 0) > 0, "np_padding_h > 0",
		   "neighbor_pad_halo: np_padding_h must be > 0");
	TT_REQUIRE(tt_call_int(call, "np_pad_dim2", 0) > 0, "np_pad_dim2 > 0",
		   "neighbor_pad_halo: 2D padding required (np_pad_dim2 must be > 0)");
	TT_REQUIRE(chips > 1, "np_ring_size > 1",
		   "neighbor_pad_halo: requires num_devices > 1 along cluster axis %" PRId64
		   ", got %u",
		   axis, chips);
	return TT_LAUNCH_RETURN(call, &halo_program, TT_INPUTS(in, halo, padded),
				TT_OUTPUTS(padded ? padded : halo),
				TT_BIND(call, schema,
					[TOPOLOGY] = tt_group_topology(
						device, tt_call_arg(call, "np_topology"), axis)),
				.in_place = true);
}

static tt_status scatter_expand(struct tt_call *call)
{
	struct tt_tensor *halo = tt_call_tensor(call, "compact_buffer");
	struct tt_tensor *in = tt_call_tensor(call, "interior_src");
	bool border = tt_call_bool(call, "border_only", false);

	TT_TRY(need_there(call, "compact_buffer"));
	TT_TRY(need_there(call, "interior_src"));
	TT_REQUIRE(tt_call_int(call, "np_padding_h", 0) > 0, "np_padding_h > 0",
		   "halo_scatter: np_padding_h must be > 0");
	return TT_LAUNCH_RETURN(
		call, &scatter_program, TT_INPUTS(halo, in), TT_OUTPUTS(border ? in : NULL),
		TT_BIND(call, scatter_schema, [S_MEMORY] = tt_value_memory_or_like(call, in)),
		.in_place = border);
}

static const struct tt_op ops[] = {
	{.name = "ttnn.experimental.neighbor_pad_halo",
	 .doc = "What every device's pictures need of its neighbours', in a buffer of its own.",
	 .sigs = {"input: Tensor, halo_buffer: Tensor, np_padding_h: size, np_padding_w: size, "
		  "np_cluster_axis: size, np_num_links: size, np_topology: enum, "
		  "h_neighbor_semaphore: any, barrier_semaphore: any, w_neighbor_semaphore: any, "
		  "np_pad_dim2: size, np_pad2_left: size, np_pad2_right: size, "
		  "np_pad2_cluster_axis: size, np_pad2_num_links: size, *, padding_mode: str = "
		  "zeros, memory_config: MemoryConfig? = None, input_pad_h: size = 0, "
		  "input_pad_w: size = 0, padded_output: Tensor? = None, border_only: bool = False"},
	 .expand = halo_expand,
	 .golden = tt_golden_neighbor_halo,
	 TT_PROGRAMS(&halo_program)},
	{.name = "ttnn.experimental.halo_scatter",
	 .doc = "Pictures with a rim around them that a buffer has.",
	 .sigs = {"compact_buffer: Tensor, interior_src: Tensor, np_padding_h: size, np_padding_w: "
		  "size, *, memory_config: MemoryConfig? = None, border_only: bool = False"},
	 .expand = scatter_expand,
	 .golden = tt_golden_halo_scatter,
	 TT_PROGRAMS(&scatter_program)},
};

const struct tt_op_family tt_family_neighbor_halo = {"neighbor_halo", ops, TT_COUNT(ops)};
