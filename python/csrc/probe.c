/* The type Probe: replaces a function, counts and times its calls, and behaves like the function in
 * every other respect. Calls need no argument tuple and binding needs no method object, which keeps
 * the cost low. Coroutines and generators are handled in steps.c. */
#include "speedups.h"

Costs assay_probe_costs;

typedef struct {
    PyObject_HEAD
    PyObject *original;
    Py_ssize_t way; /* offset of the original's vectorcall pointer; 0 if it only has tp_call */
    vectorcallfunc call;
    PyObject *weak;
    int label; /* -1 after `retire` */
} Probe;

static inline PyObject *
call_original(Probe *probe, PyObject *const *args, size_t nargsf, PyObject *names)
{
    if (probe->way) {
        vectorcallfunc call = *(vectorcallfunc *)((char *)probe->original + probe->way);
        if (call)
            return call(probe->original, args, nargsf, names);
    }
    return PyObject_Vectorcall(probe->original, args, nargsf, names);
}

static PyObject *
probe_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Probe *probe = (Probe *)self;
    Recording *recording;
    int label = probe->label;
    if (!assay_active || label < 0 || !(recording = assay_recording()))
        return call_original(probe, args, nargsf, names);

    Flow *flow = assay_flow(recording, label);
    if (!flow) {
        Py_DECREF(recording);
        return NULL;
    }
    Frame frame;
    PyObject *result;
    if (assay_call_begins(&frame, flow, label)) {
        frame.began = assay_ticks();
        result = call_original(probe, args, nargsf, names);
        assay_call_ends(&frame, label, 1, assay_ticks(), &assay_probe_costs, !result);
    }
    else {
        result = call_original(probe, args, nargsf, names);
        assay_call_ends(&frame, label, 0, 0, &assay_probe_costs, !result);
    }
    Py_DECREF(recording);
    return result;
}

static PyObject *
probe_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *original;
    int label;
    if (kwargs && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Probe takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "Oi", &original, &label))
        return NULL;
    if (!PyCallable_Check(original) || label < 0) {
        PyErr_SetString(PyExc_TypeError, "Probe takes a callable and the number of a label");
        return NULL;
    }
    Probe *self = (Probe *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    Py_INCREF(original);
    self->original = original;
    PyTypeObject *kind = Py_TYPE(original);
    self->way = PyType_HasFeature(kind, Py_TPFLAGS_HAVE_VECTORCALL) ? kind->tp_vectorcall_offset : 0;
    self->call = probe_call;
    self->label = label;
    return (PyObject *)self;
}

/* No tp_clear: a probe without its original could not be called, and functions break their own
 * cycles. */
static int
probe_traverse(Probe *self, visitproc visit, void *arg)
{
    Py_VISIT(self->original);
    return 0;
}

static void
probe_dealloc(Probe *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    Py_CLEAR(self->original);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
probe_get(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(type))
{
    if (!instance || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, instance);
}

/* The probe's own attributes; all others are those of the original. */
static int
is_own(PyObject *name)
{
    static const char *const own[] = {"__class__", "__wrapped__", "__get__", "__call__", "__reduce__", "__reduce_ex__", NULL};
    for (int i = 0; own[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, own[i]) == 0)
            return 1;
    return 0;
}

static PyObject *
probe_getattr(PyObject *self, PyObject *name)
{
    if (PyUnicode_Check(name) && is_own(name))
        return PyObject_GenericGetAttr(self, name);
    return PyObject_GetAttr(((Probe *)self)->original, name);
}

static int
probe_setattr(PyObject *self, PyObject *name, PyObject *value)
{
    if (PyUnicode_Check(name) && is_own(name)) {
        PyErr_Format(PyExc_AttributeError, "%U of a profiled function can't be changed while it is profiled", name);
        return -1;
    }
    return value ? PyObject_SetAttr(((Probe *)self)->original, name, value)
                 : PyObject_DelAttr(((Probe *)self)->original, name);
}

static PyObject *
probe_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<profiled %R>", ((Probe *)self)->original);
}

/* Pickled by its name, as functions are. */
static PyObject *
probe_reduce(PyObject *self, PyObject *Py_UNUSED(protocol))
{
    return PyObject_GetAttrString(((Probe *)self)->original, "__qualname__");
}

static PyObject *
probe_wrapped(PyObject *self, void *Py_UNUSED(closure))
{
    PyObject *original = ((Probe *)self)->original;
    Py_INCREF(original);
    return original;
}

/* retire(probe): stops counting; calls only reach the original. */
PyObject *
assay_retire(PyObject *Py_UNUSED(module), PyObject *probe)
{
    if (Py_TYPE(probe) != &Probe_Type) {
        PyErr_SetString(PyExc_TypeError, "retire takes a Probe");
        return NULL;
    }
    ((Probe *)probe)->label = -1;
    Py_RETURN_NONE;
}

static PyMethodDef probe_methods[] = {
    {"__reduce__", probe_reduce, METH_NOARGS, NULL},
    {"__reduce_ex__", probe_reduce, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef probe_members[] = {
    {"__wrapped__", probe_wrapped, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject Probe_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "assay._speedups.Probe",
    .tp_basicsize = sizeof(Probe),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_new = probe_new,
    .tp_dealloc = (destructor)probe_dealloc,
    .tp_traverse = (traverseproc)probe_traverse,
    .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Probe, call),
    .tp_descr_get = probe_get,
    .tp_getattro = probe_getattr,
    .tp_setattro = probe_setattr,
    .tp_repr = probe_repr,
    .tp_weaklistoffset = offsetof(Probe, weak),
    .tp_methods = probe_methods,
    .tp_getset = probe_members,
};
