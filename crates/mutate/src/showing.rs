//! Prints the results as text or JSON, and writes the requested files, whose extensions determine
//! the format. Whether the files can be written is checked before anything is tried.

use crate::args::Args;
use anyhow::{Context, bail};
use assay_analysis::mutation::{Scores, scores};
use assay_data::mutation::Mutation;
use assay_data::publishing::publishable;
use assay_report::charts::{quadrant, svg};
use assay_report::console::{output, outputs, whole_file};
use assay_report::json::{self, Mutated};
use assay_report::mutation as report;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The formats of `--export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportFormat {
    Json,
    Markdown,
    Sarif,
    Svg,
}

/// File name extensions with their formats. `.sarif.json` precedes `.json`, which is a suffix of
/// it.
const ENDINGS: [(&str, ExportFormat); 5] = [
    (".sarif.json", ExportFormat::Sarif),
    (".sarif", ExportFormat::Sarif),
    (".json", ExportFormat::Json),
    (".md", ExportFormat::Markdown),
    (".svg", ExportFormat::Svg),
];

fn form_of(path: &Path) -> Option<ExportFormat> {
    let name = path.to_string_lossy().to_lowercase();
    ENDINGS.into_iter().find_map(|(ending, form)| name.ends_with(ending).then_some(form))
}

/// Returns the files to write, each with its option and an example of a file name.
fn output_files(args: &Args) -> impl Iterator<Item = (&'static str, &Path, &'static str)> {
    let exports = args.export.iter().map(|path| ("--export", path.as_path(), "comment.md"));
    let report = args.report.iter().map(|path| ("--report", path.as_path(), "report.html"));
    let stryker = args.stryker.iter().map(|path| ("--stryker", path.as_path(), "stryker.json"));
    report.chain(exports).chain(stryker)
}

/// Checks that all files can be written and that their formats are available.
///
/// # Errors
///
/// Fails with the file and the reason if a file cannot be written, or if its format is unknown or
/// needs an option that is missing.
pub(crate) fn check(args: &Args) -> anyhow::Result<()> {
    outputs::check(&args.files, &output_files(args).collect::<Vec<_>>())?;
    for (option, path, _) in output_files(args) {
        let place = || format!("{option} {}", path.display());
        if option == "--export" && form_of(path).is_none() {
            bail!(
                "{}: the extension determines the format: .md (a comment for a review), .sarif (for code scanning), .svg (the chart of --coupling) or .json; use --report for a page",
                place()
            );
        }
        if form_of(path) == Some(ExportFormat::Svg)
            && option == "--export"
            && args.coupling.is_none()
        {
            bail!("{}: the chart shows the results of --coupling: add that option", place());
        }
    }
    Ok(())
}

/// Prints the results of the mutants and writes the requested files. The results are printed even
/// if a file cannot be written.
///
/// # Errors
///
/// Fails if a file or standard output cannot be written.
pub(crate) fn show(
    args: &Args,
    mutation: &Mutation,
    scores: &Scores,
    started: &str,
) -> anyhow::Result<()> {
    let mut done = Ok(());
    for (option, path, _) in output_files(args) {
        let text = match option {
            "--report" => page(mutation, scores, started),
            "--stryker" => {
                Ok(json::text(&report::stryker::document(mutation, ("assay", VERSION)))?)
            }
            _ => exported(path, mutation, scores),
        };
        let written = text
            .and_then(|text| whole_file::replace(path, text.as_bytes()))
            .with_context(|| format!("{option} {}", path.display()));
        if written.is_ok() {
            output::say(&format!("written: {}", path.display()));
        }
        done = done.and(written);
    }
    if args.json {
        output::print(&json::text(&Mutated::of(mutation, scores))?)?;
    } else {
        let screen = output::screen(args.color);
        output::print(&report::render(mutation, scores, args.survivors, &screen))?;
    }
    done
}

fn page(mutation: &Mutation, scores: &Scores, started: &str) -> anyhow::Result<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let command: Vec<String> =
        ["assay", "mutate"].into_iter().map(str::to_owned).chain(words).collect();
    let tool = format!("assay {VERSION}");
    let material = report::Material { mutation, scores, tool: &tool, command: &command, started };
    Ok(publishable(&report::page(material)?))
}

fn exported(path: &Path, mutation: &Mutation, scores: &Scores) -> anyhow::Result<String> {
    Ok(match form_of(path).context("the ending is of no form")? {
        ExportFormat::Json => json::text(&Mutated::of(mutation, scores))?,
        ExportFormat::Markdown => report::markdown(mutation, scores),
        ExportFormat::Svg => {
            let chart = scores.couplings.as_ref().and_then(|all| quadrant::chart(mutation, all));
            let chart = chart.context("no function has enough results for a chart")?;
            svg::standalone(&chart.titled(std::slice::from_ref(&mutation.framework)))
        }
        ExportFormat::Sarif => json::text(&report::sarif(mutation, scores, VERSION))?,
    })
}

/// Lists the mutants without trying them.
///
/// # Errors
///
/// Fails if standard output cannot be written.
pub(crate) fn list(args: &Args, mutation: &Mutation) -> anyhow::Result<()> {
    if args.json {
        return output::print(&json::text(&Mutated::of(mutation, &scores(mutation)))?);
    }
    output::print(&report::list(mutation, args.diff, &output::screen(args.color)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_mutate::mutants::Operator;

    #[test]
    fn there_is_advice_for_every_kind_of_change_in_the_order_of_their_harshness() {
        let own: Vec<&str> = Operator::ALL.iter().map(|own| own.name()).collect();
        assert_eq!(report::known().collect::<Vec<_>>(), own);
    }

    #[test]
    fn endings_say_in_which_form_a_file_is_written() {
        let of = |name: &str| form_of(Path::new(name));
        assert_eq!(of("a/comment.MD"), Some(ExportFormat::Markdown));
        assert_eq!(
            (of("x.sarif"), of("x.sarif.json")),
            (Some(ExportFormat::Sarif), Some(ExportFormat::Sarif))
        );
        assert_eq!((of("x.json"), of("x.html")), (Some(ExportFormat::Json), None));
    }
}
