/*
 * data.c: arrays of other libraries, both ways, through DLPack and the buffer protocol. Neither
 * torch nor numpy is needed for that.
 *
 * In: elements that the library has a type for, in rows, are borrowed as they lie; all else is
 * copied once, strided or converted (int64, float64, float16, bool). Out: a DLPack capsule that
 * shares a host tensor's bytes and keeps them alive.
 */
#include "py.h"

/* ---- DLPack, version 0: the layout that all libraries exchange ----------------------------------------- */

enum { DL_INT = 0, DL_UINT = 1, DL_FLOAT = 2, DL_BFLOAT = 4, DL_BOOL = 6 };
enum { DL_CPU = 1, DL_CUDA_HOST = 3 };

struct dl_tensor {
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides; /* in elements; strides NULL: rows */
	uint64_t byte_offset;
};

struct dl_managed {
	struct dl_tensor tensor;
	void *context;
	void (*deleter)(struct dl_managed *self);
};

/* ---- elements -------------------------------------------------------------------------------------------- */

/*
 * The types that others have. To add one: a row. `dtype` is what a tensor of them is when nothing
 * else is asked for, `as` what the elements are converted to on the way.
 */
enum convert { SAME, HALF, DOUBLE, SHORT, LONG, ULONG };
static const struct element {
	uint8_t code, bits;
	char format; /* of the buffer protocol; 0: none */
	enum ttnn_dtype dtype;
	enum convert convert;
} elements[] = {
	{DL_FLOAT, 32, 'f', TTNN_FLOAT32, SAME},  {DL_BFLOAT, 16, 0, TTNN_BFLOAT16, SAME},
	{DL_FLOAT, 16, 'e', TTNN_BFLOAT16, HALF}, {DL_FLOAT, 64, 'd', TTNN_FLOAT32, DOUBLE},
	{DL_INT, 32, 'i', TTNN_INT32, SAME},      {DL_INT, 64, 'q', TTNN_UINT32, LONG},
	{DL_INT, 16, 'h', TTNN_UINT16, SHORT},    {DL_INT, 8, 'b', TTNN_INT8, SAME},
	{DL_UINT, 8, 'B', TTNN_UINT8, SAME},      {DL_UINT, 16, 'H', TTNN_UINT16, SAME},
	{DL_UINT, 32, 'I', TTNN_UINT32, SAME},    {DL_UINT, 64, 'Q', TTNN_UINT32, ULONG},
	{DL_BOOL, 8, '?', TTNN_UINT8, SAME},
};

/* An array of anyone, as it lies. */
struct array {
	const char *data;
	const struct element *element;
	struct ttnn_shape shape;
	int64_t strides[TTNN_MAX_RANK]; /* in bytes */
};

static int set_shape(struct array *out, Py_ssize_t rank, const int64_t *extents)
{
	if (rank > TTNN_MAX_RANK) {
		PyErr_Format(PyExc_TypeError,
			     "an array has %zd dimensions, at most %d are possible", rank,
			     TTNN_MAX_RANK);
		return -1;
	}
	out->shape.rank = (uint32_t)rank;
	for (Py_ssize_t i = 0; i < rank; i++) {
		if (extents[i] < 0 || extents[i] > UINT32_MAX) {
			PyErr_SetString(PyExc_TypeError, "a dimension has too many elements");
			return -1;
		}
		out->shape.dim[i] = (uint32_t)extents[i];
	}
	return 0;
}

static bool in_rows(const struct array *array)
{
	int64_t step = array->element->bits / 8;

	for (uint32_t d = array->shape.rank; d-- > 0;) {
		if (array->shape.dim[d] != 1 && array->strides[d] != step)
			return false;
		step *= array->shape.dim[d];
	}
	return true;
}

/* ---- copying -------------------------------------------------------------------------------------------------- */

static float half(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31;
	uint32_t mantissa = bits & 1023, word;
	float value;

	if (exponent == 0) { /* zero or subnormal: mantissa × 2^-24 */
		value = (float)mantissa * 0x1p-24f;
		return sign ? -value : value;
	}
	word = sign | mantissa << 13 | (exponent == 31 ? 255u : exponent + 112) << 23;
	memcpy(&value, &word, sizeof(value));
	return value;
}

