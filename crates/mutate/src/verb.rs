//! The steps of `assay mutate`: find the sources and generate mutants, run the tests without a
//! change, prove that changes are detected, try the mutants, report the result.

use crate::arena::{Arena, TestSelection};
use crate::args::{Args, Budget, Condition};
use crate::baseline::{Baseline, BaselineError};
use crate::copies::is_temporary;
use crate::coupling::{self, Rewrites};
use crate::equivalent;
use crate::forked::{ForkServer, LoadingDriver};
use crate::guard::{Guard, TimeIsUp};
use crate::journal::{Entry, Journal};
use crate::layout::{self, Layout};
use crate::policy::{
    BUDGET_MORE, SHARE_OF_BASELINE, SHARE_OF_MUTANTS, SHARE_OF_PROOF, SHARE_OF_TRYING,
};
use crate::proof::{self, ProcessOrigin};
use crate::showing;
use crate::sources::{self, Root, Source, SourceSelection};
use crate::suite::{Runs, Suite};
use crate::switches::Switches;
use crate::trying::{TrialEnd, TrialState};
use crate::walls::Walls;
use anyhow::{Context, anyhow, bail};
use assay_analysis::mutation::{Scores, scores};
use assay_data::mutation::{Fate, MutantResult, Mutation};
use assay_measure::{Command, interrupt};
use assay_mutate::mutants::{Language, Operator};
use assay_report::console::output::{self, Passing};
use assay_suites::coverage::{Blocks, Project, sum};
use assay_suites::{Call, frameworks};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Instant;

/// The outcome of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Fine,
    FailIfCameTrue,
    Red,
    Interrupted,
}

/// Runs `assay mutate`.
///
/// # Errors
/// If any step fails. The message says what failed, where, and how to fix it.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let began = Instant::now();
    let started = jiff::Timestamp::now().to_string();
    check(args)?;
    let root = Root::here()?;
    let (files, since) = (&args.files, args.since.as_deref());
    let asked = SourceSelection { files, since, shard: args.shard, command: &args.command };
    let (sources, notes) = sources::of(&root, asked)?;
    notes.iter().for_each(|note| output::say(&format!("note: {note}")));
    let (files, units, mutants, origins) = sources::table(&sources);
    let since = args.since.clone();
    let mut mutation = Mutation { files, units, mutants, since, ..Mutation::default() };
    if args.list {
        showing::list(args, &mutation)?;
        return Ok(Ending::Fine);
    }
    if args.command.is_empty() {
        bail!(
            "no command that runs the tests: give it after --, as in `assay mutate -- pytest`, or list the changes with --list"
        );
    }
    // With `--since`, a diff without code correctly yields no mutants.
    if mutation.mutants.is_empty() && args.since.is_some() {
        showing::show(args, &mutation, &scores(&mutation), &started)?;
        return Ok(Ending::Fine);
    }
    if mutation.mutants.is_empty() {
        bail!(
            "there is nothing to change: no function was found in any Ruby, Python, JavaScript, TypeScript, Go, Rust, C, C++ or Java source outside of tests"
        );
    }
    interrupt::install().context("signals")?;
    let over = match tried(args, &root, &sources, &origins, &mut mutation, began) {
        Ok(over) => over,
        Err(error) if interrupt::count() > 0 => {
            output::error(&error);
            return Ok(Ending::Interrupted);
        }
        Err(error) if error.is::<TimeIsUp>() && !mutation.tests.is_empty() => {
            mutation.is_sample = true;
            TrialEnd::OutOfTime
        }
        Err(error) if error.is::<BaselineError>() => {
            output::error(&error);
            return Ok(Ending::Red);
        }
        Err(error) => return Err(error),
    };
    mutation.seconds = began.elapsed().as_secs_f64();
    let left = [Fate::Pending, Fate::Uncovered, Fate::Kept, Fate::Absent];
    if over == TrialEnd::OutOfTime && mutation.mutants.iter().all(|own| left.contains(&own.fate)) {
        mutation.notes.push(format!(
            "no change was tried within the budget: without a change, the tests took {:.0} s, plus the time to build what they need; give a longer time",
            mutation.suite_seconds
        ));
    }
    let scores = scores(&mutation);
    showing::show(args, &mutation, &scores, &started)?;
    Ok(match over {
        TrialEnd::Interrupted => Ending::Interrupted,
        _ if args.fail_if.iter().any(|own| is_true(*own, &mutation, &scores)) => {
            Ending::FailIfCameTrue
        }
        _ => Ending::Fine,
    })
}

