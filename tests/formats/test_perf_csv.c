/* performance reports: columns, bytes, rows of recordings, reading them back */
#include "test.h"

#include <math.h>

#include "base/file.h"
#include "base/mem.h"
#include "event/alike.h"
#include "event/capture.h"
#include "profile/columns.h"
#include "profile/csv_parse.h"
#include "profile/merge.h"
#include "profile/perf_sum.h"
#include "tensor/core.h"
#include "tensor/enums.h"

/* ---- lines of a CSV ------------------------------------------------------------------------------------- */

/* All cells of a file, line by line. */
struct sheet {
	TT_VEC(char *) cells;
	TT_VEC(size_t) lines; /* where each begins */
};

static tt_status take_line(void *context, const char *const *cells, size_t count, uint64_t line)
{
	struct sheet *sheet = context;

	(void)line;
	*TT_VEC_PUSH(&sheet->lines) = sheet->cells.count;
	for (size_t i = 0; i < count; i++)
		*TT_VEC_PUSH(&sheet->cells) = tt_strdup(cells[i]);
	return TTNN_OK;
}

static void read_sheet(struct sheet *out, const char *text, size_t size, size_t piece)
{
	struct tt_csv csv = {.emit = take_line, .context = out};

	for (size_t at = 0; at < size; at += piece)
		CHECK_OK(tt_csv_feed(&csv, text + at, size - at < piece ? size - at : piece));
	CHECK_OK(tt_csv_finish(&csv));
	tt_csv_deinit(&csv);
	*TT_VEC_PUSH(&out->lines) = out->cells.count;
}

static void read_sheet_file(struct sheet *out, const char *path)
{
	char *text;
	size_t size;

	CHECK_OK(tt_file_read(&text, &size, path));
	read_sheet(out, text, size, 1000);
	tt_free(text);
}

static size_t width(const struct sheet *sheet, size_t line)
{
	return sheet->lines.data[line + 1] - sheet->lines.data[line];
}

static const char *cell(const struct sheet *sheet, size_t line, size_t column)
{
	return column < width(sheet, line) ? sheet->cells.data[sheet->lines.data[line] + column]
					   : "(none)";
}

/* The cell of a column by name. */
static const char *named(const struct sheet *sheet, size_t line, const char *name)
{
	for (size_t i = 0; i < width(sheet, 0); i++)
		if (strcmp(cell(sheet, 0, i), name) == 0)
			return cell(sheet, line, i);
	return "(none)";
}

static double number(const struct sheet *sheet, size_t line, const char *name)
{
	return strtod(named(sheet, line, name), NULL);
}

static void free_sheet(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->cells.count; i++)
		tt_free(sheet->cells.data[i]);
	TT_VEC_DEINIT(&sheet->cells);
	TT_VEC_DEINIT(&sheet->lines);
}

TEST(lines_are_read_as_python_reads_them)
{
	static const char text[] = "\xef\xbb\xbf"
				   "a,b\r\n"
				   "1,\"x, \"\"y\"\"\nz\"\n"
				   "\r\n"
				   "\"\",\r"
				   "no\"quote,\"end";
	struct sheet sheet = {0}, pieces = {0};

	read_sheet(&sheet, text, strlen(text), 1000);
	CHECK_INT(sheet.lines.count, 5);
	CHECK_STR(cell(&sheet, 0, 0), "a");
	CHECK_STR(cell(&sheet, 1, 1), "x, \"y\"\nz");
	CHECK_INT(width(&sheet, 2), 2);
	CHECK_STR(cell(&sheet, 2, 0), "");
	CHECK_STR(cell(&sheet, 3, 0), "no\"quote");
	CHECK_STR(cell(&sheet, 3, 1), "end");
	read_sheet(&pieces, text + 3, strlen(text) - 3, 1);
	CHECK_INT(pieces.cells.count, sheet.cells.count);
	for (size_t i = 0; i < sheet.cells.count; i++)
		CHECK_STR(pieces.cells.data[i], sheet.cells.data[i]);
	free_sheet(&sheet);
	free_sheet(&pieces);
}

TEST(what_only_begins_like_a_byte_order_mark_is_text)
{
	static const char *const texts[] = {"\xef\xbf\xbd", "\xef\xbb", "\xef", "x\xbb\xbf"};

	for (size_t i = 0; i < TT_COUNT(texts); i++)
		for (size_t piece = 1; piece < 4; piece++) {
			struct sheet sheet = {0};

			read_sheet(&sheet, texts[i], strlen(texts[i]), piece);
			CHECK_INT(sheet.cells.count, 1);
			CHECK_STR(cell(&sheet, 0, 0), texts[i]);
			free_sheet(&sheet);
		}
}

TEST(a_line_without_end_is_refused)
{
	struct sheet sheet = {0};
	struct tt_csv csv = {.emit = take_line, .context = &sheet};
	char commas[1000];
	tt_status status = TTNN_OK;

	memset(commas, ',', sizeof(commas));
	for (int i = 0; status == TTNN_OK && i < 100; i++)
		status = tt_csv_feed(&csv, commas, sizeof(commas));
	CHECK_INT(status, TTNN_FORMAT);
	tt_csv_deinit(&csv);
	free_sheet(&sheet);
}

/* ---- rows made by hand ---------------------------------------------------------------------------------- */

static void take_text(void *context, const void *data, size_t size)
{
	tt_str_add(context, data, size);
}

