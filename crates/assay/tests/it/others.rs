//! Verbs of other programs, `assay-NAME`, found on PATH or in the directory of the binary.

use crate::room::{Ended, Room, finish};
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Answers the two questions, and otherwise prints its arguments.
const TOY: &str = r#"#!/bin/sh
case "$1" in
--assay-about) echo "Play with it"; echo "at length"; exit ;;
--assay-completions)
    [ "$2" = fish ] && { echo "set -g toy '_assay-toy() {'"; exit; }
    echo "_assay-toy() { COMPREPLY=(\"word-$COMP_CWORD-$3\" \"after-\$3\"); }"
    echo "complete -F _assay-toy assay-toy"
    exit ;;
esac
echo "$# given:$(printf ' <%s>' "$@")"
[ -x "$ASSAY" ] && echo "called back: $("$ASSAY" --version)"
case "$1" in
end) exit "$2" ;;
die) kill -TERM $$ ;;
esac
"#;

fn room_with(programs: &[(&str, &str)]) -> Room {
    let room = Room::new();
    for (name, text) in programs {
        room.write(name, text);
        set_permissions(room.path(name), Permissions::from_mode(0o755)).unwrap();
    }
    room
}

fn on_path(room: &Room, mut command: Command) -> Ended {
    let path = std::env::var_os("PATH").unwrap();
    let all = std::iter::once(room.path(".")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(all).unwrap());
    finish(command)
}

fn run(room: &Room, arguments: &[&str]) -> Ended {
    on_path(room, room.assay(arguments))
}

#[test]
fn another_program_gets_the_arguments_and_its_status_is_ours() {
    let room = room_with(&[("assay-toy", TOY)]);
    let ended = run(&room, &["toy", "end", "7", "--json", "-V", "two words"]).ends(7);
    assert!(ended.stdout.starts_with("5 given: <end> <7> <--json> <-V> <two words>\n"));
    assert!(ended.stdout.contains("called back: assay "), "{}", ended.stdout);
    run(&room, &["toy", "die"]).ends(128 + 15);
    let help = run(&room, &["help", "toy"]).ends(0).stdout;
    assert!(help.starts_with("1 given: <--help>\n"), "{help}");
}

#[test]
fn another_program_is_found_beside_the_binary_before_path() {
    let room = room_with(&[("assay-toy", TOY)]);
    std::fs::create_dir(room.path("bin")).unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("bin/assay")).unwrap();
    room.write("bin/assay-toy", "#!/bin/sh\necho the neighbour\n");
    set_permissions(room.path("bin/assay-toy"), Permissions::from_mode(0o755)).unwrap();
    let ended = on_path(&room, room.shell("bin/assay toy")).ends(0);
    assert_eq!(ended.stdout, "the neighbour\n");
}

#[test]
fn help_lists_other_programs_with_what_they_say_of_themselves() {
    let own = ("assay-run", "#!/bin/sh\necho 'never asked' >&2; exit 1\n");
    let silent = ("assay-silent", "#!/bin/sh\nexit 1\n");
    let hanging = ("assay-hanging", "#!/bin/sh\nexec sleep 60\n");
    let room = room_with(&[("assay-toy", TOY), own, silent, hanging, ("assay-Not.this", TOY)]);
    for asks in [&["--help"][..], &["help"], &["-h"]] {
        let help = run(&room, asks).ends(0).stdout;
        let expected =
            "Other commands:\n  hanging\n  silent\n  toy      Play with it\n\nExamples:\n";
        assert!(help.contains(expected), "{help}");
    }
    run(&room, &[]).ends(2).complains("All commands: assay --help");
    // The verbs of this program cannot be replaced.
    let verb = run(&room, &["run", "--help"]).ends(0);
    assert!(verb.stdout.contains("Usage: assay run"), "{}", verb.stdout);
    let without = room.run(&["--help"]).ends(0).stdout;
    assert!(!without.contains("Other commands"), "{without}");
}

#[test]
fn an_unknown_verb_is_told_what_is_near() {
    let room = room_with(&[("assay-gadget", TOY)]);
    run(&room, &["gadgets"]).ends(2).complains("a similar subcommand exists: 'gadget'");
    run(&room, &["comparr"]).ends(2).complains("a similar subcommand exists: 'compare'");
    run(&room, &["help", "gadgets"]).ends(2).complains("gadgets");
    // A path is not a name.
    run(&room, &["../assay-gadget"]).ends(2).complains("unrecognized subcommand");
}

#[test]
fn a_program_that_cannot_be_run_is_an_error_with_its_path() {
    let room = room_with(&[("assay-broken", "#!/nowhere/at/all\n")]);
    run(&room, &["broken"]).ends(2).complains("assay-broken: No such file");
}

#[test]
fn a_program_that_comes_with_this_one_is_listed_and_missed() {
    let room = room_with(&[]);
    std::fs::copy(env!("CARGO_BIN_EXE_assay"), room.path("assay")).unwrap();
    let alone = |words: &[&str]| {
        let mut command = Command::new(room.path("assay"));
        command.args(words).env("PATH", room.path("."));
        finish(command)
    };
    let help = alone(&["--help"]).ends(0).stdout;
    assert!(
        help.contains("  mutate") && help.contains("  farm") && !help.contains("Other commands"),
        "{help}"
    );
    let missed = "assay-mutate, which is neither next to this one nor on PATH";
    alone(&["mutate", "--list"]).ends(2).complains(missed);
    alone(&["help", "mutate"]).ends(2).complains(missed);
    room.write("assay-mutate", TOY);
    set_permissions(room.path("assay-mutate"), Permissions::from_mode(0o755)).unwrap();
    let ended = alone(&["mutate", "--list"]).ends(0);
    assert!(ended.stdout.starts_with("1 given: <--list>\n"), "{}", ended.stdout);
}

#[test]
fn completions_join_other_programs() {
    let room = room_with(&[("assay-toy", TOY)]);
    for shell in ["bash", "zsh", "fish"] {
        let script = run(&room, &["completions", shell]).ends(0).stdout;
        assert!(script.contains("toy") && script.contains("_assay-toy() {"), "{shell}: {script}");
    }
    // bash completes the name after `assay`, and after that the program's own script applies.
    let line = "command -v bash > /dev/null || exit 0; \"$ASSAY\" completions bash > c; bash -c '
        . ./c
        try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
            _assay assay \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; echo \"${COMPREPLY[*]}\"; }
        try assay to; try assay toy --wh x; try assay compare --thresh; try assay compare \"\"; PATH=$(dirname \"$ASSAY\"):$PATH
        try assay run --primary vol'";
    let said = on_path(&room, room.shell(line)).ends(0);
    if !said.stdout.is_empty() {
        assert_eq!(said.stdout, "toy\nword-- after---wh\n--threshold\n\nvoluntary_switches\n");
    }
    // The other shells check their scripts, if installed.
    let line = "! command -v zsh > /dev/null || { \"$ASSAY\" completions zsh > c; zsh -n c; }
        ! command -v fish > /dev/null || { \"$ASSAY\" completions fish > c; fish -n c; }";
    assert_eq!(on_path(&room, room.shell(line)).ends(0).stderr, "");
}
