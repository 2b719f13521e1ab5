//! Parses numbers in text.
//!
//! Programs that write for other programs use a decimal point and do not group digits ([`plain`]).
//! Some follow their user's locale, whose decimal mark may be a comma, either without groups
//! ([`ungrouped`]) or with them. If digits may be grouped, `1,234` is a different number in
//! different countries. The numbers of such a file are therefore read by [`Marks`], which infers
//! the meaning of the marks from all of them together.

use std::cell::{Cell, RefCell};

/// Parses a number in the form that programs write for other programs: digits with an optional
/// decimal point and exponent, or `nan` or `inf`.
pub(crate) fn plain(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// Like [`plain`], for finite numbers only.
pub(crate) fn finite(text: &str) -> Option<f64> {
    plain(text).filter(|value| value.is_finite())
}

/// Parses a number from a program that never groups digits, so that a comma is the decimal mark of
/// the user's locale.
pub(crate) fn ungrouped(text: &str) -> Option<f64> {
    match text.split_once(',') {
        Some((whole, fraction)) if is_digits(fraction) && !whole.contains('.') => {
            plain(&format!("{whole}.{fraction}"))
        }
        Some(_) => None,
        None => plain(text),
    }
}

/// Returns true if the text is a number in any style.
pub(crate) fn is_number(text: &str) -> bool {
    plain(text).is_some() || Style::BOTH.iter().any(|style| style.read(text).is_some())
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Characters between groups of digits in any style. A number contains at most one kind of them.
const SPACES: [char; 6] = [' ', '\'', '\u{2019}', '\u{a0}', '\u{2009}', '\u{202f}'];

/// Meaning of point and comma.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Style {
    /// `1,234.5`
    #[default]
    Point,
    /// `1.234,5`
    Comma,
}

impl Style {
    const BOTH: [Self; 2] = [Self::Point, Self::Comma];

    /// Returns the decimal mark and the group mark.
    fn marks(self) -> (char, char) {
        match self {
            Self::Point => ('.', ','),
            Self::Comma => (',', '.'),
        }
    }

    /// Parses a finite number in this style. A group has three digits. The digits before the first
    /// separator must number one to three and not begin with a zero.
    fn read(self, text: &str) -> Option<f64> {
        let (decimal, group) = self.marks();
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let sign = if text.starts_with('-') { "-" } else { "" };
        let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => unsigned.split_at(at),
            None => (unsigned, ""),
        };
        let (whole, fraction) = match mantissa.split_once(decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (mantissa, None),
        };
        if fraction.is_some_and(|fraction| !fraction.is_empty() && !is_digits(fraction)) {
            return None;
        }
        let between = whole.chars().find(|c| !c.is_ascii_digit());
        let digits = match between {
            None => whole.to_owned(),
            Some(mark) if exponent.is_empty() && (mark == group || SPACES.contains(&mark)) => {
                let groups: Vec<&str> = whole.split(mark).collect();
                let (first, rest) = groups.split_first()?;
                let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
                let is_group = |group: &&str| group.len() == 3 && is_digits(group);
                if !begins || !is_digits(first) || !rest.iter().all(is_group) {
                    return None;
                }
                groups.concat()
            }
            Some(_) => return None,
        };
        if digits.is_empty() && fraction.is_none_or(str::is_empty) {
            return None;
        }
        finite(&format!("{sign}{digits}.{}{exponent}", fraction.unwrap_or_default()))
    }
}

/// Infers the meaning of the marks in a file's numbers from the numbers read so far.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    style: Style,
    /// The tool that wrote the file, if it always writes the same marks, regardless of the user's
    /// locale.
    fixed: Cell<Option<&'static str>>,
    only_point: RefCell<Option<String>>,
    only_comma: RefCell<Option<String>>,
    either: RefCell<Option<String>>,
}

/// Conclusion from all numbers of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conclusion {
    /// The numbers were read correctly.
    Right,
    /// The numbers must be read again, with decimal commas.
    DecimalCommas,
    /// A number cannot be read with certainty. Contains its text and the reason.
    Unclear(String, String),
}

impl Marks {
    /// Returns marks with a known style.
    pub(crate) fn of(style: Style) -> Self {
        Self { style, ..Self::default() }
    }

