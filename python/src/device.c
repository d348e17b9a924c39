/* device.c: MeshDevice, opening and closing, views of its memory. */
#include "py.h"

#include <structmember.h>

PyTypeObject *py_device_type;

/*
 * All live Python objects by the device they stand for, so that a device asked of a tensor is the
 * one that was opened. Borrowed: an object that dies takes itself out.
 */
static PyObject *live; /* {address: weak reference} */

static ttnn_device *device_of(PyObject *self)
{
	return ((struct py_device *)self)->device;
}

static const struct ttnn_device_info *info_of(PyObject *self)
{
	return ttnn_device_get_info(device_of(self));
}

static PyObject *find_live(PyObject *key)
{
	PyObject *weak = PyDict_GetItemWithError(live, key), *found = NULL;

	if (!weak)
		return NULL;
#if PY_VERSION_HEX >= 0x030d0000
	PyWeakref_GetRef(weak, &found);
#else
	found = PyWeakref_GetObject(weak);
	found = found == Py_None ? NULL : Py_NewRef(found);
#endif
	return found;
}

PyObject *py_new_device(ttnn_device *device)
{
	PyObject *key = PyLong_FromVoidPtr(device);
	PyObject *found = key ? find_live(key) : NULL, *weak;
	struct py_device *self;

	if (found || !key) {
		ttnn_device_unref(device);
		Py_XDECREF(key);
		return found;
	}
	self = (struct py_device *)py_device_type->tp_alloc(py_device_type, 0);
	if (!self) {
		ttnn_device_unref(device);
		Py_DECREF(key);
		return NULL;
	}
	self->device = device;
	weak = PyWeakref_NewRef((PyObject *)self, NULL);
	if (!weak || PyDict_SetItem(live, key, weak) < 0)
		Py_CLEAR(self);
	Py_XDECREF(weak);
	Py_DECREF(key);
	return (PyObject *)self;
}

static void device_dealloc(PyObject *object)
{
	struct py_device *self = (struct py_device *)object;
	PyTypeObject *type = Py_TYPE(object);
	PyObject *key;

	PyObject_GC_UnTrack(object);
	if (self->weak)
		PyObject_ClearWeakRefs(object);
	key = PyLong_FromVoidPtr(self->device);
	if (!key || PyDict_DelItem(live, key) < 0)
		PyErr_Clear();
	Py_XDECREF(key);
	Py_CLEAR(self->dict);
	ttnn_device_unref(self->device);
	type->tp_free(object);
	Py_DECREF(type);
}

static int device_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(((struct py_device *)self)->dict);
	Py_VISIT(Py_TYPE(self));
	return 0;
}

static int device_clear(PyObject *self)
{
	Py_CLEAR(((struct py_device *)self)->dict);
	return 0;
}

static PyObject *device_repr(PyObject *self)
{
	char *text = NULL;

	return py_text(ttnn_device_text(&text, device_of(self)), &text);
}

/* ---- opening -------------------------------------------------------------------------------------------- */

/* The numbers of the options, None being the default. */
static int read_options(struct ttnn_device_options *out, PyObject *dict)
{
	static const struct {
		const char *name;
		size_t offset;
	} sizes[] = {
		{"l1_small_size", offsetof(struct ttnn_device_options, l1_small_size)},
		{"trace_region_size", offsetof(struct ttnn_device_options, trace_region_size)},
		{"worker_l1_size", offsetof(struct ttnn_device_options, worker_l1_size)},
	};
	static const struct {
		const char *name;
		size_t offset;
	} numbers[] = {
		{"num_command_queues", offsetof(struct ttnn_device_options, queues)},
		{"dispatch", offsetof(struct ttnn_device_options, dispatch)},
		{"axis", offsetof(struct ttnn_device_options, axis)},
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		PyObject *value = PyDict_GetItemString(dict, sizes[i].name);
		unsigned long long size =
			value && value != Py_None ? PyLong_AsUnsignedLongLong(value) : 0;

		if (PyErr_Occurred())
			return -1;
		memcpy((char *)out + sizes[i].offset, &(uint64_t){size}, sizeof(uint64_t));
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		PyObject *value = PyDict_GetItemString(dict, numbers[i].name);
		uint32_t number = 0;

		if (value && value != Py_None && py_read_u32(&number, value, numbers[i].name) < 0)
			return -1;
		memcpy((char *)out + numbers[i].offset, &number, sizeof(number));
	}
	return 0;
}

