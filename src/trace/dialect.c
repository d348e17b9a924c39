#include "trace/dialect.h"

/* These return a tuple, which upstream's captures do not look into. To add one: its name. */
static const char *const tuples[] = {
	"NlpCreateHeadsDeviceOperation",
	"NlpCreateHeadsFalcon7BDeviceOperation",
	"NonZeroIndicesDeviceOperation",
	"TopKDeviceOperation",
	NULL,
};

static const struct tt_dialect dialects[] = {
	[TTNN_DIALECT_SEED] =
		{
			.scopes =
				{
					[TT_SCOPE_OPERATION] = {.written = true,
								.takes = true,
								.guarded = true},
					[TT_SCOPE_PRIM] = {.written = true,
							   .takes = true,
							   .guarded = true},
					[TT_SCOPE_DEVICE_OP] = {.written = true,
								.name = "Device Operation",
								.guarded = true},
					[TT_SCOPE_CREATE] = {.written = true,
							     .name = "create_device_tensor",
							     .guarded = true},
					[TT_SCOPE_HOST] = {.written = true,
							   .takes = true,
							   .guarded = true},
				},
			.unwritten = TT_SCOPE_DEALLOCATE,
			.one_memory = true,
			.errors = true,
			.stacks = true,
			.duration_params = true,
			.all_threads = true,
			.threads = true,
			.view_addresses = true,
		},
	[TTNN_DIALECT_TT_METAL] =
		{
			.scopes =
				{
					[TT_SCOPE_FRONTEND] = {.written = true,
							       .guarded = true,
							       .plain_end = true},
					[TT_SCOPE_DEVICE_OP] = {.written = true,
								.takes = true,
								.guarded = true},
					[TT_SCOPE_CREATE] = {.written = true},
					[TT_SCOPE_HOST] = {.written = true, .takes = true},
				},
			.tuples = tuples,
			.fresh_tensors = true,
			.typed = true,
			.programs = true,
			.device_pointers = true,
			.renumbers = true,
		},
};

const struct tt_dialect *tt_dialect(enum ttnn_dialect dialect)
{
	size_t count = sizeof(dialects) / sizeof(dialects[0]);

	return &dialects[(size_t)dialect < count ? (size_t)dialect : TTNN_DIALECT_SEED];
}

/* Params that one dialect alone has. To make another differ: a row. */
static const struct {
	enum tt_graph_type type;
	enum tt_graph_key key;
	enum ttnn_dialect only;
} differences[] = {
	{TT_GRAPH_TENSOR, TT_KEY_SIZE, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_TENSOR, TT_KEY_STORAGE_TYPE, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_BUFFER, TT_KEY_BUFFER_TYPE, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_BUFFER_ALLOCATE, TT_KEY_BUFFER_TYPE, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_BUFFER_DEALLOCATE, TT_KEY_BUFFER_TYPE, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_BUFFER_DEALLOCATE, TT_KEY_ADDRESS, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_FUNCTION_END, TT_KEY_ABORTED, TTNN_DIALECT_TT_METAL},
	{TT_GRAPH_FUNCTION_START, TT_KEY_OPERATION, TTNN_DIALECT_SEED},
	{TT_GRAPH_FUNCTION_END, TT_KEY_OPERATION, TTNN_DIALECT_SEED},
	{TT_GRAPH_FUNCTION_END, TT_KEY_DURATION, TTNN_DIALECT_SEED},
	{TT_GRAPH_CAPTURE_END, TT_KEY_DURATION, TTNN_DIALECT_SEED},
	{TT_GRAPH_CAPTURE_START, TT_KEY_BUFFERS, TTNN_DIALECT_SEED},
	{TT_GRAPH_CAPTURE_START, TT_KEY_THREADS, TTNN_DIALECT_SEED},
};

bool tt_dialect_has(enum ttnn_dialect dialect, enum tt_graph_type type, enum tt_graph_key key)
{
	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (differences[i].type == type && differences[i].key == key)
			return differences[i].only == dialect;
	return true;
}

_Static_assert(TT_KEY_COUNT <= 64, "a key is a bit of a mask");

uint64_t tt_dialect_lacks(enum ttnn_dialect dialect, enum tt_graph_type type)
{
	uint64_t keys = 0;

	for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++)
		if (differences[i].type == type && differences[i].only != dialect)
			keys |= UINT64_C(1) << differences[i].key;
	return keys;
}
