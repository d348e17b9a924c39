#include "device/device.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/mem.h"
#include "event/event.h"
#include "tensor/core.h"

/* Mesh devices are numbered in the order they are made, submeshes too. */
static atomic_uint_least32_t next_id;

void tt_device_set_next_id(uint32_t id)
{
	atomic_store(&next_id, id);
}

/* ---- options ----------------------------------------------------------------------------- */

static const struct {
	const char *name;
	enum ttnn_generation generation;
} generations[] = {
	{"release-0.81", TTNN_GENERATION_RELEASE},
	{"classic", TTNN_GENERATION_CLASSIC},
};

static uint32_t device_id(const ttnn_device *device)
{
	return device->info.id;
}

/* Here, because there is no device without this file. */
__attribute__((constructor)) static void begin_with_the_process(void)
{
	tt_value_device_id = device_id;
}

static tt_status settle_generation(enum ttnn_generation *out, enum ttnn_generation asked)
{
	const char *name = tt_env("TTNN_GENERATION");

	*out = asked ? asked : TTNN_GENERATION_RELEASE;
	if (asked || !name)
		return TTNN_OK;
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++)
		if (strcmp(generations[i].name, name) == 0) {
			*out = generations[i].generation;
			return TTNN_OK;
		}
	return tt_fail(TTNN_INVALID, "TTNN_GENERATION is \"%s\"; it can be release-0.81 or classic",
		       name);
}

static tt_status settle_map(struct tt_device_setup *setup, const struct tt_profile *profile,
			    const char *asked)
{
	const char *name = asked ? asked : profile->memory_map;
	struct tt_str list = {0};
	tt_status status;

	if (!name && setup->generation == TTNN_GENERATION_CLASSIC)
		name = "classic";
	setup->map = tt_arch_map_find(&profile->arch, name);
	if (setup->map)
		return TTNN_OK;
	for (size_t i = 0; i < profile->arch.map_count; i++)
		tt_str_addf(&list, "%s%s", i ? ", " : "", profile->arch.maps[i].name);
	status = tt_str_status(&list);
	if (status == TTNN_OK)
		status = tt_fail(TTNN_NOTFOUND, "%s has no memory map \"%s\"; it has %s",
				 profile->arch.name, name, tt_str_text(&list));
	tt_str_deinit(&list);
	return status;
}

static tt_status settle_dispatch(struct tt_device_setup *setup, const struct tt_profile *profile,
				 const struct ttnn_device_options *options)
{
	const struct tt_arch *arch = &profile->arch;
	bool tensix = options->dispatch == TTNN_DISPATCH_WORKER ||
		      (options->dispatch == TTNN_DISPATCH_AUTO &&
		       profile->dispatch <= TT_DISPATCH_TENSIX_COLUMN);

	setup->dispatch = profile->dispatch;
	if (options->dispatch == TTNN_DISPATCH_ETHERNET)
		setup->dispatch = TT_DISPATCH_ETHERNET;
	else if (options->dispatch == TTNN_DISPATCH_SLOW)
		setup->dispatch = TT_DISPATCH_SLOW;
	else if (options->dispatch == TTNN_DISPATCH_WORKER)
		setup->dispatch = arch->dispatch;
	if (tensix && options->axis != TTNN_AXIS_AUTO)
		setup->dispatch = options->axis == TTNN_AXIS_ROW ? TT_DISPATCH_TENSIX_ROW
								 : TT_DISPATCH_TENSIX_COLUMN;
	if (setup->dispatch == TT_DISPATCH_ETHERNET && options->axis == TTNN_AXIS_COLUMN)
		return tt_fail(TTNN_INVALID,
			       "COL axis is not supported for ETH dispatch core type");
	if (arch->products[profile->harvested].compute[setup->dispatch].x)
		return TTNN_OK;
	if (setup->dispatch == TT_DISPATCH_TENSIX_ROW)
		return tt_fail(TTNN_UNSUPPORTED,
			       "ROW dispatch core axis is not supported for %s arch unless fabric "
			       "tensix MUX is enabled",
			       arch->name);
	return tt_fail(TTNN_UNSUPPORTED, "%s has no grid for %s dispatch", arch->name,
		       tt_dispatch_name(setup->dispatch));
}

