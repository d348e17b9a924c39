/*
 * master_db.c: a master as a SQLite file or a database of PostgreSQL, for those that outgrow JSON: what is added is written, not the whole.
 *
 *	metadata(key, value)                    schema_version, layout, total_operations, last_updated, next_id,
 *	                                        final_newline (of the file it came from)
 *	models(name)
 *	operations(id, name)
 *	configurations(id, operation, digest, body)   the JSON of a configuration in the layout; the digest of its key
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "db/db.h"
#include "store/master_parts.h"

#define VERSION 1
/* Who finds the file locked waits so many milliseconds. */
#define PATIENCE 60000

static const char schema[] =
	"create table if not exists metadata (key text primary key, value {any});"
	"create table if not exists models (name text primary key{rowid});"
	"create table if not exists operations (id {id}, name text not null unique);"
	"create table if not exists configurations (id {id}, operation {int} not null,"
	" digest text not null, body text not null);"
	"create index if not exists configurations_of on configurations (operation);";

static const char *const layouts[] = {
	[TT_MASTER_V1] = "v1",
	[TT_MASTER_V2] = "v2",
	[TT_MASTER_SEED] = "seed",
};

bool tt_master_is_store(const char *path)
{
	return tt_ends_with(path, ".sqlite") || tt_db_is_url(path);
}

