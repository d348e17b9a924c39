#include "base/paged.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

#define PAGE 256             /* ids of a page */
#define PAGES ((size_t)2048) /* in memory: 2 MB */
#define NOWHERE UINT32_MAX

struct tt_paged_page {
	uint64_t number;
	uint64_t in_file; /* place in the file + 1; 0: none */
	bool used;        /* since the hand was here */
	uint32_t *data;
};

/* Where a page is. */
struct tt_paged_place {
	uint64_t number, in_file; /* place in the file + 1; 0: none */
	uint32_t page;            /* in memory, or NOWHERE */
	bool taken;
};

static size_t slot_of(const struct tt_paged *paged, uint64_t number)
{
	uint64_t hash = number * 0x9e3779b97f4a7c15u;
	size_t at = (size_t)(hash >> 32) & (paged->place_room - 1);

	while (paged->places[at].taken && paged->places[at].number != number)
		at = (at + 1) & (paged->place_room - 1);
	return at;
}

static bool grow(struct tt_paged *paged)
{
	struct tt_paged_place *before = paged->places;
	size_t room = paged->place_room;

	paged->places = tt_calloc(room ? 2 * room : 64, sizeof(*paged->places));
	if (!paged->places) {
		paged->places = before;
		return false;
	}
	paged->place_room = room ? 2 * room : 64;
	for (size_t i = 0; i < room; i++)
		if (before[i].taken)
			paged->places[slot_of(paged, before[i].number)] = before[i];
	tt_free(before);
	return true;
}

/* Takes a page away from who did not use it for long: its content goes to the file. */
static tt_status evict(uint32_t *out, struct tt_paged *paged)
{
	struct tt_paged_page *page;
	int error;

	while (paged->pages[paged->hand].used) {
		paged->pages[paged->hand].used = false;
		paged->hand = (paged->hand + 1) % paged->page_count;
	}
	*out = (uint32_t)paged->hand;
	page = &paged->pages[paged->hand];
	paged->hand = (paged->hand + 1) % paged->page_count;
	if (!paged->file)
		paged->file = tt_fd_scratch() + 1;
	if (!paged->file)
		return tt_fd_scratch_fail(errno);
	if (!page->in_file)
		page->in_file = ++paged->file_pages;
	error = tt_fd_write_at(paged->file - 1, page->data, PAGE * sizeof(*page->data),
			       (page->in_file - 1) * PAGE * sizeof(*page->data));
	if (error)
		return tt_fd_scratch_fail(error);
	paged->places[slot_of(paged, page->number)].page = NOWHERE;
	paged->places[slot_of(paged, page->number)].in_file = page->in_file;
	return TTNN_OK;
}

/* Room for one more page. */
static tt_status find_room(uint32_t *out, struct tt_paged *paged)
{
	struct tt_paged_page *page;

	if (paged->page_count == PAGES)
		return evict(out, paged);
	if (!tt_vec_reserve(&paged->pages, &paged->page_room, paged->page_count, 1, sizeof(*page)))
		return tt_fail_nomem();
	page = &paged->pages[paged->page_count];
	page->data = tt_alloc(PAGE * sizeof(*page->data));
	if (!page->data)
		return tt_fail_nomem();
	*out = (uint32_t)paged->page_count++;
	return TTNN_OK;
}

static tt_status load(struct tt_paged *paged, uint64_t number)
{
	struct tt_paged_place *place;
	struct tt_paged_page *page;
	uint32_t room = 0;
	int error = 0;

	paged->last = NULL;
	if (4 * (paged->place_count + 1) > 3 * paged->place_room && !grow(paged))
		return tt_fail_nomem();
	place = &paged->places[slot_of(paged, number)];
	if (!place->taken) {
		paged->place_count++;
		*place = (struct tt_paged_place){.number = number, .page = NOWHERE, .taken = true};
	}
	if (place->page != NOWHERE) {
		paged->last = &paged->pages[place->page];
		return TTNN_OK;
	}
	TT_TRY(find_room(&room, paged));
	page = &paged->pages[room];
	if (place->in_file)
		error = tt_fd_read_at(paged->file - 1, page->data, PAGE * sizeof(*page->data),
				      (place->in_file - 1) * PAGE * sizeof(*page->data));
	else
		memset(page->data, 0, PAGE * sizeof(*page->data));
	page->number = number;
	page->in_file = place->in_file;
	place->page = room;
	if (error) {
		tt_fd_scratch_fail(error);
		return TTNN_IO;
	}
	paged->last = page;
	return TTNN_OK;
}

tt_status tt_paged_at(uint32_t **out, struct tt_paged *paged, uint64_t id)
{
	uint64_t number = id / PAGE;

	if (!paged->last || paged->last->number != number)
		TT_TRY(load(paged, number));
	paged->last->used = true;
	*out = &paged->last->data[id % PAGE];
	return TTNN_OK;
}

void tt_paged_deinit(struct tt_paged *paged)
{
	for (size_t i = 0; i < paged->page_count; i++)
		tt_free(paged->pages[i].data);
	tt_free(paged->pages);
	tt_free(paged->places);
	if (paged->file)
		close(paged->file - 1);
	memset(paged, 0, sizeof(*paged));
}
