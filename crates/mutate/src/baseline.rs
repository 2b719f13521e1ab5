//! Runs the tests without any change to find out whether they pass, which of them are flaky, how
//! long they take, and which code each of them uses.

use crate::arena::CompleteReport;
use crate::policy::BASELINES;
use crate::status::{ByStatus, Outputs};
use crate::suite::{RunLimits, Runs, Suite, SuiteRun};
use anyhow::anyhow;
use assay_data::list;
use assay_data::mutation::MutationTest;
use assay_data::test_results::TestStatus;
use assay_measure::Outcome;
use assay_mutate::blocks::Grammars;
use assay_suites::RunRequirements;
use assay_suites::coverage::{
    Blocks, CompletedTest, Map, Project, ProjectSnapshot, UseKind as Used,
};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The reason why no mutant could be tried.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct BaselineError(pub String);

/// What is known from running the tests on the unchanged code.
#[derive(Debug, Default)]
pub(crate) struct Baseline {
    /// The framework, with its version.
    pub framework: String,
    /// The tests that pass every time.
    pub tests: Vec<MutationTest>,
    /// The string that selects each test: the test's identifier if it has one and its name changes
    /// while it runs, and its name otherwise.
    pub selectors: Vec<String>,
    /// Names of flaky tests.
    pub flaky: Vec<String>,
    /// Duration of a whole run, in seconds.
    pub seconds: f64,
    /// The part of `seconds` that is not spent in the tests themselves.
    pub beside: f64,
    /// The report of a complete run.
    pub ends: CompleteReport,
    /// True if runs can be restricted to some of the tests.
    pub selects: bool,
    /// The files that the tests loaded, relative to the root of the project.
    pub loaded: BTreeSet<String>,
    /// The code that tests use, if known.
    uses: Option<TestUses>,
}

#[derive(Debug, Default)]
struct TestUses {
    /// Indices of the tests that entered each block of code, by the file's path and the block's
    /// checksum.
    by_block: HashMap<(String, u64), Vec<usize>>,
    /// Indices of tests that may use any code.
    always: Vec<usize>,
    /// Blocks that were entered while the tests were being loaded, by path and checksum.
    loading: HashSet<(String, u64)>,
    /// Files that are loaded or read while a test runs, with the index of the test.
    read: HashSet<(String, usize)>,
}