void tt_master_close_store(struct tt_master *master)
{
	tt_db_stmt_free(master->body);
	master->body = NULL;
	tt_db_discard(master->db);
	master->db = NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static tt_status fail_store(const struct tt_master *master, const char *what)
{
	return tt_fail(TTNN_FORMAT, "%s: %s", master->path, what);
}

static tt_status read_layout(struct tt_master *master, const char *text)
{
	for (size_t i = 0; i < TT_COUNT(layouts); i++)
		if (text && strcmp(layouts[i], text) == 0) {
			master->layout = (enum tt_master_layout)i;
			return TTNN_OK;
		}
	return fail_store(master, "its layout is not known");
}

static tt_status take_metadata(struct tt_master *master, struct tt_db_stmt *stmt)
{
	const char *key = tt_db_text(stmt, 0), *text;

	if (!key)
		return TTNN_OK;
	if (strcmp(key, "schema_version") == 0)
		master->schema_version = tt_db_int(stmt, 1);
	else if (strcmp(key, "layout") == 0)
		return read_layout(master, tt_db_text(stmt, 1));
	else if (strcmp(key, "total_operations") == 0)
		master->total_operations = (uint64_t)tt_db_int(stmt, 1);
	else if (strcmp(key, "final_newline") == 0)
		master->final_newline = tt_db_int(stmt, 1) != 0;
	else if (strcmp(key, "next_id") == 0 && tt_db_int(stmt, 1) > 0)
		master->next_id = (uint64_t)tt_db_int(stmt, 1);
	else if (strcmp(key, "last_updated") == 0 && (text = tt_db_text(stmt, 1)) &&
		 tt_db_length(stmt, 1) < sizeof(master->last_updated))
		snprintf(master->last_updated, sizeof(master->last_updated), "%s", text);
	return TTNN_OK;
}

/* Calls `take` for each row of a question. */
static tt_status each_row(struct tt_master *master, const char *sql,
			  tt_status (*take)(struct tt_master *master, struct tt_db_stmt *stmt))
{
	struct tt_db_stmt *stmt;
	tt_status status;
	bool row = true;

	TT_TRY(tt_db_prepare(&stmt, master->db, sql));
	do {
		status = tt_db_next(&row, stmt);
		if (status == TTNN_OK && row)
			status = take(master, stmt);
	} while (status == TTNN_OK && row);
	tt_db_stmt_free(stmt);
	return status;
}

static tt_status take_model(struct tt_master *master, struct tt_db_stmt *stmt)
{
	const char *name = tt_db_text(stmt, 0);

	if (name && !tt_map_add(&master->models, name, tt_db_length(stmt, 0), NULL))
		return tt_fail_nomem();
	return TTNN_OK;
}

/* Operations are numbered from 1 without gaps: their ids are their places. */
static tt_status take_operation(struct tt_master *master, struct tt_db_stmt *stmt)
{
	const char *name = tt_db_text(stmt, 1);
	size_t op;

	if (!name || tt_db_int(stmt, 0) != (int64_t)master->ops.count + 1)
		return fail_store(master, "its operations are not numbered from 1 on");
	return tt_master_op_of(&op, master, name, tt_db_length(stmt, 1));
}

/* 32 hexadecimal digits. */
static bool read_digest(uint64_t key[2], const char *text)
{
	if (!text || strspn(text, "0123456789abcdef") != 32 || text[32])
		return false;
	for (size_t i = 0; i < 32; i++) {
		unsigned digit = (unsigned)(text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10);

		key[i / 16] = key[i / 16] << 4 | digit;
	}
	return true;
}

static tt_status take_configuration(struct tt_master *master, struct tt_db_stmt *stmt)
{
	int64_t op = tt_db_int(stmt, 1);
	struct tt_master_entry *entry;

	if (op < 1 || op > (int64_t)master->ops.count)
		return fail_store(master, "a configuration is of an operation that there is not");
	entry = tt_master_push(master, (size_t)op - 1);
	if (!entry)
		return tt_fail_nomem();
	entry->row = tt_db_int(stmt, 0);
	entry->has_key = read_digest(entry->key, tt_db_text(stmt, 2));
	return TTNN_OK;
}

/* A database of a server may be without a store: it has none of its tables, or none of its rows. */
static tt_status find_store(struct tt_master *master)
{
	struct tt_db_stmt *stmt;
	tt_status status;
	bool row = false;

	if (!tt_db_is_url(master->path))
		return TTNN_OK;
	TT_TRY(tt_db_prepare(&stmt, master->db,
			     "select 1 from {tables} where name = 'configurations'"));
	status = tt_db_next(&row, stmt);
	tt_db_stmt_free(stmt);
	return status == TTNN_OK && !row
		       ? tt_fail(TTNN_NOTFOUND, "%s: there is no store of configurations in it",
				 master->path)
		       : status;
}

tt_status tt_master_read_store(struct tt_master *master)
{
	/* To write, where that may be: what a writer left in the middle of a transaction is undone then. */
	if (tt_db_is_url(master->path) || access(master->path, W_OK) == 0)
		TT_TRY(tt_db_share(&master->db, master->path, PATIENCE));
	else
		TT_TRY(tt_db_open(&master->db, master->path));
	TT_TRY(find_store(master));
	if (each_row(master, "select key, value from metadata", take_metadata) != TTNN_OK)
		return tt_fail_prefix(TTNN_FORMAT, "no store of configurations");
	if (master->schema_version != VERSION)
		return tt_fail(TTNN_UNSUPPORTED,
			       "%s: its schema_version is %lld; this program knows %d",
			       master->path, (long long)master->schema_version, VERSION);
	TT_TRY(each_row(master, "select name from models order by rowid", take_model));
	TT_TRY(each_row(master, "select id, name from operations order by id", take_operation));
	TT_TRY(each_row(master, "select id, operation, digest from configurations order by id",
			take_configuration));
	return tt_db_prepare(&master->body, master->db,
			     "select body from configurations where id = ?");
}

tt_status tt_master_row(const struct tt_json **out, struct tt_master *master,
			struct tt_json_parser *parser, const struct tt_master_entry *entry)
{
	tt_status status;
	bool row;

	tt_db_bind_int(master->body, 0, entry->row);
	TT_TRY(tt_db_next(&row, master->body));
	if (!row || !tt_db_text(master->body, 0))
		return fail_store(master, "a configuration is gone");
	status = tt_json_parser_read(
		out, parser,
		&(struct tt_json_part){.name = master->path,
				       .whole = tt_db_text(master->body, 0),
				       .length = tt_db_length(master->body, 0)});
	tt_db_reset(master->body);
	return status;
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct writer {
	struct tt_master *master;
	struct tt_db *db;
	struct tt_db_stmt *operation, *insert, *update, *model, *metadata;
	enum tt_master_layout layout;
	bool whole;   /* everything, not only what changed */
	int64_t *ids; /* of the operations: two may have one name in another layout */
	struct tt_str body;
};

static tt_status put_pair(struct writer *w, const char *key, const char *text)
{
	tt_db_bind_text(w->metadata, 0, key, strlen(key));
	tt_db_bind_text(w->metadata, 1, text, strlen(text));
	return tt_db_run(w->metadata);
}

static tt_status put_number(struct writer *w, const char *key, uint64_t number)
{
	tt_db_bind_text(w->metadata, 0, key, strlen(key));
	tt_db_bind_int(w->metadata, 1, (int64_t)number);
	return tt_db_run(w->metadata);
}

static tt_status put_metadata(struct writer *w)
{
	struct tt_master *master = w->master;
	char stamp[32];

	tt_master_stamp(stamp, master);
	TT_TRY(put_number(w, "schema_version", VERSION));
	TT_TRY(put_pair(w, "layout", layouts[w->layout]));
	TT_TRY(put_number(w, "total_operations", master->total_operations));
	TT_TRY(put_number(w, "next_id", master->next_id));
	TT_TRY(put_number(w, "final_newline", master->final_newline));
	TT_TRY(put_pair(w, "last_updated", stamp));
	for (size_t i = 0; i < master->models.count; i++) {
		tt_db_bind_text(w->model, 0, master->models.entries[i].key,
				master->models.entries[i].length);
		TT_TRY(tt_db_run(w->model));
	}
	return TTNN_OK;
}

static tt_status put_operation(struct writer *w, struct tt_map *names, size_t op)
{
	struct tt_master *master = w->master;
	struct tt_map_entry *entry;
	bool added;

	tt_str_clear(&master->name);
	if (w->layout == master->layout)
		tt_str_adds(&master->name, master->ops.data[op].name);
	else
		tt_master_spell(&master->name, master->ops.data[op].name, w->layout);
	TT_TRY(tt_str_status(&master->name));
	entry = tt_map_add(names, tt_str_text(&master->name), master->name.length, &added);
	if (!entry)
		return tt_fail_nomem();
	if (added)
		entry->number = names->count;
	w->ids[op] = (int64_t)entry->number;
	if (!added)
		return TTNN_OK;
	tt_db_bind_int(w->operation, 0, w->ids[op]);
	tt_db_bind_text(w->operation, 1, tt_str_text(&master->name), master->name.length);
	return tt_db_run(w->operation);
}

static tt_status put_operations(struct writer *w)
{
	struct tt_master *master = w->master;
	tt_status status = TTNN_OK;
	struct tt_map names = {0};

	w->ids = tt_calloc(master->ops.count + 1, sizeof(*w->ids));
	if (!w->ids)
		return tt_fail_nomem();
	for (size_t i = 0; i < master->ops.count && status == TTNN_OK; i++)
		status = put_operation(w, &names, i);
	tt_map_deinit(&names);
	return status;
}

static tt_status make_body(struct writer *w, size_t op, size_t number)
{
	struct tt_jsonw json;

	tt_str_clear(&w->body);
	tt_jsonw_init_str(&json, &w->body, (struct tt_jsonw_style){0});
	TT_TRY(tt_master_write_config(&json, w->master, op, number, w->layout));
	TT_TRY(tt_jsonw_finish(&json));
	return tt_str_status(&w->body);
}

static tt_status put_entry(struct writer *w, size_t op, size_t number)
{
	struct tt_master_entry *entry = &w->master->ops.data[op].entries.data[number];
	bool there = entry->row && !w->whole;
	char digest[40] = "";

	if (there && !entry->changed)
		return TTNN_OK;
	TT_TRY(make_body(w, op, number));
	if (there) {
		tt_db_bind_text(w->update, 0, tt_str_text(&w->body), w->body.length);
		tt_db_bind_int(w->update, 1, entry->row);
		return tt_db_run(w->update);
	}
	/* A key is one of a layout: in another it is computed when it is wanted. */
	if (entry->has_key && w->layout == w->master->layout)
		snprintf(digest, sizeof(digest), "%016llx%016llx",
			 (unsigned long long)entry->key[0], (unsigned long long)entry->key[1]);
	tt_db_bind_int(w->insert, 0, w->ids[op]);
	tt_db_bind_text(w->insert, 1, digest, strlen(digest));
	tt_db_bind_text(w->insert, 2, tt_str_text(&w->body), w->body.length);
	return tt_db_run(w->insert);
}

static tt_status prepare(struct writer *w)
{
	TT_TRY(tt_db_prepare(
		&w->operation, w->db,
		"insert into operations (id, name) values (?, ?) on conflict do nothing"));
	TT_TRY(tt_db_prepare(
		&w->insert, w->db,
		"insert into configurations (operation, digest, body) values (?, ?, ?)"));
	TT_TRY(tt_db_prepare(&w->update, w->db, "update configurations set body = ? where id = ?"));
	TT_TRY(tt_db_prepare(&w->model, w->db,
			     "insert into models (name) values (?) on conflict do nothing"));
	return tt_db_prepare(&w->metadata, w->db,
			     "insert into metadata (key, value) values (?, ?) on conflict (key) do "
			     "update set value = excluded.value");
}

static void free_statements(struct writer *w)
{
	tt_db_stmt_free(w->operation);
	tt_db_stmt_free(w->insert);
	tt_db_stmt_free(w->update);
	tt_db_stmt_free(w->model);
	tt_db_stmt_free(w->metadata);
	tt_str_deinit(&w->body);
	tt_free(w->ids);
}

static tt_status write_all(struct writer *w)
{
	struct tt_master *master = w->master;

	TT_TRY(prepare(w));
	TT_TRY(put_operations(w));
	for (size_t op = 0; op < master->ops.count; op++)
		for (size_t i = 0; i < master->ops.data[op].entries.count; i++)
			TT_TRY(put_entry(w, op, i));
	return put_metadata(w);
}

/* All of it, in a file that takes the place of another when it is complete. */
static tt_status write_new(struct writer *w, const char *path)
{
	char *name = NULL;
	int fd = tt_fd_temp(&name, path), code = errno;
	tt_status status;

	if (fd < 0)
		return tt_fail(TTNN_IO, "%s: cannot write: %s", path, strerror(code));
	close(fd);
	status = tt_db_create(&w->db, name, 4096);
	if (status == TTNN_OK)
		status = tt_db_exec(w->db, schema);
	if (status == TTNN_OK)
		status = write_all(w);
	if (status != TTNN_OK)
		tt_db_give_up(w->db);
	free_statements(w);
	if (status == TTNN_OK)
		status = tt_db_close(w->db);
	else
		tt_db_discard(w->db);
	if (status == TTNN_OK && rename(name, path) != 0)
		status = tt_fail(TTNN_IO, "%s: cannot write: %s", path, strerror(errno));
	if (status != TTNN_OK)
		unlink(name);
	tt_free(name);
	return status;
}

/* All of it, in a database of a server: its store is another afterwards, for all at once. */
static tt_status write_anew(struct writer *w, const char *url)
{
	tt_status status;

	TT_TRY(tt_db_share(&w->db, url, PATIENCE));
	status = tt_db_begin(w->db);
	if (status == TTNN_OK)
		status = tt_db_exec(w->db, "{one_at_a_time}");
	if (status == TTNN_OK)
		status = tt_db_exec(w->db, schema);
	if (status == TTNN_OK)
		status = tt_db_exec(w->db, "delete from configurations; delete from operations; "
					   "delete from models; delete from metadata;");
	if (status == TTNN_OK)
		status = write_all(w);
	if (status == TTNN_OK)
		status = tt_db_commit(w->db);
	if (status != TTNN_OK)
		tt_db_rollback(w->db);
	free_statements(w);
	tt_db_discard(w->db);
	return status;
}

/* What is new or changed, in the store that the master came from. */
static tt_status write_changes(struct writer *w, const char *path)
{
	tt_status status;

	TT_TRY(tt_db_share(&w->db, path, PATIENCE));
	status = tt_db_begin(w->db);
	if (status == TTNN_OK)
		status = tt_db_exec(w->db, "{one_at_a_time}");
	if (status == TTNN_OK)
		status = write_all(w);
	if (status == TTNN_OK)
		status = tt_db_commit(w->db);
	if (status != TTNN_OK)
		tt_db_rollback(w->db);
	free_statements(w);
	tt_db_discard(w->db);
	return status;
}

static bool is_same_file(const char *a, const char *b)
{
	char left[4096], right[4096];

	if (tt_db_is_url(a) || tt_db_is_url(b))
		return strcmp(a, b) == 0;
	return realpath(a, left) && realpath(b, right) && strcmp(left, right) == 0;
}

/* Its rows again, with those that were added. */
static tt_status reopen(struct tt_master *master)
{
	for (size_t i = 0; i < master->ops.count; i++)
		master->ops.data[i].entries.count = 0;
	return each_row(master, "select id, operation, digest from configurations order by id",
			take_configuration);
}

tt_status tt_master_save_store(struct tt_master *master, const char *path,
			       enum tt_master_layout layout)
{
	bool own = master->db && layout == master->layout && is_same_file(path, master->path);
	struct writer w = {.master = master, .layout = layout, .whole = !own};
	uint64_t next_id = master->next_id;
	struct tt_fd_guard guard;
	tt_status status;

	if (layout == master->layout) {
		TT_TRY(tt_master_index(master));
		next_id = master->next_id;
	} else {
		master->next_id = 1; /* they are numbered anew */
	}
	tt_fd_guard(&guard);
	status = own                  ? write_changes(&w, path)
		 : tt_db_is_url(path) ? write_anew(&w, path)
				      : write_new(&w, path);
	tt_fd_unguard(&guard);
	master->next_id = next_id;
	if (status == TTNN_OK && own)
		status = reopen(master);
	return status;
}
