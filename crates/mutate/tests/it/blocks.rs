//! Selection of a project's tests when its files change, with and without division into blocks.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use assay_data::seen::{ProcessUsage, SuiteUsage, Used};
use assay_data::test_results::TestStatus;
use assay_mutate::blocks::Grammars;
use assay_suites::coverage::*;
use std::collections::BTreeMap;
use std::fs;

/// A project in a directory, and the recorded uses of its two tests.
struct Room {
    directory: tempfile::TempDir,
    project: Project,
}

/// Returns a run start at which all files had been written long before.
fn later() -> ProjectSnapshot {
    ProjectSnapshot { moment: f64::INFINITY, ..ProjectSnapshot::default() }
}

const USER: &str = "class User\n  def name\n    1\n  end\n  def mail\n    2\n  end\nend\n";
const NAME: &str = "spec/user_spec.rb: User has a name";
const MAIL: &str = "spec/mail_spec.rb: User has mail";

impl Room {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let project = Project::of(directory.path()).cut_by(Grammars);
        let own = Self { directory, project };
        for (path, text) in [
            ("lib/user.rb", USER),
            ("lib/other.rb", "OTHER = 1\n"),
            (
                "spec/user_spec.rb",
                "describe User do\n  it 'has a name' do\n    User.new.name\n  end\nend\n",
            ),
            (
                "spec/mail_spec.rb",
                "describe User do\n  it 'has mail' do\n    User.new.mail\n  end\nend\n",
            ),
            ("spec/mail.txt", "mail\n"),
        ] {
            own.write(path, text);
        }
        own
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn seen() -> SuiteUsage {
        let sources = ["lib/user.rb", "spec/user_spec.rb", "spec/mail_spec.rb", "lib/other.rb"];
        let used = |file: u32, line: u32| Used {
            blocks: BTreeMap::from([(0, vec![line]), (file, vec![2])]),
            ..Used::default()
        };
        let mail =
            Used { opens: vec!["spec/mail.txt".into()], lists: vec!["spec".into()], ..used(2, 5) };
        SuiteUsage {
            processes: vec![ProcessUsage {
                sources: (0..).zip(sources.map(str::to_owned)).collect(),
                tests: vec![(NAME.into(), used(1, 2)), (MAIL.into(), mail)],
                outside: Used { loads: vec![0, 1, 2, 3], ..Used::default() },
                imports: None,
            }],
        }
    }

    fn ended() -> [CompletedTest; 2] {
        let test = |name: &str, seconds| CompletedTest {
            name: name.into(),
            file: name.split(": ").next().map(str::to_owned),
            seconds: Some(seconds),
            ..CompletedTest::default()
        };
        [test(NAME, 0.2), test(MAIL, 0.1)]
    }

    fn map(&mut self) -> Map {
        let mut map = Map::default();
        map.take(&mut self.project, &Self::ended(), &Self::seen(), later(), None);
        map
    }

    fn chosen(&mut self, map: &Map, changed: &[&str]) -> String {
        let changed: Vec<String> = changed.iter().map(|path| (*path).to_owned()).collect();
        let by_name = self.shown(map, Some(&changed));
        if !changed.is_empty() {
            let by_content = self.shown(map, None);
            assert!(by_content == by_name || by_name.contains("all"), "{by_content} {by_name}");
        }
        by_name
    }

    fn shown(&mut self, map: &Map, changed: Option<&[String]>) -> String {
        self.project.refresh();
        let choice = {
            let changed = changed.map_or(ChangedPaths::With(&[]), ChangedPaths::Only);
            choose(map, &mut self.project, changed, &[])
        };
        if let Some(why) = choice.everything {
            return format!("all: {why}");
        }
        let tests = choice.tests.iter().map(|own| own.name.rsplit(' ').next().unwrap());
        let tests: Vec<&str> = tests.collect();
        let files = choice.files.join(" ");
        assert_eq!(choice.left.len() + choice.tests.len(), map.tests.len());
        format!("{} {files}", tests.join(" ")).trim().to_owned()
    }
}

