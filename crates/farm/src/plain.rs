//! Makes untrusted text, such as names and messages from packages, safe to print on a terminal.

/// Maximum length of a sanitized line, in characters.
const LONGEST: usize = 500;

/// Returns a text as a single line without control characters or marks that change the writing
/// direction. Text longer than 500 characters is truncated.
pub fn line(text: &str) -> String {
    let harmless = |c: char| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_control() => '\u{fffd}',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    };
    let mut out: String = text.trim().chars().map(harmless).take(LONGEST).collect();
    if text.trim().chars().nth(LONGEST).is_some() {
        out.push('…');
    }
    out
}

/// Returns a count with its noun in the singular or plural, such as `1 test` or `2 tests`.
pub fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_is_obeyed() {
        assert_eq!(line("\u{1b}[2Jname\u{202e}\nnext\n"), "\u{fffd}[2Jname\u{fffd} next");
        assert_eq!(line(&"x".repeat(2 * LONGEST)).chars().count(), LONGEST + 1);
    }
}
