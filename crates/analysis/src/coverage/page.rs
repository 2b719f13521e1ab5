//! Generates the page `docs/concepts/interval-coverage.md` from the coverage table, with a
//! description of the simulation.
//!
//! The page is generated from the same table that the warnings use, so the two can't diverge; a
//! test checks the committed page against it. Nothing is simulated here.

use super::simulation::EXPERIMENTS;
use super::{Kind, Method, NOMINAL, SIZES};
use crate::policy::COVERAGE_LEAST;
use std::fmt::Write as _;

/// Renders the page of a table.
pub fn page(table: &str) -> String {
    let cell_of = |method: &str, kind: Kind, size: usize| -> Option<f64> {
        let head = format!("{method},{},", kind.name());
        let line = table.lines().find_map(|line| line.strip_prefix(&head))?;
        line.split(',').nth(SIZES.iter().position(|known| *known == size)?)?.parse().ok()
    };
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
        | normal | normal | always; the worst of all kinds that fit is what is reported |\n\
        | lognormal | the logarithm is normal with sd ½ | skewness beyond ±1 |\n\
        | bimodal | 60 % and 40 % of two normal distributions, six sd apart | the dip test finds several modes at 1 % |\n\
        | heavy_tail | Student's t with three degrees of freedom | 0.5 % or more of the values beyond three interquartile ranges outside the quartiles |\n\
        | ties | normal in steps of half an sd | fewer than half of the values are distinct |\n\
        | ar1_0.5 | normal, each value keeps half of the one before it | n values are worth less than ¾ n independent ones |\n\n\
        Below 20 values neither shape nor dependence can be detected: such values may be of any kind. Between two sizes the coverage is taken\n\
        to lie on a straight line over ln n. Two samples are of one size and one distribution; differences are then 0 and ratios 1.\n\n\
        ## Where it is reported\n\n\
        - Screens and pages: the finding `INTERVAL_OPTIMISTIC`, of the interval that decided a verdict and of that of a median. It speaks of\n  \
        what is seen in the values, so not of shapes below 20 values.\n\
        - `assay compare --all`: a star behind every interval in the table that misses, and below the table how often it held.\n\
        - JSON of `describe` and of `compare --all`: `coverage` beside every interval, `null` where it holds what it says, else with\n  \
        `nominal`, `simulated` and `situation`, the column of the tables below. Below 20 values that is the worst of all columns.\n\n",
        100.0 * error,
        100.0 * COVERAGE_LEAST,
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
        for (_, name) in Method::ALL {
            let _ = write!(text, "| {name} |");
            for kind in Kind::ALL {
                let cell = match cell_of(name, kind, size) {
                    None => "–".to_owned(),
                    Some(c) if c < COVERAGE_LEAST => format!("**{:.1}**", 100.0 * c),
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
        `mean_t`, `welch`, `pooled_t`: Student's and Welch's. `median_order`: order statistics, exact distribution; `median_widened`: those\n\
        of as many independent values as the signs about the median show, which is what screens show beside a median. `pseudo_median_*`: Walsh averages, by the exact\n\
        distribution of signed ranks, R's normal distribution, and widened. `mean_widened`: Student's for as many values as the series is worth.\n\
        `bootstrap_*`: 999 resamples. `block_bootstrap_*`: stationary, block length chosen from the data, percentile interval, 299\n\
        resamples. `shift_*`: Hodges–Lehmann for two samples. `recordings` and `blocks`: the intervals that decide a verdict, for samples\n\
        recorded apart and for blocks. `fieller`, `delta_log`: ratio of means. `brunner_munzel`: how often one is below the other.\n\
        `quantile_p50`, `quantile_p90`: difference of two medians and of two 90 % quantiles, by order statistics, widened where values are\n\
        correlated; `assay` compares quantiles from 20 values on, and no warning stands beside these intervals: of the cells that there are,\n\
        only the median of 20 correlated values misses.\n\
        Sources stand with each method in `crates/stats`.\n",
    );
    text
}
