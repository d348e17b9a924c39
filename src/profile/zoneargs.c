#include "profile/zoneargs.h"

#include "event/value_text.h"

#define TEXT_MOST 240 /* bytes of an argument: a viewer shows no more */

static const char *text_of(struct tt_zoneargs *args, struct tt_arena *arena,
			   const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	tt_str_clear(&args->text);
	if (tt_value_seen_tensor(&tensor, value))
		tt_value_text_glance(&args->text, &tensor);
	else
		tt_argtext_value(&args->text, value, &args->style);
	tt_value_text_cut(&args->text, 0, TEXT_MOST);
	if (tt_str_status(&args->text) != TTNN_OK)
		return NULL;
	return tt_arena_strndup(arena, tt_str_text(&args->text), args->text.length);
}

static bool make_row(struct tt_zoneargs_row *row, struct tt_zoneargs *args,
		     const struct tt_event_scope_begin *begin)
{
	size_t count = tt_argtext_count(begin);

	tt_arena_reset(&row->arena);
	row->number = row->count = 0;
	if (count > begin->arg_count)
		count = begin->arg_count;
	row->args = tt_arena_calloc(&row->arena, count + 1, sizeof(*row->args));
	for (size_t i = 0; row->args && i < count; i++) {
		struct tt_zone_arg *arg = &row->args[row->count];

		if (!tt_value_given(&begin->args[i]))
			continue;
		arg->name = begin->schema && i < begin->schema->count
				    ? begin->schema->fields[i].name
				    : NULL;
		if (!arg->name)
			arg->name = tt_arena_printf(&row->arena, "argument %zu", i);
		arg->text = text_of(args, &row->arena, &begin->args[i]);
		if (!arg->name || !arg->text)
			return false;
		row->count++;
	}
	return row->args;
}

bool tt_zoneargs_fill(struct tt_zone *zone, struct tt_zoneargs *args,
		      const struct tt_event_scope_begin *begin)
{
	const struct tt_argmemo_texts *texts = tt_argmemo_find(&args->memo, begin, &args->style);
	struct tt_zoneargs_row *row;

	if (!texts)
		return false;
	row = &args->rows[texts->number % TT_ZONEARGS_PLACES];
	if (row->number != texts->number) {
		if (!make_row(row, args, begin))
			return false;
		row->number = texts->number;
	}
	zone->args = row->args;
	zone->arg_count = row->count;
	zone->args_number = row->number;
	return true;
}

void tt_zoneargs_deinit(struct tt_zoneargs *args)
{
	for (size_t i = 0; i < TT_ZONEARGS_PLACES; i++)
		tt_arena_deinit(&args->rows[i].arena);
	tt_argmemo_deinit(&args->memo);
	tt_spectexts_deinit(&args->style.specs);
	tt_str_deinit(&args->text);
}
