/* signatures, calls by name, what a call tells, dry runs, the program cache */
#include "test.h"

#include "device/device.h"
#include "device/devtensor.h"
#include "event/event.h"
#include "ops/objects.h"
#include "ops/op.h"
#include "ops/sound.h"

/* ---- signatures ---------------------------------------------------------------------------------- */

static struct tt_arena arena; /* of what is parsed */

static tt_status fit(struct tt_args *out, const char *signature, const struct ttnn_arg *args,
		     size_t count)
{
	static struct tt_overloads f = {.name = "ttnn.f", .count = 1};

	TT_TRY(tt_sig_parse(&f.sigs[0], &arena, signature));
	return tt_sig_resolve(out, &f, args, count);
}

TEST(signatures_keep_absent_none_and_default_apart)
{
	const char *sig = "a: int, b: float = 0.5, *, c: int? = None, d: bool = True";
	struct tt_args args;

	CHECK_OK(fit(&args, sig, (struct ttnn_arg[]){{NULL, ttnn_v_int(3)}}, 1));
	CHECK_INT(args.given, 1);
	CHECK(args.values[1].real == 0.5 && args.values[2].kind == TTNN_VALUE_NONE);
	CHECK_OK(fit(&args, sig, (struct ttnn_arg[]){{"c", ttnn_v_none()}, {"a", ttnn_v_int(3)}},
		     2));
	CHECK_INT(args.given, 5);
	CHECK_OK(fit(&args, sig, (struct ttnn_arg[]){{"a", ttnn_v_int(3)}, {"b", {0}}}, 2));
	CHECK_INT(args.given, 1);
	tt_arena_deinit(&arena);
}

TEST(signatures_refuse_what_does_not_fit)
{
	const char *sig = "a: int, b: float = 0.5, *, c: int? = None";
	struct tt_args args;

	CHECK_FAILS(fit(&args, sig, NULL, 0), TTNN_TYPE, "Called with:\n  f()");
	CHECK_FAILS(fit(&args, sig, (struct ttnn_arg[]){{NULL, ttnn_v_string("x")}}, 1), TTNN_TYPE,
		    "f(str)");
	CHECK_FAILS(fit(&args, sig,
			(struct ttnn_arg[]){{NULL, ttnn_v_int(1)}, {"a", ttnn_v_int(1)}}, 2),
		    TTNN_TYPE, "f(int, a=1)");
	CHECK_FAILS(fit(&args, sig,
			(struct ttnn_arg[]){{NULL, ttnn_v_int(1)},
					    {NULL, ttnn_v_real(1)},
					    {NULL, ttnn_v_int(1)}},
			3),
		    TTNN_TYPE, "f(int, float, int)");
	CHECK_FAILS(
		fit(&args, sig,
		    (struct ttnn_arg[]){{NULL, ttnn_v_int(1)}, {"flavour", ttnn_v_string("sweet")}},
		    2),
		TTNN_TYPE,
		"\nttnn.f(): incompatible function arguments.\n\nCalled with:\n  f(int, "
		"flavour='sweet')\n\nAvailable signatures:\n  f(a: int, b: float = 0.5, *, c: int "
		"| None = None)");
	CHECK_FAILS(fit(&args, "a: nonsense", NULL, 0), TTNN_INTERNAL, "unknown type");
	CHECK_FAILS(fit(&args, "a: int b: int", NULL, 0), TTNN_INTERNAL, "no comma");
	tt_arena_deinit(&arena);
}

TEST(every_row_has_what_a_row_needs)
{
	size_t count;
	const struct tt_op_entry *entries = tt_op_all(&count);

	CHECK(entries && count > 0);
	for (size_t i = 0; i < count; i++) {
		const struct tt_op *op = entries[i].op;

		if (!op->doc || !op->family || !op->expand || entries[i].overloads.count == 0)
			TEST_FAIL("%s lacks a doc, a family, a signature or a function", op->name);
		if (op->golden && !(op->pcc > 0.9 && op->pcc <= 1))
			TEST_FAIL("%s has a golden but no bound", op->name);
		CHECK(tt_op_find(op->name) == &entries[i]);
		CHECK(tt_op_find(entries[i].cpp_name) == &entries[i]);
	}
	CHECK(!tt_op_find("ttnn.no_such_operation"));
}

