//! The output of `cargo bench` and `time`.

use super::{load_file, metrics, names, plain, refused, summary, text, values};
use assay_data::Outcome;

#[test]
fn libtest_has_medians_with_thousands_separated() {
    let samples = load_file("libtest/bench.txt");
    assert_eq!(names(&samples), ["copying", "sorting::few", "sorting::many"]);
    assert_eq!(metrics(&samples), ["wall [s]", "B/s [B/s]"]);
    assert_eq!(summary(&samples, "sorting::many", "wall").median, Some(0.000_207_425_39));
    assert_eq!(summary(&samples, "copying", "B/s").median, Some(67_147e6));
    assert!(samples.is_empty());
}

#[test]
fn several_runs_in_one_file_are_observations() {
    let twice = text("libtest/bench.txt").repeat(3);
    let samples = plain(twice).expect("three runs");
    assert_eq!(values(&samples, "sorting::few", "wall"), [3.332e-8; 3]);
    let both = text("criterion-text/first.txt") + &text("criterion-text/changed.txt");
    let samples = plain(both).expect("two runs");
    assert_eq!(values(&samples, "sorted few", "wall"), [4.764e-8, 4.2147e-8]);
}

#[test]
fn libtest_takes_any_unit_and_refuses_what_is_no_result() {
    let samples = plain("test a ... bench:        2835 cycles/iter (+/- 14)\n").expect("cycles");
    assert_eq!(metrics(&samples), ["cycles [cycles]"]);
    for wrong in
        ["2835 ns (+/- 1)", "fast ns/iter (+/- 1)", "NaN ns/iter (+/- 1)", "-5 ns/iter (+/- 1)"]
    {
        let error = refused(format!("\ntest a ... bench: {wrong}\n"));
        assert!(error.starts_with("x.txt:2: `"), "{error}");
    }
    assert!(refused("test a ... bench: 2,835 ns/it").starts_with("x.txt:1: the file breaks off"));
}

#[test]
fn names_in_criterions_text_may_contain_its_heading() {
    for name in ["datetime::parse", "uptime: cold", "time: [1]", "a time:b"] {
        let text =
            format!("{name}  time:   [10.1 ns 10.2 ns 10.3 ns]\nsort  time:   [1 ns 2 ns 3 ns]\n");
        let samples = plain(text).expect("two results");
        assert_eq!(names(&samples), [name, "sort"]);
        assert_eq!(summary(&samples, name, "wall").mean, Some(10.2 / 1e9));
    }
}

#[test]
fn criterion_prints_an_estimate_below_or_beside_the_name() {
    for file in ["criterion-text/first.txt", "criterion-text/changed.txt"] {
        let samples = load_file(file);
        let long = "sizes/a rather long name of a function";
        assert_eq!(
            names(&samples),
            ["sorted few".to_owned(), format!("{long}/100"), format!("{long}/10000")]
        );
        assert_eq!(metrics(&samples), ["wall [s]"]);
    }
    let first = load_file("criterion-text/first.txt");
    assert_eq!(summary(&first, "sorted few", "wall").mean, Some(4.764e-8));
    let large = summary(&first, "sizes/a rather long name of a function/10000", "wall");
    assert_eq!(large.mean, Some(203.65 / 1e6));
    let cut = refused(
        "a                  time:   [1.1 ns 1.2 ns\nb                time:   [1.1 ns 1.2 ns 1.3 ns]\n",
    );
    assert!(cut.starts_with("x.txt:1: `a"), "{cut}");
}

#[test]
fn every_report_of_time_is_an_observation() {
    let gnu = load_file("time/gnu.txt");
    assert_eq!(names(&gnu), ["python3 w.py"]);
    assert_eq!(values(&gnu, "python3 w.py", "wall")[..2], [0.34, 0.24]);
    assert_eq!(values(&gnu, "python3 w.py", "max_rss")[0], 13412.0 * 1024.0);
    assert_eq!(gnu.metrics[0].name, "wall");
    let bash = load_file("time/bash.txt");
    assert_eq!(values(&bash, "bash", "wall"), [0.204, 0.199, 0.230]);
    assert_eq!(values(&bash, "bash", "system"), [0.034, 0.037, 0.027]);
    let portable = load_file("time/portable.txt");
    assert_eq!(values(&portable, "portable", "wall"), [0.14, 0.15, 0.13, 0.19]);
}