/// Reports errors in the command line before anything is read.
fn check(args: &Args) -> anyhow::Result<()> {
    if args.fail_if.contains(&Condition::SurvivedInDiff) && args.since.is_none() {
        bail!(
            "--fail-if survived-in-diff: there is no diff without --since; give the revision to compare with, as in --since main, or use --fail-if survived"
        );
    }
    check_files(args)?;
    showing::check(args)
}

/// Rejects words in place of files: the command that runs the tests, and the value of an option.
fn check_files(args: &Args) -> anyhow::Result<()> {
    let Some(word) = args.files.iter().find(|file| !file.exists()) else { return Ok(()) };
    let text = word.to_string_lossy();
    if args.coupling.is_some() && text.parse::<u16>().is_ok() {
        bail!("the number of --coupling is written after `=`: --coupling={text}");
    }
    let first = args.files.first().filter(|_| args.command.is_empty() && !args.list);
    let is_program = |file: &PathBuf| Command::new([file]).is_ok_and(|own| own.resolve().is_ok());
    if first.is_some_and(|file| !file.exists() && is_program(file)) {
        let words: Vec<_> = args.files.iter().map(|file| file.to_string_lossy()).collect();
        bail!(
            "the command that runs the tests goes after `--`: assay mutate -- {}",
            words.join(" ")
        );
    }
    Ok(())
}