static void header_of(struct tt_str *out, enum ttnn_dialect dialect)
{
	struct tt_ops_shape shape = {dialect, 2, 1, false};
	struct tt_ops_csv *csv;

	CHECK_OK(tt_ops_csv_new(&csv, &shape, take_text, out));
	tt_ops_csv_header(csv);
	CHECK_OK(tt_ops_csv_end(csv));
}

TEST(headers_are_those_of_the_layouts)
{
	struct tt_str text = {0};
	char *want;
	size_t size;

	header_of(&text, TTNN_DIALECT_SEED);
	header_of(&text, TTNN_DIALECT_TT_METAL);
	CHECK_OK(tt_file_read(&want, &size, "tests/data/perf_csv/headers.csv"));
	CHECK_STR(tt_str_text(&text), want);
	tt_free(want);
	tt_str_deinit(&text);
}

static struct tt_ops_tensor tensor_of(uint32_t y, uint32_t x, enum ttnn_dtype dtype,
				      enum ttnn_buffer_type buffer)
{
	struct tt_ops_tensor tensor;

	memset(&tensor, 0, sizeof(tensor));
	tensor.padded[0] = tensor.padded[1] = tensor.logical[0] = tensor.logical[1] = 1;
	tensor.padded[2] = tensor.logical[2] = y;
	tensor.padded[3] = tensor.logical[3] = x;
	tensor.dtype = (uint8_t)dtype;
	tensor.layout = TTNN_TILE;
	tensor.buffer = (uint8_t)buffer;
	tensor.on_device = 1;
	return tensor;
}

static struct tt_ops_attributes *attributes_of(const char *const (*pairs)[2], uint32_t count)
{
	struct tt_ops_attributes *out = tt_calloc(1, sizeof(*out));

	out->refs = 1;
	out->rows = tt_calloc(count, sizeof(*out->rows));
	for (; out->count < count; out->count++)
		out->rows[out->count] = (struct tt_ops_attribute){pairs[out->count][0],
								  tt_strdup(pairs[out->count][1])};
	return out;
}

/* The programs of tests/data/perf_csv/seed_made.csv.gz. */
static struct tt_ops_program *make_product(void)
{
	static const char *const pairs[][2] = {
		{"bcast_batch", "true"}, {"program_config", "std::nullopt"}, {"grid", "(x=8,y=8)"}};
	struct tt_ops_program *p =
		tt_ops_program_new("MatmulDeviceOperation", attributes_of(pairs, 3), 2, 1);

	p->tensors[0] = tensor_of(256, 512, TTNN_BFLOAT16, TTNN_DRAM);
	p->tensors[1] = tensor_of(512, 1024, TTNN_BFLOAT8_B, TTNN_DRAM);
	p->tensors[2] = tensor_of(256, 1024, TTNN_BFLOAT16, TTNN_L1);
	p->known = p->computes = p->modelled = true;
	p->fidelity = "HiFi2";
	p->cores = 2;
	p->ideal_ns = p->bandwidth_ns = 600;
	p->compute_ns = 512;
	p->bandwidths = tt_calloc(3, sizeof(double));
	p->bandwidths[0] = p->bandwidths[2] = 436.9;
	p->bandwidths[1] = 873.8;
	p->input_bws = 2;
	p->output_bws = 1;
	return p;
}

static struct tt_ops_program *make_sum(void)
{
	static const char *const pairs[][2] = {{"binary_op_type", "BinaryOpType::ADD"}};
	struct tt_ops_program *p =
		tt_ops_program_new("BinaryNgDeviceOperation", attributes_of(pairs, 1), 2, 1);

	for (int i = 0; i < 3; i++)
		p->tensors[i] = tensor_of(256, 512, TTNN_BFLOAT16, TTNN_DRAM);
	p->known = p->computes = true;
	p->fidelity = "HiFi2";
	p->cores = 2;
	p->bandwidths = tt_calloc(1, sizeof(double));
	return p;
}

static struct tt_ops_program *make_fallback(void)
{
	struct tt_ops_program *p = tt_ops_program_new("(torch) add", NULL, 1, 0);

	p->tensors[0] = tensor_of(2, 3, TTNN_FLOAT32, TTNN_DRAM);
	p->tensors[0].layout = TTNN_ROW_MAJOR;
	p->tensors[0].on_device = 0;
	return p;
}

static const struct tt_ops_chip wormhole = {.arch = "wormhole_b0", .clock_mhz = 1000, .cores = 64};

/* A row of that file; begin 0: it did not run. */
static struct tt_ops_row row_of(struct tt_ops_program *program, uint64_t call, uint64_t host,
				uint64_t took, uint64_t begin)
{
	return (struct tt_ops_row){.kind = TT_OPS_DEVICE,
				   .program = program,
				   .call = call,
				   .chip = &wormhole,
				   .begin_ns = host,
				   .duration_ns = took,
				   .ran = begin != 0,
				   .fw_begin = begin,
				   .fw_end = begin + 510,
				   .kernel_begin = begin + 20,
				   .kernel_end = begin + 490,
				   .has_busy = begin != 0,
				   .busy_min = 460,
				   .busy_max = 460,
				   .busy_avg = 460,
				   .starts = 18,
				   .has_latency = begin != 0,
				   .file = "/t/test_basic.py",
				   .line = 60,
				   .name = "ttnn.add"};
}

