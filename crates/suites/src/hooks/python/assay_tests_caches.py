"""Results that outlive the test that computed them, for assay_tests_coverage.py: those cached by
functools.lru_cache and functools.cache, and by the interpreter.

A test that gets a cached result does not enter the function, but still depends on it. For
functools.lru_cache, it is charged with everything that the test that computed the result used: more
than the function alone, never less. Results cached by the interpreter (codecs found by a search
function, answers of `__subclasshook__`) are retrieved without an observable call, so such a
function belongs to all tests. Results cached in other ways, such as in a module's dictionary, are
not observed.
"""

import codecs
import functools
import gc
import weakref


class Cache:
    """A function of the project that caches its results."""

    __slots__ = ("function", "hits", "misses")

    def __init__(self, function):
        self.function = weakref.ref(function)
        self.hits, self.misses = 0, 0


class Caches:
    """All such functions."""

    def __init__(self, is_own):
        self.is_own = is_own
        self.all = []
        self.original = functools.lru_cache
        functools.lru_cache = self._watched()

    def find(self):
        """Adds the functions that were created earlier."""
        kind = type(self.original(maxsize=0)(find_nothing))
        for found in gc.get_objects():
            if type(found) is kind:
                self._add(found)

    def _watched(self):
        lru_cache, add = self.original, self._add

        @functools.wraps(lru_cache)
        def watched(*arguments, **options):
            made = lru_cache(*arguments, **options)
            if hasattr(made, "cache_info"):
                return add(made)
            return lambda function: add(made(function))

        return watched

    def _add(self, function):
        code = getattr(getattr(function, "__wrapped__", None), "__code__", None)
        if code is not None and self.is_own(code.co_filename):
            self.all.append(Cache(function))
        return function

    def news(self):
        """Yields each cache used since the last call, with whether it returned a cached result and
        whether it computed one."""
        for cache in self.all[:]:
            function = cache.function()
            if function is None:
                self.all.remove(cache)
                continue
            hits, misses = function.cache_info()[:2]
            if (hits, misses) == (cache.hits, cache.misses):
                continue
            # Clearing a cache sets both to 0.
            yield cache, hits > 0 and hits != cache.hits, misses > 0 and misses != cache.misses
            cache.hits, cache.misses = hits, misses


class Searches:
    """Search functions of the project for codecs. Each is called once per encoding, and the
    interpreter caches its answer."""

    def __init__(self, is_own, apart):
        self.is_own, self.apart = is_own, apart
        self.watched = {}
        self.register = codecs.register
        self.unregister = getattr(codecs, "unregister", None)
        codecs.register = self._register
        if self.unregister is not None:
            codecs.unregister = self._unregister

    def _register(self, search):
        code = getattr(search, "__code__", None)
        if code is None or not self.is_own(code.co_filename):
            return self.register(search)
        apart = self.apart

        @functools.wraps(search)
        def watched(name):
            with apart():
                return search(name)

        self.watched[search] = watched
        return self.register(watched)

    def _unregister(self, search):
        return self.unregister(self.watched.pop(search, search))


def find_nothing():
    """Only its type matters."""