impl Baseline {
    /// Runs the tests in the copy at `top` up to `BASELINES` times, as long as another run can end
    /// before `patience`.
    ///
    /// # Errors
    ///
    /// Returns a [`BaselineError`] if the tests fail without any change, or if nothing can be
    /// concluded from their output.
    pub fn of(
        suite: &Suite,
        runs: &mut Runs,
        top: &Path,
        patience: Option<Instant>,
    ) -> anyhow::Result<Self> {
        let covers = suite.sees().is_some();
        let mut project = Project::of(top).cut_by(Grammars);
        let before = ProjectSnapshot { files: project.compared(&BTreeMap::new()).0, moment: now() };
        let how = RunLimits::WHOLE;
        // Programs that a separate step builds are not in the copy yet.
        if suite.framework.name() == "ctest"
            && let Some((false, said)) = suite.build(runs, top, false)?
        {
            let line = said.lines().find(|line| line.contains("rror")).unwrap_or_default();
            let error = format!("without any change, the copy can't be built: {}", line.trim());
            return Err(BaselineError(error).into());
        }
        let seen = RunRequirements {
            coverage: covers.then(|| top.to_owned()),
            ..RunRequirements::default()
        };
        let first = suite.run(runs, top, &seen, how)?;
        let mut own = Self { selects: suite.framework.selects(), ..Self::default() };
        let mut failed: BTreeMap<String, usize> = BTreeMap::new();
        let mut times: HashMap<String, f64> = HashMap::new();
        let mut present: HashMap<String, usize> = HashMap::new();
        let mut all = vec![first];
        // A command that reports no tests may be a program whose exit status is the result.
        if suite.framework.name() == "tap" && is_silent(&all[0]) {
            let mut second = suite.run(runs, top, &RunRequirements::default(), how)?;
            if is_silent(&second) {
                let own = ByStatus::new(&suite.argv, &second.output);
                let own = suite.by_status.get_or_init(|| own);
                second.run = own.run(second.outcome, &second.output, &[]);
                all = vec![second];
            }
        }
        for _ in 1..BASELINES {
            let seconds = all.last().map_or(0.0, |ran| ran.seconds);
            let end = Instant::now() + Duration::from_secs_f64(seconds);
            if patience.is_some_and(|until| end >= until) {
                break;
            }
            all.push(suite.run(runs, top, &RunRequirements::default(), how)?);
        }
        suite.outputs.get_or_init(|| Outputs::of(all.iter().flat_map(|ran| &ran.run)));
        let reported = all.iter().map(|ran| ran.run.as_ref().map_or(0, |run| run.tests.len()));
        let finishes =
            |ran: &SuiteRun| ran.run.as_ref().is_some_and(|run| run.unfinished.is_empty());
        let finishes = all.iter().all(finishes);
        own.ends = CompleteReport { reported: reported.min().unwrap_or_default(), finishes };
        for ran in &all {
            let Some(run) = ran.run.as_ref().filter(|run| !run.tests.is_empty()) else {
                return Err(no_tests(ran));
            };
            if !matches!(ran.outcome, Outcome::Exited(_)) {
                return Err(BaselineError(format!(
                    "without any change, the tests {}",
                    ran.outcome
                ))
                .into());
            }
            own.framework.clone_from(&run.framework);
            own.seconds = ran.seconds;
            for test in &run.tests {
                *present.entry(test.name.clone()).or_default() += 1;
                if test.status == TestStatus::Failed {
                    *failed.entry(test.name.clone()).or_default() += 1;
                }
                if let Some(seconds) = test.seconds {
                    // Later runs overwrite the times of the first run, which include the overhead
                    // of measuring coverage.
                    times.insert(test.name.clone(), seconds);
                }
            }
        }
        let red: Vec<&str> = failed
            .iter()
            .filter(|(_, times)| **times == all.len())
            .map(|(name, _)| name.as_str())
            .collect();
        if !red.is_empty() {
            let mut tests = all.iter().flat_map(|ran| &ran.run).flat_map(|run| &run.tests);
            let first = tests.find(|test| test.name == red[0] && test.message.is_some());
            let line = first.and_then(|test| said_by(test.message.as_ref()?));
            let said = line.map_or(String::new(), |line| format!("; the first says: {line}"));
            return Err(BaselineError(format!(
                "without any change, {} in each of {} runs in a copy of the project: {}{said}. Run the command by itself to see whether they pass in the project itself",
                that_fail(red.len()),
                all.len(),
                shortened(&red)
            ))
            .into());
        }
        if all.iter().all(|ran| ran.outcome != Outcome::Exited(0)) && failed.is_empty() {
            let said =
                all[0].said.clone().map_or(String::new(), |said| format!("; it said: {said}"));
            return Err(BaselineError(format!(
                "without any change, no test fails, but the command {}{said}",
                all[0].outcome
            ))
            .into());
        }
        let flaky = |name: &str| failed.contains_key(name) || present.get(name) != Some(&all.len());
        let Some(run) = all.first().and_then(|ran| ran.run.as_ref()) else {
            return Err(anyhow!("no run"));
        };
        let mut names = BTreeSet::new();
        for test in run.tests.iter().filter(|test| test.status != TestStatus::Skipped) {
            if flaky(&test.name) {
                names.insert(test.name.clone());
                continue;
            }
            let seconds = times.get(&test.name).copied();
            let id = test.id.as_ref().filter(|_| test.started.is_some());
            own.selectors.push(id.unwrap_or(&test.name).clone());
            own.tests.push(MutationTest {
                name: test.name.clone(),
                file: test.file.clone(),
                seconds,
            });
        }
        let tests: Vec<&str> = own.tests.iter().map(|test| test.name.as_str()).collect();
        for (test, file) in suite.files(top, &tests).into_iter().enumerate() {
            if file.is_some() {
                own.tests[test].file = file;
            }
        }
        names.extend(failed.into_keys());
        own.flaky = names.into_iter().collect();
        let processes = run.seen.processes.iter();
        own.loaded = processes.flat_map(|process| process.sources.values().cloned()).collect();
        let of_tests: f64 = own.tests.iter().filter_map(|test| test.seconds).sum();
        own.beside = (own.seconds - of_tests).max(0.0);
        if covers && own.selects {
            own.uses = Some(own.used(run, &mut project, before, suite));
        }
        Ok(own)
    }

