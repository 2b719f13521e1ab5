//! Comments by which a survivor is accepted: `# assay: keep REASON` on the line of the change or on the one above it; above a function, or on its
//! first line, for all of it.

use std::collections::BTreeMap;

/// What such a comment says behind the language's sign.
const WORDS: &str = "assay: keep";

/// The reasons that a file gives, by line.
pub(crate) struct Kept {
    by_line: BTreeMap<u32, String>,
}

impl Kept {
    /// Those of a text in which comments begin with `sign`. Without a reason nothing is accepted.
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

    /// Why a change on these lines of a unit that begins there is accepted.
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
        let kept = Kept::of(text, "#");
        assert_eq!(kept.reason(4, 4, 8), Some("why not"));
        assert_eq!(kept.reason(5, 5, 8), Some("why not"));
        assert_eq!(kept.reason(6, 6, 8), None);
        assert_eq!(kept.reason(6, 6, 2), Some("all of it"));
        assert_eq!(kept.reason(9, 9, 8), None, "no reason is given");
        assert_eq!(Kept::of(b"x = 'assay: keep y'\n", "#").reason(1, 1, 1), None);
    }
}