#[test]
fn every_shell_and_gnus_default_form_are_read() {
    for (shell, wall) in [
        ("ksh", [0.17, 0.15]),
        ("mksh", [0.16, 0.16]),
        ("busybox", [0.18, 0.17]),
        ("tcsh", [0.18, 0.18]),
        ("fish", [0.190_17, 0.153_54]),
    ] {
        let samples = load_file(&format!("time/{shell}.txt"));
        assert_eq!(metrics(&samples), ["wall [s]", "user [s]", "system [s]"], "{shell}");
        for (value, wall) in values(&samples, shell, "wall").iter().zip(wall) {
            assert!((value - wall).abs() < 1e-9, "{shell}: {value}");
        }
        assert_eq!(samples.len(), 2, "{shell}");
    }
    let zsh = load_file("time/zsh.txt");
    assert_eq!(names(&zsh), ["sh p.sh", "( sh p.sh; true; )"]);
    assert_eq!(values(&zsh, "sh p.sh", "wall"), [0.213, 0.184]);
    assert_eq!(values(&zsh, "sh p.sh", "system"), [0.08, 0.08]);

    let gnu = load_file("time/gnu-short.txt");
    assert_eq!(metrics(&gnu), ["wall [s]", "user [s]", "system [s]", "max_rss [B]"]);
    let outcomes: Vec<Outcome> = gnu.observations().map(|run| run.outcome).collect();
    let (fine, failed) = (Outcome::Ok, Outcome::Exit(3));
    assert_eq!(outcomes, [fine, failed, fine, failed, Outcome::Signal(9)]);
    let memory = gnu.observations().next().map(|run| run.values[3]);
    assert_eq!(memory, Some(42_852.0 * 1024.0));
}

#[test]
fn a_report_of_time_may_have_hours_a_decimal_comma_or_no_command() {
    for (text, wall) in [
        ("real\t1m2,500s\nuser\t0m0,1s\nsys\t0m0,1s\n", 62.5),
        ("real\t61m 2.50s\nuser\t0m 0.10s\nsys\t0m 0.10s\n", 3662.5),
        ("0.10user 0.00system 1:02:03elapsed 0%CPU (0avgtext+0avgdata 1maxresident)k\n", 3723.0),
        ("1.0u 0.0s 1:02:03.5 0.0%\n", 3723.5),
        ("./a b  1.00s user 0.00s system 99% cpu 1:02.50 total\n", 62.5),
        ("0.00s user 0.00s system 99% cpu 1:00:02.50 total\n", 3602.5),
        ("        0.10 real         0.00 user         0.00 sys\n", 0.1),
        (
            "Executed in    2.04 mins    fish           external\n   usr time    1.00 secs    1.00 micros    1.00 secs\n   sys time    0.00 nanos    0.00 nanos    0.00 nanos\n",
            122.4,
        ),
    ] {
        let samples = plain(text).expect(text);
        let found = samples.observations().next().map(|run| run.values[0]);
        assert!((found.unwrap() - wall).abs() < 1e-9, "{text}: {found:?}");
    }
    for broken in [
        "0.10user 0.00system x:02elapsed 0%CPU\n",
        "1.0u 0.0s 1:02\n",
        "a total\n",
        "1% cpu  total\n",
        "x real 0.1 user 0.1 sys\n",
    ] {
        assert!(plain(broken).is_err(), "{broken}");
    }
}

#[test]
fn a_command_that_a_signal_ended_has_failed_although_its_status_is_0() {
    let report = |before: &str| before.to_owned() + &text("time/gnu.txt");
    let first = |text: &str| plain(text).expect("a report").observations().next().unwrap().outcome;
    for before in ["Command terminated by signal 11\n", "halfCommand terminated by signal 11\n"] {
        assert_eq!(first(&report(before)), Outcome::Signal(11));
        let twice = report(before) + &text("time/gnu.txt");
        let samples = plain(twice).expect("two reports");
        assert!(samples.observations().skip(1).all(|run| run.outcome == Outcome::Ok));
    }
}

#[test]
fn time_tells_failures_hours_and_what_breaks_off() {
    let text = text("time/gnu.txt")
        .replacen("Exit status: 0", "Exit status: 3", 1)
        .replacen("0:00.34", "1:02:03", 1);
    let samples = plain(text).expect("an hour");
    assert_eq!(samples.observations().next().map(|o| o.outcome), Some(Outcome::Exit(3)));
    assert_eq!(values(&samples, "python3 w.py", "wall").first(), Some(&3723.0));
    let error = refused("real 1.5\nuser 0.1\nsys 0.1\nreal 1.5\nuser x\n");
    assert!(error.starts_with("x.txt:5: `user x`"), "{error}");
    assert!(
        refused("real 1.5\nuser 0.1\nsys 0.1\nreal 1.5\n")
            .starts_with("x.txt:4: the file breaks off")
    );
}
