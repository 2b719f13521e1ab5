"""Creates the function that replaces another one while it is profiled.

Plain functions get a `Probe` in C, or a generated function. Generators, coroutines and asynchronous
generators always get a generated function of their own kind, since Python determines the kind from
the function itself (`inspect.iscoroutinefunction`). Generated functions have exactly the parameters
of the original, so that a wrong call fails with the same message, and arguments need not be packed
and unpacked.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import types
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from . import engine

PLAIN = """\
        if not _assay_active:
            return {call}
        {p}recording = _assay_current()
        if {p}recording is None or not {p}recording.active:
            return {call}
        {p}flow = {p}recording.last
        if {p}flow.thread != _assay_ident():
            {p}flow = {p}recording.flow()
        try:
            {p}cell = {p}flow.cells[{label}]
        except IndexError:
            {p}cell = {p}flow.cell({label})
        {p}cell.calls += 1
        {p}top = {p}flow.top
        if {p}top is {p}cell:
            {p}flow.priced += _assay_repeated
            try:
                return {call}
            except BaseException:
                {p}cell.errors += 1
                raise
            finally:
                {p}cell.done += 1
        {p}child = {p}flow.child
        {p}depth = {p}cell.depth
        {p}flow.top = {p}cell
        {p}flow.child = 0.0
        {p}cell.depth = {p}depth + 1
        {p}began = _assay_clock() - {p}flow.priced
        try:
            return {call}
        except BaseException:
            {p}cell.errors += 1
            raise
        finally:
            {p}priced = {p}flow.priced
            {p}taken = _assay_clock() - {p}priced - {p}began - _assay_inner
            {p}cell.exclusive += {p}taken - {p}flow.child
            {p}cell.depth = {p}depth
            if not {p}depth:
                {p}cell.inclusive += {p}taken
            {p}cell.done += 1
            {p}flow.top = {p}top
            {p}flow.child = {p}child + {p}taken
            {p}flow.priced = {p}priced + _assay_outer
"""

GENERATOR = """\
        {p}recording = _assay_recording() if _assay_active else None
        if {p}recording is None:
            return (yield from {call})
        return (yield from _assay_steps({call}, {label}, 0, {p}recording))
"""

COROUTINE = """\
        {p}recording = _assay_recording() if _assay_active else None
        if {p}recording is None:
            return await {call}
        return await _assay_steps({call}, {label}, 1, {p}recording)
"""

# Items sent, thrown and closed by a consumer are passed on as in PEP 525, which has no `yield
# from`.
ASYNC_GENERATOR = """\
        {p}recording = _assay_recording() if _assay_active else None
        if {p}recording is None:
            {p}step = lambda what, kind: what
        else:
            {p}step = lambda what, kind: _assay_steps(what, {label}, kind, {p}recording)
        {p}items = {call}
        {p}next = {p}step({p}items.__anext__(), 2)
        while True:
            try:
                {p}item = await {p}next
            except StopAsyncIteration:
                return
            try:
                {p}sent = yield {p}item
            except GeneratorExit:
                await {p}step({p}items.aclose(), 4)
                raise
            except BaseException as {p}problem:
                {p}next = {p}step({p}items.athrow({p}problem), 3)
            else:
                {p}next = {p}step({p}items.asend({p}sent), 3)
