/*
 * parts.c: tensors and their parts on a mesh, and how alike two tensors are. Placements are lists
 * with a dimension, or None, for each dimension of the mesh.
 */
#include "py.h"

#define PARTS 1024 /* of one tensor */

struct parts {
	struct ttnn_shape mesh, whole; /* what the parts are spread over, and all of the mesh */
	size_t count;
	struct ttnn_placement placements[TTNN_MAX_RANK];
	ttnn_tensor *tensors[PARTS]; /* borrowed */
};

static int read_mesh(struct parts *out, PyObject *mesh, PyObject *dims)
{
	uint64_t count = 0;

	if (py_read_shape(&out->mesh, mesh, "mesh_shape") < 0)
		return -1;
	if (ttnn_shape_volume(&count, &out->mesh) != TTNN_OK || count > PARTS ||
	    PyList_GET_SIZE(dims) != out->mesh.rank) {
		PyErr_SetString(PyExc_ValueError, "parts or placements do not fit the mesh");
		return -1;
	}
	out->count = (size_t)count;
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(dims); i++) {
		PyObject *dim = PyList_GET_ITEM(dims, i);

		long number = dim == Py_None ? 0 : PyLong_AsLong(dim);

		if (number < INT32_MIN || number > INT32_MAX)
			PyErr_SetString(PyExc_ValueError, "a tensor has no such dimension");
		out->placements[i].shard = dim != Py_None;
		out->placements[i].dim = (int32_t)number;
	}
	return PyErr_Occurred() ? -1 : 0;
}

/* The tensor of a Tensor, borrowed; NULL with an exception when there is none. */
static ttnn_tensor *tensor_of(PyObject *object)
{
	ttnn_tensor *tensor = NULL;

	if (!PyObject_TypeCheck(object, py_tensor_type))
		PyErr_SetString(PyExc_TypeError, "a part is no Tensor");
	else if (!(tensor = ((struct py_tensor *)object)->tensor))
		PyErr_SetString(PyExc_RuntimeError, "a part was never initialised");
	return tensor;
}

/* (parts, mesh shape, placements, all of the mesh = mesh shape) */
static int read_parts(struct parts *out, PyObject *args)
{
	PyObject *parts, *mesh, *dims, *whole = NULL;

	if (!PyArg_ParseTuple(args, "O!OO!|O", &PyList_Type, &parts, &mesh, &PyList_Type, &dims,
			      &whole) ||
	    read_mesh(out, mesh, dims) < 0)
		return -1;
	out->whole = out->mesh;
	if (whole && py_read_shape(&out->whole, whole, "mesh_shape") < 0)
		return -1;
	if ((size_t)PyList_GET_SIZE(parts) != out->count) {
		PyErr_SetString(PyExc_ValueError, "parts or placements do not fit the mesh");
		return -1;
	}
	for (size_t i = 0; i < out->count; i++) {
		out->tensors[i] = tensor_of(PyList_GET_ITEM(parts, (Py_ssize_t)i));
		if (!out->tensors[i])
			return -1;
	}
	return 0;
}

static PyObject *gather_as(PyObject *args, bool counted)
{
	struct parts parts = {0};
	enum ttnn_status status;
	struct py_call guard;
	ttnn_tensor *tensor;
	bool before;

	if (read_parts(&parts, args) < 0)
		return NULL;
	py_call_begin(&guard);
	before = ttnn_tensor_hide(!counted);
	status = ttnn_tensor_gather(&tensor, parts.tensors, &parts.whole, &parts.mesh,
				    parts.placements);
	ttnn_tensor_hide(before);
	status = py_call_end(&guard, status, &tensor);
	return status == TTNN_OK ? py_new_tensor(tensor) : py_fail(status, "distribute");
}

/* gather(parts, mesh shape, placements, all of the mesh) → one tensor of these parts */
static PyObject *gather(PyObject *module, PyObject *args)
{
	(void)module;
	return gather_as(args, true);
}

