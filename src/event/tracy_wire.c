#include "event/tracy_wire.h"

#include <string.h>

#define GPU_CUSTOM 7
#define PROGRAM_NAME 64
#define HOST_INFO 1024

/* The same in all versions. */
enum { ZONE_TEXT = 0, ZONE_NAME = 1, MESSAGE_COLOR = 3 };

/* Numbers of events in each version of the protocol. To speak another: a row, if the events are of the same form. */
#define EVENTS(X)                                                                                  \
	X(message)                                                                                 \
	X(zone_begin)                                                                              \
	X(zone_end)                                                                                \
	X(gpu_begin)                                                                               \
	X(gpu_end)                                                                                 \
	X(plot)                                                                                    \
	X(gpu_time)                                                                                \
	X(gpu_name)                                                                                \
	X(terminate)                                                                               \
	X(keep_alive)                                                                              \
	X(thread)                                                                                  \
	X(round)                                                                                   \
	X(location)                                                                                \
	X(gpu_new)                                                                                 \
	X(plot_config)                                                                             \
	X(nothing)                                                                                 \
	X(single_string)                                                                           \
	X(string)                                                                                  \
	X(thread_name)                                                                             \
	X(plot_name)                                                                               \
	X(frame_name)

/* How the forms of events differ. */
enum {
	DELAY = 1, /* the welcome has a field for it */
	/*
	 * From 0.14 on. Times of zones have 16, 32 or 64 bits: the numbers of the shorter ones follow that of the
	 * longest, and each form counts from where the one before it ends. So do the lengths of single strings, where
	 * the form with 8 bits has the number after the next. Messages have a byte with who speaks and how gravely.
	 */
	COMPACT = 2
};

struct tt_wire_version {
	uint32_t protocol;
	unsigned forms;
#define X(name) uint8_t name;
	EVENTS(X)
#undef X
};

static const struct tt_wire_version versions[] = {
	/* 0.10 */ {64, DELAY, 2,  15, 17, 38, 42, 45, 48, 49,  57, 58,
		    59, 66,    70, 78, 89, 91, 95, 98, 99, 100, 104},
	/* 0.11.0 */ {66, DELAY, 2,  15, 17, 38, 42, 45, 48,  49,  57, 58,
		      59, 67,    71, 79, 90, 92, 96, 99, 100, 101, 105},
	/* 0.11.1 */ {69, DELAY, 2,  15, 17, 38, 42, 45,  48,  49,  57, 58,
		      59, 67,    71, 79, 90, 92, 96, 100, 101, 102, 106},
	/* 0.12 */ {74, DELAY, 2,  15, 17, 40, 44, 47,  50,  51,  59, 60,
		    61, 69,    73, 81, 92, 94, 98, 102, 103, 104, 108},
	/* 0.13 */ {76, 0,  2,  15, 17, 40, 44, 47,  50,  51,  60, 61,
		    62, 70, 74, 82, 93, 95, 99, 104, 105, 106, 110},
	/* 0.14 */ {82, COMPACT, 2,  19, 25,  50,  54,  57,  60,  61,  73, 74,
		    75, 83,      87, 95, 106, 108, 112, 119, 120, 121, 125},
};

