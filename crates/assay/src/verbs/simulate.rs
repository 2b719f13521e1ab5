//! `assay simulate`: generates numbers from a known distribution, and writes them in formats that
//! other tools can read.
//!
//! Simulated numbers are marked as such: distribution, seed and command line are in the file
//! itself. `assay_analysis::mock` generates the numbers; this module specifies and writes them.

use crate::{Ending, output, present, seed, store, whole_file};
use anyhow::{Context, bail, ensure};
use assay_analysis::mock::{
    Change, Distribution, DrawnValue, Numbers, Outliers, Recipe, Simulation, Tick, written,
};
use assay_data::assay_file::{Header, Writer};
use assay_data::{
    Better, Metric, Observation, Plan, Samples, StopReason, StopRule, Threshold, Unit, export,
};
use assay_report::console::outputs;
use assay_report::json::{self, Meta};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Start of the first line of text output. Only an existing file that starts with it may be
/// overwritten.
const FIRST: &str = "# simulated: by assay";

/// Arguments of `assay simulate`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
Distributions: a number, uniform(LOW, HIGH), normal(MEAN, SD), lognormal(MEAN_OF_LOG, SD_OF_LOG), exponential(MEAN), student(DF), \
pareto(SHAPE, LEAST), mix(SHARE: DISTRIBUTION, ...); with +, -, * and parentheses. Every term is drawn independently.

Examples:
  assay simulate -n 50000 --distribution 'lognormal(5, 0.2)' --seed 1 --out s1.txt
  assay simulate -n 50000 --distribution '4000 + lognormal(5, 0.2)' --seed 2 --out s2.txt
  assay simulate --distribution '2000 * mix(70%: lognormal(0, 0.2), 20%: 1 + lognormal(0, 0.2), 10%: 3 + lognormal(0, 0.2))'
  assay simulate --distribution 'normal(100, 5)' --outliers '1%: 10 x' --ar 0.5 --drift 5% --tick 'period 10, 3%'
  assay simulate --unit us --step 1us --distribution 'lognormal(5, 0.2)' --out coarse.assay
  assay simulate --blocks --subject 'old=normal(100, 5)' --subject 'new=normal(98, 5)' --out both.assay")]
pub(crate) struct Args {
    /// Distribution of the values, as in lognormal(5, 0.2)
    #[arg(long, required_unless_present = "subject", conflicts_with = "subject")]
    distribution: Option<String>,

    /// A subject with its distribution; repeat for each subject
    #[arg(long, value_name = "NAME=DISTRIBUTION")]
    subject: Vec<String>,

    /// Number of values of each subject; with --blocks, number of blocks
    #[arg(short = 'n', long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..))]
    count: u32,

    /// Seed of all random choices [default: a new one, written to the file]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    seed: Option<u64>,

    /// File to write: .assay for a sample file, .csv for one column per subject [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Draw one value of every subject per block, in random order, instead of one subject after the
    /// other
    #[arg(long)]
    blocks: bool,

    /// Unit of the numbers: ns, us, ms, s, B, KiB, ... [default: none]
    #[arg(long)]
    unit: Option<String>,

    /// Name of the metric [default: value]
    #[arg(long, value_name = "NAME")]
    metric: Option<String>,

    /// Print a summary of the file written by --out as JSON
    ///
    /// The fields are described in docs/reference/json.md.
    #[arg(long, requires = "out")]
    json: bool,

    #[command(flatten)]
    trouble: TroubleArgs,
}

/// Options that disturb the values.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Disturbances")]
struct TroubleArgs {
    /// Make a share of the values larger, by a factor (1%: 10 x) or by an amount (1%: +300)
    #[arg(long, value_name = "SHARE: SIZE")]
    outliers: Option<String>,

