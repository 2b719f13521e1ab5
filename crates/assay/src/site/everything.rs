//! All pages of a history, written to a directory, with every result read once.
//!
//! The data stand there by benchmark and by run. They are read by benchmark, so each benchmark adds its part to all files of runs as it comes;
//! nothing is held but the files. A file appears whole or not at all, the first page last; what an earlier writing left there is
//! removed at the end.

use super::{Drawn, Site, Whole};
use crate::progress::Line;
use crate::whole_file;
use anyhow::{Context, bail};
use assay_analysis::history::RunSummary;
use assay_report::site::{self, data};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What every page of ours begins with.
const OURS: &str = "<meta name=\"generator\" content=\"assay ";

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    /// Files.
    pub files: usize,
    /// Bytes in all of them.
    pub bytes: u64,
}

/// A directory that is being filled.
struct Directory<'a> {
    path: &'a Path,
    written: Written,
    names: HashSet<PathBuf>,
}

impl Directory<'_> {
    fn put(&mut self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.path.join(name);
        whole_file::replace(&path, text.as_bytes())?;
        self.count(path, text.len() as u64);
        Ok(())
    }

    fn count(&mut self, path: PathBuf, bytes: u64) {
        self.written.files += 1;
        self.written.bytes += bytes;
        self.names.insert(path);
    }

    /// Removes what earlier pages had and these have not.
    fn tidy(&self) -> anyhow::Result<()> {
        for (directory, ending) in [(site::BENCHMARKS, "html"), (site::DATA, "js")] {
            for entry in fs::read_dir(self.path.join(directory))? {
                let path = entry?.path();
                let is_page = path.extension().is_some_and(|found| found == ending);
                if is_page && !self.names.contains(&path) {
                    fs::remove_file(&path).with_context(|| path.display().to_string())?;
                }
            }
        }
        Ok(())
    }
}

/// The files of runs while they grow.
struct Files<'a> {
    directory: PathBuf,
    stamp: &'a str,
    open: Vec<Option<BufWriter<NamedTempFile>>>,
}

impl Files<'_> {
    fn add(&mut self, number: usize, text: &str) -> anyhow::Result<()> {
        if self.open[number].is_none() {
            let mut file = BufWriter::new(whole_file::new_file(&self.directory)?);
            file.write_all(data::file_of_runs(number, self.stamp).as_bytes())?;
            self.open[number] = Some(file);
        }
        if let Some(file) = &mut self.open[number] {
            file.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn close(self, directory: &mut Directory<'_>) -> anyhow::Result<()> {
        for (number, file) in self.open.into_iter().enumerate() {
            let Some(file) = file else { continue };
            let file = file.into_inner().map_err(|error| error.into_error())?;
            let path = self.directory.join(format!("runs-{number}.js"));
            let bytes = file.as_file().metadata()?.len();
            file.persist(&path).map_err(|error| error.error)?;
            directory.count(path, bytes);
        }
        Ok(())
    }
}

/// Writes all pages of a project; the line shows how far it is.
///
/// # Errors
/// When the directory holds pages of somebody else or can't be written, or the store can't be read.
pub(crate) fn write(site: &mut Site, out: &Path, line: &Line) -> anyhow::Result<Written> {
    let first = out.join("index.html");
    let is_ours = fs::read_to_string(&first).map_or(!first.exists(), |text| text.contains(OURS));
    if !is_ours {
        bail!("{} is no page of assay: name another directory", first.display());
    }
    for part in [site::BENCHMARKS, site::DATA, site::ASSETS] {
        let path = out.join(part);
        fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
    }
    let mut directory = Directory { path: out, written: Written::default(), names: HashSet::new() };
    for (name, text) in site::SHARED {
        directory.put(&format!("{}/{name}", site::ASSETS), text)?;
    }
    let stamp = site.frame.stamp.clone();
    let together = data::runs_of_a_file(&site.index);
    let open = (0..site.index.measured.len().div_ceil(together)).map(|_| None).collect();
    let mut files = Files { directory: out.join(site::DATA), stamp: &stamp, open };
    let mut whole = Whole::default();
    let names = site.store.benchmarks(&site.frame.project)?;
    for (number, name) in names.iter().enumerate() {
        if line.is_due() {
            let words = format!("writing pages: benchmark {} of {}", number + 1, names.len());
            line.draw(number as f64 / names.len() as f64, words);
        }
        let gone = site.gone(name)?;
        for (number, series) in site.found(name, None)? {
            let drawn: Vec<Drawn> = series.into_iter().map(|series| site.trend(series)).collect();
            for (place, drawn) in drawn.iter().enumerate() {
                let key = format!("{}.{place}", site.files[number]);
                directory.put(&format!("{}/{key}.js", site::DATA), &site.series(&key, drawn))?;
                by_run(site, number, drawn, together, &mut files)?;
            }
            let page = site.benchmark_of(number, &drawn, &gone)?;
            directory.put(&format!("{}/{}.html", site::BENCHMARKS, site.files[number]), &page)?;
            site.note_all(&mut whole, number, drawn.iter().map(|(trend, _)| trend));
        }
    }
    site.note_gone(&mut whole)?;
    files.close(&mut directory)?;
    site.whole = Some(whole);
    for page in [
        "data/runs.js",
        "data/benchmarks.js",
        "data/machines.js",
        "machines.html",
        "compare.html",
        "index.html",
    ] {
        let text = site.page(page)?.context("every site has it")?;
        directory.put(page, &text)?;
    }
    directory.tidy()?;
    line.end();
    Ok(directory.written)
}

/// Adds a series to the files of its runs.
fn by_run(
    site: &Site,
    benchmark: usize,
    (trend, _): &Drawn,
    together: usize,
    files: &mut Files<'_>,
) -> anyhow::Result<()> {
    let Some(metric) = site.index.of_metric(&trend.series.metric) else { return Ok(()) };
    let mut parts: BTreeMap<usize, Vec<(usize, &RunSummary)>> = BTreeMap::new();
    for point in &trend.series.points {
        if let Some(number) = site.index.of_point(point) {
            parts.entry(number / together).or_default().push((number % together, &point.result));
        }
    }
    for (file, mut results) in parts {
        results.sort_by_key(|&(place, _)| place);
        files.add(file, &data::results(benchmark, metric, &results))?;
    }
    Ok(())
}
