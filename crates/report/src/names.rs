//! Names of subjects where width is limited: without control characters, shortened in the middle,
//! and still distinct.
//!
//! Names come from outside (command lines, file names) and may contain arbitrary characters.

use unicode_width::UnicodeWidthChar;

/// Returns distinct names of at most `limit` columns each (but at least 4).
pub(crate) fn fitted(names: &[String], limit: usize, ellipsis: &str) -> Vec<String> {
    let limit = limit.max(4);
    let clean: Vec<String> = names.iter().map(|name| clean(name)).collect();
    let beginning = beginning(&clean, limit);
    let short_of = |skip: usize| -> Vec<String> {
        let begun = |name: &String| match name.get(skip..) {
            Some(rest) if skip > 0 => format!("{ellipsis}{rest}"),
            _ => name.clone(),
        };
        clean.iter().map(|name| shorten(&begun(name), limit, ellipsis)).collect()
    };
    let short = short_of(beginning.len());
    if all_differ(&short) {
        return short;
    }
    // Otherwise also cut within a word, shortly before the first difference.
    let shared = common_prefix(&clean).saturating_sub(2);
    let skip = clean.first().and_then(|name| name.char_indices().nth(shared));
    let ends = short_of(skip.map_or(0, |(at, _)| at));
    if all_differ(&ends) {
        return ends;
    }
    let numbered = |(index, name): (usize, &String)| {
        let number = format!("#{}", index + 1);
        let room = limit.saturating_sub(number.len() + 1);
        if room < 4 { number } else { format!("{number} {}", shorten(name, room, ellipsis)) }
    };
    short.iter().enumerate().map(numbered).collect()
}

/// Returns the common prefix of all names, up to a word boundary, if some are wider than `limit`.
/// It carries no information and is dropped first.
pub(crate) fn beginning(names: &[String], limit: usize) -> &str {
    /// Minimum length of a prefix that is dropped. A shorter one would be hardly longer than the
    /// ellipsis.
    const SHORTEST: usize = 4;
    let [first, _, ..] = names else { return "" };
    if names.iter().all(|name| width(name) <= limit) {
        return "";
    }
    let shared = common_prefix(names);
    let is_end = |c: char| !c.is_alphanumeric();
    let end = first.char_indices().take(shared).filter(|(_, c)| is_end(*c)).last();
    let end = end.map_or(0, |(at, c)| at + c.len_utf8());
    if end >= SHORTEST { &first[..end] } else { "" }
}

/// Replaces control and invisible characters, which could move the cursor or break a line.
pub(crate) fn clean(text: &str) -> String {
    let visible = |c: char| match c {
        '\n' | '\t' | '\r' | '\u{2028}' | '\u{2029}' => ' ',
        c if c.is_control() || is_invisible(c) => '?',
        c => c,
    };
    text.chars().map(visible).collect()
}

/// Returns true if a character changes the text direction or is invisible.
pub fn is_invisible(c: char) -> bool {
    // The last range encodes bytes of a command that are not valid UTF-8.
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{10ff80}'..='\u{10ffff}')
}

/// Returns the width of a text in columns, summed over its characters as in most terminals.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Cuts out the middle of a text wider than `limit`.
pub(crate) fn shorten(text: &str, limit: usize, ellipsis: &str) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let room = limit.saturating_sub(width(ellipsis));
    let head = taken(text.chars(), room.div_ceil(2));
    let tail: String = taken(text.chars().rev(), room - room.div_ceil(2));
    format!("{head}{ellipsis}{}", tail.chars().rev().collect::<String>())
}

fn taken(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    characters
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= room
        })
        .collect()
}

fn all_differ(names: &[String]) -> bool {
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

fn common_prefix(names: &[String]) -> usize {
    let Some(first) = names.first() else { return 0 };
    let shared =
        |name: &String| first.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    names.iter().skip(1).map(shared).min().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(names: &[&str], limit: usize) -> Vec<String> {
        fitted(&names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>(), limit, "…")
    }

    #[test]
    fn a_long_name_loses_its_middle() {
        assert_eq!(fit(&["a_rather_long_name", "b"], 9), ["a_ra…name", "b"]);
    }

    #[test]
    fn names_that_differ_in_the_middle_still_differ_when_short() {
        let found =
            fit(&["./program --mode=fast --size 10", "./program --mode=slow --size 10"], 12);
        assert_eq!(found, ["…fast …ze 10", "…slow …ze 10"]);
        let three =
            fit(&["aaaaaaaaaaXbbbbbbbbbb", "aaaaaaaaaaYbbbbbbbbbb", "aaaaaaaaaaYcbbbbbbbbb"], 4);
        assert_eq!(three, ["#1", "#2", "#3"]);
    }

    #[test]
    fn what_all_names_begin_with_gives_way_before_what_tells_them_apart() {
        let found = fit(&["test_copy.py::copy[256]", "test_copy.py::move_all[256]"], 16);
        assert_eq!(found, ["…copy[256]", "…move_all[256]"]);
        assert_eq!(fit(&["test_copy.py::copy", "test_copy.py::move"], 30)[0], "test_copy.py::copy");
    }

    #[test]
    fn a_name_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31m\nb\u{202e}"), "a?[31m b?");
    }
}
