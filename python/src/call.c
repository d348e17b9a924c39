/*
 * call.c: calls of the library. Other threads may run Python meanwhile, and signals are seen to: the library
 * asks every few milliseconds whether to go on, and a handler that raises (KeyboardInterrupt) ends the call.
 * Only the main thread runs handlers, so that others are not held up by questions.
 */
#include "py.h"

#include <unistd.h>

/* What a handler raised in the innermost call of this thread, which hands it on. */
static _Thread_local PyObject *raised[3];

/* Whether this is the main thread, which alone runs handlers: one may do so here, and raise. */
static bool is_main(void)
{
	PyObject *threading = PyImport_ImportModule("threading");
	PyObject *thread = threading ? PyObject_CallMethod(threading, "main_thread", NULL) : NULL;
	PyObject *ident = thread ? PyObject_GetAttrString(thread, "ident") : NULL;
	bool is = ident && PyLong_Check(ident) &&
		  PyLong_AsUnsignedLong(ident) == PyThread_get_thread_ident();

	Py_XDECREF(ident);
	Py_XDECREF(thread);
	Py_XDECREF(threading);
	return is;
}

/*
 * Another thread need not take the GIL to find that there is nothing for it; in a child it may have become
 * the main one. What a handler calls of the library is its own: its tensors have numbers.
 */
static bool go_on(void)
{
	static _Thread_local bool has_handlers;
	static _Thread_local pid_t known;
	PyObject *before[3]; /* an exception of the caller's, which may be cleaning up after it */
	PyGILState_STATE state;
	pid_t process = getpid();
	bool hidden, answer;

	if (known == process && !has_handlers)
		return true;
	if (raised[0])
		return false;
	state = PyGILState_Ensure();
	PyErr_Fetch(&before[0], &before[1], &before[2]);
	hidden = ttnn_tensor_hide(false);
	if (known != process)
		has_handlers = is_main();
	if (!PyErr_Occurred()) {
		known = process;
		if (has_handlers)
			PyErr_CheckSignals();
	}
	answer = !PyErr_Occurred();
	if (!answer)
		PyErr_Fetch(&raised[0], &raised[1], &raised[2]);
	PyErr_Restore(before[0], before[1], before[2]);
	ttnn_tensor_hide(hidden);
	PyGILState_Release(state);
	return answer;
}

void py_call_ask(void)
{
	if (!go_on())
		ttnn_cancel();
}

void py_call_begin(struct py_call *call)
{
	memcpy(call->raised, raised, sizeof(raised));
	memset(raised, 0, sizeof(raised));
	call->before = ttnn_set_poll(go_on);
	call->state = PyEval_SaveThread();
}

enum ttnn_status py_call_end(const struct py_call *call, enum ttnn_status status,
			     ttnn_tensor **result)
{
	PyObject *mine[3];

	PyEval_RestoreThread(call->state);
	memcpy(mine, raised, sizeof(mine));
	memcpy(raised, call->raised, sizeof(raised));
	ttnn_set_poll(call->before);
	if (raised[0]) /* the call around it was given up, and stays so */
		ttnn_cancel();
	if (!mine[0])
		return status;
	PyErr_Restore(mine[0], mine[1], mine[2]);
	if (status == TTNN_OK && result && *result)
		ttnn_tensor_drop(*result);
	return TTNN_CANCELLED;
}