static tt_status settle(struct tt_device_setup *out, const struct tt_profile *profile,
			const struct ttnn_device_options *options)
{
	uint64_t most;

	*out = (struct tt_device_setup){.l1_small_size = options->l1_small_size,
					.trace_region_size = options->trace_region_size,
					.worker_l1_size = options->worker_l1_size,
					.queues = options->queues ? options->queues : 1};
	if (out->queues > 2)
		return tt_fail(TTNN_INVALID, "a device has 1 or 2 command queues, not %" PRIu32,
			       out->queues);
	TT_TRY(settle_generation(&out->generation, options->generation));
	TT_TRY(settle_map(out, profile, options->memory_map));
	most = tt_memory_map_max_l1(out->map, &profile->arch);
	if (out->worker_l1_size > most)
		return tt_fail_cond(TTNN_INVALID, "worker_l1_size <= max_worker_l1_size",
				    "Worker L1 size %" PRIu64 " is larger than max size %" PRIu64,
				    out->worker_l1_size, most);
	return settle_dispatch(out, profile, options);
}

/* ---- making ------------------------------------------------------------------------------ */

static struct tt_grid compute_grid(const struct tt_device *device)
{
	const struct tt_profile *profile = device->profile;

	return profile->arch.products[profile->harvested].compute[device->setup.dispatch];
}

static tt_status make_memory(struct tt_device *device)
{
	const struct tt_profile *profile = device->profile;
	const struct tt_arch *arch = &profile->arch;
	const struct tt_device_setup *setup = &device->setup;
	struct tt_grid grid = compute_grid(device);
	struct tt_devmem_config config = {
		.allocator =
			{
				.dram_banks = profile->dram_banks,
				.dram_align = arch->dram_align,
				.l1_align = arch->l1_align,
				.dram_base = tt_memory_map_dram_base(setup->map, arch),
				.dram_bank_size = arch->dram_bank_bytes,
				.l1_base = tt_memory_map_l1_base(setup->map, arch,
								 setup->worker_l1_size),
				.l1_size = arch->l1_bytes,
				.l1_small_size = setup->l1_small_size,
				.trace_region_size = setup->trace_region_size,
			},
		.grid_width = grid.x,
		.grid_height = grid.y,
		.chips = device->rows * device->cols,
		.device_id = device->id,
	};

	TT_TRY(tt_core_set_grid(&device->grid, grid.x, grid.y));
	TT_TRY(tt_devmem_new(&device->memory, &config));
	atomic_store(&device->memory->device, device);
	return TTNN_OK;
}

static void fill_info(struct tt_device *device)
{
	const struct tt_profile *profile = device->profile;
	const struct tt_arch *arch = &profile->arch;
	const struct tt_allocator_config *memory = &device->memory->allocator.config;
	struct tt_grid grid = compute_grid(device);

	device->info = (struct ttnn_device_info){
		.id = device->id,
		.rows = device->rows,
		.cols = device->cols,
		.chip_count = device->rows * device->cols,
		.chips = device->chips,
		.profile = profile->name,
		.arch = arch->name,
		.arch_name = arch->text,
		.arch_family = arch->family,
		.arch_code = arch->code,
		.cluster = profile->type->name,
		.cluster_code = profile->type->code,
		.generation = device->setup.generation,
		.memory_map = device->setup.map->name,
		.logical_grid = {profile->logical.x, profile->logical.y},
		.compute_grid = {grid.x, grid.y},
		.dram_banks = memory->dram_banks,
		.l1_banks = memory->l1_banks,
		.dram_bank_size = memory->dram_bank_size,
		.l1_size = memory->l1_size,
		.dram_base = memory->dram_base,
		.l1_base = memory->l1_base,
		.max_worker_l1_size = tt_memory_map_max_l1(device->setup.map, arch),
		.dram_alignment = arch->dram_align,
		.l1_alignment = arch->l1_align,
		.pcie_alignment = arch->pcie_align,
		.circular_buffers = arch->circular_buffers,
		.queues = device->setup.queues,
		.clock_mhz = arch->clock_mhz,
		.sfpu_eps = arch->eps,
		.sfpu_nan = arch->nan,
		.sfpu_inf = arch->inf,
		.board_type = profile->board_type,
		.device_series = profile->device_series,
		.card_count = profile->card_count,
	};
	device->limits = (struct tt_program_limits){
		.l1_base = memory->l1_base,
		.l1_size = memory->l1_size,
		.alignment = memory->dram_align,
		.indices = arch->circular_buffers,
		.grid = device->info.compute_grid,
		.worker = device->info.logical_grid,
	};
}

