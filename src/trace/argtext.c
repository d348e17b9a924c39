#include "trace/argtext.h"

#include "event/value_text.h"
#include "tensor/text.h"

void tt_argtext_tensor(struct tt_str *out, const struct tt_event_tensor *tensor,
		       struct tt_argtext_style *style)
{
	tt_str_adds(out, "Tensor(storage=");
	tt_str_adds(out, tensor->on_device ? "DeviceStorage" : "HostStorage");
	tt_str_adds(out, "(),tensor_spec=");
	tt_spectext_add(out, &style->specs, TT_SPECTEXT_WHOLE, tensor->spec, style->dialect);
	tt_str_addc(out, ')');
}

static void add_list(struct tt_str *out, const struct ttnn_value *value,
		     struct tt_argtext_style *style)
{
	tt_str_addc(out, '{');
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		tt_argtext_value(out, &value->items[i], style);
	}
	tt_str_addc(out, '}');
}

void tt_argtext_value(struct tt_str *out, const struct ttnn_value *value,
		      struct tt_argtext_style *style)
{
	struct tt_event_tensor tensor;
	uint32_t device;

	if (tt_value_seen_tensor(&tensor, value))
		tt_argtext_tensor(out, &tensor, style);
	else if (!tt_dialect(style->dialect)->device_pointers &&
		 tt_value_seen_device(&device, value))
		tt_str_addu(out, device);
	else if (value->kind == TTNN_VALUE_OPAQUE)
		tt_str_adds(out, value->text);
	else if (value->kind == TTNN_VALUE_LIST)
		add_list(out, value, style);
	else if (value->kind == TTNN_VALUE_SHAPE)
		tt_text_shape(out, value->shape, style->dialect);
	else if (value->kind == TTNN_VALUE_MEMORY)
		tt_text_memory_config(out, value->memory, style->dialect);
	else
		tt_value_text(out, value);
}

/* A device operation has two arguments: its attributes, and the tensors. */
static bool is_device_op(const struct tt_event_scope_begin *scope)
{
	return scope->kind == TT_SCOPE_DEVICE_OP && scope->schema;
}

size_t tt_argtext_count(const struct tt_event_scope_begin *scope)
{
	return is_device_op(scope) ? 2 : scope->arg_count - scope->left_out;
}

static bool has_tensor(const struct ttnn_value *value)
{
	struct tt_event_tensor tensor;

	for (uint32_t i = 0; value->kind == TTNN_VALUE_OBJECT && i < value->count; i++)
		if (tt_value_seen_tensor(&tensor, &value->items[i]))
			return true;
	return false;
}

/* An object with tensors among its fields, of a program that is made of others. */
static void add_holder(struct tt_str *out, const struct ttnn_value *value,
		       struct tt_argtext_style *style)
{
	tt_str_adds(out, value->schema->name);
	tt_str_addc(out, '(');
	for (uint32_t i = 0; i < value->count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		tt_argtext_value(out, &value->items[i], style);
	}
	tt_str_addc(out, ')');
}

/* Attributes are an object of the program's schema. Texts stand for the holders of tensors in it: few have any. */
static void add_attributes(struct tt_str *out, const struct tt_event_scope_begin *scope,
			   struct tt_argtext_style *style)
{
	struct ttnn_value attributes = tt_value_object(scope->schema, scope->args), told[8];
	struct tt_str holder = {0};
	bool held = false;

	for (size_t i = 0; i < scope->schema->count && i < sizeof(told) / sizeof(told[0]); i++) {
		told[i] = scope->args[i];
		if (held || !has_tensor(&told[i]))
			continue;
		held = true;
		add_holder(&holder, &told[i], style);
		told[i] = ttnn_v_string(tt_str_text(&holder));
	}
	if (held && scope->schema->count <= sizeof(told) / sizeof(told[0]))
		attributes.items = told;
	tt_value_text(out, &attributes);
	tt_str_deinit(&holder);
}

void tt_argtext(struct tt_str *out, const struct tt_event_scope_begin *scope, size_t index,
		struct tt_argtext_style *style)
{
	if (!is_device_op(scope)) {
		tt_argtext_value(out, &scope->args[index], style);
		return;
	}
	if (index == 0) {
		add_attributes(out, scope, style);
		return;
	}
	tt_str_addc(out, '{');
	for (size_t i = 0; i < scope->input_count; i++) {
		if (i)
			tt_str_adds(out, ", ");
		tt_argtext_tensor(out, &scope->inputs[i], style);
	}
	tt_str_addc(out, '}');
}
