/* repro.c: a recorded call as source code. What the two languages spell differently is in their rows. */
#include "sweep/repro.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <ttnn_frontend.h>

#include "ops/objects.h"
#include "tensor/enums.h"

/* A text under way. */
struct speller {
	struct tt_str *out;
	enum tt_repro_language language;
	size_t tensors; /* so many were named */
	tt_status status;
};

static void spell(struct speller *s, const struct ttnn_value *value);

static bool is_c(const struct speller *s)
{
	return s->language == TT_REPRO_C;
}

/* ---- small things ---------------------------------------------------------------------------------------- */

static void spell_enum(struct speller *s, const struct tt_enum *type, int64_t value)
{
	const char *name = tt_enum_name(type, value), *module = "tensor";
	const ttnn_enum *found;

	for (size_t i = 0; (found = ttnn_enum_at(&module, i)) && found != type; i++)
		;
	if (is_c(s))
		tt_str_addf(s->out, "member(\"%s\", \"%s\")", type->name, name);
	else
		tt_str_addf(s->out, "ttnn._ttnn.%s.%s.%s", module, type->name, name);
}

/* "TTNN_BFLOAT16": the constant of ttnn.h. */
static const char *constant(const struct tt_enum *type, int64_t value)
{
	const char *name = tt_enum_name(type, value);

	return name ? name : "?";
}

static void spell_cores(struct speller *s, const ttnn_core_set *set)
{
	size_t count = 0;
	const struct ttnn_core_range *ranges = ttnn_core_set_ranges(set, &count);

	tt_str_adds(s->out, is_c(s) ? "cores((struct ttnn_core_range[]){" : "ttnn.CoreRangeSet([");
	for (size_t i = 0; i < count; i++)
		tt_str_addf(
			s->out,
			is_c(s) ? "%s{{%u, %u}, {%u, %u}}"
				: "%sttnn.CoreRange(ttnn.CoreCoord(%u, %u), ttnn.CoreCoord(%u, %u))",
			i ? ", " : "", ranges[i].start.x, ranges[i].start.y, ranges[i].end.x,
			ranges[i].end.y);
	if (is_c(s))
		tt_str_addf(s->out, "}, %zu)", count);
	else
		tt_str_adds(s->out, "])");
}

static void spell_dims(struct speller *s, const struct ttnn_shape *shape)
{
	for (uint32_t i = 0; i < shape->rank; i++)
		tt_str_addf(s->out, "%s%u", i ? ", " : "", shape->dim[i]);
}

static void spell_shape(struct speller *s, const struct ttnn_shape *shape)
{
	if (is_c(s))
		tt_str_addf(s->out, "{%u, {", shape->rank);
	else
		tt_str_adds(s->out, "ttnn.Shape([");
	spell_dims(s, shape);
	tt_str_adds(s->out, is_c(s) ? "}}" : "])");
}

static void spell_real(struct speller *s, double real)
{
	if (isfinite(real))
		tt_str_addf(s->out, "%.17g", real);
	else if (is_c(s))
		tt_str_adds(s->out, isnan(real) ? "NAN" : real < 0 ? "-INFINITY" : "INFINITY");
	else
		tt_str_addf(s->out, "float(\"%s\")",
			    isnan(real) ? "nan"
			    : real < 0  ? "-inf"
					: "inf");
}

static void spell_string(struct speller *s, const char *text, size_t length)
{
	tt_str_adds(s->out, "\"");
	for (size_t i = 0; i < length; i++)
		if (text[i] == '"' || text[i] == '\\')
			tt_str_addf(s->out, "\\%c", text[i]);
		else if ((unsigned char)text[i] < ' ')
			tt_str_addf(s->out, is_c(s) ? "\\%03o" : "\\x%02x", text[i]);
		else
			tt_str_add(s->out, &text[i], 1);
	tt_str_adds(s->out, "\"");
}

/* ---- where tensors lie ------------------------------------------------------------------------------------- */

