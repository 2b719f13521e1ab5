//! A small farm for tests: two targets, three nodes, and versions of one project.

use super::*;
use crate::builds::policy::PAGE;

/// The nodes, each with the index of its target.
pub(super) const NODES: [(&str, usize); 3] = [("a", 0), ("b", 0), ("c", 1)];

pub(super) fn targets() -> [NewTarget; 2] {
    [target("3.1.2"), target("3.4.0")]
}

/// Adds the owner, the project, the targets and the nodes.
pub(super) fn begun(store: &Store) {
    store.add_owner("rails").unwrap();
    let recipe = Recipe { bench: Some("bench.rb".to_owned()), ..Recipe::default() };
    store.add_project("rails", "rack", &NewProject { recipe, ..project() }, NOW).unwrap();
    for (node, target) in NODES {
        store.hello(node, &hello(&[targets()[target].clone()], node), NOW).unwrap();
    }
}

pub(super) fn asks(node: usize) -> LeaseRequest {
    let (name, target) = NODES[node];
    asking(&[targets()[target].clone()], name)
}

/// Asserts that the stored sums equal the counts of the rows, and that jobs, builds and leases are
/// consistent.
pub(super) fn check_sums(store: &Store) {
    let one = |statement: &str| -> Vec<i64> {
        store.look(|db| Ok(db.rows(statement, &[], |row| row.get(0))?)).unwrap()
    };
    let none: Vec<i64> = Vec::new();
    for state in 0..8 {
        let builds = format!(
            "SELECT p.id FROM farm_project p WHERE p.n{state} <> (SELECT count(*) FROM farm_build b \
             WHERE b.project = p.id AND b.state = {state} AND b.counts)"
        );
        assert_eq!(one(&builds), none, "{state}");
        let all = format!(
            "SELECT n{state} FROM farm_total UNION SELECT count(*) FROM farm_build WHERE state = {state} AND counts"
        );
        assert_eq!(one(&all).len(), 1, "{state}");
        let cells = format!(
            "SELECT v.id FROM farm_version v WHERE v.n{state} <> (SELECT count(*) FROM farm_cell c \
             WHERE c.version = v.id AND c.state = {state})"
        );
        assert_eq!(one(&cells), none, "{state}");
    }
    // A job is done if and only if the build that it names exists, belongs to it and counts.
    let ends = "SELECT j.id FROM farm_job j WHERE (j.progress = 2) <> \
                (EXISTS (SELECT b.id FROM farm_build b WHERE b.job = j.id AND b.id = j.build AND b.counts))";
    assert_eq!(one(ends), none);
    let several = "SELECT job FROM farm_build WHERE counts AND job IS NOT NULL GROUP BY job HAVING count(*) > 1";
    assert_eq!(one(several), none);
    let open = "SELECT l.id FROM farm_lease l JOIN farm_job j ON j.id = l.job \
                WHERE (l.ended IS NULL) <> (j.progress = 1 AND j.lease = l.id)";
    assert_eq!(one(open), none);
    // While a node runs a benchmark, it has no other job.
    let together = "SELECT x.node FROM farm_job x JOIN farm_job y ON y.node = x.node AND y.id <> x.id \
                    WHERE x.progress = 1 AND y.progress = 1 AND x.kind = 1";
    assert_eq!(one(together), none);
    let home = store.home(None, PAGE).unwrap();
    let builds: u64 = home.projects.iter().flat_map(|p| p.builds.values()).sum();
    assert_eq!(builds, home.builds.values().sum::<u64>());
}
