//! Escaping of untrusted text in documents, so that none of it becomes markup.

use crate::names::clean;

/// Escapes text so that Markdown does not interpret it, and a forge does not mistake parts of it
/// for mentions, issues or addresses. Forges search the rendered text, which no longer contains the
/// backslashes, so a joiner of zero width is inserted into anything that looks like one of these.
/// Git revisions such as `HEAD~1` are left as they are, because people copy them.
pub(crate) fn escaped(text: &str) -> String {
    let text = clean(text);
    let mut plain = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '<' => plain.push_str("&lt;"),
            '&' => plain.push_str("&amp;"),
            '|' | '*' | '_' | '`' | '\\' | '[' | ']' | '~' | '#' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
        let rest = &text[at + c.len_utf8()..];
        let is_before_word = rest.starts_with(|next: char| next.is_alphanumeric() || next == '"');
        let begins = match c {
            '@' | '#' | '!' | '$' | '%' | '&' => is_before_word,
            '~' => is_before_word && !ends_revision(&text[..at]),
            ':' => rest.starts_with("//"),
            '.' => is_before_word && text[..at].to_ascii_lowercase().ends_with("www"),
            _ => false,
        };
        if begins {
            plain.push(JOINER);
        }
    }
    plain
}

/// Returns true if a `~` after this text selects an ancestor, as in `HEAD~1`, `@~2` or `main^~3`,
/// rather than introducing a GitLab label.
fn ends_revision(before: &str) -> bool {
    before.ends_with(|c: char| c.is_alphanumeric() || "@^~}_-./".contains(c))
}

/// Zero-width character that keeps two characters together.
const JOINER: char = '\u{2060}';

/// Formats a name as inline code, in which nothing is interpreted. A name that cannot be written as
/// inline code becomes plain text.
pub(crate) fn code(name: &str) -> String {
    let name = clean(name);
    match name.trim() {
        "" => "(no name)".to_owned(),
        name if name.contains(['`', '|', '\\']) => escaped(name),
        name => format!("`{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stays_text() {
        assert_eq!(escaped("a | b <c> *"), "a \\| b &lt;c> \\*");
    }

    #[test]
    fn nobody_is_called_and_nothing_is_linked_by_a_name() {
        let shown = escaped("@ann #12 5 % wWw.example.org https://x.y a@b !3").replace('\\', "");
        let joined = "@.ann #.12 5 % wWw..example.org https:.//x.y a@.b !.3";
        assert_eq!(shown.replace(JOINER, "."), joined);
    }

    #[test]
    fn a_revision_can_be_copied_and_a_label_is_not_linked() {
        assert_eq!(escaped("HEAD~1 against v1.2~3"), "HEAD\\~1 against v1.2\\~3");
        assert_eq!(escaped("@~2, main@{1}~2, main^~2"), "@\\~2, main@{1}\\~2, main^\\~2");
        assert_eq!(escaped("~bug (~2)"), format!("\\~{JOINER}bug (\\~{JOINER}2)"));
    }

    #[test]
    fn a_name_is_code_unless_it_could_end_it() {
        assert_eq!(code("BM_Copy<int>/8 @ann"), "`BM_Copy<int>/8 @ann`");
        assert_eq!(code("a|b"), "a\\|b");
        assert_eq!(code("a`b\n<i>"), "a\\`b &lt;i>");
        assert_eq!(code(" \n"), "(no name)");
    }
}
