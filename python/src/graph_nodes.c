/*
 * graph_nodes.c: a graph as a list of dictionaries, what json.loads() would make of its text. Equal texts
 * are one object: graphs repeat shapes, names and configurations on nearly every node.
 */
#include <ttnn_frontend.h>

#include "py.h"

/* The objects of texts, by their places: those of a graph are interned. */
struct texts {
	struct {
		const char *text;
		PyObject *object;
	} * slots;
	size_t room, count;
	PyObject *loads; /* json.loads, once it is needed */
};

static size_t place_of(const struct texts *texts, const char *text)
{
	size_t at =
		(size_t)((uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15u >> 32) & (texts->room - 1);

	while (texts->slots[at].text && texts->slots[at].text != text)
		at = (at + 1) & (texts->room - 1);
	return at;
}

static int grow(struct texts *texts)
{
	struct texts larger = {.room = texts->room ? 2 * texts->room : 256};

	larger.slots = PyMem_Calloc(larger.room, sizeof(*larger.slots));
	if (!larger.slots) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < texts->room; i++)
		if (texts->slots[i].text)
			larger.slots[place_of(&larger, texts->slots[i].text)] = texts->slots[i];
	PyMem_Free(texts->slots);
	texts->slots = larger.slots;
	texts->room = larger.room;
	return 0;
}

/* Borrowed; NULL with an exception. */
static PyObject *text_object(struct texts *texts, const char *text, size_t length)
{
	PyObject *object;
	size_t at;

	if (2 * texts->count >= texts->room && grow(texts) < 0)
		return NULL;
	at = place_of(texts, text);
	if (texts->slots[at].text)
		return texts->slots[at].object;
	object = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
	if (!object)
		return NULL;
	texts->slots[at].text = text;
	texts->slots[at].object = object;
	texts->count++;
	return object;
}

static void free_texts(struct texts *texts)
{
	for (size_t i = 0; i < texts->room; i++)
		Py_XDECREF(texts->slots[i].object);
	PyMem_Free(texts->slots);
	Py_XDECREF(texts->loads);
}

/* Sets a member to a new object, which is taken over; NULL is an exception that was raised. */
static int set(struct texts *texts, PyObject *dict, const char *key, PyObject *value)
{
	PyObject *name = value ? text_object(texts, key, strlen(key)) : NULL;
	int status = name ? PyDict_SetItem(dict, name, value) : -1;

	Py_XDECREF(value);
	return status;
}

static PyObject *numbers(const uint32_t *items, size_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);

	for (size_t i = 0; list && i < count; i++) {
		PyObject *number = PyLong_FromUnsignedLong(items[i]);

		if (!number)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, number);
	}
	return list;
}

static PyObject *strings(struct texts *texts, const char *const *items, size_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);

	for (size_t i = 0; list && i < count; i++) {
		PyObject *text = text_object(texts, items[i], strlen(items[i]));

		if (!text)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, Py_NewRef(text));
	}
	return list;
}

static PyObject *loads(struct texts *texts, const char *text, size_t length)
{
	if (!texts->loads) {
		PyObject *json = PyImport_ImportModule("json");

		texts->loads = json ? PyObject_GetAttrString(json, "loads") : NULL;
		Py_XDECREF(json);
	}
	return texts->loads ? PyObject_CallFunction(texts->loads, "s#", text, (Py_ssize_t)length)
			    : NULL;
}

static PyObject *param_object(struct texts *texts, const struct ttnn_graph_param *param)
{
	switch (param->kind) {
	case TTNN_GRAPH_STRING:
		return Py_XNewRef(text_object(texts, param->text, param->length));
	case TTNN_GRAPH_INT:
		return PyLong_FromLongLong((long long)param->number);
	case TTNN_GRAPH_UINT:
		return PyLong_FromUnsignedLongLong(param->number);
	case TTNN_GRAPH_BOOL:
		return PyBool_FromLong(param->number != 0);
	case TTNN_GRAPH_JSON:
		return loads(texts, param->text, param->length);
	}
	Py_RETURN_NONE;
}

static PyObject *params_object(struct texts *texts, const ttnn_graph *graph, size_t index,
			       const struct ttnn_graph_form *form)
{
	struct ttnn_graph_param param;
	PyObject *dict;

	if (form->null_params)
		Py_RETURN_NONE;
	dict = PyDict_New();
	for (size_t i = 0; dict && ttnn_graph_get_param(&param, graph, index, i); i++)
		if (set(texts, dict, param.key, param_object(texts, &param)) < 0)
			Py_CLEAR(dict);
	return dict;
}

/* In the order of the text: by their names. */
static int fill(struct texts *texts, PyObject *dict, const ttnn_graph *graph, size_t index)
{
	struct ttnn_graph_form form;
	struct ttnn_graph_node node;
	PyObject *duration = NULL;

	ttnn_graph_get(&node, graph, index);
	ttnn_graph_get_form(&form, graph, index);
	if (form.has_duration) {
		duration = PyLong_FromUnsignedLongLong(form.duration_ns);
		if (!duration)
			return -1;
	}
	if ((!form.bare && set(texts, dict, "arguments",
			       strings(texts, node.arguments, node.argument_count)) < 0) ||
	    set(texts, dict, "connections", numbers(node.connections, node.connection_count)) < 0 ||
	    set(texts, dict, "counter", PyLong_FromLongLong(form.counter)) < 0) {
		Py_XDECREF(duration);
		return -1;
	}
	if (duration && set(texts, dict, "duration_ns", duration) < 0)
		return -1;
	if ((!form.bare &&
	     set(texts, dict, "input_tensors", numbers(node.inputs, node.input_count)) < 0) ||
	    set(texts, dict, "node_type",
		Py_XNewRef(text_object(texts, node.type, strlen(node.type)))) < 0 ||
	    set(texts, dict, "params", params_object(texts, graph, index, &form)) < 0)
		return -1;
	if (node.stack_count &&
	    set(texts, dict, "stack_trace", strings(texts, node.stack, node.stack_count)) < 0)
		return -1;
	if (!form.bare && set(texts, dict, "stacking_level", PyLong_FromLong(node.level)) < 0)
		return -1;
	return node.thread < 0 ? 0 : set(texts, dict, "thread", PyLong_FromLong(node.thread));
}

PyObject *py_graph_nodes(const ttnn_graph *graph)
{
	PyObject *list = PyList_New((Py_ssize_t)ttnn_graph_count(graph));
	struct texts texts = {NULL, 0, 0, NULL};
	/* None of these many objects is garbage yet: looking for some takes a third of the time. */
	int collects = PyGC_Disable();

	for (size_t i = 0; list && i < ttnn_graph_count(graph); i++) {
		PyObject *dict = PyDict_New();

		if (!dict || fill(&texts, dict, graph, i) < 0) {
			Py_XDECREF(dict);
			Py_CLEAR(list);
		} else {
			PyList_SET_ITEM(list, (Py_ssize_t)i, dict);
		}
	}
	if (collects)
		PyGC_Enable();
	free_texts(&texts);
	return list;
}
