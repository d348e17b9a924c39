/* sweep.c: sweeps: vector files, vectors in child processes, results, traced calls again. */
#include <signal.h>
#include <ttnn_sweep.h>

#include "py.h"

/* ---- files ----------------------------------------------------------------------------------------------------- */

/* save(path, json) → what was done, in JSON */
static PyObject *save(PyObject *module, PyObject *args)
{
	enum ttnn_status status;
	Py_ssize_t length;
	char *out = NULL;
	const char *json;
	PyObject *path;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&s#", PyUnicode_FSConverter, &path, &json, &length))
		return NULL;
	status = ttnn_sweep_save(&out, PyBytes_AS_STRING(path), json, (size_t)length);
	Py_DECREF(path);
	return py_text(status, &out);
}

/* vectors(json) → the vectors of a suite with their hashes, in JSON */
static PyObject *vectors(PyObject *module, PyObject *json)
{
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);
	enum ttnn_status status;
	char *out = NULL;

	(void)module;
	if (!text)
		return NULL;
	status = ttnn_sweep_vectors(&out, text, (size_t)length);
	return py_text(status, &out);
}

/* load(path) → the vectors, in JSON */
static PyObject *load(PyObject *module, PyObject *args)
{
	enum ttnn_status status;
	char *out = NULL;
	PyObject *path;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	status = ttnn_sweep_load(&out, PyBytes_AS_STRING(path));
	Py_DECREF(path);
	return py_text(status, &out);
}

/* status(exception, hung, suite) → "pass" and so on */
static PyObject *status_of(PyObject *module, PyObject *args)
{
	const char *exception, *suite;
	int hung;

	(void)module;
	if (!PyArg_ParseTuple(args, "zps", &exception, &hung, &suite))
		return NULL;
	return PyUnicode_FromString(ttnn_sweep_status(exception, hung, suite));
}

/* ---- child processes --------------------------------------------------------------------------------------------- */

struct crew {
	PyObject *work, *done;
	bool stop;
};

/* The child is forked by the library: Python must be told, as os.fork() does. */
static enum ttnn_status begin_child(void *context)
{
	(void)context;
	PyOS_AfterFork_Child();
	/* Ctrl-C is for the parent, who decides what is still counted. */
	PyOS_setsig(SIGINT, SIG_IGN);
	return TTNN_OK;
}

static size_t do_task(void *context, uint64_t task, char answer[TTNN_SWEEP_ANSWER])
{
	struct crew *crew = context;
	PyObject *text = PyObject_CallFunction(crew->work, "K", (unsigned long long)task);
	char *bytes = NULL;
	Py_ssize_t size = 0;

	if (!text || PyBytes_AsStringAndSize(text, &bytes, &size) < 0) {
		PyErr_Print();
		size = 0;
	}
	if (size > TTNN_SWEEP_ANSWER)
		size = TTNN_SWEEP_ANSWER;
	if (size)
		memcpy(answer, bytes, (size_t)size);
	Py_XDECREF(text);
	return (size_t)size;
}

static enum ttnn_status task_done(void *context, const struct ttnn_sweep_done *done)
{
	static const char *const ends[] = {"answered", "crashed", "hung"};
	struct crew *crew = context;
	PyObject *wanted = PyObject_CallFunction(
		crew->done, "Ksy#ii", (unsigned long long)done->task, ends[done->end],
		done->size ? done->answer : "", (Py_ssize_t)done->size, done->signal, done->code);
	int go_on = wanted ? PyObject_IsTrue(wanted) : -1;

	Py_XDECREF(wanted);
	crew->stop = go_on != 1;
	return go_on < 0 ? TTNN_STATE : TTNN_OK;
}

static bool should_stop(void *context)
{
	struct crew *crew = context;

	return crew->stop || PyErr_CheckSignals() < 0;
}

/*
 * work(count, jobs, timeout, memory, work, done): work(task) → bytes in a child; done(task, end, answer, signal, code)
 * here, which says whether to go on. Whether all tasks were done.
 */