/// Tries the mutants, and returns the reason why trying ended.
fn tried(
    args: &Args,
    root: &Root,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutation: &mut Mutation,
    began: Instant,
) -> anyhow::Result<TrialEnd> {
    let progress = Passing::new();
    let suite = suite(args, root, began)?;
    progress.show("copying the project");
    let copy = suite.copy(&root.top)?;
    let mut runs = Runs::start()?;
    suite.guard.add(runs.runner.abort_handle());
    progress.show("running the tests without a change");
    let time = args.budget.and_then(Budget::time);
    let patience = time.map(|time| began + time.mul_f64(SHARE_OF_BASELINE));
    let baseline = Baseline::of(&suite, &mut runs, &copy.top(), patience).map_err(
        |error| match (error.is::<TimeIsUp>(), time) {
            (true, Some(time)) if interrupt::count() == 0 => anyhow!(
                "--budget: the tests took longer than {} s without any change; give a longer time",
                time.as_secs()
            ),
            _ => error,
        },
    )?;
    mutation.framework.clone_from(&baseline.framework);
    mutation.suite_seconds = baseline.seconds;
    mutation.tests.clone_from(&baseline.tests);
    mutation.flaky.clone_from(&baseline.flaky);
    let later = covered(&baseline, suite.sees(), sources, origins, &mut mutation.mutants);
    let has = |fate| mutation.mutants.iter().any(|own: &MutantResult| own.fate == fate);
    let nothing_runs = has(Fate::Uncovered) && !has(Fate::Pending);
    if let Some(language) = suite.sees().filter(|_| nothing_runs) {
        let files = Project::of(&root.top).files();
        if layout::is_elsewhere(&files, language, &baseline.loaded) {
            return Err(elsewhere(language).into());
        }
    }
    let (mut rewrites, mut rewrites_later) = (Rewrites::default(), Vec::new());
    mutation.has_coupling = args.coupling.is_some();
    if mutation.has_coupling {
        rewrites = Rewrites::of(root, sources, origins, &mutation.mutants);
        let Rewrites { sources, origins, results } = &mut rewrites;
        rewrites_later = covered(&baseline, suite.sees(), sources, origins, results);
        rewrites.widen(&mutation.mutants, &mutation.units);
    }
    let names = baseline.tests.iter().map(|test| &test.name).enumerate();
    // A failed test may have no name in the report.
    let names = baseline.selectors.iter().enumerate().chain(names);
    let by_name: HashMap<String, usize> =
        names.map(|(index, name)| (name.clone(), index)).collect();
    let (mut journal, known) = Journal::open(key(root, &suite), args.again)?;
    mutation.known_before = take_known(&mut mutation.mutants, &known, &by_name);
    mutation.known_before += take_known(&mut rewrites.results, &known, &by_name);
    let tests = mutation.tests.clone();
    let flaky = mutation.flaky.clone();
    let (beside, by_name) = (baseline.beside, &by_name);
    let with = TestSelection {
        all: &tests,
        selectors: &baseline.selectors,
        by_name,
        only: None,
        beside,
        stops: true,
        flaky: &flaky,
        ends: baseline.ends,
    };
    let mut arenas = vec![Arena::new(&suite, copy, runs)];
    let mut judged = HashSet::new();
    equivalent::find(&mut arenas[0], sources, origins, &mut mutation.mutants, &mut judged);
    let sample =
        args.coupling.map(|most| coupling::sample(&mut mutation.mutants, usize::from(most)));
    let all = mutation.mutants.iter().chain(&rewrites.results);
    let pending =
        all.filter(|own| own.fate == Fate::Pending).count() + sample.map_or(0, |own| own.len());
    if pending == 0 {
        mutation.rewrites = rewrites.results;
        return Ok(TrialEnd::Done);
    }
    // Test frameworks of interpreted languages do not build what they load.
    let is_left = args.separate_builds || suite.sees().is_some();
    let switches = if is_left { None } else { Switches::of(sources, suite.is_driven()) };
    progress.show("proving that a change can be noticed");
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or(processors, usize::from).min(pending);
    // The other copies load their tests while the first copy is in use.
    let mut others = Vec::new();
    for _ in 1..jobs {
        let copy = suite.copy(&arenas[0].copy.top())?;
        others.push(LoadingDriver::start(&suite, &copy.top()).ok().flatten());
        let runs = Runs::start()?;
        // Without this, Go would compile the same code again for each copy.
        let _as_good = arenas[0].runs.share_compiled(&runs);
        suite.guard.add(runs.runner.abort_handle());
        arenas.push(Arena::new(&suite, copy, runs));
    }
    let patience = time.map(|time| began + time.mul_f64(SHARE_OF_PROOF));
    let prove = |arena: &mut Arena<'_>, way| {
        proof::of(arena, sources, origins, &mutation.mutants, with, (way, patience))
    };
    let first = &mut arenas[0];
    // Builds with a switch have their own proof; this one is only needed for other mutants.
    let is_proven = switches.is_none();
    if is_proven {
        prove(first, ProcessOrigin::Plain)?;
    }
    // Most of a time budget is reserved for mutants, even at the expense of steps that would make
    // them faster.
    let is_late = || patience.is_some_and(|until| Instant::now() > until);
    let loading =
        if is_late() { Ok(None) } else { LoadingDriver::start(&suite, &first.copy.top()) };
    let forked =
        loading.and_then(|own| own.map(LoadingDriver::loaded).transpose()).and_then(|forked| {
            first.forked = forked;
            first.forked.is_some().then(|| prove(first, ProcessOrigin::Loaded(&later))).transpose()
        });
    if let Err(error) = forked {
        first.forked = None;
        mutation.notes.push(format!(
            "each change was tried in a new process that loads everything again: {}",
            output::told(&error)
        ));
    }
    // If this proof fails, the mutants that a process with loaded tests would handle are tried in
    // fresh processes instead.
    let early = !is_late() && prove(first, ProcessOrigin::Early).is_ok();
    if first.forked.is_some() {
        for (arena, loading) in arenas[1..].iter_mut().zip(others) {
            // If the tests cannot be loaded in advance, the arena starts a fresh process for each
            // mutant.
            arena.forked = loading.and_then(|own| own.loaded().ok());
        }
    }
    if !early {
        arenas.iter_mut().filter_map(|own| own.forked.as_mut()).for_each(ForkServer::not_early);
    }
    let mut kills = vec![0; tests.len()];
    mutation.mutants.iter().flat_map(|own| &own.killed_by).for_each(|test| kills[*test] += 1);
    // A share of the time is reserved for the coupling analysis.
    let share = if mutation.has_coupling { SHARE_OF_MUTANTS } else { 1.0 };
    let until = |share: f64| time.map(|time| began + time.mul_f64(share * SHARE_OF_TRYING));
    let mut trying = TrialState {
        sources,
        origins,
        mutants: &mut mutation.mutants,
        tests: &tests,
        selectors: &baseline.selectors,
        by_name,
        beside,
        journal: Some(&mut journal),
        deadline: until(share),
        most: args.budget.and_then(Budget::changes),
        kills,
        later: &later,
        completes: false,
        switches,
        behind: HashMap::new(),
        flaky: &flaky,
        ends: baseline.ends,
        is_proven,
        patience,
        notes: Vec::new(),
    };
    let mut over = trying.all_but_equivalents(&mut arenas, &mut judged, &progress)?;
    mutation.is_sample = over == TrialEnd::OutOfTime;
    if let Some(most) = args.coupling.filter(|_| over != TrialEnd::Interrupted) {
        trying.deadline = until(1.0);
        let later = &rewrites_later;
        over = trying.coupled(&mut arenas, usize::from(most), (&mut rewrites, later), &progress)?;
    }
    let notes = std::mem::take(&mut trying.notes);
    mutation.notes.extend(notes);
    mutation.rewrites = rewrites.results;
    let fates = || mutation.mutants.iter().map(|own| own.fate);
    if time.is_some() && fates().any(|own| own == Fate::Survived) && !fates().any(Fate::is_detected)
    {
        let note = "no change was noticed within the budget; a longer one shows whether the tests use this code at all";
        mutation.notes.push(note.to_owned());
    }
    if over == TrialEnd::Interrupted {
        let note =
            "it was interrupted: the same command continues from here, unless something is changed";
        mutation.notes.push(note.to_owned());
    }
    Ok(over)
}

