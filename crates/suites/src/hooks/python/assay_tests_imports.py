"""Records which files import which, for assay_tests_coverage.py: from the import statements in
loaded code (including those within functions, and of modules loaded earlier), and from the stack
when a module is loaded.

All paths are those of project files. Nothing is imported, and no source is read.
"""

import os
import sys

try:
    from opcode import opmap
except ImportError:
    opmap = {}

_IMPORT = opmap.get("IMPORT_NAME")
_EXTENDED = opmap.get("EXTENDED_ARG")
_CONST = opmap.get("LOAD_CONST")
_SMALL = opmap.get("LOAD_SMALL_INT")


def _argument(code, at):
    """Returns the argument of the instruction at this offset, and the offset of the instruction
    before it."""
    value = code[at + 1]
    shift = 8
    at -= 2
    while at >= 0 and code[at] == _EXTENDED:
        value |= code[at + 1] << shift
        shift += 8
        at -= 2
    return value, at


def statements(code):
    """Yields the import statements in code, and in the code nested in it: `(level, names,
    module)`."""
    found = []
    waiting = [code]
    while waiting:
        code = waiting.pop()
        waiting.extend(const for const in code.co_consts if hasattr(const, "co_consts"))
        text = code.co_code
        instructions = text[::2]
        at = instructions.find(_IMPORT)
        while at >= 0:
            number, before = _argument(text, at * 2)
            names = level = None
            if before >= 0 and text[before] == _CONST:
                index, before = _argument(text, before)
                names = code.co_consts[index]
            if before >= 0 and text[before] in (_CONST, _SMALL):
                is_small = text[before] == _SMALL
                index, _ = _argument(text, before)
                level = index if is_small else code.co_consts[index]
            found.append(
                (
                    level if isinstance(level, int) else 0,
                    names if isinstance(names, tuple) else (),
                    code.co_names[number],
                )
            )
            at = instructions.find(_IMPORT, at + 1)
    return found


class Imports:
    """The known part of the graph. `file_of` maps a path to the project file, or None."""

    def __init__(self, file_of):
        self.file_of = file_of
        self.edges = {}  # Maps each file to the files that it imports.
        self.loaded = set()
        self.waiting = {}  # By name of a module not loaded yet: the files that import it.
        self.beside = {}  # By path of a file not loaded yet: the files that import it.
        self.dynamic = {}  # Imports found on the stack.
        self.imported = set()
        self.main = None
        self.preloaded = set()  # Preloaded, and not for all tests.
        self.tests = set()
        self._said = set()
        self._linked = set()

    def load(self, path, code):
        """The top level of a file was executed."""
        if path in self.loaded:
            return
        self.loaded.add(path)
        for importer in self.beside.pop(path, ()):
            self._edge(importer, path)
        if code is not None:
            for level, names, module in statements(code):
                self._statement(path, level, names, module)
        # The enclosing package was executed before it.
        above = os.path.dirname(path)
        if os.path.basename(path) == "__init__.py":
            above = os.path.dirname(above)
        self._beside(path, [os.path.join(above, "__init__.py")])

    def from_frame(self, importer, path):
        """A file was loaded while another one ran."""
        if importer != path:
            self.dynamic.setdefault(importer, set()).add(path)

    def _statement(self, path, level, names, module):
        if level:
            base = path
            for _ in range(level):
                base = os.path.dirname(base)
            if module:
                base = os.path.join(base, *module.split("."))
            targets = [base + ".py", os.path.join(base, "__init__.py")]
            for name in names:
                targets += [os.path.join(base, name + ".py"), os.path.join(base, name, "__init__.py")]
            self._beside(path, targets)
            return
        for name in [module, *(module + "." + name for name in names)]:
            if not self._module(path, name):
                self.waiting.setdefault(name, set()).add(path)

    def _beside(self, path, targets):
        for target in targets:
            if target in self.loaded:
                self._edge(path, target)
            else:
                self.beside.setdefault(target, set()).add(path)

    def _module(self, path, name):
        module = sys.modules.get(name)
        if module is None:
            return False
        file = getattr(module, "__file__", None)
        target = self.file_of(file) if isinstance(file, str) else None
        if target is not None:
            self._edge(path, target)
        return True

    def _edge(self, importer, path):
        if importer != path:
            self.edges.setdefault(importer, set()).add(path)
            self.imported.add(path)

    def forget(self):
        """Marks everything as new again."""
        self._said.clear()

    def link(self, conftests=()):
        """Returns what is new since the last call, as pairs."""
        for name in [name for name in self.waiting if name in sys.modules]:
            for path in self.waiting.pop(name):
                self._module(path, name)
        for importer, paths in self.dynamic.items():
            for path in paths:
                if path not in self.tests:
                    self._edge(importer, path)
        self.dynamic.clear()
        # Files that were not imported by project code were loaded by the framework for all tests,
        # as was the program itself.
        if self.tests:
            loaded = self.loaded - self.tests - self.preloaded
            shared = {path for path in loaded if path not in self.imported and os.path.basename(path) != "conftest.py"}
            if self.main in loaded:
                shared.add(self.main)
            shared -= self._linked
            self._linked |= shared
            for test in self.tests:
                for path in shared:
                    self.edges.setdefault(test, set()).add(path)
                for conftest in conftests:
                    above = os.path.dirname(conftest)
                    if test != conftest and (not above or test.startswith(above + os.sep)):
                        self.edges.setdefault(test, set()).add(conftest)
        new = []
        for importer, paths in self.edges.items():
            for path in paths:
                pair = (importer, path)
                if pair not in self._said:
                    self._said.add(pair)
                    new.append(pair)
        return new
