//! The formats with all observations that `--export` and `assay convert` can write, and the file
//! name endings that select them.

use assay_data::export::{Escapes, Plain};
use assay_data::{Samples, assay_file, export};
use clap::ValueEnum;
use std::io::{self, Write};
use std::path::Path;

/// A file format of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RawForm {
    /// assay's own sample file, with all information (.assay)
    Assay,
    /// A table with one row per observation (.samples.csv)
    Csv,
    /// hyperfine 1's JSON (.hyperfine.json)
    Hyperfine,
    /// hyperfine 2's JSON (.hyperfine2.json)
    Hyperfine2,
    /// Google Benchmark's JSON, for compare.py (.gbench.json)
    GoogleBenchmark,
    /// Output of `go test -bench`, for benchstat (.go.txt)
    Go,
    /// pyperf's JSON, for `pyperf compare_to` (.pyperf.json)
    Pyperf,
    /// Latencies of a load test as an HdrHistogram log (.hlog)
    HdrLog,
    /// One server of a load test as k6's summary, as written by --summary-export (.k6.json)
    K6,
    /// One number per line, from the first metric of one benchmark (.values.txt)
    Text,
}

/// Every format with the file name ending that selects it.
const ENDINGS: [(&str, RawForm); 10] = [
    (".assay", RawForm::Assay),
    (".samples.csv", RawForm::Csv),
    (".hyperfine.json", RawForm::Hyperfine),
    (".hyperfine2.json", RawForm::Hyperfine2),
    (".gbench.json", RawForm::GoogleBenchmark),
    (".go.txt", RawForm::Go),
    (".pyperf.json", RawForm::Pyperf),
    (".hlog", RawForm::HdrLog),
    (".k6.json", RawForm::K6),
    (".values.txt", RawForm::Text),
];

impl RawForm {
    /// Returns the format that the ending of a file name selects.
    pub(crate) fn of_ending(path: &Path) -> Option<Self> {
        let name = path.to_string_lossy().to_lowercase();
        ENDINGS.iter().find(|(ending, _)| name.ends_with(ending)).map(|&(_, form)| form)
    }

    /// Returns all endings, as messages list them.
    pub(crate) fn endings() -> String {
        ENDINGS.map(|(ending, _)| ending).join(", ")
    }

    /// Returns the kind of escaping that the form needs.
    fn escapes(self) -> Escapes {
        match self {
            Self::Csv | Self::Go | Self::HdrLog | Self::Text => Escapes::Text,
            Self::Assay
            | Self::Hyperfine
            | Self::Hyperfine2
            | Self::GoogleBenchmark
            | Self::Pyperf
            | Self::K6 => Escapes::Json,
        }
    }

    /// Writes samples. Control characters in names are never written.
    ///
    /// # Errors
    /// Fails if the format cannot represent these samples, or writing fails.
    pub(crate) fn write(self, samples: &Samples, sink: &mut impl Write) -> io::Result<()> {
        if samples.is_empty() && self != Self::Assay {
            let problem = "only summaries were recorded, and this form holds observations; write .assay, which keeps both";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        let sink = &mut Plain::new(sink, self.escapes());
        match self {
            Self::Assay => assay_file::write(samples, sink),
            Self::Csv => export::csv(samples, sink),
            Self::Hyperfine => export::hyperfine(samples, sink),
            Self::Hyperfine2 => export::hyperfine2(samples, sink),
            Self::GoogleBenchmark => export::google_benchmark(samples, sink),
            Self::Go => export::go_bench(samples, sink),
            Self::Pyperf => export::pyperf(samples, sink),
            Self::HdrLog => export::hdr_log(samples, sink),
            Self::K6 => export::k6(samples, sink),
            Self::Text => export::text(samples, sink),
        }
    }
}
