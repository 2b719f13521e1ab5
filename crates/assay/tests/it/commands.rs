//! Commands that cannot be run, fail, exceed their time or leave something behind.

use crate::room::{Room, codes, endless, finish, processes_of};

/// Returns a room with five builds per side that print these thousandths of `base`.
fn room_of_builds(base: [u32; 2]) -> Room {
    let room = Room::new();
    for (side, base) in ["old", "new"].into_iter().zip(base) {
        for build in 0..5 {
            let name = format!("{side}-{build}");
            let text = format!("#!/bin/sh\n# {name}\necho $1 {}\n", base + 10 * (build % 3));
            room.write(&name, &text);
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(room.path(&name), executable).unwrap();
        }
    }
    room
}

#[test]
fn several_builds_of_a_command_take_turns_and_the_interval_is_over_them() {
    let room = room_of_builds([1000, 1500]);
    let metric = ["--metric", "inner=took ([0-9]+)", "--primary", "inner"];
    let run =
        ["run", "--builds", "old-*,new-*", "{build} took", "--runs", "30", "--save", "s.assay"];
    let result = room.json(&[&run[..], &metric].concat());
    let c = &result["comparisons"][0];
    assert_eq!((&c["verdict"], &c["of"]), (&"slower".into(), &"new".into()));
    assert_eq!((&c["basis"], &c["counts"]["of"]), (&"units".into(), &5.into()));
    assert!(codes(&result).contains(&"LAYOUT"));
    assert_eq!(result["sides"][1]["builds"][4], "./new-4 took");
    // Every build runs once before any is repeated.
    for cycle in room.records("s.assay", "obs").chunks(10) {
        let mut builds: Vec<_> =
            cycle.iter().map(|o| format!("{} {}", o["subject"], o["level"])).collect();
        builds.sort_unstable();
        builds.dedup();
        assert_eq!(builds.len(), 10);
    }
    assert_eq!(room.json(&["compare", "s.assay"])["comparisons"], result["comparisons"]);
    room.run(&["repeat", "s.assay", "--runs", "12", "--no-save"]).ends(0).shows("new");
    // Runs of one build are not independent, but classical tests would assume that.
    for option in ["--all", "--rigorous"] {
        room.run(&["compare", option, "s.assay"])
            .ends(2)
            .complains("the interval is based on the builds");
    }
}

#[test]
fn builds_of_commands_that_make_no_sense_are_refused() {
    let room = room_of_builds([1, 2]);
    let with =
        |more: &[&str]| room.run(&[&["run", "--no-save", "--builds"], more].concat()).ends(2);
    with(&["old-*,new-*", "./other"]).complains("{build} in place of the executable");
    with(&["old-*,new-*", "{build}", "{build} 2"]).complains("give one command");
    with(&["5"]).complains("`assay bench --rev`");
    with(&["old-?,new-0 new-1"]).complains("`new-0` has 2 different builds");
    with(&["old-*,new-*", "-P", "n=1,2", "{build} {n}"]).complains("cannot be used with");
}

#[test]
fn a_program_that_is_not_found_gets_a_suggestion() {
    let room = Room::new();
    room.run(&["run", "slep 0.1"]).ends(2).complains("`slep`").complains("`sleep`");
    room.link("sleep", "sort-new");
    room.run(&["run", "./sort-nwe"]).ends(2).complains("`./sort-nwe`").complains("sort-new");
    assert!(room.kept().is_empty());
}

#[test]
fn a_file_that_is_not_executable_is_told_how_to_become_so() {
    let room = Room::new();
    room.write("build.sh", "#!/bin/sh\n");
    room.run(&["run", "./build.sh"]).ends(2).complains("not executable").complains("chmod +x");
}

#[test]
fn every_command_is_looked_up_before_any_is_run() {
    let room = Room::new();
    room.run(&["run", "sh -c 'echo ran >> log'", "no-such-program-here"]).ends(2);
    assert_eq!(room.read("log"), "");
}

