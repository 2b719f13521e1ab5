"""Compiles the gem's recorder (ruby/ext) for released gems, for the versions of Ruby whose headers
are installed on this machine.

The result requires only a glibc of at least version GLIBC. RUBIES lists the interpreters, separated
by blanks.
"""

import os
import platform

import build
from shared import ROOT, Failed, ask

# The oldest C library, as promised by the tags of the wheels.
GLIBC = "2.17"
FLAGS = ["-shared", "-fPIC", "-O2", "-std=gnu99", "-fvisibility=default", "-Wl,--build-id=none", "-s", "-w"]
HEADERS = 'puts RUBY_VERSION[/\\d+\\.\\d+/], RbConfig::CONFIG["rubyhdrdir"], RbConfig::CONFIG["rubyarchhdrdir"]'


def recorders(machine, work):
    """Returns the library for each version of Ruby. The headers are for this machine's processor,
    so there are none for others."""
    if platform.machine() != machine.name:
        return {}
    made = {}
    for ruby in os.environ.get("RUBIES", "ruby").split():
        version, common, special = ask(ruby, "-rrbconfig", "-e", HEADERS).split()
        if not os.path.exists(f"{common}/ruby.h"):
            raise Failed(f"the headers of {ruby} are not there (Debian: apt install ruby-dev)")
        path = work / f"native-{version}.so"
        command = [build.tools() / "python", "-m", "ziglang", "cc", "-target", f"{machine.name}-linux-gnu.{GLIBC}", *FLAGS]
        command += [f"-I{common}", f"-I{special}", f"-ffile-prefix-map={ROOT}=/assay", "-o", path, *sorted((ROOT / "ruby/ext/assay").glob("*.c"))]
        ask(*command, cwd=work, env=os.environ | {f"ZIG_{kind}_CACHE_DIR": str(ROOT / "target/zig/cache") for kind in ("GLOBAL", "LOCAL")})
        made[version] = path
    return made
