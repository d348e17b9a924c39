#include "report/ids.h"

#include <string.h>

/* Ids of a group. */
#define NEIGHBOURS 64

struct group {
	struct tt_report_id ids[NEIGHBOURS];
};

void tt_report_ids_init(struct tt_report_ids *ids, const char *directory)
{
	*ids = (struct tt_report_ids){0};
	tt_spool_init(&ids->spool, sizeof(struct group), directory);
}

tt_status tt_report_ids_at(struct tt_report_id **out, struct tt_report_ids *ids, int64_t id)
{
	uint64_t key = (uint64_t)id / NEIGHBOURS;
	uint32_t number = tt_intmap_get(&ids->groups, key);
	struct group *group;

	if (number) {
		group = tt_spool_change(&ids->spool, number - 1);
	} else {
		group = ids->spool.count < UINT32_MAX ? tt_spool_push(&ids->spool) : NULL;
		if (group)
			TT_TRY(tt_intmap_set(&ids->groups, key, (uint32_t)ids->spool.count));
	}
	if (!group)
		return ids->spool.status == TTNN_OK ? tt_fail_nomem() : ids->spool.status;
	*out = &group->ids[(uint64_t)id % NEIGHBOURS];
	return TTNN_OK;
}

void tt_report_ids_clear(struct tt_report_ids *ids)
{
	tt_intmap_clear(&ids->groups);
	tt_spool_clear(&ids->spool);
}

void tt_report_ids_deinit(struct tt_report_ids *ids)
{
	tt_intmap_deinit(&ids->groups);
	tt_spool_deinit(&ids->spool);
}
