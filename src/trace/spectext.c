#include "trace/spectext.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "tensor/enums.h"
#include "tensor/shape.h"

static void compose(struct tt_str *out, enum tt_spectext_kind kind,
		    const struct ttnn_tensor_spec *spec, enum ttnn_dialect dialect)
{
	switch (kind) {
	case TT_SPECTEXT_WHOLE:
		tt_text_tensor_spec(out, spec, dialect);
		break;
	case TT_SPECTEXT_SHAPE:
		tt_text_shape(out, &spec->shape, dialect);
		break;
	case TT_SPECTEXT_DTYPE:
		tt_text_member(out, &tt_enum_dtype, spec->dtype, dialect);
		break;
	case TT_SPECTEXT_LAYOUT:
		tt_text_member(out, &tt_enum_layout, spec->layout, dialect);
		break;
	case TT_SPECTEXT_MEMORY:
		tt_text_memory_config(out, &spec->memory, dialect);
		break;
	case TT_SPECTEXT_KINDS:
		break;
	}
}

/* Specs that are equal byte by byte have equal texts; others may have, too, and are kept apart. */
static bool is_of(const struct tt_spectext *text, const struct ttnn_tensor_spec *spec,
		  enum ttnn_dialect dialect)
{
	return text->number && text->dialect == dialect &&
	       memcmp(&text->spec, spec, sizeof(*spec)) == 0;
}

/* Where a spec is remembered, if it is. */
static size_t place_of(const struct ttnn_tensor_spec *spec)
{
	uint64_t hash = tt_hash_u64(spec->bytes, (uint64_t)spec->dtype << 32 | spec->layout);

	hash = tt_shape_hash(hash, &spec->shape);
	hash = tt_hash_u64(hash, (uint64_t)spec->memory.layout << 32 | spec->memory.buffer);
	return (size_t)(hash >> 40) % TT_SPECTEXT_PLACES;
}

/* What is remembered of a spec; NULL when memory is exhausted. */
static struct tt_spectext *find(struct tt_spectexts *texts, const struct ttnn_tensor_spec *spec,
				enum ttnn_dialect dialect)
{
	struct tt_spectext *found;
	size_t place, first;

	if (!texts->kept)
		texts->kept = tt_calloc(TT_SPECTEXT_PLACES * TT_SPECTEXT_EACH, sizeof(*found));
	if (!texts->kept)
		return NULL;
	if (is_of(&texts->kept[texts->last], spec, dialect))
		return &texts->kept[texts->last];
	place = place_of(spec);
	first = place * TT_SPECTEXT_EACH;
	for (texts->last = first; texts->last < first + TT_SPECTEXT_EACH; texts->last++)
		if (is_of(&texts->kept[texts->last], spec, dialect))
			return &texts->kept[texts->last];
	texts->last = first + texts->next[place]++ % TT_SPECTEXT_EACH;
	found = &texts->kept[texts->last];
	for (int kind = 0; kind < TT_SPECTEXT_KINDS; kind++)
		tt_str_clear(&found->texts[kind]);
	found->spec = *spec;
	found->dialect = dialect;
	found->number = ++texts->numbers;
	return found;
}

uint64_t tt_spectext_number(struct tt_spectexts *texts, const struct ttnn_tensor_spec *spec,
			    enum ttnn_dialect dialect)
{
	const struct tt_spectext *found = find(texts, spec, dialect);

	return found ? found->number : 0;
}

void tt_spectext_add(struct tt_str *out, struct tt_spectexts *texts, enum tt_spectext_kind kind,
		     const struct ttnn_tensor_spec *spec, enum ttnn_dialect dialect)
{
	struct tt_spectext *found = find(texts, spec, dialect);
	struct tt_str *text = found ? &found->texts[kind] : NULL;

	if (text && !text->length)
		compose(text, kind, spec, dialect);
	if (text && !text->failed) {
		tt_str_add(out, tt_str_text(text), text->length);
		return;
	}
	compose(out, kind, spec, dialect);
}

void tt_spectexts_deinit(struct tt_spectexts *texts)
{
	for (size_t i = 0; texts->kept && i < (size_t)TT_SPECTEXT_PLACES * TT_SPECTEXT_EACH; i++)
		for (int kind = 0; kind < TT_SPECTEXT_KINDS; kind++)
			tt_str_deinit(&texts->kept[i].texts[kind]);
	tt_free(texts->kept);
	memset(texts, 0, sizeof(*texts));
}