/* What was opened between py_call_begin() and here; the machine may be described by a file that has to be waited for. */
static PyObject *opened(const struct py_call *guard, enum ttnn_status status, ttnn_device *device,
			const char *place)
{
	enum ttnn_status ended = py_call_end(guard, status, NULL);

	if (ended == TTNN_OK)
		return py_new_device(device);
	if (status == TTNN_OK)
		ttnn_device_close(device);
	return py_fail(ended, place);
}

/* open_device(chip, options) */
static PyObject *open_device(PyObject *module, PyObject *args)
{
	struct ttnn_device_options options = {0};
	ttnn_device *device = NULL;
	enum ttnn_status status;
	struct py_call guard;
	PyObject *dict, *id;
	uint32_t chip;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO!", &id, &PyDict_Type, &dict) ||
	    py_read_u32(&chip, id, "device_id") < 0 || read_options(&options, dict) < 0)
		return NULL;
	py_call_begin(&guard);
	status = ttnn_device_open(&device, chip, &options);
	return opened(&guard, status, device, "open_device");
}

/* Rows and columns, the place of the first chip, the chips; each None or missing: not given. */
static int read_mesh(struct ttnn_mesh_options *out, PyObject *shape, PyObject *offset)
{
	struct ttnn_shape extents = {0}, place = {0};

	if (shape != Py_None && py_read_shape(&extents, shape, "mesh_shape") < 0)
		return -1;
	if (offset != Py_None && py_read_shape(&place, offset, "offset") < 0)
		return -1;
	if (extents.rank > 2 || place.rank > 2) {
		PyErr_SetString(PyExc_TypeError, "a mesh has rows and columns");
		return -1;
	}
	out->rows = extents.rank == 2 ? extents.dim[0] : extents.rank;
	out->cols = extents.rank ? extents.dim[extents.rank - 1] : 0;
	out->has_offset = place.rank != 0;
	out->row = place.rank == 2 ? place.dim[0] : 0;
	out->col = place.rank ? place.dim[place.rank - 1] : 0;
	return 0;
}

/* open_mesh_device(shape, offset, chips, options) */
static PyObject *open_mesh(PyObject *module, PyObject *args)
{
	struct ttnn_device_options options = {0};
	struct ttnn_mesh_options mesh = {0};
	PyObject *shape, *offset, *chips, *dict;
	uint32_t ids[256];
	ttnn_device *device = NULL;
	enum ttnn_status status;
	struct py_call guard;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOO!O!", &shape, &offset, &PyList_Type, &chips, &PyDict_Type,
			      &dict) ||
	    read_mesh(&mesh, shape, offset) < 0 || read_options(&options, dict) < 0)
		return NULL;
	if (PyList_GET_SIZE(chips) > 256)
		return PyErr_Format(PyExc_ValueError, "more chips than any machine has");
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(chips); i++)
		if (py_read_u32(&ids[i], PyList_GET_ITEM(chips, i), "physical_device_ids") < 0)
			return NULL;
	mesh.chip_count = (size_t)PyList_GET_SIZE(chips);
	mesh.chips = mesh.chip_count ? ids : NULL;
	py_call_begin(&guard);
	status = ttnn_mesh_open(&device, &mesh, &options);
	return opened(&guard, status, device, "open_mesh_device");
}