static PyObject *work(PyObject *module, PyObject *args)
{
	unsigned long long count, jobs, memory;
	struct crew crew = {0};
	enum ttnn_status status;
	double timeout;

	(void)module;
	if (!PyArg_ParseTuple(args, "KKdKOO", &count, &jobs, &timeout, &memory, &crew.work,
			      &crew.done))
		return NULL;
	status = ttnn_sweep_work(&(struct ttnn_sweep_work){
		.count = count,
		.jobs = (unsigned)jobs,
		.timeout_ns = (uint64_t)(timeout * 1e9),
		.memory = memory,
		.context = &crew,
		.begin = begin_child,
		.work = do_task,
		.done = task_done,
		.stop = should_stop,
	});
	if (PyErr_Occurred())
		return NULL;
	if (status != TTNN_OK && status != TTNN_CANCELLED)
		return py_fail(status, "sweep");
	return PyBool_FromLong(status == TTNN_OK);
}

/* ---- results ------------------------------------------------------------------------------------------------------- */

struct py_run {
	PyObject_HEAD ttnn_sweep *run; /* NULL: finished */
};

static ttnn_sweep *run_of(PyObject *self)
{
	ttnn_sweep *run = ((struct py_run *)self)->run;

	if (!run)
		PyErr_SetString(PyExc_RuntimeError, "the run is finished");
	return run;
}

/* Run(json) */
static PyObject *open_run(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	enum ttnn_status status;
	Py_ssize_t length;
	const char *json;
	PyObject *self;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "s#", &json, &length))
		return NULL;
	self = type->tp_alloc(type, 0);
	if (!self)
		return NULL;
	status = ttnn_sweep_open(&((struct py_run *)self)->run, json, (size_t)length);
	if (status == TTNN_OK)
		return self;
	((struct py_run *)self)->run = NULL;
	Py_DECREF(self);
	return py_fail(status, "sweep");
}

/* One that was not finished can be gone on with. */
static void close_run(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	(void)ttnn_sweep_leave(((struct py_run *)self)->run);
	type->tp_free(self);
	Py_DECREF(type);
}

static PyObject *run_name(PyObject *self, PyObject *unused)
{
	ttnn_sweep *run = run_of(self);

	(void)unused;
	return run ? PyUnicode_FromString(ttnn_sweep_name(run)) : NULL;
}

static PyObject *run_has(PyObject *self, PyObject *vector)
{
	const char *text = PyUnicode_AsUTF8(vector);
	ttnn_sweep *run = text ? run_of(self) : NULL;
	enum ttnn_status status;
	bool found = false;

	if (!run)
		return NULL;
	status = ttnn_sweep_has(&found, run, text);
	return status == TTNN_OK ? PyBool_FromLong(found) : py_fail(status, "sweep");
}

/* add(json) */
static PyObject *run_add(PyObject *self, PyObject *json)
{
	Py_ssize_t length;
	const char *text = PyUnicode_AsUTF8AndSize(json, &length);
	ttnn_sweep *run = text ? run_of(self) : NULL;
	enum ttnn_status status;

	if (!run)
		return NULL;
	status = ttnn_sweep_add(run, text, (size_t)length);
	if (status != TTNN_OK)
		return py_fail(status, "sweep");
	Py_RETURN_NONE;
}

/* finish(status) → the path of the run's file */
static PyObject *run_finish(PyObject *self, PyObject *how)
{
	const char *text = PyUnicode_AsUTF8(how);
	ttnn_sweep *run = text ? run_of(self) : NULL;
	enum ttnn_status status;
	char *path = NULL;

	if (!run)
		return NULL;
	((struct py_run *)self)->run = NULL;
	status = ttnn_sweep_finish(&path, run, text);
	return py_text(status, &path);
}

/* analysis(directory, records, run) → what became of a run, as text */
static PyObject *analysis(PyObject *module, PyObject *args)
{
	const char *directory, *records, *run;
	enum ttnn_status status;
	char *out = NULL;

	(void)module;
	if (!PyArg_ParseTuple(args, "szz", &directory, &records, &run))
		return NULL;
	status = ttnn_sweep_analysis(&out, directory, records, run);
	return py_text(status, &out);
}

static PyMethodDef run_methods[] = {
	{"name", run_name, METH_NOARGS, "The run's name."},
	{"has", run_has, METH_O, "Whether it has a result of this vector."},
	{"add", run_add, METH_O, "add(json): what became of a vector."},
	{"finish", run_finish, METH_O, "finish(status) -> the path of the run's file."},
	{NULL, NULL, 0, NULL},
};
static PyType_Slot run_slots[] = {
	{Py_tp_new, open_run},
	{Py_tp_dealloc, close_run},
	{Py_tp_methods, run_methods},
	{0, NULL},
};
static PyType_Spec run_spec = {
	.name = "ttnn._ttnn.sweep.Run",
	.basicsize = sizeof(struct py_run),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = run_slots,
};

