/* Chip profiles, cluster descriptors and the wiring of meshes. */
#include "test.h"

#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "device/profile.h"

#define CLUSTERS "tests/data/clusters/"
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The built-in profiles, and the upstream descriptors of the same machines. */
static const struct {
	const char *profile, *descriptor;
} machines[] = {
	{"n150", "wormhole_N150"},
	{"n300", "wormhole_N300"},
	{"n300_2x2", "2x2_n300_cluster_desc"},
	{"t3k", "t3k_cluster_desc"},
	{"galaxy_wh", "6u_cluster_desc"},
	{"p100", "blackhole_P100"},
	{"p150", "blackhole_P150"},
	{"p150_x2", "blackhole_2xP150"},
	{"p150_x4", "blackhole_4xP150"},
	{"p150_x8", "blackhole_8xP150"},
	{"p300", "blackhole_P300_both_mmio"},
	{"p300_x2", "blackhole_2xP300"},
	{"galaxy_bh", "blackhole_galaxy"},
};

static void descriptor_path(char *out, size_t room, size_t machine)
{
	snprintf(out, room, CLUSTERS "%s.yaml", machines[machine].descriptor);
}

/* ---- YAML ----------------------------------------------------------------------------------- */

/* Writes a tree as JSON, so that a whole tree can be compared at once. */
static void show(struct tt_str *out, const struct tt_yaml *node)
{
	if (node->kind == TT_YAML_NONE)
		tt_str_adds(out, "null");
	else if (node->kind == TT_YAML_TEXT)
		tt_str_addf(out, "%s", node->text);
	else
		tt_str_addc(out, node->kind == TT_YAML_MAP ? '{' : '[');
	for (const struct tt_yaml *item = node->first; item; item = item->next) {
		if (node->kind == TT_YAML_MAP)
			tt_str_addf(out, "%s:", item->key);
		show(out, item);
		if (item->next)
			tt_str_addc(out, ' ');
	}
	if (node->kind == TT_YAML_MAP || node->kind == TT_YAML_LIST)
		tt_str_addc(out, node->kind == TT_YAML_MAP ? '}' : ']');
}

static void check_yaml(const char *text, const char *want)
{
	struct tt_yaml_doc doc;
	struct tt_str got = {0};

	CHECK_OK(tt_yaml_parse(&doc, text, strlen(text), "text"));
	if (doc.root) {
		show(&got, doc.root);
		CHECK_STR(tt_str_text(&got), want);
	}
	tt_str_deinit(&got);
	tt_yaml_deinit(&doc);
}

TEST(yaml_styles)
{
	check_yaml("", "null");
	check_yaml("a: 1\nb: two words # comment\n", "{a:1 b:two words}");
	check_yaml("a:\n  - 1\n  - 2\nb:\n- 3\n", "{a:[1 2] b:[3]}");
	check_yaml("-\n    - chip: 0\n      chan: 6\n    - chip: 3\n      chan: 7\n",
		   "[[{chip:0 chan:6} {chip:3 chan:7}]]");
	check_yaml("- 0: 0\n- 2: 1\n", "[{0:0} {2:1}]");
	check_yaml("a: [\n  0: 0,\n  1: 2,\n]\n", "{a:[{0:0} {1:2}]}");
	check_yaml("a: {\n   0: {x: true, y: 65},\n}\n", "{a:{0:{x:true y:65}}}");
	check_yaml("chips:\n  {}\nlist:\n  []\n", "{chips:{} list:[]}");
	check_yaml("{\"a\":[1,2,{\"b\":null}],\"c\":\"x, y\"}", "{a:[1 2 {b:null}] c:x, y}");
	check_yaml("---\na: ~\nb:\nc: 'it''s'\nd: \"\\u00e9\\n\"\n...\n",
		   "{a:null b:null c:it's d:\xc3\xa9\n}");
	check_yaml("a: 0000:01:00.0\r\nb: -5\r\n", "{a:0000:01:00.0 b:-5}");
}