/* Its rows as that file has them: by hand, in the order of the file. */
static void write_made(struct tt_str *out, enum ttnn_dialect dialect)
{
	struct tt_ops_program *product = make_product(), *sum = make_sum(), *host = make_fallback();
	struct tt_ops_shape shape = {dialect, 2, 1, false};
	struct tt_ops_row rows[] = {
		row_of(product, 1024, 1000, 500, 10000), row_of(product, 2048, 2000, 100, 12000),
		row_of(host, 2147486720, 2500, 50, 0),   row_of(sum, 4096, 3000, 80, 0),
		row_of(sum, 4096, 3000, 80, 20000),      row_of(sum, 4096, 3000, 80, 22000)};
	static const int64_t latencies[] = {0, 1530, 0, 0, 7530, 1530};
	struct tt_ops_csv *csv;

	rows[2].kind = TT_OPS_HOST;
	rows[2].file = NULL;
	rows[1].cache_hit = true;
	rows[4].trace_id = rows[5].trace_id = 5;
	rows[4].session = 1;
	rows[5].session = 2;
	CHECK_OK(tt_ops_csv_new(&csv, &shape, take_text, out));
	tt_ops_csv_header(csv);
	for (size_t i = 0; i < TT_COUNT(rows); i++) {
		rows[i].latency = latencies[i];
		tt_ops_csv_row(csv, &rows[i]);
	}
	CHECK_OK(tt_ops_csv_end(csv));
	tt_ops_program_unref(product);
	tt_ops_program_unref(sum);
	tt_ops_program_unref(host);
}

/* Columns that the made files fill with what there is none of here, and the names of kernels. */
static bool is_compared(const char *name)
{
	struct tt_ops_column_info info;

	for (size_t i = 0; tt_ops_column_at(&info, i); i++)
		if (strcmp(info.name, name) == 0)
			return info.origin != TT_OPS_BLANK && !strstr(name, " KERNEL SOURCE") &&
			       !strstr(name, " KERNEL HASH");
	return !strstr(name, "TT_HOST_FUNC") && !strstr(name, "KERNEL SIZE");
}

static void compare_made(const char *path, enum ttnn_dialect dialect, size_t first)
{
	struct sheet ours = {0}, theirs = {0};
	struct tt_str text = {0};
	size_t compared = 0;

	write_made(&text, dialect);
	read_sheet(&ours, tt_str_text(&text), text.length, 77);
	read_sheet_file(&theirs, path);
	for (size_t line = 1; line < 7; line++)
		for (size_t i = 0; i < width(&ours, 0); i++) {
			const char *name = cell(&ours, 0, i),
				   *want = named(&theirs, line + first, name);

			/* Made files have no chip, no hash and no second signpost; those are tested apart. */
			if (!is_compared(name) || strcmp(name, "DEVICE ARCH") == 0 ||
			    strcmp(name, "AVAILABLE WORKER CORE COUNT") == 0 ||
			    strcmp(name, "PROGRAM HASH") == 0 ||
			    (dialect == TTNN_DIALECT_TT_METAL && strcmp(name, "ATTRIBUTES") == 0))
				continue;
			if (line == 3 && strcmp(name, "PROGRAM CACHE HIT") == 0)
				continue;
			if (strcmp(name, "PROGRAM_METADATA") == 0 && line == 3)
				want = "{}";
			if (strcmp(cell(&ours, line, i), want) != 0)
				TEST_FAIL("%s of line %zu is %s, not %s", name, line,
					  cell(&ours, line, i), want);
			compared++;
		}
	CHECK(compared > 200);
	free_sheet(&ours);
	free_sheet(&theirs);
	tt_str_deinit(&text);
}

TEST(rows_made_by_hand_are_those_of_upstream)
{
	compare_made("tests/data/perf_csv/seed_made.csv.gz", TTNN_DIALECT_SEED, 0);
	compare_made("tests/data/perf_csv/main_made.csv.gz", TTNN_DIALECT_TT_METAL, 1);
}

TEST(bytes_are_those_of_python)
{
	static const char replaced[] =
		"\xef\xbf\xbd bad,signpost,,,cut \xef\xbf\xbd,,,"; /* no UTF-8 */
	struct tt_ops_row post = {.kind = TT_OPS_SIGNPOST,
				  .begin_ns = 900,
				  .text = (char *)"run: 1, \"first\"",
				  .message = (char *)"a, b"};
	struct tt_ops_shape shape = {TTNN_DIALECT_SEED, 0, 0, false};
	struct tt_str text = {0};
	struct tt_ops_csv *csv;

	CHECK_OK(tt_ops_csv_new(&csv, &shape, take_text, &text));
	tt_ops_csv_row(csv, &post);
	CHECK_OK(tt_ops_csv_end(csv));
	CHECK_STR(tt_str_text(&text), "\"run: 1; \"\"first\"\"\",signpost,,,a; b,,,,900,,,,,,,,,,,,"
				      ",,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,,loc(unknown),false,{}\r\n");
	tt_str_clear(&text);
	post.text = (char *)"\xff bad";
	post.message = (char *)"cut \xc3";
	CHECK_OK(tt_ops_csv_new(&csv, &shape, take_text, &text));
	tt_ops_csv_row(csv, &post);
	CHECK_OK(tt_ops_csv_end(csv));
	CHECK(strncmp(tt_str_text(&text), replaced, strlen(replaced)) == 0);
	tt_str_clear(&text);
	tt_ops_repr(&text, "it's");
	tt_ops_repr(&text, "it's \"so\"\n\\");
	tt_ops_repr(&text, "\x01");
	CHECK_STR(tt_str_text(&text), "\"it's\"'it\\'s \"so\"\\n\\\\''\\x01'");
	tt_str_clear(&text);
	for (int i = 0; i < 5; i++) {
		static const double numbers[] = {62.25, 0, 31.1444999, 2.0005, 108.9361702};

		tt_ops_round3(&text, numbers[i]);
		tt_str_addc(&text, ' ');
	}
	CHECK_STR(tt_str_text(&text), "62.25 0.0 31.144 2.001 108.936 ");
	tt_str_deinit(&text);
}

