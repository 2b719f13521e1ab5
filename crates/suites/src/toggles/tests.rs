//! Parsing of toggles, and the resulting sides.

use super::sides::{EnvironmentAdditions, Side, sides};
use super::*;
use std::path::Path;

fn toggle(given: &str) -> Toggle {
    Toggle::read(given).unwrap()
}

fn toggles(given: &[&str]) -> Vec<Toggle> {
    given.iter().map(|given| toggle(given)).collect()
}

fn added(side: &Side) -> EnvironmentAdditions {
    side.added(Path::new("/room"))
}

fn has(variables: &[(String, String)], name: &str, value: &str) -> bool {
    variables.contains(&(name.to_owned(), value.to_owned()))
}

#[test]
fn what_is_built_in_is_read_and_shown_as_it_was_written() {
    for given in [
        "warm=on",
        "gc=off",
        "gc=per-process",
        "gc=generational",
        "yjit=on",
        "python-gc=off",
        "python-gc=freeze",
        "hash-cost=min",
        "log-level=warn",
        "workers=4",
        "pg.fsync=off",
        "pg.synchronous_commit=off",
        "pg.tmpfs=on",
        "redis.save=off",
        "DISABLE_SPRING=1",
        "EMPTY=",
    ] {
        assert_eq!(toggle(given).to_string(), given);
    }
    let set = |setting: &str, value: &str| ToggleEffect::Redis {
        setting: setting.to_owned(),
        value: value.to_owned(),
    };
    assert_eq!(toggle("redis.save=off").parts, [set("save", "")]);
    assert_eq!(toggle("redis.appendonly=off").parts, [set("appendonly", "no")]);
}

#[test]
fn what_is_no_toggle_is_refused_with_what_there_is() {
    for given in [
        "gc",
        "gc=on",
        "warm=off",
        "yjit=off",
        "python-gc=on",
        "hash-cost=4",
        "log-level=loud",
        "workers=0",
        "workers=many",
        "pg.=1",
        "pg.fsync=",
        "pg.fsync=a\nb",
        "pg.fsync'--=off",
        "pg.tmpfs=off",
        "redis.save now=1",
        "turbo=on",
        "=a;b",
        "mine=;",
        "mine=a;b;c",
    ] {
        let error = Toggle::read(given).unwrap_err().to_string();
        assert!(error.contains('`') && error.len() > given.len() + 20, "{given}: {error}");
    }
    let unknown = Toggle::read("turbo=on").unwrap_err().to_string();
    assert!(unknown.contains("pg.fsync=off"), "{unknown}");
}

#[test]
fn lines_of_ones_own_are_two() {
    let own = toggle("index=psql -c 'CREATE INDEX' ; psql -c 'DROP INDEX'");
    assert_eq!(own.to_string(), "index=on");
    let side = Side { name: "x".to_owned(), on: vec![own] };
    assert_eq!(side.lines(), [("psql -c 'CREATE INDEX'", "psql -c 'DROP INDEX'")]);
    // Capitals denote a variable for any value.
    assert_eq!(toggle("PATHS=a;b").parts, [variable("PATHS", "a;b")]);
}

#[test]
fn sides_are_none_each_and_all() {
    let names = |given: &[&str]| -> Vec<String> {
        sides(&toggles(given)).into_iter().map(|side| side.name).collect()
    };
    assert_eq!(names(&["gc=off"]), ["none", "gc=off"]);
    assert_eq!(
        names(&["gc=off", "pg.fsync=off", "gc=off"]),
        ["none", "gc=off", "pg.fsync=off", "all"]
    );
    // Two values of one setting are not combined; with several settings, the last value of each is
    // used together.
    assert_eq!(names(&["workers=2", "workers=4"]), ["none", "workers=2", "workers=4"]);
    let all = sides(&toggles(&["gc=off", "gc=per-process", "A=1"])).pop().unwrap();
    assert_eq!(all.on, toggles(&["gc=per-process", "A=1"]));
}

#[test]
fn variables_of_a_side_are_few_and_in_one_place_each() {
    let all = sides(&toggles(&["gc=off", "hash-cost=min", "yjit=on", "A=1"])).pop().unwrap();
    let found = added(&all);
    assert!(has(&found.env, "ASSAY_TOGGLES", "gc-off,hash-cost"), "{found:?}");
    assert!(has(&found.env, "A", "1"), "{found:?}");
    // One variable, regardless of the number of words in it.
    assert_eq!(found.options.len(), 1);
    assert!(has(&found.options, "RUBYOPT", "--yjit -r/room/assay_toggles.rb"), "{found:?}");
    assert!(has(&found.paths, "PYTHONPATH", "/room"), "{found:?}");
    let none = sides(&[]).pop().unwrap();
    assert_eq!(added(&none), EnvironmentAdditions::default());
    let level = Side { name: "l".to_owned(), on: toggles(&["log-level=warn"]) };
    assert!(has(&added(&level).env, "ASSAY_TOGGLES_LOG_LEVEL", "warn"));
}

#[test]
fn settings_of_servers_are_those_of_their_kind() {
    let given = ["pg.fsync=off", "redis.save=off", "pg.full_page_writes=off", "pg.tmpfs=on"];
    let all = sides(&toggles(&given)).pop().unwrap();
    let own = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let postgres = [own("fsync", "off"), own("full_page_writes", "off")];
    assert_eq!(all.settings(ServerKind::Postgres), postgres);
    assert_eq!(all.settings(ServerKind::Redis), [own("save", "")]);
    assert!(all.is_in_memory() && added(&all) == EnvironmentAdditions::default());
}

#[test]
fn what_can_have_no_effect_says_why() {
    let why = |given: &str, suite: &Suite<'_>| toggle(given).obstacle(suite);
    let go = Suite { language: Some("go"), ..Suite::default() };
    assert!(why("gc=off", &go).unwrap().contains("Ruby"));
    assert!(why("hash-cost=min", &go).unwrap().contains("Ruby or Python"));
    assert!(why("gc=generational", &go).is_some());
    assert_eq!((why("workers=2", &go), why("A=1", &go)), (None, None));
    let ruby = Suite { language: Some("ruby"), ..Suite::default() };
    assert_eq!((why("gc=off", &ruby), why("yjit=on", &ruby)), (None, None));
    assert!(why("python-gc=off", &ruby).unwrap().contains("Python"));
    // If the command does not reveal the language, it is found out at run time.
    assert_eq!(why("gc=off", &Suite::default()), None);
    assert!(why("pg.fsync=off", &ruby).unwrap().contains("--with postgres"));
    assert!(why("redis.save=off", &ruby).unwrap().contains("--server redis://"));
    let with = |from| Suite { language: None, servers: vec![(ServerKind::Postgres, from)] };
    let on_disk = with(ServerFrom::Started { in_memory: false });
    let in_memory = with(ServerFrom::Started { in_memory: true });
    for (given, suite, is_free) in [
        ("pg.fsync=off", &on_disk, true),
        ("pg.tmpfs=on", &on_disk, true),
        ("pg.fsync=off", &in_memory, false),
        ("pg.work_mem=64MB", &in_memory, true),
        ("pg.tmpfs=on", &in_memory, false),
        ("pg.tmpfs=on", &with(ServerFrom::Named), false),
        ("pg.fsync=off", &with(ServerFrom::Named), true),
    ] {
        assert_eq!(why(given, suite).is_none(), is_free, "{given} {suite:?}");
    }
}
