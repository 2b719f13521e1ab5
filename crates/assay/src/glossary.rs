//! `assay help TERM`: explains a term used in the output, or a finding by its code.
//!
//! The entries are those of docs/reference/glossary.md; this module contains no explanations.

use crate::{Ending, output};
use anyhow::bail;
use assay_report::glossary::{find, terms};
use std::ffi::OsString;

/// Width of the text, in columns.
const WIDEST: usize = 80;

/// Prints the entry for these words, or for `words` the names of all entries.
pub(crate) fn explain(asked: &[OsString]) -> anyhow::Result<Ending> {
    let asked: Vec<_> = asked.iter().map(|word| word.to_string_lossy()).collect();
    let asked = asked.join(" ");
    if asked == "words" {
        output::print(&terms().map(|term| format!("{term}\n")).collect::<String>())?;
        return Ok(Ending::Fine);
    }
    match find(&asked) {
        Ok(entry) => {
            let text = wrapped(&entry.text(), output::width().min(WIDEST));
            output::print(&format!("{}\n\n{text}\n", entry.term))?;
            Ok(Ending::Fine)
        }
        Err(meant) if meant.is_empty() => bail!(
            "`{asked}` is neither a command of assay nor a word of its glossary; the commands: assay --help; the words: assay help words"
        ),
        Err(meant) => bail!("`{asked}` may mean several words: {}", meant.join(", ")),
    }
}

fn wrapped(text: &str, width: usize) -> String {
    let paragraph = |paragraph: &str| {
        let mut lines = vec![String::new()];
        for word in paragraph.split(' ') {
            let line = lines.last().map_or(0, |line| line.chars().count());
            if line > 0 && line + 1 + word.chars().count() > width {
                lines.push(String::new());
            }
            if let Some(line) = lines.last_mut() {
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
        lines.join("\n")
    };
    text.split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n")
}
