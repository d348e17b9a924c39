/* identity.c: calls of today against recorded ones. */
#include "sweep/identity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsondump.h"
#include "base/jsonw.h"
#include "store/element.h"
#include "trace/source.h"

tt_status tt_identity_begin(struct tt_identity *identity)
{
	return tt_capture_begin(&identity->capture,
				&(struct tt_capture_options){.this_thread = true});
}

void tt_identity_drop(struct tt_identity *identity)
{
	tt_capture_free(identity->capture);
	identity->capture = NULL;
}

/* ---- texts ---------------------------------------------------------------------------------------------- */

/* The first difference, innermost. */
struct difference {
	char where[120];                /* ".tensor_spec.dtype" */
	const struct tt_json *was, *is; /* NULL: nothing there */
};

static bool same_json(struct difference *out, const struct tt_json *was, const struct tt_json *is);

static bool differ(struct difference *out, const struct tt_json *was, const struct tt_json *is)
{
	out->was = was;
	out->is = is;
	return false;
}

/* Puts the name of a member before the place of a difference in it. */
static bool within(struct difference *out, const char *key)
{
	char inner[sizeof(out->where)];

	memcpy(inner, out->where, sizeof(inner));
	snprintf(out->where, sizeof(out->where), ".%.40s%.75s", key, inner);
	return false;
}

/* The same members with the same values, in any order. */
static bool same_object(struct difference *out, const struct tt_json *was, const struct tt_json *is)
{
	struct tt_json_iter it = tt_json_iter(was), more = tt_json_iter(is);

	while (tt_json_next(&it))
		if (!same_json(out, it.value, tt_json_get(is, it.key)))
			return within(out, it.key);
	while (tt_json_next(&more))
		if (!tt_json_get(was, more.key)) {
			differ(out, NULL, more.value);
			return within(out, more.key);
		}
	return true;
}

static bool same_list(struct difference *out, const struct tt_json *was, const struct tt_json *is)
{
	struct tt_json_iter a = tt_json_iter(was), b = tt_json_iter(is);

	if (tt_json_count(was) != tt_json_count(is))
		return differ(out, was, is);
	while (tt_json_next(&a) && tt_json_next(&b))
		if (!same_json(out, a.value, b.value))
			return false;
	return true;
}

static bool same_json(struct difference *out, const struct tt_json *was, const struct tt_json *is)
{
	const char *a = tt_json_string(was, NULL), *b = tt_json_string(is, NULL);
	enum tt_json_kind kind = tt_json_kind(was);
	bool truth_a, truth_b, same;
	double x, y;

	if (kind == TT_JSON_OBJECT && tt_json_kind(is) == kind)
		return same_object(out, was, is);
	if (kind == TT_JSON_ARRAY && tt_json_kind(is) == kind)
		return same_list(out, was, is);
	if (a && b)
		same = strcmp(a, b) == 0;
	else if (tt_json_bool(&truth_a, was) && tt_json_bool(&truth_b, is))
		same = truth_a == truth_b;
	else if (tt_json_real(&x, was) && tt_json_real(&y, is))
		same = x == y;
	else
		same = kind == TT_JSON_NULL && tt_json_kind(is) == kind;
	return same || differ(out, was, is);
}

/* ---- one argument --------------------------------------------------------------------------------------- */

struct comparison {
	struct tt_identity_found *out;
	const struct tt_event_scope_begin *scope;
	const struct tt_overloads *overloads;
	struct tt_arena arena;
	const char *op;
};

/* What the trace has of an argument, or NULL. */
static const struct ttnn_value *traced_value(const struct comparison *c, const char *name)
{
	const struct tt_event_scope_begin *scope = c->scope;

	for (size_t i = 0; i < scope->arg_count && i < scope->schema->count; i++)
		if (strcmp(scope->schema->fields[i].name, name) == 0)
			return &scope->args[i];
	return NULL;
}

static bool close_to(double a, double b)
{
	/* Recordings have six digits. */
	return a == b || fabs(a - b) <= 1e-5 * fmax(fabs(a), fabs(b));
}

static bool same_meaning(const struct ttnn_value *was, const struct ttnn_value *is);

static bool same_items(const struct ttnn_value *was, const struct ttnn_value *is)
{
	bool same = was->count == is->count;

	for (uint32_t i = 0; same && i < was->count; i++)
		same = same_meaning(&was->items[i], &is->items[i]);
	return same;
}

