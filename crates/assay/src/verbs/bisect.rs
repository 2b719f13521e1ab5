//! `assay bisect GOOD..BAD`: finds the commit that changed the performance of a command or a
//! benchmark, by a search that takes noise into account.

use crate::args::{KeepArgs, LookArgs, any_words, confidence, seconds, threshold};
use crate::bench::Asker;
use crate::bisect::{Commits, How, What};
use crate::ending::{close, ending};
use crate::planning::{check_threshold, no_such_metric};
use crate::progress::{Line, share_done};
use crate::record::Record;
use crate::recorded::Recorded;
use crate::resume::{self, ResumeArgs};
use crate::{Ending, output, present, revisions, seed, store};
use anyhow::{Context, bail};
use assay_analysis::bisect::{Bisected, Outcome};
use assay_analysis::engine::Limits;
use assay_analysis::verdict::Verdict;
use assay_data::code;
use assay_data::list;
use assay_data::plan::look_level;
use assay_data::samples::NOT_COMPARED;
use assay_data::{
    Environment, Finding, Metric, Plan, Samples, Severity, Source, StopRule, Threshold, assay_file,
};
use assay_measure::git::{CommitSummary, commits_between, leads_to};
use assay_measure::revisions::Repository;
use assay_measure::{Command, environment, interrupt};
use assay_report::bisect::{BisectReport, Commit, SearchStanding, search_status};
use assay_report::json::{self, Bisection};
use assay_report::remarks::Remarks;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// Default time budget of the measurements, not counting builds, in seconds.
const BUDGET: f64 = 600.0;
/// Number of blocks after which a search always stops.
const MOST_BLOCKS: u32 = 100_000;
/// Maximum number of commits in one search.
const MOST_COMMITS: usize = 20_000;
/// Default measuring time of one benchmark process, in seconds.
const RUN_TIME: f64 = 0.02;
/// Name of the fact that records the number of iterations of each run.
const ITERATIONS: &str = "bisect_iterations";
/// Name of the fact that records the range of commits searched.
const RANGE: &str = "bisect";

