/*
 * params.c: calls as they were written in Python, as values that recordings keep; and the switches of
 * parameter files (ttnn.operation_tracer is made of them).
 *
 * Every object becomes something here, by upstream's rules: tensors, numbers, texts, lists,
 * dictionaries, enumerations, memory configs, compute configs, matmul configs and devices are what
 * they are; anything else is {"type": its class, "repr" or "value": str(it)}.
 */
#include "py.h"

/* What a call's values point at. */
struct pool {
	struct py_scratch scratch;
	PyObject *kept; /* list of objects that are in use until the call is told */
	bool values;    /* of torch's tensors too */
	bool brief;     /* objects are texts, and nothing of the user's is asked for them */
};

static int traced(struct ttnn_value *out, PyObject *object, struct pool *pool);

/* Steals the reference; borrowed again, until the pool is emptied. NULL stays NULL. */
static PyObject *keep(struct pool *pool, PyObject *object)
{
	int status = -1;

	if (object && !pool->kept)
		pool->kept = PyList_New(0);
	if (object && pool->kept)
		status = PyList_Append(pool->kept, object);
	Py_XDECREF(object);
	return status < 0 ? NULL : object;
}

static void empty(struct pool *pool)
{
	Py_XDECREF(pool->kept);
	py_scratch_deinit(&pool->scratch);
}

/* A str as a value; what is no Unicode text in it (lone surrogates) is written as "?". */
static int text_value(struct ttnn_value *out, PyObject *string, struct pool *pool)
{
	Py_ssize_t size;
	const char *text = PyUnicode_AsUTF8AndSize(string, &size);

	if (!text) {
		PyObject *bytes;

		PyErr_Clear();
		bytes = keep(pool, PyUnicode_AsEncodedString(string, "utf-8", "replace"));
		if (!bytes)
			return -1;
		text = PyBytes_AS_STRING(bytes);
		size = PyBytes_GET_SIZE(bytes);
	}
	*out = ttnn_v_string(text);
	out->count = (uint32_t)size;
	return 0;
}

/* {key: value, ...} of pairs whose keys are constant texts. */
static struct ttnn_value *pairs(size_t count, const char *const *keys, struct pool *pool)
{
	struct ttnn_value *items = py_scratch_alloc(&pool->scratch, 2 * count * sizeof(*items));

	for (size_t i = 0; items && i < count; i++)
		items[2 * i] = ttnn_v_string(keys[i]);
	return items;
}

/* A text without the addresses in it: of "<f at 0x7f01>" stays "<f>", so that a program gives the same files again. */
static int shown_value(struct ttnn_value *out, PyObject *string, struct pool *pool)
{
	static const char mark[] = " at 0x";
	const char *from, *at;
	char *copy, *to;

	if (text_value(out, string, pool) < 0)
		return -1;
	if (!strstr(out->text, mark))
		return 0;
	copy = to = py_scratch_alloc(&pool->scratch, out->count + 1);
	if (!copy)
		return -1;
	for (from = out->text; (at = strstr(from, mark)); from = at) {
		memcpy(to, from, (size_t)(at - from));
		to += at - from;
		at += sizeof(mark) - 1;
		at += strspn(at, "0123456789abcdef");
	}
	memcpy(to, from, strlen(from) + 1);
	*out = ttnn_v_string(copy);
	return 0;
}

/* str(object), or the name of a class that has attributes of its own, as those of users do. */
static int brief_object(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	PyObject *type = (PyObject *)Py_TYPE(object);
	PyObject *text = keep(pool, PyObject_HasAttrString(object, "__dict__")
					    ? PyObject_GetAttrString(type, "__name__")
					    : PyObject_Str(object));

	return text && PyUnicode_Check(text) ? shown_value(out, text, pool) : -1;
}