static PyObject *close_device(PyObject *module, PyObject *device)
{
	(void)module;
	if (!PyObject_TypeCheck(device, py_device_type))
		return PyErr_Format(PyExc_TypeError, "a MeshDevice is expected, not %.100s",
				    Py_TYPE(device)->tp_name);
	Py_BEGIN_ALLOW_THREADS ttnn_device_close(device_of(device));
	Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* system_info() → {...} of the machine that would be opened */
static PyObject *system_info(PyObject *module, PyObject *unused)
{
	struct ttnn_system_info info;
	enum ttnn_status status;
	struct py_call guard;

	(void)module;
	(void)unused;
	py_call_begin(&guard);
	status = ttnn_system_info(&info, NULL);
	status = py_call_end(&guard, status, NULL);
	if (status != TTNN_OK)
		return py_fail(status, "system");
	return Py_BuildValue("{sssssssIsIsIsI}", "name", info.name, "arch", info.arch, "cluster",
			     info.cluster, "cluster_code", info.cluster_code, "rows", info.rows,
			     "cols", info.cols, "chips", info.chip_count);
}

/* ---- what can be asked ------------------------------------------------------------------------------------ */

static PyObject *device_id(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(info_of(self)->id);
}

static PyObject *device_arch(PyObject *self, PyObject *unused)
{
	(void)unused;
	return py_enum_member(py_enum_arch, info_of(self)->arch_code);
}

static PyObject *device_grid(PyObject *self, PyObject *unused)
{
	(void)unused;
	return py_new_core(py_core_type, info_of(self)->compute_grid);
}

static PyObject *device_dram_grid(PyObject *self, PyObject *unused)
{
	(void)unused;
	return py_new_core(py_core_type, (struct ttnn_core){info_of(self)->dram_banks, 1});
}

static PyObject *device_count(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(info_of(self)->chip_count);
}

static PyObject *device_ids(PyObject *self, PyObject *unused)
{
	const struct ttnn_device_info *info = info_of(self);
	PyObject *list = PyList_New(info->chip_count);

	(void)unused;
	for (uint32_t i = 0; list && i < info->chip_count; i++) {
		PyObject *id = PyLong_FromUnsignedLong(info->chips[i]);

		if (!id)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, id);
	}
	return list;
}

/* The place of a coordinate, counted row by row; -1 with an exception when there is none. */
static Py_ssize_t place_at(PyObject *self, PyObject *coord)
{
	const struct ttnn_device_info *info = info_of(self);
	struct ttnn_shape at;

	if (py_read_shape(&at, coord, "coordinate") < 0)
		return -1;
	if (at.rank != 2 || at.dim[0] >= info->rows || at.dim[1] >= info->cols) {
		PyErr_Format(PyExc_RuntimeError, "the mesh has no place %R", coord);
		return -1;
	}
	return (Py_ssize_t)at.dim[0] * info->cols + at.dim[1];
}

/* get_device_id(coordinate) */
static PyObject *device_chip(PyObject *self, PyObject *coord)
{
	Py_ssize_t place = place_at(self, coord);

	return place < 0 ? NULL : PyLong_FromUnsignedLong(info_of(self)->chips[place]);
}

/* _fabric_chip(coordinate): its number in the machine */
static PyObject *device_fabric_chip(PyObject *self, PyObject *coord)
{
	Py_ssize_t place = place_at(self, coord);

	return place < 0 ? NULL
			 : PyLong_FromUnsignedLong(ttnn_device_fabric_chip(
				   device_of(self), info_of(self)->chips[place]));
}

/* _read_bank(place, bank, address, size) → bytes of DRAM */
static PyObject *device_read_bank(PyObject *self, PyObject *args)
{
	struct ttnn_bank_place at;
	unsigned long long address;
	enum ttnn_status status;
	Py_ssize_t size;
	PyObject *out;

	if (!PyArg_ParseTuple(args, "IIKn", &at.chip, &at.bank, &address, &size))
		return NULL;
	at.address = address;
	out = PyBytes_FromStringAndSize(NULL, size);
	if (!out)
		return NULL;
	status = ttnn_device_read_bank(PyBytes_AS_STRING(out), (size_t)size, device_of(self), &at);
	if (status == TTNN_OK)
		return out;
	Py_DECREF(out);
	return py_fail(status, "read_bank");
}

