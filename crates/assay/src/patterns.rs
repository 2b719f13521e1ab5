//! Expands paths that contain `*` and `?`.

use anyhow::bail;
use assay_measure::word_of;
use std::path::{Path, PathBuf};

/// Returns the paths, sorted by name, that match a pattern with `*` and `?` in its components and
/// for which `wanted` returns true.
pub(crate) fn matching(
    pattern: &str,
    wanted: fn(&PathBuf) -> bool,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut places = vec![PathBuf::new()];
    for part in Path::new(&word_of(pattern)).components() {
        let part = part.as_os_str();
        if !part.as_encoded_bytes().iter().any(|byte| b"*?".contains(byte)) {
            places.iter_mut().for_each(|place| place.push(part));
            continue;
        }
        let mut next = Vec::new();
        for place in &places {
            let directory = if place.as_os_str().is_empty() { Path::new(".") } else { place };
            let Ok(entries) = std::fs::read_dir(directory) else { continue };
            let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
            let fits = names.filter(|name| fits(part.as_encoded_bytes(), name.as_encoded_bytes()));
            next.extend(fits.map(|name| place.join(name)));
        }
        places = next;
    }
    places.retain(wanted);
    places.sort();
    if places.is_empty() {
        bail!("no file matches");
    }
    Ok(places)
}

/// Returns true if a name matches a pattern. A name that begins with a dot matches only a pattern
/// that begins with a dot.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    fn rest(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([b'*', after @ ..], _) => (0..=name.len()).any(|from| rest(after, &name[from..])),
            ([b'?', after @ ..], [_, name @ ..]) => rest(after, name),
            ([a, after @ ..], [b, name @ ..]) => a == b && rest(after, name),
            _ => false,
        }
    }
    (name.first() != Some(&b'.') || pattern.first() == Some(&b'.')) && rest(pattern, name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn patterns_are_those_of_shells() {
        let fits = |pattern: &str, name: &str| super::fits(pattern.as_bytes(), name.as_bytes());
        assert!(
            fits("old-*", "old-12") && fits("*", "a") && fits("b?", "b1") && fits("a*c*", "abcd")
        );
        assert!(!fits("old-*", "new-1") && !fits("b?", "b12") && !fits("*", ".hidden"));
    }
}
