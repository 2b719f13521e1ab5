//! `assay help TERM`: explains a term that the output uses, or a finding by its code.
//!
//! The entries come from docs/reference/glossary.md. This module contains no explanations.

use crate::{Ending, output};
use anyhow::bail;
use assay_report::glossary::{find, terms};
use assay_report::shell::quoted;
use std::ffi::OsString;

/// Maximum width of the text, in columns.
const WIDEST: usize = 80;

/// Returns the end of a message that suggests the command or term of which `asked` is probably a
/// misspelling; empty if there is none.
fn near(asked: &str, verbs: impl Iterator<Item = &'static str>) -> String {
    let distance =
        |known: &&str| strsim::osa_distance(&known.to_lowercase(), &asked.to_lowercase());
    let nearest = verbs.chain(terms()).min_by_key(distance);
    let nearest = nearest.filter(|known| distance(known) <= 1 + asked.chars().count() / 5);
    // Users type findings as their codes.
    let is_code = asked.contains('_');
    let typed = |known: &str| match is_code {
        true => known.to_uppercase().replace([' ', '-'], "_"),
        false => quoted([known]),
    };
    let advice = |known: &str| format!("; did you mean `assay help {}`?", typed(known));
    nearest.map_or_else(String::new, advice)
}

/// Prints the glossary entry for these words. For `words`, prints the names of all entries.
pub(crate) fn explain(
    asked: &[OsString],
    verbs: impl Iterator<Item = &'static str>,
) -> anyhow::Result<Ending> {
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
            "`{asked}` is neither an assay command nor a word in its glossary; for the commands: assay --help; for the words: assay help words{}",
            near(&asked, verbs)
        ),
        Err(meant) => bail!("`{asked}` matches several words: {}", meant.join(", ")),
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