TEST(cycles_are_rounded_half_to_even)
{
	CHECK_INT(tt_ops_ns(6517, 1000), 6517);
	CHECK_INT(tt_ops_ns(6045, 1350), 4478);
	CHECK_INT(tt_ops_ns(1, 2000), 0); /* 0.5 */
	CHECK_INT(tt_ops_ns(3, 2000), 2); /* 1.5 */
	CHECK_INT(tt_ops_cycles(1000000007, 1350), 1350000009);
	CHECK_INT(tt_ops_ns(5, 0), 0);
}

/* The table in the documentation says of each column what the code says of it. */
TEST(documentation_has_every_column)
{
	static const char *const words[] = {"recorded", "measured", "modelled", "blank"};
	struct tt_ops_column_info info;
	char *text, line[200];
	size_t size;

	CHECK_OK(tt_file_read(&text, &size, "docs/formats/perf_csv.md"));
	for (size_t i = 0; tt_ops_column_at(&info, i); i++) {
		const char *where = info.seed && info.main ? "both"
				    : info.seed            ? "seed"
							   : "tt-metal";

		snprintf(line, sizeof(line), "| `%s` | %s | %s |", info.name, where,
			 words[info.origin]);
		if (!strstr(text, line))
			TEST_FAIL("docs/formats/perf_csv.md has no line that begins %s", line);
	}
	tt_free(text);
}

/* ---- recordings ----------------------------------------------------------------------------------------- */

static const struct tt_field told_fields[] = {{.name = "op"}, {.name = "grid"}, {.name = "fast"}};
static const struct tt_schema told_schema = {"Attributes", told_fields, 3, false};

struct told {
	struct ttnn_tensor_spec spec;
	struct ttnn_device_info info;
	struct ttnn_device_row row;
	uint32_t chips[2];
	const ttnn_core_set *cores;
	uint64_t launches;
};

static void tell(enum tt_event_kind kind, struct tt_event event)
{
	event.kind = kind;
	tt_event_emit(&event);
}

static void open_mesh(struct told *told, uint32_t chips)
{
	*told = (struct told){.chips = {0, 1}};
	told->info = (struct ttnn_device_info){.id = 1,
					       .rows = 1,
					       .cols = chips,
					       .chip_count = chips,
					       .chips = told->chips,
					       .profile = "n300",
					       .arch = "wormhole_b0",
					       .arch_name = "WORMHOLE_B0",
					       .arch_family = "wormhole_b0",
					       .cluster = "N300",
					       .memory_map = "",
					       .board_type = "",
					       .device_series = "",
					       .compute_grid = {8, 8},
					       .clock_mhz = 1350};
	CHECK_OK(ttnn_tensor_spec_make(&told->spec, &(struct ttnn_spec_args){.shape = {2, {30, 64}},
									     .dtype = TTNN_BFLOAT16,
									     .layout = TTNN_TILE}));
	CHECK_OK(tt_core_set_grid(&told->cores, 2, 3));
	tell(TT_EVENT_DEVICE_OPEN,
	     (struct tt_event){.device = {.device_id = 1, .info = &told->info, .row = &told->row}});
}

static void tell_run(const struct told *told, uint32_t chip, uint64_t launch, uint32_t session)
{
	tell(TT_EVENT_PROGRAM_RUN, (struct tt_event){.run = {.device_id = 1,
							     .chip_id = chip,
							     .launch = launch,
							     .name = "ToldDeviceOperation",
							     .whole = 9000,
							     .kernel = 8000,
							     .threads = 3,
							     .busy_min = 2000,
							     .busy_max = 7000,
							     .busy = 15000,
							     .starts = 500,
							     .trace_id = session ? 5 : 0,
							     .session = session}});
	(void)told;
}