    /// Autocorrelation of successive values, between -1 and 1; their distribution stays the same
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, default_value_t = 0.0, value_parser = correlation)]
    ar: f64,

    /// Difference between the last value and the first, as in 5% or 300; with --blocks, across all
    /// subjects
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    drift: Option<String>,

    /// Periodic disturbance that makes every N-th value larger, as in period 10, 3%
    #[arg(long, value_name = "PERIOD, SIZE")]
    tick: Option<String>,

    /// Clock resolution: values are multiples of this, as in 1us
    #[arg(long, value_name = "SIZE")]
    step: Option<String>,
}

/// Format of the output.
enum Form {
    /// One number per line.
    Lines,
    /// One column per subject.
    Columns,
    /// A table of the observations with their blocks.
    Table,
    /// A sample file.
    Samples,
}

/// Generates the numbers and writes them.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let numbers = args.unit.as_deref().map_or_else(Numbers::default, Numbers::of_symbol);
    let recipe = recipe(args, &numbers)?;
    let form = form(args, recipe.subjects.len())?;
    let simulation = Simulation::new(recipe.clone())?;
    let made = SimulatedData { args, recipe, numbers };
    match &args.out {
        Some(path) => {
            check_place(path, &form)?;
            // If the numbers end early, for example because a distribution overflows, no incomplete
            // file must be left behind.
            whole_file::write(path, |out| made.write(simulation, &form, out))
                .with_context(|| format!("cannot write {}", path.display()))?;
            if args.json {
                output::print(&json::text(&made.report(path))?)?;
            }
        }
        None => output::stream(|out| made.write(simulation, &form, out))?,
    }
    Ok(Ending::Fine)
}

fn recipe(args: &Args, numbers: &Numbers) -> anyhow::Result<Recipe> {
    let mut subjects: Vec<(String, Distribution)> = Vec::new();
    if let Some(text) = &args.distribution {
        let distribution =
            text.parse().map_err(|error| anyhow::anyhow!("--distribution: {error}"))?;
        subjects.push((name_of(args.out.as_deref()), distribution));
    }
    for text in &args.subject {
        let (name, distribution) = text
            .split_once('=')
            .with_context(|| format!("--subject {text}: write it as NAME=DISTRIBUTION"))?;
        let name = name.trim();
        let distribution =
            distribution.parse().map_err(|error| anyhow::anyhow!("--subject {name}: {error}"))?;
        ensure!(
            !name.is_empty() && !name.starts_with('#') && !name.chars().any(char::is_control),
            "--subject {}: a name must be one or more words, and must not start with `#`",
            text.escape_debug()
        );
        ensure!(
            name.parse::<f64>().is_err(),
            "--subject {text}: `{name}` would be read as a number; give it a name"
        );
        ensure!(
            subjects.iter().all(|(taken, _)| taken != name),
            "--subject {name}: there are two subjects with this name"
        );
        subjects.push((name.to_owned(), distribution));
    }
    let trouble = &args.trouble;
    let read =
        |option: &str, text: &str, error: String| anyhow::anyhow!("{option} {text}: {error}");
    let change = |text: &String| {
        Change::parse(text, numbers).map_err(|e| read("--drift", text, e.to_string()))
    };
    let outliers = |text: &String| {
        Outliers::parse(text, numbers).map_err(|e| read("--outliers", text, e.to_string()))
    };
    let tick =
        |text: &String| Tick::parse(text, numbers).map_err(|e| read("--tick", text, e.to_string()));
    let step =
        |text: &String| numbers.amount(text).map_err(|e| read("--step", text, e.to_string()));
    Ok(Recipe {
        subjects,
        count: args.count,
        seed: args.seed.unwrap_or_else(seed::fresh),
        blocks: args.blocks,
        memory: trouble.ar,
        outliers: trouble.outliers.as_ref().map(outliers).transpose()?,
        drift: trouble.drift.as_ref().map(change).transpose()?,
        tick: trouble.tick.as_ref().map(tick).transpose()?,
        step: trouble.step.as_ref().map(step).transpose()?,
    })
}

