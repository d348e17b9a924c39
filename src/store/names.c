#include "store/names.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

static const char *const excluded[] = {
	"ttnn.unary_chain",
	"ttnn.view",
	"ttnn.pearson_correlation_coefficient",
	"ttnn.dump_tensor",
	"ttnn.dram_prefetcher",
	"ttnn.complex_tensor",
	"ttnn.as_tensor",
	"ttnn.allocate_tensor_on_device",
	"ttnn.to_device",
	"ttnn.to_dtype",
	"ttnn.to_layout",
	"ttnn.to_memory_config",
	"ttnn.to_torch",
	"ttnn.prim.binary",
	"ttnn.prim.example",
	"ttnn.prim.example_multiple_return",
	"ttnn.from_device",
	"ttnn.from_torch",
	"ttnn.composite_example",
	"ttnn.composite_example_multiple_return",
	"ttnn.deallocate",
	"ttnn.move",
	"ttnn.reallocate",
	"ttnn.load_tensor",
	/* since 2026 */
	"ttnn.copy_host_to_device_tensor",
	"ttnn.copy_device_to_host_tensor",
};

const char *tt_names_excluded_at(size_t i)
{
	return i < sizeof(excluded) / sizeof(excluded[0]) ? excluded[i] : NULL;
}

bool tt_names_excluded(const char *op)
{
	for (size_t i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++)
		if (strcmp(excluded[i], op) == 0)
			return true;
	return false;
}

void tt_names_dotted(struct tt_str *out, const char *name)
{
	for (; *name; name++) {
		bool pair = name[0] == ':' && name[1] == ':';

		tt_str_addc(out, pair ? '.' : *name);
		name += pair;
	}
}

/* The first word of each line; the rest of it, and lines that begin otherwise, are remarks. */
tt_status tt_names_load(struct tt_names *out, const char *path)
{
	tt_status status = TTNN_OK;
	size_t size;
	char *text;

	*out = (struct tt_names){0};
	TT_TRY(tt_file_read(&text, &size, path));
	for (const char *at = text; *at && status == TTNN_OK;
	     at += strcspn(at, "\n"), at += *at == '\n') {
		struct tt_str name = {0};
		bool added;

		if (strncmp(at, "ttnn", 4) != 0)
			continue;
		tt_str_add(&name, at, strcspn(at, " \t\r\n#"));
		if (!tt_map_add(&out->map, tt_str_text(&name), name.length, &added))
			status = tt_fail_nomem();
		else
			out->count += added;
		tt_str_deinit(&name);
	}
	tt_free(text);
	if (status != TTNN_OK)
		tt_names_deinit(out);
	return status;
}

bool tt_names_has(const struct tt_names *names, const char *op)
{
	return tt_map_finds(&names->map, op);
}

void tt_names_deinit(struct tt_names *names)
{
	tt_map_deinit(&names->map);
	*names = (struct tt_names){0};
}
