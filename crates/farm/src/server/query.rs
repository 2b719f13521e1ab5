//! Parser of URL query strings and of forms.

use super::answer::Failure;
use std::collections::HashMap;

/// Returns the parameters of a query. If a name occurs several times, the last value is used.
///
/// # Errors
/// If a percent-encoding is invalid or the text is not UTF-8.
pub(crate) fn read(query: &str) -> Result<HashMap<String, String>, Failure> {
    let mut words = HashMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        words.insert(plain(name)?, plain(value)?);
    }
    Ok(words)
}

fn plain(text: &str) -> Result<String, Failure> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match (first, after) {
            (b'+', _) => b' ',
            (b'%', [high, low, ..]) => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let Some((high, low)) = digit(*high).zip(digit(*low)) else {
                    return Err(Failure::bad(
                        "the query: a % is not followed by two hexadecimal digits",
                    ));
                };
                rest = &after[2..];
                (high * 16 + low) as u8
            }
            (b'%', _) => {
                return Err(Failure::bad(
                    "the query: a % is not followed by two hexadecimal digits",
                ));
            }
            (byte, _) => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| Failure::bad("the query is not text"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn words_are_read_as_they_were_meant() {
        let words = read("a=1&b=x%2Fy+z&c&%C3%A4=").unwrap();
        assert_eq!(words["a"], "1");
        assert_eq!(words["b"], "x/y z");
        assert_eq!((words["c"].as_str(), words["ä"].as_str()), ("", ""));
        for bad in ["a=%", "a=%2", "a=%zz", "a=%ff"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
