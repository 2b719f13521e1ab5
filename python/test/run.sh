#!/bin/sh
# Installs the package in a separate environment (python/.venv-VERSION) and runs its tests: with the
# accelerator, in pure Python, and from Python 3.12 on with everything patched by sys.monitoring.
# PYTHON names the interpreter [default: python3], ASSAY the program that decides [default: one on
# the PATH or in target/]. Without it, tests that need it are skipped. Arguments are passed to
# pytest; `install` alone only creates the environment.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
environment=.venv-$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
if [ -z "${ASSAY-}" ]; then
    for built in ../target/release/assay ../target/debug/assay; do
        if [ -x "$built" ]; then
            ASSAY=$(cd "$(dirname "$built")" && pwd)/assay
            export ASSAY
            break
        fi
    done
fi

# Libraries that Debian packages separately, without which its Python is incomplete.
missing=
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
"$python" -c 'import os, sysconfig; raise SystemExit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' \
    || missing="$missing python3-dev"
command -v cc >/dev/null || missing="$missing gcc libc6-dev"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        # shellcheck disable=SC2086 # a list of names
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    else
        echo "python/test/run.sh: not everything is here (Debian: apt install$missing)" >&2
    fi
fi

# Created again for another interpreter, or other versions of the tests' requirements.
wanted="$("$python" -VV) $("$python" -c 'import sys; print(sys.executable)') $(cat test/requirements.txt test/libraries.txt | cksum)"
if [ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    pip="$environment/bin/pip --disable-pip-version-check install --quiet --no-compile"
    $pip --requirement test/requirements.txt
    # mysqlclient has to be compiled, which is not possible everywhere.
    $pip --requirement test/libraries.txt 2>"$environment/said" \
        || { grep -v '^mysqlclient' test/libraries.txt >"$environment/without" && $pip --requirement "$environment/without"; } \
        || echo "python/test/run.sh: not all libraries could be installed: tests of their patches are skipped" >&2
    echo "$wanted" >"$environment/installed"
fi

[ "${1-}" != install ] || exit 0

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cp -R pyproject.toml setup.py MANIFEST.in README.md LICENSE-* csrc src "$build"
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$build"

if "$environment/bin/python" -c 'from assay.profiler import engine; raise SystemExit(engine.NAME != "c")'; then
    ASSAY_PURE='' "$environment/bin/python" -m pytest -q "$@"
    if "$environment/bin/python" -c 'import sys; raise SystemExit(sys.version_info < (3, 12))'; then
        ASSAY_PURE='' ASSAY_TEST_BY=monitoring "$environment/bin/python" -m pytest -q "$@"
    fi
else
    echo "the accelerator was not built (Debian: apt install gcc libc6-dev python3-dev): only pure Python is tested" >&2
fi
ASSAY_PURE=1 "$environment/bin/python" -m pytest -q "$@"
