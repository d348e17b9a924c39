/*
 * zones.c: what a program tells profilers: zones and messages, under Tracy's names, and the lines of its calls.
 * Texts become the library's own, which lives as long as the process; those that come again and again (names of
 * files and functions in code objects) are found by their object.
 */
#include <ttnn_zones.h>

#include "py.h"

#define SEEN 256

/* A text that came, by a hash of its address: a reference, so that it stays what it is. */
static struct {
	PyObject *text;
	const char *name;
	bool ours; /* of a file: it belongs to the package */
} seen[SEEN];

static size_t place_of(PyObject *text)
{
	return ((size_t)(uintptr_t)text >> 4) * 0x9e3779b97f4a7c15u >> 56;
}

/* The library's own text, or NULL with an exception set. */
static const char *intern(PyObject *text)
{
	const char *utf8 = PyUnicode_AsUTF8(text);
	const char *name = utf8 ? ttnn_intern(utf8) : NULL;

	if (utf8 && !name)
		PyErr_NoMemory();
	return name;
}

/* ---- lines of callers ---------------------------------------------------------------------------------- */

/* The place of a text in the table, with its name; SEEN when memory is exhausted. */
static size_t keep(PyObject *text, PyFrameObject *frame)
{
	size_t at = place_of(text);

	if (seen[at].text == text)
		return at;
	Py_CLEAR(seen[at].text);
	seen[at].name = intern(text);
	if (!seen[at].name)
		return SEEN;
	seen[at].ours = py_is_ours(frame);
	seen[at].text = Py_NewRef(text);
	return at;
}

/* Tells of the frame and returns NULL, or returns the one that called it. */
static PyFrameObject *tell_frame(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	size_t file = keep(code->co_filename, frame), function;
	PyFrameObject *outer = NULL;
	const char *name;

	if (file != SEEN && seen[file].ours) {
		outer = PyFrame_GetBack(frame);
	} else if (file != SEEN) {
		name = seen[file].name; /* both texts may have one place */
		function = keep(code->co_name, frame);
		if (function != SEEN)
			ttnn_tell_place(name, seen[function].name,
					(uint32_t)PyFrame_GetLineNumber(frame));
	}
	Py_DECREF(code);
	return outer;
}

void py_tell_place(void)
{
	PyFrameObject *frame, *outer;

	if (!ttnn_places_heard())
		return;
	for (frame = PyThreadState_GetFrame(PyThreadState_Get()); frame; frame = outer) {
		outer = tell_frame(frame);
		Py_DECREF(frame);
	}
	PyErr_Clear(); /* a line that cannot be told is left out */
}

/* ---- zones and messages --------------------------------------------------------------------------------- */

/* Zones of this thread that were begun here and have not ended. */
static _Thread_local unsigned depth;

static PyObject *start_zone(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"source", "functName", "lineNum", "color", NULL};
	PyObject *file, *function;
	struct ttnn_zone zone = {0};

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "UUI|I:start_tracy_zone", names, &file,
					 &function, &zone.line, &zone.color))
		return NULL;
	zone.file = intern(file);
	zone.function = zone.file ? intern(function) : NULL;
	if (!zone.function)
		return NULL;
	depth++;
	ttnn_zone_begin(&zone);
	Py_RETURN_NONE;
}

/* Whether no zone is open any more: whoever ends all of them calls it until then. */
static PyObject *stop_zone(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"name", "color", NULL};
	const char *kept = NULL;
	PyObject *name = NULL;
	unsigned color = 0;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "|UI:stop_tracy_zone", names, &name,
					 &color))
		return NULL;
	if (name && PyUnicode_GetLength(name)) {
		kept = intern(name);
		if (!kept)
			return NULL;
	}
	if (depth) {
		depth--;
		ttnn_zone_end_as(kept, color);
	}
	return PyBool_FromLong(!depth);
}

static PyObject *message(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"message", "color", NULL};
	unsigned color = 0xf0f8ff;
	const char *text;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "s|I:tracy_message", names, &text,
					 &color))
		return NULL;
	ttnn_message(text, color);
	Py_RETURN_NONE;
}

/* Whether somebody profiles. */
static PyObject *is_profiled(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(ttnn_places_heard());
}

static PyObject *end_frame(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	ttnn_frame();
	Py_RETURN_NONE;
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
	{"start_tracy_zone", KEYWORDS(start_zone),
	 "Begins a stretch of the program, for profiles."},
	{"stop_tracy_zone", KEYWORDS(stop_zone), "Ends it; whether no other is open."},
	{"tracy_message", KEYWORDS(message), "A line for profiles, or a signpost."},
	{"tracy_frame", end_frame, METH_NOARGS, "The end of a round, for profiles."},
	{"is_profiled", is_profiled, METH_NOARGS, "Whether somebody profiles this process."},
	{NULL, NULL, 0, NULL},
};

int py_init_zones(void)
{
	return PyModule_AddFunctions(py_submodule("profiler"), functions);
}
