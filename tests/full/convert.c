/*
 * convert.c: lets tests in other languages reach the number conversions.
 *
 *	convert elements FROM TO IN OUT    IN holds raw elements of type FROM; OUT gets those of type TO
 *	convert tiles FROM TO IN OUT       the same with stored 32 × 32 tiles: block floats too
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

static const struct ttnn_tile tile = {.height = 32, .width = 32};

struct conversion {
	enum ttnn_dtype from, to;
	bool tiles;
};

/* What is converted at once: a tile or an element. */
static size_t unit_bytes(const struct conversion *c, enum ttnn_dtype dtype)
{
	return c->tiles ? tt_dtype_tile_bytes(dtype, &tile) : tt_dtype_bytes(dtype);
}

static tt_status convert(void *out, const void *in, size_t units, const struct conversion *c)
{
	struct tt_tile_run run = {.tile = tile, .tiles = units};

	return c->tiles ? tt_convert_tiles(out, c->to, in, c->from, &run)
			: tt_convert(out, c->to, in, c->from, units);
}

static tt_status convert_file(const char *out_path, const char *in_path, const struct conversion *c)
{
	tt_status status;
	size_t size, units;
	char *in, *out;

	TT_TRY(tt_file_read(&in, &size, in_path));
	units = size / unit_bytes(c, c->from);
	out = tt_alloc(units * unit_bytes(c, c->to) + 1);
	status = out ? convert(out, in, units, c) : tt_fail_nomem();
	if (status == TTNN_OK)
		status = tt_file_save(out_path, out, units * unit_bytes(c, c->to));
	tt_free(in);
	tt_free(out);
	return status;
}

static tt_status run(char **args)
{
	struct conversion c = {.tiles = strcmp(args[0], "tiles") == 0};

	TT_TRY(ttnn_dtype_find(&c.from, args[1]));
	TT_TRY(ttnn_dtype_find(&c.to, args[2]));
	return convert_file(args[4], args[3], &c);
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: convert elements|tiles FROM TO IN OUT\n");
		return 2;
	}
	if (run(argv + 1) != TTNN_OK) {
		fprintf(stderr, "convert: %s\n", ttnn_error());
		return 1;
	}
	return 0;
}
