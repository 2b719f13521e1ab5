//! Selects the tests of a suite that a change affects, for `assay tests --changed` and `assay
//! watch`. Also stores the map of the code and files that each test used
//! (`assay_suites::coverage`), and prepares the request to the framework. No tests are run here.

use crate::cutting::Cutting;
use crate::output;
use anyhow::{Context, bail};
use assay_data::seen::SuiteUsage;
use assay_measure::directories::cache_directory;
use assay_measure::{git, room};
use assay_suites::coverage::{
    ChangedPaths, Choice, CompletedTest, Map, Project, ProjectSnapshot, Rule, SelectedTest,
    SelectionReason, Store, TestRecord, UseKind, choose, sum,
};
use assay_suites::{Framework, Run, frameworks};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use assay_suites::frameworks::WHOLE_FILE;

/// What is tracked about a suite: what each test used, and the state of the project's files.
pub(crate) struct Tracked {
    /// What each test used.
    pub map: Map,
    /// The project's files.
    pub project: Project,
    store: Option<Store>,
    /// The framework, directory and command, which identify how the tests are run.
    way: String,
    place: SuiteDirectory,
    /// State of the files at the last selection.
    before: ProjectSnapshot,
    /// True if the last selection was relative to a revision, which does not account for other
    /// changes.
    by_revision: bool,
    /// The user's rules about which tests run when a file changes.
    rules: Vec<Rule>,
}

/// The directory of a suite, and how a part of its tests can be selected.
#[derive(Clone, Debug)]
pub(crate) struct SuiteDirectory {
    /// Path of the directory, relative to the project's root; a prefix for the names of files in
    /// the directory.
    pub prefix: String,
    /// True if tests are selected by file rather than by name.
    pub by_files: bool,
}

/// The change whose affected tests are requested.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChangeQuery<'a> {
    /// Everything that changed since the tests ran.
    Any,
    /// Differences from a revision.
    Since(&'a str),
    /// These saved files, relative to the directory in which the suite is started.
    Saved(&'a [String]),
}

/// Checks the value of `--rule`, and returns it unchanged.
pub(crate) fn rule(text: &str) -> Result<String, String> {
    Rule::read(text, "").map(|_| text.to_owned())
}

/// The tests to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Selection {
    /// All tests. Contains the reason.
    All(String),
    /// A part of the tests, by name or by whole file.
    Some {
        /// What to run, in the form that [`assay_suites::RunRequirements`] takes.
        only: Vec<String>,
        /// The whole files in `only`, by their paths relative to the project's root.
        files: Vec<String>,
        /// Number of known tests left out.
        left: usize,
    },
    /// No tests. Contains the number of tests left out because nothing that they used changed.
    Nothing(usize),
}

impl Tracked {
    /// Opens the map of a suite that is started in the current directory. `cutting` splits source
    /// files into blocks. Also returns a warning if the map cannot be stored.
    ///
    /// # Errors
    ///
    /// Fails if tests of this framework cannot be tracked, or if a rule is invalid.
    pub fn open(
        framework: &dyn Framework,
        command: &[OsString],
        rules: &[String],
        cutting: &Cutting,
    ) -> anyhow::Result<(Self, Option<String>)> {
        if !framework.covers() {
            bail!(
                "what each test uses can't be recorded for {}; it can for {}",
                framework.name(),
                frameworks::that_cover().join(", ")
            );
        }
        let here = Path::new(".").canonicalize().context("the current directory")?;
        let top = git::top(&here).unwrap_or_else(|| here.clone());
        let below = here.strip_prefix(&top).unwrap_or(Path::new(""));
        let prefix = match below.to_str() {
            Some("") | None => String::new(),
            Some(below) => format!("{below}/"),
        };
        let rules = rules.iter().map(|rule| Rule::read(rule, &prefix).map_err(anyhow::Error::msg));
        let rules = rules.collect::<anyhow::Result<_>>()?;
        let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
        let way = format!("{}\n{prefix}\n{}", framework.name(), words.join("\n"));
        cutting.start();
        let project = Project::of(&top).cut_by(cutting.clone());
        let (store, map, note) = match kept(&top, &way) {
            Ok((store, map)) => (Some(store), map, None),
            Err(error) => {
                let note = format!(
                    "the record of what tests use could not be saved: {}",
                    output::told(&error)
                );
                (None, Map::default(), Some(note))
            }
        };
        Ok((
            Self {
                map,
                project,
                store,
                way,
                place: SuiteDirectory { prefix, by_files: framework.covers_files() },
                before: ProjectSnapshot::default(),
                by_revision: false,
                rules,
            },
            note,
        ))
    }