static void destroy(struct tt_device *device)
{
	tt_progcache_deinit(&device->programs);
	tt_devmem_unref(device->memory);
	tt_profile_unref(device->profile);
	tt_lock_deinit(&device->lock);
	tt_free(device->chips);
	tt_free(device);
}

/* A device without chips or memory yet; it becomes an owner of the profile. */
static tt_status new_device(struct tt_device **out, struct tt_profile *profile,
			    const struct tt_device_setup *setup, uint32_t rows, uint32_t cols)
{
	struct tt_device *device = tt_calloc(1, sizeof(*device));

	if (!device)
		return tt_fail_nomem();
	atomic_init(&device->refs, 1);
	atomic_init(&device->closed, false);
	tt_lock_init(&device->lock, TT_RANK_DEVICE, NULL);
	tt_progcache_init(&device->programs);
	device->profile = tt_profile_ref(profile);
	device->setup = *setup;
	device->rows = rows;
	device->cols = cols;
	device->chips = tt_calloc((size_t)rows * cols, sizeof(*device->chips));
	if (!device->chips) {
		destroy(device);
		return tt_fail_nomem();
	}
	*out = device;
	return TTNN_OK;
}

/* Told outside of the memory's lock: who hears may want to know more of it. */
static bool each_buffer(const struct tt_event_known *known,
			void (*visit)(void *context, const struct tt_event_buffer *buffer),
			void *context)
{
	struct tt_event_buffer *buffers;
	size_t count;

	if (tt_devmem_facts(&buffers, &count, known->device.device->memory) != TTNN_OK)
		return false;
	for (size_t i = 0; i < count; i++)
		visit(context, &buffers[i]);
	tt_free(buffers);
	return true;
}

static tt_status complete_model(struct tt_device *device)
{
	size_t first = tt_cluster_find(&device->profile->cluster, device->chips[0]);

	tt_workers_init(&device->workers, device->profile, first, compute_grid(device));
	device->id = atomic_load(&next_id);
	return make_memory(device);
}

/* Completes a device whose chips are known. Only now it gets a number: failures use none up. */
static tt_status complete(struct tt_device *device)
{
	TT_TRY(complete_model(device));
	device->id = atomic_fetch_add(&next_id, 1);
	device->memory->device_id = device->id;
	fill_info(device);
	ttnn_device_get_row(&device->row, device);
	device->known.device = (struct tt_event_device){.device = device,
							.device_id = device->id,
							.info = &device->info,
							.row = &device->row};
	device->known.each_buffer = each_buffer;
	tt_event_device_open(&device->known);
	return TTNN_OK;
}

/* ---- opening ----------------------------------------------------------------------------- */

static tt_status take_given(struct tt_device *device, const struct ttnn_mesh_options *mesh)
{
	size_t places = (size_t)device->rows * device->cols;

	if (mesh->chip_count != places)
		return tt_fail_cond(TTNN_INVALID, "shape.mesh_size() == values_.size()",
				    "Shape and values size mismatch; shape mesh_size: %zu, values "
				    "size: %zu",
				    places, mesh->chip_count);
	for (size_t i = 0; i < places; i++) {
		const struct tt_cluster *cluster = &device->profile->cluster;

		if (tt_cluster_find(cluster, mesh->chips[i]) == cluster->chip_count)
			return tt_fail(TTNN_INVALID, "%s has no chip %" PRIu32,
				       device->profile->name, mesh->chips[i]);
		for (size_t k = 0; k < i; k++)
			if (mesh->chips[k] == mesh->chips[i])
				return tt_fail(TTNN_INVALID,
					       "chip %" PRIu32
					       " is in the mesh twice, at places %zu and %zu",
					       mesh->chips[i], k, i);
		device->chips[i] = mesh->chips[i];
	}
	return TTNN_OK;
}