enum { MESH_SHAPE, MESH_GRID };

static PyObject *device_number(PyObject *self, void *which)
{
	const struct ttnn_device_info *info = info_of(self);

	switch ((intptr_t)which) {
	case MESH_SHAPE:
		return py_new_shape(py_mesh_shape_type,
				    &(struct ttnn_shape){2, {info->rows, info->cols}});
	default:
		return py_new_core(py_grid_type, info->compute_grid);
	}
}

static PyObject *device_info(PyObject *self, PyObject *unused)
{
	const struct ttnn_device_info *info = info_of(self);

	(void)unused;
	return Py_BuildValue(
		"{sssssssssssIsIsKsKsKsKsKsIsIsI}", "profile", info->profile, "arch", info->arch,
		"arch_name", info->arch_name, "cluster", info->cluster, "memory_map",
		info->memory_map, "dram_banks", info->dram_banks, "l1_banks", info->l1_banks,
		"dram_bank_size", (unsigned long long)info->dram_bank_size, "l1_size",
		(unsigned long long)info->l1_size, "dram_base", (unsigned long long)info->dram_base,
		"l1_base", (unsigned long long)info->l1_base, "max_worker_l1_size",
		(unsigned long long)info->max_worker_l1_size, "dram_alignment",
		info->dram_alignment, "l1_alignment", info->l1_alignment, "queues", info->queues);
}

static PyObject *device_eps(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble((double)info_of(self)->sfpu_eps);
}

static PyObject *device_nan(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble((double)info_of(self)->sfpu_nan);
}

static PyObject *device_inf(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyFloat_FromDouble((double)info_of(self)->sfpu_inf);
}

typedef enum ttnn_status (*translate)(struct ttnn_core *out, const ttnn_device *device,
				      struct ttnn_core core);

static PyObject *translated(PyObject *self, PyObject *core, translate function)
{
	struct ttnn_core from, to;
	enum ttnn_status status;

	if (py_read_core(&from, core, "core") < 0)
		return NULL;
	status = function(&to, device_of(self), from);
	return status == TTNN_OK ? py_new_core(py_core_type, to) : py_fail(status, "device");
}

static PyObject *device_worker(PyObject *self, PyObject *core)
{
	return translated(self, core, ttnn_device_worker_core);
}

static PyObject *device_logical(PyObject *self, PyObject *core)
{
	return translated(self, core, ttnn_device_logical_core);
}

static PyObject *device_dram_workers(PyObject *self, PyObject *noc)
{
	struct ttnn_core cores[256];
	const ttnn_enum *type;
	int64_t member = 0;
	uint32_t number;
	enum ttnn_status status;
	PyObject *list;

	if (py_enum_read(&type, &member, noc))
		number = (uint32_t)member;
	else if (py_read_u32(&number, noc, "noc") < 0)
		return NULL;
	status = ttnn_device_dram_workers(cores, device_of(self), number);
	if (status != TTNN_OK)
		return py_fail(status, "device");
	list = PyList_New(info_of(self)->dram_banks);
	for (uint32_t i = 0; list && i < info_of(self)->dram_banks; i++) {
		PyObject *core = py_new_core(py_core_type, cores[i]);

		if (!core)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, core);
	}
	return list;
}

/* ---- the program cache ---------------------------------------------------------------------------------------- */

static PyObject *device_programs(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(ttnn_device_program_cache_entries(device_of(self)));
}

static PyObject *device_enable_cache(PyObject *self, PyObject *unused)
{
	(void)unused;
	ttnn_device_program_cache_enable(device_of(self), true);
	Py_RETURN_NONE;
}

