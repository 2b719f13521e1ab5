//! The text output of Catch2.

use super::{as_windows, load_file, names, plain, refused, summary, text};

#[test]
fn benchmarks_are_named_by_their_test_case_and_sections() {
    let samples = load_file("catch2/v2.txt");
    let long = "Sorting: a thousand numbers, with a name that is longer than the column";
    assert_eq!(names(&samples), ["Sorting: ten numbers", long, "Sorting: large: 100k"]);
    let told = summary(&samples, long, "wall");
    assert_eq!((told.count, told.mean, told.sd), (Some(20), Some(9.7243e-6), Some(2.3694e-6)));
    let last = summary(&samples, "Sorting: large: 100k", "wall");
    assert_eq!((last.mean, last.sd), (Some(5.943_75 / 1e3), Some(0.001_976_06)));
    let windows = plain(as_windows(&text("catch2/v2.txt"))).expect("the same");
    assert_eq!(windows.summaries, samples.summaries);
}

#[test]
fn what_breaks_off_is_an_error_with_its_line() {
    let whole = text("catch2/v2.txt");
    let cut = &whole[..whole.find("0.918619").expect("a deviation")];
    assert!(refused(cut).contains("the file breaks off within a benchmark"), "{}", refused(cut));
    let wrong = refused(whole.replace("40.9703 ns", "40.9703 xs"));
    assert!(wrong.starts_with("x.txt:17: `40.9703 xs"), "{wrong}");
    for end in (0..whole.len()).step_by(7) {
        let _may_be_refused = plain(&whole.as_bytes()[..end]);
    }
}