/// Arguments of `assay bisect`.
#[derive(clap::Args, Debug)]
#[command(after_long_help = "\
How it works: the good and the bad commit are compared first. If they differ by at least the threshold, each block runs three commits in \
random order: one before the change, one with it, and the one between them that halves the remaining uncertainty. Each answer is weighted \
by its certainty, and none is final: a commit may be measured again later. A commit is named when its probability reaches \
--confidence and it has been compared directly with its predecessor. For merges, the merge commit itself is named (git's --first-parent).

Examples:
  assay bisect v1.2..HEAD --build make -- ./tool data            by the time of a command
  assay bisect v1.2..HEAD --build make --benchmark BM_Copy -- build/bm
  assay bisect v1.2..HEAD --primary max_rss -- python3 tool.py   by memory; nothing to build
  assay bisect --resume search.assay --time 30min                continue a search

Exit codes: 0 nothing got worse, 1 the commit that made it worse was found, 2 usage or input error (also if GOOD or BAD does not build),
3 inconclusive, 4 a measured command failed, 130 interrupted.")]
pub(crate) struct Args {
    /// The good and the bad commit, as in v1.2..HEAD [default for BAD: HEAD]
    #[arg(value_name = "GOOD..BAD", required_unless_present = "resume", value_parser = any_words())]
    range: Option<String>,

    /// Command to measure, run at the root of each commit's tree; with --benchmark, the program
    /// that contains the benchmark
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "resume")]
    command: Vec<OsString>,

    /// Shell line that builds a commit, run at the root of its tree, once per commit [default:
    /// nothing is built]
    #[arg(long, value_name = "LINE", help_heading = "Commits", value_parser = any_words())]
    build: Option<String>,

    /// Measure this benchmark of the program
    #[arg(long, value_name = "NAME", help_heading = "Commits")]
    benchmark: Option<String>,

    /// Harness of the program, if it is not detected
    #[arg(long, value_name = "NAME", requires = "benchmark", help_heading = "Commits")]
    harness: Option<String>,

    /// Smallest difference that matters, as in 2% or 250us [default: 1%]
    #[arg(long, value_name = "SIZE", value_parser = threshold, help_heading = "Deciding")]
    threshold: Option<Threshold>,

    /// Probability at which a commit is named [default: 95%]
    #[arg(long, value_name = "PERCENT", value_parser = confidence, help_heading = "Deciding")]
    confidence: Option<f64>,

    /// Metric that decides [default: wall, or the first]
    #[arg(long, value_name = "METRIC", help_heading = "Deciding")]
    primary: Option<String>,

    /// Maximum number of blocks; a block has two to four runs
    #[arg(long, short = 'r', value_name = "N", help_heading = "How long", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Time budget, not counting builds [default: 10min, none with --runs]
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds)]
    time: Option<f64>,

    /// Approximate measuring time of one process of a benchmark [default: 20ms]
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds, requires = "benchmark")]
    run_time: Option<f64>,

    /// Kill a run that takes longer than this, and leave out its commit
    #[arg(long, value_name = "SPAN", help_heading = "How long", value_parser = seconds, default_value = "5min")]
    timeout: f64,

    /// Seed of the random order [default: a new one, recorded]
    #[arg(long, value_name = "NUMBER", help_heading = "How long", value_parser = clap::value_parser!(u64).range(seed::BELOW))]
    seed: Option<u64>,

    #[command(flatten)]
    keep: KeepArgs,

    #[command(flatten)]
    earlier: ResumeArgs,

    #[command(flatten)]
    look: LookArgs,

    /// Ids of the arguments that were on the command line.
    #[arg(skip)]
    pub(crate) given: Vec<String>,
}

/// Runs the search, records it, and shows the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    args.keep.save.as_ref().map_or(Ok(()), |path| store::check_named("--save", path))?;
    interrupt::install()?;
    match &args.earlier.resume {
        None => search(args, None),
        Some(path) => resumed(args, path),
    }
}

/// Resumes a recorded search with its original command line.
fn resumed(args: &Args, path: &Path) -> anyhow::Result<Ending> {
    let recorded = assay_file::read(path)?;
    resume::check_given(&args.given, path)?;
    resume::check_complete(&recorded, path, "resumed", "search again, in a new file")?;
    let begun: Args = resume::begun(&recorded, path, "bisect", "resumed")?;
    let args = Args {
        time: args.time,
        keep: args.keep.after(&begun.keep),
        earlier: args.earlier.clone(),
        look: args.look.clone(),
        given: args.given.clone(),
        ..begun
    };
    search(&args, Some(&recorded))
}

/// Returns the two ends of the range as the user typed them. An omitted BAD becomes HEAD.
fn range(text: &str) -> anyhow::Result<(&str, &str)> {
    let (good, bad) = text
        .split_once("..")
        .filter(|(good, bad)| !good.is_empty() && !bad.starts_with('.'))
        .with_context(|| format!("{text}: write it as GOOD..BAD, as in v1.2..HEAD"))?;
    Ok((good, if bad.is_empty() { "HEAD" } else { bad }))
}

