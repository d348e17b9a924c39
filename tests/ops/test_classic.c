/* the older generation: a broadcasting add, event by event */
#include "test.h"

#include "base/str.h"
#include "device/device.h"
#include "event/event.h"
#include "golden.h"
#include "tensor/core.h"

/* ---- hearing ------------------------------------------------------------------------------------ */

/* What was told, a line each: begin and end of scopes, memory. Steps on the host are left out. */
struct ear {
	struct tt_event_listener listener;
	struct tt_str heard;
	enum tt_scope_kind open[32];
	const char *names[32];
	unsigned depth;
};

static const char *short_name(const struct tt_event_scope_begin *begin)
{
	return begin->kind == TT_SCOPE_DEVICE_OP ? "Device Operation"
	       : begin->kind == TT_SCOPE_CREATE  ? "create_device_tensor"
						 : begin->name;
}

static void hear_memory(struct tt_str *heard, const struct tt_event_program_memory *memory)
{
	char *cores = NULL;

	CHECK_OK(ttnn_core_set_text(&cores, memory->cores, TTNN_DIALECT_SEED));
	tt_str_addf(heard, "circular_buffer_allocate %d %s\n", (int)memory->size,
		    cores ? cores : "");
	ttnn_free(cores);
}

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct ear *ear = (struct ear *)self;
	struct tt_str *heard = &ear->heard;

	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		ear->open[ear->depth] = event->begin.kind;
		ear->names[ear->depth++] = short_name(&event->begin);
		if (event->begin.kind != TT_SCOPE_HOST)
			tt_str_addf(heard, "function_start %s\n", short_name(&event->begin));
		break;
	case TT_EVENT_SCOPE_END:
		ear->depth--;
		if (ear->open[ear->depth] == TT_SCOPE_HOST)
			break;
		tt_str_addf(heard, "function_end %s\n", ear->names[ear->depth]);
		if (ear->open[ear->depth] == TT_SCOPE_CREATE)
			tt_str_adds(heard, "tensor\n");
		break;
	case TT_EVENT_BUFFER_ALLOC:
		tt_str_addf(heard, "buffer_allocate %d\n", (int)event->buffer.size);
		break;
	case TT_EVENT_BUFFER_FREE:
		tt_str_adds(heard, "buffer_deallocate\n");
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		hear_memory(heard, &event->memory);
		break;
	default:
		break;
	}
}

/* ---- the sample -------------------------------------------------------------------------------------- */

/* The 34 nodes of the documents' sample, without the nodes that only describe tensors and buffers. */
static const char sample[] =
	"function_start ttnn::add\n"
	"function_start ttnn::repeat\n"
	"function_start ttnn::prim::repeat\n"
	"function_start Device Operation\n"
	"function_start create_device_tensor\n"
	"buffer_allocate 24576\n"
	"function_end create_device_tensor\n"
	"tensor\n"
	"circular_buffer_allocate 4096 {[(x=0,y=0) - (x=0,y=7)], [(x=1,y=0) - (x=1,y=3)]}\n"
	"function_end Device Operation\n"
	"function_end ttnn::prim::repeat\n"
	"function_end ttnn::repeat\n"
	"function_start ttnn::prim::binary\n"
	"function_start Device Operation\n"
	"function_start create_device_tensor\n"
	"buffer_allocate 24576\n"
	"function_end create_device_tensor\n"
	"tensor\n"
	"circular_buffer_allocate 4096 {[(x=0,y=0) - (x=7,y=7)]}\n"
	"circular_buffer_allocate 4096 {[(x=0,y=0) - (x=7,y=7)]}\n"
	"circular_buffer_allocate 4096 {[(x=0,y=0) - (x=7,y=7)]}\n"
	"function_end Device Operation\n"
	"function_end ttnn::prim::binary\n"
	"buffer_deallocate\n"
	"function_end ttnn::add\n"
	"buffer_deallocate\n";

static ttnn_tensor *ones(ttnn_device *device, uint32_t batches)
{
	static const struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_shape shape = {4, {batches, 3, 32, 32}};
	ttnn_tensor *out = NULL;

	CHECK_OK(ttnn_call_one(&out, "ttnn.ones",
			       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						   {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
						   {"layout", ttnn_v_layout(TTNN_TILE)},
						   {"device", ttnn_v_device(device)},
						   {"memory_config", ttnn_v_memory(&l1)}},
			       5, TTNN_FRONTEND_C));
	return out;
}

static void add_and_hear(struct ear *ear, ttnn_device *device)
{
	ttnn_tensor *a = ones(device, 4), *b = ones(device, 1), *sum = NULL;
	double values[4 * 3 * 32 * 32];

	ear->listener.emit = hear;
	tt_event_listen(&ear->listener);
	CHECK_OK(ttnn_call_one(
		&sum, "ttnn.add",
		(struct ttnn_arg[]){{NULL, ttnn_v_tensor(a)}, {NULL, ttnn_v_tensor(b)}}, 2,
		TTNN_FRONTEND_C));
	CHECK_OK(tt_tensor_numbers(values, 4 * 3 * 32 * 32, sum));
	ttnn_tensor_unref(sum);
	tt_event_listen(NULL);
	for (size_t i = 0; i < 4 * 3 * 32 * 32; i++)
		if (values[i] != 2)
			TEST_FAIL("element %zu is %g", i, values[i]);
	ttnn_tensor_unref(b);
	ttnn_tensor_unref(a);
}

TEST(a_broadcasting_add_is_told_as_in_the_sample)
{
	struct ear ear = {.depth = 0};
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(
		&device, 0,
		&(struct ttnn_device_options){.profile = "n150",
					      .generation = TTNN_GENERATION_CLASSIC}));
	add_and_hear(&ear, device);
	CHECK_STR(tt_str_text(&ear.heard), sample);
	tt_str_deinit(&ear.heard);
	ttnn_device_unref(device);
}

TEST(the_environment_chooses_it_too)
{
	struct ear ear = {.depth = 0};
	ttnn_device *device = NULL;

	CHECK(setenv("TTNN_GENERATION", "classic", 1) == 0);
	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	unsetenv("TTNN_GENERATION");
	add_and_hear(&ear, device);
	CHECK_STR(tt_str_text(&ear.heard), sample);
	tt_str_deinit(&ear.heard);
	ttnn_device_unref(device);
}

/* Nothing is repeated without it, and nothing where shapes agree. */
TEST(elsewhere_one_program_does_it)
{
	struct ear ear = {.depth = 0};
	ttnn_device *device = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	add_and_hear(&ear, device);
	CHECK(!strstr(tt_str_text(&ear.heard), "repeat"));
	CHECK(strstr(tt_str_text(&ear.heard), "ttnn::prim::binary_ng") != NULL);
	tt_str_deinit(&ear.heard);
	ttnn_device_unref(device);
}