    fn used(
        &self,
        run: &assay_suites::Run,
        project: &mut Project,
        before: ProjectSnapshot,
        suite: &Suite,
    ) -> TestUses {
        let below = suite.below.to_str().unwrap_or_default();
        let prefix = if below.is_empty() { String::new() } else { format!("{below}/") };
        let ended: Vec<CompletedTest> = run
            .tests
            .iter()
            .map(|test| CompletedTest {
                name: test.name.clone(),
                file: test
                    .file
                    .as_deref()
                    .map(|file| format!("{prefix}{}", file.trim_start_matches("./"))),
                id: test.id.clone(),
                seconds: test.seconds,
                status: test.status,
            })
            .collect();
        let mut map = Map::default();
        map.take(project, &ended, &run.seen, before, None);
        let mut uses = TestUses::default();
        let indices: HashMap<&str, usize> = self
            .tests
            .iter()
            .enumerate()
            .map(|(index, test)| (test.name.as_str(), index))
            .collect();
        for process in &run.seen.processes {
            for (name, used) in &process.tests {
                let Some(index) = indices.get(name.as_str()) else { continue };
                let loads = used.loads.iter().filter_map(|file| process.sources.get(file));
                let read = loads.chain(&used.opens).map(|path| (path.clone(), *index));
                uses.read.extend(read);
            }
            for (file, lines) in &process.outside.blocks {
                let Some(path) = process.sources.get(file) else { continue };
                let now = project.now(path);
                for block in
                    lines.iter().flat_map(|line| now.blocks.iter().flat_map(|own| own.at(*line)))
                {
                    uses.loading.insert((path.clone(), block.sum));
                }
            }
        }
        for (index, test) in self.tests.iter().enumerate() {
            let known = map.tests.get(&test.name);
            let Some(own) = known.and_then(|known| known.uses.as_ref()) else {
                uses.always.push(index);
                continue;
            };
            if known.is_some_and(|known| known.always.is_some()) {
                uses.always.push(index);
                continue;
            }
            for own in own.iter().filter(|own| own.how == Used::Entered) {
                let key = (map.path(own.path).to_owned(), own.sum);
                uses.by_block.entry(key).or_default().push(index);
            }
        }
        uses
    }

    /// Returns the tests that may use this line of a file with these blocks. `None` means that this
    /// is unknown, so all tests may use it.
    pub fn covering(&self, path: &str, blocks: &Blocks, line: u32) -> Option<Vec<usize>> {
        let uses = self.uses.as_ref()?;
        // A test that entered the innermost block also entered the enclosing ones.
        let block = blocks.at(line).last()?;
        let seen = uses.by_block.get(&(path.to_owned(), block.sum));
        let mut tests: Vec<usize> =
            seen.into_iter().flatten().chain(&uses.always).copied().collect();
        tests.sort_unstable();
        tests.dedup();
        Some(tests)
    }
}

impl Baseline {
    /// Returns true if a change to this line of a file with these blocks takes effect even in
    /// processes that loaded the tests before the change: the innermost block had not run by then,
    /// and none of `tests` loads or reads the file, or starts programs that do.
    pub fn is_seen_later(&self, path: &str, blocks: &Blocks, line: u32, tests: &[usize]) -> bool {
        let Some(uses) = self.uses.as_ref() else { return false };
        let Some(block) = blocks.at(line).last() else { return false };
        !uses.loading.contains(&(path.to_owned(), block.sum))
            && !tests.iter().any(|test| {
                uses.always.contains(test) || uses.read.contains(&(path.to_owned(), *test))
            })
    }
}

/// Returns true if a run succeeded according to its exit status but reported no tests.
fn is_silent(ran: &SuiteRun) -> bool {
    let is_none = ran.run.as_ref().is_none_or(|run| run.tests.is_empty());
    is_none && ran.outcome == Outcome::Exited(0)
}

fn no_tests(ran: &SuiteRun) -> anyhow::Error {
    let said = ran.said.clone().map_or(String::new(), |said| format!("; it said: {said}"));
    // If the command succeeded, its output does not explain the problem.
    let unread = ran.unread.as_ref().filter(|_| ran.outcome == Outcome::Exited(0));
    let said = unread.map_or(said, |unread| format!(": {unread}"));
    BaselineError(format!(
        "without any change, the tests report nothing in a copy of the project: the command {}{said}",
        ran.outcome
    ))
    .into()
}

/// Returns the first nonempty line of a failed test's message, truncated to 200 characters.
fn said_by(message: &str) -> Option<String> {
    const LONGEST: usize = 200;
    let line = message.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(LONGEST).collect())
}

fn that_fail(count: usize) -> String {
    if count == 1 { "1 test fails".to_owned() } else { format!("{count} tests fail") }
}

/// Joins the first few names, followed by the number of remaining names.
pub(crate) fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    list::first(names, SHOWN)
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
