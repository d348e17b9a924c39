/*
 * records.h: what Python said of the operations it called (the part python_io of a report). A
 * function takes the next record of its name.
 */
#ifndef TT_REPORT_RECORDS_H
#define TT_REPORT_RECORDS_H

#include "base/map.h"
#include "base/vec.h"
#include "report/report_source.h"

struct tt_report_record {
	struct tt_report_place place;
	uint32_t next;  /* of the same name: number, 0 for none */
	bool has_graph; /* it has a captured graph, which may be empty */
};

struct tt_report_records {
	TT_VEC(struct tt_report_record) all;
	TT_VEC(uint32_t) last; /* per name: number of its last record */
	struct tt_map names; /* -> number of its next record in the low half, index of last above */
	size_t graphs;       /* how many have graphs of their own */
	bool has_traces;     /* one at least has a stack trace */
};

/* Finds the records; nothing when the source has none. */
tt_status tt_report_records_read(struct tt_report_records *records,
				 struct tt_report_source *source);

/* Takes the next record of a name: its number, from 1; 0 when there is none. */
uint32_t tt_report_records_take(struct tt_report_records *records, const char *name, size_t length);

/* Whether a record has a graph of its own, as far as is known without reading it. */
bool tt_report_records_has_graph(const struct tt_report_records *records, uint32_t number);

/* The content of a record. */
tt_status tt_report_records_fetch(const struct tt_json **out,
				  const struct tt_report_records *records,
				  struct tt_report_source *source, struct tt_json_parser *parser,
				  uint32_t number);

void tt_report_records_reset(struct tt_report_records *records);
void tt_report_records_deinit(struct tt_report_records *records);

#endif
