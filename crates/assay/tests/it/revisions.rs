//! `assay bench --rev`: revisions are built separately, once, and measured in their own trees;
//! errors in them are reported.

use crate::room::{Ended, Room, codes, endless, finish, processes_of, start, until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// Options for the shortest measurement that gives a verdict.
const SHORT: [&str; 6] = ["--runs", "8", "--run-time", "1ms", "--save", "s.assay"];
/// The build line of these repositories, which leaves a trace of every build.
const BUILD: &str = "mkdir -p build && cp bm.sh build/bm && echo built >> \"$TRACE\"";

/// Returns a repository whose program takes 100 ns at `old` and 50 ns at `main`.
fn repository() -> Room {
    let room = Room::new();
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/fake-harness.sh");
    fs::copy(harness, room.path("bm.sh")).unwrap();
    room.write(".gitignore", "build/\nstate/\ncache/\n*.assay\nassay-*\ntrace\n");
    room.write("speed", "100\n");
    git(&room, "init -q -b main && git add . && git commit -q -m first && git tag old");
    room.write("speed", "50\n");
    git(&room, "commit -q -a -m second");
    room
}

fn git(room: &Room, words: &str) -> Ended {
    let mut command = room.shell(&format!("git {words}"));
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Somebody");
        command.env(format!("GIT_{role}_EMAIL"), "somebody@example.org");
    }
    finish(command).ends(0)
}

fn bench(room: &Room, revisions: &[&str], build: &str, more: &[&str]) -> Ended {
    finish(command(room, revisions, build, more))
}

fn command(room: &Room, revisions: &[&str], build: &str, more: &[&str]) -> std::process::Command {
    let mut words = vec!["bench"];
    for revision in revisions {
        words.extend(["--rev", revision]);
    }
    words.extend(["--build", build, "--program", "build/bm"]);
    words.extend(more);
    let mut command = room.assay(&words);
    command.env("XDG_CACHE_HOME", room.path("cache")).env("TRACE", room.path("trace"));
    command
}

fn short(room: &Room, revisions: &[&str], more: &[&str]) -> Ended {
    bench(room, revisions, BUILD, &[&SHORT[..], more].concat())
}

fn builds(room: &Room) -> usize {
    room.read("trace").lines().count()
}

/// Returns the directory of the repository in the cache.
fn home(room: &Room) -> PathBuf {
    let mut entries = fs::read_dir(room.path("cache/assay/revisions")).unwrap();
    entries.next().unwrap().unwrap().path()
}

