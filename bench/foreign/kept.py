"""Findings about projects, stored in the cache by program, so that a corpus can be examined in
several runs; and the origin of a result."""

import datetime
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from machine import facts  # noqa: E402


def cache():
    """Returns the directory in which projects are installed."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("FOREIGN_CACHE") or Path(home) / "assay-foreign")


class Kept:
    """Findings about projects with one program, by kind and name of the project."""

    def __init__(self, assay, kind):
        self.assay, self.kind = assay, kind
        self.place = cache() / f"found-{hashlib.sha256(Path(assay).read_bytes()).hexdigest()[:16]}" / kind
        self.place.mkdir(parents=True, exist_ok=True)

    def _file(self, name):
        return self.place / f"{name.replace('/', '-')}.json"

    def keep(self, name, found, minutes, load):
        """Stores findings. The program is assumed to be built from the commit that is checked
        out."""
        said = subprocess.run(["git", "-C", HERE, "describe", "--always", "--abbrev=12"], capture_output=True, text=True, check=False)
        about = {"minutes": minutes, "load": load, "commit": said.stdout.strip()}
        self._file(name).write_text(json.dumps({**found, **about}, indent=1, ensure_ascii=False))

    def of(self, name):
        """Returns the stored findings about a project, or None."""
        file = self._file(name)
        return json.loads(file.read_text()) if file.exists() else None

    def all(self, projects):
        """Returns the findings in the order of the projects."""
        files = [self._file(project["name"]) for project in projects]
        return [json.loads(file.read_text()) for file in files if file.exists()]

    def about(self, found, projects):
        """Returns the origin of a result, in the form written by bench/run.py."""
        version = subprocess.run([self.assay, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        versions = sorted({f"{version} ({own['commit']})" for own in found})
        return {
            "size": "full",
            "command": "make foreign",
            "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
            "minutes": sum(own["minutes"] for own in found),
            "seed": 0,
            "machine": facts(),
            "versions": dict(zip(versions, versions)),
            "missing": {},
            "commands": [f"assay {self.kind} -- {' '.join(project['command'])}  # {project['name']} {project['version']}" for project in projects],
        }