TEST(yaml_errors)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"a: 1\n\tb: 2\n", "text:2: a tab in the indentation"},
		{"a: [1, 2\n", "text:2: a '[' of line 1 that is not closed"},
		{"a: {x 1}\n", "text:1: expected ':' behind the key \"x 1\""},
		{"[1, 2] 3", "text:1: more text behind the end"},
		{"a: 1\n  b: 2\n", "text:2: the indentation fits nothing above"},
		{"a: 1\na: 2\n", "text:2: the key \"a\" is given twice"},
		{"a: &b 1\n", "text:1: anchors are not supported"},
		{"a: |\n  text\n", "text:1: block scalars are not supported"},
		{"a: \"open\nb: 1", "text:1: a text without its closing quote"},
		{"a: \"\\q\"", "text:1: an unknown escape sequence"},
		{"a: b: c", "text:1: an unexpected ':'"},
		{"a: 1\n---\nb: 2\n", "text:2: more than one document"},
		{"a: - 1\n", "text:1: a list behind a key starts on its own line"},
		{"{\"a\": 1 \"b\": 2}", "text:1: expected ',' or '}'"},
		{"a\nb", "text:2: more text behind the end"},
	};
	char deep[200];
	struct tt_yaml_doc doc;

	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK_FAILS(tt_yaml_parse(&doc, wrong[i].text, strlen(wrong[i].text), "text"),
			    TTNN_FORMAT, wrong[i].message);
	memset(deep, '[', sizeof(deep));
	CHECK_FAILS(tt_yaml_parse(&doc, deep, sizeof(deep), "text"), TTNN_FORMAT,
		    "text:1: more than 64 levels");
	CHECK_FAILS(tt_yaml_parse(&doc, "a: 1\0", 5, "text"), TTNN_FORMAT, "a zero byte");
	CHECK_FAILS(tt_yaml_load(&doc, "tests/data/no-such-file"), TTNN_NOTFOUND, "no-such-file");
}

/* ---- profiles -------------------------------------------------------------------------------- */

/* Base addresses by release: section "memory maps" of docs/formats/profile.md. */
TEST(memory_maps)
{
	static const struct {
		const char *profile, *map;
		uint64_t l1, dram, max_l1;
	} rows[] = {
		{"n150", "release-0.81", 105824, 1048640, 1463968},
		{"p150", "release-0.81", 111744, 1048704, 1531776},
		{"n150", "head-2026-08", 105664, 2968640, 1464128},
		{"p150", "head-2026-08", 111616, 5848704, 1531904},
		{"n150", "capture-2025/26", 103712, 1920032, 1466080},
		{"n150", "classic", 103712, 1920032, 1466080},
		{"n150", "old-viz-sample", 107616, 1920032, 1462176},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tt_profile *profile;
		const struct tt_memory_map *map;

		CHECK_OK(tt_profile_open(&profile, rows[i].profile));
		map = tt_arch_map_find(&profile->arch, rows[i].map);
		CHECK(map);
		CHECK_INT(tt_memory_map_l1_base(map, &profile->arch, 0), rows[i].l1);
		CHECK_INT(tt_memory_map_dram_base(map, &profile->arch), rows[i].dram);
		CHECK_INT(tt_memory_map_max_l1(map, &profile->arch), rows[i].max_l1);
		CHECK_STR(profile->arch.maps[0].name, "release-0.81");
		tt_profile_unref(profile);
	}
}

/* Sizes of section 1.1 that no recording shows. */
TEST(architectures)
{
	static const struct {
		const char *profile, *arch;
		uint32_t nodes[2], full[2], eth, l1, eth_l1, pcie, buffers, burst, clock, idle;
	} rows[] = {
		{"n150",
		 "wormhole_b0",
		 {10, 12},
		 {8, 10},
		 16,
		 1499136,
		 262144,
		 32,
		 32,
		 8192,
		 1000,
		 500},
		{"p150",
		 "blackhole",
		 {17, 12},
		 {14, 10},
		 14,
		 1572864,
		 524288,
		 64,
		 64,
		 16384,
		 1350,
		 800},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tt_profile *p;

		CHECK_OK(tt_profile_open(&p, rows[i].profile));
		CHECK_STR(p->arch.name, rows[i].arch);
		CHECK_INT(p->arch.noc_grid.x, rows[i].nodes[0]);
		CHECK_INT(p->arch.noc_grid.y, rows[i].nodes[1]);
		CHECK_INT(p->arch.full.x, rows[i].full[0]);
		CHECK_INT(p->arch.full.y, rows[i].full[1]);
		CHECK_INT(p->arch.eth_cores, rows[i].eth);
		CHECK_INT(p->arch.l1_bytes, rows[i].l1);
		CHECK_INT(p->arch.eth_l1_bytes, rows[i].eth_l1);
		CHECK_INT(p->arch.pcie_align, rows[i].pcie);
		CHECK_INT(p->arch.circular_buffers, rows[i].buffers);
		CHECK_INT(p->arch.noc_burst, rows[i].burst);
		CHECK_INT(p->arch.clock_mhz, rows[i].clock);
		CHECK_INT(p->arch.idle_clock_mhz, rows[i].idle);
		tt_profile_unref(p);
	}
}

