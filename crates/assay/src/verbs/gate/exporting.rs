//! Writes the answer to files. The extension of a file selects its format.

use crate::{output, whole_file};
use anyhow::{Context, bail};
use assay_report::console::outputs;
use assay_report::history::{GateReport, badge, gate_markdown, junit, sarif};
use assay_report::json::{self, Gated};
use std::path::{Path, PathBuf};

/// Format of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Markdown,
    Junit,
    Sarif,
    Badge,
}

/// File extensions and their formats. `.sarif.json` comes before `.json`, which is a suffix of it.
const ENDINGS: [(&str, Form); 6] = [
    (".sarif.json", Form::Sarif),
    (".sarif", Form::Sarif),
    (".json", Form::Json),
    (".md", Form::Markdown),
    (".xml", Form::Junit),
    (".svg", Form::Badge),
];

fn form_of(path: &Path) -> Option<Form> {
    let name = path.to_string_lossy().to_lowercase();
    ENDINGS.into_iter().find_map(|(ending, form)| name.ends_with(ending).then_some(form))
}

/// Checks before judging that every file can be written, has a known format, and does not overwrite
/// the judged file.
///
/// # Errors
///
/// Returns an error if a file fails a check.
pub(super) fn check(export: &[PathBuf], judged: Option<&Path>) -> anyhow::Result<()> {
    let read: Vec<PathBuf> = judged.map(Path::to_owned).into_iter().collect();
    let wanted: Vec<_> =
        export.iter().map(|path| ("--export", path.as_path(), "comment.md")).collect();
    outputs::check(&read, &wanted)?;
    for path in export {
        if form_of(path).is_none() {
            bail!(
                "--export {}: the extension selects the format: .json, .md (a comment), .xml (JUnit), .sarif or .svg (a badge)",
                path.display()
            );
        }
    }
    Ok(())
}

/// Writes the answer to all files.
///
/// # Errors
///
/// Returns the first error if a file cannot be written. All other files are still written.
pub(super) fn write(
    export: &[PathBuf],
    report: &GateReport<'_>,
    quiet: bool,
) -> anyhow::Result<()> {
    let mut done = Ok(());
    for path in export {
        let written = text(path, report)
            .and_then(|text| whole_file::replace(path, text.as_bytes()))
            .with_context(|| format!("--export {}", path.display()));
        if written.is_ok() && !quiet {
            output::say(&format!("written: {}", path.display()));
        }
        done = done.and(written);
    }
    done
}

fn text(path: &Path, report: &GateReport<'_>) -> anyhow::Result<String> {
    Ok(match form_of(path).context("the ending is of no form")? {
        Form::Json => json::text(&Gated::of(report))?,
        Form::Markdown => gate_markdown(report),
        Form::Junit => junit(report),
        Form::Sarif => json::text(&sarif(report, env!("CARGO_PKG_VERSION")))?,
        Form::Badge => badge(report),
    })
}
