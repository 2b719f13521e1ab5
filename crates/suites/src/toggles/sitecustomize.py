"""Settings compared by `assay tests --toggle`, for Python: loaded through PYTHONPATH into every
Python process of the suite, before any project code.

ASSAY_TOGGLES lists the active ones. Libraries are patched once the project has loaded them, and
never loaded because of this file. A `sitecustomize` of the system or the project, which this one
shadows, is loaded as well.
"""

import os
import sys

_ON = os.environ.get("ASSAY_TOGGLES", "").split(",")
_HERE = os.path.dirname(os.path.abspath(__file__))


def _hashlib(module):
    # Other parameters that determine the result are kept; only the number of rounds is expensive.
    keys, scrypt = module.pbkdf2_hmac, getattr(module, "scrypt", None)

    def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
        return keys(hash_name, password, salt, 1, dklen)

    module.pbkdf2_hmac = pbkdf2_hmac
    if scrypt is not None:

        def cheap_scrypt(password, *, salt=None, n=None, r=None, p=None, maxmem=0, dklen=64):
            return scrypt(password, salt=salt, n=2, r=1, p=1, maxmem=maxmem, dklen=dklen)

        module.scrypt = cheap_scrypt


def _bcrypt(module):
    salt, kdf = module.gensalt, getattr(module, "kdf", None)
    module.gensalt = lambda rounds=12, prefix=b"2b": salt(4, prefix)
    if kdf is not None:
        # Suppresses bcrypt's warning about few rounds.
        module.kdf = lambda password, salt, desired_key_bytes, rounds, ignore_few_rounds=True: kdf(
            password, salt, desired_key_bytes, 1, True
        )


def _argon2(module):
    # Patched in the hasher, not below it, so that its hashes do not appear to need rehashing.
    made = module.PasswordHasher.__init__

    def __init__(self, *positional, **given):
        others = {name: value for name, value in given.items() if name not in ("time_cost", "memory_cost", "parallelism")}
        made(self, 1, 8, 1, *positional[3:], **others)

    module.PasswordHasher.__init__ = __init__


def _django(module):
    # Parameters of the hashers, so that stored hashes do not appear to need rehashing.
    cheap = {
        "PBKDF2PasswordHasher": {"iterations": 1},
        "PBKDF2SHA1PasswordHasher": {"iterations": 1},
        "ScryptPasswordHasher": {"work_factor": 2, "block_size": 1},
        "Argon2PasswordHasher": {"time_cost": 1, "memory_cost": 8, "parallelism": 1},
        "BCryptSHA256PasswordHasher": {"rounds": 4},
        "BCryptPasswordHasher": {"rounds": 4},
    }
    for name, values in cheap.items():
        hasher = getattr(module, name, None)
        for attribute, value in values.items() if hasher else ():
            setattr(hasher, attribute, value)


_PATCHES = {}
if "hash-cost" in _ON:
    _PATCHES = {
        "hashlib": _hashlib,
        "bcrypt": _bcrypt,
        "argon2._password_hasher": _argon2,
        "django.contrib.auth.hashers": _django,
    }


class _Finder:
    """Delegates to the other finders, and patches a module once it is loaded."""

    def find_spec(self, name, path=None, target=None):
        patch = _PATCHES.pop(name, None)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                break
        else:
            return None
        run = getattr(spec.loader, "exec_module", None)
        if run is not None:

            def exec_module(module):
                run(module)
                patch(module)

            try:
                spec.loader.exec_module = exec_module
            except AttributeError:
                pass
        return spec


def _freeze():
    """Excludes everything loaded so far from collections. Called before the first test, if the
    framework allows detecting that."""
    import gc

    gc.collect()
    gc.freeze()


def _unittest(module):
    run = module.TestSuite.run

    def frozen(self, *positional, **given):
        module.TestSuite.run = run
        _freeze()
        return run(self, *positional, **given)

    module.TestSuite.run = frozen


def _pytest(module):
    perform = module.Session.perform_collect

    def frozen(self, *positional, **given):
        found = perform(self, *positional, **given)
        _freeze()
        return found

    module.Session.perform_collect = frozen


if "python-gc-freeze" in _ON:
    _PATCHES.update({"unittest.suite": _unittest, "_pytest.main": _pytest})
if "python-gc-off" in _ON:
    import gc

    gc.disable()
if "log-level" in _ON:
    # The lowest level that is logged; records below it are never created.
    _LEVEL = {"debug": 10, "info": 20, "warn": 30, "error": 40, "fatal": 50, "off": 51}.get(
        os.environ.get("ASSAY_TOGGLES_LOG_LEVEL"), 0
    )
    _PATCHES["logging"] = lambda module: module.disable(_LEVEL - 1)

for _name in [name for name in _PATCHES if name in sys.modules]:
    _PATCHES.pop(_name)(sys.modules[_name])
if _PATCHES:
    sys.meta_path.insert(0, _Finder())

# The sitecustomize that this one shadows.
_path = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
_own = sys.modules.pop("sitecustomize", None)
_whole, sys.path = sys.path, _path
try:
    import sitecustomize  # noqa: F401
except ModuleNotFoundError as _missing:
    if _missing.name != "sitecustomize":
        raise
    if _own is not None:
        sys.modules["sitecustomize"] = _own
finally:
    # Project code must not find this directory either.
    sys.path = _path
