"""Determines where a preloaded pytest process waits, and turns its fork into a run with other
arguments. PYTEST_DONT_REWRITE

It waits before the first project file is loaded, and again when options, plugins and the initial
conftest.py files have been loaded (`pytest_cmdline_main`). Plugins from a run's environment are
loaded in the run, since they may read variables when they are imported.
"""

import os
import sys

PLUGIN = "assay_warm_pytest"
# Options that have already taken effect when the process waits.
_EARLY = ("plugins", "inifilename", "rootdir", "confcutdir", "noconftest", "assertmode", "importmode")

# Maximum number of wrappers that are followed.
MOST_WRAPPED = 20


def _first():
    """Returns the mark set by `pytest.hookimpl(tryfirst=True)`; pytest is not loaded yet."""
    return {
        "tryfirst": True,
        "trylast": False,
        "hookwrapper": False,
        "wrapper": False,
        "optionalhook": False,
        "specname": None,
    }


class Park:
    """The plugin; it is removed in runs."""

    def __init__(self, warm):
        self.warm = warm
        self.config = None
        self.bare = {}

    def pytest_load_initial_conftests(self, early_config):
        self.config = early_config
        # Programs that are started while loading do not have this plugin.
        _set(self.warm, ",".join(self.warm.plugins))

    def pytest_cmdline_main(self, config):
        warm = self.warm
        self.config = config
        if config.option.help or getattr(config.option, "version", None):
            return
        if warm.request is None:
            self.bare = _without_fixtures(config)
            name = "helpers" if any(path.endswith(".py") for path in warm.known) else "framework"
            warm.sibling("assay_warm_load").preload(warm, name)
        if warm.request is not None:
            self.run(config)

    for _hook in (pytest_load_initial_conftests, pytest_cmdline_main):
        _hook.pytest_impl = _first()
    del _hook

    def run(self, config):
        """Begins the run: pytest continues with its arguments."""
        manager, warm = config.pluginmanager, self.warm
        manager.unregister(self)
        sys.modules.pop(PLUGIN, None)
        request = warm.request
        loading = warm.sibling("assay_warm_load")
        for name in os.environ.get("PYTEST_PLUGINS", "").split(","):
            if name and name not in warm.plugins:
                manager.import_plugin(name)
        argv = request.get("argv")
        if argv is not None:
            words = loading.arguments(warm, argv)
            sys.argv[1:] = words
            self.parse(config, words)
        if request.get("only") is not None:
            config.args = [_place(config, name) for name in request["only"]]
            source = getattr(type(config), "ArgsSource", None)
            if source is not None:
                config.args_source = source.ARGS
        _pass_over(self.bare)
        manager.register(Recording(warm), "assay_warm_recording")

    def parse(self, config, words):
        """Applies options that differ from those with which the process was started."""
        added = os.environ.get("PYTEST_ADDOPTS", "")
        if self.is_given(config, words, added):
            return
        options, unknown, all_words = self.parsed(config, words, added)
        if unknown:
            # Raises pytest's own error for it.
            config._parser.parse(all_words)
        before = config.option
        if getattr(options, "override_ini", None) != getattr(before, "override_ini", None):
            config._inicache.clear()
            if hasattr(config, "_override_ini"):
                config._override_ini = options.override_ini or ()
            else:
                from _pytest.config import parse_override_ini

                config._inicfg.update(parse_override_ini(options.override_ini))
        vars(before).update(vars(options))
        if options.file_or_dir:
            config.args = list(options.file_or_dir)


    def is_given(self, config, words, added):
        return list(config.invocation_params.args) == words and added == self.warm.given.get("PYTEST_ADDOPTS", "")

    def parsed(self, config, words, added):
        import shlex

        words = [*config.getini("addopts"), *shlex.split(added), *words]
        return (*config._parser.parse_known_and_unknown_args(words), words)

    def refusal(self, config, argv, added):
        """Returns the reason why a run cannot have these arguments, or None."""
        loading = self.warm.sibling("assay_warm_load")
        if not loading.is_same(self.warm, argv):
            return "it runs pytest, not %s" % argv[0]
        words = loading.arguments(self.warm, argv)
        if not self.is_given(config, words, added):
            options = self.parsed(config, words, added)[0]
            for name in _EARLY:
                if getattr(options, name, None) != getattr(config.option, name, None):
                    return "it was started with another value of pytest's option `%s`" % name
        return None


