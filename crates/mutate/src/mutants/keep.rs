//! Comments that accept a survivor. `# assay: keep REASON` accepts the changes on its own line and
//! on the line below it. Above a function or on its first line, it accepts the whole function.

use std::collections::BTreeMap;

/// Text with which a comment that accepts a survivor begins, after the comment sign.
const WORDS: &str = "assay: keep";

/// The reasons that a file gives for accepting survivors, by line.
pub(crate) struct KeepReasons {
    by_line: BTreeMap<u32, String>,
}

impl KeepReasons {
    /// Reads the reasons in a text whose comments begin with `sign`. A comment without a reason
    /// accepts nothing.
    pub fn of(text: &[u8], sign: &str) -> Self {
        let words = WORDS.as_bytes();
        let mut by_line = BTreeMap::new();
        if !text.windows(words.len()).any(|window| window == words) {
            return Self { by_line };
        }
        for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let line = String::from_utf8_lossy(line);
            let said =
                line.split_once(sign).and_then(|(_, said)| said.trim_start().strip_prefix(WORDS));
            let reason = said.map(str::trim).filter(|reason| !reason.is_empty());
            if let Some(reason) = reason {
                by_line.insert(number, reason.to_owned());
            }
        }
        Self { by_line }
    }

    /// Returns the reason to accept a change on these lines of a unit that begins at line `unit`,
    /// if there is one.
    pub fn reason(&self, line: u32, last_line: u32, unit: u32) -> Option<&str> {
        let from = line.saturating_sub(1);
        let own = self.by_line.range(from..=last_line.max(from)).next();
        let own = own.filter(|(at, _)| **at <= line || **at == last_line);
        let own = own.or_else(|| self.by_line.range(unit.saturating_sub(1)..=unit).next());
        own.map(|(_, reason)| reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_accepts_its_line_and_the_next_one_or_a_whole_unit() {
        let text = b"# assay: keep all of it\ndef a():\n    b\n    c  # assay: keep why not\n    d\n    e\n# assay: keep\ndef f():\n    g\n";
        let kept = KeepReasons::of(text, "#");
        assert_eq!(kept.reason(4, 4, 8), Some("why not"));
        assert_eq!(kept.reason(5, 5, 8), Some("why not"));
        assert_eq!(kept.reason(6, 6, 8), None);
        assert_eq!(kept.reason(6, 6, 2), Some("all of it"));
        assert_eq!(kept.reason(9, 9, 8), None, "no reason is given");
        assert_eq!(KeepReasons::of(b"x = 'assay: keep y'\n", "#").reason(1, 1, 1), None);
    }
}