/* ---- calls ----------------------------------------------------------------------------------------- */

/* Hears everything as one line of text: scopes in brackets, memory events by their letter. */
struct ear {
	struct tt_event_listener listener;
	struct tt_str heard;
};

static void hear(struct tt_event_listener *self, const struct tt_event *event)
{
	struct tt_str *heard = &((struct ear *)self)->heard;

	switch (event->kind) {
	case TT_EVENT_SCOPE_BEGIN:
		tt_str_addf(heard, "(%s ", event->begin.name);
		break;
	case TT_EVENT_SCOPE_END:
		tt_str_addf(heard, "%s)", event->end.aborted ? "!" : "");
		break;
	case TT_EVENT_BUFFER_ALLOC:
		tt_str_adds(heard, "A");
		break;
	case TT_EVENT_BUFFER_FREE:
		tt_str_adds(heard, "F");
		break;
	case TT_EVENT_PROGRAM:
		tt_str_adds(heard, event->program.cache_hit ? "H" : "M");
		break;
	case TT_EVENT_PROGRAM_MEMORY:
		tt_str_addf(heard, "%c%d", event->memory.address ? 'P' : 'p',
			    (int)event->memory.size);
		break;
	case TT_EVENT_ERROR:
		tt_str_adds(heard, "E");
		break;
	case TT_EVENT_PROGRAM_LAUNCH:
		tt_str_adds(heard, "L");
		break;
	default:
		break;
	}
}

static tt_status make_tensor(ttnn_tensor **out, ttnn_device *device, enum ttnn_dtype dtype)
{
	struct ttnn_shape shape = {4, {1, 1, 64, 96}};

	return ttnn_call_one(out, "ttnn.empty",
			     (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						 {"device", ttnn_v_device(device)},
						 {"dtype", ttnn_v_dtype(dtype)},
						 {"layout", ttnn_v_layout(TTNN_TILE)}},
			     4, TTNN_FRONTEND_C);
}

static tt_status call_relu(struct ear *ear, const char *name, ttnn_tensor *in,
			   enum ttnn_frontend frontend)
{
	struct ttnn_arg args[] = {{NULL, ttnn_v_tensor(in)}};
	ttnn_tensor *out = NULL;
	tt_status status;

	tt_str_clear(&ear->heard);
	tt_event_listen(&ear->listener);
	status = ttnn_call_one(&out, name, args, 1, frontend);
	tt_event_listen(NULL);
	ttnn_tensor_unref(out);
	return status;
}

#define CREATE "(tt::tt_metal::create_device_tensor A)"

TEST(a_call_tells_what_it_does)
{
	struct ear ear = {.listener.emit = hear};
	ttnn_device *device = NULL;
	ttnn_tensor *a = NULL, *whole = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_OK(make_tensor(&a, device, TTNN_BFLOAT16));
	CHECK_OK(make_tensor(&whole, device, TTNN_INT32));
	CHECK_OK(call_relu(&ear, "ttnn.relu", a, TTNN_FRONTEND_PYTHON));
	CHECK_STR(tt_str_text(&ear.heard),
		  "(ttnn.relu (ttnn::relu (ttnn::prim::unary (UnaryDeviceOperation " CREATE
		  "P4096P4096ML))))");
	CHECK_OK(call_relu(&ear, "relu", a, TTNN_FRONTEND_C));
	CHECK_STR(tt_str_text(&ear.heard),
		  "(ttnn::relu (ttnn::prim::unary (UnaryDeviceOperation " CREATE "HL)))");
	CHECK_INT(ttnn_device_program_cache_entries(device), 1);

	CHECK_FAILS(call_relu(&ear, "ttnn::exp", whole, TTNN_FRONTEND_C), TTNN_INVALID,
		    "Unary: UnaryOpType::EXP does not support integer input dtype DataType::INT32");
	CHECK_STR(tt_str_text(&ear.heard),
		  "(ttnn::exp (ttnn::prim::unary (UnaryDeviceOperation " CREATE
		  "E(Tensor::deallocate F)!)!)!)");
	CHECK_INT(ttnn_device_program_cache_entries(device), 1);
	CHECK_FAILS(call_relu(&ear, "ttnn.nonsense", a, TTNN_FRONTEND_C), TTNN_NOTFOUND,
		    "there is no operation ttnn.nonsense");
	tt_str_deinit(&ear.heard);
	ttnn_tensor_unref(a);
	ttnn_tensor_unref(whole);
	ttnn_device_unref(device);
}

