/*
 * enums.c: enumerations. They are subclasses of Python's enum.Enum, made from the library's tables
 * when the module is imported; their members live as long as the process, so a member is found by
 * its address.
 */
#include "py.h"

#define MEMBERS 2048 /* slots of the index: a power of two, at least twice the members */

const ttnn_enum *py_enum_dtype, *py_enum_layout, *py_enum_buffer, *py_enum_memory_layout;
const ttnn_enum *py_enum_orientation, *py_enum_strategy, *py_enum_storage, *py_enum_arch;

static struct member {
	PyObject *object; /* kept */
	const ttnn_enum *type;
	int64_t value;
} members[MEMBERS];

static struct member *slot_of(PyObject *object)
{
	size_t at = (size_t)((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >> 40;

	for (;; at++) {
		struct member *slot = &members[at % MEMBERS];

		if (!slot->object || slot->object == object)
			return slot;
	}
}

bool py_enum_read(const ttnn_enum **type, int64_t *value, PyObject *member)
{
	const struct member *slot = slot_of(member);

	if (!slot->object)
		return false;
	*type = slot->type;
	*value = slot->value;
	return true;
}

int py_enum_need(int64_t *value, PyObject *member, const ttnn_enum *type, const char *what)
{
	const ttnn_enum *found;

	if (py_enum_read(&found, value, member) && found == type)
		return 0;
	PyErr_Format(PyExc_TypeError, "%s must be a %s, not %.100s", what, ttnn_enum_name(type),
		     Py_TYPE(member)->tp_name);
	return -1;
}

PyObject *py_enum_member(const ttnn_enum *type, int64_t value)
{
	for (size_t i = 0; i < MEMBERS; i++)
		if (members[i].object && members[i].type == type && members[i].value == value)
			return Py_NewRef(members[i].object);
	return PyLong_FromLongLong(value);
}

/* To a list, (name, value). */
static int append_pair(PyObject *list, const char *name, int64_t value)
{
	PyObject *pair = Py_BuildValue("(sL)", name, (long long)value);
	int status = pair ? PyList_Append(list, pair) : -1;

	Py_XDECREF(pair);
	return status;
}

/*
 * [(name, value), ...]. Upstream's types of elements and layouts have one more, INVALID, which programs
 * compare with; it is no value of the library, so that nothing takes it for one.
 */
static PyObject *pairs(const ttnn_enum *type)
{
	PyObject *list = PyList_New(0);
	const char *name;
	int64_t value = 0;
	int status = 0;

	for (size_t i = 0; list && status == 0 && ttnn_enum_member(&name, &value, type, i); i++)
		status = append_pair(list, name, value);
	name = ttnn_enum_name(type);
	if (list && status == 0 && (!strcmp(name, "DataType") || !strcmp(name, "Layout")))
		status = append_pair(list, "INVALID", value + 1);
	if (status < 0)
		Py_CLEAR(list);
	return list;
}

static int index_members(PyObject *class, const ttnn_enum *type)
{
	static size_t count;
	const char *name;
	int64_t value;

	for (size_t i = 0; ttnn_enum_member(&name, &value, type, i); i++) {
		PyObject *object = PyObject_GetAttrString(class, name);
		struct member *slot;

		if (!object)
			return -1;
		slot = slot_of(object);
		if (slot->object) { /* another name of the same member */
			Py_DECREF(object);
			continue;
		}
		if (++count > MEMBERS / 2) {
			Py_DECREF(object);
			PyErr_SetString(PyExc_SystemError, "too many members of enumerations");
			return -1;
		}
		*slot = (struct member){object, type, value};
	}
	return 0;
}

/* base(name, pairs, module="ttnn._ttnn.PATH") */
static int make_class(PyObject *base, const char *module, const ttnn_enum *type)
{
	PyObject *parent = py_submodule(module);
	PyObject *args = Py_BuildValue("(sN)", ttnn_enum_name(type), pairs(type));
	PyObject *path = PyUnicode_FromFormat("ttnn._ttnn.%s", module);
	PyObject *kwargs = path ? Py_BuildValue("{sN}", "module", path) : NULL;
	PyObject *class = parent && args && kwargs ? PyObject_Call(base, args, kwargs) : NULL;
	int status = -1;

	Py_XDECREF(args);
	Py_XDECREF(kwargs);
	if (class && PyObject_SetAttrString(parent, ttnn_enum_name(type), class) == 0)
		status = index_members(class, type);
	Py_XDECREF(class);
	return status;
}

/* Members print as "DataType.BFLOAT16", and turn into their number. */
static PyObject *make_base(void)
{
	static const char source[] = "import enum\n"
				     "class Base(enum.Enum):\n"
				     "    def __repr__(self):\n"
				     "        return f'{type(self).__name__}.{self._name_}'\n"
				     "    __str__ = __repr__\n"
				     "    __hash__ = object.__hash__\n"
				     "    def __int__(self):\n"
				     "        return self._value_\n";
	PyObject *names = PyDict_New();
	PyObject *base = NULL, *done = NULL;

	if (names && PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0)
		done = PyRun_String(source, Py_file_input, names, names);
	if (done)
		base = Py_XNewRef(PyDict_GetItemString(names, "Base"));
	Py_XDECREF(done);
	Py_XDECREF(names);
	return base;
}

int py_init_enums(void)
{
	static const struct {
		const char *name;
		const ttnn_enum **type;
	} own[] = {
		{"DataType", &py_enum_dtype},
		{"Layout", &py_enum_layout},
		{"BufferType", &py_enum_buffer},
		{"TensorMemoryLayout", &py_enum_memory_layout},
		{"ShardOrientation", &py_enum_orientation},
		{"ShardDistributionStrategy", &py_enum_strategy},
		{"StorageType", &py_enum_storage},
		{"Arch", &py_enum_arch},
	};
	PyObject *base = make_base();
	const ttnn_enum *type;
	const char *module;
	int status = base ? 0 : -1;

	for (size_t i = 0; status == 0 && (type = ttnn_enum_at(&module, i)); i++) {
		status = make_class(base, module, type);
		for (size_t k = 0; k < sizeof(own) / sizeof(own[0]); k++)
			if (strcmp(own[k].name, ttnn_enum_name(type)) == 0)
				*own[k].type = type;
	}
	Py_XDECREF(base);
	return status;
}
