//! Makes the table of how often intervals hold what they are about: `docs/concepts/interval-coverage.md` for people, and
//! `crates/analysis/src/coverage/table.csv` for the tool's own warnings. Some minutes on two cores; the same digits everywhere.
//!
//!     cargo run --release -p assay-analysis --example interval_coverage
#![allow(clippy::print_stdout, reason = "says where it is")]

use assay_analysis::coverage::simulation::{EXPERIMENTS, GROUPS, cells};
use assay_analysis::coverage::{Kind, LEAST, Method, NOMINAL, SIZES};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

type Table = BTreeMap<(Method, Kind, usize), Option<f64>>;

fn main() -> io::Result<()> {
    let mut jobs: Vec<(&[Method], Kind, usize)> = Vec::new();
    for size in SIZES.into_iter().rev() {
        for group in GROUPS {
            jobs.extend(Kind::ALL.map(|kind| (group, kind, size)));
        }
    }
    let table: Table = jobs
        .par_iter()
        .flat_map_iter(|&(group, kind, size)| {
            let found = cells(group, kind, size, EXPERIMENTS);
            println!("{} {} {size}: {found:?}", group[0].name(), kind.name());
            group
                .iter()
                .zip(found)
                .map(move |(method, cell)| ((*method, kind, size), cell.coverage(EXPERIMENTS)))
        })
        .collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::write(root.join("src/coverage/table.csv"), csv(&table))?;
    std::fs::write(root.join("../../docs/concepts/interval-coverage.md"), page(&table))
}

fn csv(table: &Table) -> String {
    let mut text = String::from("method,kind,5,20,100,1000\n");
    for (method, name) in Method::ALL {
        for kind in Kind::ALL {
            let _ = write!(text, "{name},{}", kind.name());
            for size in SIZES {
                let cell =
                    table[&(method, kind, size)].map_or(String::new(), |c| format!("{c:.4}"));
                let _ = write!(text, ",{cell}");
            }
            text.push('\n');
        }
    }
    text
}

fn page(table: &Table) -> String {
    let error = (NOMINAL * (1.0 - NOMINAL) / EXPERIMENTS as f64).sqrt();
    let mut text = format!(
        "# How often intervals hold what they are about\n\n\
        An interval at 95 % should hold what it is about in 95 of 100 experiments. Whether it does depends on the data. This page is\n\
        simulated: {EXPERIMENTS} experiments for each cell, in per cent, with a standard error of {:.1} for a true 95. **Bold** cells are below\n\
        {:.0} %: there the interval promises more than it keeps, and where `assay` prints such an interval it says so itself (finding\n\
        `INTERVAL_OPTIMISTIC`, JSON field `coverage`). – stands where fewer than half of the experiments gave an interval at all: too few\n\
        values, or none that ends within the data.\n\n\
        It is made, together with the table that the warnings read, by one command, with the same digits on every machine:\n\n    \
        cargo run --release -p assay-analysis --example interval_coverage\n\n\
        ## The data\n\n\
        | kind | what it is | when your data counts as such |\n| --- | --- | --- |\n\
        | normal | normal | always; the worst of all kinds that fit is what you are told |\n\
        | lognormal | the logarithm is normal with sd ½ | skewness beyond ±1 |\n\
        | bimodal | 60 % and 40 % of two normal laws, six sd apart | the dip test finds several modes at 1 % |\n\
        | heavy_tail | Student's t with three degrees of freedom | 0.5 % or more of the values beyond three interquartile ranges outside the quartiles |\n\
        | ties | normal in steps of half an sd | fewer than half of the values are distinct |\n\
        | ar1_0.5 | normal, each value keeps half of the one before it | n values are worth less than ¾ n independent ones |\n\n\
        Below 20 values neither shape nor dependence can be told: such values may be of any kind. Between two sizes the coverage is taken\n\
        to lie on a straight line over ln n. Two samples are of one size and one law; differences are then 0 and ratios 1.\n\n\
        ## Where you are told\n\n\
        - Screens and pages: the finding `INTERVAL_OPTIMISTIC`, of the interval that decided a verdict and of that of a median. It speaks of\n  \
        what is seen in the values, so not of shapes below 20 values.\n\
        - `assay compare --all`: a star behind every interval in the table that misses, and below the table how often it held.\n\
        - JSON of `describe` and of `compare --all`: `coverage` beside every interval, `null` where it holds what it says, else with\n  \
        `nominal`, `simulated` and `situation`, the column of the tables below. Below 20 values that is the worst of all columns.\n\n",
        100.0 * error,
        100.0 * LEAST,
    );
    for size in SIZES {
        let _ = write!(text, "## {size} values");
        text.push_str("\n\n| method |");
        Kind::ALL.iter().for_each(|kind| {
            let _ = write!(text, " {} |", kind.name());
        });
        text.push_str("\n| --- |");
        Kind::ALL.iter().for_each(|_| text.push_str(" ---: |"));
        text.push('\n');
        for (method, name) in Method::ALL {
            let _ = write!(text, "| {name} |");
            for kind in Kind::ALL {
                let cell = match table[&(method, kind, size)] {
                    None => "–".to_owned(),
                    Some(c) if c < LEAST => format!("**{:.1}**", 100.0 * c),
                    Some(c) => format!("{:.1}", 100.0 * c),
                };
                let _ = write!(text, " {cell} |");
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text.push_str(
        "## The methods\n\n\
        `mean_t`, `welch`, `pooled_t`: Student's and Welch's. `median_order`: order statistics, exact law; `median_widened`: the same\n\
        widened by the autocorrelation time, which is what screens show beside a median. `pseudo_median_*`: Walsh averages, by the exact\n\
        law of signed ranks, R's normal law, and widened. `mean_widened`: Student's for as many values as the series is worth.\n\
        `bootstrap_*`: 999 resamples. `block_bootstrap_*`: stationary, block length chosen from the data, percentile interval, 299\n\
        resamples. `shift_*`: Hodges–Lehmann for two samples. `recordings` and `blocks`: the intervals that decide a verdict, for samples\n\
        recorded apart and for blocks. `fieller`, `delta_log`: ratio of means. `brunner_munzel`: how often one is below the other.\n\
        Sources stand with each method in `crates/stats`.\n",
    );
    text
}
