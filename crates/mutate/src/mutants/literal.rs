//! Changes to literals: numbers are incremented, and strings are emptied. Literals in unsupported
//! notations are not changed.

/// Increments a number without changing its notation: `7` to `8`, `0x1f` to `0x20`, `1_000u64` to
/// `1001u64`, `1.5f` to `2.5f`.
pub(crate) fn incremented(text: &str) -> Option<String> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let digits = text.get(2..).filter(|_| is_hex).unwrap_or(text);
    let of_number = |c: char| {
        if is_hex { c.is_ascii_hexdigit() || c == '_' } else { c.is_ascii_digit() || c == '_' }
    };
    let end = digits.find(|c| !of_number(c)).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    let number = whole.replace('_', "");
    if is_hex {
        let next = u128::from_str_radix(&number, 16).ok()?.checked_add(1)?;
        return is_suffix(rest).then(|| format!("{}{next:x}{rest}", &text[..2]));
    }
    // C and Ruby octal numbers, and numbers in other bases, are not supported.
    if number.len() > 1 && number.starts_with('0') {
        return None;
    }
    let next = number.parse::<u128>().ok()?.checked_add(1)?;
    let is_fraction = rest.strip_prefix('.').is_some_and(|rest| {
        let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
        is_suffix(digits)
    });
    (is_fraction || is_suffix(rest)).then(|| format!("{next}{rest}"))
}

/// Returns true if the text can follow the digits as a suffix, such as `u32`, `_usize`, `L` or `f`.
/// An exponent cannot.
fn is_suffix(text: &str) -> bool {
    let is_exponent = text.starts_with(['e', 'E', 'b', 'o', 'x']);
    !is_exponent && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Empties a quoted text, or puts a word into an empty one. The prefix before the quotes is kept.
pub(crate) fn quoted(text: &str) -> Option<String> {
    let start = text.find(|c: char| !c.is_ascii_alphabetic())?;
    if start > 3 {
        return None;
    }
    let (prefix, quoted) = text.split_at(start);
    let quote =
        ["\"\"\"", "'''", "\"", "'", "`"].into_iter().find(|own| quoted.starts_with(own))?;
    let inner = quoted.get(quote.len()..quoted.len().checked_sub(quote.len())?);
    match inner {
        // Two quotes could be taken for the beginning of three.
        _ if quoted == "\"\"" || quoted == "''" => {
            Some(format!("{prefix}{0}assay{0}", &quoted[..1]))
        }
        Some("") => Some(format!("{prefix}{quote}assay{quote}")),
        Some(_) if quoted.ends_with(quote) => Some(format!("{prefix}{quote}{quote}")),
        _ => None,
    }
}

/// Empties a Go string except for directives such as `%5.2f`, or appends a word if it contains
/// nothing else. The directives are kept because vet, which `go test` runs, rejects a call of
/// `Printf` whose arguments match no directive.
pub(crate) fn quoted_go(text: &str) -> Option<String> {
    let emptied = quoted(text)?;
    let directives = directives(text);
    if directives.is_empty() {
        return Some(emptied);
    }
    let quote = &text[..1];
    let word = if text.len() == directives.len() + 2 { "assay" } else { "" };
    Some(format!("{quote}{directives}{word}{quote}"))
}

/// Returns the directives of a Go format string (package fmt), except for `%%`.
fn directives(text: &str) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        let own = &rest[start..];
        let is_verb = |(_, c): &(usize, char)| !"+-# 0123456789.*[]".contains(*c);
        let Some((end, verb)) = own.char_indices().skip(1).find(is_verb) else { break };
        let (directive, behind) = own.split_at(end + verb.len_utf8());
        if verb.is_ascii_alphabetic() {
            all += directive;
        }
        rest = behind;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_more_as_they_are_written() {
        for (text, next) in [
            ("0", "1"),
            ("9", "10"),
            ("1_000u64", "1001u64"),
            ("0x1F", "0x20"),
            ("0xffUL", "0x100UL"),
            ("1.5", "2.5"),
            ("0.25f", "1.25f"),
            ("3L", "4L"),
        ] {
            assert_eq!(incremented(text).as_deref(), Some(next), "{text}");
        }
        for text in [
            "1e9",
            "0b11",
            "0o17",
            "017",
            "1.5e3",
            "",
            "x",
            "1.",
            "999999999999999999999999999999999999999999",
        ] {
            let is_odd = incremented(text).is_none() || text == "1.";
            assert!(is_odd, "{text}");
        }
    }

    #[test]
    fn texts_are_empty_or_a_word() {
        for (text, other) in [
            ("\"a\"", "\"\""),
            ("''", "'assay'"),
            ("\"\"", "\"assay\""),
            ("f'{x}'", "f''"),
            ("\"\"\"a\"\"\"", "\"\"\"\"\"\""),
            ("`a${b}`", "``"),
        ] {
            assert_eq!(quoted(text).as_deref(), Some(other), "{text}");
        }
        for (text, other) in [
            ("\"\"", "\"assay\""),
            ("\"done\"", "\"\""),
            ("\"100%\"", "\"\""),
            ("\"100%% of them\"", "\"\""),
            ("\"%s: %5.2f of %[1]*d\\n\"", "\"%s%5.2f%[1]*d\""),
            ("\"x: %w\"", "\"%w\""),
            ("`%v`", "`%vassay`"),
        ] {
            assert_eq!(quoted_go(text).as_deref(), Some(other), "{text}");
        }
        for text in ["%w(a)", "x", "\"", "abcd\"x\"", ""] {
            assert_eq!(quoted(text), None, "{text}");
        }
    }
}
