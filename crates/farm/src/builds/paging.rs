//! Paged lists. A page starts after the key of the last row of the previous page, so that late
//! pages cost no more than the first.

use crate::builds::error::FarmError;
use crate::builds::wire::Page;

/// Makes a page of at most `most` rows. `found` was read with a limit of `most + 1`, and the extra
/// row shows that there is another page.
pub(crate) fn page<T>(mut found: Vec<T>, most: i64, key: impl Fn(&T) -> String) -> Page<T> {
    let most = usize::try_from(most).unwrap_or(0);
    let is_more = found.len() > most;
    found.truncate(most);
    let next = found.last().filter(|_| is_more).map(key);
    Page { items: found, next }
}

/// Parses a cursor that consists of one number.
pub(crate) fn number(after: Option<&str>) -> Result<Option<i64>, FarmError> {
    after.map(|text| text.parse().map_err(|_| wrong(text))).transpose()
}

/// Parses a cursor that consists of two numbers, for a descending list. Without a cursor, returns a
/// position above all rows.
pub(crate) fn pair(after: Option<&str>) -> Result<(i64, i64), FarmError> {
    let Some(text) = after else { return Ok((i64::MAX, i64::MAX)) };
    let both = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    both.ok_or_else(|| wrong(text))
}

fn wrong(text: &str) -> FarmError {
    FarmError::Bad(format!(
        "after=`{}`: must be the value of `next` on the previous page",
        text.escape_debug().take(40).collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn a_page_says_where_the_next_one_begins_only_if_there_is_one() {
        let key = |n: &i32| n.to_string();
        assert_eq!(page(vec![1, 2, 3], 2, key).next.as_deref(), Some("2"));
        assert_eq!(page(vec![1, 2], 2, key).next, None);
        assert!(page(vec![], 2, key).items.is_empty());
    }

    #[test]
    fn places_that_nobody_gave_are_refused() {
        assert_eq!(pair(Some("-3.7")).unwrap(), (-3, 7));
        assert_eq!(number(None).unwrap(), None);
        for bad in ["", "x", "1", "1.x"] {
            assert!(pair(Some(bad)).is_err(), "{bad}");
        }
        assert!(number(Some("1; DROP")).is_err());
    }
}
