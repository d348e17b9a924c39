/* ops_sample.c: one call of an operation on simple values, to see what it launches. */
#include "cli/ops_sample.h"

#include <string.h>

#include "base/mem.h"
#include "device/program.h"

static const char *const kinds[] = {"circular buffer", "dataflow buffer", "scratchpad"};

/* ---- listening -------------------------------------------------------------------------------------- */

/* NULL for want of memory. */
static char *row_text(const struct tt_program_row *row)
{
	struct tt_str text = {0};
	char *taken = NULL;

	tt_str_adds(&text, kinds[row->kind]);
	if (row->view_count)
		tt_str_addf(&text, " %u", row->views[0].index);
	if (row->name)
		tt_str_addf(&text, " %s", row->name);
	tt_str_addf(&text, ": %llu bytes", (unsigned long long)row->size);
	if (row->view_count && row->views[0].page_size)
		tt_str_addf(&text, " in pages of %u", row->views[0].page_size);
	tt_str_addf(&text, " on %zu core%s%s", ttnn_core_set_cores(row->cores),
		    ttnn_core_set_cores(row->cores) == 1 ? "" : "s",
		    row->borrowed ? ", in the memory of a tensor" : "");
	tt_str_take(&taken, &text);
	return taken;
}

static void hear(void *context, const struct tt_launch *launch, const struct tt_program *program)
{
	struct ops_sample *sample = context;
	struct ops_built *built = TT_VEC_PUSH(&sample->built);

	if (!built)
		return;
	*built = (struct ops_built){.prog = launch->prog, .factory = launch->factory};
	for (size_t i = 0; i < program->rows.count; i++) {
		char **line = TT_VEC_PUSH(&built->lines);

		if (line)
			*line = row_text(&program->rows.data[i]);
	}
}

/* ---- values ------------------------------------------------------------------------------------------ */

#define EXTENT 64
#define CANDIDATES 8

/* The first of some simple values that the argument takes. */
static bool pick(struct ttnn_value *out, const struct tt_arg *arg,
		 const struct ttnn_value candidates[CANDIDATES])
{
	for (size_t i = 0; i < CANDIDATES; i++)
		if (tt_arg_accepts(arg, &candidates[i])) {
			*out = candidates[i];
			return true;
		}
	return false;
}

static tt_status call_sample(const struct tt_op_entry *entry, ttnn_tensor *tensor)
{
	static const struct ttnn_memory_config dram;
	static const struct ttnn_shape shape = {4, {1, 1, EXTENT, EXTENT}};
	const struct tt_sig *sig = &entry->overloads.sigs[0];
	struct ttnn_value two[] = {ttnn_v_tensor(tensor), ttnn_v_tensor(tensor)};
	struct ttnn_value ints[] = {ttnn_v_int(0), ttnn_v_int(1), ttnn_v_int(2), ttnn_v_int(3)};
	const struct ttnn_value candidates[CANDIDATES] = {
		ttnn_v_tensor(tensor), ttnn_v_int(1),        ttnn_v_real(0.5),
		ttnn_v_list(two, 2),   ttnn_v_shape(&shape), ttnn_v_list(ints, 4),
		ttnn_v_bool(true),     ttnn_v_memory(&dram),
	};
	struct ttnn_arg args[TT_ARGS_MAX];
	struct ttnn_results results;
	size_t count = 0;

	for (size_t i = 0; i < sig->count; i++) {
		const struct tt_arg *arg = &sig->args[i];

		if (arg->has_default)
			continue;
		args[count].name = arg->name;
		if (!pick(&args[count].value, arg, candidates))
			return tt_fail(TTNN_INVALID, "no simple value for %s", arg->name);
		count++;
	}
	TT_TRY(ttnn_call(&results, entry->op->name, args, count, TTNN_FRONTEND_C));
	for (size_t i = 0; i < results.count; i++)
		ttnn_tensor_unref(results.tensors[i]);
	return TTNN_OK;
}

static tt_status make_tensor(ttnn_tensor **out, ttnn_device *device)
{
	static const struct ttnn_shape shape = {4, {1, 1, EXTENT, EXTENT}};
	const struct ttnn_arg args[] = {{"shape", ttnn_v_shape(&shape)},
					{"dtype", ttnn_v_dtype(TTNN_BFLOAT16)},
					{"layout", ttnn_v_layout(TTNN_TILE)},
					{"device", ttnn_v_device(device)}};
	struct ttnn_results results;

	TT_TRY(ttnn_call(&results, "ttnn.ones", args, TT_COUNT(args), TTNN_FRONTEND_C));
	*out = results.tensors[0];
	return TTNN_OK;
}

tt_status ops_sample(struct ops_sample *out, const struct tt_op_entry *entry)
{
	const struct ttnn_device_options options = {.profile = "n150"};
	ttnn_tensor *tensor = NULL;
	ttnn_device *device;
	tt_status status;

	*out = (struct ops_sample){0};
	TT_TRY(ttnn_device_open(&device, 0, &options));
	status = make_tensor(&tensor, device);
	if (status == TTNN_OK) {
		tt_launch_listen(hear, out);
		if (call_sample(entry, tensor) != TTNN_OK)
			tt_str_adds(&out->refused, ttnn_error());
		tt_launch_listen(NULL, NULL);
	}
	ttnn_tensor_unref(tensor);
	ttnn_device_close(device);
	return status;
}

void ops_sample_deinit(struct ops_sample *sample)
{
	for (size_t i = 0; i < sample->built.count; i++) {
		for (size_t k = 0; k < sample->built.data[i].lines.count; k++)
			tt_free(sample->built.data[i].lines.data[k]);
		TT_VEC_DEINIT(&sample->built.data[i].lines);
	}
	TT_VEC_DEINIT(&sample->built);
	tt_str_deinit(&sample->refused);
}