/* An operation on all chips; while it is captured it does not run. */
static void tell_operation(struct told *told, bool runs)
{
	struct tt_event_tensor tensor = {.id = 3,
					 .spec = &told->spec,
					 .on_device = true,
					 .owns = true,
					 .buffer_id = 9,
					 .device_id = 1,
					 .spread = TT_SPREAD_LINE};
	struct ttnn_value args[] = {ttnn_v_string("a, b"), ttnn_v_core_set(told->cores),
				    ttnn_v_bool(true)};
	struct ttnn_value facts[TT_FACT_VALUES], bandwidth = ttnn_v_real(330.4336242675781);

	tt_event_facts_values(facts, &(struct tt_event_facts){.hash = 77,
							      .cores = told->cores,
							      .computes = true,
							      .has_fidelity = true,
							      .fidelity = 4,
							      .modelled = true,
							      .compute_ns = 100,
							      .bandwidth_ns = 300,
							      .ideal_ns = 300,
							      .input_bw = &bandwidth,
							      .input_bw_count = 1,
							      .output_bw = &bandwidth,
							      .output_bw_count = 1,
							      .source = "src/ops/told.c"});
	told->launches++;
	tell(TT_EVENT_PLACE, (struct tt_event){.place = {"a.py", "f", 60}});
	tell(TT_EVENT_SCOPE_BEGIN,
	     (struct tt_event){.begin = {.kind = TT_SCOPE_OPERATION, .name = "ttnn::told"}});
	tell(TT_EVENT_SCOPE_BEGIN, (struct tt_event){.begin = {.kind = TT_SCOPE_DEVICE_OP,
							       .name = "ToldDeviceOperation",
							       .schema = &told_schema,
							       .args = args,
							       .arg_count = 3,
							       .inputs = &tensor,
							       .input_count = 1}});
	tell(TT_EVENT_PROGRAM,
	     (struct tt_event){.program = {.device_id = 1,
					   .cache_hit = told->launches > 1,
					   .facts = {facts, TT_FACT_VALUES,
						     tt_block_hash(facts, TT_FACT_VALUES)}}});
	for (uint32_t i = 0; i < told->info.chip_count; i++)
		tell(TT_EVENT_PROGRAM_LAUNCH, (struct tt_event){.launch = {.device_id = 1,
									   .chip_id = i,
									   .launch = told->launches,
									   .cores = told->cores}});
	for (uint32_t i = 0; runs && i < told->info.chip_count; i++)
		tell_run(told, i, told->launches, 0);
	tell(TT_EVENT_SCOPE_END, (struct tt_event){.end = {.outputs = &tensor, .output_count = 1}});
	tell(TT_EVENT_SCOPE_END, (struct tt_event){0});
}

static void tell_step(enum tt_metal_trace_step step, uint32_t session)
{
	tell(TT_EVENT_METAL_TRACE, (struct tt_event){.metal_trace = {.step = step,
								     .device_id = 1,
								     .trace_id = 5,
								     .session = session}});
}

/* Two operations, a mark, one that is captured and runs twice again; on so many chips. */
static void record(const char *path, uint32_t chips)
{
	struct tt_capture_options options = {.path = path};
	struct tt_capture *capture;
	struct told told;

	CHECK_OK(tt_capture_begin(&capture, &options));
	open_mesh(&told, chips);
	tell_operation(&told, true);
	ttnn_mark("middle", "a message");
	tell_operation(&told, true);
	tell_step(TT_METAL_TRACE_BEGIN, 0);
	tell_operation(&told, false);
	tell_step(TT_METAL_TRACE_END, 0);
	ttnn_mark("MLIR_OP_LOCATION", "loc(\"x\", 1)");
	for (uint32_t session = 1; session <= 2; session++) {
		tell_step(TT_METAL_TRACE_REPLAY, session);
		for (uint32_t i = 0; i < chips; i++)
			tell_run(&told, i, told.launches, session);
		tell_step(TT_METAL_TRACE_DONE, session);
	}
	tell_step(TT_METAL_TRACE_RELEASE, 0);
	tell_operation(&told, true);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
}

static void csv_of(struct sheet *out, struct tt_ops_totals *totals, const char *path,
		   enum ttnn_dialect dialect)
{
	struct tt_ops_input input = {path};
	struct tt_ops_options options = {.dialect = dialect};
	struct tt_str text = {0};
	struct tt_ops_output output = {take_text, &text};

	CHECK_OK(tt_ops_csv_to(totals, &input, 1, &options, &output));
	read_sheet(out, tt_str_text(&text), text.length, 4096);
	tt_str_deinit(&text);
}

/* What holds of every row of a report from a card holds of ours. */
static void check_row(const struct sheet *sheet, size_t line, double mhz)
{
	double fw = number(sheet, line, "DEVICE FW DURATION [ns]"),
	       kernel = number(sheet, line, "DEVICE KERNEL DURATION [ns]"),
	       least = number(sheet, line, "DEVICE KERNEL DURATION PER CORE MIN [ns]"),
	       most = number(sheet, line, "DEVICE KERNEL DURATION PER CORE MAX [ns]"),
	       mean = number(sheet, line, "DEVICE KERNEL DURATION PER CORE AVG [ns]");
	double cycles = number(sheet, line, "DEVICE FW END CYCLE") -
			number(sheet, line, "DEVICE FW START CYCLE");

	CHECK_INT((int64_t)number(sheet, line, "HOST END TS"),
		  (int64_t)(number(sheet, line, "HOST START TS") +
			    number(sheet, line, "HOST DURATION [ns]")));
	CHECK_INT((int64_t)number(sheet, line, "GLOBAL CALL COUNT") % 1024,
		  (int64_t)number(sheet, line, "DEVICE ID"));
	if (!*named(sheet, line, "DEVICE FW DURATION [ns]"))
		return;
	CHECK(fabs(fw - cycles * 1000 / mhz) <= 0.5);
	CHECK(kernel <= fw + 1 && least <= mean && mean <= most && most <= kernel);
	CHECK(fabs(number(sheet, line, "PM FPU UTIL (%)") -
		   100 * number(sheet, line, "PM COMPUTE [ns]") / kernel) <= 0.0005);
	CHECK(number(sheet, line, "PM IDEAL [ns]") ==
	      fmax(number(sheet, line, "PM COMPUTE [ns]"),
		   number(sheet, line, "PM BANDWIDTH [ns]")));
}

