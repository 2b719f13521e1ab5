//! Shows a suite and writes its exports, page and pictures.

use super::{Form, form_of, meta_of, screen};
use crate::advice::{Dialect, spell};
use crate::args::ShowArgs;
use crate::present::pages::write_charts;
use crate::{output, present, whole_file};
use anyhow::Context;
use assay_analysis::Benchmarks;
use assay_data::Samples;
use assay_report::benchmarks::{Shown, csv, markdown, page, screen as suite_screen};
use assay_report::charts::forest;
use assay_report::json::{self, Meta};
use std::path::Path;

/// Writes the exports of a suite that is shown in another way.
///
/// # Errors
/// When one can't be written; the others are.
pub(crate) fn export_all(
    suite: &Benchmarks,
    samples: &Samples,
    shown: Shown,
    show: &ShowArgs,
) -> anyhow::Result<()> {
    let meta = meta_of("profile", samples, None);
    let written: Vec<anyhow::Result<()>> = show
        .export
        .iter()
        .map(|path| {
            export(suite, samples, shown, &meta, path)
                .with_context(|| format!("--export {}", path.display()))
        })
        .collect();
    written.into_iter().collect()
}

/// Shows a suite and writes what was asked for.
///
/// # Errors
/// When something can't be written; the rest is.
pub(crate) fn present(
    dialect: Dialect,
    suite: &mut Benchmarks,
    samples: &Samples,
    shown: Shown,
    show: &ShowArgs,
    file: Option<&Path>,
) -> anyhow::Result<()> {
    spell(dialect, &mut suite.findings);
    let meta = meta_of(dialect.verb(), samples, file);
    let exported = show.export.iter().map(|path| {
        export(suite, samples, shown, &meta, path)
            .with_context(|| format!("--export {}", path.display()))
    });
    let mut written: Vec<anyhow::Result<()>> = exported.collect();
    if let Some(path) = &show.pages.report {
        let page = page::render(suite, shown, present::TOOL, &present::argv());
        let page = page.map_err(anyhow::Error::from);
        written.push(
            page.and_then(|page| whole_file::replace(path, page.as_bytes()))
                .with_context(|| format!("--report {}", path.display())),
        );
        if !show.quiet && written.last().is_some_and(Result::is_ok) {
            output::say(&format!("report: {}", path.display()));
        }
    }
    if let Some(directory) = &show.pages.plots {
        written.push(
            write_charts(&forest::charts(suite, shown.sort), directory)
                .with_context(|| format!("--plots {}", directory.display())),
        );
    }
    if show.json {
        output::print(&json::text(&json::of_benchmarks(suite, &meta))?)?;
    } else {
        output::print(&suite_screen::render(suite, shown, &screen(show.color)))?;
    }
    written.into_iter().collect()
}

fn export(
    suite: &Benchmarks,
    samples: &Samples,
    shown: Shown,
    meta: &Meta,
    path: &Path,
) -> anyhow::Result<()> {
    let form = form_of(path)?;
    whole_file::write(path, |mut file| {
        match form {
            Form::Json => {
                file.write_all(json::text(&json::of_benchmarks(suite, meta))?.as_bytes())?;
            }
            Form::Markdown => file.write_all(markdown::render(suite, shown).as_bytes())?,
            Form::Summary => file.write_all(csv::render(suite).as_bytes())?,
            Form::Raw(form) => form.write(samples, &mut file)?,
        }
        Ok(())
    })
}
