#include "report/captured.h"

#include <string.h>

#include "base/fmt.h"
#include "base/jsondump.h"
#include "base/mem.h"

/* Texts of more numbers are hardly alike, and stored as they are; so are those of a longer key. */
#define NUMBERS_MAX 16384

/* Bytes of shapes that are remembered. */
#define SHAPES ((size_t)16 << 20)

/* What stands in a key for a reference to a node outside, whose number may vary. */
#define OUTSIDE UINT32_MAX

/* ---- nodes ---------------------------------------------------------------------------------- */

void tt_report_captured_init(struct tt_report_captured *captured, const char *directory)
{
	tt_spool_init(&captured->numbers, sizeof(int64_t), directory);
}

void tt_report_captured_clear(struct tt_report_captured *captured)
{
	captured->nodes.count = captured->few_count = 0;
	tt_spool_clear(&captured->numbers);
	if (captured->shapes.bytes > SHAPES)
		tt_report_shapes_clear(&captured->shapes);
}

tt_status tt_report_captured_begin(struct tt_report_captured *captured,
				   const struct tt_report_captured_node *node)
{
	if (captured->nodes.count == captured->nodes.room && !TT_VEC_RESERVE(&captured->nodes, 1))
		return tt_fail_nomem();
	captured->nodes.data[captured->nodes.count++] = *node;
	return TTNN_OK;
}

tt_status tt_report_captured_beyond(struct tt_report_captured *captured, int64_t number)
{
	int64_t *to = tt_spool_append(&captured->numbers);

	if (!to)
		return tt_spool_status(&captured->numbers);
	*to = number;
	return TTNN_OK;
}

tt_status tt_report_captured_numbers(struct tt_report_captured *captured, const int64_t *numbers,
				     size_t count)
{
	size_t room = TT_REPORT_FEW - captured->few_count, some = room < count ? room : count;

	if (some)
		memcpy(captured->few + captured->few_count, numbers, some * sizeof(*numbers));
	captured->few_count += some;
	return some < count ? tt_spool_extend(&captured->numbers, numbers + some, count - some)
			    : TTNN_OK;
}

tt_status tt_report_captured_add(struct tt_report_captured *captured,
				 const struct tt_report_draft *draft,
				 const struct tt_report_drafts *texts, bool bound)
{
	struct tt_report_captured_node node = {.counter = draft->counter, .bound = bound};
	size_t at = draft->number;

	TT_TRY(tt_report_shape_find(&node.shape, &captured->shapes, draft, texts));
	TT_TRY(tt_report_captured_begin(captured, &node));
	for (size_t i = 0; i < node.shape->hole_count; i++) {
		uint16_t kind = node.shape->holes[i].kind;
		int64_t count = kind == TT_HOLE_OWN ? 0 : 1;

		if (kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_INPUTS)
			count += texts->numbers.data[at];
		for (; count > 0; count--, at++) {
			int64_t number = texts->numbers.data[at];

			TT_TRY(tt_report_captured_number(
				captured, kind == TT_HOLE_DEVICE
						  ? tt_report_devices_map(captured->devices, number)
						  : number));
		}
	}
	return TTNN_OK;
}

/* ---- renumbering ---------------------------------------------------------------------------- */

/* New numbers by old counter; a later node wins, and 0 is the last node: it counts from 0 too. */
struct numbers {
	int64_t least, most; /* of the old ones */
	int64_t last;
	const struct tt_report_captured *captured; /* to search where there is no table */
	const uint32_t *table;
	size_t size;
	bool lost; /* bounds are left out */
};

static tt_status make_numbers(struct numbers *out, struct tt_report_captured *captured, bool lost)
{
	const struct tt_report_captured_node *nodes = captured->nodes.data;
	int64_t least = INT64_MAX, most = INT64_MIN, count = 0;
	uint32_t number = 0;

	for (size_t i = 0; i < captured->nodes.count; i++) {
		if (lost && nodes[i].bound)
			continue;
		least = nodes[i].counter < least ? nodes[i].counter : least;
		most = nodes[i].counter > most ? nodes[i].counter : most;
		count++;
	}
	*out = (struct numbers){least, most, count + 1, captured, NULL, 0, lost};
	if (!count || least < 0 || most - least > 8 * count + 4096)
		return TTNN_OK;
	out->size = (size_t)(most - least) + 1;
	captured->renumber.count = 0;
	if (!TT_VEC_RESERVE(&captured->renumber, out->size))
		return tt_fail_nomem();
	memset(captured->renumber.data, 0, out->size * sizeof(*captured->renumber.data));
	for (size_t i = 0; i < captured->nodes.count; i++)
		if (!lost || !nodes[i].bound)
			captured->renumber.data[nodes[i].counter - least] = ++number;
	out->table = captured->renumber.data;
	return TTNN_OK;
}