TEST(a_recording_becomes_rows)
{
	struct tt_ops_totals totals;
	struct sheet sheet = {0};

	record(test_path("told.ttrace"), 1);
	csv_of(&sheet, &totals, test_path("told.ttrace"), TTNN_DIALECT_SEED);
	/* Header; 1, mark, 2, captured 3, its two replays, 4. */
	CHECK_INT(sheet.lines.count, 9);
	CHECK_INT(totals.rows, 7);
	CHECK_INT(totals.operations, 6);
	CHECK_INT(totals.signposts, 1);
	CHECK_INT(totals.replayed, 2);
	CHECK_INT(totals.devices, 1);
	for (size_t line = 1; line < 8; line++)
		if (line != 2)
			check_row(&sheet, line, 1350);
	CHECK_STR(named(&sheet, 1, "OP CODE"), "ToldDeviceOperation");
	CHECK_STR(named(&sheet, 1, "GLOBAL CALL COUNT"), "1024");
	CHECK_STR(named(&sheet, 1, "OP TO OP LATENCY [ns]"), "0");
	CHECK_STR(named(&sheet, 1, "ATTRIBUTES"),
		  "{'fast': 'true'; 'grid': '{[(x=0;y=0) - (x=1;y=2)]}'; 'op': 'a; b'}");
	CHECK_STR(named(&sheet, 1, "MATH FIDELITY"), "HiFi4");
	CHECK_STR(named(&sheet, 1, "CORE COUNT"), "6");
	CHECK_STR(named(&sheet, 1, "INPUT_0_Y"), "32");
	CHECK_STR(named(&sheet, 1, "INPUT_0_MEMORY"), "DEV_1_DRAM_INTERLEAVED");
	CHECK_STR(named(&sheet, 1, "COMPUTE KERNEL SOURCE"), "['src/ops/told.c']");
	CHECK_STR(named(&sheet, 1, "COMPUTE KERNEL HASH"), "['told/77/']");
	CHECK_STR(named(&sheet, 1, "DATA MOVEMENT KERNEL SOURCE"), "[]");
	CHECK_STR(named(&sheet, 1, "PM REQ I BW"), "[330.4336242675781]");
	CHECK_STR(named(&sheet, 1, "LOC"), "loc(fused[\"a.py\":60:0, \"told\"])");
	CHECK_STR(named(&sheet, 1, "PROGRAM_METADATA"), "");
	CHECK_STR(named(&sheet, 1, "DEVICE BRISC KERNEL DURATION [ns]"), "");
	CHECK_STR(named(&sheet, 2, "OP CODE"), "middle");
	CHECK_STR(named(&sheet, 2, "ATTRIBUTES"), "a message");
	CHECK_STR(named(&sheet, 2, "GLOBAL CALL COUNT"), "");
	CHECK_STR(named(&sheet, 4, "DEVICE KERNEL DURATION [ns]"), "");
	CHECK_STR(named(&sheet, 4, "METAL TRACE ID"), "");
	CHECK_STR(named(&sheet, 5, "METAL TRACE ID"), "5");
	CHECK_STR(named(&sheet, 6, "METAL TRACE REPLAY SESSION ID"), "2");
	CHECK_STR(named(&sheet, 6, "GLOBAL CALL COUNT"), named(&sheet, 4, "GLOBAL CALL COUNT"));
	CHECK_STR(named(&sheet, 6, "HOST START TS"), named(&sheet, 4, "HOST START TS"));
	CHECK_STR(named(&sheet, 7, "LOC"), "loc(\"x\", 1)");
	free_sheet(&sheet);
}

TEST(each_chip_of_a_mesh_has_its_row)
{
	struct tt_ops_totals totals;
	struct sheet sheet = {0};

	record(test_path("mesh.ttrace"), 2);
	csv_of(&sheet, &totals, test_path("mesh.ttrace"), TTNN_DIALECT_TT_METAL);
	CHECK_INT(totals.rows, 13);
	CHECK_INT(totals.devices, 2);
	CHECK_STR(named(&sheet, 1, "GLOBAL CALL COUNT"), "1024");
	CHECK_STR(named(&sheet, 2, "GLOBAL CALL COUNT"), "1025");
	CHECK_STR(named(&sheet, 2, "DEVICE ID"), "1");
	CHECK_STR(named(&sheet, 2, "OP TO OP LATENCY [ns]"), "0");
	CHECK_STR(named(&sheet, 2, "DEVICE ARCH"), "wormhole_b0");
	CHECK_STR(named(&sheet, 2, "AVAILABLE WORKER CORE COUNT"), "64");
	CHECK_STR(named(&sheet, 2, "PROGRAM CACHE HIT"), "False");
	CHECK_STR(named(&sheet, 4, "PROGRAM CACHE HIT"), "True");
	CHECK_STR(named(&sheet, 1, "INPUT_0_Y_PAD[LOGICAL]"), "32[30]");
	free_sheet(&sheet);
}

