#include "trace/graph_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

tt_status tt_graph_report_devices(struct tt_graph_report *report,
				  const struct tt_project_device *devices, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tt_project_device *from = &devices[i];
		struct tt_graph_report_device *device;

		if (!from->used || !from->chips)
			continue;
		device = TT_VEC_PUSH(&report->devices);
		if (!device)
			return tt_fail_nomem();
		*device = (struct tt_graph_report_device){.id = from->id, .row = from->row};
		if (!*report->profile)
			snprintf(report->profile, sizeof(report->profile), "%s", from->profile);
		snprintf(device->arch, sizeof(device->arch), "%s", from->arch);
	}
	return TTNN_OK;
}

tt_status tt_graph_report_read(struct tt_graph_report *report, struct tt_source *source)
{
	if (!report->recorded)
		tt_graph_report_cluster(&report->cluster);
	else if (*report->profile)
		tt_graph_report_cluster_of(&report->cluster, report->profile);
	TT_TRY(tt_str_status(&report->cluster));
	if (!report->pages)
		return TTNN_OK;
	return tt_graph_report_memory_read(&report->memory, source, !report->recorded);
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

static void write_device(struct tt_jsonw *w, const struct tt_graph_report_device *device,
			 uint32_t id)
{
	struct member members[] = {
#define TTNN_X(name) {#name, device->row.name, NULL},
		TTNN_DEVICE_ROW_LIST(TTNN_X)
#undef TTNN_X
			{"device_id", id, NULL},
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

static int by_number(const void *a, const void *b)
{
	uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

	return first < second ? -1 : first > second;
}

/* Adds a number that is not yet in the list, of which there are few. */
static bool add_number(uint32_t *list, size_t *count, size_t most, uint32_t number)
{
	for (size_t i = 0; i < *count; i++) {
		if (list[i] == number)
			return true;
	}
	if (*count == most)
		return false;
	list[(*count)++] = number;
	return true;
}

size_t tt_graph_report_ids(uint32_t ids[TT_GRAPH_REPORT_DEVICES_MAX],
			   const struct tt_graph_report *report,
			   const struct tt_stream_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < report->devices.count; i++)
		add_number(ids, &count, TT_GRAPH_REPORT_DEVICES_MAX, report->devices.data[i].id);
	for (size_t i = 0; report->devices.count && i < facts->chip_count; i++)
		add_number(ids, &count, TT_GRAPH_REPORT_DEVICES_MAX, facts->chips[i]);
	if (count)
		qsort(ids, count, sizeof(ids[0]), by_number);
	return count;
}

const struct tt_graph_report_device *tt_graph_report_device(const struct tt_graph_report *report,
							    uint32_t id)
{
	for (size_t k = report->devices.count; k > 0; k--) {
		if (report->devices.data[k - 1].id == id)
			return &report->devices.data[k - 1];
	}
	return &report->devices.data[0];
}

static void write_devices(struct tt_jsonw *w, const struct tt_graph_report *report,
			  const struct tt_stream_facts *facts)
{
	uint32_t ids[TT_GRAPH_REPORT_DEVICES_MAX];
	size_t count = tt_graph_report_ids(ids, report, facts);

	tt_jsonw_array(w);
	for (size_t i = 0; i < count; i++)
		write_device(w, tt_graph_report_device(report, ids[i]), ids[i]);
	tt_jsonw_end(w);
}

size_t tt_graph_report_metadata(struct tt_graph_report_fact out[TT_GRAPH_REPORT_FACTS],
				const struct tt_graph_report *report)
{
	size_t count = 0;

	out[count++] = (struct tt_graph_report_fact){"capture_timestamp_ns", report->wall_ns, NULL};
	out[count++] = (struct tt_graph_report_fact){"rank", 0, NULL};
	if (report->duration_ns)
		out[count++] = (struct tt_graph_report_fact){"total_duration_ns",
							     (int64_t)report->duration_ns, NULL};
	out[count++] = (struct tt_graph_report_fact){"version", 0, TTNN_VERSION};
	out[count++] = (struct tt_graph_report_fact){"world_size", 1, NULL};
	return count;
}

static void write_metadata(struct tt_jsonw *w, const struct tt_graph_report *report)
{
	struct tt_graph_report_fact facts[TT_GRAPH_REPORT_FACTS];
	size_t count = tt_graph_report_metadata(facts, report);

	tt_jsonw_object(w);
	for (size_t i = 0; i < count; i++) {
		if (facts[i].text)
			tt_jsonw_key_string(w, facts[i].name, facts[i].text);
		else
			tt_jsonw_key_int(w, facts[i].name, facts[i].number);
	}
	tt_jsonw_end(w);
}

tt_status tt_graph_report_write(struct tt_jsonw *w, const struct tt_graph_report *report,
				struct tt_stream *stream)
{
	const struct tt_stream_facts *facts = tt_stream_facts(stream);

	if (report->memory)
		TT_TRY(tt_graph_report_memory_number(report->memory, stream));
	tt_jsonw_object(w);
	if (report->memory) {
		TT_TRY(tt_graph_report_memory_pages(w, report->memory));
		TT_TRY(tt_graph_report_memory_allocations(w, report->memory));
	}
	if (report->cluster.length)
		tt_jsonw_key_string(w, "cluster_descriptor", tt_str_text(&report->cluster));
	tt_jsonw_key(w, "devices");
	write_devices(w, report, facts);
	tt_jsonw_key(w, "graph");
	TT_TRY(tt_stream_restart(stream));
	TT_TRY(tt_stream_write(w, stream));
	tt_jsonw_key(w, "metadata");
	write_metadata(w, report);
	if (report->memory)
		TT_TRY(tt_graph_report_memory_operations(w, report->memory));
	tt_jsonw_key_int(w, "version", TT_GRAPH_REPORT_VERSION);
	tt_jsonw_end(w);
	return TTNN_OK;
}

void tt_graph_report_deinit(struct tt_graph_report *report)
{
	TT_VEC_DEINIT(&report->devices);
	tt_graph_report_memory_free(report->memory);
	tt_str_deinit(&report->cluster);
}
