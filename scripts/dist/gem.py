"""The gem: as source, whose C recorder is compiled on installation; and for each machine, including
the programs, without any compilation.

A platform gem has the recorder compiled for the versions of Ruby whose headers were available
(`recorders`). If none of them loads, the gem counts in Ruby, like the source gem without a
compiler. RubyGems does the packing; `gem.rb` lists the contents.
"""

import os
import shutil

from shared import HOME, ROOT, Entry, ask, epoch, fresh, write_tree

FILES = ["lib", "ext", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "assay-bench.gemspec"]
# RubyGems wraps a gem's programs in a Ruby script: this one replaces the Ruby process by the
# program.
STARTER = b"""\
#!/usr/bin/env ruby
# frozen_string_literal: true

# Starts the program that came with the gem, in the place of this process.
exec(File.expand_path("../libexec/assay", __dir__), *ARGV)
"""


def make(contents, recorders, work, to):
    """Writes the gem for one machine; `recorders` maps each version of Ruby to its compiled
    library."""
    programs = [Entry(f"libexec/{program.name}", program, is_program=True) for program in contents.programs]
    libraries = [Entry(f"lib/assay/{ruby}/native.so", path) for ruby, path in sorted(recorders.items())]
    starter = Entry("exe/assay", STARTER, is_program=True)
    return pack([*programs, *libraries, starter], contents.machine.gem, work / f"gem-{contents.machine.name}", to)


def make_source(work, to):
    """Writes the source gem."""
    return pack([], "ruby", work / "gem-source", to)


def pack(more, platform, place, to):
    fresh(place)
    entries = list(more)
    for name in FILES:
        source = ROOT / "ruby" / name
        paths = sorted(path for path in source.rglob("*") if path.is_file()) if source.is_dir() else [source]
        entries += [Entry(str(path.relative_to(ROOT / "ruby")), path) for path in paths]
    write_tree(place, entries)
    made = ask("ruby", ROOT / "scripts/dist/gem.rb", platform, HOME, cwd=place, env=os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}).split()[-1]
    to.mkdir(parents=True, exist_ok=True)
    shutil.move(place / made, to / made)
    return [to / made]
