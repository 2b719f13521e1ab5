//! Generates all pages of a history, reading every result once.
//!
//! Some pages show the data of one benchmark, others those of one run. The results are read one
//! benchmark at a time, and each benchmark appends its part to the files of its runs, so the files
//! need not be kept in memory. The first page is written last.

use super::{DrawnSeries, Site, Whole};
use crate::Store;
use anyhow::Context;
use assay_analysis::history::RunSummary;
use assay_report::site::{self, data};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// Destination of all pages. A name is a path that [`Site::page`] accepts.
pub trait Out {
    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    fn put(&mut self, name: &str, text: &str) -> anyhow::Result<()>;

    /// Appends to a file that is written in several parts.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    fn append(&mut self, name: &str, text: &str) -> anyhow::Result<()>;

    /// Completes all files that are written in several parts.
    ///
    /// # Errors
    ///
    /// If one can't be written.
    fn close(&mut self) -> anyhow::Result<()>;
}

/// Data files of runs while they are being written.
struct Files<'a> {
    stamp: &'a str,
    out: &'a mut dyn Out,
    /// True for each file that has been begun, by its number.
    begun: Vec<bool>,
}

impl Files<'_> {
    fn add(&mut self, number: usize, text: &str) -> anyhow::Result<()> {
        let name = format!("{}/runs-{number}.js", site::DATA);
        if !std::mem::replace(&mut self.begun[number], true) {
            self.out.append(&name, &data::file_of_runs(number, self.stamp))?;
        }
        self.out.append(&name, text)
    }
}

impl<S: Borrow<Store>> Site<S> {
    /// Generates all pages. Before each benchmark, calls `told` with the number of finished
    /// benchmarks and the total number.
    ///
    /// # Errors
    ///
    /// If a page can't be written, or the store can't be read.
    pub fn all(
        &mut self,
        out: &mut dyn Out,
        told: &mut dyn FnMut(usize, usize),
    ) -> anyhow::Result<()> {
        for (name, text) in site::SHARED {
            out.put(&format!("{}/{name}", site::ASSETS), text)?;
        }
        let together = data::runs_of_a_file(&self.index);
        let begun = vec![false; self.index.measured.len().div_ceil(together)];
        let mut files = Files { stamp: &self.frame.stamp, out: &mut *out, begun };
        let mut whole = Whole::default();
        let names = self.store().benchmarks(&self.frame.project)?;
        for (number, name) in names.iter().enumerate() {
            told(number, names.len());
            let gone = self.gone(name)?;
            for (number, series) in self.found(name, None)? {
                let drawn: Vec<DrawnSeries> =
                    series.into_iter().map(|series| self.trend(series)).collect();
                for (place, drawn) in drawn.iter().enumerate() {
                    let key = format!("{}.{place}", self.files[number]);
                    let text = self.series(&key, drawn);
                    files.out.put(&format!("{}/{key}.js", site::DATA), &text)?;
                    self.by_run(number, drawn, together, &mut files)?;
                }
                let page = self.benchmark_of(number, &drawn, &gone)?;
                let name = format!("{}/{}.html", site::BENCHMARKS, self.files[number]);
                files.out.put(&name, &page)?;
                self.note_all(&mut whole, number, drawn.iter().map(|(trend, _)| trend));
            }
        }
        self.note_gone(&mut whole)?;
        out.close()?;
        self.whole = Some(whole);
        for page in [
            "data/runs.js",
            "data/benchmarks.js",
            "data/machines.js",
            "machines.html",
            "compare.html",
            "index.html",
        ] {
            let text = self.page(page)?.context("every site has it")?;
            out.put(page, &text)?;
        }
        Ok(())
    }

    /// Appends the results of a series to the data files of its runs.
    fn by_run(
        &self,
        benchmark: usize,
        (trend, _): &DrawnSeries,
        together: usize,
        files: &mut Files<'_>,
    ) -> anyhow::Result<()> {
        let Some(metric) = self.index.of_metric(&trend.series.metric) else { return Ok(()) };
        let mut parts: BTreeMap<usize, Vec<(usize, &RunSummary)>> = BTreeMap::new();
        for point in &trend.series.points {
            if let Some(number) = self.index.of_point(point) {
                let part = parts.entry(number / together).or_default();
                part.push((number % together, &point.result));
            }
        }
        for (file, mut results) in parts {
            results.sort_by_key(|&(place, _)| place);
            files.add(file, &data::results(benchmark, metric, &results))?;
        }
        Ok(())
    }
}