/* {"type": class, "repr": str(object)}; "value" for objects without attributes of their own. */
static int other_object(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	static const char *const with_dict[] = {"type", "repr"}, *const without[] = {"type",
										     "value"};
	PyObject *name =
		keep(pool, PyObject_GetAttrString((PyObject *)Py_TYPE(object), "__name__"));
	PyObject *text = name ? keep(pool, PyObject_Str(object)) : NULL;
	struct ttnn_value *items;

	if (!text || !PyUnicode_Check(name))
		return -1;
	items = pairs(2, PyObject_HasAttrString(object, "__dict__") ? with_dict : without, pool);
	if (!items || text_value(&items[1], name, pool) < 0 ||
	    shown_value(&items[3], text, pool) < 0)
		return -1;
	*out = ttnn_v_dict(items, 4);
	return 0;
}

/* ---- containers -------------------------------------------------------------------------------------- */

static int list_items(struct ttnn_value *out, PyObject *sequence, struct pool *pool)
{
	/* str() of an item may change a list; a tuple stays. */
	PyObject *tuple = keep(pool, PySequence_Tuple(sequence));
	size_t count = tuple ? (size_t)PyTuple_GET_SIZE(tuple) : 0;
	struct ttnn_value *items =
		tuple ? py_scratch_alloc(&pool->scratch, (count + 1) * sizeof(*items)) : NULL;

	if (!items)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (traced(&items[i], PyTuple_GET_ITEM(tuple, (Py_ssize_t)i), pool) < 0)
			return -1;
	*out = ttnn_v_list(items, count);
	return 0;
}

static int dict_items(struct ttnn_value *out, PyObject *dict, struct pool *pool)
{
	PyObject *all = keep(pool, PyDict_Items(dict));
	size_t count = all ? (size_t)PyList_GET_SIZE(all) : 0;
	struct ttnn_value *items =
		all ? py_scratch_alloc(&pool->scratch, (2 * count + 1) * sizeof(*items)) : NULL;

	if (!items)
		return -1;
	for (size_t i = 0; i < count; i++) {
		PyObject *pair = PyList_GET_ITEM(all, (Py_ssize_t)i);
		PyObject *key = PyTuple_GET_ITEM(pair, 0);

		if (!PyUnicode_Check(key) && !PyLong_Check(key) && !PyFloat_Check(key) &&
		    key != Py_None) {
			PyErr_Format(PyExc_TypeError,
				     "keys must be str, int, float, bool or None, not %.100s",
				     Py_TYPE(key)->tp_name);
			return -1;
		}
		if (traced(&items[2 * i], key, pool) < 0 ||
		    traced(&items[2 * i + 1], PyTuple_GET_ITEM(pair, 1), pool) < 0)
			return -1;
	}
	*out = ttnn_v_dict(items, 2 * count);
	return 0;
}

/* A container that holds itself ends here, as RecursionError. */
static int container(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	int status;

	if (Py_EnterRecursiveCall(" while tracing an operation"))
		return -1;
	status = PyDict_Check(object) ? dict_items(out, object, pool)
				      : list_items(out, object, pool);
	Py_LeaveRecursiveCall();
	return status;
}

/* ---- torch's tensors --------------------------------------------------------------------------------- */

/* Whether it is one; torch is not imported for that. */
static bool is_torch(PyObject *object)
{
	static PyObject *torch_tensor; /* torch.Tensor, once torch was seen */
	PyObject *torch;

	if (!torch_tensor) {
		torch = PyDict_GetItemString(PyImport_GetModuleDict(), "torch"); /* borrowed */
		torch_tensor = torch ? PyObject_GetAttrString(torch, "Tensor") : NULL;
		PyErr_Clear();
	}
	return torch_tensor && PyObject_IsInstance(object, torch_tensor) == 1;
}

/* Its elements: shared where the library has such a type, else as lists. */
static int torch_values(struct ttnn_value *out, PyObject *object, const char *dtype,
			struct pool *pool)
{
	static const char *const shared[] = {"torch.float32", "torch.bfloat16", "torch.int32",
					     "torch.uint8", "torch.int8"};
	PyObject *plain = keep(pool, PyObject_CallMethod(object, "detach", NULL));
	PyObject *list, *own;

