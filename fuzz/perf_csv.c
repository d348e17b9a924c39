/*
 * Performance reports: whatever the bytes are, they are read or refused; the same lines in one piece and byte by byte;
 * what is said of a line is made of finite numbers; a written line reads back as it was.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/utf8.h"
#include "profile/columns.h"
#include "profile/csv_parse.h"
#include "profile/perf_sum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_status hash_line(void *context, const char *const *cells, size_t count, uint64_t line)
{
	uint64_t *hash = context;

	*hash = tt_hash_u64(*hash, line + count);
	for (size_t i = 0; i < count; i++)
		*hash = tt_hash(*hash, cells[i], strlen(cells[i]) + 1);
	return TTNN_OK;
}

static uint64_t hash_all(const uint8_t *data, size_t size, size_t piece)
{
	uint64_t hash = 0;
	struct tt_csv csv = {.emit = hash_line, .context = &hash};
	tt_status status = TTNN_OK;

	for (size_t at = 0; status == TTNN_OK && at < size; at += piece)
		status = tt_csv_feed(&csv, data + at, size - at < piece ? size - at : piece);
	if (status == TTNN_OK)
		tt_csv_finish(&csv);
	tt_csv_deinit(&csv);
	return hash;
}

static void check_number(struct tt_perf_number number)
{
	if (number.known && !isfinite(number.value))
		abort();
}

static tt_status look(void *context, const struct tt_perf_op *op)
{
	struct tt_str advice = {0};

	(void)context;
	check_number(op->us);
	check_number(op->gap);
	check_number(op->gb_s);
	check_number(op->dram_percent);
	check_number(op->tflops);
	check_number(op->flops_percent);
	tt_perf_advice(&advice, op, "; ");
	tt_str_deinit(&advice);
	return TTNN_OK;
}

static void take(void *context, const void *bytes, size_t size)
{
	tt_str_add(context, bytes, size);
}

/* The text of a signpost comes back as it was, but for commas and what is no UTF-8. */
static tt_status same(void *context, const char *const *cells, size_t count, uint64_t line)
{
	if (line != 1 || count < 2 || strcmp(cells[0], context) != 0)
		abort();
	return TTNN_OK;
}

static void write_back(const uint8_t *data, size_t size)
{
	struct tt_ops_shape shape = {TTNN_DIALECT_SEED, 1, 1, false};
	struct tt_str text = {0}, line = {0};
	struct tt_ops_row row = {.kind = TT_OPS_SIGNPOST};
	struct tt_csv csv = {.emit = same};
	struct tt_ops_csv *out;
	uint32_t code;
	char utf8[4];

	for (size_t i = 0; i < size && data[i];) {
		i += tt_utf8_get(&code, (const char *)data + i, size - i);
		tt_str_add(&text, utf8, tt_utf8_put(utf8, code == ',' ? ';' : code));
	}
	row.text = (char *)tt_str_text(&text);
	if (tt_ops_csv_new(&out, &shape, take, &line) != TTNN_OK)
		return;
	tt_ops_csv_row(out, &row);
	/* There is no header in front, so a byte order mark would be one of the file. */
	if (tt_ops_csv_end(out) == TTNN_OK && text.length < TT_CSV_BYTES / 4 &&
	    strncmp(row.text, "\xef\xbb\xbf", 3) != 0) {
		csv.context = row.text;
		if (tt_csv_feed(&csv, line.data, line.length) != TTNN_OK ||
		    tt_csv_finish(&csv) != TTNN_OK)
			abort();
		tt_csv_deinit(&csv);
	}
	tt_str_deinit(&text);
	tt_str_deinit(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_perf_file file = {0};

	if (size > 1 << 18)
		return 0;
	if (hash_all(data, size, SIZE_MAX) != hash_all(data, size, 1))
		abort();
	tt_perf_bytes_each(&file, data, size, look, NULL);
	write_back(data, size);
	return 0;
}