/* ---- traced calls ---------------------------------------------------------------------------------------------------- */

struct py_replayer {
	PyObject_HEAD ttnn_replayer *replayer;
};

/* Replayer(master) */
static PyObject *open_replayer(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
	enum ttnn_status status;
	PyObject *path, *self;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
		return NULL;
	self = type->tp_alloc(type, 0);
	if (self) {
		status = ttnn_replayer_open(&((struct py_replayer *)self)->replayer,
					    PyBytes_AS_STRING(path));
		if (status != TTNN_OK) {
			((struct py_replayer *)self)->replayer = NULL;
			Py_CLEAR(self);
			py_fail(status, "sweep");
		}
	}
	Py_DECREF(path);
	return self;
}

static void close_replayer(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	ttnn_replayer_free(((struct py_replayer *)self)->replayer);
	type->tp_free(self);
	Py_DECREF(type);
}

/* run(name, number, device) → what became of it */
static PyObject *replay(PyObject *self, PyObject *args)
{
	struct ttnn_replay_result result;
	ttnn_device *used = NULL;
	unsigned long long number;
	enum ttnn_status status;
	struct py_call guard;
	const char *name;
	PyObject *device;

	if (!PyArg_ParseTuple(args, "sKO", &name, &number, &device))
		return NULL;
	if (device != Py_None && !PyObject_TypeCheck(device, py_device_type)) {
		PyErr_SetString(PyExc_TypeError, "a traced call runs on a device");
		return NULL;
	}
	if (device != Py_None)
		used = ((struct py_device *)device)->device;
	py_call_begin(&guard);
	status = ttnn_replayer_run(&result, ((struct py_replayer *)self)->replayer, name,
				   (size_t)number, used);
	status = py_call_end(&guard, status, NULL);
	if (status != TTNN_OK)
		return PyErr_Occurred() ? NULL : py_fail(status, "sweep");
	return Py_BuildValue(
		"{sNsNsNsNsdsdsdsKsssNsNsN}", "passed", PyBool_FromLong(result.passed), "judged",
		PyBool_FromLong(result.judged), "stood_in", PyBool_FromLong(result.stood_in),
		"moved", PyBool_FromLong(result.moved), "pcc", result.pcc, "bound", result.bound,
		"error", result.error, "ns", (unsigned long long)result.ns, "operation",
		result.operation, "source", PyUnicode_DecodeFSDefault(result.source), "why",
		PyUnicode_DecodeUTF8(result.why, (Py_ssize_t)strlen(result.why), "replace"),
		"notes",
		PyUnicode_DecodeUTF8(result.notes, (Py_ssize_t)strlen(result.notes), "replace"));
}

static PyMethodDef replayer_methods[] = {
	{"run", replay, METH_VARARGS, "run(name, number, device) -> what became of it."},
	{NULL, NULL, 0, NULL},
};
static PyType_Slot replayer_slots[] = {
	{Py_tp_new, open_replayer},
	{Py_tp_dealloc, close_replayer},
	{Py_tp_methods, replayer_methods},
	{0, NULL},
};
static PyType_Spec replayer_spec = {
	.name = "ttnn._ttnn.sweep.Replayer",
	.basicsize = sizeof(struct py_replayer),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = replayer_slots,
};

static PyMethodDef functions[] = {
	{"save", save, METH_VARARGS, "save(path, json): puts a suite into a vector file."},
	{"vectors", vectors, METH_O,
	 "vectors(json) -> those of a suite with their hashes, in JSON."},
	{"load", load, METH_VARARGS, "load(path) -> the vectors of a file, in JSON."},
	{"analysis", analysis, METH_VARARGS,
	 "analysis(directory, records, run) -> what became of a run, as text."},
	{"status", status_of, METH_VARARGS, "status(exception, hung, suite) -> a status."},
	{"work", work, METH_VARARGS,
	 "work(count, jobs, timeout, memory, work, done) -> whether all tasks were done."},
	{NULL, NULL, 0, NULL},
};

int py_init_sweep(void)
{
	PyObject *module = py_submodule("sweep");

	if (!module || PyModule_AddFunctions(module, functions) < 0)
		return -1;
	return py_add_type("sweep", &run_spec) && py_add_type("sweep", &replayer_spec) ? 0 : -1;
}
