"""Installs the projects of projects.json into a cache. Each archive is fetched by its registry's
own client, and rejected unless it has the listed digest. No files of these projects are committed
here."""

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path


class Missing(Exception):
    """A project is unavailable here, for this reason."""


def run(words, directory=None, limit=600, env=None):
    """Runs a command and returns what it printed; raises Missing if it fails."""
    environment = None if env is None else {**os.environ, **env}
    try:
        done = subprocess.run(list(map(str, words)), cwd=directory, capture_output=True, text=True, timeout=limit, env=environment, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Missing(f"{words[0]}: {problem}") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Missing(f"{' '.join(map(str, words[:3]))}: {said[-1] if said else done.returncode}")
    return done.stdout


def checked(archive, digest):
    """Returns the archive if it has the listed digest."""
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != digest:
        raise Missing(f"{archive.name} has the digest {found}, and not the listed one")
    return archive


def unpacked(archive, into):
    """Returns the only directory of an archive."""
    with tarfile.open(archive) as packed:
        packed.extractall(into, filter="data")
    (only,) = [path for path in into.iterdir() if path.is_dir()]
    return only


def pypi(project, home):
    """Installs a source distribution in its own environment."""
    python = home / "python"
    run(["python3", "-m", "venv", python])
    pip = python / "bin/pip"
    if project["needs"]:
        run([pip, "install", "--quiet", *project["needs"]])
    archives = home / "archives"
    name = f"{project['name']}=={project['version']}"
    run([pip, "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", archives, name])
    (archive,) = archives.glob("*.tar.gz")
    directory = unpacked(checked(archive, project["sha256"]), home / "source")
    run([pip, "install", "--quiet", directory])
    # Tests of a project with its sources in `src` would use the installed copy, which edits would
    # not affect.
    src = {"PYTHONPATH": str(directory / "src")} if (directory / "src").is_dir() else {}
    return directory, {"PATH": f"{python}/bin:{os.environ['PATH']}", **src}


def npm(project, home):
    """Installs a package with its own dependencies and those of its tests."""
    archives = home / "archives"
    archives.mkdir()
    run(["npm", "pack", "--silent", f"{project['name']}@{project['version']}"], archives)
    (archive,) = archives.glob("*.tgz")
    directory = unpacked(checked(archive, project["sha256"]), home / "source")
    own = json.loads((directory / "package.json").read_text()).get("dependencies", {})
    # Installed outside the package: npm would otherwise fetch all its development tools, from
    # arbitrary sources.
    needed = [*project["needs"], *(f"{name}@{versions}" for name, versions in own.items())]
    run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", home, *needed], home)
    return directory, {"PATH": f"{home}/node_modules/.bin:{os.environ['PATH']}"}


def go(project, home):
    """Installs a module; its sum is the digest, which `go` itself checks."""
    said = json.loads(run(["go", "mod", "download", "-json", f"{project['name']}@{project['version']}"], home))
    if said["Sum"] != project["sum"]:
        raise Missing(f"its sum is {said['Sum']}, and not the listed one")
    directory = home / "source"
    shutil.copytree(said["Dir"], directory)
    run(["chmod", "-R", "u+w", directory])
    return directory, {"GOFLAGS": "-mod=mod"}


def crate(project, home):
    """Installs a crate as unpacked by cargo, which checks it against the digest in the lock file
    that it wrote."""
    asks = home / "asks"
    run(["cargo", "init", "--quiet", "--vcs", "none", "--name", "asks", asks])
    run(["cargo", "add", "--quiet", f"{project['name']}@={project['version']}"], asks)
    run(["cargo", "fetch", "--quiet"], asks)
    if project["sha256"] not in (asks / "Cargo.lock").read_text():
        raise Missing("its digest is not the listed one")
    registry = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src"
    found = list(registry.glob(f"*/{project['name']}-{project['version']}"))
    if not found:
        raise Missing("cargo keeps its sources elsewhere")
    directory = home / "source"
    shutil.copytree(found[0], directory)
    return directory, {}


def git(project, home):
    """Installs the files of a commit, which is its own digest, with the npm packages that its tests
    need. Repositories are in FOREIGN_GIT, a directory or the prefix of a URL."""
    place = os.environ.get("FOREIGN_GIT") or "https://github.com"
    clone, archive = home / "clone", home / "source.tar"
    run(["git", "clone", "--quiet", "--bare", f"{place}/{project['name']}", clone])
    run(["git", "-C", clone, "archive", "--prefix", "source/", "--output", archive, project["version"]])
    directory = unpacked(archive, home / "unpacked")
    if project["needs"]:
        run(["npm", "install", "--silent", "--ignore-scripts", "--prefix", home, *project["needs"]], home)
    return directory, {"PATH": f"{home}/node_modules/.bin:{os.environ['PATH']}"}


def debian(project, home):
    """Unpacks a package; `directory` in it is the project."""
    run(["apt-get", "download", f"{project['name']}={project['version']}"], home)
    (archive,) = home.glob("*.deb")
    run(["dpkg-deb", "-x", checked(archive, project["sha256"]), home / "source"])
    return home / "source" / project["directory"], {}


def debian_source(project, home):
    """Installs the sources of a package, without Debian's changes. The lists of sources, which few
    machines have, are separate from those of the machine."""
    lists, archives = home / "lists", home / "archives"
    (lists / "partial").mkdir(parents=True)
    archives.mkdir()
    (home / "sources.list").write_text(f"deb-src http://deb.debian.org/debian {project['suite']} main\n")
    options = [f"Dir::Etc::sourcelist={home}/sources.list", f"Dir::Etc::sourceparts={archives}", f"Dir::State::lists={lists}"]
    apt = ["apt-get", "-q", *(word for option in options for word in ("-o", option))]
    run([*apt, "update"], home)
    run([*apt, "source", "--download-only", f"{project['name']}={project['version']}"], archives)
    (archive,) = archives.glob("*.orig.tar.*")
    return unpacked(checked(archive, project["sha256"]), home / "source"), {}


KINDS = {"pypi": pypi, "npm": npm, "go": go, "crate": crate, "git": git, "debian": debian, "debian-source": debian_source}


def install(project, cache):
    """Returns the directory of a project and the variables of its tests, from the cache or newly
    installed."""
    home = cache / f"{project['kind']}-{project['name'].replace('/', '-')}-{project['version']}"
    done = home / "installed.json"
    if not done.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        directory, env = KINDS[project["kind"]](project, home)
        if project.get("tools"):
            tools = home / "tools"
            run(["python3", "-m", "venv", tools])
            run([tools / "bin/pip", "install", "--quiet", *project["tools"]])
            env["PATH"] = f"{env.get('PATH', os.environ['PATH'])}:{tools}/bin"
        for words in project.get("prepare", []):
            run(words, directory, env=env)
        done.write_text(json.dumps([str(directory), env]))
    directory, env = json.loads(done.read_text())
    return Path(directory), env
