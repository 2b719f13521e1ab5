"""With ASSAY_TESTS_FRAMES, each test, and each setup shared by several tests, runs beneath a
function of its own so that it is visible to samplers of stacks. The function's file is called
`assay-frame:KIND:NAME`, with the name percent-encoded, since samplers report file names unchanged.

This file is loaded only on request.
"""

import re
from types import FunctionType
from urllib.parse import quote

# Frames of this module are omitted from tracebacks by unittest and by pytest.
__unittest = True

_known = {}


def _frame(call):
    __tracebackhide__ = True
    return call()


def framed(kind, name, call):
    """Calls a function beneath the frame of this kind and name."""
    frame = _known.get((kind, name))
    if frame is None:
        frame = _known[kind, name] = FunctionType(_code(kind, name), globals())
    return frame(call)


def _code(kind, name):
    # All other characters would end a frame or a line in some sample format, or a directory.
    encoded = quote((name or "").encode("utf-8", "replace"), safe="").replace("~", "%7E")
    return _frame.__code__.replace(co_filename=f"assay-frame:{kind}:{encoded}", co_name="assay_frame", co_firstlineno=1)


def frame_pytest(hooks, config):
    """Adds frames around pytest's calls: phases of tests, fixtures shared by several tests,
    collection, and the loop over the tests."""
    from _pytest import main, runner
    from _pytest.fixtures import FixtureDef

    call_and_report = runner.call_and_report

    def call_framed(item, *args, **kwargs):
        test = hooks.test
        if test is None:
            return call_and_report(item, *args, **kwargs)
        return framed("test", test.name, lambda: call_and_report(item, *args, **kwargs))

    runner.call_and_report = call_framed
    _wrap(FixtureDef, "execute", _fixture("fixture"))
    _wrap(FixtureDef, "finish", _fixture("fixture_teardown"))
    _wrap(main.Session, "perform_collect", lambda session: ("collect", None))
    for hook in config.hook.pytest_runtestloop.get_hookimpls():
        if not (getattr(hook, "wrapper", False) or hook.hookwrapper):
            _wrap(hook, "function", None)


# Names of the fixtures that pytest creates from setup_module, setUpClass and the like.
_MADE = re.compile(r"_?(?:xunit|unittest)_(\w+?)_fixture_.*")


def _fixture(kind):
    def of(fixture):
        if fixture.scope == "function":
            return None  # It is part of its test.
        name = _MADE.sub(r"\1", fixture.argname)
        return kind, f"{fixture.baseid}: {name}" if fixture.baseid else name

    return of


def _wrap(owner, name, of):
    """Wraps calls in a frame. `of` returns the frame for the first argument, or None for no frame;
    without `of`, the frame is that of the run."""
    original = getattr(owner, name)

    def call(*args, **kwargs):
        mark = of(args[0]) if of is not None else ("run", None)
        return original(*args, **kwargs) if mark is None else framed(*mark, lambda: original(*args, **kwargs))

    call.__name__, call.__doc__ = name, original.__doc__
    setattr(owner, name, call)
