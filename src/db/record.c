#include "db/record.h"

#include <math.h>

const unsigned char tt_db_sizes[10] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};

unsigned char *tt_db_put_ints(unsigned char *to, const int64_t *values, int count)
{
	unsigned char *head = to + 1, *at = head + count;

	*to = (unsigned char)(1 + count);
	for (int i = 0; i < count; i++) {
		int type = tt_db_type_of(values[i]);

		*head++ = (unsigned char)type;
		at = tt_db_put_int(at, values[i], type);
	}
	return at;
}

size_t tt_db_record_room(const struct tt_db_value *values, int count)
{
	size_t room = 9 + TT_DB_SLACK;

	for (int i = 0; i < count; i++)
		room += 9 + (values[i].kind == TT_DB_TEXT ? values[i].length : 8);
	return room;
}

/* What is no number is NULL, as with SQLite. */
static uint64_t type_of(const struct tt_db_value *value)
{
	switch (value->kind) {
	case TT_DB_INT:
		return (uint64_t)tt_db_type_of(value->whole);
	case TT_DB_REAL:
		return isnan(value->real) ? 0 : 7;
	case TT_DB_TEXT:
		return 13 + 2 * (uint64_t)value->length;
	default:
		return 0;
	}
}

static unsigned char *put_value(unsigned char *to, const struct tt_db_value *value, uint64_t type)
{
	int64_t bits;

	if (value->kind == TT_DB_TEXT) {
		memcpy(to, value->text, value->length);
		return to + value->length;
	}
	if (type == 7) {
		memcpy(&bits, &value->real, sizeof(bits));
		return tt_db_put_int(to, bits, 7);
	}
	return type ? tt_db_put_int(to, value->whole, (int)type) : to;
}

unsigned char *tt_db_put_record(unsigned char *to, const struct tt_db_value *values, int count)
{
	uint64_t types[TT_DB_PARAMETERS];
	unsigned char heads[9 * TT_DB_PARAMETERS], *end = heads;
	size_t size;

	for (int i = 0; i < count; i++) {
		types[i] = type_of(&values[i]);
		end = tt_db_put_varint(end, types[i]);
	}
	size = (size_t)(end - heads);
	/* The head counts the bytes that say how long it is. */
	to = tt_db_put_varint(to, size + (size < 127 ? 1 : 2));
	memcpy(to, heads, size);
	to += size;
	for (int i = 0; i < count; i++)
		to = put_value(to, &values[i], types[i]);
	return to;
}