/* The grids of section 1.4, for every number of harvested lines and way of dispatching. */
TEST(grids)
{
	static const struct {
		const char *profile;
		uint32_t harvested, logical[2], tensix_row[2], tensix_column[2], ethernet[2];
	} rows[] = {
		{"n150", 0, {8, 10}, {8, 9}, {7, 10}, {8, 10}},
		{"n150", 1, {8, 9}, {8, 8}, {7, 9}, {8, 8}},
		{"n150", 2, {8, 8}, {8, 7}, {7, 8}, {8, 8}},
		{"p150", 0, {14, 10}, {0, 0}, {13, 10}, {14, 10}},
		{"p150", 1, {13, 10}, {0, 0}, {12, 10}, {13, 10}},
		{"p150", 2, {12, 10}, {0, 0}, {11, 10}, {12, 10}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct tt_arch_product *product;
		struct tt_profile *p;

		CHECK_OK(tt_profile_open(&p, rows[i].profile));
		product = &p->arch.products[rows[i].harvested];
		CHECK_INT(product->compute[TT_DISPATCH_TENSIX_ROW].x, rows[i].tensix_row[0]);
		CHECK_INT(product->compute[TT_DISPATCH_TENSIX_ROW].y, rows[i].tensix_row[1]);
		CHECK_INT(product->compute[TT_DISPATCH_TENSIX_COLUMN].x, rows[i].tensix_column[0]);
		CHECK_INT(product->compute[TT_DISPATCH_TENSIX_COLUMN].y, rows[i].tensix_column[1]);
		CHECK_INT(product->compute[TT_DISPATCH_ETHERNET].x, rows[i].ethernet[0]);
		CHECK_INT(product->compute[TT_DISPATCH_ETHERNET].y, rows[i].ethernet[1]);
		CHECK_INT(product->compute[TT_DISPATCH_SLOW].x, rows[i].logical[0]);
		CHECK_INT(product->compute[TT_DISPATCH_SLOW].y, rows[i].logical[1]);
		tt_profile_unref(p);
	}
}

TEST(names_are_listed_and_open)
{
	size_t count = 0;

	for (; tt_profile_name(count); count++) {
		struct tt_profile *profile;

		CHECK_OK(tt_profile_open(&profile, tt_profile_name(count)));
		CHECK_STR(profile->name, tt_profile_name(count));
		CHECK(*profile->title);
		CHECK(count == 0 || strcmp(tt_profile_name(count - 1), tt_profile_name(count)) < 0);
		tt_profile_unref(profile);
	}
	CHECK_INT(count, COUNT(machines) + 1); /* and n150_slow_dispatch */
}

TEST(environment_chooses)
{
	struct tt_profile *profile;

	unsetenv("TTNN_DEVICE");
	CHECK_OK(tt_profile_open(&profile, NULL));
	CHECK_STR(profile->name, "n150");
	tt_profile_unref(profile);
	setenv("TTNN_DEVICE", "p100", 1);
	CHECK_OK(tt_profile_open(&profile, NULL));
	CHECK_STR(profile->name, "p100");
	tt_profile_unref(profile);
	setenv("TTNN_DEVICE", CLUSTERS "wormhole_N300.yaml", 1);
	CHECK_OK(tt_profile_open(&profile, NULL));
	CHECK_STR(profile->name, "wormhole_N300");
	CHECK_STR(profile->type->name, "N300");
	tt_profile_unref(profile);
	setenv("TTNN_DEVICE", "n160", 1);
	CHECK_FAILS(tt_profile_open(&profile, NULL), TTNN_NOTFOUND,
		    "no device is called \"n160\"; there are galaxy_bh, ");
	unsetenv("TTNN_DEVICE");
	CHECK_FAILS(tt_profile_open(&profile, "no/such.json"), TTNN_NOTFOUND, "no/such.json");
	CHECK_FAILS(tt_profile_open(&profile, "arch/blackhole"), TTNN_NOTFOUND, "arch/blackhole");
}

/* ---- descriptors ------------------------------------------------------------------------------- */

static void check_same_machine(const struct tt_profile *a, const struct tt_profile *b)
{
	CHECK_STR(a->arch.name, b->arch.name);
	CHECK_STR(a->type->name, b->type->name);
	CHECK_INT(a->rows, b->rows);
	CHECK_INT(a->cols, b->cols);
	CHECK_INT(a->dispatch, b->dispatch);
	CHECK_INT(a->harvested, b->harvested);
	CHECK_INT(a->dram_banks, b->dram_banks);
	CHECK_INT(a->cluster.chip_count, b->cluster.chip_count);
	CHECK_INT(a->cluster.link_count, b->cluster.link_count);
	CHECK_INT(a->cluster.board_count, b->cluster.board_count);
	for (uint32_t i = 0; i < a->rows * a->cols && i < b->rows * b->cols; i++)
		CHECK_INT(a->order[i], b->order[i]);
	for (size_t i = 0; i < a->cluster.chip_count; i++) {
		const struct tt_cluster_chip *x = &a->cluster.chips[i], *y = &b->cluster.chips[i];

		CHECK_INT(x->id, y->id);
		CHECK_INT(x->harvest, y->harvest);
		CHECK_INT(x->dram_harvest, y->dram_harvest);
		CHECK_INT(x->eth_harvest, y->eth_harvest);
		CHECK_INT(x->pcie_harvest, y->pcie_harvest);
		CHECK_INT(x->unique_id, y->unique_id);
		CHECK_INT(x->board, y->board);
		CHECK_INT(x->has_pci, y->has_pci);
		CHECK_INT(x->pci, y->pci);
		CHECK_INT(x->has_bus, y->has_bus);
		CHECK_INT(x->bus, y->bus);
		CHECK_INT(x->has_location, y->has_location);
		CHECK_INT(x->location, y->location);
		CHECK_INT(x->has_coord, y->has_coord);
		CHECK(memcmp(x->coord, y->coord, sizeof(x->coord)) == 0);
	}
	for (size_t i = 0; i < a->cluster.link_count && i < b->cluster.link_count; i++)
		CHECK(memcmp(&a->cluster.links[i], &b->cluster.links[i],
			     sizeof(*a->cluster.links)) == 0);
}

/* The profile of a machine and its descriptor say the same; the mesh comes from the links alone. */
TEST(descriptors_are_profiles)
{
	for (size_t i = 0; i < COUNT(machines); i++) {
		struct tt_profile *profile, *descriptor;
		char path[200];

		descriptor_path(path, sizeof(path), i);
		CHECK_OK(tt_profile_open(&profile, machines[i].profile));
		CHECK_OK(tt_profile_open(&descriptor, path));
		check_same_machine(descriptor, profile);
		tt_profile_unref(profile);
		tt_profile_unref(descriptor);
	}
}

/* What is written as a profile file reads back the same. */
TEST(conversion_round_trip)
{
	for (size_t i = 0; i < COUNT(machines); i++) {
		struct tt_profile *descriptor, *again;
		struct tt_json_doc *json;
		struct tt_str text = {0};
		char path[200];

		descriptor_path(path, sizeof(path), i);
		CHECK_OK(tt_profile_open(&descriptor, path));
		tt_profile_write(&text, descriptor);
		CHECK_OK(tt_json_parse(&json, tt_str_text(&text), text.length, "written"));
		tt_json_free(json);
		CHECK_OK(tt_profile_parse(&again, tt_str_text(&text), text.length, "written"));
		check_same_machine(again, descriptor);
		CHECK_STR(again->name, descriptor->name);
		tt_profile_unref(descriptor);
		tt_profile_unref(again);
		tt_str_deinit(&text);
	}
}

/* Upstream's own words for what it read, recorded: maps there are in no order. */
TEST(descriptor_text)
{
	char *want;
	size_t size;

	for (size_t i = 0; i < COUNT(machines); i++) {
		struct tt_profile *profile, *recorded, *written;
		struct tt_str text = {0};
		char path[200];

		snprintf(path, sizeof(path), CLUSTERS "written/%s.yaml", machines[i].descriptor);
		if (access(path, R_OK) != 0)
			continue; /* not recorded: p150_x2, p300_x2 */
		CHECK_OK(tt_profile_open(&profile, machines[i].profile));
		CHECK_OK(tt_profile_open(&recorded, path));
		tt_descriptor_write(&text, &profile->cluster);
		CHECK_OK(tt_profile_parse(&written, tt_str_text(&text), text.length, "written"));
		check_same_machine(written, recorded);
		if (i == 0) {
			CHECK_OK(tt_file_read(&want, &size, path));
			CHECK_STR(tt_str_text(&text), want);
			tt_free(want);
		}
		tt_profile_unref(profile);
		tt_profile_unref(recorded);
		tt_profile_unref(written);
		tt_str_deinit(&text);
	}
}

/* Wirings that no product has: shapes as the released upstream answers. */
TEST(other_wirings)
{
	static const struct {
		const char *boards, *links, *type;
		uint32_t rows, cols, chips;
	} rows[] = {
		{"p150 p150", "", "P150_X2", 1, 1, 2},
		{"p150 p150 p150 p150", "01 12 23", "P150_X4", 4, 1, 4},
		{"p150 p150 p150", "01 12", "CUSTOM", 2, 1, 3},
		{"p150 p150 p150 p150 p150 p150", "01 12 34 45 03 14 25", "CUSTOM", 2, 2, 6},
		{"n150 n150 n150 n150", "01 23 02 13", "N150", 2, 2, 4},
		{"n300 n300 n300 n300 n300 n300 n300 n300", "01 12 23 04 15 26 37", "N300", 6, 1,
		 8},
		{"p100 p100", "", "CUSTOM", 1, 1, 2},
		{"foo", "", "INVALID", 1, 1, 1},
		{"p150 p100", "", "INVALID", 1, 1, 2},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tt_profile *profile;
		struct tt_str text = {0};
		const char *board = rows[i].boards;

		tt_str_adds(&text, "{\"arch\": \"blackhole\", \"chips\": [");
		for (uint32_t c = 0; c < rows[i].chips; c++)
			tt_str_addf(&text, "%s{\"harvest\": 3}", c ? "," : "");
		tt_str_adds(&text, "], \"boards\": [");
		for (uint32_t c = 0; c < rows[i].chips; c++) {
			size_t length = strcspn(board, " ");

			tt_str_addf(&text, "%s{\"type\": %.*s, \"id\": %u, \"chips\": [%u]}",
				    c ? "," : "", (int)length, board, 100 + c, c);
			board += length + (board[length] == ' ');
		}
		tt_str_adds(&text, "], \"links\": [");
		for (const char *l = rows[i].links; *l; l += l[2] ? 3 : 2)
			tt_str_addf(&text, "%s[%c, 1, %c, 2]", l == rows[i].links ? "" : ",", l[0],
				    l[1]);
		tt_str_adds(&text, "]}");
		CHECK_OK(tt_profile_parse(&profile, tt_str_text(&text), text.length, "wiring"));
		CHECK_STR(profile->type->name, rows[i].type);
		CHECK_INT(profile->rows, rows[i].rows);
		CHECK_INT(profile->cols, rows[i].cols);
		tt_profile_unref(profile);
		tt_str_deinit(&text);
	}
}

/* ---- what is refused ------------------------------------------------------------------------- */

TEST(bad_profiles)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"[]", "bad:1: a profile is a map"},
		{"{\"arch\": \"wormhole_b0\"}", "bad:1: \"chips\" is missing"},
		{"{\"chips\": [{}]}", "bad:1: \"arch\" is missing"},
		{"{\"arch\": \"grayskull\",\n\"chips\": [{}]}",
		 "bad:1: the architecture \"grayskull\" is unknown"},
		{"{\"arch\": \"blackhole\",\n\"chips\": []}",
		 "bad:2: \"chips\" are 0; 1 to 1024 are possible"},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{}],\n\"size\": 1}",
		 "bad:3: a profile has no \"size\""},
		{"{\"arch\": \"blackhole\",\n\"chips\": [\n{\"harvested\": 1}]}",
		 "bad:3: a chip has no \"harvested\""},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{\"harvest\": 7}]}",
		 "bad:2: At most two rows or cols can be harvested, but detected 3 along "
		 "harvested axis"},
		{"{\"arch\": \"wormhole_b0\",\n\"chips\": [{\"harvest\": 1024}]}",
		 "bad:2: chip 0: harvest mask 1024 names more than the 10 rows there are"},
		{"{\"arch\": \"wormhole_b0\",\n\"chips\": [{\"harvest\": 1}, {\"harvest\": 3}]}",
		 "bad:2: Number of harvested Tensix mismatch across devices"},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{\"dram_harvest\": 1}, {}]}",
		 "bad:2: Number of harvested Dram mismatch across devices"},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{\"dram_harvest\": 255}]}",
		 "bad:2: all DRAM channels are harvested"},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{\"harvest\": -1}]}",
		 "bad:2: harvest must be a whole number, not \"-1\""},
		{"{\"arch\": \"blackhole\",\n\"chips\": [{\"harvest\": 4294967296}]}",
		 "bad:2: harvest is 4294967296, which is more than 4294967295"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"mesh\": [2, 1], \"order\": [0]}",
		 "bad:2: a mesh of 2 x 1 is not possible with 1 chips"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}, {}],\n\"mesh\": [1, 2],\n\"order\": [0, 0]}",
		 "bad:3: chip 0 is given twice"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}, {}],\n\"mesh\": [1, 2], \"order\": [0]}",
		 "bad:2: \"order\" has 1 chips, not 2"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"mesh\": [1, 1]}",
		 "bad:2: \"mesh\" and \"order\" are given together or not at all"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"cluster\": \"P151\"}",
		 "bad:2: the cluster type \"P151\" is unknown"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"dispatch\": \"tensix_row\"}",
		 "bad:2: blackhole (unharvested) has no grid for tensix_row dispatch"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"dispatch\": \"fast\"}",
		 "bad:2: \"dispatch\" is tensix_row, tensix_column, ethernet or slow, not \"fast\""},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"memory_map\": \"capture-2025/26\"}",
		 "bad:2: blackhole has no memory map \"capture-2025/26\""},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"links\": [[0, 1, 1, 1]]}",
		 "bad:2: there is no chip 1"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}, {}],\n\"links\": [[0, 1, 0, 2]]}",
		 "bad:1: chip 0 is linked to itself"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}, {}],\n\"links\": [[0, 64, 1, 2]]}",
		 "bad:2: channels are 0 to 63"},
		{"{\"arch\": \"blackhole\", \"chips\": [{\"id\": 1}, {\"id\": 1}]}",
		 "bad:1: chip 1 is given twice or after 1"},
		{"{\"arch\": {\"name\": \"x\"},\n\"chips\": [{}]}", "bad:1: \"text\" is missing"},
		{"{\"arch\": [1],\n\"chips\": [{}]}", "bad:1: \"arch\" must be"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"name\": \"\"}",
		 "bad:2: the name of a profile is not empty"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"boards\": [{\"type\": \"p150\", "
		 "\"chips\": [0],\n\"colour\": 1}]}",
		 "bad:3: a board has no \"colour\""},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"boards\": [1]}",
		 "bad:2: a board must be"},
		{"{\"arch\": \"blackhole\", \"chips\": [{}],\n\"boards\": [{\"type\": \"p150\", "
		 "\"chips\": [0]},\n{\"type\": \"p150\", \"chips\": [0]}]}",
		 "bad:3: chip 0 is on two boards"},
	};
	struct tt_profile *profile;

	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK_FAILS(tt_profile_parse(&profile, wrong[i].text, strlen(wrong[i].text), "bad"),
			    TTNN_FORMAT, wrong[i].message);
}