static void spell_shard(struct speller *s, const struct ttnn_shard_spec *shard)
{
	tt_str_adds(s->out, is_c(s) ? "{.grid = " : "ttnn.ShardSpec(");
	spell_cores(s, shard->grid);
	tt_str_addf(s->out,
		    is_c(s) ? ", .height = %u, .width = %u, .orientation = TTNN_ORIENT_%s}"
			    : ", [%u, %u], ttnn.ShardOrientation.%s)",
		    shard->height, shard->width,
		    constant(&tt_enum_orientation, shard->orientation));
}

static void spell_nd_shard(struct speller *s, const struct ttnn_nd_shard_spec *shard)
{
	tt_str_adds(s->out, is_c(s) ? "{.shape = " : "ttnn.NdShardSpec(");
	spell_shape(s, &shard->shape);
	tt_str_adds(s->out, is_c(s) ? ", .grid = " : ", ");
	spell_cores(s, shard->grid);
	tt_str_addf(s->out,
		    is_c(s) ? ", .orientation = TTNN_ORIENT_%s, .strategy = TTNN_%s}"
			    : ", orientation=ttnn.ShardOrientation.%s, "
			      "shard_distribution_strategy=ttnn.ShardDistributionStrategy.%s)",
		    constant(&tt_enum_orientation, shard->orientation),
		    constant(&tt_enum_shard_strategy, shard->strategy));
}

static void spell_memory(struct speller *s, const struct ttnn_memory_config *memory)
{
	bool nd = memory->created_with_nd_shard && memory->has_nd_shard;
	const char *layout = constant(&tt_enum_memory_layout, memory->layout),
		   *buffer = constant(&tt_enum_buffer_type, memory->buffer);

	if (is_c(s) && nd)
		tt_str_addf(s->out, "nd_memory(TTNN_%s, (struct ttnn_nd_shard_spec)", buffer);
	else if (is_c(s))
		tt_str_addf(s->out,
			    "(struct ttnn_memory_config){.layout = TTNN_%s, .buffer = TTNN_%s",
			    layout, buffer);
	else if (nd)
		tt_str_addf(s->out, "ttnn.MemoryConfig(ttnn.BufferType.%s, ", buffer);
	else
		tt_str_addf(s->out,
			    "ttnn.MemoryConfig(ttnn.TensorMemoryLayout.%s, ttnn.BufferType.%s",
			    layout, buffer);
	if (nd) {
		spell_nd_shard(s, &memory->nd_shard);
	} else if (memory->has_shard) {
		tt_str_adds(s->out, is_c(s) ? ", .has_shard = true, .shard = " : ", ");
		spell_shard(s, &memory->shard);
	}
	tt_str_adds(s->out, is_c(s) && !nd ? "}" : ")");
}

/* ---- containers -------------------------------------------------------------------------------------------- */

static void spell_list(struct speller *s, const struct ttnn_value *value)
{
	tt_str_adds(s->out, is_c(s) ? "ttnn_v_list((struct ttnn_value[]){" : "[");
	for (uint32_t i = 0; i < value->count; i++) {
		tt_str_adds(s->out, i ? ", " : "");
		spell(s, &value->items[i]);
	}
	if (is_c(s))
		tt_str_addf(s->out, "%s}, %u)", value->count ? "" : "{0}", value->count);
	else
		tt_str_adds(s->out, "]");
}

static void spell_object(struct speller *s, const struct ttnn_value *value)
{
	const char *kind = tt_object_kind_of(value->schema);
	size_t count = 0;

	if (!kind) {
		s->status =
			tt_fail(TTNN_UNSUPPORTED, "a %s cannot be written", value->schema->name);
		return;
	}
	tt_str_addf(s->out, is_c(s) ? "object(\"%s\", (struct ttnn_arg[]){" : "ttnn.%s(", kind);
	for (uint32_t i = 0; i < value->count; i++) {
		if (!tt_value_given(&value->items[i]))
			continue;
		tt_str_addf(s->out, is_c(s) ? "%s{\"%s\", " : "%s%s=", count++ ? ", " : "",
			    value->schema->fields[i].name);
		spell(s, &value->items[i]);
		tt_str_adds(s->out, is_c(s) ? "}" : "");
	}
	if (is_c(s))
		tt_str_addf(s->out, "%s}, %zu)", count ? "" : "{0}", count);
	else
		tt_str_adds(s->out, ")");
}

