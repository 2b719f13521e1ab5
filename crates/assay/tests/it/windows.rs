//! Every kind of page of `--report` and `profile -o`, in windows of 360 to 1280 pixels, light and
//! dark: nothing is wider than the window, no text is cut off, and all text has contrast.

use crate::browser::{browsed, chromium, in_windows};
use crate::room::Room;
use std::fmt::Write;

/// Returns the output of two Go benchmarks with four metrics.
fn go(factor: f64) -> String {
    let mut text = String::new();
    for run in 0..12 {
        for (name, time) in
            [("CopyElementOfAVeryLongListOfElements/params=32", 6000.0), ("Empty", 2.0)]
        {
            let time = time * factor * (1.0 + f64::from(run * 5 % 7) / 100.0);
            writeln!(
                text,
                "Benchmark{name}-2 1000 {time} ns/op {} MB/s 5408 B/op 65 allocs/op",
                1e5 / time
            )
            .unwrap();
        }
    }
    text
}

/// Output of a test suite: a long name, a failed test and a skipped one.
const TAP: &str = "TAP version 13
1..3
ok 1 - stock_is_counted_again_after_everything_was_sold_and_returned # time=12.5ms
not ok 2 - prices_are_asked_once # time=3ms
ok 3 - orders # SKIP no database
";

/// Returns a report of a test suite: a long name, a failed test and a skipped one.
fn junit(time: f64) -> String {
    let name = "test_stock_is_counted_again_after_everything_was_sold_and_returned";
    format!(
        "<testsuite name=\"s\"><testcase classname=\"CartTest\" name=\"{name}\" time=\"{time}\"/>\
         <testcase classname=\"CartTest\" name=\"test_b\" time=\"0.5\"><failure message=\"expected 1, got 2\"/></testcase>\
         <testcase classname=\"CartTest\" name=\"test_c\" time=\"0\"><skipped/></testcase></testsuite>"
    )
}

/// Returns the commands that write the pages, each with the name of its page.
fn commands() -> Vec<(&'static str, &'static str)> {
    vec![
        ("two", "compare --unit ms old.txt new.txt --report two.html"),
        ("all", "compare --all --unit ms old.txt new.txt --report all.html"),
        (
            "rigorous",
            "compare --rigorous --unit ms --threshold 2ms old.txt new.txt --report rigorous.html",
        ),
        ("series", "describe --unit ms old.txt --report series.html"),
        (
            "run",
            "run --runs 6 -n old -n new -n other true true true --report run.html --save r.assay",
        ),
        ("one", "run --runs 6 true --report one.html"),
        ("scan", "run --runs 6 -P n=1..3 -n a -n b \"true {n}\" \"true {n}\" --report scan.html"),
        ("repeat", "repeat --runs 6 r.assay --report repeat.html"),
        ("suite", "compare old.go new.go --report suite.html"),
        ("tests", "tests --framework tap --report tests.html -- cat tap"),
        ("suites", "compare run.xml later.xml --report suites.html"),
        ("profile", "profile a.collapsed -o profile.html"),
        ("difference", "profile a.collapsed b.collapsed -o difference.html"),
    ]
}

#[test]
fn no_page_is_wider_than_its_window_or_cuts_off_text() {
    let Some(browser) = chromium() else { return };
    let room = Room::new();
    let values = |factor: f64| -> String {
        (0..60).fold(String::new(), |text, i| {
            format!("{text}{}\n", factor * f64::from(40 + i * 7 % 11))
        })
    };
    room.write("old.txt", &values(1.0));
    room.write("new.txt", &values(0.9));
    room.write("old.go", &go(1.0));
    room.write("new.go", &go(0.8));
    room.write("run.xml", &junit(1.25).repeat(6));
    room.write("later.xml", &junit(1.5).repeat(6));
    room.write("tap", TAP);
    room.write("a.collapsed", "main;<load>;parse 60\nmain;draw;line 30\nmain;(marking) 10\n");
    room.write("b.collapsed", "main;<load>;parse 300\nmain;draw;line 600\nmain;(marking) 100\n");
    for (name, arguments) in commands() {
        let line = format!("$ASSAY {arguments}");
        crate::room::finish(room.shell(&line));
        let page = room.read(&format!("{name}.html"));
        assert!(!page.is_empty(), "{line} writes a page");
        let windows = in_windows(&room.path("."), &page);
        for scheme in
            ["--blink-settings=preferredColorScheme=0", "--blink-settings=preferredColorScheme=1"]
        {
            let options = ["--dump-dom", "--window-size=1400,900", scheme];
            let (dom, said) = browsed(&browser, &room.path("."), &options, &windows);
            for fault in
                ["data-overflow=\"0\"", "data-worst=\"\"", "data-cut=\"\"", "data-faint=\"\""]
            {
                let body = dom.split("<body").nth(1).and_then(|rest| rest.split('>').next());
                assert!(dom.contains(fault), "{name}, {scheme}: no {fault} in {body:?}; {said}");
            }
        }
    }
}