/// Returns the commits from the good one to the bad one.
fn commits(
    repository: &mut Repository,
    (good, bad): (&str, &str),
) -> anyhow::Result<Vec<CommitSummary>> {
    let mut commit = |written: &str| -> anyhow::Result<String> {
        if written == "." {
            bail!(
                "only commits can be searched, and `.` is the working tree: commit your changes first"
            );
        }
        let revision = repository.revision(written).map_err(revisions::told)?;
        revision.commit.with_context(|| format!("`{written}` is not a commit"))
    };
    let (from, to) = (commit(good)?, commit(bad)?);
    if from == to {
        bail!("`{good}` and `{bad}` are the same commit");
    }
    let top = repository.top().to_owned();
    if leads_to(&top, &from, &to) != Some(true) {
        if leads_to(&top, &to, &from) == Some(true) {
            bail!("`{bad}` comes before `{good}`; to search the other way round: {bad}..{good}");
        }
        bail!(
            "`{good}` is not an ancestor of `{bad}`: search from where they diverge, `git merge-base {good} {bad}`"
        );
    }
    let found = commits_between(&top, &from, &to)
        .with_context(|| format!("git can't list the commits from `{good}` to `{bad}`"))?;
    if found.len() > MOST_COMMITS {
        bail!("there are {} commits; at most {MOST_COMMITS} can be searched", found.len() - 1);
    }
    Ok(found)
}

/// Returns how the command is built and run in each tree.
fn how(args: &Args, recorded: Option<&Samples>) -> anyhow::Result<How> {
    let command = Command::new(args.command.iter().cloned())?;
    let what = args.benchmark.as_ref().map_or(What::Command, |name| What::Benchmark {
        name: name.clone(),
        harness: args.harness.clone(),
        seconds: args.run_time.unwrap_or(RUN_TIME),
        iterations: recorded
            .and_then(|recorded| recorded.environment.number(ITERATIONS))
            .map(|n| n as u64),
    });
    Ok(How {
        line: args.build.clone().unwrap_or_else(|| revisions::NO_BUILD.to_owned()),
        command,
        what,
    })
}

/// Returns the name of the deciding metric.
fn primary(metrics: &[Metric], asked: Option<&str>) -> anyhow::Result<String> {
    let known: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let chosen = match asked {
        Some(asked) => known.iter().find(|name| **name == asked),
        None => known
            .iter()
            .find(|name| **name == "wall")
            .or_else(|| known.iter().find(|name| !NOT_COMPARED.contains(name))),
    };
    match (chosen, asked) {
        (Some(name), _) => Ok((*name).to_owned()),
        (None, Some(asked)) => bail!(no_such_metric("--primary", asked, &known)),
        (None, None) => bail!("the benchmark reports no value"),
    }
}

fn plan(args: &Args, primary: String, recorded: Option<&Samples>) -> Plan {
    let budget_seconds = match (args.time, args.runs) {
        (Some(time), _) => Some(time),
        (None, Some(_)) if recorded.is_none() => None,
        _ => Some(BUDGET),
    };
    if let Some(begun) = recorded.and_then(|recorded| recorded.plan.clone()) {
        // Decisions made before the first block are kept, except for a limit of blocks, which
        // applied only to the first part of the search.
        let stop = match begun.stop {
            StopRule::Sequential { look_level, .. } => {
                StopRule::Sequential { look_level, max_blocks: MOST_BLOCKS }
            }
            fixed @ StopRule::Fixed { .. } => fixed,
        };
        return Plan { budget_seconds, stop, ..begun };
    }
    let confidence = args.confidence.unwrap_or(0.95);
    Plan {
        confidence,
        threshold: args.threshold.clone().unwrap_or_default(),
        stop: StopRule::Sequential {
            look_level: look_level(confidence),
            max_blocks: args.runs.unwrap_or(MOST_BLOCKS),
        },
        budget_seconds,
        warmup: 0,
        primary,
        secondary: Vec::new(),
        until: None,
        seed: args.seed.unwrap_or_else(seed::fresh),
    }
}

