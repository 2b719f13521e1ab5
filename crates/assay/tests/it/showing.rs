//! Screens: width, colors, and readers that disconnect; and the pages generated from the arguments.

use crate::room::{Ended, Room, data, finish, start};

const VERBS: [&str; 4] = ["run", "compare", "completions", "man"];

/// Compares two fixed files, with further arguments and one environment variable.
fn compared(arguments: &[&str], variable: (&str, &str)) -> Ended {
    let room = Room::new();
    let files = [data("zlib_with.txt"), data("zlib_without.txt")];
    let all = [&["compare", &files[0], &files[1]], arguments].concat();
    let mut command = room.assay(&all);
    command.env(variable.0, variable.1);
    finish(command).ends(0)
}

#[test]
fn without_a_verb_or_with_a_wrong_one_there_is_help() {
    let room = Room::new();
    let ended = room.run(&[]).ends(2).complains("assay run").complains("assay --help");
    assert_eq!(ended.stderr.lines().count(), 5, "{}", ended.stderr);
    room.run(&["rum", "true"]).ends(2).complains("'run'").complains("--help");
    room.run(&["run"]).ends(2).complains("COMMAND").complains("--help");
    room.run(&["run", "--treshold", "1%", "true"]).ends(2).complains("--threshold");
    let help = room.run(&["--help"]).ends(0);
    assert!(help.stdout.contains("Exit codes") && help.stderr.is_empty());
    for verb in VERBS {
        assert!(help.stdout.contains(verb), "{verb}");
    }
    assert!(room.run(&["--version"]).ends(0).stdout.starts_with("assay "));
}

#[test]
fn three_sides_are_ranked_before_they_are_compared() {
    let room = Room::new();
    let mut state = 7_u32;
    for (name, base) in [("a", 100.0), ("b", 200.0), ("c", 50.0), ("d", 200.0), ("e", 200.0)] {
        let values = (0..40).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{}\n", base * (1.0 + f64::from(state >> 16) / 1e6))
        });
        room.write(name, &values.collect::<String>());
    }
    let ranked = |files: &[&str]| room.run(&[&["compare", "--unit", "ms"], files].concat()).ends(0);
    let ended = ranked(&["a", "b", "c", "d"]);
    let first = ended.stdout.lines().next().unwrap();
    assert!(first.starts_with("ranking: 1. c; 2. a, 2.0 × as long; 3. "), "{first}");
    ended.shows("4.0 × as long, no clear order");
    for files in [&["a", "b"][..], &["b", "d", "e"]] {
        assert!(!ranked(files).stdout.contains("ranking"), "{files:?}");
    }
}

#[test]
fn without_a_terminal_no_sentence_is_cut() {
    let room = Room::new();
    let commands = ["echo a", "echo b", "echo c", "echo d"];
    let run = |more: &[&str], columns: Option<&str>| {
        let mut command =
            room.assay(&[&["run", "--no-save", "-r", "12"], more, &commands].concat());
        command.env_remove("COLUMNS").envs(columns.map(|columns| ("COLUMNS", columns)));
        finish(command).ends(0).stdout
    };
    for more in [&[][..], &["--quiet"]] {
        let screen = run(more, None);
        assert!(screen.contains("warning: "), "{screen}");
        // An interval has an ellipsis between its ends.
        assert!(screen.lines().all(|line| !line.ends_with('…')), "{screen}");
    }
    assert!(run(&["--quiet"], Some("60")).lines().any(|line| line.ends_with('…')));
}

#[test]
fn what_is_written_never_takes_the_place_of_what_is_read() {
    let room = Room::new();
    room.write("a.txt", "1\n2\n3\n4\n");
    room.write("b.txt", "2\n3\n4\n5\n");
    room.write("c.csv", "x\n1\n2\n");
    let refused: [&[&str]; 3] = [
        &["compare", "a.txt", "b.txt", "--report", "b.txt"],
        &["describe", "a.txt", "--report", "./a.txt"],
        &["compare", "c.csv", "--export", "c.csv"],
    ];
    for arguments in refused {
        room.run(arguments).ends(2).complains("which is read");
    }
    let twice = ["run", "--save", "r.assay", "--report", "r.assay", "true"];
    room.run(&twice).ends(2).complains("--save names the same file");
    assert_eq!(room.read("b.txt"), "2\n3\n4\n5\n");
}

