//! Ruby's `Benchmark`, benchmark.js, and the totals of valgrind's tools.

use super::{load_file, metrics, names, plain, refused, summary, text, values};
use assay_data::Better;

#[test]
fn ruby_has_observations_without_the_rehearsal() {
    let samples = load_file("ruby-benchmark/sorting.txt");
    assert_eq!(names(&samples), ["sort!", "sort by", "row 1", "max x", "row 2"]);
    assert_eq!(metrics(&samples), ["wall [s]", "cpu [s]", "user [s]", "system [s]"]);
    assert_eq!(values(&samples, "sort!", "wall"), [0.003_282]);
    assert_eq!(values(&samples, "sort by", "cpu"), [0.0131]);
    let twice = plain(text("ruby-benchmark/sorting.txt").repeat(2)).expect("two runs");
    assert_eq!(values(&twice, "sort by", "system"), [0.003_771; 2]);
    let damaged =
        text("ruby-benchmark/sorting.txt").replace("  0.003269   0.0", "  O.003269   0.0");
    assert!(refused(damaged).contains("is no row; expected a label"));
}

#[test]
fn benchmark_js_has_rates_with_thousands_separated() {
    let samples = load_file("benchmark-js/suite.txt");
    assert_eq!(names(&samples), ["fib#recursive", "concat and split"]);
    assert_eq!(samples.metrics[0].better, Better::Higher);
    let told = summary(&samples, "fib#recursive", "rate");
    assert_eq!((told.mean, told.count, told.sd), (Some(143_049.0), Some(82), None));
    let twice = plain(text("benchmark-js/suite.txt").repeat(2)).expect("two runs");
    assert_eq!(values(&twice, "concat and split", "rate"), [6_648_351.0; 2]);
    let whole = text("benchmark-js/suite.txt");
    let wrong = refused(whole.clone() + "a x NaN ops/sec ±1% (3 runs sampled)\n");
    assert!(wrong.starts_with("x.txt:4: `a x NaN"), "{wrong}");
}

#[test]
fn valgrind_has_exact_totals_of_the_program() {
    let file = load_file("valgrind/cachegrind.out");
    assert_eq!(names(&file), ["./w"]);
    assert_eq!(metrics(&file)[..3], ["Ir [1]", "I1mr [1]", "ILmr [1]"]);
    assert!(file.metrics.iter().all(|metric| metric.exact));
    for (name, instructions) in [
        ("cachegrind.out", 926_995.0),
        ("cachegrind.txt", 926_995.0),
        ("callgrind.out", 925_873.0),
        ("callgrind.txt", 925_873.0),
    ] {
        let samples = load_file(&format!("valgrind/{name}"));
        assert_eq!(values(&samples, "./w", "Ir"), [instructions], "{name}");
        let twice = plain(text(&format!("valgrind/{name}")).repeat(2)).expect(name);
        assert_eq!(values(&twice, "./w", "Ir"), [instructions; 2], "{name}");
    }
    let wrong = refused(text("valgrind/callgrind.out").replace("totals: 925873", "totals: x"));
    assert!(wrong.contains("expected a count for every event"), "{wrong}");
}
