/*
 * Numbers from upstream's own tests, captures and logs, through whole devices: specs, layouts,
 * memory, programs. What came from older releases is run with the memory map of that release.
 *
 * Not here, because only operations make them: peaks of the graph tests of add (30,720; 67,584;
 * 20,054,016), the four circular buffers of the captured linear, repeat's two buffers of 384, the
 * peaks of splitting heads (49,152; 8,192), concat's buffer of 4,096, the five sizes of halos.
 */
#include "test.h"

#include "device/buffer.h"
#include "device/device.h"
#include "device/devtensor.h"
#include "tensor/core.h"
#include "tensor/shape.h"

static ttnn_device *open_with(struct ttnn_device_options options)
{
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, &options));
	return device;
}

static tt_status new_tensor(ttnn_tensor **out, ttnn_device *device, struct ttnn_spec_args args)
{
	struct ttnn_tensor_spec spec;

	args.layout = TTNN_TILE;
	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	return tt_device_tensor_new(out, device, &spec);
}

/* Code of kernels goes to the top of DRAM, in pages of 2048. */
static struct tt_buffer *new_binary(ttnn_device *device, uint64_t size)
{
	struct tt_buffer_options options = {.from = TT_ALLOCATOR_TOP};
	struct tt_buffer_layout layout;
	struct tt_buffer *buffer = NULL;

	CHECK_OK(tt_buffer_layout_raw(&layout, device->memory, TTNN_DRAM, size, 2048));
	CHECK_OK(tt_buffer_new(&buffer, device->memory, &layout, &options));
	return buffer;
}

static uint64_t take_l1(ttnn_device *device, uint64_t bank_bytes)
{
	struct tt_allocator_request request = {.type = TTNN_L1, .bank_bytes = bank_bytes};
	uint64_t address = 0;

	CHECK_OK(tt_allocator_take(&address, &device->memory->allocator, &request));
	return address;
}

static void add_circular(struct tt_program *program, const ttnn_device *device, uint64_t size,
			 struct ttnn_core last)
{
	struct ttnn_core_range range = {{0, 0}, last};
	struct tt_program_row row = {.kind = TT_MEMORY_CIRCULAR_BUFFER, .size = size};

	CHECK_OK(ttnn_core_set_make(&row.cores, &range, 1));
	CHECK_OK(tt_program_add(program, &row, &device->limits));
}

/* ---- banks --------------------------------------------------------------------------------- */

TEST(banks_of_the_head)
{
	static const struct {
		const char *profile;
		uint64_t l1_bank, dram_base;
	} rows[] = {{"n150", 1393472, 2968640}, {"p150", 1461248, 5848704}};

	for (size_t i = 0; i < 2; i++) {
		ttnn_device *device = open_with((struct ttnn_device_options){
			.profile = rows[i].profile, .memory_map = "head-2026-08"});
		struct ttnn_memory_view l1;

		CHECK_OK(ttnn_device_memory(&l1, device, TTNN_L1));
		CHECK_INT(l1.bank_bytes, rows[i].l1_bank);
		CHECK_INT(ttnn_device_get_info(device)->dram_base, rows[i].dram_base);
		ttnn_device_unref(device);
	}
}

/* ---- the captured linear model ------------------------------------------------------------- */

TEST(addresses_of_the_captured_linear)
{
	static const struct {
		uint32_t height;
		uint64_t address, bank_bytes;
	} rows[] = {{1024, 1920032, 176128},
		    {1024, 2096160, 176128},
		    {1, 2272288, 6144},
		    {1024, 2278432, 176128}};
	ttnn_device *device =
		open_with((struct ttnn_device_options){.memory_map = "capture-2025/26"});
	ttnn_tensor *tensors[4] = {NULL};
	struct tt_buffer *binary;

	for (int i = 0; i < 4; i++) {
		const struct tt_buffer *buffer;

		CHECK_OK(new_tensor(&tensors[i], device,
				    (struct ttnn_spec_args){.shape = TT_SHAPE(rows[i].height, 1024),
							    .dtype = TTNN_BFLOAT16}));
		buffer = tt_tensor_buffer(tensors[i]);
		CHECK_INT(buffer->address, rows[i].address);
		CHECK_INT(buffer->layout.bank_bytes, rows[i].bank_bytes);
	}
	binary = new_binary(device, 26624);
	CHECK_INT(binary->address, 1073737728);
	CHECK_INT(binary->layout.bank_bytes, 4096);
	tt_buffer_unref(binary);
	for (int i = 0; i < 4; i++)
		ttnn_tensor_unref(tensors[i]);
	ttnn_device_unref(device);
}

/* ---- the visualizer's sample --------------------------------------------------------------- */

/*
 * L1 outputs one below the other, under something that the sample does not show; tilize's two buffers.
 * Both kernels are at the same address: the first was freed before the second came. They take 2048 a
 * bank each, so 4096 a bank were taken above them all the time.
 */