/* What a copy is made for: the type that is asked for (-1: none), and the type that the copy has. */
struct target {
	int wanted;
	enum ttnn_dtype dtype;
};

static bool is_whole(int dtype)
{
	return dtype == TTNN_INT32 || dtype == TTNN_UINT32 || dtype == TTNN_UINT16 ||
	       dtype == TTNN_UINT8 || dtype == TTNN_INT8;
}

/* Of these types upstream makes bfloat16, and block floats by way of it. */
static bool is_brief(int dtype)
{
	return dtype == TTNN_BFLOAT16 || dtype == TTNN_BFLOAT8_B || dtype == TTNN_BFLOAT4_B;
}

/*
 * The 32 bits of a float64 or float16 that becomes a whole number. The rules are those recorded from
 * upstream (tests/data/python/conversions.json), where torch converts: through a register of 32 or of
 * 64 bits, and what that cannot hold becomes its lowest number. The low bits are kept.
 */
static uint32_t bits_of_real(double real, enum convert convert, int wanted)
{
	bool wide = wanted == TTNN_UINT8 || (wanted == TTNN_UINT32 && convert == HALF);

	if (wide)
		return (uint32_t)(real > -0x1p63 && real < 0x1p63 ? (int64_t)real : INT64_MIN);
	if (wanted == TTNN_UINT32 && real >= 0x1p31)
		return real < 0x1p32 ? (uint32_t)real : 0;
	return (uint32_t)(real > -0x1p31 - 1 && real < 0x1p31 ? (int32_t)real : INT32_MIN);
}

static void copy_real(char *to, double real, enum convert convert, const struct target *target)
{
	uint32_t bits;
	float value;

	if (is_whole(target->dtype)) {
		bits = bits_of_real(real, convert, target->wanted);
		memcpy(to, &bits, sizeof(bits));
	} else {
		value = (float)real;
		memcpy(to, &value, sizeof(value));
	}
}

/* A whole number of up to 64 bits: its low bits, the same for int32 and uint32, or the nearest float. */
static void copy_whole(char *to, uint64_t whole, enum convert convert, const struct target *target)
{
	uint32_t low = (uint32_t)whole;
	float value;

	if (is_whole(target->dtype)) {
		memcpy(to, &low, sizeof(low));
	} else {
		value = convert == ULONG ? (float)whole : (float)(int64_t)whole;
		memcpy(to, &value, sizeof(value));
	}
}

/* One element at `from` as one of the type that the copy has. */
static void copy_element(char *to, const char *from, const struct element *element,
			 const struct target *target)
{
	uint16_t bits;
	uint64_t whole;
	double real;

	switch (element->convert) {
	case HALF:
		memcpy(&bits, from, sizeof(bits));
		copy_real(to, (double)half(bits), HALF, target);
		break;
	case DOUBLE:
		memcpy(&real, from, sizeof(real));
		copy_real(to, real, DOUBLE, target);
		break;
	case LONG:
	case ULONG:
		memcpy(&whole, from, sizeof(whole));
		copy_whole(to, whole, element->convert, target);
		break;
	case SHORT:
		memcpy(&bits, from, sizeof(bits));
		if (target->dtype == TTNN_UINT16)
			memcpy(to, &bits, sizeof(bits));
		else
			copy_whole(to, (uint64_t)(int16_t)bits, SHORT, target);
		break;
	default:
		memcpy(to, from, element->bits / 8);
	}
}

/* Elements between two looks at signals. */
#define LOOK ((uint64_t)1 << 18)
#define LOOK_LIST ((uint64_t)1 << 16)

/* The elements in rows; size is that of one in the copy. */
static int copy_rows(char *to, const struct array *array, size_t size, const struct target *target)
{
	uint64_t index[TTNN_MAX_RANK] = {0};
	const char *from = array->data;
	uint64_t count;

	if (ttnn_shape_volume(&count, &array->shape) != TTNN_OK)
		return 0;
	for (uint64_t i = 0; i < count; i++, to += size) {
		if (i % LOOK == LOOK - 1 && PyErr_CheckSignals() < 0)
			return -1;
		copy_element(to, from, array->element, target);
		for (uint32_t d = array->shape.rank; d-- > 0;) {
			from += array->strides[d];
			if (++index[d] < array->shape.dim[d])
				break;
			from -= (int64_t)array->shape.dim[d] * array->strides[d];
			index[d] = 0;
		}
	}
	return 0;
}