/// Returns the trees in the cache.
fn trees(room: &Room) -> Vec<PathBuf> {
    let entries = fs::read_dir(home(room)).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn only_verdict(result: &Value) -> String {
    let text = result.to_string();
    let found = ["faster", "slower", "equivalent", "inconclusive"]
        .into_iter()
        .find(|verdict| text.contains(&format!("\"verdict\":\"{verdict}\"")));
    found.unwrap_or_else(|| unreachable!("no verdict in {result:#}")).to_owned()
}

#[test]
fn two_revisions_are_built_once_and_measured_in_their_own_trees() {
    let room = repository();
    let result = short(&room, &["old", "main"], &["--json"]).ends(0).json();
    assert_eq!(only_verdict(&result), "faster");
    assert_eq!(builds(&room), 2);
    let subjects = room.records("s.assay", "subject");
    assert_eq!(subjects.len(), 2, "{}", room.read("s.assay"));
    let text = room.read("s.assay");
    let commit = git(&room, "rev-parse old").stdout.trim().to_owned();
    assert!(text.contains(&format!("\"git_commit@old\":\"{commit}\"")), "{text}");
    assert!(!codes(&result).contains(&"RECORDINGS_DIFFER"), "{result:#}");
    // The user's own tree was not touched, and the trees stay for the next time.
    assert_eq!(git(&room, "status --porcelain").stdout, "");
    assert!(!room.path("build").exists());
    let again = short(&room, &["old", "HEAD"], &[]).ends(0).complains("was built before");
    assert!(again.stdout.contains("HEAD"), "{again:?}");
    assert_eq!(builds(&room), 2);
}

#[test]
fn another_line_and_other_flags_of_the_compiler_are_other_builds() {
    let room = repository();
    let list = ["--list"];
    bench(&room, &["old"], BUILD, &list).ends(0).shows("BM_One");
    bench(&room, &["old"], BUILD, &list).ends(0);
    assert_eq!(builds(&room), 1);
    bench(&room, &["old"], &format!("{BUILD} # otherwise"), &list).ends(0);
    assert_eq!(builds(&room), 2);
    let mut optimised = command(&room, &["old"], BUILD, &list);
    optimised.env("CFLAGS", "-O3");
    finish(optimised).ends(0);
    assert_eq!(builds(&room), 3);
}

#[test]
fn a_dot_is_the_working_tree_as_it_stands() {
    let room = repository();
    short(&room, &["HEAD", "."], &[]).ends(2).complains("the working tree has no changes");
    room.write("speed", "200\n");
    let result = short(&room, &["HEAD", "."], &["--json"]).ends(0).json();
    assert_eq!(only_verdict(&result), "slower");
    assert!(!codes(&result).contains(&"UNCOMMITTED"));
    assert!(room.read("s.assay").contains("-dirty"));
    assert!(room.path("build/bm").exists(), "it is built where it is");
    let result = short(&room, &["old", "HEAD"], &["--json"]).ends(0);
    assert!(codes(&result.json()).contains(&"UNCOMMITTED"));
    result.complains("not in `HEAD`");
}

#[test]
fn the_same_commit_twice_is_refused_unless_that_is_meant() {
    let room = repository();
    short(&room, &["main", "HEAD"], &[]).ends(2).complains("the same commit");
    // The harness's numbers depend on process ids: at 95 % one in twenty would have a verdict.
    let sure = ["--aa", "--json", "--confidence", "99.9%"];
    let result = short(&room, &["main", "HEAD"], &sure).ends(0).json();
    assert_ne!(only_verdict(&result), "faster");
    assert_eq!(builds(&room), 1);
    short(&room, &["main", "main"], &["--aa"]).ends(0).shows("main #2");
    short(&room, &["main"], &["--aa"]).ends(0).shows("main #2");
    // A single revision is measured by itself.
    short(&room, &["main"], &[]).ends(0).shows("BM_One");
    let alone =
        bench(&room, &["main"], "echo built > \"$TRACE.early\"", &["--fail-if", "slower"]).ends(2);
    alone.complains("nothing to compare it with");
    assert_eq!(room.read("trace.early"), "", "what is wrong is said before anything is built");
}

#[test]
fn what_is_no_revision_or_no_repository_is_said_in_the_words_of_git() {
    let room = repository();
    short(&room, &["old", "nonesuch"], &[])
        .ends(2)
        .complains("`nonesuch` is not a revision")
        .complains("fatal:");
    let nowhere = Room::new();
    let mut command = command(&nowhere, &["old", "main"], "true", &[]);
    command.env("GIT_CEILING_DIRECTORIES", nowhere.path("").parent().unwrap());
    finish(command).ends(2).complains("no revisions in").complains("not a git repository");
    let mut without = self::command(&room, &["old", "main"], "true", &[]);
    without.env("PATH", "/nowhere");
    finish(without).ends(2).complains("git, which cannot be run");
}

#[test]
fn a_build_that_fails_shows_its_last_lines_and_is_tried_again() {
    let room = repository();
    let failing = format!(
        "{BUILD}; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22; do echo line $i; done; echo broken >&2; exit 3"
    );
    for times in 1..=2 {
        let ended = bench(&room, &["old", "main"], &failing, &[]).ends(2);
        let ended = ended
            .complains("`old`: the build line")
            .complains("exited with status 3")
            .complains("  broken");
        assert!(
            ended.stderr.contains("line 4\n") && !ended.stderr.contains("line 3\n"),
            "{ended:?}"
        );
        let log = ended.stderr.split_whitespace().find(|word| word.ends_with(".log")).unwrap();
        assert!(fs::read_to_string(log).unwrap().contains("line 1\n"));
        assert_eq!(builds(&room), times, "half a build is no build");
    }
}

#[test]
fn a_program_that_the_build_does_not_make_is_an_error() {
    let room = repository();
    bench(&room, &["old", "main"], "true", &[])
        .ends(2)
        .complains("does not exist")
        .complains("build/bm");
    let words = ["bench", "--rev", "old", "--rev", "main"];
    room.run(&words).ends(2).complains("--build");
    room.run(&[&words[..], &["--build", "true", "--program", "x", "y"]].concat()).ends(2);
    let absolute = ["--build", "true", "--program", "/bin/true"];
    room.run(&[&words[..], &absolute].concat()).ends(2).complains("relative to the top");
    let of_the_tree =
        room.path("build/bm").canonicalize().unwrap_or_else(|_| room.path("build/bm"));
    let of_the_tree = ["--build", "true", "--program", of_the_tree.to_str().unwrap()];
    room.run(&[&words[..], &of_the_tree].concat())
        .ends(2)
        .complains("relative to the top of the tree: `./build/bm`");
}

#[test]
fn an_interrupt_ends_a_build_with_its_children_and_half_a_build_is_built_anew() {
    let room = repository();
    let endless = endless();
    let hanging = format!("{BUILD}; test -e \"$TRACE.go\" || {{ {endless} & {endless}; }}");
    let assay = start(command(&room, &["old", "main"], &hanging, &[]));
    until("it is built", || processes_of(&endless).len() == 2);
    assay.signal("INT");
    assay.finish().ends(130).complains("nothing was measured");
    until("the build is gone", || processes_of(&endless).is_empty());
    room.write("trace.go", "");
    bench(&room, &["old", "main"], &hanging, &SHORT).ends(0);
    assert_eq!(builds(&room), 3);
}

#[test]
fn the_tree_of_a_killed_assay_is_built_anew_and_its_build_is_ended() {
    let room = repository();
    let endless = endless();
    let hanging = format!("{BUILD}; test -e \"$TRACE.go\" || {endless}");
    let assay = start(command(&room, &["old"], &hanging, &["--list"]));
    until("it is built", || !processes_of(&endless).is_empty());
    assay.signal("KILL");
    assay.finish().ends(128 + 9);
    until("the build is gone", || processes_of(&endless).is_empty());
    room.write("trace.go", "");
    bench(&room, &["old"], &hanging, &["--list"]).ends(0);
    assert_eq!(builds(&room), 2);
}

#[test]
fn two_that_want_the_same_revision_at_once_build_it_once() {
    let room = repository();
    let slow = format!("sleep 0.5; {BUILD}");
    let first = start(command(&room, &["old"], &slow, &["--list"]));
    let second = start(command(&room, &["old"], &slow, &["--list"]));
    first.finish().ends(0);
    second.finish().ends(0);
    assert_eq!(builds(&room), 1);
}

#[test]
fn the_ten_that_were_used_last_are_kept() {
    let room = repository();
    let line = |number: usize| format!("{BUILD} # {number}");
    for number in 0..11 {
        bench(&room, &["old"], &line(number), &["--list"]).ends(0);
        // The first one is used repeatedly, so it must not be removed.
        bench(&room, &["old"], &line(0), &["--list"]).ends(0);
    }
    assert_eq!((builds(&room), trees(&room).len()), (11, 10));
    bench(&room, &["old"], &line(0), &["--list"]).ends(0);
    assert_eq!(builds(&room), 11);
    // The user's repository has no record of them.
    assert_eq!(git(&room, "worktree list").stdout.lines().count(), 1);
    // A removed tree is built again.
    trees(&room).iter().for_each(|tree| fs::remove_dir_all(tree).unwrap());
    bench(&room, &["old"], &line(0), &["--list"]).ends(0);
    assert_eq!(builds(&room), 12);
}

#[test]
fn builds_see_tags_and_a_clean_tree_of_a_shallow_clone_too() {
    let room = repository();
    git(&room, "tag -a -m one v1 old");
    let line = format!("git describe >> \"$TRACE.said\" && git diff --quiet HEAD && {BUILD}");
    bench(&room, &["old"], &line, &["--list"]).ends(0);
    assert_eq!(room.read("trace.said"), "v1\n");
    git(&room, "clone -q --depth 1 \"file://$PWD\" shallow");
    let mut command = command(&room, &["HEAD"], BUILD, &["--list"]);
    command.current_dir(room.path("shallow"));
    finish(command).ends(0);
    git(&room, "-C shallow fsck --no-dangling");
}

#[test]
fn a_repository_runs_no_program_of_its_own_and_a_partial_clone_says_what_is_absent() {
    let room = repository();
    room.write(".gitattributes", "* filter=own\n");
    git(&room, "add . && git commit -q -m third && git config uploadpack.allowFilter true");
    git(&room, "clone -q --filter=blob:none \"file://$PWD\" clone");
    room.write("own", "#!/bin/sh\necho \"$0 $*\" >> \"$RAN\"\nexit 1\n");
    let own = "chmod +x own && cd clone && for name in core.fsmonitor core.sshCommand core.pager core.gitProxy \
        core.askPass core.editor core.alternateRefsCommand diff.external uploadpack.packObjectsHook \
        remote.origin.uploadpack filter.own.clean filter.own.smudge filter.own.process; do \
        git config $name \"$PWD/../own\"; done; git config credential.helper '!../own'; \
        for hook in post-checkout reference-transaction post-index-change; do cp ../own .git/hooks/$hook; done; \
        touch speed bm.sh";
    finish(room.shell(own)).ends(0);
    let bench = |revision: &str| {
        let mut command = command(&room, &[revision, "."], BUILD, &["--smoke"]);
        command.current_dir(room.path("clone")).env("RAN", room.path("ran"));
        finish(command)
    };
    bench("HEAD").ends(0);
    bench("HEAD~2").ends(2).complains("whole working tree").complains("--refetch --no-filter");
    assert!(!room.path("ran").exists(), "{}", room.read("ran"));
    finish(room.shell("cd clone && git config --unset remote.origin.uploadpack && git fetch -q --refetch --no-filter"));
    bench("HEAD~2").ends(0);
}

#[test]
fn submodules_are_there_when_a_revision_is_built() {
    let room = repository();
    room.shell("mkdir other").status().unwrap();
    git(
        &room,
        "-C other init -q && echo text > other/text && git -C other add . && git -C other commit -q -m text",
    );
    git(
        &room,
        "-c protocol.file.allow=always submodule --quiet add ./other part && git commit -q -m part",
    );
    let line = format!("test -e part/text && {BUILD}");
    let mut command = command(&room, &["main"], &line, &["--list"]);
    // By default git does not clone submodules from local files.
    command.env("GIT_CONFIG_COUNT", "1");
    command.env("GIT_CONFIG_KEY_0", "protocol.file.allow").env("GIT_CONFIG_VALUE_0", "always");
    finish(command).ends(0);
    assert_eq!(builds(&room), 1);
}

#[test]
fn a_submodule_may_have_commits_that_its_remote_lacks() {
    let room = repository();
    room.shell("mkdir other inner").status().unwrap();
    let file = "-c protocol.file.allow=always submodule --quiet add";
    git(&room, "-C inner init -q && git -C inner commit -q --allow-empty -m begin");
    git(&room, "-C other init -q && echo text > other/text && git -C other add .");
    git(&room, &format!("-C other {file} ../inner within && git -C other commit -q -m text"));
    git(&room, &format!("{file} ./other part && git commit -q -m part"));
    git(&room, "-c protocol.file.allow=always submodule --quiet update --init --recursive");
    // A commit that no branch has, in the submodule and in the one within it.
    git(
        &room,
        "-C part/within checkout -q --detach && echo own > part/within/own && git -C part/within add .",
    );
    git(&room, "-C part/within commit -q -m own && git -C part checkout -q --detach");
    git(&room, "-C part commit -q -a -m own && rm -rf other inner && git commit -q -a -m own");
    let line = format!("test -e part/text && test -e part/within/own && {BUILD}");
    bench(&room, &["main"], &line, &["--list"]).ends(0);
    // Also if no working tree has the submodule.
    git(&room, "submodule --quiet deinit --force --all");
    bench(&room, &["main"], &format!("{line}; :"), &["--list"]).ends(0);
    assert_eq!(builds(&room), 2);
}

#[test]
fn a_revision_is_linked_several_times_each_with_its_seed() {
    let room = repository();
    // Links differ in a comment here; objects of the first build are available to the others.
    let line = "mkdir -p build && { [ -e build/object ] || echo compiled >> \"$TRACE\"; } && touch build/object && [ ! -e build/bm ] \
                && { cat bm.sh; echo \"# $ASSAY_BUILD_SEED\"; } > build/bm && chmod +x build/bm && echo linked >> \"$TRACE.links\"";
    let short = ["--runs", "12", "--run-time", "1ms", "--json", "--builds", "3"];
    let result = bench(&room, &["old", "main"], line, &short).ends(0).json();
    assert_eq!(only_verdict(&result), "faster");
    assert_eq!(result["sides"][0]["builds"][2], "build/bm-build-3");
    assert_eq!((builds(&room), room.read("trace.links").lines().count()), (2, 6));
    // They are kept separately from a single build.
    bench(&room, &["old", "main"], line, &short).ends(0).complains("was built before");
    assert_eq!(room.read("trace.links").lines().count(), 6);
    let working = bench(&room, &["old", "."], line, &short).ends(2);
    working.complains("`.` is your working tree");
    let same = line.replace("# $ASSAY_BUILD_SEED", "#");
    let none = bench(&room, &["old", "main"], &format!("{same}; : $ASSAY_BUILD_SEED"), &short);
    none.ends(2).complains("ignores the seed");
    // A tracked file that is a copy of the program is a source of it, and stays.
    let copied = format!("{BUILD} # $ASSAY_BUILD_SEED");
    bench(&room, &["old", "main"], &copied, &short).ends(2).complains("ignores the seed");
    let delayed = bench(&room, &["old", "main"], line, &["--sensitivity"]).ends(2);
    delayed.complains("pyperf and benchmark-ips, not of");
}

#[test]
fn cargo_links_again_without_compiling_dependencies_and_keeps_the_options_of_the_project() {
    let there = |name: &str| {
        let output = std::process::Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    };
    if !there("cargo") || !(there("mold") || there("ld.lld")) {
        return;
    }
    let room = repository();
    for directory in ["part/src", ".cargo", "src"] {
        fs::create_dir_all(room.path(directory)).unwrap();
    }
    let workspace = "[workspace]\nmembers = [\"part\"]\n";
    room.write(
        "Cargo.toml",
        &format!(
            "[package]\nname = \"whole\"\nedition = \"2021\"\n[dependencies]\npart = {{ path = \"part\" }}\n{workspace}"
        ),
    );
    room.write("part/Cargo.toml", "[package]\nname = \"part\"\nedition = \"2021\"\n");
    room.write("part/src/lib.rs", "pub fn program() -> &'static str {\n    \"./bm.sh\"\n}\n");
    room.write(".cargo/config.toml", "[build]\nrustflags = [\"--cfg=own\"]\n");
    let main = "use std::os::unix::process::CommandExt;\n\nfn main() {\n    #[cfg(not(own))]\n    compile_error!(\"the options of the project are missing\");\n    let mut script = std::process::Command::new(part::program());\n    let error = script.args(std::env::args_os().skip(1)).exec();\n    panic!(\"{error}\");\n}\n";
    room.write("src/main.rs", main);
    room.write(".gitignore", &(room.read(".gitignore") + "target/\nCargo.lock\ntmp/\n.config/\n"));
    git(&room, "add . && git commit -q -m cargo");
    room.write("speed", "25\n");
    git(&room, "commit -q -a -m third");
    let line =
        "mkdir -p build && cargo build --offline 2>> \"$TRACE\" && cp target/debug/whole build/bm";
    let short = ["--runs", "12", "--run-time", "1ms", "--builds", "3", "--no-save"];
    let mut command = command(&room, &["main~1", "main"], line, &short);
    room.with_compilers(&mut command);
    command.env_remove("RUSTFLAGS");
    // Equal links would be an error.
    finish(command).ends(0);
    let trace = room.read("trace");
    let compiled = |name: &str| trace.matches(&format!("Compiling {name} ")).count();
    assert_eq!((compiled("part"), compiled("whole")), (2, 6), "{trace}");
}

#[test]
fn benchmarks_of_go_tell_which_changed_functions_they_execute() {
    let go = std::process::Command::new("go").arg("version").output();
    if !go.is_ok_and(|output| output.status.success()) {
        return;
    }
    let room = Room::new();
    room.write("go.mod", "module example.com/of\n\ngo 1.20\n");
    room.write(".gitignore", "build/\nstate/\ncache/\ntmp/\n*.assay\n.config/\n");
    let source = "package of\n\nvar Choice = 1\n\nfunc Fast() int {\n\treturn 1\n}\n\nfunc Used() int {\n\treturn 2\n}\n\nfunc Other() int {\n\tif Choice == 2 {\n\t\treturn Unused()\n\t}\n\treturn 3\n}\n\nfunc Unused() int {\n\treturn 4\n}\n";
    room.write("of.go", source);
    room.write(
        "of_test.go",
        "package of\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkFast(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += Fast()\n\t}\n}\n\nfunc BenchmarkUsed(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += Used()\n\t}\n}\n\nfunc BenchmarkOther(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += Other()\n\t}\n}\n\nfunc BenchmarkPrepared(b *testing.B) {\n\tsink += Used()\n\tb.ResetTimer()\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += Fast()\n\t}\n}\n",
    );
    git(&room, "init -q -b main && git add . && git commit -q -m first && git tag old");
    let changed = source.replace("return 2", "n := 2\n\treturn n");
    room.write("of.go", &changed.replace("return 4", "n := 4\n\tn++\n\treturn n - 1"));
    git(&room, "commit -q -a -m second");
    let words = [
        "bench",
        "--rev",
        "old",
        "--rev",
        "main",
        "--build",
        "go test -c -o build/x.test .",
        "--program",
        "build/x.test",
        "--sensitivity",
        "--runs",
        "12",
        "--run-time",
        "1ms",
        "--json",
        "--no-save",
    ];
    let measured = || {
        let mut command = room.assay(&words);
        room.with_compilers(&mut command);
        command.env("GOMAXPROCS", "2");
        command.env("XDG_CACHE_HOME", room.path("cache"));
        let result = finish(command).ends(0).json();
        let found = result["findings"].as_array().unwrap().clone();
        found.into_iter().filter(|own| own["code"] == "CODE_CHANGED").collect::<Vec<Value>>()
    };
    let mut changed = measured();
    // `Other` may call `Unused`, and does not.
    assert_eq!(
        changed[0]["message"],
        "2 of 4 benchmarks execute code that changed; none executes `Unused`, the longest function that changed"
    );
    // On a busy machine, iterations of 1 ns may vary too much for an answer.
    let is_unknown = |found: &[Value]| {
        found[1]["message"].as_str().unwrap().contains("that would be found is unknown")
    };
    for _ in 0..3 {
        if is_unknown(&changed) {
            changed = measured();
        }
    }
    let message = changed[1]["message"].as_str().unwrap();
    assert!(
        message.starts_with("a call of `Used` must take this much longer to be found: "),
        "{message}"
    );
    assert!(
        message.ends_with("; `BenchmarkPrepared-2` executes it, but not in the timed part"),
        "{message}"
    );
    let evidence = changed[1]["evidence"].as_object().unwrap();
    assert!(evidence["BenchmarkUsed-2"].as_f64().is_some_and(|seconds| seconds > 0.0));
    assert_eq!(evidence["BenchmarkPrepared-2"], Value::Null);
}