	plain = plain ? keep(pool, PyObject_CallMethod(plain, "cpu", NULL)) : NULL;
	for (size_t i = 0; plain && i < sizeof(shared) / sizeof(shared[0]); i++) {
		ttnn_tensor *tensor;

		if (strcmp(dtype, shared[i]) != 0)
			continue;
		tensor = py_data_tensor(plain, -1);
		own = tensor ? keep(pool, py_new_tensor(tensor)) : NULL;
		return own ? traced(out, own, pool) : -1;
	}
	list = plain ? keep(pool, PyObject_CallMethod(plain, "tolist", NULL)) : NULL;
	return list ? traced(out, list, pool) : -1;
}

static int torch_value(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	static const char *const keys[] = {"type", "shape", "dtype", "values"};
	PyObject *shape = keep(pool, PyObject_GetAttrString(object, "shape"));
	PyObject *dtype = shape ? keep(pool, PyObject_GetAttrString(object, "dtype")) : NULL;
	struct ttnn_value *items = dtype ? pairs(4, keys, pool) : NULL;
	PyObject *name = items ? keep(pool, PyObject_Str(dtype)) : NULL;

	if (!name || list_items(&items[3], shape, pool) < 0 ||
	    text_value(&items[5], name, pool) < 0)
		return -1;
	items[1] = ttnn_v_string("torch.Tensor");
	if (pool->values && torch_values(&items[7], object, items[5].text, pool) < 0)
		return -1;
	*out = ttnn_v_dict(items, pool->values ? 8 : 6);
	return 0;
}

/* ---- any object -------------------------------------------------------------------------------------- */

static int number(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	int overflow;
	long long integer = PyLong_AsLongLongAndOverflow(object, &overflow);
	PyObject *digits;

	if (!overflow) {
		*out = ttnn_v_int(integer);
		return integer == -1 && PyErr_Occurred() ? -1 : 0;
	}
	digits = keep(pool, PyObject_Str(object));
	return digits ? text_value(out, digits, pool) : -1;
}

/* Configurations that are written field by field in some dialects. */
static bool is_config(PyObject *object)
{
	const char *name = Py_TYPE(object)->tp_name, *dot = strrchr(name, '.');

	if (!PyObject_TypeCheck(object, py_object_type))
		return false;
	name = dot ? dot + 1 : name;
	return strstr(name, "ComputeKernelConfig") ||
	       (strstr(name, "Matmul") && strstr(name, "ProgramConfig"));
}

static int traced(struct ttnn_value *out, PyObject *object, struct pool *pool)
{
	const ttnn_enum *type;
	int64_t member;

	if (object == Py_None)
		*out = ttnn_v_none();
	else if (PyObject_TypeCheck(object, py_tensor_type))
		*out = ttnn_v_tensor(((struct py_tensor *)object)->tensor);
	else if (PyBool_Check(object))
		*out = ttnn_v_bool(object == Py_True);
	else if (PyLong_Check(object))
		return number(out, object, pool);
	else if (PyFloat_Check(object))
		*out = ttnn_v_real(PyFloat_AS_DOUBLE(object));
	else if (PyUnicode_Check(object))
		return text_value(out, object, pool);
	else if (PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object))
		return container(out, object, pool);
	else if (Py_TYPE(object) == py_memory_type)
		*out = ttnn_v_memory(&((struct py_memory *)object)->config);
	else if (PyObject_TypeCheck(object, py_device_type))
		*out = ttnn_v_device(((struct py_device *)object)->device);
	else if (py_enum_read(&type, &member, object))
		*out = ttnn_v_enum(type, member);
	else if (is_config(object))
		*out = ttnn_object_value(((struct py_object *)object)->object);
	else if (is_torch(object))
		return torch_value(out, object, pool);
	else
		return pool->brief ? brief_object(out, object, pool)
				   : other_object(out, object, pool);
	return 0;
}