/*
 * What the copy has: a type that holds all that the wanted one can tell apart, so that the conversion
 * to that one is no second rounding. Elements that lie as they are asked for stay as they are.
 */
static enum ttnn_dtype copy_dtype(const struct element *element, int wanted)
{
	if (element->convert == SAME || (element->convert == SHORT && wanted == TTNN_UINT16))
		return element->dtype;
	if (wanted < 0)
		return element->convert == HALF ? TTNN_FLOAT32 : element->dtype;
	if (is_whole(wanted))
		return wanted == TTNN_UINT32 ? TTNN_UINT32 : TTNN_INT32;
	return TTNN_FLOAT32;
}

static ttnn_tensor *copied(const struct array *array, int wanted)
{
	struct target target = {wanted, copy_dtype(array->element, wanted)};
	struct ttnn_spec_args args = {.shape = array->shape, .dtype = target.dtype};
	ttnn_tensor *tensor = NULL, *other = NULL;
	struct ttnn_tensor_spec spec;
	enum ttnn_status status = ttnn_tensor_spec_make(&spec, &args);
	struct py_call guard;

	if (status == TTNN_OK)
		status = ttnn_tensor_new(&tensor, &spec);
	if (status == TTNN_OK) {
		uint64_t count = 0;

		ttnn_shape_volume(&count, &spec.shape);
		/* Nobody else has it yet. */
		if (count && copy_rows((char *)(uintptr_t)ttnn_tensor_bytes(tensor), array,
				       (size_t)(spec.bytes / count), &target) < 0) {
			ttnn_tensor_unref(tensor);
			return NULL;
		}
		/* float16 is bfloat16 unless something else is wanted */
		if ((array->element->convert == HALF && wanted < 0) ||
		    (array->element->convert != SAME && is_brief(wanted))) {
			py_call_begin(&guard);
			status = ttnn_tensor_to_dtype(&other, tensor, TTNN_BFLOAT16);
			status = py_call_end(&guard, status, &other);
			ttnn_tensor_unref(tensor);
			tensor = other;
		}
	}
	if (status != TTNN_OK) {
		py_fail(status, "from_torch");
		return NULL;
	}
	return tensor;
}

/* ---- borrowing --------------------------------------------------------------------------------------------------- */

/* Who owns borrowed bytes: a buffer of Python's, or a DLPack tensor. */
struct owner {
	Py_buffer buffer;
	struct dl_managed *managed;
};

static void release(void *pointer)
{
	struct owner *owner = pointer;
	PyGILState_STATE gil;

	if (!Py_IsInitialized()) /* the interpreter is gone, and with it the owner */
		return;
	gil = PyGILState_Ensure();
	if (owner->managed && owner->managed->deleter)
		owner->managed->deleter(owner->managed);
	if (owner->buffer.obj)
		PyBuffer_Release(&owner->buffer);
	PyMem_Free(owner);
	PyGILState_Release(gil);
}

/* The array as a tensor: borrowed, or a copy and the owner let go. */
static ttnn_tensor *shown(const struct array *array, struct owner *owner, int wanted)
{
	struct ttnn_spec_args args = {.shape = array->shape, .dtype = array->element->dtype};
	struct ttnn_tensor_spec spec;
	ttnn_tensor *tensor = NULL;
	enum ttnn_status status;
	bool as_is = array->element->convert == SAME ||
		     (array->element->convert == SHORT && (wanted < 0 || wanted == TTNN_UINT16));

	/* No elements may have no address. */
	if (!as_is || !in_rows(array) || (uintptr_t)array->data % 4 || !array->data) {
		tensor = copied(array, wanted);
		release(owner);
		return tensor;
	}
	status = ttnn_tensor_spec_make(&spec, &args);
	if (status != TTNN_OK)
		release(owner);
	else
		status = ttnn_tensor_borrow(&tensor, array->data, &spec, release, owner);
	if (status != TTNN_OK)
		py_fail(status, "from_torch");
	return tensor;
}

