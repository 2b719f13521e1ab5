# Targets: demo (the main job on real input), install (the three programs, optimised), quick (the loop of a working day), test (everything,
# installing what it needs), check (formatting, lints, that
# the fuzz targets compile and the libraries can be packaged), fuzz (runs them: make fuzz TIME=10m), bench (measures the figures of BENCHMARKS.md), judge-yourself
# (five of them in five minutes, on your machine), foreign (suites of real projects), coverage (how
# often intervals hold), docs (the pages that are generated), site (the documentation as pages with a search), history (how fast this program was at
# each tag, as pages), dist (all that is handed out), dist-test (installs that and tries it), dist-same (builds it twice and compares), dist-smoke
# (tries three channels in a minute), other-systems (compiles for them), arm64 (tests under an emulator), tools and runtimes (what tests need), clean.

CARGO ?= cargo
ASSAY := target/release/assay
# All that are handed out: `assay` starts the others where it needs them. `scripts/dist` reads this line.
PROGRAMS := -p assay -p assay-farm -p assay-mutate
# What they are handed out with, and a plain `cargo build` leaves out: stores on a server of PostgreSQL.
FEATURES := assay/postgresql,assay-farm/postgresql
# Where `make install` puts them: $(PREFIX)/bin.
PREFIX ?= $(if $(CARGO_HOME),$(CARGO_HOME),$(HOME)/.cargo)
# What `cargo test` builds: examples and front ends are tested with it, so that nothing is compiled twice.
TESTED := target/debug/assay

.PHONY: demo install quick test check fuzz bench judge-yourself foreign coverage docs site dist dist-test dist-same dist-smoke history compiler other-systems arm64 tools runtimes clean

demo: compiler
	$(CARGO) build --profile demo --locked -p assay
	sh examples/is-it-faster/demo.sh target/demo/assay
	@echo
	@echo "This was an unoptimized build of assay alone. \`make install\` builds the optimized programs and puts them into $(PREFIX)/bin."

install: compiler
	$(CARGO) build --release --locked $(PROGRAMS) --features $(FEATURES)
	install -d $(PREFIX)/bin
	for program in $(filter-out -p,$(PROGRAMS)); do install target/release/$$program $(PREFIX)/bin/ || exit 1; done
	@echo "assay, assay-farm and assay-mutate are in $(PREFIX)/bin."

# Lints and tests of the crates that most changes touch.
QUICK := -p assay-stats -p assay-data -p assay-analysis -p assay-report
quick:
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy $(QUICK) -p assay --all-targets --locked -- -D warnings
	$(CARGO) test $(QUICK) --locked
	$(CARGO) test -p assay --locked --bins
	$(CARGO) test -p assay --locked --test it -- documents:: architecture::

# Notes how long a step took; `.ci/run` prints it.
TIMED := sh scripts/timed.sh

# With LINTED, as in `.ci/run`, clippy's compiler compiles the tests, so that `check` and `test` share one compilation. (Cargo hands it
# lint options in CLIPPY_ARGS.)
ifdef LINTED
BUILDING := env CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__ $(CARGO) --config 'build.rustc-workspace-wrapper="clippy-driver"'
LINTS := $(BUILDING) test --workspace --no-run --locked
else
BUILDING := $(CARGO)
LINTS := $(CARGO) clippy --workspace --all-targets --locked -- -D warnings
endif

test: tools runtimes
	$(TIMED) 'compiling tests' $(BUILDING) test --workspace --locked --no-run
	$(TIMED) 'arithmetic and page of the bench' sh -c 'python3 bench/judge.py && python3 bench/run.py report --check'
	$(TIMED) 'tests in Rust' $(BUILDING) test --workspace --locked --no-fail-fast
	$(TIMED) 'example is-it-faster' sh examples/is-it-faster/demo.sh $(TESTED) --smoke
	$(TIMED) 'example copy-element' sh examples/copy-element/demo.sh $(TESTED) --smoke
	$(TIMED) 'example layout-luck' sh examples/layout-luck/demo.sh $(TESTED) --smoke
	$(TIMED) 'example unicorn-vs-thin' sh examples/unicorn-vs-thin/run.sh $(TESTED) --smoke
	$(TIMED) 'example fast-specs' sh examples/fast-specs/run.sh $(TESTED) --smoke
	$(TIMED) 'example farm' sh examples/farm/run.sh $(TESTED) --smoke
	$(TIMED) 'front ends' sh scripts/front-ends.sh $(TESTED)
	$(TIMED) 'example method-instrumentation' sh examples/method-instrumentation/run.sh --smoke $(TESTED)

# Fuzz targets are only checked here: libFuzzer itself need not be compiled for that, and crates of the registry that the
# lints have checked are not checked again.
FUZZ_CHECK := CUSTOM_LIBFUZZER_PATH=none/libnone.a \
	$(CARGO) check --manifest-path fuzz/Cargo.toml --target-dir target --locked

# What others may build on: they can be packaged as they are.
LIBRARIES := -p assay-stats -p assay-data -p assay-analysis

check:
	$(CARGO) fmt --all -- --check
	$(TIMED) lints $(LINTS)
	$(TIMED) 'fuzz targets' env $(FUZZ_CHECK)
	$(TIMED) packaging $(CARGO) package --quiet --no-verify --allow-dirty $(LIBRARIES)
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny check bans licenses sources; \
	 else echo "cargo-deny is not installed: licences were not checked (cargo install cargo-deny)"; fi

