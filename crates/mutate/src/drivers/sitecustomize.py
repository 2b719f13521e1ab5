"""Makes every Python started by `assay mutate` import the project from its copy, even if the
project is installed: by `pip install -e .`, which refers to the original directory, or by `pip
install .`, which contains another copy. Python runs a module of this name when it starts.

ASSAY_COPY={"from":"/home/me/project","to":"/tmp/…/project","names":{"package":"src"}} PYTHONPATH=<this directory> python …

`names` are the packages and modules of the project, each with the directory of the copy that it is
imported from. Modules that only the installed package contains (compiled ones) are imported from
there. Needs Python 3.8; has no other dependencies.
"""

import os
import sys


def copy_first(told):
    from importlib.machinery import PathFinder

    origin, copy, names = told["from"], told["to"], told["names"]
    installed = ("site-packages", "dist-packages")

    def is_below(path, directory):
        return path == directory or path.startswith(directory + os.sep)

    def moved(path):
        """Maps a path of the project to the copy, if it exists there; others are unchanged."""
        if not isinstance(path, str) or not is_below(path, origin) or is_below(path, copy):
            return path
        own = copy + path[len(origin) :]
        return path if any(part in installed for part in path.split(os.sep)) or not os.path.exists(own) else own

    def place(spec):
        """Returns the location from which a module would be imported."""
        if spec is None:
            return None
        if spec.has_location and spec.origin:
            return os.path.realpath(spec.origin)
        for path in spec.submodule_search_locations or ():
            return os.path.realpath(path)
        return None

    def is_other(path):
        """Returns whether this is another copy of the project, and not a standard module of the
        same name."""
        if path is None or is_below(path, os.path.realpath(copy)):
            return False
        return is_below(path, os.path.realpath(origin)) or any(part in installed for part in path.split(os.sep))

    class CopyFirst:
        @classmethod
        def find_spec(cls, name, path=None, target=None):
            top = name.partition(".")[0]
            if top not in names:
                return None
            if path is not None:
                found = PathFinder.find_spec(name, path, target)
                return found if found is not None and is_below(place(found) or "", os.path.realpath(copy)) else None
            others = [finder for finder in sys.meta_path if finder is not cls and hasattr(finder, "find_spec")]
            found = next((own for own in (finder.find_spec(name, None, target) for finder in others) if own is not None), None)
            # `editable_mode=strict` uses a directory of links, by whose names the files could not
            # be identified.
            is_link = found is not None and found.has_location and os.path.islink(found.origin or "")
            if not is_other(place(found)) and not is_link:
                return None
            own = PathFinder.find_spec(name, [os.path.join(copy, names[top])], target)
            if own is not None and own.submodule_search_locations is not None:
                known = [path for path in found.submodule_search_locations or () if is_other(os.path.realpath(path))]
                own.submodule_search_locations.extend(path for path in known if not is_below(os.path.realpath(path), origin))
            return own

    def named():
        """Returns directories of the project that files of installed packages refer to. They do not
        exist in the sandbox, so Python omitted them."""
        for directory in [path for path in sys.path if os.path.basename(path) in installed]:
            try:
                files = sorted(name for name in os.listdir(directory) if name.endswith(".pth"))
            except OSError:
                continue
            for name in files:
                with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as file:
                    yield from (line.strip() for line in file if line.startswith(origin))

    sys.path[:] = [moved(path) for path in sys.path]
    more = [moved(path) for path in named()]
    sys.path.extend(path for path in more if path not in sys.path and os.path.isdir(path))
    for finder in sys.meta_path:
        mapping = getattr(sys.modules.get(getattr(finder, "__module__", None) or ""), "MAPPING", None)
        if isinstance(mapping, dict):
            mapping.update({name: moved(path) for name, path in mapping.items()})
    sys.meta_path.insert(0, CopyFirst)


def begin():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    told = os.environ.get("ASSAY_COPY")
    if told:
        import json

        copy_first(json.loads(told))
    # The sitecustomize that would be run without this one.
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


begin()