/* The machine's mesh in a new array; free it with tt_free(). */
static tt_status system_chips(uint32_t **out, const struct tt_profile *profile)
{
	size_t places = (size_t)profile->rows * profile->cols;
	uint32_t *chips = tt_calloc(places, sizeof(*chips));

	if (!chips)
		return tt_fail_nomem();
	for (size_t i = 0; i < places; i++)
		chips[i] = profile->cluster.chips[profile->order[i]].id;
	*out = chips;
	return TTNN_OK;
}

static tt_status choose_chips(struct tt_device *device, const struct ttnn_mesh_options *mesh)
{
	struct tt_mesh_place place = {mesh->row, mesh->col};
	struct tt_mesh system = {device->profile->rows, device->profile->cols, NULL};
	uint32_t *chips;
	tt_status status;

	if (mesh->chips)
		return take_given(device, mesh);
	TT_TRY(system_chips(&chips, device->profile));
	system.chips = chips;
	status = tt_mesh_map(device->chips, &system, device->rows, device->cols,
			     mesh->has_offset ? &place : NULL);
	tt_free(chips);
	return status;
}

static tt_status open_mesh(struct tt_device **out, struct tt_profile *profile,
			   const struct ttnn_mesh_options *mesh,
			   const struct ttnn_device_options *options)
{
	bool all = mesh->rows == 0 && mesh->cols == 0;
	uint32_t rows = all ? profile->rows : mesh->rows, cols = all ? profile->cols : mesh->cols;
	struct tt_device_setup setup;
	struct tt_device *device;
	tt_status status;

	TT_TRY(settle(&setup, profile, options));
	if ((uint64_t)rows * cols > profile->cluster.chip_count || rows == 0 || cols == 0)
		return tt_mesh_map(NULL, &(struct tt_mesh){profile->rows, profile->cols, NULL},
				   rows, cols, NULL);
	TT_TRY(new_device(&device, profile, &setup, rows, cols));
	status = choose_chips(device, mesh);
	if (status == TTNN_OK)
		status = complete(device);
	if (status == TTNN_OK)
		*out = device;
	else
		destroy(device);
	return status;
}

enum ttnn_status ttnn_mesh_open(ttnn_device **out, const struct ttnn_mesh_options *mesh,
				const struct ttnn_device_options *options)
{
	static const struct ttnn_mesh_options everything;
	static const struct ttnn_device_options defaults;
	struct tt_profile *profile;
	tt_status status;

	options = options ? options : &defaults;
	TT_TRY(tt_env_check());
	TT_TRY(tt_profile_open(&profile, options->profile));
	status = open_mesh(out, profile, mesh ? mesh : &everything, options);
	tt_profile_unref(profile);
	return status;
}

enum ttnn_status ttnn_device_open(ttnn_device **out, uint32_t chip,
				  const struct ttnn_device_options *options)
{
	struct ttnn_mesh_options one = {.rows = 1, .cols = 1, .chips = &chip, .chip_count = 1};
	struct ttnn_mesh_options whole = {.rows = 1, .cols = 1};
	struct tt_device *parent;
	tt_status status;

	TT_TRY(ttnn_mesh_open(&parent, &one, options));
	status = ttnn_device_submesh(out, parent, &whole);
	if (status == TTNN_OK)
		(*out)->closes_parent = true;
	ttnn_device_unref(parent);
	return status;
}

/* Two threads may make it at once: one of theirs stays. */
tt_status tt_device_model(struct tt_device **out)
{
	static _Atomic(struct tt_device *) model;
	static const struct ttnn_device_options defaults;
	struct tt_device_setup setup;
	struct tt_device *device, *other = NULL;
	struct tt_profile *profile;
	tt_status status;

	*out = atomic_load(&model);
	if (*out)
		return TTNN_OK;
	TT_TRY(tt_env_check());
	TT_TRY(tt_profile_open(&profile, NULL));
	status = settle(&setup, profile, &defaults);
	if (status == TTNN_OK)
		status = new_device(&device, profile, &setup, 1, 1);
	tt_profile_unref(profile);
	TT_TRY(status);
	device->chips[0] = profile->cluster.chips[profile->order[0]].id;
	status = complete_model(device);
	if (status == TTNN_OK)
		fill_info(device);
	if (status != TTNN_OK || !atomic_compare_exchange_strong(&model, &other, device)) {
		destroy(device);
		device = other;
	}
	*out = device;
	return status;
}