/* The same as is_inside(), without a table. */
static bool search(int64_t *new, const struct numbers *numbers, int64_t old)
{
	const struct tt_report_captured_node *nodes = numbers->captured->nodes.data;
	int64_t number = numbers->last;

	for (size_t i = numbers->captured->nodes.count; i; i--) {
		if (numbers->lost && nodes[i - 1].bound)
			continue;
		number--;
		if (nodes[i - 1].counter != old)
			continue;
		*new = number;
		return true;
	}
	return false;
}

/* False: the node is outside, and keeps its number. */
static inline bool is_inside(int64_t *new, const struct numbers *numbers, int64_t old)
{
	*new = old;
	if (old == 0) {
		*new = numbers->last;
		return true;
	}
	if (old < numbers->least || old > numbers->most)
		return false;
	if (numbers->table) {
		uint64_t at = (uint64_t)old - (uint64_t)numbers->least;

		if (at >= numbers->size || !numbers->table[at])
			return false;
		*new = numbers->table[at];
		return true;
	}
	return search(new, numbers, old);
}

/* ---- going through the text ----------------------------------------------------------------- */

struct passage;

/* What to do with its parts. A function that is NULL is not called. */
struct visitor {
	void *context;
	tt_status (*node)(void *context, const struct tt_report_shape *shape);
	tt_status (*text)(void *context, const char *text, size_t length);
	tt_status (*count)(void *context, int64_t count); /* of a list, before its numbers */
	tt_status (*number)(void *context, int64_t number, bool reference, bool varies);
	tt_status (*edge)(void *context, int64_t from, int64_t to, int64_t index);
	/* So many references at once, in the place of text, number and edge of each; *done false: one by one. */
	tt_status (*list)(bool *done, void *context, struct passage *p, int64_t count);
};

struct passage {
	struct tt_report_captured *captured;
	const struct numbers *numbers;
	const struct visitor *visitor;
	uint64_t at;  /* the next number */
	int64_t node; /* its new number */
};

static tt_status take(int64_t *out, struct passage *p)
{
	uint64_t at = p->at++;
	const int64_t *number;

	if (at < p->captured->few_count) {
		*out = p->captured->few[at];
		return TTNN_OK;
	}
	*out = 0;
	number = tt_spool_at(&p->captured->numbers, at - TT_REPORT_FEW);
	if (!number)
		return tt_spool_status(&p->captured->numbers);
	*out = *number;
	return TTNN_OK;
}

static tt_status pass_reference(struct passage *p, int64_t index)
{
	const struct visitor *v = p->visitor;
	int64_t old, new;
	bool inside;

	TT_TRY(take(&old, p));
	inside = is_inside(&new, p->numbers, old);
	TT_TRY(v->number(v->context, new, true, !inside));
	return index >= 0 && v->edge ? v->edge(v->context, p->node, new, index) : TTNN_OK;
}

static tt_status pass_list(struct passage *p, bool connections)
{
	const struct visitor *v = p->visitor;
	bool done = false;
	int64_t count;

	TT_TRY(take(&count, p));
	if (v->count)
		TT_TRY(v->count(v->context, count));
	if (v->list && count)
		TT_TRY(v->list(&done, v->context, p, count));
	for (int64_t i = 0; i < count && !done; i++) {
		if (i && v->text)
			TT_TRY(v->text(v->context, ", ", 2));
		TT_TRY(pass_reference(p, connections ? i : -1));
	}
	return TTNN_OK;
}