    /// Records that `tool` always writes `1,234.5`, which settles ambiguous numbers.
    pub(crate) fn fixed_by(&self, tool: &'static str) {
        self.fixed.set(Some(tool));
    }

    /// Records `text` as evidence if it is a number. For texts whose value is not needed.
    pub(crate) fn see(&self, text: &str) {
        self.read(text);
    }

    /// Parses a finite number in the assumed style, or in the other style if that fails. In the
    /// latter case, [`conclusion`](Self::conclusion) reports whether the file must be read again or
    /// refused.
    pub(crate) fn read(&self, text: &str) -> Option<f64> {
        let has_mark = |c: char| c == '.' || c == ',';
        if !text.contains(has_mark) && !text.contains(SPACES) {
            return finite(text);
        }
        let (point, comma) = (Style::Point.read(text), Style::Comma.read(text));
        match (point, comma) {
            (Some(_), None) => note(&self.only_point, text),
            (None, Some(_)) => note(&self.only_comma, text),
            (Some(one), Some(other)) if one != other && text.contains(',') => {
                note(&self.either, text);
            }
            _ => {}
        }
        match self.style {
            Style::Point => point.or(comma),
            Style::Comma => comma.or(point),
        }
    }

    /// Returns the conclusion from the numbers read so far.
    pub(crate) fn conclusion(&self) -> Conclusion {
        let text = |of: &RefCell<Option<String>>| of.borrow().clone();
        let unclear = |text: String, problem: String| Conclusion::Unclear(text, problem);
        let (point, comma) = (text(&self.only_point), text(&self.only_comma));
        match (point, comma, text(&self.either), self.fixed.get()) {
            (_, Some(comma), _, Some(tool)) => {
                let problem = format!(
                    "`{comma}` is not a number as {tool} writes it, with commas between groups of three digits and a decimal point"
                );
                unclear(comma, problem)
            }
            (Some(point), Some(comma), _, None) => {
                let problem = format!(
                    "`{comma}` has a decimal comma, but `{point}` in the same file has a decimal point; write all numbers with a point"
                );
                unclear(comma, problem)
            }
            (None, Some(_), _, None) if self.style == Style::Point => Conclusion::DecimalCommas,
            (None, None, Some(either), None) if self.style == Style::Point => {
                let problem = format!(
                    "`{either}` may be `{}` or `{}`, and no other number in the file shows which; write it with a decimal point and without groups",
                    either.replace(',', ""),
                    either.replace(',', "."),
                );
                unclear(either, problem)
            }
            _ => Conclusion::Right,
        }
    }
}

fn note(of: &RefCell<Option<String>>, text: &str) {
    let mut known = of.borrow_mut();
    if known.is_none() {
        *known = Some(text.to_owned());
    }
}

