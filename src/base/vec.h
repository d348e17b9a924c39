/*
 * vec.h: arrays: how many elements one has, and a growable one of any type.
 *
 *	TT_VEC(struct row) rows = {0};
 *	struct row *row = TT_VEC_PUSH(&rows);      NULL when memory is exhausted
 *	for (size_t i = 0; i < rows.count; i++) ... rows.data[i] ...
 *	TT_VEC_DEINIT(&rows);
 *
 * The compiler knows the element type, so there are no casts and no size arguments.
 */
#ifndef TT_BASE_VEC_H
#define TT_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>

/* How many elements an array has; not for pointers. */
#define TT_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Declares the three fields inside a struct or as an anonymous struct. */
#define TT_VEC(type)                                                                               \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t count, room;                                                                \
	}

/*
 * Makes room for `more` further elements; false when exhausted. `data` is the address of the
 * pointer to the elements, whatever their type. The macros below call it.
 */
bool tt_vec_reserve(void *data, size_t *room, size_t count, size_t more, size_t size);

#define TT_VEC_RESERVE(vec, more)                                                                  \
	tt_vec_reserve(&(vec)->data, &(vec)->room, (vec)->count, (more), sizeof(*(vec)->data))

/* The address of a new last element, not cleared; NULL when exhausted. */
#define TT_VEC_PUSH(vec) (TT_VEC_RESERVE((vec), 1) ? &(vec)->data[(vec)->count++] : NULL)

#define TT_VEC_DEINIT(vec)                                                                         \
	do {                                                                                       \
		tt_free((vec)->data);                                                              \
		(vec)->data = NULL;                                                                \
		(vec)->count = (vec)->room = 0;                                                    \
	} while (0)

#endif