/// Replaces a relative program path outside of the project by an absolute path, since the copy is
/// in another directory.
fn absolute(command: &[OsString], root: &Root) -> Vec<OsString> {
    let mut argv = command.to_vec();
    if let Some(word) = argv.first_mut() {
        let place = root.top.join(&root.below).join(&*word);
        let parent = place.parent().and_then(|own| own.canonicalize().ok());
        let is_path = Path::new(&*word).components().count() > 1;
        let own = parent.zip(place.file_name()).map(|(parent, name)| parent.join(name));
        let is_outside = |own: &PathBuf| own.is_file() && !own.starts_with(&root.top);
        if let Some(own) = own.filter(|own| is_path && is_outside(own)) {
            *word = own.into_os_string();
        }
    }
    argv
}

fn suite(args: &Args, root: &Root, began: Instant) -> anyhow::Result<Suite> {
    let argv = absolute(&args.command, root);
    let directory = root.top.join(&root.below);
    Command { cwd: Some(directory), ..Command::new(argv.iter().cloned())? }.resolve()?;
    let call = Call::new(&argv, &root.top.join(&root.below));
    let framework = match &args.framework {
        Some(name) => frameworks::by_name(name)?,
        None => frameworks::by_call(&call),
    };
    let walls = Walls::of(args.no_sandbox, &args.readable, (&root.top, &argv))?;
    walls.check(&argv)?;
    let layout = Layout::of(&Project::of(&root.top).files());
    let (root, below) = (root.top.clone(), root.below.clone());
    let (by_status, outputs) = (OnceLock::new(), OnceLock::new());
    let time = args.budget.and_then(Budget::time);
    let guard = Guard::start(time.map(|time| began + time + BUDGET_MORE))?;
    Ok(Suite { framework, argv, root, below, walls, layout, guard, by_status, outputs })
}

/// Returns the error for tests that load none of the project's sources.
fn elsewhere(language: Language) -> BaselineError {
    let (how, cure) = match language {
        Language::Python => (
            "`python -c 'import NAME; print(NAME.__file__)'` shows from where",
            "install the project with `pip install -e .`, or put its directory on PYTHONPATH; python -I and -E leave that out",
        ),
        _ => (
            "`ruby -e 'require \"NAME\"; puts $LOADED_FEATURES'` shows from where",
            "load the project with `-Ilib`, or by `path:` in the Gemfile",
        ),
    };
    BaselineError(format!(
        "the tests load no source file of the project's copy, so no change could be noticed: they use another copy ({how}). To test this one, {cure}"
    ))
}