/* ---- calls ------------------------------------------------------------------------------------------- */

/* Positional ones from args[0 .. nargs), named ones behind them. */
static int call_value(struct ttnn_told_call *out, PyObject *const *args, size_t nargs,
		      PyObject *kwnames, struct pool *pool)
{
	size_t named = kwnames ? (size_t)PyTuple_GET_SIZE(kwnames) : 0;
	struct ttnn_arg *list =
		py_scratch_alloc(&pool->scratch, (nargs + named + 1) * sizeof(*list));

	if (!list)
		return -1;
	for (size_t i = 0; i < nargs + named; i++) {
		list[i].name = NULL;
		if (i >= nargs) {
			list[i].name = PyUnicode_AsUTF8(
				PyTuple_GET_ITEM(kwnames, (Py_ssize_t)(i - nargs)));
			if (!list[i].name)
				return -1;
		}
		if (traced(&list[i].value, args[i], pool) < 0)
			return -1;
	}
	out->args = list;
	out->arg_count = nargs + named;
	return 0;
}

/* An exception, which is cleared: its parts, and "RecursionError: ..." (NULL when that cannot be made). */
struct error {
	PyObject *type, *value, *trace, *text;
};

static void take_error(struct error *error)
{
	PyErr_Fetch(&error->type, &error->value, &error->trace);
	PyErr_NormalizeException(&error->type, &error->value, &error->trace);
	error->text = error->value ? PyUnicode_FromFormat("%s: %S", Py_TYPE(error->value)->tp_name,
							  error->value)
				   : NULL;
	PyErr_Clear(); /* its own text may have failed, too */
}

static void drop_error(struct error *error)
{
	Py_XDECREF(error->text);
	Py_XDECREF(error->type);
	Py_XDECREF(error->value);
	Py_XDECREF(error->trace);
}

/* It could not be written, for the exception that is set; clears that. */
static void lose(const char *name)
{
	struct error error;

	take_error(&error);
	ttnn_params_lose(name,
			 error.text ? PyUnicode_AsUTF8(error.text) : "an argument cannot be shown");
	PyErr_Clear();
	drop_error(&error);
}

static void emit_call(const struct ttnn_told_call *call, const char *error)
{
	Py_BEGIN_ALLOW_THREADS;
	ttnn_emit_call(call->name, call->args, call->arg_count, &call->result, error);
	Py_END_ALLOW_THREADS;
}

void py_emit_call(const char *name, PyObject *const *args, size_t nargs, PyObject *kwnames,
		  PyObject *result)
{
	struct pool pool = {.values = ttnn_params_get(TTNN_PARAMS_VALUES)};
	struct ttnn_told_call call = {.name = name};
	struct ttnn_value text = {0};
	struct error error = {0};
	int status;

	if (!ttnn_params_enter())
		return;
	py_scratch_init(&pool.scratch);
	if (!result)
		take_error(&error);
	status = call_value(&call, args, nargs, kwnames, &pool);
	if (status == 0 && result)
		status = traced(&call.result, result, &pool);
	if (status == 0 && error.text)
		status = text_value(&text, error.text, &pool);
	ttnn_params_leave();
	if (status < 0)
		lose(name);
	else
		emit_call(&call, result ? NULL : error.text ? text.text : "it failed");
	empty(&pool);
	if (result)
		return;
	PyErr_Restore(error.type, error.value, error.trace);
	Py_XDECREF(error.text);
}

/* The values of a dict behind those of a tuple, as calls have them; kwnames is new. */
static PyObject **flatten(PyObject **kwnames, PyObject *args, PyObject *kwargs)
{
	Py_ssize_t nargs = PyTuple_GET_SIZE(args), i = 0, position = 0;
	Py_ssize_t named = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
	PyObject **all = PyMem_Calloc((size_t)(nargs + named) + 1, sizeof(PyObject *));
	PyObject *key, *value;

	*kwnames = PyTuple_New(named);
	if (!all || !*kwnames) {
		Py_CLEAR(*kwnames);
		PyMem_Free(all);
		PyErr_NoMemory();
		return NULL;
	}
	for (; i < nargs; i++)
		all[i] = PyTuple_GET_ITEM(args, i);
	for (; kwargs && PyDict_Next(kwargs, &position, &key, &value); i++) {
		PyTuple_SET_ITEM(*kwnames, i - nargs, Py_NewRef(key));
		all[i] = value;
	}
	return all;
}