#[test]
fn a_terminal_of_20_columns_is_filled_and_not_exceeded() {
    let room = Room::new();
    let mut run = room.assay(&["run", "--no-save", "-r", "6", "true", "sleep 0.02"]);
    run.env("COLUMNS", "20");
    let mut alone = room.assay(&["run", "--no-save", "-r", "2", "true"]);
    alone.env("COLUMNS", "20");
    for ended in [compared(&[], ("COLUMNS", "20")), finish(run).ends(0), finish(alone).ends(0)] {
        assert!(ended.stdout.lines().count() > 5);
        for line in ended.stdout.lines() {
            assert!(line.chars().count() <= 20, "{line:?} in\n{}", ended.stdout);
        }
    }
}

#[test]
fn any_width_that_a_terminal_may_claim_is_survived() {
    for columns in ["0", "1", "19", "21", "40", "59", "60", "1000", "99999999999999999999", "wide"]
    {
        compared(&[], ("COLUMNS", columns));
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let room = Room::new();
    let line = format!(
        "{{ \"$ASSAY\" compare {0} {0} --json; echo $? > status; }} | head -c 1",
        data("zlib_with.txt")
    );
    assert_eq!(finish(room.shell(&line)).ends(0).stdout, "{");
    assert_eq!(room.read("status"), "0\n");
    // The same holds for a reader that disconnected before anything was written.
    let file = data("zlib_with.txt");
    for arguments in
        [&["compare", &file, &file][..], &["run", "-r", "2", "true"], &["man"], &["--help"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = room.assay(arguments).stdout(writer).status().unwrap();
        assert_eq!(status.code(), Some(0), "{arguments:?}");
    }
    assert_eq!(room.kept().len(), 1, "the run is kept all the same");
    // A build that requested a verdict gets its exit status, even if the output is not read.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let gate = ["run", "-r", "6", "--fail-if", "slower", "true", "sleep 0.3"];
    assert_eq!(room.assay(&gate).stdout(writer).status().unwrap().code(), Some(1));
}

#[test]
fn closed_descriptors_are_no_error() {
    let room = Room::new();
    for line in [
        "\"$ASSAY\" run -r 2 --output inherit true >&-",
        "\"$ASSAY\" run -r 2 true 2>&-",
        "\"$ASSAY\" run -r 2 --save s.assay true <&- >&- 2>&-",
    ] {
        finish(room.shell(line)).ends(0);
    }
    // Files opened in their place must not be written to.
    assert_eq!(room.records("s.assay", "obs").len(), 2);
    room.run(&["compare", "s.assay"]).ends(0);
}

#[test]
fn nothing_but_the_result_is_on_standard_output() {
    let room = Room::new();
    let ended = room.run(&["run", "-r", "2", "true", "--json"]).ends(0);
    ended.json();
    assert_eq!(ended.stderr, "", "without a terminal there is no progress");
}

#[test]
fn quiet_says_nothing_on_standard_error_but_errors() {
    let room = Room::new();
    // A budget that is too small is reported without it.
    let arguments = ["run", "--no-save", "--time", "20ms", "sleep 0.01", "sleep 0.011"];
    assert_ne!(room.run(&arguments).ends(0).stderr, "");
    assert_eq!(room.run(&[&arguments[..], &["--quiet"]].concat()).ends(0).stderr, "");
    assert_ne!(room.run(&["run", "--quiet", "false"]).ends(4).stderr, "");
}

#[test]
fn colours_are_for_terminals_or_on_demand() {
    let is_coloured = |ended: &Ended| ended.stdout.contains('\x1b');
    assert!(!is_coloured(&compared(&[], ("TERM", "xterm"))));
    assert!(is_coloured(&compared(&["--color", "always"], ("TERM", "xterm"))));
    assert!(is_coloured(&compared(&["--color", "always"], ("NO_COLOR", "1"))), "asked is asked");
    assert!(!is_coloured(&compared(&["--color", "never"], ("CLICOLOR_FORCE", "1"))));
    assert!(!is_coloured(&compared(&[], ("NO_COLOR", "1"))));
    // Colors carry no information that the text does not contain.
    let mut plain = compared(&["--color", "always"], ("TERM", "xterm")).stdout;
    while let Some(begin) = plain.find('\x1b') {
        let length = plain[begin..].find('m').unwrap();
        plain.replace_range(begin..=begin + length, "");
    }
    assert_eq!(plain, compared(&[], ("TERM", "xterm")).stdout);
}

/// Runs a line with a terminal on all descriptors, using `script` if available.
fn on_a_terminal(room: &Room, line: &str) -> Option<String> {
    let probe = finish(room.shell("script -qec true /dev/null"));
    if probe.status != 0 {
        return None;
    }
    let mut command = room.shell(&format!("script -qec '{line}' /dev/null"));
    command.env("TERM", "xterm");
    Some(start(command).finish().ends(0).stdout)
}

#[test]
fn a_terminal_gets_colours_unless_they_are_refused() {
    let room = Room::new();
    let file = data("zlib_with.txt");
    let line = format!("\"$ASSAY\" compare {file} {file}");
    let Some(screen) = on_a_terminal(&room, &line) else { return };
    assert!(screen.contains('\x1b'), "{screen:?}");
    let refused = on_a_terminal(&room, &format!("NO_COLOR=1 {line}")).unwrap();
    assert!(!refused.contains('\x1b'), "{refused:?}");
}

#[test]
fn progress_is_drawn_on_a_terminal_and_taken_away_again() {
    let room = Room::new();
    let line = "\"$ASSAY\" run --no-save -r 8 \"sleep 0.1\"";
    let Some(screen) = on_a_terminal(&room, line) else { return };
    assert!(screen.contains("machine:") && screen.contains("block"), "{screen:?}");
    let quiet = on_a_terminal(&room, &format!("{line} --quiet")).unwrap();
    assert!(!quiet.contains("machine:") && !quiet.contains('▕'), "{quiet:?}");
}

#[test]
fn completions_know_every_verb_and_its_options() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = room.run(&["completions", shell]).ends(0).stdout;
        for word in VERBS.iter().chain(&["fail-if", "prepare", "threshold"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
        // In zsh that would take the whole rest of the line, including options.
        assert!(!script.contains("\n'*::"), "{shell}");
    }
    room.run(&["completions", "tcl"]).ends(2).complains("bash");
    // The script for bash must be valid bash.
    let line = "command -v bash > /dev/null || exit 0; \"$ASSAY\" completions bash > c; bash -n c";
    assert_eq!(finish(room.shell(line)).ends(0).stderr, "");
}

#[test]
fn there_is_a_man_page_for_every_verb() {
    let room = Room::new();
    let page = room.run(&["man"]).ends(0).stdout;
    assert!(page.contains(".TH assay 1"), "{page}");
    room.run(&["man", "--out", "pages"]).ends(0);
    assert!(!room.read("pages/assay.1").is_empty());
    for verb in VERBS {
        assert!(page.contains(verb), "{verb}");
        let own = room.read(&format!("pages/assay-{verb}.1"));
        assert!(own.contains(".SH OPTIONS"), "{verb}: {own}");
        assert!(own.contains(&format!(".SH SYNOPSIS\nassay {verb} ")), "{verb}: {own}");
    }
    // The page contains the options that `-h` leaves out, with their texts.
    assert!(room.read("pages/assay-run.1").contains("Confidence level of the verdict"));
}

#[test]
fn the_short_help_has_what_most_people_need_and_the_long_one_all() {
    let room = Room::new();
    let short = room.run(&["run", "-h"]).ends(0).stdout;
    assert!(short.contains("--threshold") && !short.contains("--drop-caches"), "{short}");
    assert!(room.run(&["run", "--help"]).ends(0).stdout.contains("--drop-caches"));
}

#[test]
fn a_word_of_a_screen_is_explained_and_a_finding_by_its_code() {
    let room = Room::new();
    assert!(room.run(&["help", "effective", "n"]).ends(0).stdout.starts_with("Effective n\n\n"));
    assert!(room.run(&["help", "TOO_DEPENDENT"]).ends(0).stdout.contains("What to do"));
    assert!(room.run(&["help", "words"]).ends(0).stdout.contains("\nDrift\n"));
    room.run(&["help", "colour"]).ends(2).complains("assay help words");
    room.run(&["help", "test"]).ends(2).complains("Dip test, Ljung-Box test");
    // The name of a verb shows the verb's help.
    assert!(room.run(&["help", "compare"]).ends(0).stdout.contains("Usage: assay compare"));
}

#[test]
fn after_the_answer_there_are_five_lines_at_most_and_all_of_them_for_who_asks() {
    let room = Room::new();
    // Drifting, dependent, in steps: there is much to report.
    let column = |by: f64| -> String {
        let value = |i: u32| 1000.0 + by * f64::from(i) + f64::from(i * i % 7);
        (0..60).map(|i| format!("{}\n", value(i).floor())).collect()
    };
    room.write("a.txt", &column(0.5));
    room.write("b.txt", &column(0.9));
    let compared = |more: &[&str]| {
        let all = [&["compare", "a.txt", "b.txt", "--unit", "ms"], more].concat();
        room.run(&all).ends(0).stdout
    };
    let after =
        |screen: &str| screen.lines().skip_while(|line| !line.starts_with("b  ")).skip(1).count();
    let (usual, all, few) = (compared(&[]), compared(&["--verbose"]), compared(&["--quiet"]));
    assert!(after(&usual) <= 5 && usual.contains("--verbose"), "{usual}");
    assert!(after(&all) > 5 && !all.contains("--verbose"), "{all}");
    let warnings = |screen: &str| screen.matches("warning: ").count();
    assert!(after(&few) == warnings(&few) && warnings(&few) == warnings(&all), "{few}\n{all}");
}

#[test]
fn names_are_whole_off_a_terminal_and_shortened_by_what_they_share_where_there_are_columns() {
    let room = Room::new();
    let benchmark = |side: &str| {
        let names = ["copy_large", "move_large"];
        let line = |name| {
            format!("BenchmarkOfSomething/with=a_parameter/and_another/of={name} 1 5{side} ns/op\n")
        };
        names.map(line).concat().repeat(6)
    };
    room.write("old.txt", &benchmark("1"));
    room.write("new.txt", &benchmark("2"));
    let mut off = room.assay(&["compare", "old.txt", "new.txt"]);
    off.env_remove("COLUMNS");
    let whole = finish(off).ends(0).stdout;
    assert!(whole.contains("\nBenchmarkOfSomething/with=a_parameter/and_another/of=move_large "));
    let mut narrow = room.assay(&["compare", "old.txt", "new.txt"]);
    narrow.env("COLUMNS", "80");
    let short = finish(narrow).ends(0).stdout;
    assert!(short.contains("\n…move_large "), "{short}");
    assert!(short.contains("BenchmarkOfSomething/with=a_parameter/and_another/of="), "{short}");
    let benchstat = room.run(&["compare", "old.txt", "new.txt", "--format", "benchstat"]).ends(0);
    assert!(benchstat.stdout.contains("vs base"), "{}", benchstat.stdout);
}

#[test]
fn benchstats_layout_has_a_table_for_each_comparison_of_plain_files() {
    let room = Room::new();
    for (name, values) in [
        ("a.txt", "10.1\n10.2\n10.3\n10.0\n10.2\n"),
        ("b.txt", "20.1\n20.4\n20.2\n20.0\n20.3\n"),
        ("c.txt", "5.1\n5.2\n5.0\n5.3\n5.2\n"),
    ] {
        room.write(name, values);
    }
    let shown = room.run(&["compare", "a.txt", "b.txt", "c.txt", "--format", "benchstat"]).ends(0);
    let tables: Vec<&str> = shown.stdout.split("\n\n").collect();
    assert_eq!(tables.len(), 2, "{}", shown.stdout);
    for (table, (name, change)) in tables.iter().zip([(" b", "+99.01%"), (" c", "-49")]) {
        assert!(table.contains(" a ") && table.contains(name), "{table}");
        assert!(table.contains(change) && table.contains("n=5"), "{table}");
    }
}