TEST(bad_descriptors)
{
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"harvesting:\n  {}\n", "bad:1: \"arch\" is missing"},
		{"arch:\n  {}\nharvesting:\n  {}\n", "bad:2: \"arch\" names 0 chips"},
		{"arch:\n  0: wormhole_b0\n  1: blackhole\n",
		 "bad:3: chips of two architectures: wormhole_b0 and blackhole"},
		{"arch:\n  0: grayskull\n", "bad:2: the architecture \"grayskull\" is unknown"},
		{"arch:\n  0: quasar\n", "bad:2: the architecture \"quasar\" is unknown"},
		{"arch:\n  0: blackhole\nchips:\n  0:\n    - 1\n",
		 "bad:5: a chip's coordinate must be 4 numbers, not 1"},
		{"arch:\n  0: blackhole\nharvesting:\n  1:\n    harvest_mask: 0\n",
		 "bad:5: chip 1 is not among the chips of \"arch\""},
		{"arch:\n  0: blackhole\nharvesting:\n  0:\n    noc_translation: yes\n",
		 "bad:5: noc_translation must be true or false, not \"yes\""},
		{"arch:\n  0: blackhole\nharvesting:\n  0:\n    harvest_mask: seven\n",
		 "bad:5: harvest_mask must be a whole number, not \"seven\""},
		{"arch:\n  0: blackhole\nharvesting:\n  0:\n    harvest_mask: 7\n",
		 "bad:4: At most two rows or cols can be harvested, but detected 3"},
		{"arch:\n  0: blackhole\nethernet_connections:\n  -\n    - chip: 0\n      chan: 1\n",
		 "bad:5: a link has two ends"},
		{"arch:\n  0: blackhole\nethernet_connections:\n  -\n    - chip: 0\n      chan: 1\n"
		 "    - chip: 2\n      chan: 99\n",
		 "bad:7: chip 2 is not among the chips"},
		{"arch:\n  0: blackhole\nchips_with_mmio:\n  - 0\n",
		 "bad:4: expected \"chip: device\" in \"chips_with_mmio\""},
		{"arch:\n  0: blackhole\nboards:\n  -\n    - board_id: 5\n",
		 "bad:5: a board has \"board_id\", \"board_type\" and \"chips\""},
		{"arch:\n  0: blackhole\nchip_to_bus_id:\n  0: \"0xzz\"\n",
		 "bad:4: a bus id must be a whole number, not \"0xzz\""},
		{"arch: [0]\nharvesting: {}\n", "bad:1: \"arch\" must be a map, not a list"},
	};
	struct tt_profile *profile;

	for (size_t i = 0; i < COUNT(wrong); i++)
		CHECK_FAILS(tt_profile_parse(&profile, wrong[i].text, strlen(wrong[i].text), "bad"),
			    TTNN_FORMAT, wrong[i].message);
}