/* The same; it has no number, as an array has none. */
static ttnn_tensor *tensor_of(const struct array *array, struct owner *owner, int wanted)
{
	bool before = ttnn_tensor_hide(true);
	ttnn_tensor *tensor = shown(array, owner, wanted);

	ttnn_tensor_hide(before);
	return tensor;
}

static const struct element *find_format(const char *format, Py_ssize_t size)
{
	char kind = format ? format[strspn(format, "@=<")] : 'B';

	if (kind == 'l' || kind == 'L') /* as long as the machine's */
		kind = size == 8 ? (kind == 'l' ? 'q' : 'Q') : (kind == 'l' ? 'i' : 'I');
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (elements[i].format == kind && elements[i].bits / 8 == size)
			return &elements[i];
	PyErr_Format(PyExc_TypeError, "arrays of elements \"%s\" cannot become tensors",
		     format ? format : "?");
	return NULL;
}

static ttnn_tensor *from_buffer(PyObject *object, int wanted)
{
	struct owner *owner = PyMem_Calloc(1, sizeof(*owner));
	int64_t extents[TTNN_MAX_RANK] = {0};
	struct array array = {0};
	Py_buffer *view;

	if (!owner)
		return (void *)PyErr_NoMemory();
	view = &owner->buffer;
	if (PyObject_GetBuffer(object, view, PyBUF_STRIDED_RO | PyBUF_FORMAT) < 0) {
		PyMem_Free(owner);
		return NULL;
	}
	array.data = view->buf;
	array.element = find_format(view->format, view->itemsize);
	for (int i = 0; i < view->ndim && i < TTNN_MAX_RANK; i++) {
		extents[i] = view->shape[i];
		array.strides[i] = view->strides[i];
	}
	if (!array.element || set_shape(&array, view->ndim, extents) < 0) {
		release(owner);
		return NULL;
	}
	return tensor_of(&array, owner, wanted);
}

/* The elements of a DLPack tensor; -1 when it is of a kind that nobody here can read. */
static int read_dl(struct array *out, const struct dl_tensor *dl)
{
	int64_t step;

	out->data = (const char *)dl->data + dl->byte_offset;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		if (elements[i].code == dl->code && elements[i].bits == dl->bits && dl->lanes == 1)
			out->element = &elements[i];
	if (!out->element) {
		PyErr_Format(PyExc_TypeError,
			     "arrays of DLPack elements %d with %d bits cannot become tensors",
			     dl->code, dl->bits);
		return -1;
	}
	if (dl->device_type != DL_CPU && dl->device_type != DL_CUDA_HOST) {
		PyErr_SetString(PyExc_TypeError, "the array is not in the memory of the host");
		return -1;
	}
	if (set_shape(out, dl->ndim, dl->shape) < 0)
		return -1;
	step = out->element->bits / 8;
	for (int d = dl->ndim; d-- > 0;) {
		out->strides[d] = dl->strides ? dl->strides[d] * (out->element->bits / 8) : step;
		step *= dl->shape[d];
	}
	return 0;
}

static ttnn_tensor *from_capsule(PyObject *capsule, int wanted)
{
	struct dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
	struct owner *owner = managed ? PyMem_Calloc(1, sizeof(*owner)) : NULL;
	struct array array = {0};

	if (!managed)
		return NULL;
	if (!owner)
		return (void *)PyErr_NoMemory();
	owner->managed = managed;
	PyCapsule_SetName(capsule, "used_dltensor"); /* it is ours to delete now */
	PyCapsule_SetDestructor(capsule, NULL);
	if (read_dl(&array, &managed->tensor) < 0) {
		release(owner);
		return NULL;
	}
	return tensor_of(&array, owner, wanted);
}

/*
 * torch refuses to give away tensors that remember their gradient, and gives those away that are
 * still to be negated as if they were not.
 */
