/* The type Steps: wraps a coroutine or generator and times each of its steps. A coroutine's time is
 * that from its first step to its end, including its waits; a generator's is only that of its
 * steps, since the time between them belongs to its consumer. */
#include "speedups.h"

typedef struct {
    PyObject_HEAD
    PyObject *target;
    Span span;
} Steps;

static PyObject *name_send, *name_throw, *name_close;

/* Begins a step. Returns 0 if the recording has ended (then the step needs no end), -1 with an
 * exception set. */
int
assay_step_enter(Span *span, Frame *frame)
{
    if (!span->recording->active || span->ended)
        return 0;
    Flow *flow = assay_flow(span->recording, span->label);
    if (!flow)
        return -1;
    Cell *cell = &flow->cells[span->label];
    int first = !span->began;
    if (first) {
        span->began = 1;
        span->outermost = cell->depth == 0;
        if (span->kind <= FIRST_ITEM)
            cell->calls++;
    }
    assay_push(frame, flow, span->label, span->kind != GENERATOR, span->kind == GENERATOR ? 0.0 : span->child);
    frame->began = assay_clock();
    if (first)
        span->first = frame->began;
    return 1;
}

/* Ends a step. `over`: it was the last one; `whole`: the generator itself has ended, not only one of
 * its items. */
void
assay_step_leave(Span *span, Frame *frame, int over, int whole, int error)
{
    long long now = assay_clock();
    double step = (double)(now - frame->began);
    Flow *flow = frame->flow;
    double beneath = flow->child, priced = flow->priced - frame->priced;
    Cell *cell = &flow->cells[span->label];
    assay_pop(frame, span->label);
    span->ended = (char)over;
    if (span->kind == GENERATOR) {
        double taken = step - priced;
        if (!cell->depth)
            cell->inclusive += taken;
        cell->exclusive += taken - beneath;
        flow->child += taken;
    }
    else {
        span->child = beneath;
        if (!cell->depth)
            cell->running += step - priced;
        if (!flow->in_coroutine) {
            /* For a coroutine run by an event loop within a profiled function: that function's exclusive time
             * excludes the steps but not the waits. */
            flow->child += step - priced;
            span->added += step - priced;
        }
        if (over) {
            double elapsed = (double)(now - span->first);
            if (span->outermost)
                cell->elapsed += elapsed;
            cell->exclusive += elapsed - span->child;
            if (flow->in_coroutine)
                flow->child += elapsed - span->added;
        }
    }
    if (whole)
        cell->done++;
    if (error)
        cell->errors++;
}

static PyObject *
after(Steps *self, Frame *frame, int entered, PyObject *result, int closing)
{
    if (entered <= 0)
        return result;
    int over = closing || !result, error = 0, whole = 0;
    if (!result) {
        if (PyErr_ExceptionMatches(PyExc_StopIteration))
            whole = self->span.kind != FIRST_ITEM && self->span.kind != NEXT_ITEM;
        else {
            whole = 1;
            error = !PyErr_ExceptionMatches(PyExc_GeneratorExit) && !PyErr_ExceptionMatches(PyExc_StopAsyncIteration);
        }
    }
    else if (closing)
        whole = 1;
    assay_step_leave(&self->span, frame, over, whole, error);
    return result;
}

static PyObject *
steps_send(Steps *self, PyObject *value)
{
    Frame frame;
    int entered = assay_step_enter(&self->span, &frame);
    if (entered < 0)
        return NULL;
    return after(self, &frame, entered, PyObject_CallMethodOneArg(self->target, name_send, value), 0);
}

static PyObject *
steps_next(Steps *self)
{
    return steps_send(self, Py_None);
}

static PyObject *
steps_throw(Steps *self, PyObject *args)
{
    Frame frame;
    PyObject *method = PyObject_GetAttr(self->target, name_throw);
    if (!method)
        return NULL;
    int entered = assay_step_enter(&self->span, &frame);
    PyObject *result = entered < 0 ? NULL : PyObject_CallObject(method, args);
    Py_DECREF(method);
    return entered < 0 ? NULL : after(self, &frame, entered, result, 0);
}

static PyObject *
steps_close(Steps *self, PyObject *Py_UNUSED(none))
{
    Frame frame;
    int entered = self->span.began ? assay_step_enter(&self->span, &frame) : 0;
    if (entered < 0)
        return NULL;
    return after(self, &frame, entered, PyObject_CallMethodNoArgs(self->target, name_close), 1);
}

static PyObject *
steps_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *target, *recording;
    int label, kind;
    if (!PyArg_ParseTuple(args, "OiiO!", &target, &label, &kind, &Recording_Type, &recording))
        return NULL;
    Steps *self = (Steps *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    Py_INCREF(target);
    self->target = target;
    Py_INCREF(recording);
    self->span.recording = (Recording *)recording;
    self->span.label = label;
    self->span.kind = kind;
    return (PyObject *)self;
}

/* No tp_clear: cycles are broken at the coroutine and at the owner of the recording, both of which
 * are used until the end. */
static int
steps_traverse(Steps *self, visitproc visit, void *arg)
{
    Py_VISIT(self->target);
    Py_VISIT(self->span.recording);
    return 0;
}

static void
steps_dealloc(Steps *self)
{
    PyObject_GC_UnTrack(self);
    Py_CLEAR(self->target);
    Py_CLEAR(self->span.recording);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
steps_await(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyMethodDef steps_methods[] = {
    {"send", (PyCFunction)steps_send, METH_O, NULL},
    {"throw", (PyCFunction)steps_throw, METH_VARARGS, NULL},
    {"close", (PyCFunction)steps_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyAsyncMethods steps_async = {.am_await = steps_await};

PyTypeObject Steps_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "assay._speedups.Steps",
    .tp_basicsize = sizeof(Steps),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = steps_new,
    .tp_dealloc = (destructor)steps_dealloc,
    .tp_traverse = (traverseproc)steps_traverse,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)steps_next,
    .tp_as_async = &steps_async,
    .tp_methods = steps_methods,
};

int
assay_steps_ready(void)
{
    name_send = PyUnicode_InternFromString("send");
    name_throw = PyUnicode_InternFromString("throw");
    name_close = PyUnicode_InternFromString("close");
    return name_send && name_throw && name_close ? PyType_Ready(&Steps_Type) : -1;
}
