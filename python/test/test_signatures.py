"""For any signature and any call, the result or the error message is the same before, during and
after profiling."""

import asyncio
import inspect

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import MethodProfiler

NAMES = ["a", "b", "c", "_d", "__e", "self", "original", "_original", "recording", "args", "kwargs", "match"]


@st.composite
def signatures(draw):
    names = draw(st.permutations(NAMES))
    names = names[: draw(st.integers(0, 6))]
    first, second, third = sorted(draw(st.tuples(*[st.integers(0, len(names))] * 3)))
    positional_only, both, only = names[:first], names[first:second], names[second:third]
    optional = draw(st.integers(0, len(positional_only + both)))
    parts, count = [], len(positional_only + both)
    for index, name in enumerate(positional_only + both):
        parts.append(f"{name}={index}" if index >= count - optional else name)
        if positional_only and index + 1 == len(positional_only):
            parts.append("/")
    rest = draw(st.booleans())
    if rest:
        parts.append("*rest")
    elif only:
        parts.append("*")
    parts += [f"{name}={name!r}" if draw(st.booleans()) else name for name in only]
    keywords = draw(st.booleans())
    if keywords:
        parts.append("**more")
    everything = positional_only + both + only + (["rest"] if rest else []) + (["more"] if keywords else [])
    return ", ".join(parts), everything


KINDS = {
    "plain": ("def f({0}):\n    return {1}", lambda result: result),
    "generator": ("def f({0}):\n    got = yield {1}\n    return got", lambda result: list(result)),
    "coroutine": ("async def f({0}):\n    return {1}", lambda result: asyncio.run(result)),
}

arguments = st.tuples(
    st.lists(st.integers(), max_size=7), st.dictionaries(st.sampled_from(NAMES + ["other"]), st.integers(), max_size=4)
)


def outcome(function, call, finish):
    try:
        return "result", finish(function(*call[0], **call[1]))
    except Exception as problem:
        return type(problem), str(problem)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    signature=signatures(),
    kind=st.sampled_from(sorted(KINDS)),
    method=st.booleans(),
    calls=st.lists(arguments, min_size=1, max_size=4),
)
def test_any_call_of_any_signature_has_the_same_outcome(signature, kind, method, calls):
    source, finish = KINDS[kind]
    names = signature[1]
    text = source.format(signature[0], "(" + "".join(f"({name!r}, {name})," for name in names) + ")")
    made = {}
    exec(text, made)
    original = made["f"]
    Holder = type("Holder", (), {"f": original if method else staticmethod(original)})

    def bound():
        return Holder().f

    if method and not (names and inspect.signature(original).parameters):
        method = False
        Holder.f = staticmethod(original)

    before = [outcome(bound(), call, finish) for call in calls]
    MethodProfiler.patch(Holder, ["f"], "it")
    idle = [outcome(bound(), call, finish) for call in calls]
    with MethodProfiler.profile() as profile:
        assert inspect.signature(Holder.f) == inspect.signature(original)
        active = [outcome(bound(), call, finish) for call in calls]
    MethodProfiler.keep_installed()
    kept = [outcome(bound(), call, finish) for call in calls]
    MethodProfiler.keep_installed(False)
    MethodProfiler.unpatch(Holder)
    after = [outcome(bound(), call, finish) for call in calls]
    # No message contains an instance's address, so all can be compared; methods compare instances
    # by type.
    plain = [[_comparable(one) for one in many] for many in (before, idle, active, kept, after)]
    assert plain[0] == plain[1] == plain[2] == plain[3] == plain[4]
    section = profile.sections.get("it")
    done = sum(1 for one in before if one[0] == "result")
    assert (section.calls if section else 0) >= done


def _comparable(one):
    kind, value = one
    return kind, repr(value).split(" object at ")[0]
