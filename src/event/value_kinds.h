/*
 * value_kinds.h: the kinds of values, one row each. Whoever does something to values of every kind has a
 * function for each word of its column and takes the rows for the rest: content_text() and content_tile()
 * write what "text" and "tile" stand for (encode.c), get_text() and get_tile() read it (trace/decode.c). A
 * word without its function does not compile.
 *
 * To add a kind: a member of enum ttnn_value_kind (ttnn.h) and a row here, at the same place; a word that
 * no row has yet needs its function in each file that takes that column.
 */
#ifndef TT_EVENT_VALUE_KINDS_H
#define TT_EVENT_VALUE_KINDS_H

/*
 * kind; what messages call it; and in words:
 *   content  what there is to compare, hash, copy (value.c), put (encode.c), get (trace/decode.c), pass
 *            over (trace/skim.c) and tell apart (trace/argmemo.c)
 *   alike    how the recorder knows it again (alike.c); never: it is written out each time
 *   text     what upstream's printer makes of it, json: the same in JSON (value_text.c)
 */
/* clang-format off */
#define TT_VALUE_KIND_LIST(ROW)                                                              \
	/*  kind         name                     content      alike    text     json     */ \
	ROW(ABSENT,      "nothing",               empty,       kind,    nullopt, null)       \
	ROW(NONE,        "None",                  empty,       kind,    nullopt, null)       \
	ROW(BOOL,        "a boolean",             boolean,     boolean, boolean, boolean)    \
	ROW(INT,         "an integer",            integer,     integer, integer, integer)    \
	ROW(REAL,        "a number",              real,        real,    real,    real)       \
	ROW(STRING,      "a string",              text,        never,   string,  string)     \
	ROW(ENUM,        "an enumeration member", member,      member,  member,  integer)    \
	ROW(SHAPE,       "a shape",               shape,       shape,   shape,   shape)      \
	ROW(MEMORY,      "a memory config",       memory,      memory,  memory,  memory)     \
	ROW(CORE,        "a core",                core,        core,    core,    core)       \
	ROW(CORE_SET,    "a core range set",      core_set,    core_set, core_set, core_set) \
	ROW(TILE,        "a tile",                tile,        never,   tile,    null)       \
	ROW(SHARD,       "a shard spec",          shard,       never,   shard,   shard)      \
	ROW(ND_SHARD,    "an ND shard spec",      nd_shard,    never,   nd_shard, nd_shard)  \
	ROW(TENSOR,      "a tensor",              tensor,      never,   tensor,  null)       \
	ROW(DEVICE,      "a device",              device,      device,  device,  null)       \
	ROW(LIST,        "a list",                items,       items,   items,   items)      \
	ROW(OBJECT,      "an object",             object,      object,  object,  object)     \
	ROW(OPAQUE,      "an object",             text,        never,   name,    null)       \
	ROW(SEEN_TENSOR, "a tensor",              seen_tensor, never,   tensor,  null)       \
	ROW(SEEN_DEVICE, "a device",              seen_device, never,   device,  null)       \
	ROW(DICT,        "a dictionary",          items,       never,   name,    null)
/* clang-format on */

/* A case of a switch over a kind, from a row. */
#define TT_VALUE_CASE(KIND, call)                                                                  \
	case TTNN_VALUE_##KIND:                                                                    \
		return call;

#endif
