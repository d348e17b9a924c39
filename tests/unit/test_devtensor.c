/* Tensors on devices: parts of meshes, owners, deallocation, closed devices. */
#include "test.h"

#include "device/device.h"
#include "device/devtensor.h"
#include "tensor/shape.h"

static ttnn_device *open_mesh(const char *profile)
{
	struct ttnn_device_options options = {.profile = profile};
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_mesh_open(&device, NULL, &options));
	return device;
}

static struct ttnn_tensor_spec spec_of(struct ttnn_shape shape)
{
	struct ttnn_spec_args args = {.shape = shape, .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec = {0};

	CHECK_OK(ttnn_tensor_spec_make(&spec, &args));
	return spec;
}

static ttnn_tensor *new_tensor(ttnn_device *device)
{
	struct ttnn_tensor_spec spec = spec_of(TT_SHAPE(2, 4));
	ttnn_tensor *tensor = NULL;

	CHECK_OK(tt_device_tensor_new(&tensor, device, &spec));
	return tensor;
}

/* Every chip gets its own number: 100, 101, ... in all elements. */
static void fill(const ttnn_tensor *tensor)
{
	struct tt_buffer *buffer = tt_tensor_buffer(tensor);

	for (uint32_t chip = 0; chip < buffer->memory->chips; chip++) {
		struct tt_storage *data = NULL;

		CHECK_OK(tt_buffer_data(&data, buffer, chip, TT_BUFFER_OVERWRITE));
		for (int i = 0; i < 8; i++)
			((float *)data->data)[i] = (float)(100 + chip);
		tt_storage_unref(data);
	}
}

static float first_number(ttnn_tensor *tensor, uint32_t chip)
{
	ttnn_tensor *resident = NULL;
	float first = -1;

	CHECK_OK(tt_tensor_resident(&resident, tensor, chip, TT_BUFFER_READ));
	if (resident)
		first = *(const float *)ttnn_tensor_bytes(resident);
	ttnn_tensor_unref(resident);
	return first;
}

/* ---- parts --------------------------------------------------------------------------------- */

TEST(a_part_is_read_from_its_own_chip)
{
	ttnn_device *mesh = open_mesh("p150_x4");
	ttnn_tensor *tensor = new_tensor(mesh), *part = NULL, *none = NULL;
	double numbers[8];

	CHECK_INT(tt_tensor_chips(tensor), 4);
	fill(tensor);
	for (uint32_t chip = 0; chip < 4; chip++) {
		CHECK(first_number(tensor, chip) == (float)(100 + chip));
		CHECK_OK(ttnn_tensor_shard(&part, tensor, chip));
		CHECK_INT(tt_tensor_chips(part), 1);
		CHECK(first_number(part, 0) == (float)(100 + chip));
		CHECK(first_number(part, 3 - chip) == (float)(100 + chip));
		CHECK_OK(tt_tensor_numbers(numbers, 8, part));
		CHECK(numbers[0] == 100 + chip && numbers[7] == 100 + chip);
		ttnn_tensor_unref(part);
	}
	CHECK_FAILS(tt_tensor_resident(&none, tensor, 4, TT_BUFFER_READ), TTNN_INVALID,
		    "there is no shard 4, the tensor has 4");
	ttnn_tensor_unref(tensor);
	ttnn_device_unref(mesh);
}

/* ---- owners -------------------------------------------------------------------------------- */

TEST(who_owns_alone)
{
	static const char *const profiles[] = {"n150", "p150_x4"};

	for (int i = 0; i < 2; i++) {
		ttnn_device *mesh = open_mesh(profiles[i]);
		ttnn_tensor *tensor = new_tensor(mesh), *other = NULL;
		struct ttnn_shape flat = TT_SHAPE(8);

		CHECK(tt_tensor_owns_alone(tensor));
		CHECK_OK(ttnn_tensor_shard(&other, tensor, ttnn_tensor_shard_count(tensor) - 1));
		CHECK(!tt_tensor_owns_alone(tensor) && !tt_tensor_owns_alone(other));
		ttnn_tensor_unref(other);
		CHECK(tt_tensor_owns_alone(tensor));
		CHECK_OK(ttnn_tensor_view(&other, tensor, &flat));
		CHECK(!tt_tensor_owns_alone(tensor) && !tt_tensor_owns_alone(other));
		ttnn_tensor_unref(tensor);
		CHECK(tt_tensor_owns_alone(other)); /* the view outlived it */
		CHECK(!tt_tensor_owns_alone(ttnn_tensor_ref(other)));
		ttnn_tensor_unref(other);
		ttnn_tensor_unref(other);
		ttnn_device_unref(mesh);
	}
}

/* The last part of a mesh tensor has the buffer alone, though the buffer has other chips too. */
TEST(a_last_part_owns_alone)
{
	ttnn_device *mesh = open_mesh("p150_x4");
	ttnn_tensor *tensor = new_tensor(mesh), *part = NULL;

	CHECK_OK(ttnn_tensor_shard(&part, tensor, 2));
	ttnn_tensor_unref(tensor);
	CHECK(tt_tensor_owns_alone(part));
	ttnn_tensor_unref(part);
	CHECK_INT(mesh->memory->live, 0);
	ttnn_device_unref(mesh);
}

/* ---- deallocation -------------------------------------------------------------------------- */

static void check_aliases(ttnn_device *mesh, bool view)
{
	ttnn_tensor *tensor = new_tensor(mesh), *alias = NULL, *resident = NULL;
	struct ttnn_shape flat = TT_SHAPE(8);
	struct ttnn_memory_view state;

	fill(tensor);
	if (view)
		CHECK_OK(ttnn_tensor_view(&alias, tensor, &flat));
	else
		CHECK_OK(ttnn_tensor_shard(&alias, tensor, ttnn_tensor_shard_count(tensor) - 1));
	CHECK(!ttnn_tensor_deallocate(tensor, false) && !ttnn_tensor_deallocate(alias, false));
	CHECK(ttnn_tensor_is_allocated(tensor) && ttnn_tensor_is_allocated(alias));
	CHECK(first_number(tensor, 0) == 100);
	CHECK(ttnn_tensor_deallocate(alias, true));
	CHECK(!ttnn_tensor_is_allocated(tensor) && !ttnn_tensor_is_allocated(alias));
	CHECK(!ttnn_tensor_deallocate(tensor, true)); /* there is nothing left to give */
	CHECK_FAILS(tt_tensor_resident(&resident, tensor, 0, TT_BUFFER_READ), TTNN_STATE,
		    "the buffer was deallocated");
	CHECK_OK(ttnn_device_memory(&state, mesh, TTNN_DRAM));
	CHECK_INT(state.allocated, 0);
	ttnn_tensor_unref(tensor);
	ttnn_tensor_unref(alias);
}

TEST(deallocation)
{
	static const char *const profiles[] = {"n150", "p150_x4"};

	for (int i = 0; i < 2; i++) {
		ttnn_device *mesh = open_mesh(profiles[i]);
		ttnn_tensor *tensor = new_tensor(mesh), *shared;

		CHECK(ttnn_tensor_is_allocated(tensor));
		shared = ttnn_tensor_ref(tensor);
		CHECK(!ttnn_tensor_deallocate(tensor, false));
		ttnn_tensor_unref(shared);
		CHECK(ttnn_tensor_deallocate(tensor, false));
		CHECK(!ttnn_tensor_is_allocated(tensor) && !tt_tensor_buffer(tensor));
		CHECK(!ttnn_tensor_deallocate(tensor, false));
		ttnn_tensor_unref(tensor);
		check_aliases(mesh, true);
		check_aliases(mesh, false);
		ttnn_device_unref(mesh);
	}
}

TEST(host_tensors_are_always_there)
{
	struct ttnn_tensor_spec spec = spec_of(TT_SHAPE(2, 4));
	ttnn_tensor *tensor = NULL;

	CHECK_OK(ttnn_tensor_new(&tensor, &spec));
	CHECK(!ttnn_tensor_deallocate(tensor, true) && ttnn_tensor_is_allocated(tensor));
	ttnn_tensor_unref(tensor);
}

/* ---- closed devices ------------------------------------------------------------------------ */

TEST(closed_devices_make_nothing)
{
	struct ttnn_tensor_spec some = spec_of(TT_SHAPE(2, 4)), none = spec_of(TT_SHAPE(0, 4));
	ttnn_device *device = open_mesh("n150");
	ttnn_tensor *tensors[3] = {NULL}, *refused = NULL;

	CHECK_OK(tt_device_tensor_new(&tensors[0], device, &some));
	CHECK_OK(tt_device_tensor_new(&tensors[1], device, &none));
	tt_run_mode_set(TTNN_RUN_NO_DISPATCH);
	CHECK_OK(tt_device_tensor_new(&tensors[2], device, &some));
	for (int i = 0; i < 3; i++)
		CHECK(ttnn_tensor_is_allocated(tensors[i]));
	ttnn_device_close(device);
	for (int i = 0; i < 3; i++) {
		CHECK(!ttnn_tensor_is_allocated(tensors[i]) && !tt_tensor_buffer(tensors[i]));
		CHECK(!ttnn_tensor_deallocate(tensors[i], true));
		ttnn_tensor_unref(tensors[i]);
	}
	CHECK_FAILS(tt_device_tensor_new(&refused, device, &some), TTNN_STATE, "is closed");
	tt_run_mode_set(TTNN_RUN_NORMAL);
	CHECK_FAILS(tt_device_tensor_new(&refused, device, &none), TTNN_STATE, "is closed");
	CHECK(!refused);
	ttnn_device_unref(device);
}

/* ---- dry runs ------------------------------------------------------------------------------ */

TEST(dry_runs_with_addresses)
{
	ttnn_device *device = open_mesh("n150");
	ttnn_tensor *real = new_tensor(device), *dry[3], *later;
	uint64_t first = tt_tensor_buffer(real)->address;
	struct ttnn_memory_view before, after;

	CHECK_OK(ttnn_device_memory(&before, device, TTNN_DRAM));
	tt_run_mode_set(TTNN_RUN_NO_DISPATCH);
	dry[0] = new_tensor(device);
	CHECK_INT(tt_tensor_buffer(dry[0])->address, 0);
	CHECK(!ttnn_set_dry_addresses(true));
	dry[1] = new_tensor(device);
	dry[2] = new_tensor(device);
	CHECK_INT(tt_tensor_buffer(dry[1])->address, first + 32);
	CHECK_INT(tt_tensor_buffer(dry[2])->address, first + 64);
	ttnn_tensor_unref(dry[1]);
	dry[1] = new_tensor(device); /* goes where the first was */
	CHECK_INT(tt_tensor_buffer(dry[1])->address, first + 32);
	CHECK_OK(ttnn_device_memory(&after, device, TTNN_DRAM));
	CHECK_INT(after.allocated, before.allocated);
	tt_run_mode_set(TTNN_RUN_NORMAL);
	later = new_tensor(device); /* nothing real is taken */
	CHECK_INT(tt_tensor_buffer(later)->address, first + 32);
	for (int i = 0; i < 3; i++)
		ttnn_tensor_unref(dry[i]);
	tt_run_mode_set(TTNN_RUN_NO_DISPATCH); /* another dry run: another copy */
	dry[0] = new_tensor(device);
	CHECK_INT(tt_tensor_buffer(dry[0])->address, first + 64);
	ttnn_tensor_unref(dry[0]);
	CHECK(ttnn_set_dry_addresses(false));
	tt_run_mode_set(TTNN_RUN_NORMAL);
	ttnn_tensor_unref(later);
	ttnn_tensor_unref(real);
	ttnn_device_unref(device);
}

TEST(dry_runs_run_out_of_memory)
{
	struct ttnn_tensor_spec huge = spec_of(TT_SHAPE(1u << 20, 1u << 12));
	ttnn_device *device = open_mesh("n150");
	ttnn_tensor *tensor = NULL;

	tt_run_mode_set(TTNN_RUN_NO_DISPATCH);
	CHECK_OK(tt_device_tensor_new(&tensor, device, &huge)); /* not placed: not refused */
	ttnn_tensor_unref(tensor);
	ttnn_set_dry_addresses(true);
	CHECK_FAILS(tt_device_tensor_new(&tensor, device, &huge), TTNN_DEVICE_OOM,
		    "Out of Memory: Not enough space to allocate 17179869184 B DRAM buffer");
	ttnn_set_dry_addresses(false);
	tt_run_mode_set(TTNN_RUN_NORMAL);
	CHECK_INT(device->memory->shadows, 0);
	ttnn_device_unref(device);
}

/* ---- who holds the memory ------------------------------------------------------------------ */

TEST(holders)
{
	static const uint32_t rows[] = {4, 400, 40, 4};
	ttnn_device *device = open_mesh("n150");
	struct ttnn_memory_holder found[8];
	struct ttnn_memory_view state;
	ttnn_tensor *tensors[4];
	size_t count = 9;

	CHECK_OK(ttnn_device_holders(found, &count, 8, device, TTNN_DRAM));
	CHECK_INT(count, 0);
	for (int i = 0; i < 4; i++) {
		struct ttnn_tensor_spec spec = spec_of(TT_SHAPE(rows[i], 8));

		CHECK_OK(tt_device_tensor_new(&tensors[i], device, &spec));
	}
	CHECK_OK(ttnn_device_holders(found, &count, 3, device, TTNN_DRAM));
	CHECK_INT(count, 3);
	CHECK_INT(found[0].buffer_id, tt_tensor_buffer(tensors[1])->id);
	CHECK_INT(found[0].address, tt_tensor_buffer(tensors[1])->address);
	CHECK_INT(found[0].size, 400 * 32);
	CHECK_INT(found[0].bank_bytes, 34 * 32); /* 400 pages in 12 banks */
	CHECK_INT(found[1].buffer_id, tt_tensor_buffer(tensors[2])->id);
	CHECK_INT(found[2].buffer_id, tt_tensor_buffer(tensors[0])->id);
	CHECK_FAILS(ttnn_device_holders(found, &count, 8, device, TTNN_SYSTEM_MEMORY), TTNN_INVALID,
		    "no memory of type");
	CHECK_OK(ttnn_device_memory(&state, device, TTNN_DRAM));
	CHECK(state.fragmentation == 0);
	ttnn_tensor_unref(tensors[1]); /* leaves a hole */
	CHECK_OK(ttnn_device_memory(&state, device, TTNN_DRAM));
	CHECK(fabs(state.fragmentation - 34.0 * 32 / (double)state.free) < 1e-12);
	ttnn_tensor_unref(tensors[0]);
	ttnn_tensor_unref(tensors[2]);
	ttnn_tensor_unref(tensors[3]);
	ttnn_device_unref(device);
}

/* ---- without memory ------------------------------------------------------------------------ */

static tt_status use(ttnn_device *mesh, const struct ttnn_tensor_spec *spec)
{
	ttnn_tensor *tensor, *part = NULL, *resident = NULL;
	struct ttnn_memory_holder held[4];
	double numbers[8];
	tt_status status;
	size_t count;

	TT_TRY(tt_device_tensor_new(&tensor, mesh, spec));
	status = ttnn_tensor_shard(&part, tensor, 1);
	if (status == TTNN_OK)
		status = tt_tensor_resident(&resident, part, 0, TT_BUFFER_UPDATE);
	if (status == TTNN_OK)
		status = tt_tensor_numbers(numbers, 8, part);
	ttnn_tensor_unref(resident);
	ttnn_tensor_unref(part);
	ttnn_tensor_unref(tensor);
	TT_TRY(status);
	TT_TRY(ttnn_device_holders(held, &count, 4, mesh, TTNN_DRAM));
	tt_run_mode_set(TTNN_RUN_NO_DISPATCH);
	ttnn_set_dry_addresses(true);
	status = tt_device_tensor_new(&tensor, mesh, spec);
	ttnn_set_dry_addresses(false);
	tt_run_mode_set(TTNN_RUN_NORMAL);
	if (status == TTNN_OK)
		ttnn_tensor_unref(tensor);
	return status;
}

SCENARIO(tensors_survive_exhaustion)
{
	struct ttnn_device_options options = {.profile = "n300"};
	struct ttnn_spec_args args = {.shape = TT_SHAPE(2, 4), .dtype = TTNN_FLOAT32};
	struct ttnn_tensor_spec spec;
	ttnn_device *mesh;
	tt_status status;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_mesh_open(&mesh, NULL, &options));
	status = use(mesh, &spec);
	ttnn_device_unref(mesh);
	return status;
}
