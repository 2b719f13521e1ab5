"""Builds the site of the documentation: build.py ASSAY [DIRECTORY]

The pages are those of the repository, in the same directories, so that their links work unchanged. docs/README.md is the navigation. ASSAY is the program, which writes the
pages shown as examples. Each page is also published as Markdown next to its HTML, and llms.txt lists them all. Needs mkdocs-material (requirements.txt), which `make site` installs
into target/site/python. A broken link, a missing heading, or a page without a link to it ends the build.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import pages as bench_pages  # noqa: E402
from result import Result  # noqa: E402

# Pages in addition to docs/, by title, and directories with files that pages link to.
PROJECT = {
    "Changelog": "CHANGELOG.md",
    "Architecture": "ARCHITECTURE.md",
    "Contributing": "CONTRIBUTING.md",
    "Releases": "RELEASE.md",
    "Security": "SECURITY.md",
}
# Pages that others link to, but the navigation does not list.
OUTSIDE = ["/c/**", "/crates/**", "/fuzz/**", "/scripts/**", "/*/CONTRIBUTING.md", "/examples/*/*/README.md"]
FRONT_ENDS = {"The Ruby gem": "ruby/README.md", "The Python package": "python/README.md"}
LINK = re.compile(r"\]\(([^)\s#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^ {0,3}(```|~~~)")


class Broken(Exception):
    """A fault that readers would notice."""


def prose(text):
    """Yields the lines of a page, each with whether it is prose rather than code."""
    fenced = False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
            yield line, False
        else:
            yield line, not fenced


def is_item(line):
    return re.match(r"\s*([-*+]|\d+\.)\s", line) is not None


def adapted(page, text, linked):
    """Converts the Markdown of forges to that of the site. Adds the files that the page links to to `linked`."""
    lines = []
    before = ""
    for line, is_prose in prose(text):
        if is_prose:
            # A list needs an empty line before it, and nested items an indentation of four blanks.
            if is_item(line) and before.strip() and not is_item(before) and not before.startswith((" ", "\t", "#", "|")):
                lines.append("")
            inner = re.match(r"( {2,3})([-*+] .*)", line)
            if inner:
                line = "    " + inner[2]
            line = line.replace("<details>", '<details markdown="1">')
            line = LINK.sub(lambda found: there(page, found, linked), line)
        lines.append(line)
        before = line
    return "\n".join(lines)


def there(page, found, linked):
    """Converts a link for the site: a link to a directory becomes one to its page."""
    target, fragment = found[1], found[2] or ""
    if "://" in target or target.startswith("mailto:"):
        return found[0]
    place = (ROOT / page).parent.joinpath(target).resolve()
    if not place.exists():
        raise Broken(f"{page}: {target} is not there")
    linked.add(place.relative_to(ROOT))
    if place.is_dir():
        return f"]({target.rstrip('/')}/README.md{fragment})"
    return found[0]


def sections():
    """Returns the sections of docs/README.md, each with its pages: title, path and the question
    that the page answers."""
    text = (ROOT / "docs/README.md").read_text()
    for paragraph in text.split("\n\n")[1:]:
        heading, *items = paragraph.strip().split("\n")
        name = re.fullmatch(r"\*\*([^*]+)\*\*", heading)
        pages = [re.fullmatch(r"- \[([^\]]+)\]\(([^)]+)\): (.+\?)", item) for item in items]
        if not name or not all(pages):
            raise Broken(f"docs/README.md: not a section of pages, each with its question: {paragraph[:200]}")
        yield name[1], [(title, f"docs/{place}", question) for title, place, question in (page.groups() for page in pages)]


def navigation():
    """Returns sections and pages as listed by docs/README.md."""
    return [{name: [{title: place} for title, place, _ in pages]} for name, pages in sections()]


def bars():
    """Returns every figure of bench/results with its bar, its area and its command."""
    parts = ["---\nhide:\n  - toc\n---\n\n# How it compares\n\nEvery figure that was promised beforehand, what was found, and whether it was reached. Each area's name leads to",
             "the figures that have peers. This page is made of the results that [BENCHMARKS.md](BENCHMARKS.md) is made of.\n"]
    rows, missed = [], 0
    for area in bench_pages.AREAS:
        title = f"[{area.title}](BENCHMARKS.md#{area.anchor})"
        for place in (ROOT / f"bench/results/{figure}.json" for figure in area.figures):
            result = Result.load(place) if place.exists() else None
            for bar in result.bars if result else []:
                missed += bar.reached == "no"
                rows.append(f"| {title} | {bar.what} | {bar.must} | {bar.found} | {bar.reached} | `bench/run.py {result.name}` |")
                title = ""
    if not rows:
        raise Broken("bench/results has no figures")
    parts.append(f"{len(rows)} figures, {missed} of them missed their bar.\n")
    parts.append("| area | figure | must reach | found | reached | measure again |\n|---|---|---|---|---|---|")
    return "\n".join(parts) + "\n" + "\n".join(rows) + "\n"


def files_below(directory):
    """Yields the files of a directory and its subdirectories, without those left by
    interpreters."""
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix != ".md")
    return [path for path in files if "__pycache__" not in path.parts]


def list_of(directory):
    """Returns a page that lists a directory, for directories without a README."""
    names = [path.relative_to(directory) for path in files_below(directory)]
    return f"# {directory.relative_to(ROOT)}\n\n" + "".join(f"- [{name}]({name})\n" for name in names)


def stage(pages):
    """Copies all pages, and the files that they link to."""
    linked = set()
    sources = ["README.md", "BENCHMARKS.md", *PROJECT.values(), *FRONT_ENDS.values()]
    sources += [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))]
    sources += [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("examples/*/README.md"))]
    done = set()
    while sources:
        page = sources.pop(0)
        if page in done:
            continue
        done.add(page)
        out = pages / page
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(adapted(page, (ROOT / page).read_text(), linked))
        sources += [str(path) for path in sorted(linked) if path.suffix == ".md" and str(path) not in done]
    for path in sorted(linked):
        if (ROOT / path).is_dir():
            copy_directory(path, pages)
        elif path.suffix != ".md":
            (pages / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, pages / path)
    for picture in sorted(ROOT.glob("docs/**/*.svg")) + sorted(ROOT.glob("docs/**/*.png")):
        out = pages / picture.relative_to(ROOT)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, out)
    (pages / "how-it-compares.md").write_text(bars())
    for name in ["site.css", "iframe-worker.js"]:
        shutil.copy(HERE / name, pages / name)


def copy_directory(path, pages):
    for file in files_below(ROOT / path):
        out = pages / file.relative_to(ROOT)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, out)
    if not (pages / path / "README.md").exists():
        (pages / path / "README.md").write_text(list_of(ROOT / path))


LIVE = """# Real pages

