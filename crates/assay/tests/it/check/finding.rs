//! The search for benchmarks in projects of each kind, in tiny trees; nothing is run.

use super::{check, checked, git, repository, write};
use crate::room::{Room, finish};
use serde_json::Value;

const RUST: &[(&str, &str)] = &[
    (
        "Cargo.toml",
        "[workspace]\nmembers = ['crates/*']\n[workspace.dependencies]\ncriterion = '0.5'\n",
    ),
    (
        "crates/one/Cargo.toml",
        "[package]\nname = 'one'\n[dev-dependencies]\ncriterion.workspace = true\n[[bench]]\nname = 'sort'\nharness = false\n\
         required-features = ['extra']\n[[bench]]\nname = 'old'\n",
    ),
    ("crates/one/benches/sort.rs", ""),
    ("crates/one/benches/old.rs", ""),
    (
        "crates/two/Cargo.toml",
        "[package]\nname = 'two'\n[dev-dependencies]\ndivan = '0.1'\n[[bench]]\nname = 'sort'\nharness = false\n",
    ),
    ("crates/two/benches/sort/main.rs", ""),
];
const GO: &[(&str, &str)] = &[
    ("go.mod", "module example.org/text/v2\n"),
    ("a_test.go", "package text\nfunc BenchmarkA(b *testing.B) {}\n"),
    ("sub/b_test.go", "package sub\nfunc BenchmarkB(b *testing.B) {}\n"),
    ("none/c_test.go", "package none\nfunc TestC(t *testing.T) {}\n"),
    ("vendor/d/d_test.go", "package d\nfunc BenchmarkD(b *testing.B) {}\n"),
];
const CMAKE: &[(&str, &str)] = &[
    ("CMakeLists.txt", "option(X_BENCHMARKS \"them\" OFF)\nadd_subdirectory(bench)\n"),
    (
        "bench/CMakeLists.txt",
        "add_executable(bm bm.cc)\ntarget_link_libraries(bm benchmark::benchmark)\n",
    ),
    ("bench/bm.cc", ""),
];
const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = 'x'\n"),
    ("src/x/__init__.py", ""),
    ("tests/test_a.py", "def test_a(benchmark):\n    benchmark(len, ())\n"),
    ("tests/test_b.py", "def test_b():\n    pass\n"),
    ("bench/perf.py", "import pyperf\nrunner = pyperf.Runner()\n"),
];
const JAVASCRIPT: &[(&str, &str)] = &[
    ("package.json", r#"{"devDependencies": {"vitest": "^3", "tinybench": "^3"}}"#),
    ("package-lock.json", "{}"),
    ("src/a.bench.ts", ""),
    ("bench/b.mjs", "import { Bench } from 'tinybench'\n"),
];
const RUBY: &[(&str, &str)] = &[
    ("Gemfile", "gem 'benchmark-ips'\n"),
    ("bench/a.rb", "require \"benchmark/ips\"\nBenchmark.ips {}\n"),
];

fn explained(files: &[(&str, &str)]) -> Value {
    let room = repository(files);
    checked(&room, &["--explain", "--json"]).ends(0).json()
}

fn commands(found: &Value) -> Vec<&str> {
    let programs = found["programs"].as_array().unwrap().iter();
    programs.map(|program| program["command"].as_str().unwrap()).collect()
}

#[test]
fn cargo_targets_with_a_harness_of_their_own_are_found_in_workspaces() {
    let found = explained(RUST);
    assert_eq!(commands(&found), [".assay/one-sort", ".assay/two-sort"]);
    assert_eq!(found["programs"][1]["directory"], "crates/two");
    let build = found["build"].as_str().unwrap();
    assert!(
        build.contains(" --workspace --bench sort --bench sort --features one/extra "),
        "{build}"
    );
    // The name of a package may be that of a dependency in another version.
    let alone = [
        (
            "Cargo.toml",
            "[package]\nname = 'x'\n[dev-dependencies]\ndivan = '0.1'\n[[bench]]\nname = 'b'\nharness = false\n",
        ),
        ("benches/b.rs", ""),
    ];
    let line = explained(&alone)["build"].as_str().unwrap().to_owned();
    assert!(line.contains("json-render-diagnostics --bench b >"), "{line}");
    let notes = found["searches"][0]["notes"].to_string();
    assert!(notes.contains("crates/one/benches/old.rs has no `harness = false`"), "{notes}");
}

#[test]
fn go_packages_with_benchmarks_are_found() {
    let found = explained(GO);
    assert_eq!(commands(&found), [".assay/text.test", ".assay/sub.test"]);
    assert_eq!(found["programs"][1]["directory"], "sub");
    assert!(found["build"].as_str().unwrap().contains("go test -c -trimpath"));
}

#[test]
fn executables_with_google_benchmark_are_found() {
    let found = explained(CMAKE);
    assert_eq!(commands(&found), [".assay/bm"]);
    assert!(found["build"].as_str().unwrap().contains("-DX_BENCHMARKS=ON"), "{found:#}");
    assert_eq!(found["programs"][0]["sources"][0], "bench/bm.cc");

    // A project that no other one adds is configured by itself, also if there is none at the top.
    let link = "add_executable(bm bm.cc)\ntarget_link_libraries(bm benchmark)\n";
    let project = format!("  PROJECT (x)\n{link}");
    let several =
        [("docs/CMakeLists.txt", "project(docs)\n"), ("native/cpp/CMakeLists.txt", &*project)];
    let build = explained(&several)["build"].as_str().unwrap().to_owned();
    assert!(build.contains("cmake -S native/cpp -B .assay/cmake-native-cpp "), "{build}");
    assert!(build.contains("find .assay/cmake-native-cpp -type f -name bm "), "{build}");
    // Options that must be on for a program to be added, through subdirectories, functions and
    // returns.
    let guarded = [
        (
            "CMakeLists.txt",
            "project(x)\noption(X_DEV \"all\" OFF)\noption(X_ALL \"\" OFF)\noption(X_SLOW \"\" OFF)\n\
             option(X_ON \"\" ON)\noption(X_OTHER \"\" OFF)\nif(NOT X_DEV)\n  return()\nendif()\n\
             if(X_SLOW)\n  add_definitions(-DSLOW)\nelseif(X_ON)\nendif()\n\
             if(X_ALL AND NOT MSVC AND X_ON)\n  add_subdirectory(perf)\nendif()\n\
             if(X_OTHER OR X_SLOW)\n  add_subdirectory(tools)\nendif()\n",
        ),
        ("perf/CMakeLists.txt", link),
        ("tools/CMakeLists.txt", "add_executable(tool t.cc)\n"),
    ];
    let build = explained(&guarded)["build"].as_str().unwrap().to_owned();
    assert!(build.contains("=Release -DX_ALL=ON -DX_DEV=ON\n"), "{build}");
    // One of two branches suffices.
    let either = [(
        "CMakeLists.txt",
        "option(X_FAST \"\" OFF)\nif(X_FAST)\n  add_executable(bm a.cc)\nelse()\n  add_executable(bm b.cc)\nendif()\n\
         target_link_libraries(bm benchmark)\n",
    )];
    let build = explained(&either)["build"].as_str().unwrap().to_owned();
    assert!(build.contains("=Release\n"), "{build}");
    // Without a project of its own, it is part of the first one.
    let part = [("a/CMakeLists.txt", "project(a)\n"), ("b/CMakeLists.txt", link)];
    let build = explained(&part)["build"].as_str().unwrap().to_owned();
    assert!(build.contains("cmake -S a -B .assay/cmake-a "), "{build}");
}

#[test]
fn python_tests_and_scripts_are_found_and_import_their_own_revision() {
    let found = explained(PYTHON);
    assert_eq!(commands(&found), ["python3 -m pytest tests/test_a.py", "python3 bench/perf.py"]);
    assert_eq!(found["programs"][0]["variables"]["PYTHONPATH"], "src:.");
    assert_eq!(found["build"], Value::Null);
    for setup in ["setup(ext_modules=[])\n", "setup(cffi_modules=['build.py:ffi'])\n"] {
        let compiled = [PYTHON, &[("setup.py", setup)]].concat();
        let found = explained(&compiled);
        let build = found["build"].as_str().unwrap();
        assert!(build.contains("pip install"), "{found:#}");
        // pytest imports a package next to its tests before the installed one.
        assert!(build.contains("for top in . src; do"), "{build}");
        assert_eq!(found["programs"][0]["variables"]["PYTHONPATH"], ".assay/site");
    }
}

#[test]
fn javascript_and_ruby_are_found() {
    let found = explained(JAVASCRIPT);
    assert_eq!(commands(&found), ["npx vitest bench", "node bench/b.mjs"]);
    assert_eq!(found["build"], "npm ci --no-audit --no-fund");
    assert_eq!(commands(&explained(RUBY)), ["ruby -Ilib bench/a.rb"]);
}

#[test]
fn javascript_packages_of_workspaces_and_below_others_are_found() {
    const SCRIPT: &str = "import { Bench } from 'tinybench'\n";
    const OWN: &str = r#"{"devDependencies": {"tinybench": "^3"}}"#;
    // A workspace is installed as a whole; each package's scripts run in its directory.
    let pnpm = [
        ("package.json", r#"{"private": true, "scripts": {"build": "x"}}"#),
        ("pnpm-workspace.yaml", "packages:\n  # those\n  - 'packages/*'\n  - \"!packages/old\"\n"),
        ("pnpm-lock.yaml", ""),
        ("packages/a/package.json", r#"{"devDependencies": {"vitest": "^3", "tinybench": "^3"}}"#),
        ("packages/a/src/a.bench.ts", ""),
        ("packages/a/perf/b.mjs", SCRIPT),
    ];
    let found = explained(&pnpm);
    assert_eq!(commands(&found), ["npx vitest bench", "node perf/b.mjs"]);
    for program in found["programs"].as_array().unwrap() {
        assert_eq!(program["directory"], "packages/a");
    }
    let build = found["build"].as_str().unwrap();
    assert!(build.contains("pnpm) install --frozen-lockfile"), "{build}");
    assert!(build.ends_with("npm run --silent build") && !build.contains("cd "), "{build}");
    for workspace in [
        "packages: ['packages/*', \"!packages/old\"]\ncatalog:\n  react: ^19\n",
        "catalog: {a: 1}\npackages: # those\n- packages/* # of this workspace\n- '!packages/old'\n",
        "packages: [\n  ./packages/*,\n  '!packages/old'\n]\n",
    ] {
        let mut other = pnpm.to_vec();
        other[1].1 = workspace;
        assert_eq!(explained(&other)["build"].as_str(), Some(build), "{workspace}");
    }
    for broken in ["packages: [a\n - b: {", "packages: 3", "- packages", "", &"[".repeat(50_000)] {
        let mut other = pnpm.to_vec();
        other[1].1 = broken;
        assert_ne!(explained(&other)["build"].as_str(), Some(build), "{broken}");
    }

    // A project of its own is installed after the one above it, which it may use.
    let nested = [
        ("package.json", r#"{"dependencies": {"a": "1"}}"#),
        ("package-lock.json", "{}"),
        ("bench/package.json", OWN),
        ("bench/b.mjs", SCRIPT),
    ];
    let found = explained(&nested);
    assert_eq!(commands(&found), ["node b.mjs"]);
    let build = found["build"].as_str().unwrap().split(" && ").collect::<Vec<_>>().join("\n");
    assert!(build.contains("npm ci --no-audit --no-fund"), "{build}");
    assert!(build.contains("(cd bench\nnpm install --no-audit --no-fund)"), "{build}");
    let excluded =
        [&pnpm[..4], &[("packages/old/package.json", OWN), ("packages/old/b.mjs", SCRIPT)]];
    let build = explained(&excluded.concat())["build"].to_string();
    assert!(build.contains("(cd packages/old && npm install"), "{build}");

    // A package that only states the type of its scripts uses what is installed above; there may be
    // none at the top.
    let below = [
        ("js/package.json", OWN),
        ("js/bench/package.json", r#"{"type": "module"}"#),
        ("js/bench/b.js", SCRIPT),
        ("workspace/package.json", r#"{"workspaces": {"packages": ["./libs/**/"]}}"#),
        ("workspace/libs/x/y/package.json", OWN),
        ("workspace/libs/x/y/c.js", SCRIPT),
    ];
    let found = explained(&below);
    let build = found["build"].as_str().unwrap();
    assert_eq!(build.matches("npm install").count(), 2, "{build}");
    assert!(build.contains("(cd js && npm install"), "{build}");
    assert!(build.contains("(cd workspace && npm install"), "{build}");
    assert_eq!(found["programs"][0]["directory"], "js/bench");
}

#[test]
fn members_of_a_javascript_workspace_that_the_benchmarks_use_are_built_in_order() {
    const BUILT: &str = r#""scripts": {"build": "tsc"}"#;
    let package = |name: &str, rest: &str| format!(r#"{{"name": "{name}", {BUILT}{rest}}}"#);
    let core = package("@x/core", r#", "devDependencies": {"@x/config": "*"}"#);
    let parser = package("parser", r#", "dependencies": {"@x/core": "*", "other": "1"}"#);
    let config = r#"{"name": "@x/config", "peerDependencies": {"@x/core": "*"}}"#;
    let bench = r#"{"dependencies": {"parser": "*"}, "devDependencies": {"tinybench": "^3"}}"#;
    let website = package("website", r#", "dependencies": {"parser": "*"}"#);
    let files = |top: &'static str| {
        [
            ("package.json", top),
            ("packages/core/package.json", &*core),
            ("packages/config/package.json", config),
            ("packages/a-parser/package.json", &parser),
            ("packages/website/package.json", &website),
            ("packages/bench/package.json", bench),
            ("packages/bench/b.mjs", "import { Bench } from 'tinybench'\n"),
        ]
        .map(|(path, text)| (path.to_owned(), text.to_owned()))
    };
    let build = |top| {
        let files = files(top);
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (&**path, &**text)).collect();
        explained(&files)["build"].as_str().unwrap().to_owned()
    };
    let alone = build(r#"{"workspaces": ["packages/*"]}"#);
    let members = "(cd packages/core && npm run --silent build)\n(cd packages/a-parser && npm run --silent build)";
    assert!(alone.contains("npm install") && alone.ends_with(members), "{alone}");
    // A build script at the top most likely builds the members.
    let whole = build(r#"{"workspaces": ["packages/*"], "scripts": {"build": "turbo build"}}"#);
    assert!(whole.ends_with("\nnpm run --silent build") && !whole.contains("cd "), "{whole}");
}

#[test]
fn python_projects_below_the_top_import_their_own_files_and_those_of_their_workspace() {
    const TEST: &str = "def test_a(benchmark):\n    benchmark(len, ())\n";
    const PROJECT: &str = "[project]\nname = 'x'\n";
    let of = |found: &Value, number: usize| {
        let program = &found["programs"][number];
        let texts =
            [&program["directory"], &program["command"], &program["variables"]["PYTHONPATH"]];
        texts.map(|text| text.as_str().unwrap_or_default().to_owned())
    };
    let members = [
        (
            "pyproject.toml",
            "[tool.uv.workspace]\nmembers = ['packages/*']\nexclude = ['packages/old']\n",
        ),
        ("packages/a/pyproject.toml", PROJECT),
        ("packages/a/src/a/__init__.py", ""),
        ("packages/a/benchmarks/test_a.py", TEST),
        ("packages/b/pyproject.toml", PROJECT),
        ("packages/b/b/__init__.py", ""),
        ("packages/b/perf.py", "import pyperf\nrunner = pyperf.Runner()\n"),
        ("packages/c/setup.py", "setup(ext_modules=[])\n"),
        ("packages/c/test_c.py", TEST),
        ("packages/old/setup.cfg", "[metadata]\n"),
        ("packages/old/test_old.py", TEST),
    ];
    let found = explained(&members);
    let test = "python3 -m pytest";
    let [a, b] = ["packages/a", "packages/b"];
    let a_command = format!("{test} benchmarks/test_a.py");
    assert_eq!(of(&found, 0), [a, &a_command, "src:.:../../packages/b"]);
    assert_eq!(of(&found, 1), [b, "python3 perf.py", ".:../../packages/a/src:../../packages/a"]);
    assert!(of(&found, 2)[2].starts_with("../../.assay/site-packages-c:../../packages/a/src:"));
    let old = ["packages/old", &format!("{test} test_old.py"), "."];
    assert_eq!(of(&found, 3), old);
    let build = found["build"].as_str().unwrap();
    assert!(
        build.contains("--target .assay/site-packages-c ./packages/c\n")
            && build.ends_with("done; done"),
        "{build}"
    );

    // Files that only have settings do not make a project; there may be none at the top.
    let alone = [
        ("python/pyproject.toml", PROJECT),
        ("python/bench/setup.cfg", "[flake8]\n"),
        ("python/bench/requirements.txt", "x\n"),
        ("python/bench/test_a.py", TEST),
        ("other/test_b.py", TEST),
    ];
    let found = explained(&alone);
    assert_eq!(of(&found, 0), ["python", &format!("{test} bench/test_a.py"), "."]);
    assert_eq!(found["programs"].as_array().unwrap().len(), 1);
}

#[test]
fn ruby_gems_below_the_top_come_before_installed_ones() {
    const SCRIPT: &str = "require \"benchmark/ips\"\nBenchmark.ips {}\n";
    let gems = [
        ("Gemfile", ""),
        ("one/one.gemspec", ""),
        ("one/lib/one.rb", ""),
        ("one/bench/a.rb", SCRIPT),
        ("two/two.gemspec", ""),
        ("two/lib/two.rb", ""),
        ("test/fake/json.gemspec", ""),
        ("test/fake/lib/json.rb", ""),
        ("bench/b.rb", SCRIPT),
    ];
    let found = explained(&gems);
    let [top, below] =
        ["ruby -Ilib -Ione/lib -Itwo/lib bench/b.rb", "ruby -Ilib -I../two/lib bench/a.rb"];
    assert_eq!(commands(&found), [top, below]);
    assert_eq!(found["programs"][1]["directory"], "one");
    assert_eq!(commands(&explained(&gems[1..6])), [below]);

    // Extensions are compiled into the gem, once for all scripts.
    let extension = [("two/ext/two/extconf.rb", ""), ("test/fake/ext/extconf.rb", "")];
    let build = explained(&[&gems[..], &extension].concat())["build"].as_str().unwrap().to_owned();
    let library = "\"$OLDPWD\"/two/lib";
    let line = format!(
        "mkdir -p .assay/ext-two-ext-two && (cd .assay/ext-two-ext-two && ruby \"$OLDPWD\"/two/ext/two/extconf.rb && make install sitearchdir={library} sitelibdir={library})"
    );
    assert_eq!(build.matches(&line).count(), 1, "{build}");
    assert!(!build.contains("fake"), "{build}");
}

#[test]
fn a_project_without_benchmarks_is_told_what_was_looked_for_and_what_to_write() {
    let room = repository(&[("Cargo.toml", "[package]\nname = 'x'\n"), ("src/lib.rs", "")]);
    room.write("new", "");
    let ended = checked(&room, &[]).ends(2);
    for said in ["Cargo.toml has no such target", "there is no go.mod", "assay.toml", "bench = "] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    let ended = checked(&room, &["--explain"]).ends(2);
    ended.shows("Python: nothing found. Looked for:");
    let found = checked(&room, &["--explain", "--json"]).ends(2).json();
    assert_eq!(found["searches"].as_array().unwrap().len(), 6);
}

#[test]
fn what_the_base_does_not_have_is_not_measured() {
    let room = repository(&[("go.mod", "module example.org/text\n")]);
    write(&room, &GO[1..2]);
    let ended = checked(&room, &[]).ends(0);
    ended.shows("has no benchmark to compare with. New here: text.");
}

#[test]
fn settings_are_read_and_shown_with_their_source() {
    let room = repository(RUST);
    room.write("assay.toml", "run = ['./a b']\nbench = 'c'\nbudget = '2min'\nthreshold = '3%'\n");
    let found = checked(&room, &["--explain", "--json", "--budget", "1min"]).ends(0).json();
    assert_eq!(commands(&found), ["c", "./a b"]);
    assert_eq!(found["programs"][1]["measured_by"], "run");
    let setting = |at: usize| {
        let own = &found["settings"][at];
        [own["value"].as_str().unwrap(), own["source"].as_str().unwrap()]
    };
    assert_eq!(setting(0), ["3%", "assay.toml"]);
    assert_eq!(setting(1), ["60 s", "option"]);
    room.write("assay.toml", "threshhold = '3%'\n");
    let ended = checked(&room, &[]).ends(2);
    ended.complains(
        "unknown key `threshhold`; known are build, bench, run, base, budget, threshold, metric",
    );
    room.write("assay.toml", "build = 'make\n");
    checked(&room, &[]).ends(2).complains("assay.toml: TOML parse error at line 1");
}

#[test]
fn it_works_from_a_directory_below_and_in_a_linked_worktree() {
    let room = repository(GO);
    git(&room, "worktree add -q out/tree HEAD");
    for below in ["sub", "out/tree/none"] {
        let mut command = check(&room, &["--explain", "--json"]);
        command.current_dir(room.path(below));
        let found = finish(command).ends(0).json();
        assert_eq!(commands(&found).len(), 2, "{below}");
    }
}

/// Inspecting the user's repository changes nothing in it, apart from unused objects.
#[test]
fn looking_changes_nothing() {
    let room: Room = repository(GO);
    room.write("sub/new.go", "package sub\n");
    let state = || git(&room, "status --porcelain && git for-each-ref && git ls-files -s").stdout;
    let before = state();
    checked(&room, &["--explain"]).ends(0).shows("the working tree against");
    assert_eq!(state(), before);
}
