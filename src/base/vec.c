#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

bool tt_vec_reserve(void *data, size_t *room, size_t count, size_t more, size_t size)
{
	size_t need = count + more;
	size_t want = *room ? *room : 8;
	void *old, *moved;

	if (need < count)
		return false;
	if (need <= *room)
		return true;
	while (want < need)
		want = want > SIZE_MAX / 2 ? need : want * 2;
	if (want > SIZE_MAX / size)
		return false;
	memcpy(&old, data, sizeof(old)); /* the pointer may be of any type */
	moved = tt_realloc(old, want * size);
	if (!moved)
		return false;
	memcpy(data, &moved, sizeof(moved));
	*room = want;
	return true;
}
