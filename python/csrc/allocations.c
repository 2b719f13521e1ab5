/* Counts this thread's allocations from the interpreter, for assertions about allocations: calls and
 * bytes, with hooks in front of the allocators of objects and of the interpreter's own memory.
 * Objects taken from a free list (most floats and small tuples) are not allocated again and not
 * counted; direct calls of malloc by extensions are invisible here. */
#include "speedups.h"

/* Returns the current thread, or NULL without an error. */
#if PY_VERSION_HEX >= 0x030D0000
#define CURRENT_THREAD PyThreadState_GetUnchecked
#else
#define CURRENT_THREAD _PyThreadState_UncheckedGet
#endif

static const PyMemAllocatorDomain domains[] = {PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
static PyMemAllocatorEx before[2];
static int counting;
static PyThreadState *counted;
static long long calls, bytes;

static void
count(size_t size)
{
    /* These domains are used with the interpreter's lock held, so the allocating thread is the current one. */
    if (CURRENT_THREAD() == counted) {
        calls++;
        bytes += (long long)size;
    }
}

static void *
count_malloc(void *ctx, size_t size)
{
    PyMemAllocatorEx *next = ctx;
    count(size);
    return next->malloc(next->ctx, size);
}

static void *
count_calloc(void *ctx, size_t items, size_t size)
{
    PyMemAllocatorEx *next = ctx;
    count(items * size);
    return next->calloc(next->ctx, items, size);
}

static void *
count_realloc(void *ctx, void *address, size_t size)
{
    PyMemAllocatorEx *next = ctx;
    count(size);
    return next->realloc(next->ctx, address, size);
}

static void
pass_free(void *ctx, void *address)
{
    PyMemAllocatorEx *next = ctx;
    next->free(next->ctx, address);
}

/* count_allocations(function) -> (calls, bytes): the allocations of one call in this thread. */
static PyObject *
count_allocations(PyObject *Py_UNUSED(module), PyObject *function)
{
    if (counting) {
        PyErr_SetString(PyExc_RuntimeError, "allocations are being counted already: count one thing after the other");
        return NULL;
    }
    counting = 1;
    counted = PyThreadState_Get();
    for (int i = 0; i < 2; i++) {
        PyMem_GetAllocator(domains[i], &before[i]);
        PyMemAllocatorEx hook = {&before[i], count_malloc, count_calloc, count_realloc, pass_free};
        PyMem_SetAllocator(domains[i], &hook);
    }
    calls = bytes = 0;
    PyObject *result = PyObject_CallNoArgs(function);
    long long seen_calls = calls, seen_bytes = bytes;
    for (int i = 0; i < 2; i++)
        PyMem_SetAllocator(domains[i], &before[i]);
    counting = 0;
    if (!result)
        return NULL;
    Py_DECREF(result);
    return Py_BuildValue("(LL)", seen_calls, seen_bytes);
}

static PyMethodDef method = {"count_allocations", count_allocations, METH_O, NULL};

int
assay_allocations_ready(PyObject *module)
{
    PyObject *function = PyCFunction_New(&method, NULL);
    if (!function || PyModule_AddObject(module, "count_allocations", function) < 0) {
        Py_XDECREF(function);
        return -1;
    }
    return 0;
}