/* A program that takes any shape has one hash, and other cores for each. */
TEST(facts_are_those_of_the_operation_whatever_the_hash)
{
	struct tt_capture_options options = {.path = test_path("shapes.ttrace")};
	struct tt_capture *capture;
	struct tt_ops_totals totals;
	struct sheet sheet = {0};
	struct told told;

	CHECK_OK(tt_capture_begin(&capture, &options));
	open_mesh(&told, 1);
	tell_operation(&told, true);
	CHECK_OK(tt_core_set_grid(&told.cores, 4, 4));
	tell_operation(&told, true);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	csv_of(&sheet, &totals, options.path, TTNN_DIALECT_SEED);
	CHECK_STR(named(&sheet, 1, "CORE COUNT"), "6");
	CHECK_STR(named(&sheet, 2, "CORE COUNT"), "16");
	free_sheet(&sheet);
}

/* The capture of what runs again may not be in the recording. */
TEST(replays_of_what_was_captured_before)
{
	struct tt_capture_options options = {.path = test_path("before.ttrace")};
	struct tt_capture *capture;
	struct tt_ops_totals totals;
	struct sheet sheet = {0};
	struct told told;

	CHECK_OK(tt_capture_begin(&capture, &options));
	open_mesh(&told, 1);
	tell_step(TT_METAL_TRACE_REPLAY, 1);
	tell_run(&told, 0, 7, 1);
	tell_step(TT_METAL_TRACE_DONE, 1);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	csv_of(&sheet, &totals, options.path, TTNN_DIALECT_SEED);
	CHECK_INT(totals.replayed, 1);
	CHECK_STR(named(&sheet, 1, "OP CODE"), "ToldDeviceOperation");
	CHECK_STR(named(&sheet, 1, "GLOBAL CALL COUNT"), "7168");
	free_sheet(&sheet);
}

TEST(processes_are_merged_by_time)
{
	struct tt_ops_input inputs[2];
	struct tt_ops_options options = {.dialect = TTNN_DIALECT_SEED};
	struct tt_str text = {0};
	struct tt_ops_output output = {take_text, &text};
	struct tt_ops_totals totals;
	struct sheet sheet = {0};
	char first[200], second[200];

	snprintf(first, sizeof(first), "%s", test_path("first.ttrace"));
	snprintf(second, sizeof(second), "%s", test_path("second.ttrace"));
	record(first, 1);
	record(second, 1);
	inputs[0].path = second; /* whatever the order they are named in */
	inputs[1].path = first;
	CHECK_OK(tt_ops_csv_to(&totals, inputs, 2, &options, &output));
	CHECK_INT(totals.processes, 2);
	CHECK_INT(totals.rows, 14);
	read_sheet(&sheet, tt_str_text(&text), text.length, 4096);
	for (size_t line = 2; line < 15; line++)
		if (!*named(&sheet, line, "METAL TRACE ID"))
			CHECK(number(&sheet, line, "HOST START TS") >= 0);
	CHECK(number(&sheet, 8, "HOST START TS") > number(&sheet, 7, "HOST START TS"));
	/* Numbers are different in the whole run. */
	CHECK_STR(named(&sheet, 1, "GLOBAL CALL COUNT"), "5120");
	CHECK_STR(named(&sheet, 8, "GLOBAL CALL COUNT"), "1024");
	free_sheet(&sheet);
	tt_str_deinit(&text);
}

TEST(a_cut_recording_is_read_as_far_as_it_goes)
{
	struct tt_ops_totals totals;
	struct sheet sheet = {0};
	char *data;
	size_t size;

	record(test_path("whole.ttrace"), 1);
	CHECK_OK(tt_file_read(&data, &size, test_path("whole.ttrace")));
	CHECK_OK(tt_file_save(test_path("cut.ttrace"), data, size - 30));
	tt_free(data);
	csv_of(&sheet, &totals, test_path("cut.ttrace"), TTNN_DIALECT_SEED);
	CHECK_INT(totals.damaged, 1);
	CHECK_INT(totals.rows, 7);
	free_sheet(&sheet);
}

TEST(a_folder_has_all_that_viewers_take)
{
	static const char *const names[] = {"ops_perf_results.csv", "profile_log_device.csv",
					    "tracy_ops_times.csv", "tracy_ops_data.csv",
					    "cpp_device_perf_report.csv"};
	struct tt_ops_options options = {.dialect = TTNN_DIALECT_TT_METAL};
	struct tt_ops_input input;
	struct tt_ops_totals totals;
	char path[300];

	record(test_path("folder.ttrace"), 1);
	input.path = test_path("folder.ttrace");
	CHECK_OK(tt_ops_folder(&totals, &input, 1, &options, test_path("folder")));
	for (size_t i = 0; i < TT_COUNT(names); i++) {
		char *text;
		size_t size;

		snprintf(path, sizeof(path), "%s/%s", test_path("folder"), names[i]);
		CHECK_OK(tt_file_read(&text, &size, path));
		if (i == 1)
			CHECK(strncmp(text,
				      "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 64\n",
				      63) == 0);
		if (i == 3) {
			CHECK(strstr(text, "\"global_call_count\": 1024"));
			CHECK(strstr(
				text,
				"TT_DNN_DEVICE_OP: \"ToldDeviceOperation\", 77, 0, true, 2048`"));
			CHECK(strstr(text, "`TT_SIGNPOST: middle\na message`;"));
			CHECK(strstr(text, "`TT_METAL_TRACE_REPLAY: 0, 5`;"));
			CHECK(strstr(text,
				     "MLIR_OP_LOCATION;loc(fused[\"a.py\":60:0, \"told\"]);"));
		}
		tt_free(text);
	}
}

