//! `assay load`: measures the capacity of a server, or which of several servers is better, with
//! scheduled requests in alternating slices.

mod options;
mod permission;
mod serving;
mod settings;
mod telling;

use crate::advice::Dialect;
use crate::load::{
    CAPACITY, Generators, LATENCY_MEDIAN, LoadSlot, RATE_ACHIEVED, Requests, Search, Slices,
    TimeLeft, longest_hanging, work,
};
use crate::planning::{self, check_threshold, no_such_metric};
use crate::present::{self, Showing};
use crate::record::Record;
use crate::recorded::{self, Recorded};
use crate::{Ending, load, output};
use anyhow::{Context, ensure};
use assay_analysis::engine::Limits;
use assay_analysis::{Options, analyse};
use assay_data::plan::MAX_BLOCKS;
use assay_data::samples::without_secrets;
use assay_data::{Action, Environment, Finding, Metric, Plan, Samples, StopReason};
use assay_load::{Arrivals, Load};
use assay_measure::{environment, interrupt};
use assay_report::benchmarks::DisplayOptions;
pub(crate) use options::Args;
use settings::LoadSettings;
use std::path::Path;
use telling::{Telling, load_in_words};

/// Default secondary metrics: latency quantiles, answered requests, and the achieved rate.
const SHOWN: [&str; 5] =
    ["latency_p50", "latency_p99", "latency_p99_9", "answered", "rate_achieved"];
/// Additional default secondary metrics for servers that are started here: their resource usage.
const OF_SERVERS: [&str; 2] = ["server_memory", "server_cpu_per_request"];

/// Loads the servers, records and decides on the measurements, and shows the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if args.as_generator {
        interrupt::install()?;
        return work().map(|()| Ending::Fine);
    }
    let requests = args.record_requests.as_deref();
    let requests = requests.map(|path| ("--record-requests", path, "requests.csv"));
    recorded::run(
        &args.record,
        requests.as_slice(),
        || measure(args, None),
        |path| resumed(args, path),
    )
}

/// Resumes a recorded run with its original command line.
fn resumed(args: &Args, path: &Path) -> anyhow::Result<Ending> {
    let (recorded, mut first) = recorded::begun::<Args>(&args.record, path, "load")?;
    first.when.time = args.when.time;
    first.judge.fail_if.clone_from(&args.judge.fail_if);
    first.record = args.record.after(&first.record);
    measure(&first, Some(&recorded))
}