/* gather_data(parts, mesh shape, placements, all of the mesh) → the same of data, which has no number */
static PyObject *gather_data(PyObject *module, PyObject *args)
{
	(void)module;
	return gather_as(args, false);
}

/* join(parts, mesh shape, placements) → a tensor without parts */
static PyObject *join(PyObject *module, PyObject *args)
{
	struct parts parts = {0};
	enum ttnn_status status;
	struct py_call guard;
	ttnn_tensor *tensor;

	(void)module;
	if (read_parts(&parts, args) < 0)
		return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_join(&tensor, parts.tensors, &parts.mesh, parts.placements);
	status = py_call_end(&guard, status, &tensor);
	return status == TTNN_OK ? py_new_tensor(tensor) : py_fail(status, "aggregate");
}

/* cut(tensor, mesh shape, placements) → parts */
static PyObject *cut(PyObject *module, PyObject *args)
{
	struct parts parts = {0};
	PyObject *whole, *mesh, *dims, *list;
	enum ttnn_status status;
	ttnn_tensor *tensor;
	size_t i = 0;
	bool before;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!", &whole, &mesh, &PyList_Type, &dims) ||
	    read_mesh(&parts, mesh, dims) < 0 || !(tensor = tensor_of(whole)))
		return NULL;
	before = ttnn_tensor_hide(true); /* it is the tensor of all parts that is counted */
	status = ttnn_tensor_cut(parts.tensors, tensor, &parts.mesh, parts.placements);
	ttnn_tensor_hide(before);
	if (status != TTNN_OK)
		return py_fail(status, "distribute");
	list = PyList_New((Py_ssize_t)parts.count);
	for (; list && i < parts.count; i++) {
		PyObject *part = py_new_tensor(parts.tensors[i]); /* takes it over */

		if (part)
			PyList_SET_ITEM(list, (Py_ssize_t)i, part);
		else
			Py_CLEAR(list);
	}
	for (; !list && i < parts.count; i++)
		ttnn_tensor_unref(parts.tensors[i]);
	return list;
}

/* set_placements(tensor, distribution shape, placements) */
static PyObject *set_placements(PyObject *module, PyObject *args)
{
	struct parts parts = {0};
	PyObject *object, *mesh, *dims;
	enum ttnn_status status;
	ttnn_tensor *tensor;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!", &object, &mesh, &PyList_Type, &dims) ||
	    read_mesh(&parts, mesh, dims) < 0 || !(tensor = tensor_of(object)))
		return NULL;
	status = ttnn_tensor_set_placements(tensor, &parts.mesh, parts.placements);
	if (status != TTNN_OK)
		return py_fail(status, "update_tensor_topology");
	Py_RETURN_NONE;
}

/* Either rule. */
typedef enum ttnn_status compare_tensors(double *, const ttnn_tensor *, ttnn_tensor *);

static PyObject *compared(PyObject *args, compare_tensors *compare)
{
	PyObject *objects[2];
	ttnn_tensor *tensors[2];
	enum ttnn_status status;
	struct py_call guard;
	double found;

	if (!PyArg_ParseTuple(args, "OO", &objects[0], &objects[1]))
		return NULL;
	for (int i = 0; i < 2; i++)
		if (!(tensors[i] = tensor_of(objects[i])))
			return NULL;
	py_call_begin(&guard);
	status = compare(&found, tensors[0], tensors[1]);
	status = py_call_end(&guard, status, NULL);
	return status == TTNN_OK ? PyFloat_FromDouble(found)
				 : py_fail(status, "pearson_correlation_coefficient");
}

static enum ttnn_status plain_pcc(double *out, const ttnn_tensor *expected, ttnn_tensor *actual)
{
	return ttnn_tensor_pcc(out, expected, actual);
}

/* pcc(expected, actual), both on the host in rows */
static PyObject *pcc(PyObject *module, PyObject *args)
{
	(void)module;
	return compared(args, plain_pcc);
}

