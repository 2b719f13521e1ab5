//! File names for arbitrary names. They are safe on every file system and in every URL, unique, and
//! stable when the pages are regenerated.

use std::collections::HashSet;

/// Number of characters of a name that are kept. Longer names are distinguished by the digest that
/// follows.
const KEPT: usize = 48;

/// Returns a file name without an extension for each name, in order. It consists of a readable part
/// and a digest of the whole name.
pub fn file_names(names: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |name: &String| {
        let readable = readable(name);
        let mut digest = digest(name);
        // Names with the same digest can be constructed, so use the next free number.
        while !taken.insert((readable.clone(), digest)) {
            digest = digest.wrapping_add(1);
        }
        if readable.is_empty() {
            format!("{digest:08x}")
        } else {
            format!("{readable}-{digest:08x}")
        }
    };
    names.iter().map(name).collect()
}

/// Reduces a name to lowercase letters, digits and hyphens, because some file systems are
/// case-insensitive.
fn readable(name: &str) -> String {
    let mut readable = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        if readable.len() == KEPT {
            break;
        }
        match c {
            'a'..='z' | '0'..='9' | '_' => readable.push(c),
            _ if readable.is_empty() || readable.ends_with('-') => {}
            _ => readable.push('-'),
        }
    }
    readable.trim_end_matches('-').to_owned()
}

/// Returns the FNV-1a hash (Fowler, Noll and Vo) of a name, folded to 32 bits.
fn digest(name: &str) -> u32 {
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash >> 32) ^ (hash & 0xffff_ffff)) as u32
}

/// Percent-encodes a text for a URL.
pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_safe_and_all_different() {
        let long = "x".repeat(5000);
        let names = [
            "BM_Copy/8",
            "bm_copy/8",
            "bm-copy/8",
            "../../etc/passwd",
            "</script>",
            "",
            "\u{202e}\0",
            "ä",
            &long,
        ]
        .map(str::to_owned);
        let files = file_names(&names);
        let safe = |file: &String| {
            file.len() <= 60
                && file
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b))
        };
        assert!(files.iter().all(safe), "{files:?}");
        assert_eq!(files.iter().collect::<HashSet<_>>().len(), names.len(), "{files:?}");
        assert!(files[0].starts_with("bm_copy-8-"), "{files:?}");
        // Other names do not affect a file name; a repeated name gets a second file.
        assert_eq!(file_names(&names[3..4])[0], files[3]);
        let twice = file_names(&[names[0].clone(), names[0].clone()]);
        assert_ne!(twice[0], twice[1]);
    }
}
