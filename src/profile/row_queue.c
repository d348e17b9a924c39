#include "profile/row_queue.h"

#include <string.h>

#include "base/mem.h"
#include "base/vec.h"

static bool is_before(const struct tt_ops_waiting *a, const struct tt_ops_waiting *b)
{
	if (a->row.order_ns != b->row.order_ns)
		return a->row.order_ns < b->row.order_ns;
	return a->sequence < b->sequence;
}

static void swap(struct tt_ops_waiting *a, struct tt_ops_waiting *b)
{
	struct tt_ops_waiting kept = *a;

	*a = *b;
	*b = kept;
}

tt_status tt_ops_queue_add(struct tt_ops_queue *queue, struct tt_ops_row *row)
{
	struct tt_ops_waiting *last = TT_VEC_PUSH(queue);
	size_t at = queue->count - 1;

	if (!last) {
		tt_ops_row_deinit(row);
		return tt_fail_nomem();
	}
	*last = (struct tt_ops_waiting){*row, queue->sequence++};
	for (; at && is_before(&queue->data[at], &queue->data[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&queue->data[at], &queue->data[(at - 1) / 2]);
	return TTNN_OK;
}

void tt_ops_queue_take(struct tt_ops_row *out, struct tt_ops_queue *queue)
{
	struct tt_ops_waiting *heap = queue->data;
	size_t count = --queue->count, at = 0, child;

	*out = heap[0].row;
	heap[0] = heap[count];
	while ((child = 2 * at + 1) < count) {
		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &heap[at]))
			break;
		swap(&heap[at], &heap[child]);
		at = child;
	}
}

void tt_ops_queue_deinit(struct tt_ops_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		tt_ops_row_deinit(&queue->data[i].row);
	TT_VEC_DEINIT(queue);
	memset(queue, 0, sizeof(*queue));
}
