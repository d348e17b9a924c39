/* fidelity_made.c: what has memory but is no tensor: global semaphores and circular buffers. See fidelity.h. */
#include <string.h>
#include <ttnn_frontend.h>

#include "device/device.h"
#include "fidelity/fidelity.h"
#include "ops/objects.h"
#include "tensor/core.h"

#define MADE_MAX 2 /* tensors of a slot */

static tt_status slot_make(struct fid_slot **out, struct fid_names *names, const char *name)
{
	*out = TT_VEC_PUSH(&names->slots);
	if (!*out)
		return tt_fail_nomem();
	**out = (struct fid_slot){
		.name = name,
		.tensors = tt_arena_alloc(&names->arena, MADE_MAX * sizeof(ttnn_tensor *))};
	return (*out)->tensors ? TTNN_OK : tt_fail_nomem();
}

/* So many bytes on each of these cores. */
static tt_status reserve(struct fid_slot *slot, struct fid_names *names, const ttnn_core_set *cores,
			 uint32_t bytes)
{
	struct ttnn_spec_args args = {
		.shape = {2, {(uint32_t)ttnn_core_set_cores(cores), bytes}},
		.dtype = TTNN_UINT8,
		.memory = {.layout = TTNN_HEIGHT_SHARDED,
			   .buffer = TTNN_L1,
			   .has_shard = true,
			   .shard = {.grid = cores, .height = 1, .width = bytes}}};
	struct ttnn_tensor_spec spec;

	TT_TRY(ttnn_tensor_spec_make(&spec, &args));
	TT_TRY(ttnn_tensor_reserve(&slot->tensors[slot->count], names->device, &spec));
	slot->count++;
	return TTNN_OK;
}

static tt_status make_semaphore(struct fid_slot *slot, struct fid_names *names,
				const struct tt_json *args)
{
	(void)args;
	slot->made = (struct ttnn_value){.kind = TTNN_VALUE_OPAQUE, .text = "GlobalSemaphore"};
	return reserve(slot, names, names->device->grid, 4);
}

/* Arguments: device, pairs of a sender and its receivers, bytes. Beside the ring lie its settings. */
static tt_status make_ring(struct fid_slot *slot, struct fid_names *names,
			   const struct tt_json *args)
{
	const ttnn_core_set *all = NULL;
	struct ttnn_value given[3], *senders, *receivers;
	uint32_t most = 0, settings;

	for (size_t i = 0; i < TT_COUNT(given); i++)
		TT_TRY(fid_value(&given[i], names, tt_json_at(args, i), false));
	if (given[1].kind != TTNN_VALUE_LIST || given[2].kind != TTNN_VALUE_INT)
		return tt_fail(TTNN_TYPE, "a list of senders and a size are expected");
	senders = tt_arena_calloc(&names->arena, 2ul * given[1].count, sizeof(*senders));
	if (!senders)
		return tt_fail_nomem();
	receivers = senders + given[1].count;
	for (uint32_t i = 0; i < given[1].count; i++) {
		const struct ttnn_value *pair = given[1].items[i].items;
		const ttnn_core_set *sender;

		if (given[1].items[i].kind != TTNN_VALUE_LIST || given[1].items[i].count != 2 ||
		    pair[0].kind != TTNN_VALUE_CORE || pair[1].kind != TTNN_VALUE_CORE_SET)
			return tt_fail(TTNN_TYPE, "a sender and its receivers are expected");
		senders[i] = pair[0];
		receivers[i] = pair[1];
		TT_TRY(ttnn_core_set_make(
			&sender, &(struct ttnn_core_range){pair[0].core, pair[0].core}, 1));
		TT_TRY(tt_core_set_merge(&all, sender, all));
		TT_TRY(tt_core_set_merge(&all, all, pair[1].core_set));
		if (ttnn_core_set_cores(pair[1].core_set) > most)
			most = (uint32_t)ttnn_core_set_cores(pair[1].core_set);
	}
	settings = (4 * (8 + 2 * most) + 15) / 16 * 16 + 2 * 16 * most;
	TT_TRY(reserve(slot, names, all, (uint32_t)given[2].integer));
	TT_TRY(reserve(slot, names, all, settings));
	const struct ttnn_arg fields[] = {
		{"room", ttnn_v_tensor(slot->tensors[0])},
		{"senders", ttnn_v_list(senders, given[1].count)},
		{"receivers", ttnn_v_list(receivers, given[1].count)},
		{"size", given[2]},
	};
	return tt_object_make(&slot->made, &names->arena, "GlobalCircularBuffer", fields,
			      TT_COUNT(fields));
}

static const struct maker {
	const char *call;
	tt_status (*make)(struct fid_slot *slot, struct fid_names *names,
			  const struct tt_json *args);
} makers[] = {
	{"create_global_semaphore", make_semaphore},
	{"create_global_circular_buffer", make_ring},
};

static const struct maker *maker_find(const char *call)
{
	for (size_t i = 0; call && i < TT_COUNT(makers); i++)
		if (strcmp(makers[i].call, call) == 0)
			return &makers[i];
	return NULL;
}

bool fid_makes(const char *call)
{
	return maker_find(call);
}

tt_status fid_make(struct fid_names *names, const struct tt_json *step, const char *call)
{
	struct fid_slot *slot;

	TT_TRY(slot_make(&slot, names, tt_json_string(tt_json_get(step, "out"), NULL)));
	return maker_find(call)->make(slot, names, tt_json_get(step, "args"));
}