TEST(a_dry_run_leaves_nothing_behind)
{
	struct ear ear = {.listener.emit = hear};
	struct ttnn_memory_view before, after;
	ttnn_device *device = NULL;
	ttnn_tensor *a = NULL;

	CHECK_OK(ttnn_device_open(&device, 0, NULL));
	CHECK_OK(make_tensor(&a, device, TTNN_FLOAT32));
	CHECK_OK(ttnn_device_memory(&before, device, TTNN_DRAM));
	CHECK_INT(ttnn_set_run_mode(TTNN_RUN_NO_DISPATCH), TTNN_RUN_NORMAL);
	CHECK_OK(call_relu(&ear, "ttnn.relu", a, TTNN_FRONTEND_C));
	CHECK_INT(ttnn_set_run_mode(TTNN_RUN_NORMAL), TTNN_RUN_NO_DISPATCH);
	CHECK_STR(tt_str_text(&ear.heard),
		  "(ttnn::relu (ttnn::prim::unary (UnaryDeviceOperation " CREATE "p8192p8192M)))");
	CHECK_INT(ttnn_device_program_cache_entries(device), 0);
	CHECK_OK(ttnn_device_memory(&after, device, TTNN_DRAM));
	CHECK_INT(after.allocated, before.allocated);
	tt_str_deinit(&ear.heard);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
}

/* ---- values that no operation takes ---------------------------------------------------------------- */

