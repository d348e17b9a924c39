/* params_export.c: parameter files from a trace. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/devices.h"
#include "trace/params.h"
#include "trace/source.h"

struct export
{
	const char *directory;
	struct tt_params_writer writer;
	struct tt_str path, text;
	struct tt_seen_devices devices;
};

static const struct ttnn_device_info *find_device(void *context, uint32_t id)
{
	const struct export *export = context;

	return tt_seen_devices_find(&export->devices, id);
}

static tt_status see_device(struct export *export, const struct ttnn_device_info *info)
{
	return info ? tt_seen_devices_add(&export->devices, info) : TTNN_OK;
}

static tt_status write_call(struct export *export, uint64_t number, const struct tt_seen *seen,
			    int64_t began_ns)
{
	char stamp[TT_PARAMS_STAMP];
	struct tt_jsonw w;

	tt_params_stamp(stamp, began_ns + (int64_t)seen->time_ns);
	tt_str_clear(&export->path);
	tt_str_adds(&export->path, export->directory);
	tt_str_addc(&export->path, '/');
	tt_params_file_name(&export->path, number, seen->event.call.name, stamp);
	TT_TRY(tt_str_status(&export->path));
	tt_str_clear(&export->text);
	tt_jsonw_init_str(&w, &export->text, (struct tt_jsonw_style){.indent = 2});
	tt_params_call(&w, &export->writer, number, stamp, &seen->event.call);
	TT_TRY(tt_jsonw_finish(&w));
	TT_TRY(tt_str_status(&export->text));
	return tt_file_save_new(tt_str_text(&export->path), export->text.data, export->text.length);
}

static tt_status export_all(uint64_t *count, struct export *export, struct tt_source *source)
{
	int64_t began_ns = tt_source_info(source)->began_ns;
	const struct tt_seen *seen;

	TT_TRY(tt_file_make_dirs(export->directory));
	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			return TTNN_OK;
		if (seen->event.kind == TT_EVENT_DEVICE_OPEN)
			TT_TRY(see_device(export, seen->event.device.info));
		if (seen->event.kind != TT_EVENT_CALL)
			continue;
		TT_TRY(write_call(export, *count + 1, seen, began_ns));
		++*count;
	}
}

tt_status tt_params_export(uint64_t *count, struct tt_source *source, const char *directory,
			   const struct tt_params_style *style)
{
	struct export export = {.directory = directory,
				.writer = {.style = style, .device = find_device}};
	tt_status status;

	*count = 0;
	export.writer.context = &export;
	status = export_all(count, &export, source);
	tt_seen_devices_deinit(&export.devices);
	tt_str_deinit(&export.path);
	tt_str_deinit(&export.text);
	return status;
}
