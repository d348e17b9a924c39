/*
 * master.c: any text as a master file. One that is accepted is asked for everything, written in all layouts, and what is
 * written is read again: in its own layout as the same text.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "scratch.h"
#include "store/describe.h"
#include "store/master.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good)
{
	if (!good)
		abort();
}

/* Whether all arguments can be read. */
static bool ask(struct tt_master *master)
{
	struct tt_json_parser parser = {0};
	bool good = true;

	for (size_t op = 0; op < tt_master_op_count(master); op++) {
		const struct tt_describe forms[] = {{0}, {.classic = true, .debug = true}};
		struct tt_str text = {0};
		size_t found[4];

		check(tt_describe_find(found, 4, master, tt_master_op_name(master, op)) <= 4);
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			struct tt_master_config config;
			const struct tt_json *args;

			tt_master_config(&config, master, op, i);
			good &= tt_master_repaired(&args, master, &parser, op, i) == TTNN_OK;
		}
		for (int i = 0; i < 2; i++)
			check(tt_describe_operation(&text, master, op, &forms[i]) != TTNN_INTERNAL);
		tt_str_deinit(&text);
	}
	tt_json_parser_deinit(&parser);
	return good;
}

/* Written and read again it is the same, also to the byte. */
static void go_round(struct tt_master *master)
{
	enum tt_master_layout layout = tt_master_layout(master);
	char *once = NULL, *twice = NULL;
	size_t size, again_size;
	struct tt_master *again;

	/* A member that is only passed on may be no JSON: that shows when it is. */
	if (tt_master_save(master, scratch(1), layout) != TTNN_OK)
		return;
	check(tt_file_read(&once, &size, scratch(1)) == TTNN_OK);
	check(tt_master_open(&again, scratch(1)) == TTNN_OK);
	check(tt_master_save(again, scratch(1), tt_master_layout(again)) == TTNN_OK);
	check(tt_file_read(&twice, &again_size, scratch(1)) == TTNN_OK);
	check(size == again_size && memcmp(once, twice, size) == 0);
	tt_master_free(again);
	tt_free(once);
	tt_free(twice);
}

static void change(struct tt_master *master)
{
	struct tt_master *other;
	size_t added;

	for (int layout = TT_MASTER_V1; layout <= TT_MASTER_SEED; layout++) {
		check(tt_master_new(&other, (enum tt_master_layout)layout) == TTNN_OK);
		if (tt_master_merge(&added, other, master) == TTNN_OK) {
			size_t first = added;

			check(tt_master_merge(&added, other, master) == TTNN_OK);
			check(added == 0 || first == 0);
			go_round(other);
		}
		tt_master_free(other);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tt_master *master;

	if (size > 1 << 16 || tt_file_save(scratch(0), data, size) != TTNN_OK ||
	    tt_master_open(&master, scratch(0)) != TTNN_OK)
		return 0;
	if (ask(master)) {
		go_round(master);
		change(master);
	}
	tt_master_free(master);
	return 0;
}
