/*
 * libpq.h: the functions of PostgreSQL's client library that pg.c calls. The library is loaded when the first database is
 * opened, so that neither building nor running needs it otherwise; so its header is not needed either: what is declared
 * here is fixed by the library's soname, libpq.so.5.
 */
#ifndef TT_DB_LIBPQ_H
#define TT_DB_LIBPQ_H

#include "base/status.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef void tt_pq_notice(void *context, const char *text);

/* Values of its enumerations. */
enum { TT_PQ_CONNECTION_OK = 0 };
enum {
	TT_PQ_COMMAND_OK = 1,
	TT_PQ_TUPLES_OK = 2,
	TT_PQ_COPY_IN = 4,
	TT_PQ_PIPELINE_SYNC = 10,
	TT_PQ_PIPELINE_ABORTED = 11,
};
#define TT_PQ_SQLSTATE 'C'

/* One row for each function: result, name, parameters. */
#define TT_LIBPQ_LIST(X)                                                                           \
	X(PGconn *, PQconnectdbParams, (const char *const *, const char *const *, int))            \
	X(void, PQfinish, (PGconn *))                                                              \
	X(int, PQstatus, (const PGconn *))                                                         \
	X(int, PQsocket, (const PGconn *))                                                         \
	X(int, PQconnectionNeedsPassword, (const PGconn *))                                        \
	X(char *, PQerrorMessage, (const PGconn *))                                                \
	X(tt_pq_notice *, PQsetNoticeProcessor, (PGconn *, tt_pq_notice *, void *))                \
	X(int, PQsendQuery, (PGconn *, const char *))                                              \
	X(int, PQsendQueryParams,                                                                  \
	  (PGconn *, const char *, int, const unsigned *, const char *const *, const int *,        \
	   const int *, int))                                                                      \
	X(int, PQsendPrepare, (PGconn *, const char *, const char *, int, const unsigned *))       \
	X(int, PQsendQueryPrepared,                                                                \
	  (PGconn *, const char *, int, const char *const *, const int *, const int *, int))       \
	X(int, PQconsumeInput, (PGconn *))                                                         \
	X(int, PQisBusy, (PGconn *))                                                               \
	X(PGresult *, PQgetResult, (PGconn *))                                                     \
	X(void, PQclear, (PGresult *))                                                             \
	X(int, PQresultStatus, (const PGresult *))                                                 \
	X(char *, PQresultErrorMessage, (const PGresult *))                                        \
	X(char *, PQresultErrorField, (const PGresult *, int))                                     \
	X(int, PQntuples, (const PGresult *))                                                      \
	X(char *, PQgetvalue, (const PGresult *, int, int))                                        \
	X(int, PQgetlength, (const PGresult *, int, int))                                          \
	X(int, PQgetisnull, (const PGresult *, int, int))                                          \
	X(int, PQputCopyData, (PGconn *, const char *, int))                                       \
	X(int, PQputCopyEnd, (PGconn *, const char *))                                             \
	X(int, PQenterPipelineMode, (PGconn *))                                                    \
	X(int, PQexitPipelineMode, (PGconn *))                                                     \
	X(int, PQpipelineSync, (PGconn *))

struct tt_libpq {
#define TT_LIBPQ_MEMBER(type, name, parameters) type(*name) parameters;
	TT_LIBPQ_LIST(TT_LIBPQ_MEMBER)
#undef TT_LIBPQ_MEMBER
};

/*
 * The library; TTNN_UNSUPPORTED, with a message that says what to install, when there is none. TTNN_LIBPQ in the
 * environment names another file of it. Any thread.
 */
tt_status tt_libpq_get(const struct tt_libpq **out);

#endif
