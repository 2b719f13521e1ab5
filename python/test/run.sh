#!/bin/sh
# Installs the package into an environment of its own (python/.venv) and runs its tests, with the accelerator and in pure Python.
# PYTHON names the interpreter (python3); ASSAY the program that decides, else one on PATH or built in target/ is taken.
# Without it the tests that need it say that they were skipped. Arguments go to pytest.
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
environment=.venv
if [ -z "${ASSAY-}" ]; then
    for built in ../target/release/assay ../target/debug/assay; do
        if [ -x "$built" ]; then
            ASSAY=$(cd "$(dirname "$built")" && pwd)/assay
            export ASSAY
            break
        fi
    done
fi

# Made anew for another interpreter or other versions of what the tests need.
wanted="$("$python" -VV) $(cksum <test/requirements.txt)"
if [ "$(cat "$environment/installed" 2>/dev/null)" != "$wanted" ]; then
    rm -rf "$environment"
    if ! "$python" -m venv "$environment" 2>/dev/null; then
        rm -rf "$environment"
        # Debian has it in a package of its own.
        [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null \
            || { echo "python/test/run.sh: $python has no venv (Debian: apt install python3-venv)" >&2; exit 1; }
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv python3-dev gcc libc6-dev >/dev/null
        "$python" -m venv "$environment"
    fi
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement test/requirements.txt
    echo "$wanted" >"$environment/installed"
fi

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cp -R pyproject.toml setup.py MANIFEST.in README.md csrc src "$build"
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall "$build"

if "$environment/bin/python" -c 'from assay.profiler import engine; raise SystemExit(engine.NAME != "c")'; then
    ASSAY_PURE='' "$environment/bin/python" -m pytest -q "$@"
else
    echo "the accelerator was not built (Debian: apt install gcc libc6-dev python3-dev): only pure Python is tested" >&2
fi
ASSAY_PURE=1 "$environment/bin/python" -m pytest -q "$@"