const struct tt_wire_version *tt_wire_find(uint32_t protocol)
{
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		if (versions[i].protocol == protocol)
			return &versions[i];
	return NULL;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static void add(struct tt_str *out, uint64_t number, unsigned size)
{
	char bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (char)(number >> 8 * i);
	tt_str_add(out, bytes, size);
}

static void add_double(struct tt_str *out, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	add(out, bits, 8);
}

/* A text in a field of fixed size. */
static void add_field(struct tt_str *out, const char *text, size_t size)
{
	size_t length = strnlen(text, size - 1);

	tt_str_add(out, text, length);
	while (length++ < size)
		tt_str_addc(out, 0);
}

/* A text behind its length. */
static void add_text(struct tt_str *out, const char *text)
{
	size_t length = strnlen(text, UINT16_MAX);

	add(out, length, 2);
	tt_str_add(out, text, length);
}

void tt_wire_welcome(struct tt_str *out, const struct tt_wire *wire,
		     const struct tt_wire_self *self)
{
	add(out, TT_WIRE_WELCOME, 1);
	add_double(out, 1); /* ns of a tick */
	add(out, self->began_ns, 8);
	add(out, self->began_ns, 8);
	if (wire->version->forms & DELAY)
		add(out, 0, 8);
	add(out, 1, 8); /* resolution */
	add(out, self->epoch, 8);
	add(out, 0, 8); /* when the program was made */
	add(out, self->pid, 8);
	add(out, 0, 8); /* no samples */
	add(out, self->late, 1);
	add(out, 0, 1); /* architecture: it does not matter without samples */
	add_field(out, "", 12);
	add(out, 0, 4);
	add_field(out, self->program, PROGRAM_NAME);
	add_field(out, "told by ttnn.c " TTNN_VERSION, HOST_INFO);
	if (self->late) {
		add(out, 0, 8); /* rounds before */
		add(out, self->now_ns, 8);
	}
}

/* ---- events -------------------------------------------------------------------------------------------- */

/* What follows is of this thread; its times count from 0 then. */
static void turn_to(struct tt_wire *wire, uint32_t thread)
{
	if (wire->in_thread && wire->thread == thread)
		return;
	wire->in_thread = true;
	wire->thread = thread;
	wire->thread_ns = 0;
	add(&wire->frame, wire->version->thread, 1);
	add(&wire->frame, thread, 4);
}

/* A time as the difference to the one before. */
static void add_time(struct tt_wire *wire, uint64_t *last, uint64_t ns)
{
	add(&wire->frame, ns - *last, 8);
	*last = ns;
}

/* The begin or end of a zone, and its time, which is `step` after the last. */
static void add_step(struct tt_wire *wire, uint8_t event, uint64_t step)
{
	const uint64_t medium = UINT64_C(1) << 16, large = medium + (UINT64_C(1) << 32);

	if (!(wire->version->forms & COMPACT) || step > INT64_MAX) {
		add(&wire->frame, event, 1);
		add(&wire->frame, step, 8);
	} else if (step < medium) {
		add(&wire->frame, event + 2u, 1);
		add(&wire->frame, step, 2);
	} else if (step < large) {
		add(&wire->frame, event + 1u, 1);
		add(&wire->frame, step - medium, 4);
	} else {
		add(&wire->frame, event, 1);
		add(&wire->frame, step - large, 8);
	}
}

static void add_single(struct tt_wire *wire, const char *text)
{
	size_t length = strnlen(text, UINT16_MAX), shortest = 0;
	uint8_t event = wire->version->single_string;

	if (wire->version->forms & COMPACT)
		shortest = UINT8_MAX + 1;
	if (length < shortest) {
		add(&wire->frame, event + 2u, 1);
		add(&wire->frame, length, 1);
	} else {
		add(&wire->frame, event, 1);
		add(&wire->frame, length - shortest, 2);
	}
	tt_str_add(&wire->frame, text, length);
}

void tt_wire_begin(struct tt_wire *wire, const struct tt_wire_zone *zone)
{
	turn_to(wire, zone->thread);
	add_step(wire, wire->version->zone_begin, zone->ns - wire->thread_ns);
	wire->thread_ns = zone->ns;
	add(&wire->frame, zone->location, 8);
	if (zone->text) {
		add_single(wire, zone->text);
		add(&wire->frame, ZONE_TEXT, 1);
	}
}

void tt_wire_end(struct tt_wire *wire, const struct tt_wire_zone *zone)
{
	turn_to(wire, zone->thread);
	if (zone->text) {
		add_single(wire, zone->text);
		add(&wire->frame, ZONE_NAME, 1);
	}
	add_step(wire, wire->version->zone_end, zone->ns - wire->thread_ns);
	wire->thread_ns = zone->ns;
}

void tt_wire_message(struct tt_wire *wire, const struct tt_wire_message *message)
{
	uint32_t color = message->color;

	turn_to(wire, message->thread);
	add_single(wire, message->text);
	add(&wire->frame, color ? MESSAGE_COLOR : wire->version->message, 1);
	add(&wire->frame, message->ns, 8);
	if (color)
		add(&wire->frame, color & 0xffffff, 3);
	if (wire->version->forms & COMPACT)
		add(&wire->frame, message->error ? 0x40 : 0x20, 1); /* the user, error or info */
}

void tt_wire_round(struct tt_wire *wire, uint64_t ns)
{
	add(&wire->frame, wire->version->round, 1);
	add(&wire->frame, ns, 8);
	add(&wire->frame, 0, 8);
}

void tt_wire_plot(struct tt_wire *wire, uint32_t thread, uint64_t ns, uint64_t name, double value)
{
	turn_to(wire, thread);
	add(&wire->frame, wire->version->plot, 1);
	add(&wire->frame, name, 8);
	add_time(wire, &wire->thread_ns, ns);
	add_double(&wire->frame, value);
}

void tt_wire_plot_of_bytes(struct tt_wire *wire, uint64_t name)
{
	add(&wire->frame, wire->version->plot_config, 1);
	add(&wire->frame, name, 8);
	add(&wire->frame, 1, 1); /* of memory */
	add(&wire->frame, 1, 1); /* in steps */
	add(&wire->frame, 1, 1); /* filled */
	add(&wire->frame, 0, 4);
}

void tt_wire_context(struct tt_wire *wire, uint8_t context, uint64_t ns, const char *name)
{
	add(&wire->frame, wire->version->gpu_new, 1);
	add(&wire->frame, ns, 8);
	add(&wire->frame, ns, 8);
	add(&wire->frame, 0, 4);
	add(&wire->frame, 0x3f800000, 4); /* 1.0 ns */
	add(&wire->frame, context, 1);
	add(&wire->frame, 0, 1);
	add(&wire->frame, GPU_CUSTOM, 1);
	add_single(wire, name);
	add(&wire->frame, wire->version->gpu_name, 1);
	add(&wire->frame, context, 1);
}

static void add_gpu_time(struct tt_wire *wire, uint64_t ns, uint16_t query, uint8_t context)
{
	add(&wire->frame, wire->version->gpu_time, 1);
	add_time(wire, &wire->gpu_ns, ns);
	add(&wire->frame, query, 2);
	add(&wire->frame, context, 1);
}

void tt_wire_program(struct tt_wire *wire, const struct tt_wire_program *program)
{
	uint16_t first = wire->queries, second = (uint16_t)(first + 1);

	wire->queries = (uint16_t)(first + 2);
	add(&wire->frame, wire->version->gpu_begin, 1);
	add_time(wire, &wire->serial_ns, program->begin_ns);
	add(&wire->frame, program->context + 1u, 4); /* its lane */
	add(&wire->frame, first, 2);
	add(&wire->frame, program->context, 1);
	add(&wire->frame, program->location, 8);
	add(&wire->frame, wire->version->gpu_end, 1);
	add_time(wire, &wire->serial_ns, program->end_ns);
	add(&wire->frame, program->context + 1u, 4);
	add(&wire->frame, second, 2);
	add(&wire->frame, program->context, 1);
	add_gpu_time(wire, program->begin_ns, first, program->context);
	add_gpu_time(wire, program->end_ns, second, program->context);
}

void tt_wire_keep_alive(struct tt_wire *wire)
{
	add(&wire->frame, wire->version->keep_alive, 1);
}

void tt_wire_terminate(struct tt_wire *wire)
{
	add(&wire->frame, wire->version->terminate, 1);
}

/* ---- answers ------------------------------------------------------------------------------------------- */

enum tt_wire_query tt_wire_read_query(uint64_t *what, const unsigned char query[TT_WIRE_QUERY_SIZE])
{
	*what = 0;
	for (unsigned i = 0; i < 8; i++)
		*what |= (uint64_t)query[1 + i] << 8 * i;
	return query[0] < TT_WIRE_OTHER ? (enum tt_wire_query)query[0] : TT_WIRE_OTHER;
}

void tt_wire_answer(struct tt_wire *wire, enum tt_wire_query query, uint64_t what, const char *text)
{
	const struct tt_wire_version *version = wire->version;
	const uint8_t kinds[TT_WIRE_OTHER] = {[TT_WIRE_STRING] = version->string,
					      [TT_WIRE_THREAD] = version->thread_name,
					      [TT_WIRE_PLOT] = version->plot_name,
					      [TT_WIRE_FRAME] = version->frame_name};

	add(&wire->frame, kinds[query], 1);
	add(&wire->frame, what, 8);
	add_text(&wire->frame, text);
}

void tt_wire_answer_location(struct tt_wire *wire, const struct tt_wire_location *location)
{
	add(&wire->frame, wire->version->location, 1);
	add(&wire->frame, location->name, 8);
	add(&wire->frame, location->function, 8);
	add(&wire->frame, location->file, 8);
	add(&wire->frame, location->line, 4);
	add(&wire->frame, location->color & 0xffffff, 3);
}

void tt_wire_answer_nothing(struct tt_wire *wire)
{
	add(&wire->frame, wire->version->nothing, 1);
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* LZ4 has literals behind a token with their number: 15 says that more of it follows, in bytes up to the first below 255. */
void tt_wire_pack(struct tt_str *out, struct tt_wire *wire)
{
	size_t size = wire->frame.length, rest = size < 15 ? 0 : size - 15;

	if (!size)
		return;
	add(out, 1 + (size < 15 ? 0 : rest / 255 + 1) + size, 4);
	add(out, (size < 15 ? size : 15) << 4, 1);
	if (size >= 15) {
		for (; rest >= 255; rest -= 255)
			add(out, 255, 1);
		add(out, rest, 1);
	}
	tt_str_add(out, tt_str_text(&wire->frame), size);
	tt_str_clear(&wire->frame);
}

void tt_wire_broadcast(unsigned char out[TT_WIRE_BROADCAST_SIZE], uint16_t port, uint64_t pid,
		       const char *program)
{
	struct tt_str text = {0};

	memset(out, 0, TT_WIRE_BROADCAST_SIZE);
	add(&text, 3, 2); /* its version */
	add(&text, port, 2);
	add(&text, TT_WIRE_PROTOCOL, 4);
	add(&text, pid, 8);
	add(&text, 0, 4); /* seconds that it runs: it does */
	add_field(&text, program, PROGRAM_NAME);
	if (tt_str_status(&text) == TTNN_OK)
		memcpy(out, tt_str_text(&text), TT_WIRE_BROADCAST_SIZE);
	tt_str_deinit(&text);
}