static PyObject *device_clear_cache(PyObject *self, PyObject *unused)
{
	(void)unused;
	ttnn_device_program_cache_clear(device_of(self));
	Py_RETURN_NONE;
}

static PyObject *device_disable_cache(PyObject *self, PyObject *unused)
{
	(void)unused;
	ttnn_device_program_cache_clear(device_of(self));
	ttnn_device_program_cache_enable(device_of(self), false);
	Py_RETURN_NONE;
}

/* ---- submeshes -------------------------------------------------------------------------------------------------- */

static PyObject *device_list(ttnn_device **devices, size_t count)
{
	PyObject *list = PyList_New((Py_ssize_t)count);

	for (size_t i = 0; i < count; i++) {
		PyObject *device = py_new_device(devices[i]);

		if (!list || !device) {
			Py_CLEAR(list);
			Py_XDECREF(device);
		} else {
			PyList_SET_ITEM(list, (Py_ssize_t)i, device);
		}
	}
	ttnn_free(devices);
	return list;
}

static PyObject *device_submesh(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char *names[] = {"submesh_shape", "offset", NULL};
	PyObject *shape, *offset = Py_None;
	struct ttnn_mesh_options mesh = {0};
	enum ttnn_status status;
	ttnn_device *device;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, &shape, &offset) ||
	    read_mesh(&mesh, shape, offset) < 0)
		return NULL;
	status = ttnn_device_submesh(&device, device_of(self), &mesh);
	return status == TTNN_OK ? py_new_device(device) : py_fail(status, "create_submesh");
}

static PyObject *device_cut(PyObject *self, PyObject *shape)
{
	struct ttnn_mesh_options mesh = {0};
	enum ttnn_status status;
	ttnn_device **devices;
	size_t count;

	if (read_mesh(&mesh, shape, Py_None) < 0)
		return NULL;
	status = ttnn_device_cut(&devices, &count, device_of(self), mesh.rows, mesh.cols);
	return status == TTNN_OK ? device_list(devices, count)
				 : py_fail(status, "create_submeshes");
}

static PyObject *device_submeshes(PyObject *self, PyObject *unused)
{
	enum ttnn_status status;
	ttnn_device **devices;
	size_t count;

	(void)unused;
	status = ttnn_device_submeshes(&devices, &count, device_of(self));
	return status == TTNN_OK ? device_list(devices, count) : py_fail(status, "get_submeshes");
}

static PyObject *device_reshape(PyObject *self, PyObject *shape)
{
	struct ttnn_mesh_options mesh = {0};
	enum ttnn_status status;

	if (read_mesh(&mesh, shape, Py_None) < 0)
		return NULL;
	status = ttnn_device_reshape(device_of(self), mesh.rows, mesh.cols);
	if (status != TTNN_OK)
		return py_fail(status, "reshape");
	Py_RETURN_NONE;
}

/* ---- memory ------------------------------------------------------------------------------------------------------- */

static PyObject *block_list(ttnn_device *device, enum ttnn_buffer_type type)
{
	struct ttnn_memory_block *blocks;
	enum ttnn_status status;
	PyObject *list;
	size_t count;

	status = ttnn_device_blocks(&blocks, &count, device, type);
	if (status != TTNN_OK)
		return py_fail(status, "get_memory_view");
	list = PyList_New((Py_ssize_t)count);
	for (size_t i = 0; list && i < count; i++) {
		PyObject *row = Py_BuildValue("(KKO)", (unsigned long long)blocks[i].address,
					      (unsigned long long)blocks[i].size,
					      blocks[i].allocated ? Py_True : Py_False);

		if (!row)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, (Py_ssize_t)i, row);
	}
	ttnn_free(blocks);
	return list;
}