    /// Returns the project's root directory.
    pub fn top(&self) -> PathBuf {
        self.project.top().to_owned()
    }

    /// Selects the tests to run. With `noting`, the current state of the files is recorded as the
    /// one that the next run tests. Leave it out while a run is in progress, which may have read
    /// earlier contents.
    ///
    /// # Errors
    ///
    /// Fails if git cannot determine the changes since a revision.
    pub fn choice(&mut self, asked: ChangeQuery<'_>, noting: bool) -> anyhow::Result<Choice<'_>> {
        if noting {
            self.by_revision = matches!(asked, ChangeQuery::Since(_));
        }
        let changed = match asked {
            ChangeQuery::Saved(saved) => {
                let all = saved.iter().map(|path| format!("{}{path}", self.place.prefix));
                let all: Vec<String> = all.collect();
                if noting {
                    all.iter().for_each(|path| self.note(path));
                    self.before.moment = since_1970();
                }
                all
            }
            ChangeQuery::Any if !noting => self.project.compared(&self.map.files).1,
            ChangeQuery::Any => self.look(),
            ChangeQuery::Since(revision) => {
                if noting {
                    self.look();
                }
                let told = git::changed_since(self.project.top(), revision);
                told.with_context(|| {
                    let top = self.project.top();
                    match git::top(top) {
                        Some(_) => format!(
                            "--changed={revision}: `{revision}` is not a revision of this repository; `git rev-parse {revision}` shows why"
                        ),
                        None => format!(
                            "--changed={revision}: {} is not in a git repository (or there is no git); --changed without a revision needs none",
                            top.display()
                        ),
                    }
                })?
            }
        };
        let changed = match asked {
            ChangeQuery::Any => ChangedPaths::With(&changed),
            ChangeQuery::Saved(_) | ChangeQuery::Since(_) => ChangedPaths::Only(&changed),
        };
        Ok(choose(&self.map, &mut self.project, changed, &self.rules))
    }

    /// Records the state of a saved file.
    fn note(&mut self, path: &str) {
        self.forget_compiled(path);
        match self.project.noted(path) {
            Some(kept) => drop(self.before.files.insert(path.to_owned(), kept)),
            None => drop(self.before.files.remove(path)),
        }
    }

    /// Compares all files with their state when the tests ran, and returns those that changed.
    pub fn look(&mut self) -> Vec<String> {
        let (files, changed) = self.project.compared(&self.map.files);
        changed.iter().for_each(|path| self.forget_compiled(path));
        self.before = ProjectSnapshot { files, moment: since_1970() };
        changed
    }

    /// Removes the bytecode that Python compiled from a source. Python checks it by size and
    /// modification time in whole seconds, so after two saves within a second it would run the
    /// first.
    fn forget_compiled(&self, path: &str) {
        let place = self.project.top().join(path);
        let (Some(directory), Some(stem)) = (place.parent(), place.file_stem()) else { return };
        if place.extension().is_none_or(|ending| ending != "py") {
            return;
        }
        let Ok(entries) = std::fs::read_dir(directory.join("__pycache__")) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let rest = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
            if rest.is_some_and(|rest| rest.starts_with(b".") && rest.ends_with(b".pyc")) {
                let _made_again = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Converts a choice of tests into what to request from the framework.
    pub fn selection(choice: &Choice<'_>, place: &SuiteDirectory) -> Selection {
        if let Some(why) = &choice.everything {
            return Selection::All(why.clone());
        }
        if choice.is_empty() {
            return Selection::Nothing(choice.left.len());
        }
        let mut files: BTreeSet<&str> = choice.files.iter().map(String::as_str).collect();
        let mut only = Vec::new();
        for chosen in &choice.tests {
            match chosen.known.file.as_deref().filter(|_| place.by_files) {
                Some(file) => drop(files.insert(file)),
                None => only.push(chosen.name.to_owned()),
            }
        }
        // Files outside the suite's directory do not belong to it.
        let own = files.iter().filter_map(|file| file.strip_prefix(&place.prefix));
        only.extend(own.map(|file| format!("{WHOLE_FILE}{file}")));
        let left = choice.left.len();
        if only.is_empty() {
            return Selection::Nothing(left);
        }
        Selection::Some { only, files: files.into_iter().map(str::to_owned).collect(), left }
    }

    /// Stops storing the map, after a failure to write it.
    pub fn forget_store(&mut self) {
        self.store = None;
    }

    /// Returns the directory in which the suite is started.
    pub fn place(&self) -> &SuiteDirectory {
        &self.place
    }

    /// Stores what a run of the last choice observed. For `whole`, see [`Map::take`]. If the run
    /// `broke` or failed outside its tests, what they use becomes unknown, so that all of them run
    /// again: the file whose change would repair the run is not recorded for any test.
    ///
    /// # Errors
    ///
    /// Fails if the map cannot be stored.
    pub fn take(&mut self, run: &Run, broke: bool, whole: Option<&[String]>) -> anyhow::Result<()> {
        let broke = broke || run.tests.iter().any(|test| test.beside);
        let tests: Vec<CompletedTest> =
            run.tests
                .iter()
                .filter(|test| !test.beside)
                .map(|test| CompletedTest {
                    name: test.name.clone(),
                    file: test.file.as_deref().map(|file| {
                        format!("{}{}", self.place.prefix, file.trim_start_matches("./"))
                    }),
                    id: test.id.clone(),
                    seconds: test.seconds,
                    status: test.status,
                })
                .collect();
        let before = self.before.clone();
        let mut seen = if broke { SuiteUsage::default() } else { run.seen.clone() };
        for process in &mut seen.processes {
            // If TMPDIR is inside the project, so are the files that assay loads into the suite.
            let is_ours =
                |path: &String| path.split('/').any(|part| part.starts_with(room::PREFIX));
            process.sources.retain(|_, path| !is_ours(path));
        }
        let files = self.map.files.clone();
        self.map.take(&mut self.project, &tests, &seen, before, whole);
        if self.by_revision && whole.is_some() {
            self.map.files = files;
        }
        if let Some(store) = &mut self.store {
            store.save(&self.map, &self.way)?;
        }
        Ok(())
    }
}

fn kept(top: &Path, way: &str) -> anyhow::Result<(Store, Map)> {
    let cache = cache_directory()
        .context("neither XDG_CACHE_HOME nor HOME names a directory to keep it in")?;
    let key = sum(format!("{}\n{way}", top.display()).as_bytes());
    let store = Store::open(&cache.join("coverage").join(format!("{key:016x}.db")))?;
    let map = store.load(way)?;
    Ok((store, map))
}

fn since_1970() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// Returns the reason why a test runs, as the rest of a sentence that begins with its name.
pub(crate) fn reason(why: &SelectionReason) -> String {
    match why {
        SelectionReason::Failed => "failed when it ran last".to_owned(),
        SelectionReason::Unseen => "ran without a record of what it uses".to_owned(),
        SelectionReason::Used { how: UseKind::Entered, path, block: Some(block) } => {
            format!("uses `{block}` of {path}, which changed")
        }
        SelectionReason::Used { how: UseKind::Entered, path, block: None } => {
            format!("uses code of {path} that changed")
        }
        SelectionReason::Used { how: UseKind::Loaded, path, .. } => {
            format!(
                "needs {path}, which changed outside of its functions, or whose set of functions changed"
            )
        }
        SelectionReason::Used { how: UseKind::Opened, path, .. } => {
            format!("opens {path}, which changed")
        }
        SelectionReason::Used { how: UseKind::Listed | UseKind::Searched, path, .. } => {
            format!("lists the directory {path}, in which files were added or removed")
        }
        SelectionReason::Used { how: UseKind::Started, path, .. } => {
            format!("starts {path}, which changed")
        }
        SelectionReason::Used { how: UseKind::Built, path, .. } if path.ends_with("**") => {
            "is built from packages in which files were added or removed".to_owned()
        }
        SelectionReason::Used { how: UseKind::Built, path, .. } => {
            format!("is built from {path}, or may read it, and it changed")
        }
        SelectionReason::InFile(path) => {
            format!("is in {path}, which changed around its tests")
        }
        SelectionReason::Maybe(why) => format!("may use what changed: {why}"),
        SelectionReason::Beside { source } => format!("uses the package of {source}, which is new"),
        SelectionReason::Called { source } => {
            format!("is in a file named like {source}")
        }
        SelectionReason::Ruled { rule, source } => {
            format!("is named for {source} by the rule {rule}")
        }
        SelectionReason::Everything => "runs because everything does".to_owned(),
    }
}

/// Returns, in a word or two, how it is known that a test must run.
fn source(why: &SelectionReason) -> &'static str {
    match why {
        SelectionReason::Failed | SelectionReason::Unseen => "last run",
        SelectionReason::Used { how: UseKind::Built, .. } | SelectionReason::Beside { .. } => {
            "imports"
        }
        SelectionReason::Used { .. } | SelectionReason::Maybe(_) => "seen",
        SelectionReason::InFile(_) | SelectionReason::Called { .. } => "names",
        SelectionReason::Ruled { .. } => "rule",
        SelectionReason::Everything => "everything",
    }
}

/// Returns the reason why a test is left out.
fn left(known: &TestRecord) -> &'static str {
    let uses = known.uses.as_deref().unwrap_or_default();
    match uses.is_empty() {
        true => "left out; it was skipped, or used nothing of the project (seen)",
        false if uses.iter().all(|own| own.how == UseKind::Built) => {
            "left out; nothing that it is built from changed (imports)"
        }
        false => "left out; nothing that it used changed (seen)",
    }
}

/// Returns lines that explain for each test why it runs or not, and how that is known.
pub(crate) fn explained(choice: &Choice<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &choice.everything {
        lines.push(format!("everything runs: {why}"));
        return lines;
    }
    let line = |chosen: &SelectedTest<'_>| {
        format!("{}: {} ({})", chosen.name, reason(&chosen.why), source(&chosen.why))
    };
    lines.extend(choice.tests.iter().map(line));
    for file in &choice.files {
        lines.push(format!("{file}: all of it, because it may contain unknown tests (names)"));
    }
    lines.extend(choice.left.iter().map(|(name, known)| format!("{name}: {}", left(known))));
    lines
}