static bool same_extents(const struct ttnn_value *list, const struct ttnn_shape *shape)
{
	bool same = list->count == shape->rank;
	double x;

	for (uint32_t i = 0; same && i < list->count; i++)
		same = tt_value_number(&x, &list->items[i]) && x == shape->dim[i];
	return same;
}

/* Types that a trace tells of are its own: they are the same by their names. */
static bool same_member(const struct ttnn_value *was, const struct ttnn_value *is)
{
	const char *a = tt_enum_name(was->enumeration, was->integer),
		   *b = tt_enum_name(is->enumeration, is->integer);

	return strcmp(was->enumeration->name, is->enumeration->name) == 0 && a && b &&
	       strcmp(a, b) == 0;
}

static bool same_fields(const struct ttnn_value *was, const struct ttnn_value *is)
{
	bool same = strcmp(was->schema->name, is->schema->name) == 0;

	for (uint32_t i = 0; same && i < was->count; i++) {
		uint32_t other = 0;

		while (other < is->count &&
		       strcmp(was->schema->fields[i].name, is->schema->fields[other].name) != 0)
			other++;
		same = other < is->count && same_meaning(&was->items[i], &is->items[other]);
	}
	return same;
}

/* Whether two values mean the same: numbers of any kind, lists and shapes of them, objects field by field. */
static bool same_meaning(const struct ttnn_value *was, const struct ttnn_value *is)
{
	double x, y;

	/* No digit of an integer was lost. */
	if (was->kind == TTNN_VALUE_INT && is->kind == TTNN_VALUE_INT)
		return was->integer == is->integer;
	if (!tt_value_given(was) || !tt_value_given(is))
		return tt_value_given(was) == tt_value_given(is);
	if (was->kind == TTNN_VALUE_ENUM && is->kind == TTNN_VALUE_ENUM)
		return same_member(was, is);
	if (was->kind != TTNN_VALUE_ENUM && is->kind != TTNN_VALUE_ENUM &&
	    tt_value_number(&x, was) && tt_value_number(&y, is))
		return close_to(x, y);
	if (was->kind == TTNN_VALUE_LIST && is->kind == TTNN_VALUE_SHAPE)
		return same_extents(was, is->shape);
	if (was->kind == TTNN_VALUE_SHAPE && is->kind == TTNN_VALUE_LIST)
		return same_extents(is, was->shape);
	if (was->kind == TTNN_VALUE_LIST && is->kind == TTNN_VALUE_LIST)
		return same_items(was, is);
	if (was->kind == TTNN_VALUE_OBJECT && is->kind == TTNN_VALUE_OBJECT)
		return same_fields(was, is);
	return tt_value_equal(was, is);
}

/* A tensor as its specification says. Shards are printed in several ways. */
static bool same_tensor(const struct tt_json *was, const struct ttnn_value *is)
{
	struct ttnn_tensor_spec spec;
	struct tt_event_tensor tensor;
	bool on_host;

	return tt_value_seen_tensor(&tensor, is) &&
	       tt_traced_spec(&spec, &on_host, was) == TTNN_OK && on_host == !tensor.on_device &&
	       ttnn_tensor_spec_equal(&spec, tensor.spec);
}

static bool same_tensors(const struct tt_json *was, const struct ttnn_value *is)
{
	struct tt_json_iter it = tt_json_iter(was);
	bool same = is->kind == TTNN_VALUE_LIST && is->count == tt_json_count(was);

	for (uint32_t i = 0; same && i < is->count && tt_json_next(&it); i++)
		same = same_tensor(it.value, &is->items[i]);
	return same;
}

static bool means(struct comparison *c, const char *name, const struct tt_json *was,
		  const struct ttnn_value *is)
{
	const char *text = tt_json_string(was, NULL);
	struct ttnn_value value = {0};

	if (text)
		return tt_traced_text(&value, &c->arena, c->overloads, name, text) &&
		       same_meaning(&value, is);
	if (tt_json_kind(was) == TT_JSON_ARRAY)
		return same_tensors(was, is);
	if (is->kind == TTNN_VALUE_SEEN_DEVICE)
		return tt_json_get(was, "MeshDevice") != NULL;
	if (tt_json_get(was, "Tensor"))
		return same_tensor(tt_json_get(was, "Tensor"), is);
	return tt_traced_object(&value, &c->arena, was) == TTNN_OK && same_meaning(&value, is);
}