fn measure(args: &Args, recorded: Option<&Samples>) -> anyhow::Result<Ending> {
    let asked = LoadSettings::of(args)?;
    let instead = "give a second URL";
    present::check_fail_if(&args.judge.fail_if, asked.sides.len(), "one server", instead)?;
    let plan = plan_of(args, &asked, recorded)?;
    let metrics = if args.find.is_some() { Search::metrics() } else { load::metrics() };
    check(&plan, &metrics)?;
    let environment = Environment::from_facts(environment::capture());
    let telling = Telling::new(args.record.show.quiet);
    telling.line.machine(&environment);
    // The servers are stopped when this is dropped, whatever happens from here on.
    let mut places = asked.places(args)?;
    LoadSettings::fit_search(args, &mut places);
    let too_short = too_few_requests(&plan, &places)?;
    let prepared = serving::prepare(args, &asked)?;
    let servers = serving::start(args, &asked, prepared.as_ref(), &mut places, &telling)?;
    // Generators in separate processes inherit the CPUs on which they may run.
    asked.pin(args)?;
    let mut generators = match asked.ways.is_empty() {
        true => Generators::here(),
        false => Generators::start(&asked.ways)?,
    };
    serving::await_answers(args, &asked, &places, &servers, &mut generators, &telling)?;
    // A resumed run compared the answers when it was started.
    let answers = match recorded {
        None => load::compare_answers(&asked.sides, &places, &mut generators)?,
        Some(_) => Vec::new(),
    };
    let search = match &args.find {
        Some(goals) => {
            let (from, most) = (asked.first_rate(args)?, args.permission.most_rate);
            Some(Search::new(goals.clone(), from, most, places.len(), plan.seed))
        }
        None => None,
    };
    let clocks: Vec<(String, f64, f64)> =
        generators.clocks().map(|(name, offset, off)| (name.to_owned(), offset, off)).collect();
    let trying = search.as_ref().map(|own| (own.fewest_requests(), own.first_rate()));
    let block_seconds = asked.block_seconds(&places, trying);
    let load = load_in_words(args, &places);
    let ceiling = planning::CEILING.max(block_seconds * 12.0);
    let limit = args.when.time.unwrap_or(ceiling);
    let latest = match (args.when.time, plan.budget_seconds) {
        (None, Some(budget)) if search.is_none() => budget.max(block_seconds * 12.0),
        _ => limit,
    };
    let steps = places.len() / asked.sides.len().max(1);
    let from = trying.map(|(_, rate)| rate);
    let slice = places.iter().map(|place| place.job.seconds).fold(0.0, f64::max);
    let hanging = |slices| longest_hanging(slices, slice, args.connect.timeout);
    telling.plan(&load, &plan, (steps, block_seconds, latest), from, hanging);
    let comparisons = places.iter().filter(|place| place.side > 0).count();
    let advice = |seconds: f64, blocks: u32| {
        let longer = Action::MeasureLonger { seconds: Some(seconds) };
        vec![longer, Action::FixRuns { runs: blocks.into() }]
    };
    let words = planning::Words { block: "block", on: "", advice: &advice };
    let too_few = planning::too_few_runs(&plan, comparisons).or_else(|| {
        let some = (comparisons > 0).then_some(comparisons)?;
        planning::too_short(&plan, block_seconds, Some(limit), some, &words)
    });
    if let Some(finding) = &too_few {
        telling.line.say(&assay_report::findings::line(finding));
    }
    let goals = search.as_ref().map(Search::goals);
    let requests = match &args.record_requests {
        Some(path) => Some(
            Requests::create(path, &places, recorded.is_some())
                .with_context(|| format!("--record-requests {}", path.display()))?,
        ),
        None => None,
    };
    let told = telling.of_slices(&plan);
    let mut source =
        Slices::new(asked.sides.clone(), places, servers, generators, search, (plan.seed, told));
    source.memory_limit = args.serve.serve_memory;
    source.requests = requests;
    if source.search.is_some() {
        source.time = TimeLeft::new(plan.budget_seconds.map(|_| limit));
    }
    let mut running = Recorded::new(source);
    let samples = &mut running.session.samples;
    samples.environment = environment;
    // Secrets in requests are kept out of every record, even without `--anonymous`.
    samples.argv = present::argv().iter().map(|word| without_secrets(word)).collect();
    asked.facts(args, &load, &mut samples.environment);
    if let Some(prepared) = &prepared {
        let names = asked.sides.iter().map(|side| side.name.clone());
        prepared.record(names, &mut samples.environment);
        samples.findings.extend(prepared.findings.iter().cloned());
    }
    if let Some(goals) = goals {
        samples.environment.set("load_goals", goals);
    }
    for (name, offset, off) in clocks {
        let off = format!("clock off by {offset:.6} s ± {off:.6} s");
        samples.environment.set(&format!("generator@{name}"), off);
    }
    let earlier = asked.findings.iter().cloned().chain(answers);
    samples.findings.extend(earlier.chain(too_short).chain(too_few));
    if args.record.keep.anonymous {
        samples.make_anonymous();
    }
    let deciding = samples.metric_index(&plan.primary).context("its metrics are lost")?;
    let ceiling_seconds = if args.when.time.is_none() { ceiling } else { 0.0 };
    let limits = Limits { ceiling_seconds, sharing: 1 };
    let (keep, earlier) = (&args.record.keep, &args.record.earlier);
    let done = running.begin((keep, earlier), recorded, (&plan, deciding, limits))?;
    let measured = running.measure(done, |standing| telling.standing(&standing, &plan));
    telling.line.end();
    // A search that ends because no rate can meet its goals was not interrupted.
    let pointless = running.session.source.search.as_ref().is_some_and(Search::is_pointless);
    let measured = match measured {
        Ok(StopReason::Interrupted) if pointless && interrupt::count() == 0 => {
            Ok(StopReason::Clear)
        }
        other => other,
    };
    running.end(&args.record, measured, Environment::default(), |Recorded { session, .. }| {
        // The servers are no longer needed while the results are written.
        session.source.servers.clear();
        if session.samples.is_empty() {
            session.source.so_far().iter().for_each(|finding| {
                output::say(&finding.message);
            });
        }
        show(args, &session.samples, session.recorder.as_ref())
    })
}

