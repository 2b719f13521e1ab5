//! Settings applied and undone on real servers; if those are not installed, the tests report that
//! they were skipped.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

use super::*;
use assay_measure::servers::Throwaway;

fn args(toggles: &[&str], with: &[&str]) -> ToggleArgs {
    ToggleArgs {
        toggle: toggles.iter().map(|own| (*own).to_owned()).collect(),
        with: with.iter().map(|own| With::read(own).unwrap()).collect(),
        server: Vec::new(),
    }
}

/// Returns `None` if a server is not installed.
fn prepared(args: &ToggleArgs) -> Option<Toggled> {
    match Toggled::prepare_in(args, Some("ruby"), None) {
        Err(error) if format!("{error:#}").contains("there is no") => {
            println!("skipped: {error:#}");
            None
        }
        prepared => Some(prepared.unwrap()),
    }
}

/// Returns PostgreSQL's answer to a statement, with the environment of a side's suite.
fn asked(toggled: &Toggled, side: usize, statement: &str) -> String {
    let mut command = std::process::Command::new("psql");
    command.args(["-X", "-A", "-t", "-c", statement]).envs(toggled.added(side).env);
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8_lossy(&ran.stdout).trim().to_owned()
}

#[test]
fn each_side_finds_its_settings_and_no_other() {
    let given =
        ["pg.fsync=off", "pg.tmpfs=on", "gc=off", "python-gc=off", "pg.no_such=1", "pg.fsync=x"];
    let Some(mut toggled) = prepared(&args(&given, &["postgres"])) else { return };
    let names: Vec<&str> = toggled.sides.iter().map(|side| side.name.as_str()).collect();
    assert_eq!(names, ["none", "pg.fsync=off", "pg.tmpfs=on", "gc=off", "all"]);
    let why: Vec<&str> = toggled.findings.iter().map(|own| own.message.as_str()).collect();
    assert_eq!(why.len(), 3, "{why:?}");
    assert!(why[0].starts_with("python-gc=off is left out: it is a setting of Python"), "{why:?}");
    assert!(why[1].contains("no setting `no_such`") && why[2].contains("fsync"), "{why:?}");
    for (side, fsync) in [(0, "on"), (1, "off"), (0, "on"), (2, "on"), (4, "off"), (3, "on")] {
        toggled.apply(side).unwrap();
        assert_eq!(asked(&toggled, side, "SHOW fsync"), fsync, "{}", toggled.sides[side].name);
        let in_memory = asked(&toggled, side, "SHOW data_directory").starts_with("/dev/shm/");
        assert_eq!(in_memory, side == 2 || side == 4);
        toggled.undo(side).unwrap();
    }
    let hook = toggled.added(3);
    let file = hook.options[0].1.strip_prefix("-r").unwrap().to_owned();
    assert!(fs::metadata(&file).unwrap().is_file() && hook.options[0].0 == "RUBYOPT");
    toggled.close().unwrap();
    drop(toggled);
    assert!(fs::metadata(&file).is_err());
}

#[test]
fn a_server_of_ones_own_is_changed_only_if_it_is_named_and_is_then_as_before() {
    let Ok(own) = Throwaway::start(Kind::Postgres, Reach::Socket, Medium::Disk) else {
        println!("skipped: there is no PostgreSQL");
        return;
    };
    let state = tempfile::tempdir().unwrap();
    let directory = own.directory().display();
    let address = format!("postgres:///postgres?host={directory}&user=postgres&password=secret");
    let mut args = args(&["pg.fsync=off", "pg.work_mem=8MB"], &[]);
    let unnamed = Toggled::prepare_in(&args, None, None).err().unwrap();
    assert!(format!("{unnamed:#}").contains("--server postgres://"), "{unnamed:#}");
    args.server = vec![address];
    own.settings().change(&[("work_mem".to_owned(), Some("5MB".to_owned()))]).unwrap();
    let at = || Some(state.path().to_owned());
    let mut toggled = Toggled::prepare_in(&args, None, at()).unwrap();
    // The journal is written before anything is changed, and without the password.
    let journals: Vec<_> = fs::read_dir(state.path()).unwrap().flatten().collect();
    assert_eq!(journals.len(), 1);
    let text = fs::read_to_string(journals[0].path()).unwrap();
    assert!(text.contains("\"fsync\"") && !text.contains("secret"), "{text}");
    let set = |name: &str| own.settings().read(name).unwrap();
    toggled.apply(3).unwrap();
    assert_eq!((set("fsync").as_deref(), set("work_mem").as_deref()), (Some("off"), Some("8MB")));
    toggled.close().unwrap();
    assert_eq!((set("fsync"), set("work_mem").as_deref()), (None, Some("5MB")));
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
}

#[test]
fn lines_of_ones_own_are_run_before_and_after() {
    let room = tempfile::tempdir().unwrap();
    let file = room.path().join("on");
    let line = format!("mine=touch {0};rm {0}", file.display());
    let failing = "wrong=false;true";
    let mut toggled = prepared(&args(&[&line, failing], &[])).unwrap();
    toggled.apply(1).unwrap();
    assert!(file.exists());
    toggled.undo(1).unwrap();
    assert!(!file.exists());
    let error = toggled.apply(2).unwrap_err().to_string();
    assert!(error.contains("--toggle line `false`"), "{error}");
}

#[test]
fn what_is_no_server_is_refused() {
    for given in ["mysql", "postgres:udp", "redis:"] {
        assert!(With::read(given).is_err(), "{given}");
    }
    let twice = Toggled::prepare_in(&args(&[], &["redis", "redis:tcp"]), None, None).err().unwrap();
    assert!(twice.to_string().contains("one Redis at a time"), "{twice}");
}