class Recording:
    """Records what the run loaded before all tests were collected, and after the last one. Modules
    loaded by tests themselves are left to them."""

    def __init__(self, warm):
        self.warm = warm
        self.tests = set()

    def pytest_collection_finish(self, session):
        self.tests = {str(getattr(item, "path", None) or item.fspath) for item in session.items}
        self.record()

    def pytest_sessionfinish(self):
        self.warm.before |= set(sys.modules)

    def pytest_unconfigure(self):
        self.record()

    def record(self):
        try:
            self.warm.sibling("assay_warm_load").record(self.warm, self.tests)
        except OSError:
            pass

    pytest_sessionfinish.pytest_impl = _first()


def _kind_of_fixtures():
    return getattr(sys.modules.get("_pytest.fixtures"), "FixtureFunctionDefinition", None)


def _without_fixtures(config):
    """Returns the plugin modules without fixtures, each with its number of names. pytest examines
    every name of every plugin when a session begins."""
    kind = _kind_of_fixtures()
    if kind is None:
        return {}
    found = {}
    for plugin in config.pluginmanager.get_plugins():
        names = vars(plugin) if type(plugin) is type(sys) else None
        if names is None or "__getattr__" in names or "__dir__" in names:
            continue
        if not _has_fixtures([names], kind):
            found[id(plugin)] = (plugin, len(names))
    return found


def _has_fixtures(all_names, kind):
    try:
        return any(_is_fixture(value, kind) for names in all_names for value in names.values())
    except Exception:
        return True  # An object there has its own `__getattr__`.


def _is_fixture(value, kind):
    """Returns whether the value is a fixture, or wraps one; pytest warns about the latter."""
    for _ in range(MOST_WRAPPED):
        if value is None or isinstance(value, kind):
            return value is not None
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)
    return True


def _pass_over(bare):
    """Makes pytest skip these modules when it looks for fixtures. A module with additional names is
    examined again. Objects of pytest's own classes are skipped if their classes have no
    fixtures."""
    manager, kind = getattr(sys.modules.get("_pytest.fixtures"), "FixtureManager", None), _kind_of_fixtures()
    if kind is None or manager is None:
        return
    original = manager.parsefactories

    def parsefactories(self, *args, **options):
        plugin = options["holder"] if "holder" in options else args[0] if args else None
        known, count = bare.get(id(plugin), (None, 0))
        if known is not None and len(vars(known)) == count:
            return None
        of = type(plugin)
        if of.__module__.startswith(("_pytest.", "assay_")) and not _has_fixtures(map(vars, of.__mro__[:-1]), kind):
            return None
        return original(self, *args, **options)

    manager.parsefactories = parsefactories


def _place(config, name):
    """Converts a test's name to an argument: names are relative to pytest's root, arguments to the
    directory in which it was started."""
    file = name.partition("::")[0]
    root = str(getattr(config, "rootpath", None) or config.rootdir)
    if not os.path.exists(file) and os.path.exists(os.path.join(root, file)):
        return os.path.join(root, name)
    return name


def prepare(warm):
    """Makes pytest load the plugin."""
    names = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name and not name.startswith("assay_tests")]
    warm.plugins = names
    warm.park = sys.modules[PLUGIN] = Module(warm)
    _set(warm, ",".join([PLUGIN, *names]))


def _set(warm, plugins):
    for environment in (os.environ, warm.given):
        environment.pop("PYTEST_PLUGINS", None)
        if plugins:
            environment["PYTEST_PLUGINS"] = plugins


def Module(warm):
    """Returns a module for pytest to import, with the plugin's hooks."""
    park = Park(warm)
    park.__name__ = PLUGIN
    park.__doc__ = __doc__
    return park


def refusal(warm, request):
    """Returns the reason why a run cannot be a fork of this stage, or None if no reason is visible
    here."""
    config = warm.park.config
    if config is None or not request.get("argv"):
        return None
    try:
        return warm.park.refusal(config, request["argv"], (request.get("env") or {}).get("PYTEST_ADDOPTS", ""))
    except (Exception, SystemExit):
        return None  # The run itself reports this better.


def redirect(warm, streams):
    """Redirects the streams. While pytest captures output, the process's own descriptors are saved
    elsewhere."""
    park = warm.park
    manager = park.config.pluginmanager if park.config is not None else None
    capturing = getattr(manager and manager.getplugin("capturemanager"), "_global_capturing", None)
    if capturing is None:
        return False
    for number, part in enumerate((capturing.in_, capturing.out, capturing.err)):
        saved = getattr(part, "targetfd_save", None)
        if saved is not None:
            os.dup2(streams[number], saved)
        if saved is None or getattr(part, "_state", None) != "started":
            os.dup2(streams[number], number)
    return True
