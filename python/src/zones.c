/*
 * zones.c: what a program tells profilers: zones and messages, under Tracy's names, and the lines of its calls.
 * Texts become the library's own, which live as long as the process.
 */
#include <ttnn_zones.h>

#include "py.h"

/*
 * Calls that came, by a hash of their place in the code: a reference, so that the code stays what it is. Python finds
 * the line of a place by going through all lines before it.
 */
#define CALLS 1024

static struct call {
	PyCodeObject *code;
	int at; /* in its instructions */
	uint32_t line;
	const char *file, *function;
	bool ours; /* the package's own */
} calls[CALLS];

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

/* A call that comes for the first time, or again; false, with an exception set, when memory is exhausted. */
static bool note(struct call *call, PyFrameObject *frame, PyCodeObject *code, int at)
{
	const char *file = intern(code->co_filename);
	const char *function = file ? intern(code->co_name) : NULL;
	PyCodeObject *before = call->code;

	if (!function)
		return false;
	*call = (struct call){
		.code = (PyCodeObject *)Py_NewRef(code),
		.at = at,
		.line = (uint32_t)PyFrame_GetLineNumber(frame),
		.file = file,
		.function = function,
		.ours = py_is_ours(frame),
	};
	Py_XDECREF(before); /* its end may call Python, and come here again */
	return true;
}

/* Tells of the frame and returns NULL, or returns the one that called it if it is the package's own. */
static PyFrameObject *emit_frame(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	int at = PyFrame_GetLasti(frame);
	uint64_t hash = ((uint64_t)(uintptr_t)code >> 4 ^ (uint64_t)at << 32) * 0x9e3779b97f4a7c15u;
	struct call *call = &calls[hash >> 54];
	PyFrameObject *outer = NULL;

	if ((call->code != code || call->at != at) && !note(call, frame, code, at))
		goto done;
	if (call->ours)
		outer = PyFrame_GetBack(frame);
	else
		ttnn_emit_place(call->file, call->function, call->line);
done:
	Py_DECREF(code);
	return outer;
}

void py_emit_place(void)
{
	PyFrameObject *frame, *outer;

	if (!ttnn_places_heard())
		return;
	for (frame = PyThreadState_GetFrame(PyThreadState_Get()); frame; frame = outer) {
		outer = emit_frame(frame);
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
