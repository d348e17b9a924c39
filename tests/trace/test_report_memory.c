/* Reports of device memory: pages of L1 buffers, and what lives when each outermost function ends. */
#include "test.h"

#include <ttnn_ops.h>

#include "base/json.h"
#include "device/buffer.h"
#include "device/device.h"
#include "event/capture.h"
#include "trace/report_memory.h"

/* The graph of a source, as far as these reports read it. */
static tt_status outline(struct tt_graph *graph, struct tt_source *source)
{
	const struct tt_seen *seen;
	int32_t depth = 0;

	tt_source_rewind(source);
	for (;;) {
		enum tt_graph_type type = TT_GRAPH_OTHER;

		TT_TRY(tt_source_next(&seen, source));
		if (!seen)
			return TTNN_OK;
		depth -= seen->event.kind == TT_EVENT_SCOPE_END;
		if (seen->event.kind == TT_EVENT_BUFFER_ALLOC)
			type = TT_GRAPH_BUFFER_ALLOCATE;
		else if (seen->event.kind == TT_EVENT_BUFFER_FREE)
			type = TT_GRAPH_BUFFER_DEALLOCATE;
		else if (seen->event.kind == TT_EVENT_SCOPE_BEGIN)
			type = TT_GRAPH_FUNCTION_START;
		else if (seen->event.kind == TT_EVENT_SCOPE_END)
			type = TT_GRAPH_FUNCTION_END;
		struct tt_graph_node *node = tt_graph_add(graph, type);
		if (!node)
			return TTNN_NOMEM;
		node->level = depth + 1;
		depth += seen->event.kind == TT_EVENT_SCOPE_BEGIN;
	}
}

struct run {
	ttnn_device *device;
	ttnn_tensor *before, *freed, *kept, *sharded;
};

/* A tensor from before; one that comes and goes; one that stays; one in shards. */
static tt_status work(struct run *run)
{
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1}, shards;
	struct ttnn_relu_options in_l1 = {.memory_config = ttnn_v_memory(&l1)};
	struct ttnn_core_range two = {{0, 0}, {1, 0}};
	struct ttnn_shard_spec spec = {.height = 32, .width = 64};

	TT_TRY(ttnn_core_set_make(&spec.grid, &two, 1));
	TT_TRY(ttnn_memory_config_sharded(&shards, TTNN_HEIGHT_SHARDED, TTNN_L1, &spec));
	TT_TRY(ttnn_relu(&run->freed, run->before, &in_l1));
	TT_TRY(ttnn_relu(&run->kept, run->freed, &in_l1));
	ttnn_tensor_deallocate(run->freed, true);
	return ttnn_to_memory_config(&run->sharded, run->kept, &shards, NULL);
}

static tt_status start(struct run *run)
{
	struct ttnn_memory_config l1 = {.buffer = TTNN_L1};
	struct ttnn_shape shape;

	TT_TRY(ttnn_shape_make(&shape, (int64_t[]){1, 1, 64, 64}, 4));
	TT_TRY(ttnn_device_open(&run->device, 0, &(struct ttnn_device_options){.profile = "n150"}));
	return ttnn_full(&run->before, &shape, 1,
			 &(struct ttnn_full_options){.dtype = ttnn_v_dtype(TTNN_BFLOAT16),
						     .layout = ttnn_v_layout(TTNN_TILE),
						     .device = ttnn_v_device(run->device),
						     .memory_config = ttnn_v_memory(&l1)});
}

static void stop(struct run *run)
{
	ttnn_tensor_unref(run->sharded);
	ttnn_tensor_unref(run->kept);
	ttnn_tensor_unref(run->freed);
	ttnn_tensor_unref(run->before);
	ttnn_device_unref(run->device);
}

/* All members of the report in one object. */
static tt_status write_report(struct tt_str *out, struct tt_capture *capture,
			      struct tt_graph *graph)
{
	struct tt_graph_report_memory *memory = NULL;
	struct tt_stream *stream = NULL;
	struct tt_source *source;
	struct tt_jsonw w;
	tt_status status;

	TT_TRY(tt_source_open_capture(&source, capture));
	status = outline(graph, source);
	if (status == TTNN_OK)
		status = tt_graph_report_memory_read(&memory, source, true);
	tt_source_close(source);
	if (status == TTNN_OK)
		status = tt_stream_of_graph(&stream, graph, false);
	if (status == TTNN_OK) {
		tt_jsonw_init_str(&w, out, (struct tt_jsonw_style){0});
		tt_jsonw_object(&w);
		CHECK_OK(tt_graph_report_memory_number(memory, stream));
		CHECK_OK(tt_graph_report_memory_pages(&w, memory));
		CHECK_OK(tt_graph_report_memory_allocations(&w, memory));
		CHECK_OK(tt_graph_report_memory_operations(&w, memory));
		tt_jsonw_end(&w);
		status = tt_jsonw_finish(&w);
		tt_stream_close(stream);
	}
	tt_graph_report_memory_free(memory);
	return status == TTNN_OK ? tt_str_status(out) : status;
}

static int64_t number(const struct tt_json *object, const char *key)
{
	int64_t value = -1;

	tt_json_int(&value, tt_json_get(object, key));
	return value;
}