fn search(args: &Args, recorded: Option<&Samples>) -> anyhow::Result<Ending> {
    let typed = args.range.clone().unwrap_or_default();
    let ends = range(&typed)?;
    let how = how(args, recorded)?;
    let mut repository = revisions::repository()?;
    revisions::check_differs(&how.command, repository.top())?;
    let listed = commits(&mut repository, ends)?;
    let progress = Rc::new(Line::new(args.look.quiet));
    let environment = Environment::from_facts(environment::capture());
    progress.machine(&environment);
    let asker = Asker::start(Duration::from_secs_f64(args.timeout))?;
    let mut source = Commits::new(repository, listed.clone(), how, asker, Rc::clone(&progress));
    if let Err((why, failed)) = source.ready_ends()? {
        progress.end();
        if !failed {
            bail!(why);
        }
        output::error(&anyhow::anyhow!(why));
        return Ok(Ending::CommandFailed);
    }
    let plan = plan(args, primary(source.metrics(), args.primary.as_deref())?, recorded);
    let metric = source.metrics().iter().find(|metric| metric.name == plan.primary).cloned();
    let metric =
        metric.with_context(|| format!("--resume: there is no metric {}", plan.primary))?;
    check_threshold(&plan, &metric).map_err(anyhow::Error::msg)?;
    progress.say(&format!(
        "{} commits from {} to {} by first parents; builds are kept in the cache directory, apart from this repository",
        listed.len() - 1,
        ends.0,
        ends.1
    ));
    let iterations = match &source.what {
        What::Benchmark { iterations, .. } => *iterations,
        What::Command => None,
    };
    let mut running = Recorded::new(source);
    let samples = &mut running.session.samples;
    samples.environment = environment;
    samples.environment.set(RANGE, typed.as_str());
    if let Some(iterations) = iterations {
        samples.environment.set(ITERATIONS, iterations as f64);
    }
    samples.argv = present::argv();
    if args.keep.anonymous {
        samples.make_anonymous();
    }
    let deciding = samples.metric_index(&plan.primary).unwrap_or(0);
    if let Some(recorded) = recorded {
        check_same(recorded, samples)?;
    }
    let experiment = (&plan, deciding, Limits::default());
    let done = running.begin((&args.keep, &args.earlier), recorded, experiment)?;
    // Positions that the search skips, including those skipped before it was resumed.
    let before: RefCell<BTreeMap<usize, String>> = RefCell::default();
    let mut seconds = 0.0;
    let measured = running.measure(done, |standing| {
        seconds = standing.seconds;
        let Some((has_begun, search)) = standing.experiment.search(0) else { return };
        for place in (0..listed.len()).filter(|&place| search.is_skipped(place)) {
            before.borrow_mut().entry(place).or_default();
        }
        if progress.is_due() {
            let shown = SearchStanding {
                search,
                has_begun,
                blocks: standing.experiment.blocks(),
                seconds: standing.seconds,
                budget_seconds: plan.budget_seconds,
            };
            progress.draw(share_done(&plan, &standing), search_status(&shown));
        }
    });
    progress.end();
    let mut session = running.session;
    close(&mut session, &measured, Environment::default());
    let mut skipped = before.into_inner();
    skipped.extend(skipped_before(&session.samples));
    skipped.extend(session.source.skipped.clone());
    let found = Bisected::of(
        &session.samples,
        deciding,
        &plan,
        &skipped.keys().copied().collect::<Vec<_>>(),
    );
    let record = session.recorder.as_ref();
    let shown = ResultContext { args, ends, metric: &metric, commits: &listed, skipped, seconds };
    let verdict = shown.show(&session.samples, &found, record)?;
    let must_save = args.keep.save.is_some() || args.earlier.resume.is_some();
    Ok(ending(measured, verdict, record.filter(|_| must_save)))
}

/// Checks that a resumed search covers the same commits as before.
fn check_same(recorded: &Samples, now: &Samples) -> anyhow::Result<()> {
    let names = |samples: &Samples| {
        samples.sides.iter().map(|side| side.name.clone()).collect::<Vec<String>>()
    };
    if names(recorded) != names(now) {
        bail!(
            "--resume: the commits are no longer those of the recorded search: a branch has moved, or its history was rewritten; start a new search, naming commits instead of branches"
        );
    }
    Ok(())
}

