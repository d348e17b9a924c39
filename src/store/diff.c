/* diff.c: configurations that one of two masters has alone. */
#include "store/diff.h"

#include <string.h>

#include "base/digest.h"
#include "base/mem.h"
#include "store/master_parts.h"
#include "store/sorted.h"

enum { IN_FIRST = 1, IN_SECOND = 2 };

struct comparison {
	struct tt_diff *out;
	struct tt_map seen; /* digests of configurations: which has them */
	enum tt_master_layout layout;
	struct tt_convert convert;
	struct tt_json_parser parser;
	struct tt_str text;
};

/* The digest of a configuration: the same in both masters for the same arguments of the same operation. */
static tt_status digest(unsigned char out[TT_DIGEST_MAX], struct comparison *c,
			struct tt_master *master, size_t op, size_t number)
{
	const struct tt_json *args;

	tt_str_clear(&c->text);
	TT_TRY(tt_master_repaired(&args, master, &c->parser, op, number));
	if (c->layout == TT_MASTER_V2) {
		TT_TRY(tt_convert_args(&c->text, &c->convert, args, tt_master_layout(master),
				       TT_MASTER_V2));
		TT_TRY(tt_json_parser_read(&args, &c->parser,
					   &(struct tt_json_part){.name = "arguments",
								  .whole = tt_str_text(&c->text),
								  .length = c->text.length}));
		tt_str_clear(&c->text);
	}
	tt_master_spell(&c->text, tt_master_op_name(master, op), TT_MASTER_V2);
	tt_str_addc(&c->text, ' ');
	if (c->layout == TT_MASTER_V2)
		tt_sorted_dump_lasting(&c->text, args);
	else
		tt_repair_canonical(&c->text, args);
	TT_TRY(tt_str_status(&c->text));
	return tt_digest(out, TT_SHA256, tt_str_text(&c->text), c->text.length);
}

static tt_status note(struct comparison *c, size_t side, size_t op, size_t number)
{
	struct tt_diff_row *row = TT_VEC_PUSH(c->out);

	if (!row)
		return tt_fail_nomem();
	*row = (struct tt_diff_row){side, op, number};
	return TTNN_OK;
}

/* Marks all configurations of a master. */
static tt_status mark(struct comparison *c, struct tt_master *master, uint64_t bit)
{
	unsigned char key[TT_DIGEST_MAX];

	for (size_t op = 0; op < tt_master_op_count(master); op++)
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			struct tt_map_entry *entry;

			TT_TRY(digest(key, c, master, op, i));
			entry = tt_map_add(&c->seen, key, sizeof(key), NULL);
			if (!entry)
				return tt_fail_nomem();
			entry->number |= bit;
		}
	return TTNN_OK;
}

/* Those that only this master has; how many both have, of the first. */
static tt_status gather(struct comparison *c, struct tt_master *master, size_t side)
{
	unsigned char key[TT_DIGEST_MAX];

	for (size_t op = 0; op < tt_master_op_count(master); op++)
		for (size_t i = 0; i < tt_master_config_count(master, op); i++) {
			const struct tt_map_entry *entry;

			TT_TRY(digest(key, c, master, op, i));
			entry = tt_map_find(&c->seen, key, sizeof(key));
			if (entry && entry->number == (IN_FIRST | IN_SECOND))
				c->out->common += side == 0;
			else
				TT_TRY(note(c, side, op, i));
		}
	return TTNN_OK;
}

void tt_diff_deinit(struct tt_diff *diff)
{
	TT_VEC_DEINIT(diff);
}

tt_status tt_diff(struct tt_diff *out, struct tt_master *first, struct tt_master *second)
{
	bool same = tt_master_layout(first) == tt_master_layout(second);
	struct comparison c = {.out = out, .layout = same ? tt_master_layout(first) : TT_MASTER_V2};
	tt_status status;

	*out = (struct tt_diff){0};
	status = mark(&c, first, IN_FIRST);
	if (status == TTNN_OK)
		status = mark(&c, second, IN_SECOND);
	if (status == TTNN_OK)
		status = gather(&c, first, 0);
	if (status == TTNN_OK)
		status = gather(&c, second, 1);
	if (status != TTNN_OK)
		tt_diff_deinit(out);
	tt_map_deinit(&c.seen);
	tt_convert_deinit(&c.convert);
	tt_json_parser_deinit(&c.parser);
	tt_str_deinit(&c.text);
	return status;
}