/* tell(name, args, kwargs, result, error=None): for operations that are written in Python. */
static PyObject *emit(PyObject *module, PyObject *given)
{
	PyObject *args, *kwargs, *result, *error = Py_None, *kwnames, **all;
	const char *name;

	(void)module;
	if (!PyArg_ParseTuple(given, "sO!O!O|O", &name, &PyTuple_Type, &args, &PyDict_Type, &kwargs,
			      &result, &error))
		return NULL;
	all = flatten(&kwnames, args, kwargs);
	if (!all)
		return NULL;
	if (error != Py_None)
		PyErr_SetObject((PyObject *)Py_TYPE(error), error);
	py_emit_call(name, all, (size_t)PyTuple_GET_SIZE(args), kwnames,
		     error == Py_None ? result : NULL);
	PyErr_Clear();
	Py_DECREF(kwnames);
	PyMem_Free(all);
	Py_RETURN_NONE;
}

/* The arguments of a call for a scope; none when they cannot be shown. */
static void begin_scope(const char *name, PyObject *args, PyObject *kwargs)
{
	struct ttnn_told_call call = {0};
	struct pool pool = {.brief = true};
	PyObject *kwnames, **all = flatten(&kwnames, args, kwargs);

	py_scratch_init(&pool.scratch);
	if (all && ttnn_params_enter()) {
		if (call_value(&call, all, (size_t)PyTuple_GET_SIZE(args), kwnames, &pool) < 0)
			call.arg_count = 0;
		ttnn_params_leave();
	}
	PyErr_Clear();
	py_emit_stack();
	py_emit_place();
	Py_BEGIN_ALLOW_THREADS;
	ttnn_operation_begin(name, call.args, call.arg_count);
	Py_END_ALLOW_THREADS;
	empty(&pool);
	if (all)
		Py_DECREF(kwnames);
	PyMem_Free(all);
}

/* begin(name, args, kwargs) → whether somebody records: then end() is to follow. */
static PyObject *begin_operation(PyObject *module, PyObject *const *given, Py_ssize_t count)
{
	const char *name;

	(void)module;
	if (!ttnn_recording())
		Py_RETURN_FALSE;
	if (count != 3 || !PyTuple_Check(given[1]) || !PyDict_Check(given[2]))
		return PyErr_Format(PyExc_TypeError, "begin(name, args, kwargs)");
	name = PyUnicode_AsUTF8(given[0]);
	if (!name)
		return NULL;
	begin_scope(name, given[1], given[2]);
	Py_RETURN_TRUE;
}

/* end(result, error or None) */
static PyObject *end_operation(PyObject *module, PyObject *given)
{
	struct ttnn_value value = ttnn_v_none();
	struct pool pool = {.brief = true};
	const char *error;
	PyObject *result;

	(void)module;
	if (!PyArg_ParseTuple(given, "Oz", &result, &error))
		return NULL;
	py_scratch_init(&pool.scratch);
	if (!error && ttnn_params_enter()) {
		if (traced(&value, result, &pool) < 0)
			value = ttnn_v_none();
		ttnn_params_leave();
	}
	PyErr_Clear();
	Py_BEGIN_ALLOW_THREADS;
	ttnn_operation_end(&value, error);
	Py_END_ALLOW_THREADS;
	empty(&pool);
	Py_RETURN_NONE;
}

