//! `--report` and `--plots`: writes the page and the pictures that the report crate makes.
//!
//! A file appears whole or not at all, so a page that is looked at while a new one is written is never half of one. What can't be
//! written is said before anything is measured. Nothing is drawn here.

use crate::args::PageArgs;
use crate::{output, present};
use anyhow::Context;
use assay_analysis::Analysis;
use assay_analysis::figures::{Figures, with_protocol};
use assay_analysis::portrait::Portrait;
use assay_analysis::protocol::Protocol;
use assay_data::Samples;
use assay_report::charts::{self, png, svg};
use assay_report::html::{self, Data, Material};
use assay_report::json::Meta;
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Pixels of a PNG per unit of its sheet: about 1,000 across.
const PIXELS: f64 = 2.5;

/// Finds out whether the page and the pictures can be written; makes the directory of the pictures.
///
/// # Errors
/// When a name is one of something else, or a place can't be written to.
pub(crate) fn check(wanted: &PageArgs) -> anyhow::Result<()> {
    if let Some(path) = &wanted.report {
        check_page(path).with_context(|| format!("--report {}", path.display()))?;
    }
    if let Some(directory) = &wanted.plots {
        let named = || format!("--plots {}", directory.display());
        if directory.exists() && !directory.is_dir() {
            anyhow::bail!("{}: that is a file; name a directory", named());
        }
        fs::create_dir_all(directory).with_context(named)?;
        new_file(directory).with_context(named)?;
    }
    Ok(())
}

fn check_page(path: &Path) -> anyhow::Result<()> {
    if path.is_dir() {
        anyhow::bail!(
            "that is a directory; name a file in it, such as {}",
            path.join("report.html").display()
        );
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        anyhow::bail!("the directory {} does not exist", directory.display());
    }
    if is_special(path) {
        return Ok(());
    }
    // A file that is made and goes away again is the only sure proof.
    new_file(&directory).with_context(|| format!("{} can't be written to", directory.display()))?;
    Ok(())
}

/// What a page shows beside the analysis.
#[derive(Clone, Copy, Default)]
pub(crate) struct Beside<'a> {
    /// The protocol of every comparison.
    pub protocol: &'a [Protocol],
    /// The series by themselves.
    pub portraits: &'a [Portrait],
}

/// Writes what was asked for.
///
/// # Errors
/// When a file can't be written.
pub(crate) fn write(
    analysis: &Analysis,
    samples: &Samples,
    beside: Beside<'_>,
    meta: &Meta,
    wanted: &PageArgs,
    quiet: bool,
) -> anyhow::Result<()> {
    if wanted.report.is_none() && wanted.plots.is_none() {
        return Ok(());
    }
    let figures = with_protocol(samples, analysis, protocol);
    let written = wanted.report.as_deref().map(|path| {
        let data = Data::of(samples, meta.file.clone());
        let command = present::argv();
        let (figures, data, command) = (&figures, &data, &command);
        let Beside { protocol, portraits } = beside;
        let material = Material { analysis, figures, data, meta, command, protocol, portraits };
        html::render(material)
            .map_err(anyhow::Error::from)
            .and_then(|page| replace(path, page.as_bytes()))
            .with_context(|| format!("--report {}", path.display()))
    });
    let drawn = wanted.plots.as_deref().map(|directory| {
        write_plots(&figures, directory).with_context(|| format!("--plots {}", directory.display()))
    });
    if !quiet
        && let Some(Ok(())) = &written
        && let Some(path) = &wanted.report
    {
        output::say(&format!("report: {}", path.display()));
    }
    written.into_iter().chain(drawn).collect()
}

fn write_plots(figures: &Figures, directory: &Path) -> anyhow::Result<()> {
    for chart in charts::charts(figures) {
        let file = |ending: &str| directory.join(format!("{}.{ending}", chart.name));
        replace(&file("svg"), svg::standalone(&chart).as_bytes())?;
        replace(&file("png"), &png::render(&chart.scene, PIXELS)?)?;
    }
    Ok(())
}

/// Puts a whole new file in the place of what was there. A pipe or a terminal has no place to put it: there it is written.
fn replace(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    if is_special(path) {
        return fs::write(path, bytes).with_context(|| path.display().to_string());
    }
    // A link stays a link, and what it names is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut file = new_file(&directory_of(&path))?;
    file.write_all(bytes).with_context(|| path.display().to_string())?;
    file.persist(&path).map_err(|error| error.error).with_context(|| path.display().to_string())?;
    Ok(())
}

fn new_file(directory: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    // As any program makes its files: for all, less what the user's mask takes away.
    tempfile::Builder::new()
        .prefix(".assay-")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory)
}

fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn directory_of(path: &Path) -> PathBuf {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_replaces_the_one_before_and_leaves_nothing_else() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("out.html");
        for text in ["first", "second"] {
            replace(&path, text.as_bytes()).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
        assert!(check_page(&path).is_ok());
        assert!(check_page(directory.path()).is_err());
        assert!(check_page(&directory.path().join("none/out.html")).is_err());
        assert_eq!(fs::read_dir(directory.path()).expect("readable").count(), 1);
    }
}
