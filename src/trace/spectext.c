#include "trace/spectext.h"

#include <string.h>

#include "base/mem.h"
#include "tensor/enums.h"

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
	return text->used && text->dialect == dialect &&
	       memcmp(&text->spec, spec, sizeof(*spec)) == 0;
}

/* What is remembered of a spec; NULL when memory is exhausted. */
static struct tt_spectext *find(struct tt_spectexts *texts, const struct ttnn_tensor_spec *spec,
				enum ttnn_dialect dialect)
{
	struct tt_spectext *found;

	if (!texts->kept)
		texts->kept = tt_calloc(TT_SPECTEXT_KEPT, sizeof(*texts->kept));
	if (!texts->kept)
		return NULL;
	if (is_of(&texts->kept[texts->last], spec, dialect))
		return &texts->kept[texts->last];
	for (size_t i = 0; i < TT_SPECTEXT_KEPT; i++)
		if (is_of(&texts->kept[i], spec, dialect)) {
			texts->last = i;
			return &texts->kept[i];
		}
	texts->last = texts->next;
	found = &texts->kept[texts->next];
	texts->next = (texts->next + 1) % TT_SPECTEXT_KEPT;
	for (int kind = 0; kind < TT_SPECTEXT_KINDS; kind++)
		tt_str_clear(&found->texts[kind]);
	found->spec = *spec;
	found->dialect = dialect;
	found->used = true;
	return found;
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
	for (size_t i = 0; texts->kept && i < TT_SPECTEXT_KEPT; i++)
		for (int kind = 0; kind < TT_SPECTEXT_KINDS; kind++)
			tt_str_deinit(&texts->kept[i].texts[kind]);
	tt_free(texts->kept);
	memset(texts, 0, sizeof(*texts));
}