static PyObject *detached(PyObject *object)
{
	PyObject *flag = PyObject_GetAttrString(object, "requires_grad"), *plain, *negated;
	int truth = flag ? PyObject_IsTrue(flag) : 0;

	if (!flag) { /* nothing of torch's */
		PyErr_Clear();
		return Py_NewRef(object);
	}
	Py_DECREF(flag);
	plain = truth > 0 ? PyObject_CallMethod(object, "detach", NULL) : Py_NewRef(object);
	if (!plain || !PyObject_HasAttrString(plain, "resolve_neg"))
		return plain;
	negated = PyObject_CallMethod(plain, "resolve_neg", NULL);
	Py_DECREF(plain);
	return negated;
}

ttnn_tensor *py_data_tensor(PyObject *object, int wanted)
{
	PyObject *array, *capsule;
	ttnn_tensor *tensor;

	if (PyObject_TypeCheck(object, py_tensor_type)) {
		tensor = ((struct py_tensor *)object)->tensor;
		if (tensor)
			return ttnn_tensor_ref(tensor);
	}
	if (PyObject_CheckBuffer(object))
		return from_buffer(object, wanted);
	if (!PyObject_HasAttrString(object, "__dlpack__")) {
		PyErr_Format(PyExc_TypeError,
			     "\nttnn.from_torch(): incompatible function arguments.\n\nCalled "
			     "with:\n  from_torch(%s)\n\nAvailable signatures:\n  an object with "
			     "DLPack or the buffer protocol",
			     Py_TYPE(object)->tp_name);
		return NULL;
	}
	array = detached(object);
	capsule = array ? PyObject_CallMethod(array, "__dlpack__", NULL) : NULL;
	tensor = capsule ? from_capsule(capsule, wanted) : NULL;
	Py_XDECREF(capsule);
	Py_XDECREF(array);
	return tensor;
}

/* ---- out -------------------------------------------------------------------------------------------------------------- */

struct exported {
	struct dl_managed managed;
	ttnn_tensor *tensor;
	int64_t extents[TTNN_MAX_RANK], strides[TTNN_MAX_RANK];
};

static void delete_exported(struct dl_managed *managed)
{
	struct exported *exported = (struct exported *)managed;

	ttnn_tensor_unref(exported->tensor);
	free(exported);
}

/* For a capsule that nobody took. */
static void drop_capsule(PyObject *capsule)
{
	struct dl_managed *managed;

	if (!PyCapsule_IsValid(capsule, "dltensor"))
		return;
	managed = PyCapsule_GetPointer(capsule, "dltensor");
	managed->deleter(managed);
}

PyObject *py_dlpack(ttnn_tensor *tensor)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(tensor);
	struct exported *exported = calloc(1, sizeof(*exported));
	const struct element *element = NULL;
	PyObject *capsule;
	int64_t step = 1;

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]) && !element; i++)
		if (elements[i].dtype == spec->dtype && elements[i].convert == SAME &&
		    elements[i].code != DL_BOOL)
			element = &elements[i];
	if (!exported || !ttnn_tensor_bytes(tensor)) {
		free(exported);
		ttnn_tensor_unref(tensor);
		return PyErr_NoMemory();
	}
	exported->tensor = tensor;
	exported->managed.deleter = delete_exported;
	exported->managed.tensor = (struct dl_tensor){
		.data = (void *)(uintptr_t)ttnn_tensor_bytes(tensor),
		.device_type = DL_CPU,
		.ndim = (int32_t)spec->shape.rank,
		.code = element ? element->code : DL_UINT, /* fp8: its bits */
		.bits = element ? element->bits : 8,
		.lanes = 1,
		.shape = exported->extents,
		.strides = exported->strides,
	};
	for (uint32_t d = spec->shape.rank; d-- > 0; step *= spec->shape.dim[d]) {
		exported->extents[d] = spec->shape.dim[d];
		exported->strides[d] = step;
	}
	capsule = PyCapsule_New(&exported->managed, "dltensor", drop_capsule);
	if (!capsule)
		delete_exported(&exported->managed);
	return capsule;
}