/* ---- any value ----------------------------------------------------------------------------------------------- */

static void spell_number(struct speller *s, const struct ttnn_value *value)
{
	if (value->kind == TTNN_VALUE_BOOL)
		tt_str_addf(s->out, is_c(s) ? "ttnn_v_bool(%s)" : "%s",
			    is_c(s) ? (value->boolean ? "true" : "false")
				    : (value->boolean ? "True" : "False"));
	if (value->kind == TTNN_VALUE_INT)
		tt_str_addf(s->out, is_c(s) ? "ttnn_v_int(%" PRId64 ")" : "%" PRId64,
			    value->integer);
	if (value->kind == TTNN_VALUE_REAL) {
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_real(" : "");
		spell_real(s, value->real);
		tt_str_adds(s->out, is_c(s) ? ")" : "");
	}
}

/* In C a value is made of a pointer to the thing; in Python it is the thing. */
static void spell_thing(struct speller *s, const struct ttnn_value *value)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_SHAPE:
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_shape(&(struct ttnn_shape)" : "");
		spell_shape(s, value->shape);
		tt_str_adds(s->out, is_c(s) ? ")" : "");
		break;
	case TTNN_VALUE_MEMORY:
		tt_str_adds(s->out, is_c(s) ? "memory(" : "");
		spell_memory(s, value->memory);
		tt_str_adds(s->out, is_c(s) ? ")" : "");
		break;
	case TTNN_VALUE_CORE_SET:
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_core_set(" : "");
		spell_cores(s, value->core_set);
		tt_str_adds(s->out, is_c(s) ? ")" : "");
		break;
	case TTNN_VALUE_CORE:
		tt_str_addf(
			s->out,
			is_c(s) ? "(struct ttnn_value){.kind = TTNN_VALUE_CORE, .core = {%u, %u}}"
				: "ttnn.CoreCoord(%u, %u)",
			value->core.x, value->core.y);
		break;
	case TTNN_VALUE_TILE:
		tt_str_addf(s->out,
			    is_c(s) ? "(struct ttnn_value){.kind = TTNN_VALUE_TILE, .tile = "
				      "&(struct ttnn_tile){%u, %u}}"
				    : "ttnn.Tile((%u, %u))",
			    value->tile->height, value->tile->width);
		break;
	default:
		s->status = tt_fail(TTNN_UNSUPPORTED, "an argument cannot be written as source");
	}
}

static void spell(struct speller *s, const struct ttnn_value *value)
{
	switch ((enum ttnn_value_kind)value->kind) {
	case TTNN_VALUE_ABSENT:
	case TTNN_VALUE_NONE:
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_none()" : "None");
		break;
	case TTNN_VALUE_BOOL:
	case TTNN_VALUE_INT:
	case TTNN_VALUE_REAL:
		spell_number(s, value);
		break;
	case TTNN_VALUE_STRING:
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_string(" : "");
		spell_string(s, value->text, value->count);
		tt_str_adds(s->out, is_c(s) ? ")" : "");
		break;
	case TTNN_VALUE_ENUM:
		spell_enum(s, value->enumeration, value->integer);
		break;
	case TTNN_VALUE_SEEN_DEVICE:
		tt_str_adds(s->out, is_c(s) ? "ttnn_v_device(device)" : "device");
		break;
	case TTNN_VALUE_SEEN_TENSOR:
		tt_str_addf(s->out, is_c(s) ? "ttnn_v_tensor(tensors[%zu])" : "tensors[%zu]",
			    s->tensors++);
		break;
	case TTNN_VALUE_LIST:
		spell_list(s, value);
		break;
	case TTNN_VALUE_OBJECT:
		spell_object(s, value);
		break;
	default:
		spell_thing(s, value);
	}
}

/* ---- tensors ----------------------------------------------------------------------------------------------- */

/* One line for each tensor, in the order in which the call names them. */
static void spell_tensor(struct speller *s, const struct tt_event_tensor *seen, uint64_t below)
{
	const struct ttnn_tensor_spec *spec = seen->spec;
	const char *dtype = constant(&tt_enum_dtype, spec->dtype),
		   *layout = constant(&tt_enum_layout, spec->layout);

	if (is_c(s)) {
		tt_str_adds(s->out, "\t\tmade(&(struct ttnn_spec_args){.shape = ");
		spell_shape(s, &spec->shape);
		tt_str_addf(s->out, ", .dtype = TTNN_%s, .layout = TTNN_%s, .memory = ", dtype,
			    layout);
		spell_memory(s, &spec->memory);
		tt_str_addf(s->out, "}, %" PRIu64 ", %s),\n", below,
			    seen->on_device ? "device" : "NULL");
		return;
	}
	tt_str_adds(s->out, "        made([");
	spell_dims(s, &spec->shape);
	tt_str_addf(s->out, "], ttnn.DataType.%s, ttnn.Layout.%s, %" PRIu64 ", ", dtype, layout,
		    below);
	if (seen->on_device) {
		tt_str_adds(s->out, "device, ");
		spell_memory(s, &spec->memory);
	} else {
		tt_str_adds(s->out, "None, None");
	}
	tt_str_adds(s->out, "),\n");
}

static void spell_tensors(struct speller *s, const struct ttnn_value *value, uint64_t below)
{
	struct tt_event_tensor seen;

	if (tt_value_seen_tensor(&seen, value))
		spell_tensor(s, &seen, below);
	for (uint32_t i = 0; value->kind == TTNN_VALUE_LIST && i < value->count; i++)
		spell_tensors(s, &value->items[i], below);
}

/* ---- the program ------------------------------------------------------------------------------------------- */

static const char c_head_start[] =
	"#include <math.h>\n"
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"#include <string.h>\n"
	"#include <ttnn.h>\n"
	"#include <ttnn_frontend.h>\n"
	"\n"
	"#define TRY(call)                                     \\\n"
	"\tdo {                                          \\\n"
	"\t\tif ((call) != TTNN_OK) {              \\\n"
	"\t\t\tfprintf(stderr, \"%s\\n\", ttnn_error()); \\\n"
	"\t\t\texit(2);                      \\\n"
	"\t\t}                                     \\\n"
	"\t} while (0)\n"
	"\n"
	"/* A tensor of random numbers: from -1 to 1, or whole ones from 0 to before `below`. Without a device, on the host. */\n"
	"static ttnn_tensor *made(const struct ttnn_spec_args *args, uint64_t below, ttnn_device *device)\n"
	"{\n"
	"\tstatic uint64_t state = 1;\n"
	"\tstruct ttnn_tensor_spec spec;\n"
	"\tttnn_tensor *host, *tensor;\n"
	"\tuint64_t count;\n"
	"\tfloat *data;\n"
	"\n"
	"\tTRY(ttnn_tensor_spec_make(&spec, args));\n"
	"\tTRY(ttnn_shape_volume(&count, &args->shape));\n"
	"\tdata = malloc((count + 1) * sizeof(*data));\n"
	"\tif (!data)\n"
	"\t\texit(2);\n"
	"\tfor (uint64_t i = 0; i < count; i++) {\n"
	"\t\tdouble random = (double)((state = state * 6364136223846793005u + 1442695040888963407u) >> 11) / 9007199254740992.0;\n"
	"\n"
	"\t\tdata[i] = (float)(below ? floor(random * (double)below) : 2 * random - 1);\n"
	"\t}\n"
	"\tTRY(ttnn_tensor_from_data(&host, data, TTNN_FLOAT32, &spec, 0));\n"
	"\tfree(data);\n"
	"\tif (!device)\n"
	"\t\treturn host;\n"
	"\tTRY(ttnn_call_one(&tensor, \"ttnn.to_device\", (struct ttnn_arg[]){{NULL, ttnn_v_tensor(host)}, {NULL, ttnn_v_device(device)}, {NULL, ttnn_v_memory(&args->memory)}}, 3, TTNN_FRONTEND_C));\n"
	"\tttnn_tensor_unref(host);\n"
	"\treturn tensor;\n"
	"}\n"
	"\n"
	"/* What arguments are made of; not all calls need all of them. */\n"
	"static inline struct ttnn_value member(const char *type, const char *name)\n"
	"{\n"
	"\tconst char *module, *other;\n"
	"\tconst ttnn_enum *found;\n"
	"\tint64_t value;\n"
	"\n"
	"\tfor (size_t i = 0; (found = ttnn_enum_at(&module, i)); i++)\n"
	"\t\tfor (size_t k = 0; strcmp(ttnn_enum_name(found), type) == 0 && ttnn_enum_member(&other, &value, found, k); k++)\n"
	"\t\t\tif (strcmp(other, name) == 0)\n"
	"\t\t\t\treturn ttnn_v_enum(found, value);\n"
	"\tfprintf(stderr, \"there is no %s::%s\\n\", type, name);\n"
	"\texit(2);\n"
	"}\n"
	"\n"
	"static inline const ttnn_core_set *cores(const struct ttnn_core_range *ranges, size_t count)\n"
	"{\n"
	"\tconst ttnn_core_set *set;\n"
	"\n"
	"\tTRY(ttnn_core_set_make(&set, ranges, count));\n"
	"\treturn set;\n"
	"}\n"
	"\n"
	"static inline struct ttnn_value memory(struct ttnn_memory_config config)\n"
	"{\n"
	"\tstruct ttnn_memory_config *kept = malloc(sizeof(*kept));\n"
	"\n"
	"\tif (!kept)\n"
	"\t\texit(2);\n"
	"\t*kept = config;\n"
	"\treturn ttnn_v_memory(kept);\n"
	"}\n"
	"\n"
	"static inline struct ttnn_memory_config nd_memory(enum ttnn_buffer_type buffer, struct ttnn_nd_shard_spec spec)\n"
	"{\n"
	"\tstruct ttnn_memory_config config;\n"
	"\n"
	"\tTRY(ttnn_memory_config_nd(&config, buffer, &spec));\n"
	"\treturn config;\n"
	"}\n"
	"\n"
	"static inline struct ttnn_value object(const char *kind, const struct ttnn_arg *args, size_t count)\n"
	"{\n"
	"\tttnn_object *made;\n"
	"\n"
	"\tTRY(ttnn_object_new(&made, kind, args, count));\n"
	"\treturn ttnn_object_value(made);\n"
	"}\n"
	"\n";

static const char c_main[] = "int main(void)\n"
			     "{\n"
			     "\tstruct ttnn_device_options options = {.profile = ";

static const char c_head_end[] =
	", .l1_small_size = 24576};\n"
	"\tstruct ttnn_results golden = {.count = 0}, results = {.count = 0};\n"
	"\tdouble pcc, least = 1;\n"
	"\tuint64_t terms = 0;\n"
	"\tttnn_device *device;\n"
	"\n";

static const char c_tail[] =
	"\n"
	"\tfor (size_t i = 0; tensors[i]; i++) {\n"
	"\t\tuint64_t count;\n"
	"\n"
	"\t\tTRY(ttnn_shape_volume(&count, &ttnn_tensor_get_spec(tensors[i])->shape));\n"
	"\t\tterms += count;\n"
	"\t}\n"
	"\t/* The golden first: some operations write into what they are given. */\n"
	"\tTRY(ttnn_op_golden(&golden, ttnn_op_find(\"%s\"), args, %zu));\n"
	"\tTRY(ttnn_call(&results, \"%s\", args, %zu, TTNN_FRONTEND_C));\n"
	"\tfor (size_t i = 0; i < golden.count; i++) {\n"
	"\t\tttnn_tensor *host;\n"
	"\n"
	"\t\tTRY(ttnn_call_one(&host, \"ttnn.to_torch\", &(struct ttnn_arg){NULL, ttnn_v_tensor(results.tensors[i])}, 1, TTNN_FRONTEND_C));\n"
	"\t\tTRY(ttnn_tensor_alike(&pcc, golden.tensors[i], host, terms));\n"
	"\t\tleast = pcc < least ? pcc : least;\n"
	"\t}\n"
	"\tprintf(\"%s: correlation %%.6f, %%s\\n\", least, least >= %g ? \"passed\" : \"FAILED\");\n"
	"\treturn least >= %g ? 0 : 1;\n"
	"}\n";

static const char python_head[] =
	"import ttnn\n"
	"\n"
	"\n"
	"def made(shape, dtype, layout, below, device, memory_config):\n"
	"    \"\"\"A tensor of random numbers: from -1 to 1, or whole ones from 0 to before `below`.\"\"\"\n"
	"    count = 1\n"
	"    for extent in shape:\n"
	"        count *= extent\n"
	"    whole = dtype in (ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8)\n"
	"    values = [random.randrange(below or 100) if whole else random.uniform(-1, 1) for _ in range(count)]\n"
	"    tensor = ttnn.Tensor(values, shape, dtype, layout)\n"
	"    return tensor if device is None else ttnn.to_device(tensor, device, memory_config=memory_config)\n"
	"\n"
	"\n"
	"def tensors_of(result):\n"
	"    \"\"\"The tensors of a result, which may be one, or several with other things.\"\"\"\n"
	"    if isinstance(result, (list, tuple)):\n"
	"        return [tensor for part in result for tensor in tensors_of(part)]\n"
	"    return [result] if isinstance(result, ttnn.Tensor) else []\n"
	"\n"
	"\n"
	"def rows(tensor):\n"
	"    return ttnn._ttnn.all_operations()[\"ttnn.to_torch\"].run(tensor)\n"
	"\n"
	"\n"
	"def test_call():\n"
	"    random.seed(1)\n";

static const char python_tail[] =
	"    operation = ttnn._ttnn.all_operations()[\"%s\"]\n"
	"    golden = tensors_of(operation.golden(**arguments))  # first: some operations write into what they are given\n"
	"    result = tensors_of(operation.run(**arguments))\n"
	"    terms = sum(tensor.volume() for tensor in tensors)\n"
	"    pcc = min(ttnn._ttnn.tensor.alike(expected, rows(found), terms) for expected, found in zip(golden, result))\n"
	"    print(f\"%s: correlation {pcc:.6f}\")\n"
	"    assert pcc >= %g\n"
	"\n"
	"\n"
	"if __name__ == \"__main__\":\n"
	"    test_call()\n";

static void write_c(struct speller *s, const struct tt_recall *recall,
		    const struct tt_inputs *inputs)
{
	const char *op = recall->op;
	double bound = tt_op_find(op)->op->pcc;

	tt_str_adds(s->out, c_head_start);
	tt_str_adds(s->out, c_main);
	if (*recall->profile)
		spell_string(s, recall->profile, strlen(recall->profile));
	else
		tt_str_adds(s->out, "NULL");
	tt_str_adds(s->out, c_head_end);
	if (recall->rows)
		tt_str_addf(s->out,
			    "\tTRY(ttnn_mesh_open(&device, &(struct ttnn_mesh_options){.rows = %u, "
			    ".cols = %u}, &options));\n",
			    recall->rows, recall->cols);
	else
		tt_str_adds(s->out, "\tTRY(ttnn_device_open(&device, 0, &options));\n");
	tt_str_adds(s->out, "\tttnn_tensor *tensors[] = {\n");
	for (size_t i = 0; i < recall->count; i++)
		spell_tensors(s, &recall->args[i].value,
			      tt_inputs_places(inputs, recall->args[i].name));
	tt_str_adds(s->out, "\t\tNULL,\n\t};\n\tstruct ttnn_arg args[] = {\n");
	for (size_t i = 0; i < recall->count; i++) {
		tt_str_adds(s->out, "\t\t{");
		spell_string(s, recall->args[i].name, strlen(recall->args[i].name));
		tt_str_adds(s->out, ", ");
		spell(s, &recall->args[i].value);
		tt_str_adds(s->out, "},\n");
	}
	tt_str_adds(s->out, "\t\t{NULL, ttnn_v_none()},\n\t};\n");
	tt_str_addf(s->out, c_tail, op, recall->count, op, recall->count, op, bound, bound);
}

static void write_python(struct speller *s, const struct tt_recall *recall,
			 const struct tt_inputs *inputs)
{
	const char *op = recall->op;

	/* The machine is chosen before the library looks for one; who sets the variable knows better. */
	if (*recall->profile) {
		tt_str_adds(s->out,
			    "import os\nimport random\n\nos.environ.setdefault(\"TTNN_DEVICE\", ");
		spell_string(s, recall->profile, strlen(recall->profile));
		tt_str_adds(s->out, ")\n\n");
	} else {
		tt_str_adds(s->out, "import random\n\n");
	}
	tt_str_adds(s->out, python_head);
	if (recall->rows)
		tt_str_addf(s->out,
			    "    device = ttnn.open_mesh_device(ttnn.MeshShape(%u, %u), "
			    "l1_small_size=24576)\n",
			    recall->rows, recall->cols);
	else
		tt_str_adds(s->out,
			    "    device = ttnn.open_device(device_id=0, l1_small_size=24576)\n");
	tt_str_adds(s->out, "    tensors = [\n");
	for (size_t i = 0; i < recall->count; i++)
		spell_tensors(s, &recall->args[i].value,
			      tt_inputs_places(inputs, recall->args[i].name));
	tt_str_adds(s->out, "    ]\n    arguments = {\n");
	for (size_t i = 0; i < recall->count; i++) {
		tt_str_adds(s->out, "        ");
		spell_string(s, recall->args[i].name, strlen(recall->args[i].name));
		tt_str_adds(s->out, ": ");
		spell(s, &recall->args[i].value);
		tt_str_adds(s->out, ",\n");
	}
	tt_str_adds(s->out, "    }\n");
	tt_str_addf(s->out, python_tail, op, op, tt_op_find(op)->op->pcc);
}

/* The name of a file, without what would end a comment of either language. */
static void add_name(struct tt_str *out, const char *name)
{
	for (; *name; name++)
		tt_str_addc(out,
			    (unsigned char)*name < ' ' || strchr("\"\\*", *name) ? '_' : *name);
}

tt_status tt_repro_write(struct tt_str *out, const struct tt_recall *recall,
			 enum tt_repro_language language, const char *trace)
{
	struct tt_call_source source = tt_call_of_recall(recall);
	struct speller s = {.out = out, .language = language};
	struct tt_inputs inputs = {0};
	struct tt_arena arena = {0};
	const struct tt_op_entry *entry;

	TT_TRY(tt_op_registry());
	entry = tt_op_find(recall->op);
	if (!entry || !entry->op->golden)
		return tt_fail(TTNN_UNSUPPORTED, "%s has no golden to be compared with",
			       recall->op);
	s.status = tt_inputs_survey(&inputs, &arena, &source);
	tt_str_addf(out,
		    is_c(&s) ? "/*\n * %s as call %" PRIu64 " of "
			     : "\"\"\"%s as call %" PRIu64 " of ",
		    recall->op, recall->number);
	add_name(out, trace);
	tt_str_adds(out, is_c(&s) ? " made it, on random tensors.\n"
				    " * cc -std=c17 repro.c -lttnn -lm && ./a.out\n */\n"
				  : " made it, on random tensors.\"\"\"\n\n");
	if (s.status == TTNN_OK && is_c(&s))
		write_c(&s, recall, &inputs);
	else if (s.status == TTNN_OK)
		write_python(&s, recall, &inputs);
	tt_arena_deinit(&arena);
	return s.status == TTNN_OK ? tt_str_status(out) : s.status;
}