/* A tensor of ones in tiles on this device. */
static ttnn_tensor *ones_of(ttnn_device *device, struct ttnn_shape shape, enum ttnn_layout layout)
{
	ttnn_tensor *out = NULL;

	CHECK_OK(ttnn_call_one(&out, "ttnn.ones",
			       (struct ttnn_arg[]){{NULL, ttnn_v_shape(&shape)},
						   {"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
						   {"layout", ttnn_v_layout(layout)},
						   {"device", ttnn_v_device(device)}},
			       4, TTNN_FRONTEND_C));
	return out;
}

TEST(values_that_no_operation_takes)
{
	static const struct tt_field fields[] = {{.name = "grid"}};
	static const struct tt_schema schema = {"Config", fields, 1, true};
	static const struct ttnn_tile tile = {0, 32, false};
	struct ttnn_memory_config memory = {.has_shard = true,
					    .shard = {.height = 32, .width = 32}};
	struct ttnn_shard_spec shard = {.height = 32, .width = 32};
	struct ttnn_value item;
	struct tt_args args;
	const ttnn_core_set *none;

	CHECK_OK(ttnn_core_set_make(&none, NULL, 0));
	memory.shard.grid = shard.grid = none;
	item = ttnn_v_core_set(none);
	struct {
		struct ttnn_value value;
		const char *text;
	} rows[] = {
		{item, "at least one core"},
		{ttnn_v_list(&item, 1), "at least one core"},
		{ttnn_v_memory(&memory), "at least one core"},
		{{.kind = TTNN_VALUE_SHARD, .shard = &shard}, "at least one core"},
		{{.kind = TTNN_VALUE_TILE, .tile = &tile}, "Tile size is not valid"},
		{tt_value_enum(&tt_enum_dtype, 1000), "1000 is not a valid DataType"},
	};

	for (size_t i = 0; i < TT_COUNT(rows); i++) {
		CHECK_OK(fit(&args, "a: any", (struct ttnn_arg[]){{NULL, rows[i].value}}, 1));
		CHECK(tt_args_sound(&args) != TTNN_OK && strstr(ttnn_error(), rows[i].text));
	}
	CHECK_OK(fit(&args, "a: any", (struct ttnn_arg[]){{NULL, tt_value_object(&schema, &item)}},
		     1));
	CHECK_OK(tt_args_sound(&args));
	tt_arena_deinit(&arena);
}

TEST(objects_are_of_the_kind_whose_fields_are_read)
{
	struct ttnn_value items[TT_COMPUTE_FIELDS] = {{0}};
	struct ttnn_value compute = tt_value_object(&tt_schema_compute, items);
	struct tt_args args;

	CHECK_OK(fit(&args, "a: ComputeConfig", (struct ttnn_arg[]){{NULL, compute}}, 1));
	CHECK_FAILS(fit(&args, "a: MatmulConfig", (struct ttnn_arg[]){{NULL, compute}}, 1),
		    TTNN_TYPE, "incompatible function arguments");
	CHECK_FAILS(fit(&args, "a: Unary", (struct ttnn_arg[]){{NULL, compute}}, 1), TTNN_TYPE,
		    "incompatible function arguments");
	tt_arena_deinit(&arena);
}

/* Each of these ended the process. */
TEST(calls_with_nothing_to_work_on)
{
	ttnn_device *device;
	ttnn_tensor *rows, *tiles, *gone, *empty, *single, *out = NULL;
	const ttnn_core_set *none;

	CHECK_OK(ttnn_device_open(&device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	CHECK_OK(ttnn_core_set_make(&none, NULL, 0));
	rows = ones_of(device, (struct ttnn_shape){4, {1, 1, 32, 64}}, TTNN_ROW_MAJOR);
	tiles = ones_of(device, (struct ttnn_shape){4, {1, 1, 32, 64}}, TTNN_TILE);
	gone = ones_of(device, (struct ttnn_shape){4, {1, 1, 32, 64}}, TTNN_TILE);
	empty = ones_of(device, (struct ttnn_shape){4, {0, 8, 8, 32}}, TTNN_ROW_MAJOR);
	single = ones_of(device, (struct ttnn_shape){0, {0}}, TTNN_TILE);
	ttnn_tensor_deallocate(gone, true);
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.argmax",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(rows)},
						      {"dim", ttnn_v_int(3)},
						      {"sub_core_grids", ttnn_v_core_set(none)}},
				  3, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Core grid must contain at least one core");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.experimental.dit_layernorm_pre_allgather",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)},
						      {NULL, ttnn_v_tensor(gone)}},
				  2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Input Tensor is not allocated");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.layer_norm",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(tiles)},
						      {"weight", ttnn_v_tensor(gone)}},
				  2, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Input Tensor is not allocated");
	CHECK_FAILS(ttnn_call_one(&out, "ttnn.upsample",
				  (struct ttnn_arg[]){{NULL, ttnn_v_tensor(empty)},
						      {NULL, ttnn_v_int(2)},
						      {"mode", ttnn_v_string("bilinear")}},
				  3, TTNN_FRONTEND_C),
		    TTNN_INVALID, "Shard shape must have non zero volume!");
	CHECK_OK(ttnn_call_one(&out, "ttnn.alt_complex_rotate90",
			       (struct ttnn_arg[]){{NULL, ttnn_v_tensor(single)}}, 1,
			       TTNN_FRONTEND_C));
	ttnn_tensor_unref(out);
	ttnn_tensor_unref(rows);
	ttnn_tensor_unref(tiles);
	ttnn_tensor_unref(gone);
	ttnn_tensor_unref(empty);
	ttnn_tensor_unref(single);
	ttnn_device_unref(device);
}

SCENARIO(calls_survive_exhaustion)
{
	struct ear ear = {.listener.emit = hear};
	ttnn_device *device = NULL;
	ttnn_tensor *a = NULL;
	tt_status status = ttnn_device_open(&device, 0, NULL);

	if (status == TTNN_OK)
		status = make_tensor(&a, device, TTNN_BFLOAT16);
	if (status == TTNN_OK)
		status = call_relu(&ear, "ttnn.relu", a, TTNN_FRONTEND_C);
	tt_str_deinit(&ear.heard);
	ttnn_tensor_unref(a);
	ttnn_device_unref(device);
	tt_call_forget_thread();
	return status;
}