static void tell(struct comparison *c, const char *name, const struct difference *difference)
{
	struct tt_str was = {0}, is = {0};

	if (difference->was)
		tt_json_dump(&was, difference->was);
	if (difference->is)
		tt_json_dump(&is, difference->is);
	snprintf(c->out->why, sizeof(c->out->why),
		 "not the recorded call: %s%s was %.60s and is %.60s", name, difference->where,
		 difference->was ? tt_str_text(&was) : "not there",
		 difference->is ? tt_str_text(&is) : "not there");
	c->out->same = false;
	tt_str_deinit(&was);
	tt_str_deinit(&is);
}

static tt_status compare(struct comparison *c, const char *name, const struct tt_json *was)
{
	const struct ttnn_value *is = traced_value(c, name);
	struct difference difference = {0};
	struct tt_json_doc *doc = NULL;
	struct tt_str text = {0};
	struct tt_jsonw w;
	tt_status status;

	if (!is && tt_json_string(was, NULL) && strcmp(tt_json_string(was, NULL), "nullopt") == 0) {
		c->out->meant++;
		return TTNN_OK;
	}
	if (!is) {
		snprintf(c->out->why, sizeof(c->out->why),
			 "not the recorded call: it has no argument %s", name);
		c->out->same = false;
		return TTNN_OK;
	}
	tt_jsonw_init_str(&w, &text, (struct tt_jsonw_style){0});
	tt_element_value(&w, is);
	status = tt_jsonw_finish(&w);
	if (status == TTNN_OK)
		status = tt_json_parse(&doc, tt_str_text(&text), text.length, "argument");
	if (status == TTNN_OK) {
		if (same_json(&difference, was, tt_json_root(doc)))
			c->out->texts++;
		else if (means(c, name, was, is))
			c->out->meant++;
		else if (c->out->same)
			tell(c, name, &difference);
	}
	tt_json_free(doc);
	tt_str_deinit(&text);
	return status;
}

/* ---- the call ------------------------------------------------------------------------------------------- */

/* "ttnn::transformer::x" and "ttnn.transformer.x". */
static bool same_name(const char *scope, const char *op)
{
	for (; *scope && *op; scope++, op++) {
		if (*op == '.' && *scope == ':' && scope[1] == ':')
			scope++;
		else if (*scope != *op)
			return false;
	}
	return !*scope && !*op;
}

static tt_status compare_all(struct comparison *c, const struct tt_traced_call *recorded)
{
	const struct tt_op_entry *entry = tt_op_find(c->op);

	c->out->same = true;
	if (!entry || !c->scope->schema || !same_name(c->scope->name, c->op)) {
		c->out->same = false;
		snprintf(c->out->why, sizeof(c->out->why), "not the recorded call: it is one of %s",
			 c->scope->name);
		return TTNN_OK;
	}
	c->overloads = &entry->overloads;
	for (size_t i = 0; i < recorded->count; i++) {
		if (recorded->recorded[i])
			TT_TRY(compare(c, recorded->args[i].name, recorded->recorded[i]));
		else
			c->out->unknown++;
	}
	return TTNN_OK;
}

static tt_status read_trace(struct tt_identity_found *out, struct tt_source *source, const char *op,
			    const struct tt_traced_call *recorded)
{
	struct comparison c = {.out = out, .op = op};
	const struct tt_seen *seen;
	tt_status status;

	for (;;) {
		TT_TRY(tt_source_next(&seen, source));
		if (!seen) {
			snprintf(out->why, sizeof(out->why), "the trace of the call has none");
			return TTNN_OK;
		}
		if (seen->event.kind == TT_EVENT_SCOPE_BEGIN &&
		    seen->event.begin.kind == TT_SCOPE_OPERATION)
			break;
	}
	c.scope = &seen->event.begin;
	status = compare_all(&c, recorded);
	tt_arena_deinit(&c.arena);
	return status;
}

tt_status tt_identity_end(struct tt_identity_found *out, struct tt_identity *identity,
			  const char *op, const struct tt_traced_call *recorded)
{
	struct tt_capture_summary kept = {0};
	struct tt_source *source;
	tt_status status = tt_capture_stop(&kept, identity->capture);

	*out = (struct tt_identity_found){0};
	/* What is recorded is small: only memory can have been short. */
	if (status == TTNN_OK && kept.lost)
		status = tt_fail(TTNN_NOMEM, "the trace of the call lost %llu records: %s",
				 (unsigned long long)kept.lost, kept.reason ? kept.reason : "");
	if (status == TTNN_OK)
		status = tt_source_open_capture(&source, identity->capture);
	if (status == TTNN_OK) {
		status = read_trace(out, source, op, recorded);
		tt_source_close(source);
	}
	tt_identity_drop(identity);
	return status;
}