/// Returns the message that is shown about a selection before it runs.
pub(crate) fn said(selection: &Selection) -> String {
    match selection {
        Selection::All(why) => format!("all tests run: {why}"),
        Selection::Nothing(left) => {
            format!("no test runs: nothing changed that one of the {left} uses")
        }
        Selection::Some { only, files, left } => {
            let named = only.len() - files.len().min(only.len());
            let mut text = match named {
                0 => format!("all of {} runs", files.join(", ")),
                1 => "1 test runs".to_owned(),
                named => format!("{named} tests run"),
            };
            if named > 0 && !files.is_empty() {
                text += &format!(", with all of {}", files.join(", "));
            }
            format!("{text}; left out: {left}, which use nothing that changed")
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use assay_data::seen::{ProcessUsage, Used};
    use assay_suites::run::Test;

    fn run(opened: &str) -> Run {
        let used = Used { opens: vec![opened.to_owned()], ..Used::default() };
        let process =
            ProcessUsage { tests: vec![("a".to_owned(), used)], ..ProcessUsage::default() };
        Run {
            tests: vec![Test { name: "a".to_owned(), ..Test::default() }],
            seen: SuiteUsage { processes: vec![process] },
            ..Run::default()
        }
    }

    fn tracked(top: &Path) -> Tracked {
        let mut tracked = Tracked {
            map: Map::default(),
            project: Project::of(top),
            store: None,
            way: String::new(),
            place: SuiteDirectory { prefix: String::new(), by_files: false },
            before: ProjectSnapshot::default(),
            by_revision: false,
            rules: Vec::new(),
        };
        tracked.look();
        tracked
    }

    #[test]
    fn a_directory_that_comes_or_goes_is_a_change_for_who_asked_for_it() {
        let room = tempfile::tempdir().unwrap();
        let mut tracked = tracked(room.path());
        let later = room.path().join("later");
        for is_there in [true, false] {
            tracked.take(&run("later"), false, None).unwrap();
            assert!(tracked.choice(ChangeQuery::Any, true).unwrap().is_empty());
            match is_there {
                true => std::fs::create_dir(&later).unwrap(),
                false => std::fs::remove_dir(&later).unwrap(),
            }
            // The result must not depend on which file in it is saved.
            let saved = ["later/a.txt".to_owned()];
            for asked in [ChangeQuery::Any, ChangeQuery::Saved(&saved)] {
                assert_eq!(tracked.choice(asked, true).unwrap().tests.len(), 1, "{asked:?}");
            }
        }
    }

    #[test]
    fn a_save_during_a_run_does_not_move_what_the_run_saw() {
        let room = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(room.path().join(name), text).unwrap();
        write("known.txt", "1");
        write("data.txt", "1");
        let mut tracked = tracked(room.path());
        // The run failed although no test did.
        tracked.take(&run("known.txt"), true, None).unwrap();
        assert_eq!(tracked.choice(ChangeQuery::Any, true).unwrap().tests.len(), 1);
        tracked.take(&run("known.txt"), false, None).unwrap();
        assert!(tracked.choice(ChangeQuery::Any, true).unwrap().is_empty());
        // The next run opens a file that no test had opened before; then the file is saved.
        write("data.txt", "2");
        let saved = ["data.txt".to_owned()];
        assert!(tracked.choice(ChangeQuery::Saved(&saved), false).unwrap().is_empty());
        tracked.take(&run("data.txt"), false, None).unwrap();
        let choice = tracked.choice(ChangeQuery::Any, true).unwrap();
        assert_eq!(choice.tests.len(), 1, "it saw what was there before");
    }
}