"""

#: Types of callables that bind to an instance like plain functions.
BINDING = (
    types.FunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    type(functools.lru_cache(lambda: None)),
)
BINDING_BY_NAME = {"cython_function_or_method", "fused_cython_function", "method_descriptor", "nb_method"}


def binds(callable_: object) -> bool:
    """Returns whether this callable, found in a class, receives the instance as its first argument.
    A proxy that only claims to be a function (`wrapt`) does more when it is bound."""
    kind = type(callable_)
    return issubclass(kind, BINDING) or kind.__name__ in BINDING_BY_NAME or is_wrapper(callable_)


def is_wrapper(callable_: Any) -> bool:
    """Returns whether this module created it."""
    kind = type(callable_)
    if engine.Probe is not None and kind is engine.Probe:
        return True
    return kind is types.FunctionType and callable_.__globals__ is engine.wrapper_globals


def decides(callable_: object) -> bool:
    """Returns whether this callable has its own binding behaviour. A bound method stays bound."""
    kind = type(callable_)
    return hasattr(kind, "__get__") and kind is not types.MethodType and not binds(callable_)


def wrapped_by(found: Any) -> Any:
    """Returns the object behind a descriptor of other code, which determines its binding: the
    innermost one in its chain of `__wrapped__`; `found` itself if it has none."""
    seen = set()
    while not binds(found) and type(found) not in (staticmethod, classmethod) and id(found) not in seen:
        seen.add(id(found))
        inner = found.func if type(found) is functools.partialmethod else None
        if inner is None and decides(found):
            inner = getattr(found, "__wrapped__", None)
        if inner is None:
            break
        found = inner
    return found


#: Functions of this package that look up the callee at every call. They are not marked by an
#: attribute, since `functools.wraps` copies attributes.
THROUGH: WeakSet[Any] = WeakSet()
#: Flags of functions that are executed in steps.
STEPWISE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE

#: The source of each generated wrapper.
_sources: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def original_of(callable_: Any) -> Any:
    """Returns the function behind a wrapper of this module."""
    while is_wrapper(callable_) or (type(callable_) is types.FunctionType and callable_ in THROUGH):
        callable_ = callable_.__wrapped__
    return callable_


def wrap(original: Any, label: int, call: Any = None) -> Any:
    """Returns a function that counts and times calls of `original` under the label of this number.
    With `call`, it calls that instead."""
    if isinstance(original, types.FunctionType):
        if inspect.isasyncgenfunction(original):
            return _generated(original, label, "async def", ASYNC_GENERATOR, call)
        if inspect.iscoroutinefunction(original):
            return _generated(original, label, "async def", COROUTINE, call)
        if inspect.isgeneratorfunction(original):
            wrapper = _generated(original, label, "def", GENERATOR, call)
            if original.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE:
                wrapper = types.coroutine(wrapper)
            return wrapper
    if engine.Probe is not None:
        return engine.Probe(call or original, label)
    return _generated(original, label, "def", PLAIN, call)


def retire(wrapper: Any) -> None:
    """Makes the wrapper stop counting and only call the wrapped function: other code may still hold
    it after another one has replaced it."""
    if engine.Probe is not None and type(wrapper) is engine.Probe:
        engine.retire(wrapper)
        return
    source = _sources.get(wrapper)
    if source is not None:
        made: dict[str, Any] = {}
        exec(
            compile(source.replace("_assay_active", "0"), wrapper.__code__.co_filename, "exec"),
            engine.wrapper_globals,
            made,
        )
        code = made["make"](None).__code__
        wrapper.__code__ = code.replace(co_flags=code.co_flags | wrapper.__code__.co_flags & inspect.CO_ITERABLE_COROUTINE)


def _parameters(function: types.FunctionType) -> tuple[str, str, list[str]] | None:
    """Returns the parameters as declared, as passed on, and their names; None if they cannot be
    written as source."""
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    extra = code.co_argcount + code.co_kwonlyargcount
    rest = keywords = None
    if code.co_flags & inspect.CO_VARARGS:
        rest = code.co_varnames[extra]
        extra += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords = code.co_varnames[extra]
    everything = names + [name for name in (rest, keywords) if name]
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in everything):
        return None
    positional, only = names[: code.co_argcount], names[code.co_argcount :]
    optional = len(function.__defaults__ or ())
    declared, handed = [], []
    for index, name in enumerate(positional):
        declared.append(name + ("=None" if index >= len(positional) - optional else ""))
        handed.append(name)
        if index + 1 == code.co_posonlyargcount:
            declared.append("/")
    if rest:
        declared.append("*" + rest)
        handed.append("*" + rest)
    elif only:
        declared.append("*")
    for name in only:
        declared.append(name + ("=None" if name in (function.__kwdefaults__ or {}) else ""))
        handed.append(f"{name}={name}")
    if keywords:
        declared.append("**" + keywords)
        handed.append("**" + keywords)
    return ", ".join(declared), ", ".join(handed), everything


def _generated(original: Any, label: int, how: str, body: str, call: Any = None) -> Any:
    described = _parameters(original) if type(original) is types.FunctionType and call is None else None
    declared, handed, names = described or ("*args, **kwargs", "*args, **kwargs", ["args", "kwargs"])
    prefix = "_"
    while any(name.startswith(prefix) for name in names):
        prefix += "_"
    name = getattr(original, "__name__", "")
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        name = "wrapper"
    text = body.format(call=f"{prefix}original({handed})", label=label, p=prefix)
    source = f"def make({prefix}original):\n    {how} {name}({declared}):\n{text}    return {name}\n"
    made: dict[str, Any] = {}
    exec(compile(source, f"<assay: profiled {name}>", "exec"), engine.wrapper_globals, made)
    wrapper = made["make"](call or original)
    _sources[wrapper] = source
    look_like(wrapper, original)
    if described:
        wrapper.__defaults__ = original.__defaults__
        wrapper.__kwdefaults__ = dict(original.__kwdefaults__) if original.__kwdefaults__ else None
    return wrapper


def look_like(function: Any, original: Any) -> None:
    """Copies the visible attributes of another callable to a function: `functools.update_wrapper`,
    also for mocks, whose names are not strings."""
    for name in functools.WRAPPER_ASSIGNMENTS:
        try:
            setattr(function, name, getattr(original, name))
        except (AttributeError, TypeError):
            pass
    vars(function).update(getattr(original, "__dict__", {}))
    function.__wrapped__ = original
    # A callable object may have methods of its own, such as `cache_info`.
    for extra in dir(original) if type(original) is not types.FunctionType else ():
        if not extra.startswith("__") and not hasattr(function, extra):
            setattr(function, extra, getattr(original, extra))