/* Every file cut at every place, and with every byte changed, is refused or read, never worse. */
TEST(damaged_files)
{
	uint64_t random = 7;
	size_t size, read = 0;
	char *text, *damaged;

	for (size_t i = 0; i < 4; i++) {
		struct tt_profile *profile;
		char path[200];

		descriptor_path(path, sizeof(path), i * 3 % COUNT(machines));
		CHECK_OK(tt_file_read(&text, &size, path));
		damaged = malloc(size);
		for (size_t k = 0; k < 400; k++) {
			size_t length = k % 2 ? size : test_random(&random) % size;

			memcpy(damaged, text, size);
			if (k % 2)
				damaged[test_random(&random) % size] =
					(char)(test_random(&random) % 128);
			if (tt_profile_parse(&profile, damaged, length, "damaged") == TTNN_OK) {
				read++;
				tt_profile_unref(profile);
			} else {
				CHECK(strstr(ttnn_error(), "damaged:") == ttnn_error());
			}
		}
		free(damaged);
		tt_free(text);
	}
	CHECK(read > 0 && read < 1600);
}

SCENARIO(everything_allocates)
{
	struct tt_profile *profile;
	struct tt_str text = {0};
	tt_status status;

	TT_TRY(tt_profile_open(&profile, CLUSTERS "t3k_cluster_desc.yaml"));
	tt_profile_write(&text, profile);
	tt_descriptor_write(&text, &profile->cluster);
	status = tt_str_status(&text);
	tt_str_deinit(&text);
	tt_profile_unref(profile);
	TT_TRY(status);
	TT_TRY(tt_profile_open(&profile, "t3k"));
	tt_profile_unref(profile);
	status = tt_profile_parse(&profile, "{\"arch\": \"blackhole\"}", 21, "bad");
	if (status == TTNN_FORMAT)
		status = tt_profile_open(&profile, "n160");
	return status == TTNN_NOTFOUND ? TTNN_OK : status;
}