/* ---- submeshes --------------------------------------------------------------------------- */

/*
 * Completes a submesh and enters it in the list of its parent, at once: whoever finds it there finds
 * it complete, and whoever closes the parent finds it.
 */
static tt_status add_submesh(struct tt_device *parent, struct tt_device *child)
{
	tt_status status;

	tt_lock_take(&parent->lock);
	status = tt_device_check_open(parent);
	if (status == TTNN_OK)
		status = complete(child);
	if (status == TTNN_OK) {
		child->parent = ttnn_device_ref(parent);
		child->older = parent->newest;
		*(parent->newest ? &parent->newest->newer : &parent->oldest) = child;
		parent->newest = child;
	}
	tt_lock_give(&parent->lock);
	return status;
}

static void remove_submesh(struct tt_device *parent, const struct tt_device *child)
{
	tt_lock_take(&parent->lock);
	*(child->older ? &child->older->newer : &parent->oldest) = child->newer;
	*(child->newer ? &child->newer->older : &parent->newest) = child->older;
	tt_lock_give(&parent->lock);
}

enum ttnn_status ttnn_device_submesh(ttnn_device **out, ttnn_device *parent,
				     const struct ttnn_mesh_options *mesh)
{
	struct tt_mesh whole = tt_device_mesh(parent);
	struct tt_mesh_place place = {mesh->row, mesh->col};
	bool all = mesh->rows == 0 && mesh->cols == 0;
	uint32_t rows = all ? parent->rows : mesh->rows, cols = all ? parent->cols : mesh->cols;
	struct tt_device *device;
	tt_status status;

	if (mesh->chips)
		return tt_fail(TTNN_INVALID, "the chips of a submesh are not chosen one by one");
	if ((uint64_t)rows * cols > (uint64_t)parent->rows * parent->cols)
		return tt_mesh_part(NULL, &whole, rows, cols, mesh->has_offset ? &place : NULL);
	TT_TRY(new_device(&device, parent->profile, &parent->setup, rows, cols));
	status = tt_mesh_part(device->chips, &whole, rows, cols, mesh->has_offset ? &place : NULL);
	if (status == TTNN_OK)
		status = add_submesh(parent, device);
	if (status == TTNN_OK)
		*out = device;
	else
		destroy(device);
	return status;
}

enum ttnn_status ttnn_device_cut(ttnn_device ***out, size_t *count, ttnn_device *parent,
				 uint32_t rows, uint32_t cols)
{
	struct tt_mesh whole = tt_device_mesh(parent);
	struct ttnn_mesh_options part = {.rows = rows, .cols = cols, .has_offset = true};
	ttnn_device **parts;
	size_t total, made = 0;
	tt_status status = TTNN_OK;

	TT_TRY(tt_mesh_check_cut(&whole, rows, cols));
	total = (size_t)(parent->rows / rows) * (parent->cols / cols);
	parts = tt_calloc(total, sizeof(struct tt_device *));
	if (!parts)
		return tt_fail_nomem();
	for (part.row = 0; part.row < parent->rows; part.row += rows)
		for (part.col = 0; status == TTNN_OK && part.col < parent->cols; part.col += cols) {
			status = ttnn_device_submesh(&parts[made], parent, &part);
			made += status == TTNN_OK;
		}
	if (status != TTNN_OK) {
		while (made > 0)
			ttnn_device_unref(parts[--made]);
		tt_free(parts);
		return status;
	}
	*out = parts;
	*count = total;
	return TTNN_OK;
}

/* A reference, unless the last owner is just letting go. */
static bool ref_if_owned(struct tt_device *device)
{
	uint_least32_t refs = atomic_load_explicit(&device->refs, memory_order_relaxed);

	while (refs)
		if (atomic_compare_exchange_weak_explicit(&device->refs, &refs, refs + 1,
							  memory_order_acq_rel,
							  memory_order_relaxed))
			return true;
	return false;
}

