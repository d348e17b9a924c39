/*
 * left.c: any bytes as the file beside a trace that was not ended, with its checksum made right. What is
 * read of the two is the same once they have become one file, which is whole.
 */
#include "trace/left.h"
#include "base/file.h"
#include "event/live.h"
#include "projections.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* The two files become one. */
static void complete(const struct tt_str *trace, const unsigned char *beside, size_t size,
		     uint64_t events)
{
	enum tt_completion done;
	struct tt_source *source;
	char name[4200];

	snprintf(name, sizeof(name), "%s" TT_LIVE_SUFFIX, scratch(1));
	if (tt_file_save(scratch(1), trace->data, trace->length) != TTNN_OK ||
	    tt_file_save(name, beside, size) != TTNN_OK)
		return;
	check(tt_trace_complete(&done, scratch(1)) == TTNN_OK && done == TT_COMPLETE_NOW);
	check(access(name, F_OK) != 0);
	check(tt_source_open(&source, scratch(1)) == TTNN_OK);
	check(tt_source_info(source)->complete && tt_source_info(source)->events == events);
	tt_source_close(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_trace_bytes parts[2] = {{.name = "trace"}, {.name = "beside"}};
	struct tt_str trace = {0};
	unsigned char *copy = tt_alloc(size + 1);
	struct tt_source *source;

	if (size >= TT_LIVE_HEAD_SIZE && size <= 1 << 16 && copy) {
		add_head(&trace);
		memcpy(copy, data, size);
		memcpy(copy, TT_LIVE_MAGIC, TT_LIVE_MAGIC_SIZE);
		tt_put_u32(copy + 8, TT_LIVE_VERSION);
		tt_put_u32(copy + 12, tt_get_u32((const unsigned char *)trace.data + 16));
		tt_put_u32(copy + 16, tt_crc32(0, copy, 16));
		parts[0].data = (const unsigned char *)trace.data;
		parts[0].size = trace.length;
		parts[1].data = copy;
		parts[1].size = size;
		if (tt_source_open_parts(&source, &parts[0], &parts[1]) == TTNN_OK) {
			uint64_t events = tt_source_info(source)->events;

			project(source);
			complete(&trace, copy, size, events);
		}
		tt_str_deinit(&trace);
	}
	tt_free(copy);
	return 0;
}
