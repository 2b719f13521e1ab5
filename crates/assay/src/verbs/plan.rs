//! `assay plan`: computes how many runs are needed, or which difference a given number of runs can
//! detect.
//!
//! This module reads numbers or a pilot experiment, calls the analysis, and shows the result.
//! Nothing is computed here.

use crate::args::{LookArgs, ReadingArgs, SideArgs, chance, files_of, threshold};
use crate::progress::Work;
use crate::{Ending, calibrated, output, present};
use anyhow::{Context, bail};
use assay_analysis::planning::{
    Alternative, Kind, Measure, PHASES, PlanQuestion, from_numbers, from_pilot_telling,
};
use assay_data::unit::{Quantity, parse_quantity};
use assay_data::{Environment, Threshold, Unit, import};
use assay_measure::environment;
use assay_report::json::{self, Meta};
use assay_report::planning as report;
use clap::{ArgGroup, ValueEnum};
use std::path::PathBuf;

/// Arguments of `assay plan`.
#[derive(clap::Args, Debug)]
#[command(group = ArgGroup::new("recorded").args(["pilot", "sides"]).multiple(true))]
#[command(after_help = "\
Give four of these: number of runs, difference, standard deviation, significance level, power. The fifth is calculated. A pilot \
experiment (a few recorded runs) supplies the standard deviation, the distribution for simulating the rank test, and the time per run.

Examples:
  assay plan --delta 50us --sd 1912us --alpha 0.01 --power 0.95   how many runs?
  assay plan --n 50000 --sd 30.77                                 which difference can be detected?
  assay plan --n 50 --delta 1% --sd 3%                            what is the power?
  assay run --save pilot.assay A B
  assay plan --pilot pilot.assay --threshold 1%                   how many, and how long will it take?
  assay plan --pilot pilot.assay --threshold 1% --blocks          the same in blocks, as in `assay run`
  assay plan --pilot times.csv --by 1 --value 2 --unit ns --delta 6.667us")]
pub(crate) struct Args {
    /// Number of runs per command; with --type paired, number of pairs
    #[arg(long, value_name = "NUMBER", value_parser = runs)]
    n: Option<f64>,

    /// Difference to detect: a number, an amount such as 50us, or, with a pilot, a percentage of
    /// the reference
    #[arg(long, value_name = "SIZE", value_parser = delta)]
    delta: Option<Size>,

    /// Difference to detect, as for `assay compare`: a percentage, or an amount with a unit
    #[arg(long, value_name = "SIZE", value_parser = threshold, conflicts_with = "delta")]
    threshold: Option<Threshold>,

    /// Standard deviation of the values (for pairs, of their differences), in the unit of --delta
    #[arg(long, value_name = "SIZE", value_parser = size)]
    sd: Option<Size>,

    /// Significance level: probability of finding a difference where there is none [default: 5%;
    /// --rigorous uses 1%]
    #[arg(long, visible_alias = "sig-level", value_name = "SHARE", value_parser = chance)]
    alpha: Option<f64>,

    /// Power: probability of finding the difference [default: 80%; --rigorous uses 95%]
    #[arg(long, value_name = "SHARE", value_parser = chance)]
    power: Option<f64>,

    /// Samples of a pilot experiment: .assay, columns of numbers, or CSV; several files are allowed
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pilot: Vec<PathBuf>,

    #[command(flatten)]
    sides: SideArgs,

    /// Metric of the pilot to plan for [default: its primary metric, otherwise the first]
    #[arg(long, value_name = "METRIC", requires = "recorded")]
    primary: Option<String>,

    /// Plan for blocks, each of which measures both commands, and for a two-sided test
    #[arg(long, requires = "recorded", conflicts_with_all = ["alternative", "kind", "strict"])]
    blocks: bool,

    /// Alternative hypothesis: two-sided, only larger values, or only smaller ones
    #[arg(long, value_name = "WHICH", default_value = "two-sided")]
    alternative: Side,

    /// Kind of test: two samples, one sample against a number, or pairs
    #[arg(long = "type", value_name = "WHAT", default_value = "two-sample")]
    kind: What,

    /// Also count a difference in the wrong direction as found, like R's strict = TRUE
    #[arg(long)]
    strict: bool,

    /// Round the number of runs up to a multiple of this [default: two significant digits, at most
    /// 1000]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    round: Option<u64>,

    /// Seed of the bootstrap and the simulation
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 53))]
    seed: u64,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    look: LookArgs,
}