ttnn_tensor *py_rows(ttnn_tensor *tensor)
{
	struct ttnn_arg arg = {"tensor", ttnn_v_tensor(tensor)};
	enum ttnn_status status;
	struct py_call guard;
	ttnn_tensor *rows;

	py_call_begin(&guard);
	status = ttnn_call_one(&rows, "ttnn.to_torch", &arg, 1, TTNN_FRONTEND_METHOD);
	status = py_call_end(&guard, status, &rows);
	if (status == TTNN_OK)
		return rows;
	py_fail(status, "ttnn.to_torch");
	return NULL;
}

/* ---- lists ------------------------------------------------------------------------------------------------------------ */

static PyObject *number_at(const void *data, enum ttnn_dtype dtype, uint64_t i)
{
	if (dtype == TTNN_FLOAT32)
		return PyFloat_FromDouble((double)((const float *)data)[i]);
	if (dtype == TTNN_INT32)
		return PyLong_FromLong(((const int32_t *)data)[i]);
	return PyLong_FromUnsignedLong(((const uint32_t *)data)[i]);
}

static PyObject *nested(const void *data, const struct ttnn_tensor_spec *spec, uint32_t d,
			uint64_t *at)
{
	PyObject *list;

	if (d == spec->shape.rank) {
		if (*at % LOOK_LIST == LOOK_LIST - 1 && PyErr_CheckSignals() < 0)
			return NULL;
		return number_at(data, spec->dtype, (*at)++);
	}
	list = PyList_New(spec->shape.dim[d]);
	for (uint32_t i = 0; list && i < spec->shape.dim[d]; i++) {
		PyObject *item = nested(data, spec, d + 1, at);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SET_ITEM(list, i, item);
	}
	return list;
}

PyObject *py_list_of(const ttnn_tensor *rows)
{
	const struct ttnn_tensor_spec *spec = ttnn_tensor_get_spec(rows);
	struct ttnn_spec_args args = {.shape = spec->shape};
	struct ttnn_tensor_spec wide;
	enum ttnn_status status;
	struct py_call guard;
	PyObject *list = NULL;
	uint64_t at = 0;
	void *data;

	args.dtype = spec->dtype == TTNN_INT32 || spec->dtype == TTNN_INT8 ? TTNN_INT32
		     : spec->dtype == TTNN_UINT32 || spec->dtype == TTNN_UINT16 ||
				     spec->dtype == TTNN_UINT8
			     ? TTNN_UINT32
			     : TTNN_FLOAT32;
	status = ttnn_tensor_spec_make(&wide, &args);
	data = PyMem_Malloc(status == TTNN_OK ? (size_t)wide.bytes + 1 : 1);
	if (!data)
		return PyErr_NoMemory();
	if (status == TTNN_OK) {
		py_call_begin(&guard);
		status = ttnn_tensor_to_data(data, (size_t)wide.bytes, args.dtype, rows);
		status = py_call_end(&guard, status, NULL);
	}
	if (status == TTNN_OK)
		list = nested(data, &wide, 0, &at);
	else
		py_fail(status, "to_list");
	PyMem_Free(data);
	return list;
}

/* A number of Python's as an element: whole ones keep their low bits, as arrays of them do. */
static int copy_number(void *to, PyObject *number, bool whole)
{
	double real;
	float value;
	uint32_t bits;

	if (whole && PyLong_Check(number)) {
		bits = (uint32_t)PyLong_AsUnsignedLongLongMask(number);
		memcpy(to, &bits, sizeof(bits));
		return PyErr_Occurred() ? -1 : 0;
	}
	real = PyFloat_AsDouble(number);
	value = (float)real;
	bits = bits_of_real(real, DOUBLE, TTNN_UINT8);
	memcpy(to, whole ? (const void *)&bits : (const void *)&value, sizeof(bits));
	return PyErr_Occurred() ? -1 : 0;
}