# All fuzz targets, one on each core, for TIME together; TARGETS: those alone. Needs a nightly toolchain.
fuzz: compiler
	sh scripts/fuzz.sh $(or $(TIME),10m) $(TARGETS)

# On an idle machine. SIZE=--full: a night. BENCHMARKS.md tells how long its own runs took.
bench: tools
	python3 bench/judge.py
	python3 bench/run.py all $(SIZE)
	python3 bench/run.py report

# Five figures of the front page on this machine, next to those of the README, with the peers that are installed: at most five minutes after building.
judge-yourself: compiler
	python3 bench/run.py judge-yourself

# One figure (`bench/run.py --help` names all): make bench-overhead, bench-startup, bench-memory, bench-scale, bench-power, bench-aa-recorded, bench-aa-live,
# bench-kill, bench-damaged, bench-stats, bench-ministat, bench-imports, bench-allocations, bench-suites, bench-load, bench-load-memory, bench-load-soak,
# bench-load-connections, bench-load-aa, bench-load-capacity, bench-history, bench-history-quiet, bench-history-step, bench-history-changes,
# bench-history-scale, bench-history-site, bench-ruby-methods, bench-python-methods, bench-ruby-blocks, bench-python-blocks, bench-ruby-assertions, bench-python-assertions, bench-tests,
# bench-tests-log, bench-tests-parts, bench-tests-itself, bench-tests-polluter, bench-tests-report, bench-tests-toggles, bench-bisect,
# bench-kill-history, bench-watch (all of watching), bench-watch-start, bench-watch-files, bench-watch-saves, bench-watch-syntax, bench-watch-warm,
# bench-watch-recording, bench-change-recall, bench-mutate (all of mutants), bench-mutate-generate,
# bench-farm (all of the farm's server), bench-farm-lease, bench-farm-pages, bench-farm-kill, bench-dist.
bench-%: tools
	python3 bench/run.py $*

# Real projects of many frameworks, from their registries (bench/foreign): counts and times as their frameworks report them, nothing changed, all that ten edits
# break found by `--changed`; of seven of them forty changes each as the plain command judges them. It installs them once, into a cache (FOREIGN_CACHE); FOREIGN_GIT is
# where repositories are, if not on GitHub.
foreign:
	$(CARGO) build --release --locked -p assay -p assay-mutate
	python3 bench/foreign/foreign.py --table bench/foreign/table.md --result bench/results $(ASSAY)
	python3 bench/foreign/mutate.py --result bench/results $(ASSAY)

# The table of docs/concepts/deciding.md and of the warnings that rest on it, simulated anew: some minutes.
coverage:
	$(CARGO) run --release --locked -p assay-analysis --example interval_coverage
	ASSAY_EXPERIMENTS=4000 $(CARGO) test --release --locked -p assay-analysis --test it -- --nocapture simulation::dependence simulation::size

docs:
	$(CARGO) run --release --locked -q -p assay -- man --out docs/man
	ASSAY_WRITE_DOCS=1 $(CARGO) test --locked -q -p assay-report --test it -- the_json_page the_page_of_findings
	ASSAY_WRITE_DOCS=1 $(CARGO) test --locked -q -p assay --test it the_pictures
	$(CARGO) doc --workspace --no-deps --locked

# The documentation as a site, with a search that works from a disk: target/site/html. What builds it is pinned.
SITE := target/site/python
site: compiler $(SITE)/installed
	$(CARGO) build --release --locked -p assay
	$(SITE)/bin/python scripts/site/build.py $(ASSAY)

$(SITE)/installed: scripts/site/requirements.txt
	rm -rf $(SITE)
	python3 -m venv $(SITE)
	$(SITE)/bin/pip install --quiet --disable-pip-version-check --requirement scripts/site/requirements.txt
	touch $@

# make history REVISIONS="v1.0 v1.1": those alone.
history: compiler
	$(CARGO) build --release --locked -p assay
	sh scripts/history.sh $(ASSAY) $(REVISIONS)

# Everything that is handed out, in dist/: static programs for each machine, in the packages of every channel, with their sums. About twenty
# minutes on two idle cores (BENCHMARKS.md).
dist:
	python3 scripts/dist/build.py
	python3 scripts/dist/pack.py

# Installs what `make dist` made into clean systems of Debian and uses it there; tries what may go wrong. Needs root.
dist-test: tools
	python3 scripts/dist/trial.py

# Whether `make dist` gives the same programs in another directory and on another date: builds them twice.
dist-same:
	python3 scripts/dist/same.py

# The same as dist-test in a minute or two, for three channels, with the programs that the tests have built.
dist-smoke:
	sh scripts/dist/smoke.sh $(dir $(TESTED))

# A C compiler with its static library: the launcher is a small C program. Rust's own linker driver is the same `cc`.
compiler:
	@sh scripts/tools.sh build

# That `assay` compiles for systems that it can't be run on here: docs/reference/systems.md.
other-systems:
	sh scripts/other-systems.sh

# The tests of what measures, as programs of arm64 under an emulator.
arm64:
	sh scripts/arm64-tests.sh

# All that the tests need.
tools:
	@sh scripts/tools.sh

# Harnesses of interpreted languages, for the tests of crates/harness.
runtimes:
	@sh scripts/runtimes.sh

clean:
	$(CARGO) clean