/* Pages of the live buffers, as the device itself walks them. */
static void check_pages(const struct tt_json *pages, const struct run *run)
{
	struct tt_json_iter row = tt_json_iter(pages);
	struct tt_buffer **buffers;
	size_t count, rows = 0;

	CHECK_OK(tt_devmem_list(&buffers, &count, run->device->memory));
	CHECK_INT(count, 3);
	CHECK_INT(tt_json_count(pages), 12);
	while (tt_json_next(&row)) {
		struct tt_buffer_page page;
		bool found = false;

		for (size_t i = 0; i < count; i++) {
			struct tt_buffer_walk walk = {0};

			while (tt_buffer_next_page(&page, &walk, buffers[i]))
				found |= number(row.value, "address") ==
						 (int64_t)buffers[i]->address &&
					 number(row.value, "page_index") == (int64_t)page.index &&
					 number(row.value, "page_address") ==
						 (int64_t)page.address &&
					 number(row.value, "core_x") == page.core.x &&
					 number(row.value, "core_y") == page.core.y &&
					 number(row.value, "bank_id") == page.reported_bank &&
					 number(row.value, "page_size") == 2048 &&
					 number(row.value, "buffer_type") == TTNN_L1;
		}
		rows += found;
	}
	CHECK_INT(rows, 12);
	tt_devmem_free_list(buffers, count);
}

/* Three allocations, each told by a node that is one, with four pages. */
static void check_allocations(const struct tt_json *places, const struct tt_graph *graph)
{
	struct tt_json_iter place = tt_json_iter(places);
	size_t allocations = 0;

	while (tt_json_next(&place)) {
		struct tt_json_iter one = tt_json_iter(place.value);

		while (tt_json_next(&one)) {
			int64_t node = number(one.value, "alloc_counter");
			const struct tt_json *pages = tt_json_get(one.value, "pages");

			CHECK(node >= 0 && node < (int64_t)graph->count);
			CHECK_INT(graph->nodes[node].type, TT_GRAPH_BUFFER_ALLOCATE);
			CHECK_INT(tt_json_count(pages), 4);
			CHECK_INT(number(tt_json_at(pages, 0), "address"),
				  strtoll(place.key, NULL, 10));
			allocations++;
		}
	}
	CHECK_INT(allocations, 3);
}

/* What lives in the end of each function, in the order of time, whatever the order of keys. */
static void check_operations(const struct tt_json *operations, const struct tt_graph *graph)
{
	static const size_t living[] = {2, 3, 3}; /* relu, relu, to_memory_config */
	size_t at = 0;

	CHECK_INT(tt_json_count(operations), 3);
	for (size_t i = 0; i < graph->count && at < 3; i++) {
		char key[32];

		if (graph->nodes[i].type != TT_GRAPH_FUNCTION_START || graph->nodes[i].level != 1)
			continue;
		snprintf(key, sizeof(key), "%zu", i);
		const struct tt_json *list = tt_json_get(operations, key);
		CHECK_INT(tt_json_count(list), living[at]);
		CHECK_INT(number(tt_json_at(list, 0), "max_size_per_bank"), 2048);
		at++;
	}
	CHECK_INT(at, 3);
}

TEST(memory_in_reports)
{
	struct run run = {0};
	struct tt_capture *capture = NULL;
	struct tt_graph graph = {0};
	struct tt_json_doc *doc = NULL;
	struct tt_str text = {0};

	CHECK_OK(start(&run));
	CHECK_OK(tt_capture_begin(&capture, &(struct tt_capture_options){0}));
	CHECK_OK(work(&run));
	CHECK_OK(tt_capture_stop(NULL, capture));
	CHECK_OK(write_report(&text, capture, &graph));
	CHECK_OK(tt_json_parse(&doc, tt_str_text(&text), text.length, "report"));
	check_pages(tt_json_get(tt_json_root(doc), "buffer_pages"), &run);
	check_allocations(tt_json_get(tt_json_root(doc), "buffer_pages_by_address"), &graph);
	check_operations(tt_json_get(tt_json_root(doc), "per_operation_buffers"), &graph);
	tt_str_clear(&text);
	tt_graph_report_cluster(&text);
	CHECK(strstr(tt_str_text(&text), "wormhole_b0"));
	tt_json_free(doc);
	tt_str_deinit(&text);
	tt_graph_deinit(&graph);
	tt_capture_free(capture);
	stop(&run);
}

SCENARIO(memory_in_reports_without_memory)
{
	struct run run = {0};
	struct tt_capture *capture = NULL;
	struct tt_graph graph = {0};
	struct tt_str text = {0};
	tt_status status = start(&run);

	if (status == TTNN_OK)
		status = tt_capture_begin(&capture, &(struct tt_capture_options){0});
	if (status == TTNN_OK)
		status = work(&run);
	if (status == TTNN_OK)
		status = tt_capture_stop(NULL, capture);
	if (status == TTNN_OK)
		status = write_report(&text, capture, &graph);
	tt_str_deinit(&text);
	tt_graph_deinit(&graph);
	tt_capture_free(capture);
	stop(&run);
	return status;
}
