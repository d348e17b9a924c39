/* configs.c: configurations traced from models, as parameters of tests. */
#include <ttnn_configs.h>

#include "py.h"

struct py_configs {
	PyObject_HEAD ttnn_configs *configs;
};

static ttnn_configs *configs_of(PyObject *self)
{
	return ((struct py_configs *)self)->configs;
}

/* Configs(path) */
static PyObject *open_configs(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	enum ttnn_status status;
	PyObject *path, *self;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	self = type->tp_alloc(type, 0);
	if (self) {
		ttnn_configs **out = &((struct py_configs *)self)->configs;

		Py_BEGIN_ALLOW_THREADS;
		status = ttnn_configs_open(out, PyBytes_AS_STRING(path));
		Py_END_ALLOW_THREADS;
		if (status != TTNN_OK) {
			Py_CLEAR(self);
			py_fail(status, "configs");
		}
	}
	Py_DECREF(path);
	return self;
}

static void close_configs(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	ttnn_configs_free(configs_of(self));
	type->tp_free(self);
	Py_DECREF(type);
}

/* names() → those of the file, in its order */
static PyObject *names(PyObject *self, PyObject *unused)
{
	PyObject *list = PyList_New(0);
	const char *name;

	(void)unused;
	for (size_t i = 0; list && (name = ttnn_configs_name(configs_of(self), i)); i++) {
		PyObject *text = PyUnicode_FromString(name);

		if (!text || PyList_Append(list, text) < 0)
			Py_CLEAR(list);
		Py_XDECREF(text);
	}
	return list;
}

static PyObject *count(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);

	return text ? PyLong_FromSize_t(ttnn_configs_of(configs_of(self), text)) : NULL;
}

/* The value as an object, and gives its memory back. */
static PyObject *loaded(enum ttnn_status status, ttnn_loaded *value)
{
	PyObject *object;

	if (status != TTNN_OK)
		return py_fail(status, "configs");
	object = py_from_value(ttnn_loaded_value(value));
	ttnn_loaded_free(value);
	return object;
}

static PyObject *arguments(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	ttnn_loaded *value = NULL;
	enum ttnn_status status;

	if (!text)
		return NULL;
	status = ttnn_configs_arguments(&value, configs_of(self), text);
	return loaded(status, value);
}

static PyObject *tensors(PyObject *self, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8(name);
	ttnn_loaded *value = NULL;
	enum ttnn_status status;

	if (!text)
		return NULL;
	status = ttnn_configs_tensors(&value, configs_of(self), text);
	return loaded(status, value);
}

/* rule(name, columns) */
static PyObject *rule(PyObject *self, PyObject *args)
{
	const char *name, *columns;
	enum ttnn_status status;

	if (!PyArg_ParseTuple(args, "ss", &name, &columns))
		return NULL;
	status = ttnn_configs_rule(configs_of(self), name, columns);
	if (status != TTNN_OK)
		return py_fail(status, "configs");
	Py_RETURN_NONE;
}

/* Value i of a column. */
static PyObject *cell(const struct ttnn_suite_column *column, size_t i)
{
	PyObject *object = py_from_value(&column->values[i]), *tuple;

	if (!object || !column->tuple)
		return object;
	tuple = PySequence_Tuple(object);
	Py_DECREF(object);
	return tuple;
}

static PyObject *column_list(const struct ttnn_suite_column *column)
{
	PyObject *list = PyList_New((Py_ssize_t)column->count);

	for (size_t i = 0; list && i < column->count; i++) {
		PyObject *item = cell(column, i);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *row_tuple(const struct ttnn_suite_info *info, size_t row)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)info->column_count);

	for (size_t i = 0; tuple && i < info->column_count; i++) {
		PyObject *item = cell(&info->columns[i], row);

		if (!item)
			Py_CLEAR(tuple);
		else
			PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, item);
	}
	return tuple;
}

/* "input_shape,input_a_dtype": [(shape, dtype), ...] */
static int put_rows(PyObject *dict, const struct ttnn_suite_info *info)
{
	PyObject *list = PyList_New((Py_ssize_t)info->row_count), *key = PyUnicode_FromString("");
	int status = list && key ? 0 : -1;

	for (size_t i = 0; status == 0 && i < info->column_count; i++) {
		PyUnicode_AppendAndDel(
			&key, PyUnicode_FromFormat("%s%s", i ? "," : "", info->columns[i].name));
		status = key ? 0 : -1;
	}
	for (size_t i = 0; status == 0 && i < info->row_count; i++) {
		PyObject *row = row_tuple(info, i);

		status = row ? 0 : -1;
		if (row)
			PyList_SET_ITEM(list, (Py_ssize_t)i, row);
	}
	if (status == 0)
		status = PyDict_SetItem(dict, key, list);
	Py_XDECREF(list);
	Py_XDECREF(key);
	return status;
}

static int put_columns(PyObject *dict, const struct ttnn_suite_info *info)
{
	int status = 0;

	for (size_t i = 0; status == 0 && i < info->column_count; i++) {
		PyObject *list = column_list(&info->columns[i]);

		status = list ? PyDict_SetItemString(dict, info->columns[i].name, list) : -1;
		Py_XDECREF(list);
	}
	return status;
}

