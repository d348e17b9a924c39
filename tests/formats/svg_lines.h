/*
 * svg_lines.h: the boxes and lines of a picture, read from its text, and what holds for them.
 * Shares nothing with what lays pictures out.
 */
#ifndef TT_TESTS_SVG_LINES_H
#define TT_TESTS_SVG_LINES_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include "base/vec.h"

struct rect {
	double x, y, width, height;
};

/* The number behind the next `key`, which *p moves to. */
static inline double number_after(const char **p, const char *key)
{
	const char *found = strstr(*p, key);

	*p = found ? found + strlen(key) : *p;
	return strtod(*p, NULL);
}

/* The boxes of a picture: rects that have coordinates, those of the legend too. */
static inline size_t read_rects(struct rect *out, size_t most, const char *svg)
{
	size_t count = 0;

	for (const char *p = svg; (p = strstr(p, "<rect x=")) && count < most;) {
		struct rect *r = &out[count++];

		r->x = number_after(&p, "x=\"");
		r->y = number_after(&p, "y=\"");
		r->width = number_after(&p, "width=\"");
		r->height = number_after(&p, "height=\"");
	}
	return count;
}

static inline bool holds(const struct rect *a, const struct rect *b)
{
	return a->x <= b->x && a->y <= b->y && a->x + a->width >= b->x + b->width &&
	       a->y + a->height >= b->y + b->height;
}

struct box {
	struct rect at, title; /* title: of the text in it */
	char kind[16];
	bool far; /* marked: lines from it end in tags */
};

struct place {
	double x, y;
};

/* A drawn line; curves as many short straight ones. */
struct way {
	struct place at[800];
	size_t count;
	bool arrow;
};

static inline size_t read_boxes(struct box *out, size_t most, const char *svg)
{
	size_t count = 0;

	for (const char *p = svg; (p = strstr(p, "<g id=\"b")) && count < most; count++) {
		struct box *box = &out[count];

		p = strstr(p, "class=\"") + 7;
		snprintf(box->kind, sizeof(box->kind), "%.*s", (int)strcspn(p, " \""), p);
		p = strstr(p, "<rect x=");
		read_rects(&box->at, 1, p);
		const char *text = strstr(p, "<text "), *end = strstr(p, "</g>");
		box->title = box->at;
		box->far = strstr(p, "h7v-7z") && strstr(p, "h7v-7z") < end;
		if (text && text < end && strcmp(box->kind, "rep") == 0) {
			size_t length = strcspn(strchr(text, '>') + 1, "<");

			box->title.x += 6;
			box->title.y += 3;
			box->title.height = 11;
			/* "×" is two bytes. */
			box->title.width = 6.7 * (double)(length - 1);
		}
	}
	return count;
}

/* The next line of a picture from *p on that is not dashed; false when there is none. */
static inline bool read_way(struct way *out, const char **p)
{
	const char *tag, *end;
	double v[6];

	do {
		*p = strstr(*p + 1, "<path ");
	} while (*p && !(strncmp(*p, "<path marker-end", 16) == 0 ||
			 (strncmp(*p, "<path d=\"", 9) == 0 &&
			  strncmp(strchr(*p + 9, '"'), "\"><title>", 9) == 0)));
	if (!*p)
		return false;
	tag = strstr(*p, " d=\"") + 4;
	end = strchr(tag, '"');
	out->count = 0;
	out->arrow = strncmp(*p, "<path marker-end", 16) == 0;
	while (tag < end) {
		size_t numbers = *tag == 'C' ? 6 : 2;
		struct place from = out->count ? out->at[out->count - 1] : (struct place){0, 0};
		bool first = *tag++ == 'M';

		for (size_t i = 0; i < numbers; i++)
			v[i] = strtod(tag, (char **)&tag);
		tag += strspn(tag, " ");
		for (int i = first || numbers == 2 ? 16 : 1;
		     i <= 16 && out->count < TT_COUNT(out->at); i++) {
			double t = i / 16.0, u = 1 - t, a = 3 * u * u * t, b = 3 * u * t * t;
			struct place *at = &out->at[out->count++];

			if (numbers == 2)
				*at = (struct place){v[0], v[1]};
			else
				*at = (struct place){u * u * u * from.x + a * v[0] + b * v[2] +
							     t * t * t * v[4],
						     u * u * u * from.y + a * v[1] + b * v[3] +
							     t * t * t * v[5]};
		}
	}
	return out->count > 1;
}