/// Records which tests may use each mutant, if known. Returns for each mutant whether it can be
/// tried in a process that has already loaded the tests.
fn covered(
    baseline: &Baseline,
    sees: Option<Language>,
    sources: &[Source],
    origins: &[(usize, usize)],
    mutants: &mut [MutantResult],
) -> Vec<bool> {
    let blocks: Vec<Blocks> = sources
        .iter()
        .map(|source| assay_mutate::blocks::cut(source.language, &source.text))
        .collect();
    let mut later = Vec::new();
    for (own, (file, index)) in mutants.iter_mut().zip(origins) {
        let (source, blocks) = (&sources[*file], &blocks[*file]);
        let mutant = &source.found.all[*index];
        let unit = &source.found.units[mutant.unit];
        let is_whole = mutant.operator.is_extreme() || mutant.operator.is_rewrite();
        let line = if is_whole { unit.begin } else { mutant.line };
        let is_seen = sees == Some(source.language);
        own.covered_by = is_seen.then(|| baseline.covering(&source.path, blocks, line)).flatten();
        if own.fate == Fate::Pending && own.covered_by.as_ref().is_some_and(Vec::is_empty) {
            own.fate = if source.beside.is_some() { Fate::Absent } else { Fate::Uncovered };
            own.reason = source.beside.map(str::to_owned);
        }
        // Only in Ruby is the code before the body evaluated on each call: Python evaluates default
        // values once.
        let is_body = unit.body.as_ref().is_some_and(|body| body.start <= mutant.range.start);
        let is_called = is_body || source.language == Language::Ruby;
        let tests = own.covered_by.as_deref();
        let is_later = |tests| baseline.is_seen_later(&source.path, blocks, line, tests);
        // A renamed function must be renamed at its call sites as well.
        let is_alone =
            || mutant.operator != Operator::RenamePrivate && source.function(mutant.unit).is_some();
        later.push(is_seen && is_called && tests.is_some_and(is_later) && is_alone());
    }
    later
}

/// Copies results known from a previous run into `mutants`. Returns the number of results copied.
fn take_known(
    mutants: &mut [MutantResult],
    known: &HashMap<String, Entry>,
    by_name: &HashMap<String, usize>,
) -> usize {
    let mut count = 0;
    for own in mutants.iter_mut().filter(|own| own.fate == Fate::Pending) {
        let Some(entry) = known.get(&own.id) else { continue };
        let Some(fate) = Fate::named(&entry.fate) else { continue };
        let killed_by: Vec<usize> =
            entry.killed_by.iter().filter_map(|name| by_name.get(name)).copied().collect();
        // A kill by a test that has since become flaky proves nothing.
        if killed_by.len() < entry.killed_by.len() {
            continue;
        }
        own.fate = fate;
        own.killed_by = killed_by;
        own.tests_run = entry.tests_run;
        own.seconds = Some(entry.seconds);
        own.reason.clone_from(&entry.reason);
        own.is_complete = entry.is_complete;
        count += 1;
    }
    count
}

/// Returns the journal's key: a hash of the project's state and of how its tests are run.
fn key(root: &Root, suite: &Suite) -> u64 {
    let (files, _) = Project::of(&root.top).compared(&BTreeMap::new());
    let mut text = format!(
        "{}\n{}\n{}\n{}\n",
        env!("CARGO_PKG_VERSION"),
        root.top.display(),
        root.below.display(),
        suite.framework.name()
    );
    for word in &suite.argv {
        let _never_fails = writeln!(text, "{}", word.to_string_lossy());
    }
    for (path, kept) in files.iter().filter(|(path, _)| !is_temporary(path)) {
        let _never_fails = writeln!(text, "{path} {}", kept.content);
    }
    sum(text.as_bytes())
}

fn is_true(condition: Condition, mutation: &Mutation, scores: &Scores) -> bool {
    match condition {
        // With a diff, only mutants in the diff exist.
        Condition::Survived | Condition::SurvivedInDiff => {
            mutation.mutants.iter().any(|own| own.fate.is_missed())
        }
        Condition::ScoreBelow(least) => scores.whole.share.is_some_and(|share| share < least),
    }
}