/* memory_view(device, type) → (banks, bytes, allocated, free, largest, [(address, size, taken)]) */
static PyObject *memory_view(PyObject *module, PyObject *args)
{
	struct ttnn_memory_view view;
	PyObject *device, *type;
	enum ttnn_status status;
	int64_t number;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!O", py_device_type, &device, &type) ||
	    py_enum_need(&number, type, py_enum_buffer, "buffer_type") < 0)
		return NULL;
	status = ttnn_device_memory(&view, device_of(device), (enum ttnn_buffer_type)number);
	if (status != TTNN_OK)
		return py_fail(status, "get_memory_view");
	return Py_BuildValue("(IKKKKN)", view.banks, (unsigned long long)view.bank_bytes,
			     (unsigned long long)view.allocated, (unsigned long long)view.free,
			     (unsigned long long)view.largest_free,
			     block_list(device_of(device), (enum ttnn_buffer_type)number));
}

/* reserve(device, spec) → a tensor that holds this memory */
static PyObject *reserve(PyObject *module, PyObject *args)
{
	PyObject *device, *spec;
	enum ttnn_status status;
	struct py_call guard;
	ttnn_tensor *tensor;

	(void)module;
	if (!PyArg_ParseTuple(args, "O!O!", py_device_type, &device, py_spec_type, &spec))
		return NULL;
	py_call_begin(&guard);
	status = ttnn_tensor_reserve(&tensor, device_of(device), &((struct py_spec *)spec)->spec);
	status = py_call_end(&guard, status, NULL);
	return status == TTNN_OK ? py_new_tensor(tensor) : py_fail(status, "reserve");
}

static PyObject *with_sub_devices(PyObject *args, bool set)
{
	const ttnn_core_set *sets[32];
	PyObject *device, *list;
	enum ttnn_status status;
	Py_ssize_t count;

	if (!PyArg_ParseTuple(args, "O!O!", py_device_type, &device, &PyList_Type, &list))
		return NULL;
	count = PyList_GET_SIZE(list);
	for (Py_ssize_t i = 0; i < count && count <= 32; i++) /* more are refused by their number */
		if (py_read_cores(&sets[i], PyList_GET_ITEM(list, i), "the cores") < 0)
			return NULL;
	status = (set ? ttnn_device_set_sub_devices
		      : ttnn_device_check_sub_devices)(device_of(device), sets, (size_t)count);
	return status == TTNN_OK ? Py_NewRef(Py_None) : py_fail(status, "set_sub_devices");
}

/* check_sub_devices(device, [cores]), set_sub_devices(device, [cores]) */
static PyObject *check_sub_devices(PyObject *module, PyObject *args)
{
	(void)module;
	return with_sub_devices(args, false);
}

static PyObject *set_sub_devices(PyObject *module, PyObject *args)
{
	(void)module;
	return with_sub_devices(args, true);
}

/* deallocate_buffers(device) */
static PyObject *deallocate_buffers(PyObject *module, PyObject *device)
{
	enum ttnn_status status;

	(void)module;
	if (!PyObject_TypeCheck(device, py_device_type))
		return PyErr_Format(PyExc_TypeError, "deallocate_buffers() takes a device");
	status = ttnn_device_deallocate_buffers(device_of(device));
	return status == TTNN_OK ? Py_NewRef(Py_None) : py_fail(status, "deallocate_buffers");
}

/* ---- the type -------------------------------------------------------------------------------------------------------- */