ttnn_tensor *py_tensor_from_numbers(PyObject *numbers, const struct ttnn_tensor_spec *spec,
				    double pad_value)
{
	PyObject *items = PySequence_Fast(numbers, "a list of numbers is expected");
	uint64_t count = items ? (uint64_t)PySequence_Fast_GET_SIZE(items) : 0, volume = 0;
	bool whole = is_whole(spec->dtype);
	uint32_t *data = PyMem_Calloc((size_t)count + 1, sizeof(*data));
	ttnn_tensor *tensor = NULL;
	enum ttnn_status status;
	struct py_call guard;

	if (!items || !data)
		goto out;
	for (uint64_t i = 0; i < count; i++)
		if (copy_number(&data[i], PySequence_Fast_GET_ITEM(items, (Py_ssize_t)i), whole) <
		    0)
			goto out;
	status = ttnn_shape_volume(&volume, &spec->shape);
	if (status == TTNN_OK && volume != count) {
		PyErr_Format(PyExc_RuntimeError, "%llu numbers do not fill a shape of %llu",
			     (unsigned long long)count, (unsigned long long)volume);
		goto out;
	}
	if (status == TTNN_OK) {
		py_call_begin(&guard);
		status = ttnn_tensor_from_data(&tensor, data, whole ? TTNN_INT32 : TTNN_FLOAT32,
					       spec, pad_value);
		status = py_call_end(&guard, status, &tensor);
	}
	if (status != TTNN_OK) {
		py_fail(status, "Tensor");
		tensor = NULL;
	}
out:
	Py_XDECREF(items);
	PyMem_Free(data);
	return tensor;
}

/* While a capture counts them, arrays that can carry a number get one; it is the tensor's too. */
static void number_array(ttnn_tensor *tensor, PyObject *object)
{
	PyObject *known = PyObject_GetAttrString(object, "tensor_id");
	uint64_t number;

	PyErr_Clear();
	if (known && PyLong_Check(known)) {
		number = PyLong_AsUnsignedLongLong(known);
		if (!PyErr_Occurred())
			ttnn_tensor_set_id(tensor, number);
	} else if (!known && ttnn_tensor_number(&number)) {
		known = PyLong_FromUnsignedLongLong(number);
		if (known)
			PyObject_SetAttrString(object, "tensor_id", known);
		ttnn_tensor_set_id(tensor, number);
	}
	PyErr_Clear();
	Py_XDECREF(known);
}

/* from_data(array, dtype or None) → Tensor in rows on the host */
static PyObject *from_data(PyObject *module, PyObject *args)
{
	PyObject *object, *dtype = Py_None;
	ttnn_tensor *tensor;
	int64_t wanted = -1;

	(void)module;
	if (!PyArg_ParseTuple(args, "O|O", &object, &dtype) ||
	    (dtype != Py_None && py_enum_need(&wanted, dtype, py_enum_dtype, "dtype") < 0))
		return NULL;
	tensor = py_data_tensor(object, (int)wanted);
	if (!tensor)
		return NULL;
	number_array(tensor, object);
	return py_new_tensor(tensor);
}

/* from_bytes(bytes, spec) → Tensor on the host that has these bytes in its layout */
static PyObject *from_bytes(PyObject *module, PyObject *args)
{
	const struct ttnn_tensor_spec *spec;
	ttnn_tensor *tensor = NULL;
	enum ttnn_status status;
	PyObject *object;
	Py_buffer bytes;

	(void)module;
	if (!PyArg_ParseTuple(args, "y*O!", &bytes, py_spec_type, &object))
		return NULL;
	spec = &((struct py_spec *)object)->spec;
	if ((uint64_t)bytes.len != spec->bytes) {
		PyErr_Format(PyExc_RuntimeError, "%zd bytes are given, the tensor has %llu",
			     bytes.len, (unsigned long long)spec->bytes);
		PyBuffer_Release(&bytes);
		return NULL;
	}
	status = ttnn_tensor_new(&tensor, spec);
	if (status == TTNN_OK && bytes.len) /* Nobody else has it yet. */
		memcpy((char *)(uintptr_t)ttnn_tensor_bytes(tensor), bytes.buf, (size_t)bytes.len);
	PyBuffer_Release(&bytes);
	return status == TTNN_OK ? py_new_tensor(tensor) : py_fail(status, "from_bytes");
}

static PyMethodDef functions[] = {
	{"from_data", from_data, METH_VARARGS, NULL},
	{"from_bytes", from_bytes, METH_VARARGS, NULL},
	{NULL, NULL, 0, NULL},
};

int py_init_data(void)
{
	return PyModule_AddFunctions(py_submodule("tensor"), functions);
}