#[test]
fn a_change_touches_the_tests_that_used_what_changed() {
    let mut room = Room::new();
    let map = room.map();
    assert_eq!(room.chosen(&map, &[]), "");
    assert_eq!(room.shown(&map, None), "");
    room.write("lib/user.rb", &USER.replace('1', "3"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "name");
    room.write("lib/user.rb", &USER.replace('2', "3"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "mail");
    // A new method may be called by existing code.
    room.write("lib/user.rb", &USER.replace("  def mail", "  def to_s\n    2\n  end\n  def mail"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "mail name", "the quickest first");
    // Restoring the file restores the state.
    room.write("lib/user.rb", &format!("# new\n{USER}"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "");
    room.write("lib/other.rb", "OTHER = 2\n");
    assert_eq!(room.chosen(&map, &["lib/other.rb"]), "mail name", "nobody knows who needs it");
    room.write("lib/other.rb", "OTHER = 1\n");
    room.write("spec/mail.txt", "letter\n");
    assert_eq!(room.chosen(&map, &["spec/mail.txt"]), "mail");
    room.write("spec/mail.txt", "mail\n");
    room.write("spec/new.txt", "mail\n");
    assert_eq!(room.chosen(&map, &["spec/new.txt"]), "mail", "it listed the directory");
}

#[test]
fn what_nobody_knew_falls_to_names_and_then_to_everything() {
    let mut room = Room::new();
    let map = room.map();
    room.write("README.md", "x\n");
    assert_eq!(room.chosen(&map, &["README.md"]), "");
    room.write("Gemfile.lock", "x\n");
    assert_eq!(
        room.shown(&map, Some(&["Gemfile.lock".into()])),
        "all: everything may depend on Gemfile.lock, which changed"
    );
    room.write("app/mail.rb", "x\n");
    let shown = |room: &mut Room, path: &str| room.shown(&map, Some(&[path.to_owned()]));
    assert_eq!(shown(&mut room, "app/mail.rb"), "mail");
    room.write("app/letter.rb", "x\n");
    assert_eq!(shown(&mut room, "app/letter.rb"), "all: it is not known what uses app/letter.rb");
    room.write("test/letter_test.rb", "x\n");
    assert_eq!(shown(&mut room, "test/letter_test.rb"), "test/letter_test.rb");
    // A test file with an additional test.
    room.write("spec/user_spec.rb", "describe User do\n  it 'has a name' do\n    User.new.name\n  end\n  it 'is new' do\n  end\nend\n");
    assert_eq!(shown(&mut room, "spec/user_spec.rb"), "name spec/user_spec.rb");
    fs::remove_file(room.directory.path().join("spec/user_spec.rb")).unwrap();
    let left =
        choose(&map, &mut room.project, ChangedPaths::Only(&["spec/user_spec.rb".into()]), &[]);
    assert!(left.tests.iter().all(|own| own.name == MAIL) && left.files.is_empty(), "{left:?}");
}

#[test]
fn failures_come_first_and_programs_may_read_anything() {
    let mut room = Room::new();
    let (mut tests, mut seen) = (Room::ended(), Room::seen());
    tests[0].status = TestStatus::Failed;
    seen.processes[0].tests[1]
        .1
        .spawns
        .push(vec!["/usr/bin/python3.11".into(), "x.py".into()].into());
    let mut map = Map::default();
    map.take(&mut room.project, &tests, &seen, later(), None);
    assert_eq!(room.shown(&map, Some(&[])), "name", "it failed");
    room.write("lib/user.rb", &USER.replace('1', "3"));
    assert_eq!(room.shown(&map, Some(&["lib/user.rb".into()])), "name mail");
    let choice = choose(&map, &mut room.project, ChangedPaths::Only(&[]), &[]);
    assert_eq!(choice.tests[0].why, SelectionReason::Failed);
}

#[test]
fn a_shell_that_starts_a_plain_program_reads_what_that_reads() {
    let mut room = Room::new();
    let mut seen = Room::seen();
    let shell = |text: &str| vec!["sh".to_owned(), "-c".to_owned(), text.to_owned()];
    // Outside of tests, as libraries do while they are loaded.
    seen.processes[0].outside.spawns.push(shell("which editor > /dev/null 2>&1").into());
    seen.processes[0].tests[1].1.spawns.push(shell("sort < lib/words.txt").into());
    room.write("lib/words.txt", "a");
    let mut map = Map::default();
    map.take(&mut room.project, &Room::ended(), &seen, later(), None);
    assert_eq!(room.shown(&map, Some(&[])), "");
    room.write("lib/words.txt", "b");
    assert_eq!(room.shown(&map, Some(&["lib/words.txt".into()])), "mail");
    room.write("lib/user.rb", &USER.replace('1', "3"));
    assert_eq!(room.shown(&map, Some(&["lib/user.rb".into()])), "name");
}

#[test]
fn what_was_written_while_tests_ran_is_unknown() {
    let mut room = Room::new();
    let mut map = Map::default();
    map.take(&mut room.project, &Room::ended(), &Room::seen(), ProjectSnapshot::default(), None);
    assert_eq!(room.shown(&map, None), "mail name spec/mail_spec.rb spec/user_spec.rb");
    let (files, _) = room.project.compared(&BTreeMap::new());
    room.write("lib/user.rb", &USER.replace('1', "4"));
    let before = ProjectSnapshot { files, moment: 0.0 };
    map.take(&mut room.project, &Room::ended(), &Room::seen(), before, None);
    assert_eq!(room.shown(&map, None), "mail name");
    assert_eq!(room.project.compared(&map.files).1, ["lib/user.rb"]);
}

#[test]
fn tests_that_are_gone_are_forgotten_when_their_file_ran_whole() {
    let mut room = Room::new();
    let mut map = room.map();
    let mut seen = Room::seen();
    seen.processes[0].tests.truncate(1);
    let own = &Room::ended()[..1];
    map.take(&mut room.project, own, &seen, later(), Some(&[]));
    assert_eq!(map.tests.len(), 2);
    let whole = ["spec/mail_spec.rb".to_owned()];
    map.take(&mut room.project, own, &seen, later(), Some(&whole));
    assert_eq!(map.tests.len(), 1);
}

#[test]
fn a_rule_adds_to_what_is_known() {
    let mut room = Room::new();
    let map = room.map();
    let rules = [Rule::read("*.erb=mail*", "").unwrap(), Rule::read("x=spec", "").unwrap()];
    room.write("app/a.erb", "x");
    room.write("other/mailer_spec.rb", "x");
    room.project.refresh();
    let path = ["app/a.erb".to_owned()];
    let choice = choose(&map, &mut room.project, ChangedPaths::Only(&path), &rules);
    let why = SelectionReason::Ruled { rule: "*.erb=mail*".into(), source: path[0].clone() };
    assert_eq!((choice.tests[0].name, &choice.tests[0].why), (MAIL, &why));
    assert_eq!(
        (choice.tests.len(), &choice.files[..]),
        (1, &["other/mailer_spec.rb".to_owned()][..])
    );
    // A rule can cover an unknown source.
    room.write("app/letter.rb", "x");
    let path = ["app/letter.rb".to_owned()];
    let rules = [Rule::read("letter.rb=spec/user_spec.rb", "").unwrap()];
    let choice = choose(&map, &mut room.project, ChangedPaths::Only(&path), &rules);
    assert!(choice.everything.is_none() && choice.tests.len() == 1, "{choice:?}");
}

#[test]
fn what_a_program_is_built_from_counts_as_a_whole_with_what_is_new_in_it() {
    let mut room = Room::new();
    let mut map = Map::default();
    let used = |builds: &str| ProcessUsage {
        outside: Used { builds: vec![builds.to_owned()], ..Used::default() },
        ..ProcessUsage::default()
    };
    let with = |process: ProcessUsage, name: &str| ProcessUsage {
        tests: vec![(name.to_owned(), Used::default())],
        ..process
    };
    let seen =
        SuiteUsage { processes: vec![with(used("lib/**"), NAME), with(used("**:!lib/**"), MAIL)] };
    let ended = Room::ended().map(|own| CompletedTest { file: None, ..own });
    map.take(&mut room.project, &ended, &seen, later(), None);
    assert_eq!(room.chosen(&map, &[]), "");
    room.write("lib/user.rb", &format!("# new\n{USER}"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "name");
    room.write("lib/user.rb", USER);
    room.write("lib/new.rb", "x");
    assert_eq!(room.chosen(&map, &["lib/new.rb"]), "name");
    fs::remove_file(room.directory.path().join("lib/new.rb")).unwrap();
    room.write("data.bin", "x");
    assert_eq!(room.chosen(&map, &["data.bin"]), "mail");
}

#[test]
fn a_new_file_of_a_package_of_go_touches_who_uses_the_package() {
    let mut room = Room::new();
    room.write("a/a.go", "package a\n");
    let mut seen = Room::seen();
    seen.processes[0].sources.insert(9, "a/a.go".into());
    seen.processes[0].tests[0].1.loads.push(9);
    let mut map = Map::default();
    map.take(&mut room.project, &Room::ended(), &seen, later(), None);
    room.write("a/b.go", "package a\n");
    assert_eq!(room.shown(&map, Some(&["a/b.go".into()])), "name");
    room.write("b/b.go", "package b\n");
    assert_eq!(room.shown(&map, Some(&["b/b.go".into()])), "all: it is not known what uses b/b.go");
}

#[test]
fn imports_say_who_needs_the_top_of_a_file() {
    let mut room = Room::new();
    let mut seen = Room::seen();
    // user_spec imports other, mail_spec does not.
    seen.processes[0].imports = Some(BTreeMap::from([(1, vec![0, 3]), (2, vec![0])]));
    let mut map = Map::default();
    map.take(&mut room.project, &Room::ended(), &seen, later(), None);
    room.write("lib/other.rb", "OTHER = 2\n");
    assert_eq!(room.chosen(&map, &["lib/other.rb"]), "name");
}

#[test]
fn files_are_compared_with_what_they_were_and_new_ones_found() {
    let mut room = Room::new();
    room.write(".gitignore", "*.log\n");
    room.write("a.log", "x");
    room.write("node_modules/a.js", "x");
    room.write(".git/config", "x");
    let (all, new) = room.project.compared(&BTreeMap::new());
    assert_eq!(all.len(), 6, "{all:?}");
    assert_eq!(new.len(), 6);
    // Ignored files are in no listing.
    let listed = (room.project.listing("spec", true), room.project.listing(".", true));
    room.write("spec/x.log", "x");
    room.project.refresh();
    assert_eq!((room.project.listing("spec/", true), room.project.listing("", true)), listed);
    assert_eq!(room.project.listing("nowhere", true), ABSENT);
    let both = |room: &mut Room, path| [true, false].map(|own| room.project.listing(path, own));
    let (before, deep) = (both(&mut room, "spec"), both(&mut room, "spec/**"));
    room.write("spec/more/new_spec.rb", "");
    room.project.refresh();
    assert_ne!(both(&mut room, "spec")[0], before[0]);
    assert_eq!(both(&mut room, "spec")[1], before[1], "no other than sources");
    assert_ne!(both(&mut room, "spec/**")[0], deep[0]);
    fs::remove_dir_all(room.directory.path().join("spec/more")).unwrap();
    assert_eq!(room.project.compared(&all).1, [""; 0]);
    room.write("lib/user.rb", &format!("{USER}\n"));
    room.write("lib/new.rb", "x");
    fs::remove_file(room.directory.path().join("spec/mail.txt")).unwrap();
    assert_eq!(room.project.compared(&all).1, ["lib/new.rb", "lib/user.rb", "spec/mail.txt"]);
}

#[test]
fn a_map_is_found_again_and_one_that_is_damaged_begun_anew() {
    let mut room = Room::new();
    let mut map = room.map();
    map.files = room.project.compared(&BTreeMap::new()).0;
    let path = room.directory.path().join("cache/map.db");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.load("rspec").unwrap(), Map::default());
    store.save(&map, "rspec").unwrap();
    assert_eq!(store.load("rspec").unwrap(), map);
    assert_eq!(store.load("minitest").unwrap(), Map::default(), "of another way");
    drop(store);
    fs::write(&path, "no database, whatever it says, and long enough to be looked at as one")
        .unwrap();
    let store = Store::open(&path).unwrap();
    assert_eq!(store.load("rspec").unwrap(), Map::default());
}

#[test]
fn where_nobody_cuts_them_files_count_as_wholes() {
    let mut room = Room::new();
    room.project = Project::of(room.directory.path());
    let map = room.map();
    assert_eq!(room.chosen(&map, &[]), "");
    room.write("lib/user.rb", &USER.replace('1', "3"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "mail name", "all that use the file");
    room.write("lib/user.rb", &format!("# new\n{USER}"));
    assert_eq!(room.chosen(&map, &["lib/user.rb"]), "mail name");
    room.write("lib/user.rb", USER);
    room.write("spec/mail_spec.rb", "describe User do\n  it 'has mail' do\n  end\nend\n");
    let path = "spec/mail_spec.rb";
    assert_eq!(room.chosen(&map, &[path]), "mail spec/mail_spec.rb", "and what may be new in it");
}

#[test]
fn a_cutter_that_comes_or_goes_leaves_no_test_out() {
    let mut room = Room::new();
    room.project = Project::of(room.directory.path());
    let whole = room.map();
    // Unchanged files are recognized with or without a cutter.
    room.project = Project::of(room.directory.path()).cut_by(Grammars);
    assert_eq!(room.chosen(&whole, &[]), "");
    room.write("lib/user.rb", &USER.replace('1', "3"));
    assert_eq!(room.chosen(&whole, &["lib/user.rb"]), "mail name");
    room.write("lib/user.rb", USER);
    let cut = room.map();
    room.project = Project::of(room.directory.path());
    room.write("lib/user.rb", &USER.replace('1', "3"));
    let shown = room.shown(&cut, Some(&["lib/user.rb".to_owned()]));
    assert_eq!(shown, "mail name", "no block can be held against what it was");
    let shown = room.shown(&cut, None);
    assert_eq!(shown, "mail name spec/mail_spec.rb spec/user_spec.rb");
}
