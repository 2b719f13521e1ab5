//! divan's tables: allocations, threads, rates, arguments, modules.

use super::*;
use assay_data::Better;

#[test]
fn several_runs_in_one_file_are_observations() {
    let run = |median: &str| text("divan/stdout.txt").replace("7.291 ns", median);
    let once = load_file("divan/stdout.txt");
    let twice = plain(run("7.291 ns") + &run("8.5 ns")).expect("two runs");
    assert_eq!((names(&twice), metrics(&twice)), (names(&once), metrics(&once)));
    assert!(twice.summaries.is_empty());
    for summary in &once.summaries {
        let name = &once.subjects[summary.subject].name;
        let figure = summary.median.or(summary.mean).unwrap();
        let found = values(&twice, name, &summary.metric);
        assert_eq!((found.len(), found[0]), (2, figure), "{name} {}", summary.metric);
    }
}

#[test]
fn times_and_allocations_of_every_benchmark_are_summaries() {
    let samples = load_file("divan/stdout.txt");
    assert_eq!(samples.len(), 0);
    assert_eq!(
        names(&samples),
        [
            "div::copy_grow_::2",
            "div::copy_grow_::32",
            "div::copy_upfront_::2",
            "div::copy_upfront_::32",
            "div::empty",
            "div::empty_black_box"
        ]
    );
    assert_eq!(
        metrics(&samples),
        [
            "wall [s]",
            "item/s [1/s]",
            "max alloc count [1]",
            "max alloc bytes [B]",
            "alloc count [1]",
            "alloc bytes [B]",
            "grow count [1]",
            "grow bytes [B]"
        ]
    );
    assert_eq!(samples.metrics[1].better, Better::Higher);
    // Six benchmarks have times; four have rates and two kinds of allocations, by count and size;
    // two have growth, by both.
    assert_eq!(samples.summaries.len(), 6 + 4 * 5 + 2 * 2);
    let wall = summary(&samples, "div::copy_grow_::32", "wall");
    assert_eq!(wall.min, Some(1.243 / 1e6));
    assert_eq!(wall.max, Some(4.468 / 1e6));
    assert_eq!(wall.median, Some(1.468 / 1e6));
    assert_eq!(wall.mean, Some(1.624 / 1e6));
    assert_eq!((wall.count, wall.sd), (Some(100), None));
    let rate = summary(&samples, "div::copy_grow_::32", "item/s");
    assert_eq!((rate.max, rate.min, rate.mean), (Some(25.73e6), Some(7.161e6), None));
    let bytes = summary(&samples, "div::copy_grow_::32", "max alloc bytes");
    assert_eq!((bytes.mean, bytes.max, bytes.min), (Some(2.045 * 1e3), None, None));
    assert_eq!(parameters(&samples, "div::copy_grow_::32"), ["1=32"]);
    assert_eq!(samples.rows[1].label.as_deref(), Some("div::copy_grow_"));
    assert_eq!(samples.environment.number("divan.timer_precision_seconds"), Some(2e-8));
}

#[test]
fn threads_arguments_rates_and_modules_have_their_places() {
    let samples = load_file("divan/threads-and-counters.txt");
    assert_eq!(
        names(&samples),
        [
            "t::both::1::t=1",
            "t::both::1::t=2",
            "t::both::2::t=1",
            "t::both::2::t=2",
            "t::bytes::rather long text",
            "t::bytes::short",
            "t::threaded::t=1",
            "t::threaded::t=2",
            "t::inner::array::8",
            "t::inner::array::64",
            "t::inner::default::String",
            "t::inner::default::u8"
        ]
    );
    assert_eq!(parameters(&samples, "t::both::2::t=1"), ["1=2", "threads=1"]);
    assert_eq!(parameters(&samples, "t::threaded::t=2"), ["threads=2"]);
    assert_eq!(parameters(&samples, "t::inner::array::64"), ["1=64"]);
    assert_eq!(
        metrics(&samples),
        ["wall [s]", "B/s [B/s]", "char/s [1/s]", "cycles/s [1/s]", "item/s [1/s]"]
    );
    let bytes = summary(&samples, "t::bytes::rather long text", "B/s");
    assert_eq!((bytes.max, bytes.median), (Some(637.7e6), Some(544.6e6)));
    assert_eq!(summary(&samples, "t::bytes::short", "cycles/s").max, Some(255e6));
    assert_eq!(summary(&samples, "t::inner::array::8", "wall").max, Some(3.955 / 1e6));
    assert_eq!(summary(&samples, "t::inner::default::u8", "wall").count, Some(10));
}

#[test]
fn a_row_that_breaks_off_or_has_another_unit_is_named() {
    let whole = text("divan/stdout.txt");
    let said = refused(&whole[..whole.len() - 25]);
    assert!(said.starts_with("x.txt:") && said.contains("breaks off"), "{said}");
    let said = refused(whole.replace("92.32 ns", "92.32 xx"));
    assert!(said.starts_with("x.txt:4: `92.32 xx` under `fastest` is not a time"), "{said}");
}

#[test]
fn tables_of_several_targets_stand_in_one_output() {
    let between = "\n     Running benches/other.rs (target/release/deps/other-8193862e6fa331e2)\n";
    let other = text("divan/stdout.txt").replace("div    ", "other  ");
    let samples = plain(format!("{}{between}{other}", text("divan/stdout.txt")));
    let samples = samples.expect("two tables");
    assert_eq!(samples.subjects.len(), 12);
    assert_eq!(names(&samples)[11], "other::empty_black_box");
}