static PyObject *number_list(const struct ttnn_suite_info *info)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < info->row_count; i++) {
		PyObject *number = PyLong_FromSize_t(info->numbers[i]);

		if (!number || PyList_Append(list, number) < 0)
			Py_CLEAR(list);
		Py_XDECREF(number);
	}
	return list;
}

/* suite(name, all_cases) → (parameters, the number of each row's configuration, text) */
static PyObject *suite(PyObject *self, PyObject *args)
{
	const struct ttnn_suite_info *info;
	PyObject *dict, *result = NULL;
	enum ttnn_status status;
	ttnn_suite *made = NULL;
	const char *name;
	int all_cases, filled;

	if (!PyArg_ParseTuple(args, "sp", &name, &all_cases))
		return NULL;
	/* With the GIL: one thread at a time may ask. */
	status = ttnn_configs_suite(&made, configs_of(self), name, all_cases);
	if (status != TTNN_OK)
		return py_fail(status, "configs");
	info = ttnn_suite_get(made);
	dict = PyDict_New();
	filled = !dict ? -1 : info->product ? put_columns(dict, info) : 0;
	if (filled == 0 && !info->product && info->column_count)
		filled = put_rows(dict, info);
	if (filled == 0)
		result = Py_BuildValue("ONs", dict, number_list(info), info->text);
	Py_XDECREF(dict);
	ttnn_suite_free(made);
	return result;
}

/* tensor(json) → what the argument says of its tensor, or None */
static PyObject *tensor(PyObject *module, PyObject *json)
{
	ttnn_loaded *value = NULL;
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);
	enum ttnn_status status;

	(void)module;
	if (!text)
		return NULL;
	status = ttnn_configs_tensor(&value, text, (size_t)length);
	return loaded(status, value);
}

/* memory(json) → MemoryConfig */
static PyObject *memory(PyObject *module, PyObject *json)
{
	struct ttnn_memory_config config;
	enum ttnn_status status;
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);

	(void)module;
	if (!text)
		return NULL;
	status = ttnn_configs_memory(&config, text, (size_t)length);
	return status == TTNN_OK ? py_new_memory(&config) : py_fail(status, "configs");
}

/* A text in JSON to another one. */
static PyObject *converted(PyObject *json,
			   enum ttnn_status (*convert)(char **, const char *, size_t))
{
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);
	enum ttnn_status status;
	char *out = NULL;

	if (!text)
		return NULL;
	status = convert(&out, text, (size_t)length);
	return py_text(status, &out);
}

/* clean(json) → the operation with its arguments repaired, in JSON */
static PyObject *clean(PyObject *module, PyObject *json)
{
	(void)module;
	return converted(json, ttnn_configs_clean);
}

/* graph(json) → the operations of a graph with their arguments, in JSON */
static PyObject *graph(PyObject *module, PyObject *json)
{
	(void)module;
	return converted(json, ttnn_configs_graph);
}

/* update(path, json, source) → how many configurations were new */
static PyObject *update(PyObject *module, PyObject *args)
{
	const char *json, *source;
	enum ttnn_status status;
	Py_ssize_t length;
	size_t added = 0;
	PyObject *path;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&s#s", PyUnicode_FSConverter, &path, &json, &length, &source))
		return NULL;
	Py_BEGIN_ALLOW_THREADS; /* it may wait for another writer */
	status = ttnn_configs_update(&added, PyBytes_AS_STRING(path), json, (size_t)length, source);
	Py_END_ALLOW_THREADS;
	Py_DECREF(path);
	return status == TTNN_OK ? PyLong_FromSize_t(added) : py_fail(status, "configs");
}

static PyMethodDef methods[] = {
	{"names", names, METH_NOARGS, "The names of operations, as the file spells them."},
	{"count", count, METH_O, "How many configurations a name has."},
	{"arguments", arguments, METH_O, "The arguments of all configurations of a name."},
	{"tensors", tensors, METH_O, "The tensors of all configurations of a name."},
	{"rule", rule, METH_VARARGS, "rule(name, columns): more columns for an operation."},
	{"suite", suite, METH_VARARGS, "suite(name, all_cases) -> (parameters, numbers, text)."},
	{NULL, NULL, 0, NULL},
};

static PyMethodDef functions[] = {
	{"tensor", tensor, METH_O, "What an argument in JSON says of its tensor."},
	{"memory", memory, METH_O, "A memory config from JSON."},
	{"clean", clean, METH_O, "An operation in JSON, with its arguments repaired."},
	{"graph", graph, METH_O, "The functions of a graph in JSON, as operations."},
	{"update", update, METH_VARARGS, "update(path, operations in JSON, source) -> new ones."},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_doc, "A master file of traced configurations."},
	{Py_tp_new, open_configs},
	{Py_tp_dealloc, close_configs},
	{Py_tp_methods, methods},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "ttnn._ttnn.configs.Configs",
	.basicsize = sizeof(struct py_configs),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = slots,
};

int py_init_configs(void)
{
	PyObject *module = py_submodule("configs");

	return module && PyModule_AddFunctions(module, functions) == 0 &&
			       py_add_type("configs", &spec)
		       ? 0
		       : -1;
}