/// Returns the name of a single subject: the name of its file, which readers of the file also use.
fn name_of(out: Option<&Path>) -> String {
    let stem = out.and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    stem.filter(|stem| !stem.is_empty()).unwrap_or_else(|| "simulated".to_owned())
}

fn form(args: &Args, subjects: usize) -> anyhow::Result<Form> {
    let ending = args.out.as_deref().and_then(Path::extension).unwrap_or_default();
    let is_csv = args.out.is_none() || ending.eq_ignore_ascii_case("csv");
    if ending.eq_ignore_ascii_case("assay") {
        return Ok(Form::Samples);
    }
    if let Some(out) = args.out.as_ref().filter(|_| ending.eq_ignore_ascii_case("json")) {
        bail!("--out {}: numbers are written as .txt, .csv or .assay", out.display());
    }
    if let Some(out) = args.out.as_ref().filter(|_| !is_csv && (subjects > 1 || args.blocks)) {
        let what = if args.blocks { "blocks need" } else { "several subjects need" };
        bail!("--out {}: {what} a file that ends in .assay or .csv", out.display());
    }
    Ok(match (args.blocks, subjects) {
        (true, _) => Form::Table,
        (false, 1) => Form::Lines,
        (false, _) => Form::Columns,
    })
}

/// Parses an autocorrelation between -1 and 1.
fn correlation(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    match (number(text), text.trim().strip_suffix('%').and_then(number)) {
        (Some(factor), _) if factor.abs() < 1.0 => Ok(factor),
        (Some(_), _) => Err("it must lie between -1 and 1, both excluded".to_owned()),
        (None, Some(percent)) => Err(format!("write it as a factor: {}", percent / 100.0)),
        (None, None) => Err("write a number between -1 and 1, such as 0.5".to_owned()),
    }
}

/// Checks that nothing but an earlier output of this command would be overwritten.
fn check_place(path: &Path, form: &Form) -> anyhow::Result<()> {
    if matches!(form, Form::Samples) {
        return store::check_named("--out", path);
    }
    outputs::check(&[], &[("--out", path, "numbers.txt")])?;
    if path.is_file() {
        let mut start = Vec::new();
        let file = File::open(path).with_context(|| path.display().to_string())?;
        file.take(FIRST.len() as u64).read_to_end(&mut start)?;
        ensure!(
            start.is_empty() || start == FIRST.as_bytes(),
            "{} exists and was not made by assay simulate, so it is not overwritten; remove it, or give another name to --out",
            path.display()
        );
    }
    Ok(())
}

/// The specification of the numbers to write.
struct SimulatedData<'a> {
    args: &'a Args,
    recipe: Recipe,
    numbers: Numbers,
}