/// Returns the positions that a recorded search skipped, with the reasons.
fn skipped_before(samples: &Samples) -> Vec<(usize, String)> {
    let place = |finding: &Finding| {
        let name = finding.subject.as_ref().filter(|_| finding.is(code::COMMITS_MISSING))?;
        let place = samples.subjects.iter().position(|subject| subject.name == *name)?;
        let why = finding.message.split_once(": ").map_or("", |(_, why)| why);
        Some((place, why.to_owned()))
    };
    samples.findings.iter().filter_map(place).collect()
}

/// What is needed to show the result, in addition to the result itself.
struct ResultContext<'a> {
    args: &'a Args,
    ends: (&'a str, &'a str),
    metric: &'a Metric,
    commits: &'a [CommitSummary],
    skipped: BTreeMap<usize, String>,
    /// Duration of the measurements, in seconds.
    seconds: f64,
}

impl ResultContext<'_> {
    fn show(
        &self,
        samples: &Samples,
        found: &Bisected,
        record: Option<&Record>,
    ) -> anyhow::Result<Ending> {
        let commit = |own: &CommitSummary| Commit {
            commit: own.commit.clone(),
            time: own.time,
            subject: own.subject.clone(),
        };
        let commits: Vec<Commit> = self.commits.iter().map(commit).collect();
        let skipped: Vec<(usize, String)> = self.skipped.clone().into_iter().collect();
        let what = self.args.benchmark.clone().unwrap_or_else(|| list::line(&self.args.command));
        let mut findings: Vec<Finding> = found.findings();
        let notable = |finding: &&Finding| {
            finding.severity != Severity::Note || { finding.is(code::COMMITS_MISSING) }
        };
        findings.extend(samples.findings.iter().filter(notable).cloned());
        let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.clone());
        let block_seconds = self.seconds / found.blocks.max(1) as f64;
        let left = found.blocks_left.filter(|_| found.outcome == Outcome::Unplaced);
        let next_seconds = left.map(|blocks| blocks * block_seconds).filter(|s| *s > 0.0);
        let next = self.next(found, &commits, file, next_seconds);
        let report = BisectReport {
            found,
            commits: &commits,
            ends: self.ends,
            what: &what,
            metric: self.metric,
            skipped: &skipped,
            findings: &findings,
            next: next.as_deref(),
            next_seconds,
        };
        output::print(&if self.args.look.json {
            json::text(&Bisection::of(&report))?
        } else {
            let remarks = Remarks::wanted(self.args.look.quiet, false);
            assay_report::bisect::bisect(&report, remarks, &present::screen(self.args.look.color))
        })?;
        let is_worse = found.ends.as_ref().is_some_and(|ends| ends.verdict == Verdict::Slower);
        Ok(match found.outcome {
            Outcome::Found if is_worse => Ending::FailIfCameTrue,
            Outcome::Found | Outcome::Unchanged => Ending::Fine,
            Outcome::EndsUnknown | Outcome::Unplaced => Ending::InconclusiveUnderFailIf,
        })
    }

    /// Returns the command to run next: one that shows the commit found, or one that resumes the
    /// search.
    fn next(
        &self,
        found: &Bisected,
        commits: &[Commit],
        file: Option<PathBuf>,
        next_seconds: Option<f64>,
    ) -> Option<String> {
        match found.outcome {
            Outcome::Found => {
                let (best, _) = found.best?;
                Some(format!("git show {}", commits.get(best.at)?.short()))
            }
            Outcome::Unchanged => None,
            Outcome::EndsUnknown | Outcome::Unplaced => {
                // Twice the estimated time, in whole minutes.
                let minutes = next_seconds.map_or(20.0, |s| (2.0 * s / 60.0).ceil().max(1.0));
                Some(format!("assay bisect --resume {} --time {minutes}min", file?.display()))
            }
        }
    }
}
