//! Collapsed stacks: one line per stack, with frames joined by `;`, a space and a count. Written by
//! stackcollapse-*.pl, py-spy (`raw`), rbspy (`collapsed`) and stackprof.
//!
//! py-spy writes `name (file:line)`, rbspy `name - file:line`: the place is removed from the name,
//! since samples are counted by name. For a thread that runs no Python code, py-spy writes a count
//! without a stack, and an empty stack in speedscope's format; both are skipped.
//!
//! Counts with decimals, which flamegraph.pl accepts, are amounts: the number of samples is then
//! unknown.

use super::Problem;
use crate::builder::Builder;
use crate::model::{Frame, Profile};
use std::collections::HashMap;

/// Returns true if the first non-empty line looks like a collapsed stack.
pub(super) fn is_it(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !is_skipped(line) && !is_of_no_stack(line));
    lines.next().is_some_and(|line| split(line).is_some())
}

pub(super) fn parse(text: &str) -> Result<Profile, Problem> {
    let mut builder = Builder::default();
    builder.profile.tool = Some("collapsed stacks".to_owned());
    if let Some(problem) = two_counts(text) {
        return Err(problem);
    }
    // Most lines of a long file repeat stacks that were read before.
    let mut met: HashMap<&str, usize> = HashMap::new();
    for (index, line) in text.lines().enumerate() {
        if is_skipped(line) || is_of_no_stack(line) {
            continue;
        }
        let Some((stack, count)) = split(line) else {
            return Err(Problem::at(
                index + 1,
                "this is no stack with a count behind it, as in `main;parse;read 12`",
            ));
        };
        let (samples, amount) = match count {
            Count::Samples(samples) => (samples, samples as f64),
            Count::Amount(amount) => (0, amount),
        };
        if let Some(&known) = met.get(stack) {
            builder.add_to(known, samples, amount);
            continue;
        }
        let names = stack.split(';').filter(|name| !name.is_empty());
        let frames = names.map(|name| builder.frame(frame(name))).collect();
        if let Some(added) = builder.add(frames, Vec::new(), samples, amount) {
            met.insert(stack, added);
        }
    }
    Ok(builder.build())
}

/// The number at the end of a stack's line.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Samples(u64),
    Amount(f64),
}

/// Returns the problem of a file in which every stack has two counts, as difffolded.pl writes it.
fn two_counts(text: &str) -> Option<Problem> {
    let mut stacks = text
        .lines()
        .filter(|line| !is_skipped(line))
        .filter_map(split)
        .map(|(stack, _)| stack)
        .peekable();
    let _some = stacks.peek()?;
    // A single function may have a name like `thread 1`, but not every function of a stack with
    // several.
    let has_two = |stack: &str| stack.contains(';') && split(stack).is_some();
    stacks.all(has_two).then(|| {
        Problem::new(
            "each stack has two counts, as of a comparison (difffolded.pl); give the two profiles that were compared",
        )
    })
}

fn is_skipped(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

/// Returns true for a line with a count but no stack.
fn is_of_no_stack(line: &str) -> bool {
    line.strip_prefix(' ').is_some_and(|count| count.trim_end().parse::<u64>().is_ok())
}

fn split(line: &str) -> Option<(&str, Count)> {
    let (stack, count) = line.trim_end().rsplit_once([' ', '\t'])?;
    let stack = stack.trim();
    // A whole number, possibly with `.0` if the tool uses weights.
    let count = match count.strip_suffix(".0").unwrap_or(count).parse() {
        Ok(samples) => Count::Samples(samples),
        Err(_) => Count::Amount(decimal(count)?),
    };
    (!stack.is_empty()).then_some((stack, count))
}

/// Parses an amount of plain digits with a point: a name may end in `inf` or `1e5`.
fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    is_plain.then(|| text.parse().ok()).flatten()
}

fn frame(text: &str) -> Frame {
    // rbspy writes this text if the file and line are unknown.
    let text = text.trim().trim_end_matches(" - (unknown)");
    let place = text
        .strip_suffix(')')
        .and_then(|rest| rest.rsplit_once(" ("))
        .or_else(|| text.rsplit_once(" - "));
    if let Some((name, place)) = place
        && let Some((file, line)) = place.rsplit_once(':')
        && let Ok(line) = line.parse()
        && !name.is_empty()
        && !file.is_empty()
    {
        return Frame {
            name: name.to_owned(),
            file: Some(file.to_owned()),
            line: Some(line).filter(|&line| line > 0),
        };
    }
    Frame::named(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_py_spy_and_rbspy_are_taken_off_names() {
        let python = frame("strings (w.py:3)");
        assert_eq!(
            (python.name.as_str(), python.file.as_deref(), python.line),
            ("strings", Some("w.py"), Some(3))
        );
        let ruby = frame("block in each - /usr/lib/a.rb:12");
        assert_eq!(
            (ruby.name.as_str(), ruby.file.as_deref()),
            ("block in each", Some("/usr/lib/a.rb"))
        );
        assert_eq!(frame("operator (int)").name, "operator (int)");
        assert_eq!(frame("a - b").name, "a - b");
    }

    #[test]
    fn counts_without_a_stack_are_left_out() {
        for text in ["a;b 3\n 68\nc 4\n", " 68\na;b 3\nc 4\n"] {
            assert!(is_it(text));
            let profile = parse(text).unwrap();
            assert_eq!((profile.samples(), profile.stacks.len()), (7, 2));
        }
        assert!(!is_it(" 68\n 70\n"));
    }

    #[test]
    fn a_stack_that_is_met_again_is_counted_again_however_it_is_written() {
        let text = "a;b 3\na;b 0\na;b 2.5\na; b  4\nc 1\na;b 7\n";
        let profile = parse(text).unwrap();
        let counts: Vec<_> = profile.stacks.iter().map(|s| (s.samples, s.amount)).collect();
        assert_eq!(counts, [(14, 16.5), (1, 1.0)]);
        // The first occurrence may have a count of zero, for which no stack is added.
        let profile = parse("a;b 0\nc 1\na;b 2\n").unwrap();
        assert_eq!((profile.stacks.len(), profile.samples()), (2, 3));
    }

    #[test]
    fn counts_with_decimals_are_amounts_and_two_counts_are_no_profile() {
        let profile = parse("main;a 10.5\nmain;b 3\n").unwrap();
        assert_eq!((profile.samples(), profile.amount()), (3, 13.5));
        assert!(!is_it("main;a nan\n") && !is_it("main;a -3\n"));
        let problem = parse("main;a 10 12\nmain;b 20 3\n").unwrap_err();
        assert!(problem.what.contains("difffolded"), "{problem:?}");
        assert_eq!(parse("thread 1 30\nthread 2 40\n").unwrap().samples(), 70);
    }

    #[test]
    fn a_line_that_is_no_stack_is_told_with_its_number() {
        let problem = parse("a;b 3\n\nwhat is this\n").unwrap_err();
        assert_eq!(problem.line, Some(3));
    }
}