static inline bool touches(const struct rect *r, const struct way *way)
{
	for (size_t i = 1; i < way->count; i++) {
		struct place a = way->at[i - 1], b = way->at[i];

		if (fmax(a.x, b.x) > r->x + 0.5 && fmin(a.x, b.x) < r->x + r->width - 0.5 &&
		    fmax(a.y, b.y) > r->y + 0.5 && fmin(a.y, b.y) < r->y + r->height - 0.5)
			return true;
	}
	return false;
}

static inline bool inside(const struct rect *r, const struct way *way)
{
	for (size_t i = 0; i < way->count; i++) {
		double x = way->at[i].x, y = way->at[i].y;

		if (x < r->x - 0.2 || x > r->x + r->width + 0.2 || y < r->y - 0.2 ||
		    y > r->y + r->height + 0.2)
			return false;
	}
	return true;
}

/* Whether a place is on the upper (or lower) side of a box. */
static inline bool on_side(const struct rect *r, struct place at, bool lower)
{
	return fabs(at.y - r->y - (lower ? r->height : 0)) < 0.2 && at.x > r->x - 0.2 &&
	       at.x < r->x + r->width + 0.2;
}

/* Whether a tag stands in the frame. */
static inline bool has_tag(const struct box *boxes, size_t count, const struct rect *frame)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(boxes[i].kind, "tag") == 0 && holds(frame, &boxes[i].at))
			return true;
	}
	return false;
}

struct lines {
	struct box *boxes;
	struct way *ways;
	size_t box_count, count;
};

static inline bool meet(struct place a, struct place b)
{
	return hypot(a.x - b.x, a.y - b.y) < 0.3;
}

/*
 * Whether a line at a frame's border has another on the other side of it, which begins where it
 * ends, or ends where it begins.
 */
static inline bool goes_on(const struct lines *all, size_t index, bool ends,
			   const struct rect *frame)
{
	const struct way *way = &all->ways[index];

	for (size_t i = 0; i < all->count; i++) {
		const struct way *other = &all->ways[i];
		struct place at = ends ? way->at[way->count - 1] : way->at[0];
		struct place there = ends ? other->at[0] : other->at[other->count - 1];

		if (meet(at, there) && inside(frame, way) != inside(frame, other))
			return true;
	}
	return false;
}

/* Of a line: at how many borders of repetitions it goes on; *loose counts those where it should. */
static inline size_t follow(size_t *loose, const struct lines *all, size_t index)
{
	const struct way *way = &all->ways[index];
	size_t borders = 0;

	for (size_t i = 0; i < all->box_count; i++) {
		const struct rect *frame = &all->boxes[i].at;
		bool in = inside(frame, way);

		if (strcmp(all->boxes[i].kind, "rep") != 0)
			continue;
		for (int ends = 0; ends < 2; ends++) {
			struct place at = way->at[ends ? way->count - 1 : 0];

			if (!on_side(frame, at, in == ends))
				continue;
			bool on = goes_on(all, index, ends, frame);
			bool far = ends &&
				   (in ? !way->arrow && all->boxes[i].far
				       : way->arrow && has_tag(all->boxes, all->box_count, frame));

			borders += on;
			*loose += !on && !far;
			/* An arrow is at the box. */
			*loose += on && ends && way->arrow;
		}
	}
	return borders;
}

/*
 * What holds for the lines of every picture but dashed ones: none crosses a box or the title of a
 * frame; at the border of a repetition each goes on, or there is a tag: inside, or far below, of
 * which the frame has a mark. The result is how many borders lines go on at.
 */
static inline size_t check_lines(const char *svg)
{
	enum { BOXES = 4000, LINES = 2000 };
	struct lines all = {calloc(BOXES, sizeof(*all.boxes)), calloc(LINES, sizeof(*all.ways)), 0,
			    0};
	size_t crossed = 0, loose = 0, borders = 0;
	const char *p = svg;

	all.box_count = all.boxes ? read_boxes(all.boxes, BOXES, svg) : 0;
	while (all.ways && all.count < LINES && read_way(&all.ways[all.count], &p))
		all.count++;
	for (size_t w = 0; w < all.count; w++) {
		for (size_t i = 0; i < all.box_count; i++) {
			const struct box *box = &all.boxes[i];

			crossed +=
				touches(&box->at, &all.ways[w]) && !inside(&box->at, &all.ways[w]);
			crossed +=
				strcmp(box->kind, "rep") == 0 && touches(&box->title, &all.ways[w]);
		}
		borders += follow(&loose, &all, w);
	}
	CHECK(all.count > 0);
	CHECK_INT(crossed, 0);
	CHECK_INT(loose, 0);
	free(all.boxes);
	free(all.ways);
	return borders;
}

#endif