/* write(name, args, kwargs, result, directory or None, values) → path. What fails is raised. */
static PyObject *write_file(PyObject *module, PyObject *given)
{
	struct pool pool = {0};
	struct ttnn_told_call call = {0};
	PyObject *args, *kwargs, *result, *kwnames, **all, *made = NULL;
	enum ttnn_status status;
	const char *directory;
	char *path;
	int values, ready;

	(void)module;
	if (!PyArg_ParseTuple(given, "sO!O!Ozp", &call.name, &PyTuple_Type, &args, &PyDict_Type,
			      &kwargs, &result, &directory, &values))
		return NULL;
	all = flatten(&kwnames, args, kwargs);
	if (!all)
		return NULL;
	pool.values = values;
	py_scratch_init(&pool.scratch);
	ready = ttnn_params_enter();
	if (!ready) { /* inside of another file: as upstream, nothing happens */
		made = Py_NewRef(Py_None);
	} else {
		if (call_value(&call, all, (size_t)PyTuple_GET_SIZE(args), kwnames, &pool) == 0 &&
		    traced(&call.result, result, &pool) == 0) {
			Py_BEGIN_ALLOW_THREADS;
			status = ttnn_params_write(&path, &call, directory, values);
			Py_END_ALLOW_THREADS;
			made = py_text(status, &path);
		}
		ttnn_params_leave();
	}
	empty(&pool);
	Py_DECREF(kwnames);
	PyMem_Free(all);
	return made;
}

/* value(object, values) → its JSON text. */
static PyObject *value_text(PyObject *module, PyObject *given)
{
	struct pool pool = {0};
	struct ttnn_value value;
	PyObject *object, *text = NULL;
	char *json;
	int values;

	(void)module;
	if (!PyArg_ParseTuple(given, "Op", &object, &values))
		return NULL;
	pool.values = values;
	py_scratch_init(&pool.scratch);
	if (traced(&value, object, &pool) == 0)
		text = py_text(ttnn_params_json(&json, &value, values), &json);
	empty(&pool);
	return text;
}

/* ---- switches ---------------------------------------------------------------------------------------- */

static PyObject *get_flag(PyObject *module, PyObject *which)
{
	long flag = PyLong_AsLong(which);

	(void)module;
	if (flag < 0 || flag > TTNN_PARAMS_SERIALIZING)
		return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "no such flag");
	return PyBool_FromLong(ttnn_params_get((enum ttnn_params_flag)flag));
}

static PyObject *set_flag(PyObject *module, PyObject *given)
{
	enum ttnn_status status;
	int flag, on;

	(void)module;
	if (!PyArg_ParseTuple(given, "ip", &flag, &on))
		return NULL;
	if (flag < 0 || flag > TTNN_PARAMS_SERIALIZING)
		return PyErr_Format(PyExc_ValueError, "no such flag");
	Py_BEGIN_ALLOW_THREADS; /* switching off waits for calls that are being told */
	status = ttnn_params_set((enum ttnn_params_flag)flag, on);
	Py_END_ALLOW_THREADS;
	if (status != TTNN_OK)
		return py_fail(status, "operation_tracer");
	Py_RETURN_NONE;
}

static PyObject *heard(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(ttnn_calls_heard());
}

/* session(path or None) */
static PyObject *session(PyObject *module, PyObject *path)
{
	PyObject *bytes = NULL;
	enum ttnn_status status;

	(void)module;
	if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
		return NULL;
	status = ttnn_params_session(bytes ? PyBytes_AS_STRING(bytes) : NULL);
	Py_XDECREF(bytes);
	if (status != TTNN_OK)
		return py_fail(status, "operation_tracer");
	Py_RETURN_NONE;
}

/* set_test(name or None) */
static PyObject *set_test(PyObject *module, PyObject *name)
{
	const char *text = name == Py_None ? NULL : PyUnicode_AsUTF8(name);
	enum ttnn_status status;

	(void)module;
	if (!text && name != Py_None)
		return NULL;
	status = ttnn_params_set_test(text);
	if (status != TTNN_OK)
		return py_fail(status, "operation_tracer");
	Py_RETURN_NONE;
}

