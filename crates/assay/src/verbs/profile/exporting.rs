//! Shows a profile, and writes it to the requested files. The extension of a file selects its
//! format.

use super::ProfileShowArgs;
use crate::present;
use crate::{output, whole_file};
use anyhow::{Context, bail};
use assay_data::Finding;
use assay_data::publishing::publishable;
use assay_profiles::export::{ENDINGS, Format};
use assay_report::console::outputs;
use assay_report::json;
use assay_report::profile::differential::{self, Differential};
use assay_report::profile::{ProfileReport, differential_page, flame, page, screen};
use std::path::{Path, PathBuf};

/// Format of an exported profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Page,
    Of(Format),
}

/// Extensions of profiles that can be read but not written.
const READ: [&str; 5] = [".pb", ".prof", ".pprof", ".json.gz", ".perf"];

fn form_of(path: &Path) -> Option<Form> {
    if let Some(format) = Format::of_ending(path) {
        return Some(Form::Of(format));
    }
    let name = path.to_string_lossy().to_lowercase();
    [(".svg", Form::Svg), (".html", Form::Page)]
        .into_iter()
        .find_map(|(ending, form)| name.ends_with(ending).then_some(form))
}

/// Returns true if the extension is that of a profile.
pub(super) fn is_profile_name(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let endings = ENDINGS.iter().map(|(ending, _)| *ending).chain(READ).chain([".json"]);
    endings.filter(|ending| *ending != ".txt").any(|ending| name.ends_with(ending))
}

/// Returns true if the extension selects a format for the result of two commands instead of a
/// profile.
pub(super) fn is_of_result(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    form_of(path).is_none()
        && [".json", ".md", ".csv", ".assay"].iter().any(|ending| name.ends_with(ending))
}

/// Checks before measuring that every file can be written, has a known format, and does not
/// overwrite an input.
pub(super) fn check(show: &ProfileShowArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    check_files(&show.export, inputs)
}

/// Like [`check`], for a list of files.
pub(crate) fn check_files(files: &[PathBuf], inputs: &[PathBuf]) -> anyhow::Result<()> {
    let wanted: Vec<_> =
        files.iter().map(|path| ("--export", path.as_path(), "profile.svg")).collect();
    outputs::check(inputs, &wanted)?;
    for path in files {
        if form_of(path).is_none() && !is_of_result(path) {
            let endings: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
            bail!(
                "--export {}: the extension selects the format; known are .svg, .html, {}",
                path.display(),
                endings.join(", ")
            );
        }
    }
    Ok(())
}

/// Checks that the formats of all files can represent a single profile.
pub(crate) fn check_single(files: &[PathBuf]) -> anyhow::Result<()> {
    match files.iter().find(|path| form_of(path).is_none()) {
        Some(path) => bail!(
            "--export {}: that is a format for the result of two commands; a profile can be exported as .svg, .html, .txt, .pb.gz, .speedscope.json, .firefox.json or .collapsed (and --json prints its numbers)",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Returns true if the extension selects a flame graph, which can also show the difference between
/// two profiles.
pub(super) fn is_picture(path: &Path) -> bool {
    matches!(form_of(path), Some(Form::Svg | Form::Page))
}

/// Writes the differential flame graph to all requested files that are flame graphs.
pub(super) fn pictures(
    found: &Differential<'_>,
    findings: &[Finding],
    show: &ProfileShowArgs,
) -> anyhow::Result<()> {
    for path in show.export.iter().filter(|path| is_picture(path)) {
        let text = match form_of(path) {
            Some(Form::Svg) => differential::svg(found),
            _ => differential_page::render(found, findings, show.top, present::TOOL)?,
        };
        whole_file::replace(path, publishable(&text).as_bytes())
            .with_context(|| format!("--export {}", path.display()))?;
        if !show.quiet {
            output::say(&format!("written: {}", path.display()));
        }
    }
    Ok(())
}

/// Shows a profile, and writes the requested files.
pub(super) fn present(report: &ProfileReport<'_>, show: &ProfileShowArgs) -> anyhow::Result<()> {
    // A file that cannot be written must not prevent the output to the terminal.
    let written = write(report, &show.export, show.quiet);
    if show.json {
        output::print(&json::text(&json::ProfileShares::of(report))?)?;
    } else {
        output::print(&screen::render(report, show.remarks(), &present::screen(show.color)))?;
    }
    written
}

/// Writes a profile to all files; the first failure is returned after the others are written.
pub(crate) fn write(
    report: &ProfileReport<'_>,
    files: &[PathBuf],
    quiet: bool,
) -> anyhow::Result<()> {
    let mut written = Vec::new();
    for path in files {
        let bytes = bytes(report, path).with_context(|| format!("--export {}", path.display()));
        let done = bytes.and_then(|bytes| {
            whole_file::replace(path, &bytes)
                .with_context(|| format!("--export {}", path.display()))
        });
        if done.is_ok() && !quiet {
            output::say(&format!("written: {}", path.display()));
        }
        written.push(done);
    }
    written.into_iter().collect()
}

fn bytes(report: &ProfileReport<'_>, path: &Path) -> anyhow::Result<Vec<u8>> {
    let form = form_of(path).context("the ending is of no form of a profile")?;
    Ok(match form {
        Form::Svg => publishable(&flame::svg(report.profile)).into_bytes(),
        Form::Page => publishable(&page::render(report, present::TOOL)?).into_bytes(),
        Form::Of(format) => format.write(report.profile)?,
    })
}
