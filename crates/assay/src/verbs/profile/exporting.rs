//! Shows a profile and writes it to the files that were asked for; the ending of a name says in which form.

use super::ProfileShowArgs;
use crate::present;
use crate::{output, whole_file};
use anyhow::{Context, bail};
use assay_console::outputs;
use assay_data::Finding;
use assay_data::publishing::publishable;
use assay_profiles::export::{ENDINGS, Format};
use assay_report::json;
use assay_report::profile::differential::{self, Differential};
use assay_report::profile::{ProfileReport, differential_page, flame, page, screen};
use std::path::{Path, PathBuf};

/// What a file of a profile can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Svg,
    Page,
    Of(Format),
}

/// Names that only files of profiles have, beyond those that are written here.
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

/// Whether a name is that of a profile.
pub(super) fn is_profile_name(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let endings = ENDINGS.iter().map(|(ending, _)| *ending).chain(READ).chain([".json"]);
    endings.filter(|ending| *ending != ".txt").any(|ending| name.ends_with(ending))
}

/// Whether a file is one of a result of two commands, and not of a profile.
pub(super) fn is_of_result(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    form_of(path).is_none()
        && [".json", ".md", ".csv", ".assay"].iter().any(|ending| name.ends_with(ending))
}

/// Checks before anything is measured that every file can be written, in a form that is known, and takes the place of no input.
pub(super) fn check(show: &ProfileShowArgs, inputs: &[PathBuf]) -> anyhow::Result<()> {
    check_files(&show.export, inputs)
}

/// The same of files by their names.
pub(crate) fn check_files(files: &[PathBuf], inputs: &[PathBuf]) -> anyhow::Result<()> {
    let wanted: Vec<_> = files.iter().map(|path| ("--export", path.as_path())).collect();
    outputs::check(inputs, &wanted)?;
    for path in files {
        if form_of(path).is_none() && !is_of_result(path) {
            let endings: Vec<&str> = ENDINGS.iter().map(|(ending, _)| *ending).collect();
            bail!(
                "--export {}: the ending says how to write it; known are .svg, .html, {}",
                path.display(),
                endings.join(", ")
            );
        }
        whole_file::check(path, "profile.svg")
            .with_context(|| format!("--export {}", path.display()))?;
    }
    Ok(())
}

/// Checks that all files are of a single profile.
pub(crate) fn check_single(files: &[PathBuf]) -> anyhow::Result<()> {
    match files.iter().find(|path| form_of(path).is_none()) {
        Some(path) => bail!(
            "--export {}: that is a form for the result of two commands; a profile is written as .svg, .html, .txt, .pb.gz, .speedscope.json, .firefox.json or .collapsed (and --json prints its numbers)",
            path.display()
        ),
        None => Ok(()),
    }
}

/// Whether a file is a picture of a difference: of two profiles these can be written too.
pub(super) fn is_picture(path: &Path) -> bool {
    matches!(form_of(path), Some(Form::Svg | Form::Page))
}

/// Writes the differential flame graph into those of the files that are pictures.
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

/// Shows a profile and writes it.
pub(super) fn present(report: &ProfileReport<'_>, show: &ProfileShowArgs) -> anyhow::Result<()> {
    // A file that can't be written must not cost the screen.
    let written = write(report, &show.export, show.quiet);
    if show.json {
        output::print(&json::text(&json::ProfileShares::of(report))?)?;
    } else {
        output::print(&screen::render(report, show.remarks(), &present::screen(show.color)))?;
    }
    written
}

/// Writes a profile to all files; the first that can't be written is reported once the others are written.
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