/* Names of memories may have several words. */
TEST(memory_in_messages_is_by_name)
{
	struct tt_capture_options capturing = {.path = test_path("small.ttrace")};
	struct tt_ops_options options = {.dialect = TTNN_DIALECT_SEED};
	struct tt_ops_input input = {capturing.path};
	struct tt_capture *capture;
	struct tt_ops_totals totals;
	struct told told;
	char *text, path[300];
	size_t size;

	CHECK_OK(tt_capture_begin(&capture, &capturing));
	open_mesh(&told, 1);
	told.spec.memory.buffer = TTNN_L1_SMALL;
	tell_operation(&told, true);
	CHECK_OK(tt_capture_stop(NULL, capture));
	tt_capture_free(capture);
	CHECK_OK(tt_ops_folder(&totals, &input, 1, &options, test_path("small")));
	snprintf(path, sizeof(path), "%s/tracy_ops_data.csv", test_path("small"));
	CHECK_OK(tt_file_read(&text, &size, path));
	CHECK(strstr(text, "\"buffer_type\": \"L1_SMALL\""));
	CHECK(strstr(text, "\"memory_layout\": \"INTERLEAVED\""));
	tt_free(text);
}

SCENARIO(recordings_when_memory_is_short)
{
	struct tt_ops_options options = {.dialect = TTNN_DIALECT_TT_METAL};
	struct tt_ops_input input = {test_path("short.ttrace")};
	struct tt_ops_totals totals;
	static bool recorded;

	if (!recorded)
		record(input.path, 1);
	recorded = true;
	return tt_ops_folder(&totals, &input, 1, &options, test_path("short"));
}

/* ---- reading reports ------------------------------------------------------------------------------------ */

struct counts {
	uint64_t operations, signposts, products;
	double us;
};

static tt_status count(void *context, const struct tt_perf_op *op)
{
	struct counts *counts = context;

	counts->operations += !op->signpost;
	counts->signposts += op->signpost;
	counts->products += strstr(op->op_code, "Matmul") != NULL;
	counts->us += op->us.value;
	return TTNN_OK;
}

static void check_file(const char *path, uint64_t operations, uint64_t signposts)
{
	struct tt_perf_file file = {.path = path};
	struct tt_perf_sum sum = {0};
	struct counts counts = {0};

	CHECK_OK(tt_perf_file_open(&file));
	CHECK_OK(tt_perf_file_each(&file, count, &counts));
	CHECK_OK(tt_perf_sum_file(&sum, &file));
	CHECK_INT(counts.operations, operations);
	CHECK_INT(counts.signposts, signposts);
	CHECK_INT(file.ragged, 0);
	CHECK(fabs(counts.us - file.device_us) < 1e-6 * fabs(counts.us) + 1e-9);
	tt_perf_sum_deinit(&sum);
}

TEST(reports_from_cards_are_read_to_the_last_line)
{
	check_file("tests/data/perf_csv/oft_v2.csv.gz", 621, 50);
	check_file("tests/data/perf_csv/integral_image_v1.csv.gz", 21, 6);
	check_file("tests/data/perf_csv/main_made.csv.gz", 6, 2);
	check_file("tests/data/perf_csv/seed_made.csv.gz", 6, 0);
}

TEST(figures_are_those_of_tt_perf_report)
{
	/* 256 × 512 by 512 × 1024 in 470 ns on two cores of Wormhole, as tt-perf-report 1.4 has it. */
	struct tt_perf_file file = {0};
	struct tt_perf_sum sum = {0};

	file.path = "tests/data/perf_csv/seed_made.csv.gz";
	CHECK_OK(tt_perf_file_open(&file));
	CHECK_OK(tt_perf_sum_file(&sum, &file));
	CHECK_INT(sum.slow_count, 4);
	CHECK(fabs(sum.slow[0].dram_percent.value - 580.9929078014184) < 1e-6);
	CHECK(fabs(sum.slow[0].flops_percent.value - 13892.576791259344) < 1e-3);
	CHECK_STR(sum.slow[0].bound, "BOTH");
	CHECK_STR(sum.slow[0].size, "256 x 512 x 1024");
	CHECK_INT(sum.slow[0].limit, TT_PERF_DRAM_LIMIT);
	CHECK_INT(tt_perf_sum_find(&sum, "BinaryNgDeviceOperation")->count, 3);
	CHECK(!tt_perf_sum_find(&sum, "none"));
	tt_perf_sum_deinit(&sum);
}

TEST(what_is_no_report_is_refused)
{
	struct tt_perf_file file = {0};

	CHECK_FAILS(tt_perf_bytes_each(&file, "", 0, NULL, NULL), TTNN_FORMAT, "it is empty");
	file = (struct tt_perf_file){0};
	CHECK_FAILS(tt_perf_bytes_each(&file, "a,b\n1,2\n", 8, NULL, NULL), TTNN_FORMAT,
		    "no column OP CODE");
}

SCENARIO(reports_when_memory_is_short)
{
	struct tt_perf_file file = {.path = "tests/data/perf_csv/seed_made.csv.gz"};
	struct tt_perf_sum sum = {0};
	tt_status status = tt_perf_file_open(&file);

	if (status == TTNN_OK)
		status = tt_perf_sum_file(&sum, &file);
	tt_perf_sum_deinit(&sum);
	return status;
}
