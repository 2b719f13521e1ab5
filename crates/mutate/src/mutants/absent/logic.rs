//! Three-valued logic, in which a condition is true, false or unknown (`None`).

/// Three-valued negation.
pub(super) fn not(own: Option<bool>) -> Option<bool> {
    own.map(|own| !own)
}

/// Three-valued conjunction.
#[expect(clippy::manual_try_fold, reason = "a false condition decides also after an unknown one")]
pub(super) fn all(own: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    own.into_iter().fold(Some(true), |before, own| match (before, own) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

/// Three-valued disjunction.
pub(super) fn any(own: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    not(all(own.into_iter().map(not)))
}

/// Splits a text at separators that are not within brackets or quotes.
pub(super) fn split<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut depth, mut begin, mut quote) = (Vec::new(), 0_i32, 0, None);
    let mut skip = 0;
    for (at, letter) in text.char_indices() {
        if at < skip {
            continue;
        }
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(separator) => {
                parts.push(&text[begin..at]);
                begin = at + separator.len();
                skip = begin;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

/// Returns the text without enclosing parentheses.
pub(super) fn bare(text: &str) -> &str {
    let mut text = text.trim();
    while let Some(inner) = text.strip_prefix('(').and_then(|own| own.strip_suffix(')')) {
        let mut depth = 0_i32;
        let is_whole = inner.chars().all(|letter| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            depth >= 0
        });
        if !is_whole {
            break;
        }
        text = inner.trim();
    }
    text
}

/// Returns the text between quotes, or `None` if the text is not quoted.
pub(super) fn unquoted(text: &str) -> Option<&str> {
    let text = text.trim();
    let of = |quote: char| text.strip_prefix(quote).and_then(|own| own.strip_suffix(quote));
    of('"').or_else(|| of('\''))
}
