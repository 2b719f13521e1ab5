# Loads assay's plugin into pytest, and goes on with the sitecustomize that this file hides. Found by
# Python as `sitecustomize`, before anything of the user runs.
import importlib.machinery
import importlib.util
import os
import sys

_OWN = os.path.dirname(os.path.abspath(__file__))
_plugins = os.environ.get("PYTEST_PLUGINS", "").split(",")
if "assay_pytest" not in _plugins:
    os.environ["PYTEST_PLUGINS"] = ",".join(["assay_pytest"] + [name for name in _plugins if name])
# Those before it were found first, and lead here.
_path = [os.path.abspath(entry or ".") for entry in sys.path]
_path = _path[_path.index(_OWN) + 1 :] if _OWN in _path else []
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _path)
if _spec is not None and _spec.loader is not None:
    _spec.loader.exec_module(importlib.util.module_from_spec(_spec))