static tt_status pass_hole(struct passage *p, const struct tt_report_hole *hole)
{
	const struct visitor *v = p->visitor;
	int64_t value;

	switch ((enum tt_report_hole_kind)hole->kind) {
	case TT_HOLE_OWN:
		return v->number(v->context, p->node, true, false);
	case TT_HOLE_CONNECTIONS:
	case TT_HOLE_INPUTS:
		return pass_list(p, hole->kind == TT_HOLE_CONNECTIONS);
	case TT_HOLE_CONNECTION:
	case TT_HOLE_INPUT:
		return pass_reference(p, hole->kind == TT_HOLE_CONNECTION ? hole->index : -1);
	default:
		TT_TRY(take(&value, p));
		return v->number(v->context, value, false, true);
	}
}

/* Passes by the numbers of a node that is left out. */
static tt_status skip(struct passage *p, const struct tt_report_shape *shape)
{
	for (size_t i = 0; i < shape->hole_count; i++) {
		uint16_t kind = shape->holes[i].kind;
		int64_t count = 0;

		if (kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_INPUTS) {
			TT_TRY(take(&count, p));
			p->at += (uint64_t)count;
		} else if (kind != TT_HOLE_OWN) {
			p->at++;
		}
	}
	return TTNN_OK;
}

static tt_status pass(struct tt_report_captured *captured, const struct numbers *numbers,
		      const struct visitor *v)
{
	struct passage p = {captured, numbers, v, 0, 0};

	for (size_t i = 0; i < captured->nodes.count; i++) {
		const struct tt_report_captured_node *node = &captured->nodes.data[i];
		const struct tt_report_shape *shape = node->shape;
		size_t from = 0;

		if (numbers->lost && node->bound) {
			TT_TRY(skip(&p, shape));
			continue;
		}
		p.node++;
		if (v->node)
			TT_TRY(v->node(v->context, shape));
		for (size_t k = 0; k < shape->hole_count; k++) {
			size_t at = shape->holes[k].at;

			if (v->text && at > from)
				TT_TRY(v->text(v->context, shape->text + from, at - from));
			from = at;
			TT_TRY(pass_hole(&p, &shape->holes[k]));
		}
		if (v->text)
			TT_TRY(v->text(v->context, shape->text + from, shape->length - from));
	}
	return TTNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static tt_status write_edge(const struct tt_report_target *target, int64_t source, int64_t sink,
			    int64_t index)
{
	int64_t row[] = {target->operation, source, sink, index, 0, index, target->rank};

	++*target->edges;
	if (!target->db->as_tables)
		return TTNN_OK;
	return tt_report_insert_ints(target->db, TT_REPORT_EDGES, row, 7);
}

/* A text as it is. */
static tt_status write_text(const struct tt_report_target *target, const struct tt_str *text)
{
	struct tt_db_stmt *insert;

	TT_TRY(tt_str_status(text));
	TT_TRY(tt_report_insert(&insert, target->db, TT_REPORT_CAPTURED_GRAPH));
	tt_db_bind_int(insert, 0, target->operation);
	tt_db_bind_text(insert, 1, tt_str_text(text), text->length);
	tt_db_bind_int(insert, 2, target->rank);
	return tt_db_run(insert);
}

/* Whether a text is too long for the table. Lists of many numbers are counted before there is room for them. */
static tt_status is_long(bool *out, const struct tt_report_captured *captured,
			 const struct tt_report_words *words, size_t most)
{
	struct tt_report_pieces pieces = {.most = most, .counts = true};

	*out = !most;
	if (!most || !captured->numbers.count)
		return TTNN_OK;
	TT_TRY(words->write(words->context, &pieces));
	*out = pieces.length > most;
	return TTNN_OK;
}

/* The text besides its template, where there is a table of them. */
static tt_status write_besides(struct tt_report_captured *captured,
			       const struct tt_report_target *target,
			       const struct tt_report_words *words)
{
	struct tt_report_pieces pieces = {.most = tt_report_db_text_room(target->db),
					  .text = captured->text};
	tt_status status;
	bool longer;

	if (!target->db->texts)
		return TTNN_OK;
	TT_TRY(is_long(&longer, captured, words, pieces.most));
	tt_str_clear(&pieces.text);
	status = longer ? TTNN_OK : words->write(words->context, &pieces);
	captured->text = pieces.text;
	TT_TRY(status);
	TT_TRY(tt_str_status(&captured->text));
	if (longer || captured->text.length > pieces.most) {
		tt_report_db_text_drop(target->db);
		tt_str_deinit(&captured->text);
		return TTNN_OK;
	}
	target->db->text_bytes += captured->text.length;
	return write_text(target, &captured->text);
}

/* A text that is made of a template. */
static tt_status write_call(struct tt_report_captured *captured,
			    const struct tt_report_target *target,
			    const struct tt_report_words *words)
{
	const struct tt_str *numbers;
	struct tt_db_stmt *insert;
	int64_t template;

	TT_TRY(write_besides(captured, target, words));
	TT_TRY(tt_report_compact_text(&template, &numbers, &captured->compact, words));
	TT_TRY(tt_report_insert(&insert, target->db, TT_REPORT_OPERATION_CALLS));
	tt_db_bind_int(insert, 0, target->operation);
	tt_db_bind_int(insert, 1, template);
	tt_db_bind_text(insert, 2, numbers->length ? numbers->data : NULL, numbers->length);
	if (captured->arguments)
		tt_db_bind_int(insert, 3, captured->arguments);
	else
		tt_db_bind_null(insert, 3);
	tt_db_bind_int(insert, 4, target->rank);
	captured->arguments = 0;
	return tt_db_run(insert);
}

static tt_status add_whole(void *context, struct tt_report_pieces *pieces)
{
	const struct tt_report_captured *captured = context;
	const struct tt_str *whole = &captured->whole;
	size_t part = (size_t)64 << 10;

	/* Pieces end between two characters. */
	for (size_t from = 0, to; from < whole->length; from = to) {
		to = whole->length - from > part ? from + part : whole->length;
		while (to < whole->length && (whole->data[to] & 0xc0) == 0x80)
			to++;
		tt_report_pieces_text(pieces, whole->data + from, to - from);
	}
	return TTNN_OK;
}

/* The text in `whole`. */
static tt_status write_whole(struct tt_report_captured *captured,
			     const struct tt_report_target *target)
{
	struct tt_report_words words = {.write = add_whole, .context = captured};

	TT_TRY(tt_str_status(&captured->whole));
	return target->db->as_tables ? write_text(target, &captured->whole)
				     : write_call(captured, target, &words);
}

/* The first or last node; `reference` is its connection, or negative: it has none. */
static void add_stub(struct tt_str *out, const char *kind, int64_t number, int64_t reference)
{
	tt_str_adds(out, "{\"arguments\": [], \"connections\": [");
	if (reference >= 0)
		tt_str_addi(out, reference);
	tt_str_adds(out, "], \"counter\": ");
	tt_str_addi(out, number);
	tt_str_adds(out, ", \"input_tensors\": [], \"node_type\": \"");
	tt_str_adds(out, kind);
	tt_str_adds(out, "\", \"params\": {}, \"stacking_level\": 0, \"id\": ");
	tt_str_addi(out, number);
	tt_str_addc(out, '}');
}

/* ---- as a text ------------------------------------------------------------------------------ */

struct joining {
	struct tt_str *out;
	const struct tt_report_target *target;
};

static tt_status join_text(void *context, const char *text, size_t length)
{
	tt_str_add(((struct joining *)context)->out, text, length);
	return TTNN_OK;
}

static tt_status join_number(void *context, int64_t number, bool reference, bool varies)
{
	char digits[TT_FMT_MAX];

	(void)reference;
	(void)varies;
	return join_text(context, digits, tt_fmt_i64(digits, number));
}

static tt_status join_edge(void *context, int64_t from, int64_t to, int64_t index)
{
	return write_edge(((struct joining *)context)->target, from, to, index);
}

static tt_status write_joined(struct tt_report_captured *captured, const struct numbers *numbers,
			      const struct tt_report_target *target, int64_t first)
{
	struct tt_str *whole = &captured->whole;
	struct joining joining = {whole, target};
	struct visitor visitor = {
		.context = &joining, .text = join_text, .number = join_number, .edge = join_edge};

	tt_str_clear(whole);
	tt_str_addc(whole, '[');
	add_stub(whole, "capture_start", 0, first);
	TT_TRY(pass(captured, numbers, &visitor));
	tt_str_add(whole, ", ", 2);
	add_stub(whole, "capture_end", numbers->last, -1);
	tt_str_addc(whole, ']');
	return write_text(target, whole);
}

/* ---- as a template and its numbers ---------------------------------------------------------- */

/* There is room for a word and a value of each number and node. */
static tt_status begin_key(struct tt_report_captured *captured)
{
	size_t most = 2 * (captured->few_count + (size_t)captured->numbers.count) +
		      2 * captured->nodes.count + 1;

	for (size_t i = 0; i < captured->nodes.count; i++)
		most += captured->nodes.data[i].shape->hole_count;
	captured->key.count = captured->values.count = 0;
	return (captured->key.room >= most || TT_VEC_RESERVE(&captured->key, most)) &&
			       (captured->values.room >= most ||
				TT_VEC_RESERVE(&captured->values, most))
		       ? TTNN_OK
		       : tt_fail_nomem();
}

static tt_status add_key(struct tt_report_captured *captured, uint32_t word)
{
	captured->key.data[captured->key.count++] = word;
	return TTNN_OK;
}

static tt_status key_node(void *context, const struct tt_report_shape *shape)
{
	return add_key(context, shape->id);
}

static tt_status key_count(void *context, int64_t count)
{
	return add_key(context, (uint32_t)count);
}

static tt_status key_number(void *context, int64_t number, bool reference, bool varies)
{
	struct tt_report_captured *captured = context;

	if (reference)
		add_key(captured, varies ? OUTSIDE : (uint32_t)number);
	if (varies)
		captured->values.data[captured->values.count++] = number;
	return TTNN_OK;
}

/* The same in one go, where all numbers are at hand; counts the edges, too. */
static void make_key(struct tt_report_captured *captured, const struct numbers *numbers,
		     uint64_t *edges)
{
	uint32_t *key = captured->key.data + captured->key.count, node = 0;
	int64_t *values = captured->values.data, new;
	const int64_t *number = captured->few;

	for (size_t i = 0; i < captured->nodes.count; i++) {
		const struct tt_report_shape *shape = captured->nodes.data[i].shape;

		*key++ = shape->id;
		node++;
		for (size_t k = 0; k < shape->hole_count; k++) {
			uint16_t kind = shape->holes[k].kind;
			bool list = kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_INPUTS;
			int64_t count = list ? *number++ : 1;

			if (kind == TT_HOLE_OWN) {
				*key++ = node;
				continue;
			}
			if (kind == TT_HOLE_VALUE || kind == TT_HOLE_DEVICE) {
				*values++ = *number++;
				continue;
			}
			if (list)
				*key++ = (uint32_t)count;
			if (kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_CONNECTION)
				*edges += (uint64_t)count;
			for (; count > 0; count--) {
				bool inside = is_inside(&new, numbers, *number++);

				*key++ = inside ? (uint32_t) new : OUTSIDE;
				*values = new;
				values += !inside;
			}
		}
	}
	captured->key.count = (size_t)(key - captured->key.data);
	captured->values.count = (size_t)(values - captured->values.data);
}

struct writing {
	struct tt_report_captured *captured;
	const struct numbers *numbers;
	struct tt_report_pieces *pieces;
	int64_t first; /* what the first node is connected to */
	uint64_t edges;
};

static tt_status piece_text(void *context, const char *text, size_t length)
{
	tt_report_pieces_text(((struct writing *)context)->pieces, text, length);
	return TTNN_OK;
}

static tt_status piece_number(void *context, int64_t number, bool reference, bool varies)
{
	struct tt_report_pieces *pieces = ((struct writing *)context)->pieces;
	char digits[TT_FMT_MAX];

	(void)reference;
	if (varies && pieces->template)
		tt_report_pieces_number(pieces, number);
	else
		tt_report_pieces_text(pieces, digits, tt_fmt_i64(digits, number));
	return TTNN_OK;
}

/* Text that is not given to its pieces one by one. */
struct gathered {
	struct tt_report_pieces *pieces;
	size_t used, room;
	char text[1024];
};

static void begin_gathering(struct gathered *out)
{
	size_t most = sizeof(out->text) - TT_FMT_MAX - 2;

	out->used = 0;
	out->room = tt_report_pieces_room(out->pieces);
	out->room = out->room < most ? out->room : most;
}

static void give(struct gathered *out)
{
	if (out->used)
		tt_report_pieces_text(out->pieces, out->text, out->used);
	begin_gathering(out);
}

/* Numbers of lists, which may have as many as there are operations. None of a template varies in them. */
static tt_status piece_list(bool *done, void *context, struct passage *p, int64_t count)
{
	struct gathered out = {.pieces = ((struct writing *)context)->pieces};
	int64_t old, new;

	*done = !out.pieces->template;
	if (!*done)
		return TTNN_OK;
	begin_gathering(&out);
	for (int64_t i = 0; i < count; i++) {
		TT_TRY(take(&old, p));
		is_inside(&new, p->numbers, old);
		if (i) {
			out.text[out.used++] = ',';
			out.text[out.used++] = ' ';
			if (out.used > out.room)
				give(&out);
		}
		out.used += tt_fmt_i64(out.text + out.used, new);
		if (out.used > out.room)
			give(&out);
	}
	give(&out);
	return TTNN_OK;
}

static tt_status write_pieces(void *context, struct tt_report_pieces *pieces)
{
	struct writing *writing = context;
	struct visitor visitor = {
		.context = writing, .text = piece_text, .number = piece_number, .list = piece_list};
	struct tt_str stub = {0};
	tt_status status;

	writing->pieces = pieces;
	tt_str_addc(&stub, '[');
	add_stub(&stub, "capture_start", 0, writing->first);
	tt_report_pieces_text(pieces, tt_str_text(&stub), stub.length);
	status = pass(writing->captured, writing->numbers, &visitor);
	if (status == TTNN_OK)
		status = tt_str_status(&stub);
	tt_str_clear(&stub);
	tt_str_add(&stub, ", ", 2);
	add_stub(&stub, "capture_end", writing->numbers->last, -1);
	tt_str_addc(&stub, ']');
	tt_report_pieces_text(pieces, tt_str_text(&stub), stub.length);
	if (status == TTNN_OK)
		status = tt_str_status(&stub);
	tt_str_deinit(&stub);
	return status;
}

/* How many edges the nodes have. */
static tt_status count_edges(struct tt_report_captured *captured, bool lost, uint64_t *edges)
{
	struct passage p = {.captured = captured};

	for (size_t i = 0; i < captured->nodes.count; i++) {
		const struct tt_report_captured_node *node = &captured->nodes.data[i];

		for (size_t k = 0; k < node->shape->hole_count; k++) {
			uint16_t kind = node->shape->holes[k].kind;
			int64_t count = kind == TT_HOLE_CONNECTION;

			if (kind == TT_HOLE_CONNECTIONS || kind == TT_HOLE_INPUTS) {
				TT_TRY(take(&count, &p));
				p.at += (uint64_t)count;
			} else if (kind != TT_HOLE_OWN) {
				p.at++;
			}
			if (kind != TT_HOLE_INPUTS && !(lost && node->bound))
				*edges += (uint64_t)count;
		}
	}
	return TTNN_OK;
}

static tt_status write_compact(struct tt_report_captured *captured, const struct numbers *numbers,
			       const struct tt_report_target *target, int64_t first)
{
	struct visitor visitor = {
		.context = captured, .node = key_node, .count = key_count, .number = key_number};
	struct writing writing = {.captured = captured, .numbers = numbers, .first = first};
	struct tt_report_words words = {.write = write_pieces, .context = &writing};

	if (captured->few_count + captured->numbers.count + captured->nodes.count < NUMBERS_MAX &&
	    first < OUTSIDE && first >= 0) {
		TT_TRY(begin_key(captured));
		TT_TRY(add_key(captured, (uint32_t)first));
		if (captured->numbers.count || numbers->lost) {
			TT_TRY(count_edges(captured, numbers->lost, target->edges));
			TT_TRY(pass(captured, numbers, &visitor));
		} else {
			make_key(captured, numbers, target->edges);
		}
		words.key = captured->key.data;
		words.key_length = captured->key.count * sizeof(*captured->key.data);
		words.numbers = captured->values.data;
		words.count = captured->values.count;
	} else {
		TT_TRY(count_edges(captured, numbers->lost, target->edges));
	}
	return write_call(captured, target, &words);
}

tt_status tt_report_captured_write(struct tt_report_captured *captured,
				   const struct tt_report_target *target, bool lost)
{
	struct numbers numbers;
	int64_t first;

	TT_TRY(make_numbers(&numbers, captured, lost));
	is_inside(&first, &numbers, 1);
	TT_TRY(write_edge(target, 0, first, 0));
	if (target->db->as_tables)
		return write_joined(captured, &numbers, target, first);
	return write_compact(captured, &numbers, target, first);
}

/* ---- others --------------------------------------------------------------------------------- */

static tt_status write_plain(void *context, struct tt_report_pieces *pieces)
{
	struct writing writing = {.pieces = pieces};
	struct tt_report_captured *captured = context;
	const struct numbers none = {.captured = captured};
	struct visitor visitor = {.context = &writing, .text = piece_text, .number = piece_number};

	return pass(captured, &none, &visitor);
}

tt_status tt_report_captured_write_free(struct tt_report_captured *captured,
					const struct tt_json *node,
					const struct tt_report_target *target)
{
	struct tt_report_words words = {.write = write_plain, .context = captured};
	struct joining joining = {&captured->whole, target};
	const struct numbers none = {.captured = captured};
	struct visitor join = {.context = &joining, .text = join_text, .number = join_number};
	struct visitor key = {
		.context = captured, .node = key_node, .count = key_count, .number = key_number};
	struct tt_report_draft draft;
	bool connected;

	tt_report_drafts_clear(&captured->drafts);
	TT_TRY(tt_report_draft_free(&draft, &captured->drafts, captured->devices, node,
				    &connected));
	tt_report_captured_clear(captured);
	TT_TRY(tt_report_captured_add(captured, &draft, &captured->drafts, false));
	TT_TRY(write_edge(target, 0, 1, 0));
	if (connected)
		TT_TRY(write_edge(target, 1, 2, 0));
	if (target->db->as_tables) {
		tt_str_clear(&captured->whole);
		TT_TRY(pass(captured, &none, &join));
		return write_text(target, &captured->whole);
	}
	TT_TRY(begin_key(captured));
	TT_TRY(pass(captured, &none, &key));
	words.key = captured->key.data;
	words.key_length = captured->key.count * sizeof(*captured->key.data);
	words.numbers = captured->values.data;
	words.count = captured->values.count;
	return write_call(captured, target, &words);
}

static tt_status write_own_edges(const struct tt_json *node, const struct tt_report_target *target)
{
	struct tt_json_iter it = tt_json_iter(tt_json_get(node, "connections"));
	int64_t source = 0, sink, index = 0;

	tt_json_int(&source, tt_json_get(node, "counter"));
	for (; tt_json_next(&it); index++)
		if (tt_json_int(&sink, it.value))
			TT_TRY(write_edge(target, source, sink, index));
	return TTNN_OK;
}

tt_status tt_report_captured_write_own(struct tt_report_captured *captured,
				       const struct tt_json *nodes,
				       const struct tt_report_target *target)
{
	struct tt_str *out = &captured->whole;
	struct tt_json_iter it = tt_json_iter(nodes);
	const char *before = "";

	tt_str_clear(out);
	tt_str_addc(out, '[');
	while (tt_json_next(&it)) {
		struct tt_json_iter member = tt_json_iter(it.value);
		const struct tt_json *counter = tt_json_get(it.value, "counter");
		bool first = true, has_id = false;

		tt_str_adds(out, before);
		before = ", ";
		tt_str_addc(out, '{');
		for (; tt_json_next(&member); first = false) {
			bool id = TT_REPORT_IS_KEY(&member, "id");

			tt_json_dump_key(out, member.key, member.key_length, first);
			has_id |= id;
			tt_json_dump(out, id && counter ? counter : member.value);
		}
		if (counter && !has_id) {
			tt_str_adds(out, ", \"id\": ");
			tt_json_dump(out, counter);
		}
		tt_str_addc(out, '}');
		TT_TRY(write_own_edges(it.value, target));
	}
	tt_str_addc(out, ']');
	return write_whole(captured, target);
}

void tt_report_captured_deinit(struct tt_report_captured *captured)
{
	tt_report_shapes_deinit(&captured->shapes);
	tt_report_compact_deinit(&captured->compact);
	TT_VEC_DEINIT(&captured->nodes);
	tt_spool_deinit(&captured->numbers);
	tt_str_deinit(&captured->whole);
	tt_str_deinit(&captured->text);
	TT_VEC_DEINIT(&captured->renumber);
	TT_VEC_DEINIT(&captured->key);
	TT_VEC_DEINIT(&captured->values);
	tt_report_drafts_deinit(&captured->drafts);
	tt_json_parser_deinit(&captured->parser);
}