static PyObject *counter(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyLong_FromUnsignedLongLong(ttnn_params_counter());
}

static PyObject *set_counter(PyObject *module, PyObject *value)
{
	unsigned long long count = PyLong_AsUnsignedLongLong(value);

	(void)module;
	if (PyErr_Occurred())
		return NULL;
	ttnn_params_set_counter(count);
	Py_RETURN_NONE;
}

static PyObject *directory(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_DecodeFSDefault(ttnn_params_dir());
}

static PyObject *set_directory(PyObject *module, PyObject *path)
{
	PyObject *bytes = NULL;
	enum ttnn_status status;

	(void)module;
	if (path != Py_None && !PyUnicode_FSConverter(path, &bytes))
		return NULL;
	status = ttnn_params_set_dir(bytes ? PyBytes_AS_STRING(bytes) : NULL);
	Py_XDECREF(bytes);
	if (status != TTNN_OK)
		return py_fail(status, "operation_tracer");
	Py_RETURN_NONE;
}

static PyObject *dialect(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyUnicode_FromString(ttnn_params_dialect());
}

static PyObject *set_dialect(PyObject *module, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	enum ttnn_status status;

	(void)module;
	if (!text)
		return NULL;
	status = ttnn_params_set_dialect(text);
	if (status != TTNN_OK)
		return py_fail(status, "operation_tracer");
	Py_RETURN_NONE;
}

static PyObject *set_async(PyObject *module, PyObject *on)
{
	int truth = PyObject_IsTrue(on);

	(void)module;
	if (truth < 0)
		return NULL;
	ttnn_params_async(truth);
	Py_RETURN_NONE;
}

static PyObject *flush(PyObject *module, PyObject *unused)
{
	uint64_t lost;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS;
	lost = ttnn_params_flush();
	Py_END_ALLOW_THREADS;
	return PyLong_FromUnsignedLongLong(lost);
}

static PyMethodDef functions[] = {
	{"get", get_flag, METH_O, "A switch."},
	{"set", set_flag, METH_VARARGS, "set(flag, on)"},
	{"heard", heard, METH_NOARGS, "Whether someone records calls."},
	{"tell", emit, METH_VARARGS,
	 "tell(name, args, kwargs, result, error=None): a call that is done, or failed."},
	{"begin", (PyCFunction)(void (*)(void))begin_operation, METH_FASTCALL,
	 "begin(name, args, kwargs): an operation written in Python begins. False: nobody records."},
	{"end", end_operation, METH_VARARGS, "end(result, error): it has ended."},
	{"write", write_file, METH_VARARGS,
	 "write(name, args, kwargs, result, directory, values) -> the path of its file."},
	{"value", value_text, METH_VARARGS, "value(object, values) -> JSON text."},
	{"session", session, METH_O,
	 "The file that processes share numbers through and note there what they make."},
	{"set_test", set_test, METH_O, "The test that runs, which files name."},
	{"counter", counter, METH_NOARGS, "The number of the last file."},
	{"set_counter", set_counter, METH_O, "The number of the last file."},
	{"directory", directory, METH_NOARGS, "Where files go."},
	{"set_directory", set_directory, METH_O, "Where files go; None: the default."},
	{"dialect", dialect, METH_NOARGS, "How files are written."},
	{"set_dialect", set_dialect, METH_O, "How files are written."},
	{"set_async", set_async, METH_O, "Whether a thread of its own writes them."},
	{"flush", flush, METH_NOARGS, "Waits for all files; how many calls have none."},
	{NULL, NULL, 0, NULL},
};

int py_init_params(void)
{
	static const char *const flags[] = {"ENABLED", "VALUES", "SERIALIZING"};
	PyObject *module = py_submodule("params");

	if (!module || PyModule_AddFunctions(module, functions) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (PyModule_AddIntConstant(module, flags[i], (long)i) < 0)
			return -1;
	return 0;
}