/* The same by the rule of upstream's tests. */
static PyObject *comp_pcc(PyObject *module, PyObject *args)
{
	(void)module;
	return compared(args, ttnn_tensor_comp_pcc);
}

/* alike(golden, result, terms), both on the host in rows */
static PyObject *alike(PyObject *module, PyObject *args)
{
	unsigned long long terms;
	PyObject *objects[2];
	ttnn_tensor *tensors[2];
	enum ttnn_status status;
	struct py_call guard;
	double found;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOK", &objects[0], &objects[1], &terms))
		return NULL;
	for (int i = 0; i < 2; i++)
		if (!(tensors[i] = tensor_of(objects[i])))
			return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_alike(&found, tensors[0], tensors[1], terms);
	status = py_call_end(&guard, status, NULL);
	return status == TTNN_OK ? PyFloat_FromDouble(found) : py_fail(status, "alike");
}

/* group_mask(channels, groups, cores, dtype, tile_height, tile_width, last_rows, negative) */
static PyObject *group_mask(PyObject *module, PyObject *args)
{
	struct ttnn_group_mask mask = {0};
	enum ttnn_status status;
	ttnn_tensor *tensor;
	PyObject *dtype;
	int64_t type;
	int negative;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&O&O&OO&O&O&p", py_u32, &mask.channels, py_u32, &mask.groups,
			      py_u32, &mask.cores, &dtype, py_u32, &mask.tile_height, py_u32,
			      &mask.tile_width, py_u32, &mask.last_rows, &negative) ||
	    py_enum_need(&type, dtype, py_enum_dtype, "data_type") < 0)
		return NULL;
	mask.dtype = (enum ttnn_dtype)type;
	mask.negative = negative;
	status = ttnn_group_mask_new(&tensor, &mask);
	return status == TTNN_OK ? py_new_tensor(tensor)
				 : py_fail(status, "create_group_norm_input_mask");
}

/* group_norm_cores(channels, groups, rows, grid, how) → (config, grid); how: height, block, rows, dram */
static PyObject *group_norm_cores(PyObject *module, PyObject *args)
{
	struct ttnn_group_spread spread = {0};
	struct ttnn_memory_config config;
	unsigned long long rows;
	enum ttnn_status status;
	struct ttnn_core grid;
	const char *how;
	PyObject *most;

	(void)module;
	if (!PyArg_ParseTuple(args, "O&O&O&Os", py_u32, &spread.channels, py_u32, &spread.groups,
			      py_u64, &rows, &most, &how) ||
	    py_read_core(&spread.grid, most, "grid") < 0)
		return NULL;
	spread.rows = rows;
	spread.height = *how == 'h';
	spread.row_major = *how == 'r';
	if (*how == 'd') {
		status = ttnn_group_norm_grid(&grid, &spread);
		return status == TTNN_OK ? py_new_core(py_grid_type, grid)
					 : py_fail(status, "group_norm");
	}
	status = ttnn_group_norm_shards(&config, &grid, &spread);
	if (status != TTNN_OK)
		return py_fail(status, "group_norm");
	return Py_BuildValue("NN", py_new_memory(&config), py_new_core(py_grid_type, grid));
}

static PyMethodDef functions[] = {
	{"group_norm_cores", group_norm_cores, METH_VARARGS, NULL},
	{"gather", gather, METH_VARARGS, NULL},
	{"gather_data", gather_data, METH_VARARGS, NULL},
	{"join", join, METH_VARARGS, NULL},
	{"cut", cut, METH_VARARGS, NULL},
	{"set_placements", set_placements, METH_VARARGS, NULL},
	{"alike", alike, METH_VARARGS, NULL},
	{"pcc", pcc, METH_VARARGS, NULL},
	{"comp_pcc", comp_pcc, METH_VARARGS, NULL},
	{"group_mask", group_mask, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_parts(void)
{
	return PyModule_AddFunctions(py_submodule("tensor"), functions);
}
