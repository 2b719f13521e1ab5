/* The type Recording: the counts of one profile for each thread. Counting is done by probe.c and
 * steps.c; names of labels, and starting and stopping, belong to assay/profiler. */
#include "speedups.h"

Flow *
assay_find_flow(Recording *recording)
{
    PyThreadState *thread = PyThreadState_Get();
    for (int i = 0; i < recording->count; i++) {
        /* A new thread at the address of one that has ended uses its flow: all frames of the old one have
         * ended too. */
        if (recording->flows[i]->thread == thread)
            return recording->last = recording->flows[i];
    }
    Flow **flows = PyMem_Realloc(recording->flows, (size_t)(recording->count + 1) * sizeof *flows);
    if (!flows) {
        PyErr_NoMemory();
        return NULL;
    }
    recording->flows = flows;
    Flow *flow = PyMem_Calloc(1, sizeof *flow);
    if (!flow) {
        PyErr_NoMemory();
        return NULL;
    }
    flow->thread = thread;
    flow->top = -1;
    flows[recording->count++] = flow;
    return recording->last = flow;
}

int
assay_grow(Flow *flow, int label)
{
    int length = label + 8;
    Cell *cells = PyMem_Realloc(flow->cells, (size_t)length * sizeof *cells);
    if (!cells) {
        PyErr_NoMemory();
        return -1;
    }
    memset(cells + flow->length, 0, (size_t)(length - flow->length) * sizeof *cells);
    flow->cells = cells;
    flow->length = length;
    return 0;
}

static PyObject *
recording_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *parent = Py_None;
    static char *names[] = {"parent", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O", names, &parent))
        return NULL;
    Recording *self = (Recording *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    Py_INCREF(parent);
    self->parent = parent;
    Py_INCREF(Py_None);
    self->owner = Py_None;
    self->active = 1;
    return (PyObject *)self;
}

static int
recording_traverse(Recording *self, visitproc visit, void *arg)
{
    Py_VISIT(self->parent);
    Py_VISIT(self->owner);
    return 0;
}

static int
recording_clear(Recording *self)
{
    Py_CLEAR(self->parent);
    Py_CLEAR(self->owner);
    return 0;
}

static void
recording_dealloc(Recording *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weak)
        PyObject_ClearWeakRefs((PyObject *)self);
    recording_clear(self);
    assay_forget(self);
    for (int i = 0; i < self->count; i++) {
        PyMem_Free(self->flows[i]->cells);
        PyMem_Free(self->flows[i]);
    }
    PyMem_Free(self->flows);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* snapshot() -> {label: (calls, done, errors, inclusive, exclusive, elapsed, running)}, summed over all
 * threads. */
static PyObject *
recording_snapshot(Recording *self, PyObject *Py_UNUSED(none))
{
    int length = 0;
    for (int i = 0; i < self->count; i++)
        if (self->flows[i]->length > length)
            length = self->flows[i]->length;
    PyObject *all = PyDict_New();
    for (int label = 0; all && label < length; label++) {
        Cell sum = {0};
        for (int i = 0; i < self->count; i++) {
            if (label >= self->flows[i]->length)
                continue;
            Cell *cell = &self->flows[i]->cells[label];
            sum.calls += cell->calls;
            sum.done += cell->done;
            sum.errors += cell->errors;
            sum.inclusive += cell->inclusive;
            sum.exclusive += cell->exclusive;
            sum.elapsed += cell->elapsed;
            sum.running += cell->running;
        }
        if (!sum.calls)
            continue;
        PyObject *key = PyLong_FromLong(label);
        PyObject *value = Py_BuildValue("(LLLdddd)", sum.calls, sum.done, sum.errors, sum.inclusive, sum.exclusive, sum.elapsed,
                                        sum.running);
        if (!key || !value || PyDict_SetItem(all, key, value) < 0)
            Py_CLEAR(all);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return all;
}

/* absorb(other): adds the counts of a nested profile. For labels with an open call here the time is
 * left out, since it is part of that call. */
static PyObject *
recording_absorb(Recording *self, PyObject *argument)
{
    if (Py_TYPE(argument) != &Recording_Type) {
        PyErr_SetString(PyExc_TypeError, "absorb takes a Recording");
        return NULL;
    }
    Recording *other = (Recording *)argument;
    for (int i = 0; i < other->count; i++) {
        Flow *from = other->flows[i];
        Flow *into = assay_flow(self, from->length);
        if (!into)
            return NULL;
        for (int label = 0; label < from->length; label++) {
            Cell *source = &from->cells[label], *sum = &into->cells[label];
            sum->calls += source->calls;
            sum->done += source->done;
            sum->errors += source->errors;
            sum->exclusive += source->exclusive;
            if (!sum->depth) {
                sum->inclusive += source->inclusive;
                sum->elapsed += source->elapsed;
                sum->running += source->running;
            }
        }
        if (from->thread == into->thread) {
            into->child += from->child;
            into->priced += from->priced;
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
recording_get_active(Recording *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->active);
}

static int
recording_set_active(Recording *self, PyObject *value, void *Py_UNUSED(closure))
{
    int truth = value ? PyObject_IsTrue(value) : 0;
    if (truth < 0)
        return -1;
    self->active = (char)truth;
    if (!truth)
        assay_forget(self);
    return 0;
}

static PyObject *
recording_get_object(Recording *self, void *closure)
{
    PyObject *value = closure ? self->owner : self->parent;
    if (!value)
        value = Py_None;
    Py_INCREF(value);
    return value;
}

static int
recording_set_owner(Recording *self, PyObject *value, void *Py_UNUSED(closure))
{
    PyObject *before = self->owner;
    if (!value)
        value = Py_None;
    Py_INCREF(value);
    self->owner = value;
    Py_XDECREF(before);
    return 0;
}

static PyMethodDef recording_methods[] = {
    {"snapshot", (PyCFunction)recording_snapshot, METH_NOARGS, NULL},
    {"absorb", (PyCFunction)recording_absorb, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef recording_members[] = {
    {"active", (getter)recording_get_active, (setter)recording_set_active, NULL, NULL},
    {"parent", (getter)recording_get_object, NULL, NULL, NULL},
    {"owner", (getter)recording_get_object, (setter)recording_set_owner, NULL, "owner"},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject Recording_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "assay._speedups.Recording",
    .tp_basicsize = sizeof(Recording),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = recording_new,
    .tp_dealloc = (destructor)recording_dealloc,
    .tp_traverse = (traverseproc)recording_traverse,
    .tp_clear = (inquiry)recording_clear,
    .tp_weaklistoffset = offsetof(Recording, weak),
    .tp_methods = recording_methods,
    .tp_getset = recording_members,
};