TEST(addresses_of_the_sample)
{
	ttnn_device *device =
		open_with((struct ttnn_device_options){.memory_map = "old-viz-sample"});
	struct tt_buffer *above, *kernel;
	struct tt_program program = {0};

	CHECK_INT(take_l1(device, 1499136 - 1179648), 1179648);
	CHECK_INT(take_l1(device, 131072), 1048576);
	CHECK_INT(take_l1(device, 131072), 917504);
	CHECK_INT(take_l1(device, 262144), 655360);
	tt_program_start(&program);
	add_circular(&program, device, 16384, (struct ttnn_core){0, 0});
	add_circular(&program, device, 16384, (struct ttnn_core){0, 0});
	CHECK_OK(tt_program_place(&program, &device->limits));
	CHECK_INT(program.rows.data[0].address, 107616);
	CHECK_INT(program.rows.data[1].address, 124000);
	tt_program_deinit(&program);
	above = new_binary(device, 26624);
	for (uint64_t size = 16384; size; size = size == 16384 ? 6144 : 0) {
		kernel = new_binary(device, size);
		CHECK_INT(kernel->layout.bank_bytes, 2048);
		CHECK_INT(kernel->address, 1073735680);
		tt_buffer_unref(kernel);
	}
	tt_buffer_unref(above);
	ttnn_device_unref(device);
}

/* ---- messages ------------------------------------------------------------------------------ */

TEST(circular_buffers_beyond_l1)
{
	ttnn_device *device = open_with((struct ttnn_device_options){.profile = "n150"});
	struct tt_program program = {0};

	tt_program_start(&program);
	add_circular(&program, device, 1512864 - device->limits.l1_base, (struct ttnn_core){7, 7});
	CHECK_OK(tt_program_place(&program, &device->limits));
	CHECK_FAILS(tt_program_check(&program, &device->limits, TT_PROGRAM_L1_EMPTY),
		    TTNN_DEVICE_OOM, "grow to 1512864 B which is beyond max L1 size of 1499136 B");
	tt_program_deinit(&program);
	ttnn_device_unref(device);
}

/* A halo and the output of a convolution, in a device with 32 KiB of L1_SMALL. */
TEST(circular_buffers_below_a_convolution)
{
	ttnn_device *device = open_with((struct ttnn_device_options){.memory_map = "old-viz-sample",
								     .l1_small_size = 32768});
	struct tt_program program = {0};
	uint64_t lowest = 0;

	CHECK_INT(take_l1(device, 335360), 1131008);
	CHECK_INT(take_l1(device, 262144), 868864);
	CHECK(tt_allocator_lowest(&lowest, &device->memory->allocator, TTNN_L1));
	tt_program_start(&program);
	add_circular(&program, device, 957472 - device->limits.l1_base, (struct ttnn_core){7, 7});
	CHECK_OK(tt_program_place(&program, &device->limits));
	CHECK_FAILS(tt_program_check(&program, &device->limits, lowest), TTNN_DEVICE_OOM,
		    "clash with L1 buffers on core range [0-0 - 7-7]. L1 buffer allocated at "
		    "868864 and static circular buffer region ends at 957472");
	tt_program_deinit(&program);
	ttnn_device_unref(device);
}

/* Buffers are made until one does not fit. */
static void fill_up(ttnn_device *device, const struct tt_buffer_layout *layout, const char *message)
{
	struct tt_buffer *made[32] = {NULL};
	tt_status status = TTNN_OK;
	size_t count = 0;

	while (count < 32 && status == TTNN_OK) {
		status = tt_buffer_new(&made[count], device->memory, layout, NULL);
		count += status == TTNN_OK;
	}
	CHECK_INT(status, TTNN_DEVICE_OOM);
	CHECK(strstr(ttnn_error(), message));
	while (count > 0)
		tt_buffer_unref(made[--count]);
}

TEST(logged_sizes_that_did_not_fit)
{
	static const struct {
		enum ttnn_buffer_type type;
		uint64_t size, page;
		const char *message;
	} rows[] = {
		{TTNN_DRAM, 5805965312, 4096,
		 "Out of Memory: Not enough space to allocate 5805965312 B DRAM buffer across 12 "
		 "banks, where each bank needs to store 483831808 B"},
		{TTNN_L1, 134217728, 2048,
		 "Out of Memory: Not enough space to allocate 134217728 B L1 buffer across 64 "
		 "banks, where each bank needs to store 2097152 B"},
		{TTNN_DRAM, 725745664, 3584,
		 "Out of Memory: Not enough space to allocate 725745664 B DRAM buffer across 12 "
		 "banks, where each bank needs to store 60480000 B"},
	};
	ttnn_device *device = open_with((struct ttnn_device_options){.profile = "n150"});

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tt_buffer_layout layout;

		CHECK_OK(tt_buffer_layout_raw(&layout, device->memory, rows[i].type, rows[i].size,
					      rows[i].page));
		fill_up(device, &layout, rows[i].message);
	}
	ttnn_device_unref(device);
}
