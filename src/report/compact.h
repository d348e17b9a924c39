/*
 * compact.h: the texts of operations in a database, each once.
 *
 * The text of an operation's graph has a thousand times the length of what is new in it: numbers. So it is a
 * template, pieces of text that are stored once, and the list of the numbers between them; a view puts them
 * together (schema.c). Which numbers of a text vary is found out on the way: at first none, and when the same
 * text comes with others, those that differ, in a new template. Numbers that are always equal are one.
 * The arguments of an operation are a list that is stored once, of texts that are.
 *
 * What was met is remembered up to a bound; then it is forgotten, and stored again should it come again.
 */
#ifndef TT_REPORT_COMPACT_H
#define TT_REPORT_COMPACT_H

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "report/schema.h"

/* The newest template of texts that differ in numbers only. */
struct tt_report_template {
	int64_t id;
	size_t first, count; /* in `classes` and `values` */
	uint32_t variables;
	uint32_t versions; /* how many there were before */
	const void *key;   /* of its family, which the map has */
	size_t key_length;
	size_t after; /* the template of the text that came behind it last: a guess */
};

/* All zero but `db` is a valid empty one. */
struct tt_report_compact {
	struct tt_report_db *db;
	struct tt_map families; /* key -> entry of templates */
	TT_VEC(struct tt_report_template) templates;
	size_t before;            /* template of the text before + 1; 0: none */
	TT_VEC(uint32_t) classes; /* variable + 1 of each number; 0: it is always the same */
	TT_VEC(int64_t) values;   /* of the text it was made of */
	size_t remembered;        /* bytes */
	int64_t last_template, last_list, last_text;
	struct tt_map lists, texts; /* of arguments -> their ids */
	struct tt_str numbers, list;
	TT_VEC(int64_t) variables;
	struct tt_map pairs;
};

/* The pieces of a template, while they are written. */
struct tt_report_pieces {
	struct tt_report_compact *compact;
	const struct tt_report_template *template; /* NULL: no number varies */
	int64_t id, piece;
	size_t number; /* those written so far */
	size_t most; /* not 0: nothing is stored; `text` becomes the whole, or what is just longer than this */
	struct tt_str text;
	bool counts;   /* with `most`: there is no text, only its length */
	size_t length; /* that one */
	tt_status status;
};

/* To be called while a text is written: its parts, and the numbers that may vary, in their order. */
void tt_report_pieces_text(struct tt_report_pieces *pieces, const char *text, size_t length);
void tt_report_pieces_number(struct tt_report_pieces *pieces, int64_t number);

/* How long a text may be that does not end a piece: who gathers parts ends pieces where the parts would. */
size_t tt_report_pieces_room(const struct tt_report_pieces *pieces);

/* A text that is to be stored. */
struct tt_report_words {
	const void *
		key; /* texts with equal keys differ in numbers only; NULL: it is stored as it is */
	size_t key_length;
	const int64_t *numbers; /* those that may vary */
	size_t count;
	tt_status (*write)(void *context, struct tt_report_pieces *pieces); /* writes the text */
	void *context;
};

/* Stores a text unless it is there; its template, and its numbers as JSON, which live until the next call. */
tt_status tt_report_compact_text(int64_t *template, const struct tt_str **numbers,
				 struct tt_report_compact *compact,
				 const struct tt_report_words *words);

/* A list of arguments: empty, one after another, and stored unless it is there; 0 is the empty one. */
void tt_report_compact_begin(struct tt_report_compact *compact);
tt_status tt_report_compact_argument(struct tt_report_compact *compact, const char *name,
				     const char *text, size_t length);
tt_status tt_report_compact_arguments(int64_t *id, struct tt_report_compact *compact);

void tt_report_compact_deinit(struct tt_report_compact *compact);

#endif
