/* The module assay._speedups: its types, the context variable of the recording, and the settings
 * made by assay/profiler. */
#include "speedups.h"

PyObject *assay_current;
long assay_active;

static PyObject *
set_active(PyObject *Py_UNUSED(module), PyObject *count)
{
    long value = PyLong_AsLong(count);
    if (value == -1 && PyErr_Occurred())
        return NULL;
    assay_active = value;
    Py_RETURN_NONE;
}

static PyObject *
set_costs(PyObject *Py_UNUSED(module), PyObject *args)
{
    Costs costs;
    int monitor;
    if (!PyArg_ParseTuple(args, "dddp", &costs.inner, &costs.outer, &costs.repeated, &monitor))
        return NULL;
    *(monitor ? &assay_monitor_costs : &assay_probe_costs) = costs;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"set_active", set_active, METH_O, NULL},
    {"set_costs", set_costs, METH_VARARGS, NULL},
    {"retire", assay_retire, METH_O, NULL},
    {"tune", assay_tune, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "assay._speedups",
    .m_doc = "The accelerator of assay.profiler. Not an interface: it changes with the package.",
    .m_size = -1,
    .m_methods = methods,
};

PyMODINIT_FUNC
PyInit__speedups(void)
{
    if (PyType_Ready(&Recording_Type) < 0 || PyType_Ready(&Probe_Type) < 0 || assay_steps_ready() < 0)
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module)
        return NULL;
    assay_current = PyContextVar_New("assay.profile", NULL);
    if (!assay_current)
        goto failed;
    PyObject *members[] = {assay_current, (PyObject *)&Recording_Type, (PyObject *)&Probe_Type, (PyObject *)&Steps_Type};
    static const char *const names[] = {"current", "Recording", "Probe", "Steps"};
    for (int i = 0; i < 4; i++) {
        Py_INCREF(members[i]);
        if (PyModule_AddObject(module, names[i], members[i]) < 0) {
            Py_DECREF(members[i]);
            goto failed;
        }
    }
    if (assay_allocations_ready(module) < 0 || assay_monitor_ready(module) < 0)
        goto failed;
    assay_ticks_ready();
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
