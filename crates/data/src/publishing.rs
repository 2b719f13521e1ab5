//! Removes from pages to be published what they must not reveal without the author's request: paths
//! on the author's disk, and anything that looks like a secret.
//!
//! File names, options and numbers stay on the page. Records are not changed here. Use
//! `--anonymous` for that.

use crate::samples::without_secrets;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// Directories that are the same on every machine and identify nobody. Paths in them are kept
/// because findings refer to such files.
const EVERYWHERE: [&str; 9] = ["bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr"];

/// Matches an absolute path with at least one directory, and the character before it.
static PATH: LazyLock<Regex> = LazyLock::new(|| {
    // The pattern is a constant, and the test exercises it.
    #[expect(clippy::unwrap_used, reason = "a constant pattern either compiles always or never")]
    Regex::new(r"(^|[^\w.…/<:~-])/([\w.+@%~-]+)/((?:[\w.+@%~-]+/)*)([\w.+@%~-]*)").unwrap()
});

/// Returns the text without anything that looks like a secret, and with absolute paths shortened to
/// their last component unless they are in a system directory. O(length).
pub fn publishable(text: &str) -> String {
    let text = without_secrets(text);
    let shortened = PATH.replace_all(&text, |found: &Captures<'_>| {
        if EVERYWHERE.contains(&&found[2]) {
            found[0].to_owned()
        } else {
            format!("{}…/{}", &found[1], &found[4])
        }
    });
    shortened.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_directories_and_secrets_are_left_out() {
        let page = "<pre>assay run &#39;/home/ann/b/sort-old --token=abc&#39; ./x</pre> (/srv/q/main.rb:12) a/b/c 1/2/3 /root/";
        let told =
            "<pre>assay run &#39;…/sort-old --token=…&#39; ./x</pre> (…/main.rb:12) a/b/c 1/2/3 …/";
        assert_eq!(publishable(page), told);
        assert_eq!(publishable(told), told);
        let stays =
            "echo 1 > /sys/devices/cpu/no_turbo; https://example.org/a/b/c <a href=\"x\"></a>";
        assert_eq!(publishable(stays), stays);
    }
}