/// Alternative hypotheses, with R's spellings as aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Side {
    /// In either direction
    #[value(alias = "two.sided")]
    TwoSided,
    /// The values are larger
    #[value(alias = "one-sided", alias = "one.sided")]
    Greater,
    /// The values are smaller
    Less,
}

/// Kinds of tests, with R's spellings as aliases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Two samples of n runs each
    #[value(alias = "two.sample")]
    TwoSample,
    /// One sample against a number
    #[value(alias = "one.sample")]
    OneSample,
    /// n pairs
    Paired,
}

/// A size as the user typed it.
#[derive(Clone, Debug, PartialEq)]
struct Size {
    value: f64,
    measure: Option<Measure>,
}

/// End of the error message for a size that is zero or negative.
const NOT_POSITIVE: &str = "it must be greater than 0";

/// Computes the plan and shows it.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let sides = args.sides.with(&args.pilot)?;
    let planning = if sides.is_empty() {
        let (asked, measure) = numbers(args)?;
        let machine = Environment::from_facts(environment::capture());
        from_numbers(asked, measure)?.on(&calibrated::facts(&machine))
    } else {
        let mut work = Work::on_files(args.look.quiet, "planning", &files_of(&sides));
        let samples = import::load_sides(&sides, &args.reading.options())?;
        let unit_of = |metric: Option<&str>| {
            let named = metric.and_then(|name| samples.metric_index(name));
            let planned = samples.plan.as_ref().and_then(|p| samples.metric_index(&p.primary));
            named.or(planned).map_or_else(
                || samples.metrics.first().map(|m| m.unit.clone()),
                |index| Some(samples.metrics[index].unit.clone()),
            )
        };
        let metric = args.primary.as_deref();
        let unit = unit_of(metric).unwrap_or_default();
        let asked = of_pilot(args, &unit)?;
        work.read(samples.len(), PHASES);
        let planned = from_pilot_telling(asked, &samples, metric, &mut |phase| work.begin(phase));
        work.end();
        planned.with_context(|| {
            args.pilot.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
        })?
    };
    if args.look.json {
        let meta = Meta {
            verb: "plan".to_owned(),
            tool: present::TOOL.to_owned(),
            argv: present::argv(),
            file: None,
        };
        output::print(&json::text(&json::ExperimentPlan::of(&planning, &meta))?)?;
    } else {
        output::print(&report::render(&planning, &present::screen(args.look.color)))?;
    }
    Ok(Ending::Fine)
}

/// Returns the question for this difference and standard deviation.
fn asked(args: &Args, delta: Option<Threshold>, sd: Option<f64>) -> PlanQuestion {
    PlanQuestion {
        kind: match args.kind {
            What::TwoSample => Kind::TwoSample,
            What::OneSample => Kind::OneSample,
            What::Paired => Kind::Paired,
        },
        alternative: match args.alternative {
            Side::TwoSided => Alternative::TwoSided,
            Side::Greater => Alternative::Greater,
            Side::Less => Alternative::Less,
        },
        strict: args.strict,
        n: args.n,
        delta,
        sd,
        sig_level: args.alpha,
        power: args.power,
        round: args.round,
        in_blocks: args.blocks,
        seed: args.seed,
    }
}

/// Returns the question and the unit of its sizes, without a pilot. The sizes must have the same
/// unit; `--unit` gives the unit of bare numbers.
fn numbers(args: &Args) -> anyhow::Result<(PlanQuestion, Measure)> {
    let bare = args.reading.unit.as_deref().map(bare_unit).transpose()?;
    let (factor, bare) = bare.unwrap_or((1.0, Unit::One));
    let read = |size: &Option<Size>| {
        size.as_ref().map(|size| match &size.measure {
            Some(measure) => (size.value, measure.clone()),
            None => (size.value * factor, Measure::Unit(bare.clone())),
        })
    };
    let (delta, sd) = (read(&difference(args)), read(&args.sd));
    if let (Some((_, delta)), Some((_, sd))) = (&delta, &sd)
        && delta != sd
    {
        bail!(
            "--delta is {} and --sd is {}; give both in the same unit",
            spelled(delta),
            spelled(sd)
        );
    }
    let measure =
        delta.as_ref().or(sd.as_ref()).map_or(Measure::Unit(bare), |(_, measure)| measure.clone());
    let delta = delta.map(|(value, measure)| of_size(value, measure));
    Ok((asked(args, delta, sd.map(|(value, _)| value)), measure))
}

