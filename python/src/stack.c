/* stack.c: where Python calls an operation from; it is told before the call while somebody records it. */
#include "py.h"

#define FRAMES 64

bool py_is_ours(PyFrameObject *frame)
{
	PyObject *globals = PyFrame_GetGlobals(frame);
	PyObject *name = globals ? PyDict_GetItemString(globals, "__name__") : NULL;
	const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
	bool ours = text && strncmp(text, "ttnn", 4) == 0 && (!text[4] || text[4] == '.');

	Py_XDECREF(globals);
	return ours;
}

/* File "model.py", line 12, in forward */
static PyObject *line_of(PyFrameObject *frame)
{
	PyCodeObject *code = PyFrame_GetCode(frame);
	PyObject *line = PyUnicode_FromFormat("File \"%U\", line %d, in %U", code->co_filename,
					      PyFrame_GetLineNumber(frame), code->co_name);

	Py_DECREF(code);
	return line;
}

/* The lines of the frames that are the user's, innermost first; how many. */
static size_t take_lines(PyObject **lines, const char **texts)
{
	PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()), *outer;
	size_t count = 0;

	for (; frame && count < FRAMES; frame = outer) {
		PyObject *line = py_is_ours(frame) ? NULL : line_of(frame);

		outer = PyFrame_GetBack(frame);
		Py_DECREF(frame);
		texts[count] = line ? PyUnicode_AsUTF8(line) : NULL;
		lines[count] = line;
		if (texts[count])
			count++;
		else
			Py_XDECREF(line);
	}
	Py_XDECREF(frame);
	return count;
}

void py_emit_stack(void)
{
	PyObject *lines[FRAMES];
	const char *texts[FRAMES];
	size_t count;

	if (!ttnn_stacks_heard())
		return;
	count = take_lines(lines, texts);
	PyErr_Clear(); /* a frame that cannot be written is left out */
	if (count)
		ttnn_emit_stack(texts, count);
	while (count)
		Py_DECREF(lines[--count]);
}