#[test]
fn shell_characters_without_a_shell_name_the_option() {
    let room = Room::new();
    for command in ["true | true", "true > x", "ls *", "echo $HOME", "true; true", "true &"] {
        room.run(&["run", command]).ends(2).complains("--shell");
    }
    room.run(&["run", ""]).ends(2).complains("empty");
}

#[test]
fn a_first_run_that_fails_shows_the_tail_of_its_standard_error() {
    let room = Room::new();
    let command = "sh -c 'echo the disk is on fire >&2; exit 3'";
    let ended = room.run(&["run", "--save", "s.assay", command]).ends(4);
    let ended = ended.complains("status 3").complains("on its first run");
    assert!(ended.stderr.contains("the disk is on fire"), "{}", ended.stderr);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_run_that_fails_later_says_when_and_keeps_what_was_measured() {
    let room = Room::new();
    // The warm-up run is the first of the four.
    let command = "sh -c 'echo ran >> log; test $(wc -l < log) -lt 4'";
    let ended = room.run(&["run", "--save", "s.assay", command]);
    let ended = ended.ends(4).complains("status 1").complains("in block 3");
    assert!(ended.stdout.contains("too few"), "{}", ended.stdout);
    assert_eq!(room.records("s.assay", "obs").len(), 2);
    assert_eq!(room.records("s.assay", "stop")[0]["reason"], "failed");
    room.run(&["compare", "s.assay"]).ends(0);
}

#[test]
fn a_command_that_dies_by_a_signal_has_failed() {
    let room = Room::new();
    room.run(&["run", "sh -c 'kill -9 $$'"]).ends(4).complains("signal 9");
}

#[test]
fn failures_that_are_tolerated_are_counted_and_recorded() {
    let room = Room::new();
    let with = |option: &str| {
        let arguments = ["run", "--runs", "3", "--save", "s.assay", option, "sh -c 'exit 3'"];
        room.run(&[&arguments[..], &["--json"]].concat())
    };
    for option in ["--ignore-failure", "--ignore-failure=3", "--ignore-failure=1,3"] {
        let result = with(option).ends(0).json();
        assert_eq!(result["descriptions"][0]["failures"], 3, "{option}");
        assert!(codes(&result).contains(&"FAILURES"));
        let observed = room.records("s.assay", "obs");
        assert_eq!(observed.len(), 3);
        assert!(observed.iter().all(|o| o["outcome"]["exit"] == 3), "{observed:?}");
    }
    with("--ignore-failure=4").ends(4).complains("status 3");
    with("--ignore-failure=256").ends(2).complains("255");
}

#[test]
fn a_run_that_outlasts_its_limit_is_recorded_as_that_and_reported() {
    let room = Room::new();
    let arguments = ["run", "--runs", "2", "--timeout", "50ms", "--save", "s.assay"];
    let ended = room.run(&[&arguments[..], &[&endless()]].concat()).ends(0);
    assert!(ended.stdout.contains("time limit"), "{}", ended.stdout);
    assert!(room.records("s.assay", "obs").iter().all(|o| o["outcome"] == "timeout"));
    let result = room.json(&["compare", "s.assay"]);
    assert_eq!(result["descriptions"][0]["timeouts"], 2);
    assert!(codes(&result).contains(&"TIMEOUTS"));
}

#[test]
fn a_run_that_outlasts_the_budget_ends_with_what_that_allows() {
    let room = Room::new();
    let arguments = ["run", "--no-save", "--time", "0.2s", "sleep 0.15", "sleep 0.16"];
    let result = room.json(&arguments);
    assert_eq!(result["verdict"], "inconclusive");
    assert!(result["blocks"].as_u64().is_some_and(|blocks| (1..6).contains(&blocks)), "{result:#}");
    assert!(codes(&result).contains(&"TOO_FEW"), "{result:#}");
    room.run(&[&arguments[..], &["--fail-if", "slower"]].concat()).ends(3).shows("too few blocks");
}

#[test]
fn children_that_outlive_their_parent_are_ended_and_reported() {
    let room = Room::new();
    let orphan = endless();
    let line = format!("{orphan} & exit 0");
    let result = room.json(&["run", "--no-save", "--runs", "2", "--shell", "sh", &line]);
    assert!(codes(&result).contains(&"LEFT_PROCESSES"), "{result:#}");
    assert!(processes_of(&orphan).is_empty());
}

#[test]
fn a_child_that_ignores_the_request_to_end_is_made_to() {
    let room = Room::new();
    let stubborn = endless();
    let line = format!("trap '' TERM; {stubborn}");
    let arguments = ["run", "--no-save", "--runs", "1", "--warmup", "0", "--timeout", "20ms"];
    let result = room.json(&[&arguments[..], &["--shell", "sh", &line]].concat());
    assert_eq!(result["descriptions"][0]["timeouts"], 1);
    assert!(processes_of(&stubborn).is_empty());
}

#[test]
fn a_child_that_closes_its_descriptors_is_measured_to_its_end() {
    let room = Room::new();
    let line = "exec <&- >&- 2>&-; sleep 0.02; /bin/true; kill -9 $$";
    for output in ["null", "pipe", "inherit", "file.txt"] {
        let arguments = ["run", "--no-save", "--runs", "2", "--ignore-failure", "--output", output];
        let result = room.json(&[&arguments[..], &["--shell", "sh", line]].concat());
        assert_eq!(result["descriptions"][0]["failures"], 2, "{output}");
        let shortest = &result["descriptions"][0]["metrics"]["wall"]["min"];
        assert!(shortest.as_f64().is_some_and(|seconds| seconds >= 0.02), "{output}: {shortest}");
    }
}

#[test]
fn a_great_writer_is_neither_stopped_nor_mixed_into_the_data() {
    let room = Room::new();
    let line = "head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2";
    for output in ["null", "pipe"] {
        room.json(&["run", "--no-save", "--runs", "2", "--output", output, "--shell", "sh", line]);
    }
}

#[test]
fn what_the_failing_run_says_is_shown_whichever_it_is_and_no_terminal_obeys_it() {
    let room = Room::new();
    let line = r"echo x >> log; [ $(wc -l < log) -lt 6 ] || { printf 'oops: \033[31mdisk\033[0m quota\033]0;t\007\n' >&2; exit 3; }";
    let ended = room.run(&["run", "--no-save", "-r", "10", "-S", "sh", line]).ends(4);
    let ended = ended.complains("exited with status 3 in block 5. It said:\n  oops: disk quota\n");
    assert!(!ended.stderr.contains('\u{1b}'), "{}", ended.stderr);
    // Long output is not kept indefinitely.
    room.write("log", "");
    let much = format!("head -c 5000 /dev/zero | tr '\\0' x >&2; {line}");
    let ended = room.run(&["run", "--no-save", "-r", "10", "-S", "sh", &much]).ends(4);
    ended.complains("in block 5; see what it says with --output inherit");
}

#[test]
fn braces_without_their_values_are_explained() {
    let room = Room::new();
    room.run(&["run", "sleep {n}"]).ends(4).complains("by -P, as in -P n=1..8");
}

#[test]
fn a_command_has_default_signals_whatever_assay_has_inherited() {
    let room = Room::new();
    let ignored = "trap '' HUP INT QUIT USR1 XFSZ TSTP; ";
    let measured = "$ASSAY run --no-save --warmup 0 -r 1 --output signals.txt 'sed -n s/^SigIgn:.//p /proc/self/status'";
    finish(room.shell(&format!("{ignored}{measured}"))).ends(0);
    let said = room.read("signals.txt");
    let ignored = u64::from_str_radix(said.trim(), 16).unwrap();
    // Two signals reserved by the C library may be ignored here as well.
    assert_eq!(ignored & !(0b11 << 31), 0, "{said}");
}
