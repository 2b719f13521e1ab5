//! An agent that discovers versions, with the real server: new versions are added and built once,
//! missing ones are marked.

use crate::agent::kills::{Server, until};
use crate::agent::tools::{agent_at, is_possible, place};
use assay_farm::builds::model::{Facts, State};
use assay_farm::builds::wire::{NewProject, Origin, Recipe};
use assay_farm::client::BuildFilter;

#[test]
fn new_versions_are_found_built_once_and_marked_when_they_are_gone() {
    if !is_possible() {
        return;
    }
    let (data, room) = (place(), place());
    let server = Server::start(data.path());
    let token = server.token("node");
    let project = |list: &str| NewProject {
        origin: Some(Origin::Command {
            list: format!("printf '{list}'"),
            get: "printf 'echo 1..1; echo ok 1 - %s\\n' \"$VERSION\" > test.sh".to_owned(),
        }),
        recipe: Recipe {
            install: vec!["true".to_owned()],
            test: Some("sh test.sh".to_owned()),
            ..Recipe::default()
        },
        needs: Facts::new(),
    };
    server.admin.add_owner("me").unwrap();
    server.admin.add_project("me", "p", &project("1.0\\n1.1\\n")).unwrap();
    let known = BuildFilter { owner: Some("me"), project: Some("p"), ..BuildFilter::default() };
    let looks = |what: &str, is_so: &dyn Fn() -> bool| {
        let agent = agent_at(&server.url, &token, room.path(), &["--discover"]);
        until(what, is_so);
        agent.end();
    };
    looks("two builds", &|| server.admin.builds(&known).unwrap().len() == 2);
    // 1.0 is removed and 1.2 is new; versions with a build are not built again.
    server.admin.add_project("me", "p", &project("1.1\\n1.2\\n")).unwrap();
    looks("the third build", &|| server.admin.builds(&known).unwrap().len() == 3);
    let builds = server.admin.builds(&known).unwrap();
    assert!(builds.iter().all(|own| own.of.outcome.state == State::Passed), "{builds:?}");
    let mut versions = server.admin.versions("me", "p").unwrap();
    versions.sort_by(|a, b| a.name.cmp(&b.name));
    let found: Vec<_> = versions.iter().map(|own| (own.name.as_str(), own.is_gone)).collect();
    assert_eq!(found, [("1.0", true), ("1.1", false), ("1.2", false)]);
    // A project with a broken origin loses no versions.
    server.admin.add_project("me", "p", &project("")).unwrap();
    let agent = agent_at(&server.url, &token, room.path(), &["--discover"]);
    std::thread::sleep(std::time::Duration::from_secs(2));
    agent.end();
    let gone = server.admin.versions("me", "p").unwrap().iter().filter(|own| own.is_gone).count();
    assert_eq!(gone, 1);
}
