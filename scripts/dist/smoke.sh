#!/bin/sh
# Packs the programs built for the tests, and installs and uses tarball, installer, Debian package
# and wheel in clean Debian systems. The programs are not static, so they only run if the C library
# is as new as here.
# Usage: smoke.sh DIRECTORY     where the programs are
set -eu

directory=$(realpath "$1")
cd "$(dirname "$0")/../.."
if [ "$(id -u)" != 0 ] || ! command -v dpkg-deb >/dev/null; then
    echo "skipped: packages are tried by root on Debian alone"
    exit 0
fi
machine=$(uname -m)
rm -rf target/stand-ins
mkdir -p target/stand-ins
# Debug information is most of their size.
for program in $(python3 -c 'import sys; sys.path.insert(0, "scripts/dist"); import shared; print(*shared.PROGRAMS)'); do
    strip -o "target/stand-ins/$program" "$directory/$program"
done
# If no system can be created or entered (no mirror, no overlays), that says nothing about the
# packages.
if ! told=$(PYTHONPATH=scripts/dist python3 -c '
import roots
from pathlib import Path
roots.need()
for kind in ["bare", "python"]:
    said = roots.enter(kind, "true", Path("scripts/dist").absolute())
    if said.status != 0:
        raise SystemExit(said.text)
' 2>&1); then
    echo "skipped: no clean system of Debian can be made here: $(printf '%s' "$told" | tail -n 1)"
    exit 0
fi
export ASSAY_PACK_QUICKLY=1
python3 scripts/dist/pack.py --out target/smoke --programs "$machine=target/stand-ins" tarball deb wheel installer
python3 scripts/dist/trial.py --dist target/smoke tarball installer deb wheel same-bytes