#define KEYWORDS(function) (PyCFunction)(void (*)(void))(function), METH_VARARGS | METH_KEYWORDS
static PyMethodDef device_methods[] = {
	{"id", device_id, METH_NOARGS, "The number of the mesh."},
	{"arch", device_arch, METH_NOARGS, "The architecture."},
	{"info", device_info, METH_NOARGS, "What never changes, by name."},
	{"compute_with_storage_grid_size", device_grid, METH_NOARGS, "Columns and rows of cores."},
	{"dram_grid_size", device_dram_grid, METH_NOARGS, "The DRAM banks as a grid."},
	{"get_num_devices", device_count, METH_NOARGS, "The number of chips."},
	{"get_device_ids", device_ids, METH_NOARGS, "The chips, row by row."},
	{"get_device_id", device_chip, METH_O, "The chip at a coordinate."},
	{"_fabric_chip", device_fabric_chip, METH_O, NULL},
	{"_read_bank", device_read_bank, METH_VARARGS, NULL},
	{"sfpu_eps", device_eps, METH_NOARGS, NULL},
	{"sfpu_nan", device_nan, METH_NOARGS, NULL},
	{"sfpu_inf", device_inf, METH_NOARGS, NULL},
	{"worker_core_from_logical_core", device_worker, METH_O, NULL},
	{"logical_core_from_worker_core", device_logical, METH_O, NULL},
	{"get_optimal_dram_bank_to_logical_worker_assignment", device_dram_workers, METH_O, NULL},
	{"num_program_cache_entries", device_programs, METH_NOARGS, "Programs in the cache."},
	{"enable_program_cache", device_enable_cache, METH_NOARGS, NULL},
	{"clear_program_cache", device_clear_cache, METH_NOARGS, NULL},
	{"disable_and_clear_program_cache", device_disable_cache, METH_NOARGS, NULL},
	{"create_submesh", KEYWORDS(device_submesh), "A mesh of a part of the chips."},
	{"create_submeshes", device_cut, METH_O, "The mesh cut into parts of this shape."},
	{"get_submeshes", device_submeshes, METH_NOARGS, "The submeshes in use."},
	{"reshape", device_reshape, METH_O, "Gives the mesh another shape."},
	{NULL, NULL, 0, NULL},
};
static PyGetSetDef device_fields[] = {
	{"shape", device_number, NULL, "Rows and columns of the mesh.", PY_FIELD(MESH_SHAPE)},
	{"core_grid", device_number, NULL, "The grid of computing cores.", PY_FIELD(MESH_GRID)},
	{"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};
static PyMemberDef device_members[] = {
	{"__dictoffset__", T_PYSSIZET, offsetof(struct py_device, dict), READONLY, NULL},
	{"__weaklistoffset__", T_PYSSIZET, offsetof(struct py_device, weak), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};
static PyType_Slot device_slots[] = {
	{Py_tp_dealloc, device_dealloc}, {Py_tp_traverse, device_traverse},
	{Py_tp_clear, device_clear},     {Py_tp_repr, device_repr},
	{Py_tp_methods, device_methods}, {Py_tp_getset, device_fields},
	{Py_tp_members, device_members}, {0, NULL},
};
static PyType_Spec device_spec = {
	"ttnn._ttnn.multi_device.MeshDevice", sizeof(struct py_device), 0,
	Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, device_slots};

static PyObject *set_fabric(PyObject *self, PyObject *value)
{
	long fabric = PyLong_AsLong(value);

	(void)self;
	if (fabric == -1 && PyErr_Occurred())
		return NULL;
	if (fabric < TTNN_FABRIC_NONE || fabric > TTNN_FABRIC_2D_TORUS_XY)
		fabric = TTNN_FABRIC_NONE;
	ttnn_fabric_set((enum ttnn_fabric)fabric);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{"set_fabric", set_fabric, METH_O, NULL},
	{"open_device", open_device, METH_VARARGS, NULL},
	{"open_mesh_device", open_mesh, METH_VARARGS, NULL},
	{"close_device", close_device, METH_O, NULL},
	{"system_info", system_info, METH_NOARGS, NULL},
	{"memory_view", memory_view, METH_VARARGS, NULL},
	{"reserve", reserve, METH_VARARGS, NULL},
	{"check_sub_devices", check_sub_devices, METH_VARARGS, NULL},
	{"deallocate_buffers", deallocate_buffers, METH_O, NULL},
	{"set_sub_devices", set_sub_devices, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_devices(void)
{
	live = PyDict_New();
	py_device_type = py_add_type("multi_device", &device_spec);
	if (!live || !py_device_type)
		return -1;
	return PyModule_AddFunctions(py_submodule("device"), functions);
}