Pages that `assay` writes for a browser. A command wrote each of them when this site was built, from recordings in the repository.

| page | written by |
|---|---|
| [A report](live/report.html): two ways to sort, with every plot | `assay compare --report report.html sort.assay.gz` |
| [A report of one series](live/series.html), before any comparison | `assay describe --report series.html zlib_with` |
| [A history](live/history/index.html): how fast this project's own program was, {of} | `assay history site DIR` |

The screens of the front page are drawn from the same recordings.
"""


def examples(assay, pages):
    """Creates the pages that the program writes: from the history measured by `make history` if it
    exists, otherwise from the recordings here."""
    live = pages / "live"
    live.mkdir(parents=True)
    scratch = pages.parent

    def run(*words):
        done = subprocess.run([assay, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        if done.returncode != 0:
            raise Broken(f"assay {' '.join(map(str, words))}: {done.stderr}")

    run("compare", "--report", live / "report.html", ROOT / "docs/images/sort.assay.gz")
    run("describe", "--report", live / "series.html", ROOT / "docs/guides/from-ministat.in/zlib_with")
    own = ROOT / ".assay/history.db"
    if own.exists():
        of = "as `make history` measured it"
        run("history", "site", live / "history", "--store", own)
    else:
        of = "at four of its commits"
        store = scratch / "history.db"
        for path in [store, *scratch.glob("history.db-*")]:
            path.unlink(missing_ok=True)
        for recording in sorted((HERE / "history").glob("*.assay.gz")):
            run("history", "add", "--store", store, "--project", "assay", recording)
        run("history", "site", live / "history", "--store", store, "--project", "assay")
    (pages / "live.md").write_text(LIVE.format(of=of))


def configuration(out, pages, nav):
    text = (HERE / "mkdocs.yml").read_text()
    lines = [text, f"docs_dir: {pages}", f"site_dir: {out}", "not_in_nav: |", *(f"  {place}" for place in OUTSIDE), "nav:"]

    def add(entries, indent):
        for entry in entries:
            for title, what in entry.items():
                title = title.replace("`", "").replace('"', "'")
                if isinstance(what, list):
                    lines.append(f'{indent}- "{title}":')
                    add(what, indent + "    ")
                else:
                    lines.append(f'{indent}- "{title}": {what}')

    add(nav, "  ")
    return "\n".join(lines) + "\n"


def publish_markdown(pages, out):
    """Copies the Markdown of each page next to its HTML, under its own name, so that links between pages work in it as well."""
    for page in sorted(pages.rglob("*.md")):
        place = out / page.relative_to(pages)
        place.parent.mkdir(parents=True, exist_ok=True)
        # The front matter is for the theme.
        place.write_text(re.sub(r"\A---\n.*?\n---\n+", "", page.read_text(), flags=re.S))


def index_for_programs(nav):
    """Writes llms.txt (https://llmstxt.org): the pages as Markdown, by section, each with the
    question that it answers."""
    about = dict(re.findall(r"^(site_name|site_description): (.+)$", (HERE / "mkdocs.yml").read_text(), re.M))
    questions = {place: question for _, pages in sections() for _, place, question in pages}
    lines = [f"# {about['site_name']}", "", f"> {about['site_description']}", "", "Every page is Markdown. The HTML page next to it has the same name (`README.md`: `index.html`)."]
    for entry in nav:
        for name, pages in entry.items():
            if isinstance(pages, str):
                name, pages = "Start", [{"Overview": pages}]
            lines += ["", f"## {name}", ""]
            for page in pages:
                for title, place in page.items():
                    lines.append(f"- [{title}]({place})" + (f": {questions[place]}" if place in questions else ""))
    return "\n".join(lines) + "\n"


def fetched(out):
    """Returns the external addresses from which pages load something. Links for readers do not
    count."""
    loads = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"']?(https?://[^\"' >]+)")
    found = set()
    for page in out.rglob("*.html"):
        found.update(loads.findall(page.read_text()))
    return sorted(found)


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    assay = Path(sys.argv[1]).resolve()
    out = Path(sys.argv[2] if len(sys.argv) == 3 else ROOT / "target/site/html").resolve()
    scratch = ROOT / "target/site"
    pages = scratch / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    stage(pages)
    examples(assay, pages)
    title = re.compile(r"^# (.*)$", re.M)
    nav = [{"assay": "README.md"}, *navigation(), {"How it compares": [{"At a glance": "how-it-compares.md"}, {"All that was measured": "BENCHMARKS.md"}]}]
    shown = [{title.search((ROOT / path).read_text())[1]: path} for path in sorted(
        str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/README.md"))]
    nav.append({"Examples": [{"Real pages": "live.md"}, *shown]})
    nav.append({"Front ends": [{name: path} for name, path in FRONT_ENDS.items()]})
    nav.append({"Project": [{"All pages": "docs/README.md"}, *({name: path} for name, path in PROJECT.items())]})
    config = scratch / "mkdocs.yml"
    config.write_text(configuration(out, pages, nav))
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean", "--config-file", config],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    if done.returncode != 0:
        raise Broken("mkdocs says what is wrong above")
    publish_markdown(pages, out)
    index = index_for_programs(nav)
    (out / "llms.txt").write_text(index)
    absent = [place for place, _ in LINK.findall(index) if "://" not in place and not (out / place).is_file()]
    if absent:
        raise Broken(f"llms.txt leads to pages that are not there: {absent}")
    elsewhere = fetched(out)
    if elsewhere:
        raise Broken(f"readers would fetch from elsewhere: {elsewhere}")
    print(f"{out}/index.html")


if __name__ == "__main__":
    try:
        main()
    except Broken as broken:
        sys.exit(f"site: {broken}")