impl SimulatedData<'_> {
    fn write(
        &self,
        simulation: Simulation,
        form: &Form,
        mut out: impl Write,
    ) -> anyhow::Result<()> {
        match form {
            Form::Lines => {
                self.preamble(&mut out)?;
                if let Some(metric) = &self.args.metric {
                    writeln!(out, "{metric}")?;
                }
                for drawn in simulation {
                    writeln!(out, "{}", written(drawn?.value))?;
                }
            }
            Form::Columns => self.columns(simulation, &mut out)?,
            Form::Table => {
                self.preamble(&mut out)?;
                let mut samples = self.empty();
                for drawn in simulation {
                    samples.push(self.observation(drawn?));
                }
                export::csv(&samples, &mut out)?;
            }
            Form::Samples => self.sample_file(simulation, &mut out)?,
        }
        Ok(out.flush()?)
    }

    /// Returns the JSON document that describes the written data and how to reproduce them.
    fn report(&self, path: &Path) -> json::Synthetic {
        let metric = self.args.metric.as_deref().unwrap_or("value");
        let meta = Meta {
            verb: "simulate".to_owned(),
            tool: present::TOOL.to_owned(),
            argv: present::argv(),
            file: Some(path.display().to_string()),
        };
        json::Synthetic::of(&self.recipe, metric, self.numbers.unit.symbol(), &meta)
    }

    /// Writes comment lines that describe the numbers and how to reproduce them.
    fn preamble(&self, out: &mut impl Write) -> io::Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(out, "{FIRST} {version}; these are synthetic data, not measurements")?;
        match self.recipe.subjects.as_slice() {
            [(_, distribution)] => writeln!(out, "# distribution: {distribution}")?,
            several => {
                for (name, distribution) in several {
                    writeln!(out, "# distribution of {name}: {distribution}")?;
                }
            }
        }
        writeln!(out, "# seed: {}", self.recipe.seed)?;
        if let Some(unit) = &self.args.unit {
            writeln!(out, "# unit: {}", one_line(unit))?;
        }
        // The path of the program is omitted, because it may reveal private names.
        let words = present::argv().into_iter().skip(1).map(|word| one_line(&word));
        let words = std::iter::once("assay".to_owned()).chain(words);
        writeln!(out, "# command: {}", shell_words::join(words))
    }

    fn columns(&self, simulation: Simulation, out: &mut impl Write) -> anyhow::Result<()> {
        let mut columns: Vec<Vec<f64>> = vec![Vec::new(); self.recipe.subjects.len()];
        for drawn in simulation {
            let DrawnValue { subject, value, .. } = drawn?;
            columns[subject].push(value);
        }
        self.preamble(out)?;
        let names: Vec<String> = self.recipe.subjects.iter().map(|(name, _)| cell(name)).collect();
        writeln!(out, "{}", names.join(","))?;
        for row in 0..self.recipe.count as usize {
            let cells: Vec<String> = columns.iter().map(|column| written(column[row])).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
        Ok(())
    }

    fn sample_file(&self, simulation: Simulation, out: &mut impl Write) -> anyhow::Result<()> {
        let samples = self.empty();
        let header = Header::of(&samples);
        let mut writer = Writer::start(out, &header, &samples)?;
        for drawn in simulation {
            writer.observe(&self.observation(drawn?))?;
        }
        if self.recipe.blocks {
            writer.stop(StopReason::Blocks, self.recipe.count)?;
        }
        Ok(())
    }

    /// Returns samples without observations.
    fn empty(&self) -> Samples {
        let unit = self.numbers.unit.clone();
        let better = if unit == Unit::PerSecond { Better::Higher } else { Better::Lower };
        let name = self.args.metric.clone().unwrap_or_else(|| "value".to_owned());
        let mut samples = Samples::new(vec![Metric { better, ..Metric::lower(&name, unit) }]);
        samples.environment.set("simulated", true);
        samples.environment.set("simulated_seed", self.recipe.seed);
        for (subject, distribution) in &self.recipe.subjects {
            samples
                .environment
                .set(&format!("simulated_distribution.{subject}"), distribution.to_string());
            samples.add_subject(subject);
        }
        samples.tool = Some(present::TOOL.to_owned());
        samples.argv = present::argv();
        samples.plan = self.recipe.blocks.then(|| Plan {
            stop: StopRule::Fixed { blocks: self.recipe.count },
            budget_seconds: None,
            warmup: 0,
            primary: name,
            ..Plan::sequential(0.95, Threshold::default(), self.recipe.seed)
        });
        samples
    }

    fn observation(&self, drawn: DrawnValue) -> Observation {
        Observation {
            subject: drawn.subject,
            block: drawn.place.map(|(block, _)| block),
            position: drawn.place.map(|(_, position)| position),
            values: vec![self.numbers.to_base(drawn.value)],
            ..Observation::default()
        }
    }
}

/// Returns a name as a CSV cell.
fn cell(name: &str) -> String {
    let needs_quotes = name.contains([',', ';', '"', '\t']) || name.trim() != name;
    if needs_quotes { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.to_owned() }
}

/// Returns `text` with control characters, such as line breaks, replaced by spaces.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