/// Returns the plan before the first block.
fn plan_of(args: &Args, asked: &LoadSettings, recorded: Option<&Samples>) -> anyhow::Result<Plan> {
    let primary = args.judge.primary.clone().unwrap_or_else(|| {
        let own = match (&args.find, asked.is_closed) {
            (Some(_), _) => CAPACITY,
            (None, true) => RATE_ACHIEVED,
            (None, false) => LATENCY_MEDIAN,
        };
        own.to_owned()
    });
    let mut plan = planning::plan(&args.when, &args.judge, &primary, MAX_BLOCKS);
    if plan.secondary.is_empty() && args.find.is_none() {
        // Metrics that are not needed would lower the certainty of the others.
        let served = !asked.commands.is_empty();
        let of_servers = if served { &OF_SERVERS[..] } else { &[] };
        let limited = args.serve.serve_memory.is_some();
        let (first, then) =
            if limited { (of_servers, &SHOWN[..]) } else { (&SHOWN[..], of_servers) };
        let wanted = first.iter().chain(then);
        plan.secondary =
            wanted.filter(|name| **name != plan.primary).map(|name| (*name).to_owned()).collect();
    }
    Ok(match recorded.and_then(|recorded| recorded.plan.clone()) {
        Some(begun) => planning::resumed(begun, args.when.time),
        None => plan,
    })
}

/// Checks that all metrics exist, and that the threshold suits the deciding metric.
fn check(plan: &Plan, metrics: &[Metric]) -> anyhow::Result<()> {
    let known: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
    let asked = plan.secondary.iter().map(|name| ("--secondary", name));
    for (option, name) in asked.chain([("--primary", &plan.primary)]) {
        ensure!(known.contains(&name.as_str()), no_such_metric(option, name, &known));
    }
    let deciding = metrics.iter().find(|metric| metric.name == plan.primary);
    deciding.map_or(Ok(()), |own| check_threshold(plan, own).map_err(anyhow::Error::msg))
}

/// Returns a finding about slices with too few requests for the deciding quantile. If all have too
/// few, that is an error, because nothing could be decided.
fn too_few_requests(plan: &Plan, places: &[LoadSlot]) -> anyhow::Result<Option<Finding>> {
    let needed = load::fewest_requests(&plan.primary);
    let requests = |place: &LoadSlot| match place.job.load {
        Load::Open(Arrivals::Constant { rate } | Arrivals::Poisson { rate, .. }) => {
            Some(rate * place.job.seconds)
        }
        _ => None,
    };
    let few = |place: &&LoadSlot| requests(place).is_some_and(|count| count + 1e-6 < needed as f64);
    let (some, name) = (places.iter().filter(few).count(), &plan.primary);
    let least = assay_report::words::counted(needed as usize, "request");
    let nearer = if needed > 1 { ", or decide by a less extreme quantile" } else { "" };
    ensure!(
        some < places.len() || plan.primary == CAPACITY,
        "--primary {name}: it needs at least {least} per slice, and no slice here has that many; make slices longer (--slice, or --requests-per-step {needed}){nearer}"
    );
    let message = format!(
        "{some} of {} steps have no {name}: it needs at least {least} per slice",
        places.len()
    );
    Ok((some > 0 && plan.primary != CAPACITY).then(|| load::too_short(message, needed)))
}

fn show(args: &Args, samples: &Samples, record: Option<&Record>) -> anyhow::Result<Ending> {
    let file = record.filter(|r| r.failure.is_none()).map(|r| r.path.as_path());
    if samples.is_empty() {
        if samples.stop == Some(StopReason::Interrupted) {
            output::say("interrupted before the first slice was complete");
            return Ok(Ending::Interrupted);
        }
        return Ok(Ending::Fine);
    }
    let mut analysis = analyse(samples, &Options::default()).context(
        "no slice can be compared; see the warnings of `assay describe` about the record",
    )?;
    let how = Showing {
        dialect: Dialect::Load,
        rows: DisplayOptions::default(),
        show: &args.record.show,
        file,
    };
    present::present(how, &mut analysis, samples)?;
    Ok(args.same.ending(&analysis, present::judge(&analysis, &args.judge.fail_if)))
}
