"""Loads assay_warm.py, before the program, into an interpreter that `assay` starts in order to fork
it; then loads the user's own module of this name."""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    if os.environ.get("ASSAY_WARM", "").startswith("path:"):
        spec = spec_from_file_location("assay_warm", os.path.join(os.path.dirname(here), "assay_warm.py"))
        module = sys.modules["assay_warm"] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            module.start(here)
        except Exception as problem:
            print("assay: this process can't be preloaded: %s" % problem, file=sys.stderr)
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None:
        module = sys.modules["sitecustomize"] = module_from_spec(spec)
        spec.loader.exec_module(module)


_load()