enum ttnn_status ttnn_device_submeshes(ttnn_device ***out, size_t *count, ttnn_device *parent)
{
	ttnn_device **list;
	size_t found = 0, room = 0;

	tt_lock_take(&parent->lock);
	for (struct tt_device *at = parent->oldest; at; at = at->newer)
		room++;
	list = tt_calloc(room, sizeof(struct tt_device *));
	for (struct tt_device *at = parent->oldest; list && at; at = at->newer)
		if (ref_if_owned(at))
			list[found++] = at;
	tt_lock_give(&parent->lock);
	if (!list)
		return tt_fail_nomem();
	*out = list;
	*count = found;
	return TTNN_OK;
}

enum ttnn_status ttnn_device_reshape(ttnn_device *device, uint32_t rows, uint32_t cols)
{
	const struct tt_profile *profile = device->profile;
	struct tt_mesh now = tt_device_mesh(device), system = {profile->rows, profile->cols, NULL};
	uint32_t *order, *chips = NULL;
	tt_status status;
	size_t live;

	/* Buffers and tensors know their chips by place. */
	live = tt_devmem_live(device->memory);
	if (live && (rows != device->rows || cols != device->cols))
		return tt_fail(TTNN_STATE,
			       "a mesh with %zu buffers in its memory cannot be reshaped", live);
	order = tt_calloc((size_t)device->rows * device->cols, sizeof(*order));
	status = order ? system_chips(&chips, profile) : tt_fail_nomem();
	system.chips = chips;
	if (status == TTNN_OK)
		status = tt_mesh_reshape(order, &now, &system, rows, cols);
	if (status == TTNN_OK) {
		memcpy(device->chips, order, (size_t)rows * cols * sizeof(*order));
		device->info.rows = device->rows = rows;
		device->info.cols = device->cols = cols;
	}
	tt_free(order);
	tt_free(chips);
	return status;
}

/* ---- closing ----------------------------------------------------------------------------- */

/* The newest submesh that is still open, as a reference; NULL when there is none. */
static struct tt_device *open_submesh(struct tt_device *parent)
{
	struct tt_device *at;

	tt_lock_take(&parent->lock);
	at = parent->newest;
	while (at && (atomic_load(&at->closed) || !ref_if_owned(at)))
		at = at->older;
	tt_lock_give(&parent->lock);
	return at;
}

static void drop_kept(struct tt_device *device)
{
	if (atomic_load(&device->kept))
		device->drop_kept(device);
}

/* Closes a device and what lies inside of it, but not its parent. */
static void close_down(struct tt_device *device)
{
	struct tt_device *child;

	if (atomic_exchange(&device->closed, true))
		return;
	while ((child = open_submesh(device))) {
		close_down(child);
		ttnn_device_unref(child);
	}
	tt_devmem_drain(device->memory);
	drop_kept(device);
	tt_devmem_close(device->memory);
	atomic_store(&device->memory->device, NULL);
	tt_progcache_clear(&device->programs);
	tt_event_device_close(&device->known);
}

void ttnn_device_close(ttnn_device *device)
{
	close_down(device);
	if (device->closes_parent)
		close_down(device->parent);
}

tt_status tt_device_check_open(const struct tt_device *device)
{
	/* What an operation was given lies on none. */
	if (!device)
		return tt_fail_cond(TTNN_INVALID, "device_storage != nullptr",
				    "Expected Tensor with DeviceStorage, got StorageType::HOST");
	if (!atomic_load_explicit(&device->closed, memory_order_relaxed))
		return TTNN_OK;
	return tt_fail(TTNN_STATE, "device %" PRIu32 " is closed", device->id);
}

ttnn_device *ttnn_device_ref(ttnn_device *device)
{
	atomic_fetch_add_explicit(&device->refs, 1, memory_order_relaxed);
	return device;
}

void ttnn_device_unref(ttnn_device *device)
{
	while (device && atomic_fetch_sub_explicit(&device->refs, 1, memory_order_acq_rel) == 1) {
		struct tt_device *parent = device->parent;

		ttnn_device_close(device);
		if (parent)
			remove_submesh(parent, device);
		destroy(device);
		device = parent;
	}
}