/// Returns true if the line contains `text` as a whole number, not as part of a longer one.
pub(crate) fn stands_in(line: &str, text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_digit() || c == '.' || c == ',';
    line.match_indices(text).any(|(at, found)| {
        let before = line[..at].chars().next_back();
        let after = line[at + found.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn groups_are_of_three_and_begin_with_no_zero() {
        for (text, point, comma) in [
            ("24,000.57", Some(24000.57), None),
            ("24.000,57", None, Some(24000.57)),
            ("-1,234,567", Some(-1_234_567.0), None),
            ("1.234.567", None, Some(1_234_567.0)),
            ("1,234", Some(1234.0), Some(1.234)),
            ("1.234", Some(1.234), Some(1234.0)),
            ("0,123", None, Some(0.123)),
            ("0.123", Some(0.123), None),
            ("12,5", None, Some(12.5)),
            ("1234,567", None, Some(1234.567)),
            ("1,23,456", None, None),
            ("1,234.5x", None, None),
            ("19 260,6", None, Some(19260.6)),
            ("19\u{202f}260,6", None, Some(19260.6)),
            ("19'260.6", Some(19260.6), None),
            ("1 234", Some(1234.0), Some(1234.0)),
            ("1 23", None, None),
            ("1,5e-3", None, Some(1.5e-3)),
            ("1.2.3", None, None),
            (",", None, None),
            ("", None, None),
            ("1,234,", None, None),
        ] {
            assert_eq!(
                (Style::Point.read(text), Style::Comma.read(text)),
                (point, comma),
                "{text}"
            );
        }
    }

    fn conclusion(texts: &[&str]) -> Conclusion {
        let marks = Marks::default();
        texts.iter().for_each(|text| marks.see(text));
        marks.conclusion()
    }

    #[test]
    fn all_numbers_of_a_file_decide_together() {
        assert_eq!(conclusion(&["1", "1.234", "12.5"]), Conclusion::Right);
        assert_eq!(conclusion(&["1.234"]), Conclusion::Right);
        assert_eq!(conclusion(&["1,234", "0.5"]), Conclusion::Right);
        assert_eq!(conclusion(&["1,234", "0,5"]), Conclusion::DecimalCommas);
        assert_eq!(conclusion(&["1.234.567"]), Conclusion::DecimalCommas);
        assert!(
            matches!(conclusion(&["1", "1,234"]), Conclusion::Unclear(text, _) if text == "1,234")
        );
        assert!(
            matches!(conclusion(&["12,5", "12.5"]), Conclusion::Unclear(text, _) if text == "12,5")
        );
        let marks = Marks::default();
        marks.fixed_by("libtest");
        assert_eq!((marks.read("1,234"), marks.conclusion()), (Some(1234.0), Conclusion::Right));
        marks.see("148,70");
        assert!(matches!(marks.conclusion(), Conclusion::Unclear(text, _) if text == "148,70"));
        let commas = Marks::of(Style::Comma);
        assert_eq!((commas.read("1.234"), commas.read("0,5")), (Some(1234.0), Some(0.5)));
        assert_eq!(commas.conclusion(), Conclusion::Right);
    }

    #[test]
    fn a_comma_of_a_program_that_never_groups_is_the_decimal_mark() {
        for (text, value) in
            [("0,51", Some(0.51)), ("1,234", Some(1.234)), ("12", Some(12.0)), ("0.5", Some(0.5))]
        {
            assert_eq!(ungrouped(text), value, "{text}");
        }
        for text in ["1.234,5", "1,234,5", ",", "1,", "x,5"] {
            assert_eq!(ungrouped(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_is_found_where_it_stands_alone() {
        assert!(stands_in("time=\"1,234\"", "1,234"));
        assert!(stands_in("took 1,234, then more", "1,234"));
        assert!(!stands_in("21,2345", "1,234"));
    }

    fn grouped(mut value: u64, fraction: &str, marks: (char, char)) -> String {
        let mut groups = Vec::new();
        while value >= 1000 {
            groups.push(format!("{:03}", value % 1000));
            value /= 1000;
        }
        groups.push(value.to_string());
        groups.reverse();
        let whole = groups.join(&marks.1.to_string());
        if fraction.is_empty() { whole } else { format!("{whole}{}{fraction}", marks.0) }
    }

    proptest! {
        #[test]
        fn what_a_style_writes_it_reads(
            value in 0_u64..1_000_000_000_000,
            fraction in "([0-9]{1,6})?",
        ) {
            let truth = plain(&format!("{value}.{fraction}"));
            for style in Style::BOTH {
                prop_assert_eq!(style.read(&grouped(value, &fraction, style.marks())), truth);
            }
        }

        #[test]
        fn nothing_is_read_otherwise_in_silence(value in 0_u64..10_000_000, fraction in "([0-9]{1,4})?") {
            let truth = plain(&format!("{value}.{fraction}"));
            for style in Style::BOTH {
                let text = grouped(value, &fraction, style.marks());
                let marks = Marks::default();
                let read = marks.read(&text);
                let is_refused = matches!(marks.conclusion(), Conclusion::Unclear(..));
                let again = Marks::of(Style::Comma).read(&text);
                let read = if marks.conclusion() == Conclusion::DecimalCommas { again } else { read };
                // A single point is a decimal point, as programs write it.
                let is_plain = text.matches('.').count() == 1 && !text.contains(',');
                prop_assert!(read == truth || is_refused || is_plain, "{text}: {read:?}");
            }
        }

        #[test]
        fn no_text_makes_it_fall_over(text in "\\PC{0,40}") {
            Marks::default().see(&text);
            ungrouped(&text);
        }
    }
}
