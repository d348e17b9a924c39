/* trace.c: operations that are captured on a device to be run again. */
#include "py.h"

/* What these functions take, under upstream's names. */
struct args {
	PyObject *device;
	unsigned id, queue;
	int blocking; /* running always ends before it returns */
};

static ttnn_device *device_of(const struct args *args)
{
	return ((struct py_device *)args->device)->device;
}

/* A queue may be None. */
static int read_queue(PyObject *object, void *out)
{
	uint32_t number = 0;

	if (object != Py_None && py_read_u32(&number, object, "cq_id") < 0)
		return 0;
	*(unsigned *)out = number;
	return 1;
}

static int read_id(PyObject *object, void *out)
{
	uint32_t number;

	if (py_read_u32(&number, object, "trace_id") < 0)
		return 0;
	*(unsigned *)out = number;
	return 1;
}

static PyObject *begin(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"mesh_device", "cq_id", NULL};
	struct args args = {0};
	enum ttnn_status status;
	uint32_t id;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "O!|$O&", names, py_device_type,
					 &args.device, read_queue, &args.queue))
		return NULL;
	status = ttnn_device_trace_begin(&id, device_of(&args), args.queue);
	return status == TTNN_OK ? PyLong_FromUnsignedLong(id)
				 : py_fail(status, "begin_trace_capture");
}

static PyObject *end(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"mesh_device", "trace_id", "cq_id", NULL};
	struct args args = {0};
	enum ttnn_status status;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "O!O&|$O&", names, py_device_type,
					 &args.device, read_id, &args.id, read_queue, &args.queue))
		return NULL;
	status = ttnn_device_trace_end(device_of(&args), args.id, args.queue);
	if (status != TTNN_OK)
		return py_fail(status, "end_trace_capture");
	Py_RETURN_NONE;
}

static PyObject *execute(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"mesh_device", "trace_id", "cq_id", "blocking", NULL};
	struct args args = {0};
	enum ttnn_status status;
	struct py_call guard;

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "O!O&|$O&p", names, py_device_type,
					 &args.device, read_id, &args.id, read_queue, &args.queue,
					 &args.blocking))
		return NULL;
	py_call_begin(&guard);
	status = ttnn_device_trace_run(device_of(&args), args.id);
	status = py_call_end(&guard, status, NULL);
	if (status != TTNN_OK)
		return py_fail(status, "execute_trace");
	Py_RETURN_NONE;
}

static PyObject *release(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"mesh_device", "trace_id", NULL};
	struct args args = {0};

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "O!O&", names, py_device_type,
					 &args.device, read_id, &args.id))
		return NULL;
	ttnn_device_trace_release(device_of(&args), args.id);
	Py_RETURN_NONE;
}

static PyObject *is_active(PyObject *module, PyObject *positional, PyObject *named)
{
	static char *names[] = {"device", NULL};
	struct args args = {0};

	(void)module;
	if (!PyArg_ParseTupleAndKeywords(positional, named, "O!", names, py_device_type,
					 &args.device))
		return NULL;
	return PyBool_FromLong(ttnn_device_trace_active(device_of(&args)));
}

#define KEYWORDS(function) (PyCFunction)(void (*)(void)) function, METH_VARARGS | METH_KEYWORDS

static PyMethodDef functions[] = {
	{"begin_trace_capture", KEYWORDS(begin), "Captures what runs on a device from now on."},
	{"end_trace_capture", KEYWORDS(end), "Ends the capture."},
	{"execute_trace", KEYWORDS(execute), "Runs again what was captured."},
	{"release_trace", KEYWORDS(release), "Forgets a capture."},
	{"is_trace_capture_active", KEYWORDS(is_active), "Whether a device captures."},
	{NULL, NULL, 0, NULL},
};

int py_init_trace(void)
{
	return PyModule_AddFunctions(py_submodule("operations.trace"), functions);
}