/// Returns the question for a pilot, whose values have this unit. The difference may also be a
/// fraction of the reference.
fn of_pilot(args: &Args, unit: &Unit) -> anyhow::Result<PlanQuestion> {
    let scaled = matches!(unit, Unit::Second | Unit::Byte);
    let amount = |option: &str, size: &Size| match &size.measure {
        None if scaled => bail!(
            "{option} {} of what? The pilot is in `{}`: write an amount with its unit{}",
            size.value,
            unit.symbol(),
            if option == "--delta" { ", or a percentage" } else { "" }
        ),
        None => Ok((size.value, Measure::Unit(unit.clone()))),
        Some(measure) => Ok((size.value, measure.clone())),
    };
    let delta = difference(args).map(|size| amount("--delta", &size)).transpose()?;
    let sd = match args.sd.as_ref().map(|size| amount("--sd", size)).transpose()? {
        Some((value, measure)) if measure == Measure::Unit(unit.clone()) => Some(value),
        Some((_, measure)) => bail!(
            "--sd is {}, and the pilot is in `{}`; give it in that unit",
            spelled(&measure),
            unit.symbol()
        ),
        None => None,
    };
    Ok(asked(args, delta.map(|(value, measure)| of_size(value, measure)), sd))
}

/// Returns the difference to detect, from `--threshold` or `--delta`.
fn difference(args: &Args) -> Option<Size> {
    let threshold = args.threshold.as_ref().map(|threshold| match threshold {
        Threshold::Relative(share) => Size { value: *share, measure: Some(Measure::Fraction) },
        Threshold::Absolute { value, unit } => {
            Size { value: *value, measure: Some(Measure::Unit(unit.clone())) }
        }
    });
    threshold.or_else(|| args.delta.clone())
}

fn of_size(value: f64, measure: Measure) -> Threshold {
    match measure {
        Measure::Fraction => Threshold::Relative(value),
        Measure::Unit(unit) => Threshold::Absolute { value, unit },
    }
}

fn spelled(measure: &Measure) -> String {
    match measure {
        Measure::Fraction => "a percentage".to_owned(),
        Measure::Unit(Unit::One) => "a plain number".to_owned(),
        Measure::Unit(unit) => format!("in `{}`", unit.symbol()),
    }
}

/// Returns the unit given by `--unit`, and the number of base units in it.
fn bare_unit(symbol: &str) -> anyhow::Result<(f64, Unit)> {
    match parse_quantity(&format!("1{symbol}")) {
        Ok(Quantity::Amount(factor, unit)) => Ok((factor, unit)),
        _ => bail!(
            "--unit {symbol}: unknown unit; known are ns, us, ms, s, min, h, B, KiB, MiB, GiB, /s"
        ),
    }
}

fn size(text: &str) -> Result<Size, String> {
    let (value, measure) = match parse_quantity(text).map_err(|e| e.to_string())? {
        Quantity::Fraction(fraction) => (fraction, Some(Measure::Fraction)),
        Quantity::Amount(value, unit) => (value, Some(Measure::Unit(unit))),
        Quantity::Bare(number) => (number, None),
    };
    if value > 0.0 { Ok(Size { value, measure }) } else { Err(NOT_POSITIVE.to_owned()) }
}

fn delta(text: &str) -> Result<Size, String> {
    size(text).map_err(|problem| {
        let direction = if problem == NOT_POSITIVE {
            ": it is a size, and --alternative gives the direction"
        } else {
            ""
        };
        format!("{problem}{direction}")
    })
}

fn runs(text: &str) -> Result<f64, String> {
    match text.replace(',', "").parse::<f64>() {
        Ok(n) if (2.0..=1e12).contains(&n) => Ok(n),
        _ => Err("write a number of runs, at least 2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_more_than_nothing_and_keep_their_unit() {
        assert_eq!(size("5").map(|s| s.measure), Ok(None));
        assert_eq!(size("5%").map(|s| s.measure), Ok(Some(Measure::Fraction)));
        assert!(size("0").is_err() && size("-1ms").is_err() && size("x").is_err());
    }

    #[test]
    fn there_are_two_runs_at_least() {
        assert_eq!(runs("35,000"), Ok(35_000.0));
        assert!(runs("1").is_err() && runs("nan").is_err());
    }
}
