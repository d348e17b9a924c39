#include "trace/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

tt_status tt_report_devices(struct tt_report *report, const struct tt_project *p)
{
	for (size_t i = 0; i < p->devices.count; i++) {
		const struct tt_project_device *from = &p->devices.data[i];
		struct tt_report_device *device;

		if (!from->used || !from->chips)
			continue;
		device = TT_VEC_PUSH(&report->devices);
		if (!device)
			return tt_fail_nomem();
		*device = (struct tt_report_device){.id = from->id, .row = from->row};
		snprintf(device->arch, sizeof(device->arch), "%s", from->arch);
	}
	return TTNN_OK;
}

/* A member of a device's object. */
struct member {
	const char *name;
	uint64_t number;
	const char *text; /* NULL: the number */
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct member *)a)->name, ((const struct member *)b)->name);
}

static void write_device(struct tt_jsonw *w, const struct tt_report_device *device)
{
	struct member members[] = {
#define TTNN_X(name) {#name, device->row.name, NULL},
		TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
			{"device_id", device->id, NULL},
		{"arch", 0, device->arch},
	};
	size_t count = sizeof(members) / sizeof(members[0]);

	qsort(members, count, sizeof(members[0]), by_name);
	tt_jsonw_object(w);
	for (size_t i = 0; i < count; i++) {
		tt_jsonw_key(w, members[i].name);
		if (members[i].text)
			tt_jsonw_string(w, members[i].text);
		else
			tt_jsonw_uint(w, members[i].number);
	}
	tt_jsonw_end(w);
}

static void write_metadata(struct tt_jsonw *w, const struct tt_report *report)
{
	tt_jsonw_object(w);
	tt_jsonw_key_int(w, "capture_timestamp_ns", report->wall_ns);
	tt_jsonw_key_int(w, "rank", 0);
	if (report->duration_ns) {
		tt_jsonw_key(w, "total_duration_ns");
		tt_jsonw_uint(w, report->duration_ns);
	}
	tt_jsonw_key_string(w, "version", TTNN_VERSION);
	tt_jsonw_key_int(w, "world_size", 1);
	tt_jsonw_end(w);
}

void tt_report_write(struct tt_jsonw *w, const struct tt_report *report,
		     const struct tt_graph *graph)
{
	tt_jsonw_object(w);
	tt_jsonw_key(w, "devices");
	tt_jsonw_array(w);
	for (size_t i = 0; i < report->devices.count; i++)
		write_device(w, &report->devices.data[i]);
	tt_jsonw_end(w);
	tt_jsonw_key(w, "graph");
	tt_graph_write(w, graph);
	tt_jsonw_key(w, "metadata");
	write_metadata(w, report);
	tt_jsonw_key_int(w, "version", TT_REPORT_VERSION);
	tt_jsonw_end(w);
}

void tt_report_deinit(struct tt_report *report)
{
	TT_VEC_DEINIT(&report->devices);
}
