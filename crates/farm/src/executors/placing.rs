//! What is to be done next, by what the farm and the cluster say: which jobs are placed, on which nodes they may run, which are taken back, and
//! who drains whom. Pure: it starts nothing, asks nobody, and has no clock.

use assay_builds::model::{Facts, meets};
use assay_builds::wire::{Job, Node};
use std::collections::{BTreeMap, BTreeSet};

/// What is in front of a reason that came from the farm, where the cluster keeps it.
const BY_FARM: &str = "assay: ";
/// The same of the cluster's, where the farm keeps it.
const BY_CLUSTER: &str = "slurm: ";
/// Why Slurm itself drains a node when its controller was killed before it had saved what it had begun there. What runs there twice is leased once,
/// so the node is resumed as soon as the farm has nothing on it.
const BY_LOST_STATE: &str = "Duplicate jobid";
/// Jobs that are handed to the cluster as one array, at most.
const ARRAY: usize = 100;
/// Seconds to wait with a job that left the cluster without having been begun; twice as long each time, up to the second number.
const WAIT: (f64, f64) = (2.0, 300.0);

/// A feature of nodes, by which the cluster picks them, and the fact that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The fact's name.
    pub fact: String,
    /// Its value.
    pub value: String,
    /// What the cluster calls it.
    pub name: String,
}

/// What the farm says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Farm {
    /// Jobs that nobody has, in the order in which they are due.
    pub queued: Vec<Job>,
    /// Jobs that the cluster still has and that were taken back.
    pub cancelled: BTreeSet<i64>,
    /// Nodes that it knows.
    pub nodes: Vec<Node>,
    /// The facts of their targets, by digest.
    pub facts: BTreeMap<String, Facts>,
}

/// What the cluster says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Jobs of this farm that it has, waiting or running.
    pub placed: Vec<Placed>,
    /// Its nodes.
    pub machines: Vec<Machine>,
}

/// A job of the farm that the cluster has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The cluster's name for it.
    pub id: String,
    /// The farm's.
    pub job: i64,
    /// Whether the cluster keeps it back, until somebody releases it: as it does with a job that it could not start.
    pub is_held: bool,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name, which is the name of the agents there, too.
    pub name: String,
    /// Why it takes no jobs, if it was drained.
    pub drained: Option<String>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Hands jobs to the cluster.
    Place(Batch),
    /// Takes one back from the cluster.
    Cancel(String),
    /// Drains a node of the cluster.
    DrainMachine {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// Has a node of the cluster take jobs again.
    ResumeMachine(String),
    /// Drains the farm's node of that name.
    DrainNode {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// Has the farm's node of that name get jobs again.
    ResumeNode(String),
}

/// Jobs that may run on the same nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The jobs.
    pub jobs: Vec<i64>,
    /// What the cluster is to pick nodes by; empty: any.
    pub constraint: String,
    /// Nodes that are known not to do.
    pub excluded: Vec<String>,
}

/// A job that can't be placed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Homeless {
    /// The job.
    pub job: i64,
    /// In plain words.
    pub why: String,
}

/// What is remembered from one look to the next. To lose it costs a few attempts, and no job.
#[derive(Debug, Default)]
pub struct Placing {
    /// Features that facts stand for.
    pub features: Vec<Feature>,
    /// Jobs that the cluster may have at a time.
    pub most: usize,
    /// Jobs that were seen in the cluster, or were handed to it, at the last look.
    had: BTreeSet<i64>,
    /// Jobs that left it without having been begun: how often, and until when they wait.
    tries: BTreeMap<i64, (u32, f64)>,
}

impl Placing {
    /// One that places `most` jobs at a time.
    #[must_use]
    pub fn new(features: Vec<Feature>, most: usize) -> Self {
        Self { features, most, ..Self::default() }
    }

    /// How often a job left the cluster without having been begun.
    #[must_use]
    pub fn tries(&self, job: i64) -> u32 {
        self.tries.get(&job).map_or(0, |&(tries, _)| tries)
    }

    /// What is to be done, and which jobs have no place. `now`: s, of any clock that goes on.
    pub fn next(
        &mut self,
        farm: &Farm,
        cluster: &Cluster,
        now: f64,
    ) -> (Vec<Action>, Vec<Homeless>) {
        // One that is held would wait for ever: it is taken back, and placed again.
        let placed = cluster.placed.iter().filter(|placed| !placed.is_held);
        let placed: BTreeSet<i64> = placed.map(|placed| placed.job).collect();
        let queued: BTreeSet<i64> = farm.queued.iter().map(|job| job.id).collect();
        self.tries.retain(|job, _| queued.contains(job));
        for &job in self.had.difference(&placed).filter(|job| queued.contains(job)) {
            let tries = self.tries(job) + 1;
            let wait = (WAIT.0 * f64::from(1_u32 << (tries - 1).min(16))).min(WAIT.1);
            self.tries.insert(job, (tries, now + wait));
        }
        let mut actions = cancels(farm, cluster);
        actions.extend(drains(farm, cluster));
        let room = self.most.saturating_sub(placed.len());
        let is_due = |job: &&Job| {
            let waits = self.tries.get(&job.id).is_some_and(|&(_, until)| until > now);
            !placed.contains(&job.id) && !waits
        };
        let (batches, homeless) =
            self.batches(farm, cluster, farm.queued.iter().filter(is_due), room);
        let handed = batches.iter().flat_map(|batch| batch.jobs.iter().copied());
        self.had = placed.iter().copied().chain(handed).collect();
        actions.extend(batches.into_iter().map(Action::Place));
        (actions, homeless)
    }

    /// Jobs that could not be handed over after all: they were never there.
    pub fn not_placed(&mut self, jobs: &[i64]) {
        self.had.retain(|job| !jobs.contains(job));
    }

    fn batches<'a>(
        &self,
        farm: &Farm,
        cluster: &Cluster,
        due: impl Iterator<Item = &'a Job>,
        room: usize,
    ) -> (Vec<Batch>, Vec<Homeless>) {
        let mut batches: Vec<Batch> = Vec::new();
        let mut homeless = Vec::new();
        let mut left = room;
        for job in due {
            if left == 0 {
                break;
            }
            let (constraint, excluded) = match self.place_of(job, farm, cluster) {
                Ok(place) => place,
                Err(why) => {
                    homeless.push(Homeless { job: job.id, why });
                    continue;
                }
            };
            left -= 1;
            let alike = batches.iter_mut().find(|batch| {
                batch.jobs.len() < ARRAY
                    && batch.constraint == constraint
                    && batch.excluded == excluded
            });
            match alike {
                Some(batch) => batch.jobs.push(job.id),
                None => batches.push(Batch { jobs: vec![job.id], constraint, excluded }),
            }
        }
        (batches, homeless)
    }

    /// The features that a job's node must have, and the nodes that are known not to do. Of a node that never asked for anything nothing is
    /// known: it may be tried.
    fn place_of(
        &self,
        job: &Job,
        farm: &Farm,
        cluster: &Cluster,
    ) -> Result<(String, Vec<String>), String> {
        let needs = &job.of.needs;
        let mut words = Vec::new();
        for (fact, wanted) in needs {
            let of_fact: Vec<_> =
                self.features.iter().filter(|feature| feature.fact == *fact).collect();
            let one = |value: &str| Facts::from([(fact.clone(), value.to_owned())]);
            let mut fit: Vec<&str> = of_fact
                .iter()
                .filter(|f| meets(&one(&f.value), &one(wanted)))
                .map(|f| f.name.as_str())
                .collect();
            fit.sort_unstable();
            fit.dedup();
            match (of_fact.is_empty(), fit.len()) {
                // Which nodes have it is not said by features.
                (true, _) => {}
                (false, 0) => {
                    return Err(format!("no feature of the cluster stands for {fact}={wanted}"));
                }
                (false, 1) => words.push(fit[0].to_owned()),
                (false, _) => words.push(format!("({})", fit.join("|"))),
            }
        }
        let does_not_do = |machine: &&Machine| {
            let known = farm.nodes.iter().find(|node| node.name == machine.name);
            known.is_some_and(|node| {
                !node.targets.is_empty()
                    && !node.targets.iter().any(|digest| {
                        let is_asked_for =
                            job.of.target.as_ref().is_none_or(|target| target == digest);
                        is_asked_for
                            && farm.facts.get(digest).is_none_or(|facts| meets(facts, needs))
                    })
            })
        };
        let excluded: Vec<String> = cluster
            .machines
            .iter()
            .filter(does_not_do)
            .map(|machine| machine.name.clone())
            .collect();
        if !cluster.machines.is_empty() && excluded.len() == cluster.machines.len() {
            return Err("no node of the cluster has such a target".to_owned());
        }
        Ok((words.join("&"), excluded))
    }
}

fn cancels(farm: &Farm, cluster: &Cluster) -> Vec<Action> {
    let is_taken_back = |placed: &&Placed| placed.is_held || farm.cancelled.contains(&placed.job);
    let taken_back = cluster.placed.iter().filter(is_taken_back);
    taken_back.map(|placed| Action::Cancel(placed.id.clone())).collect()
}

/// Who drains whom. A drain belongs to the side whose reason has no prefix; it is handed on to the other, and taken back there when it ends
/// where it came from.
fn drains(farm: &Farm, cluster: &Cluster) -> Vec<Action> {
    let mut actions = Vec::new();
    for machine in &cluster.machines {
        let node = farm.nodes.iter().find(|node| node.name == machine.name);
        let name = machine.name.clone();
        if machine.drained.as_deref() == Some(BY_LOST_STATE) {
            if node.is_none_or(|node| node.jobs.is_empty()) {
                actions.push(Action::ResumeMachine(name));
            }
            continue;
        }
        let Some(node) = node else { continue };
        let there = machine.drained.as_deref().map(|reason| (reason, reason.starts_with(BY_FARM)));
        let here = node.drained.as_deref().map(|reason| (reason, reason.starts_with(BY_CLUSTER)));
        match (here, there) {
            (Some((reason, false)), None) => {
                actions.push(Action::DrainMachine { name, reason: format!("{BY_FARM}{reason}") });
            }
            (None, Some((reason, false))) => {
                actions.push(Action::DrainNode { name, reason: format!("{BY_CLUSTER}{reason}") });
            }
            // Its origin is gone.
            (None, Some((_, true))) => actions.push(Action::ResumeMachine(name)),
            (Some((_, true)), None) => actions.push(Action::ResumeNode(name)),
            // Each took the other's away: a copy of a copy, of which nobody is the origin.
            (Some((_, true)), Some((_, true))) => {
                actions.push(Action::ResumeMachine(name.clone()));
                actions.push(Action::ResumeNode(name));
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
    }
    actions
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_builds::model::{Kind, Progress};
    use assay_builds::wire::NewJob;

    fn facts(all: &[(&str, &str)]) -> Facts {
        all.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn job(id: i64, needs: &[(&str, &str)]) -> Job {
        let of = NewJob {
            owner: "a".to_owned(),
            project: "p".to_owned(),
            version: id.to_string(),
            kind: Kind::Test,
            base: None,
            target: None,
            needs: facts(needs),
            priority: 0,
            round: 0,
        };
        Job { id, of, progress: Progress::Queued, attempts: 0, node: None, build: None }
    }

    fn node(name: &str, targets: &[&str], drained: Option<&str>) -> Node {
        Node {
            id: 1,
            name: name.to_owned(),
            tool: String::new(),
            targets: targets.iter().map(|&target| target.to_owned()).collect(),
            seen: String::new(),
            clock_ahead: 0.0,
            drained: drained.map(str::to_owned),
            jobs: Vec::new(),
            calibration: None,
        }
    }

    fn machine(name: &str, drained: Option<&str>) -> Machine {
        Machine { name: name.to_owned(), drained: drained.map(str::to_owned) }
    }

    fn cluster(placed: &[i64], machines: &[Machine]) -> Cluster {
        let placed =
            placed.iter().map(|&job| Placed { id: format!("9_{job}"), job, is_held: false });
        Cluster { placed: placed.collect(), machines: machines.to_vec() }
    }

    fn feature(fact: &str, value: &str, name: &str) -> Feature {
        Feature { fact: fact.to_owned(), value: value.to_owned(), name: name.to_owned() }
    }

    fn places(actions: &[Action]) -> Vec<(Vec<i64>, &str, &[String])> {
        let places = actions.iter().filter_map(|action| match action {
            Action::Place(batch) => {
                Some((batch.jobs.clone(), batch.constraint.as_str(), &batch.excluded[..]))
            }
            _ => None,
        });
        places.collect()
    }

    #[test]
    fn alike_jobs_are_one_array_and_none_is_placed_that_is_there() {
        let farm = Farm {
            queued: vec![job(1, &[]), job(2, &[("os", "debian")]), job(3, &[]), job(4, &[])],
            ..Farm::default()
        };
        let mut placing = Placing::new(vec![feature("os", "debian", "deb")], 10);
        let (actions, homeless) = placing.next(&farm, &cluster(&[4], &[]), 0.0);
        assert_eq!(places(&actions), [(vec![1, 3], "", &[][..]), (vec![2], "deb", &[][..])]);
        assert!(homeless.is_empty());
    }

    #[test]
    fn no_more_are_placed_than_there_is_room_for() {
        let queued = (1..=300).map(|id| job(id, &[])).collect();
        let farm = Farm { queued, ..Farm::default() };
        let mut placing = Placing::new(Vec::new(), 150);
        let (actions, _) = placing.next(&farm, &cluster(&[1, 2], &[]), 0.0);
        let sizes: Vec<usize> = places(&actions).iter().map(|(jobs, ..)| jobs.len()).collect();
        assert_eq!(sizes, [100, 48]);
    }

    #[test]
    fn a_need_picks_every_feature_that_meets_it() {
        let features = vec![
            feature("runtime.ruby", "3.1", "ruby31"),
            feature("runtime.ruby", "3.4", "ruby34"),
            feature("os", "debian 12", "bookworm"),
        ];
        let queued = vec![
            job(1, &[("runtime.ruby", "3"), ("os", "debian 12")]),
            job(2, &[("runtime.ruby", "2")]),
            job(3, &[("cpu", "epyc")]),
        ];
        let farm = Farm { queued, ..Farm::default() };
        let (actions, homeless) = Placing::new(features, 10).next(&farm, &cluster(&[], &[]), 0.0);
        assert_eq!(
            places(&actions),
            [(vec![1], "bookworm&(ruby31|ruby34)", &[][..]), (vec![3], "", &[][..])]
        );
        assert_eq!(homeless[0].job, 2);
        assert!(homeless[0].why.contains("runtime.ruby=2"), "{}", homeless[0].why);
    }

    #[test]
    fn nodes_that_are_known_not_to_do_are_left_out() {
        let farm = Farm {
            queued: vec![job(1, &[("os", "debian")]), job(2, &[("os", "arch")])],
            nodes: vec![node("n1", &["d"], None), node("n2", &["f"], None), node("n3", &[], None)],
            facts: BTreeMap::from([
                ("d".to_owned(), facts(&[("os", "debian")])),
                ("f".to_owned(), facts(&[("os", "fedora")])),
            ]),
            ..Farm::default()
        };
        let all = [machine("n1", None), machine("n2", None), machine("n3", None)];
        let mut placing = Placing::new(Vec::new(), 10);
        let (actions, _) = placing.next(&farm, &cluster(&[], &all), 0.0);
        assert_eq!(places(&actions)[0], (vec![1], "", &["n2".to_owned()][..]));
        // Of the third nothing is known; of the first two it is known that neither will do.
        assert_eq!(places(&actions)[1], (vec![2], "", &["n1".to_owned(), "n2".to_owned()][..]));
        let (actions, homeless) =
            Placing::new(Vec::new(), 10).next(&farm, &cluster(&[], &all[..2]), 0.0);
        assert_eq!(places(&actions).len(), 1);
        assert_eq!(homeless.iter().map(|one| one.job).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_job_for_one_target_goes_only_where_that_may_be() {
        let mut own = job(1, &[]);
        own.of.target = Some("d".to_owned());
        let farm = Farm {
            queued: vec![own],
            nodes: vec![node("n1", &["d", "e"], None), node("n2", &["e"], None)],
            ..Farm::default()
        };
        let all = [machine("n1", None), machine("n2", None)];
        let (actions, _) = Placing::new(Vec::new(), 10).next(&farm, &cluster(&[], &all), 0.0);
        assert_eq!(places(&actions), [(vec![1], "", &["n2".to_owned()][..])]);
    }

    #[test]
    fn a_job_that_comes_back_unbegun_waits_longer_each_time_and_is_placed_again() {
        let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
        let (gone, there) = (cluster(&[], &[]), cluster(&[1], &[]));
        let mut placing = Placing::new(Vec::new(), 10);
        let mut now = 0.0;
        for wait in [2.0, 4.0, 8.0] {
            assert_eq!(places(&placing.next(&farm, &gone, now).0).len(), 1);
            assert!(placing.next(&farm, &there, now).0.is_empty());
            assert!(placing.next(&farm, &gone, now).0.is_empty());
            assert!(placing.next(&farm, &gone, now + wait - 0.1).0.is_empty());
            now += wait;
        }
        assert_eq!(placing.tries(1), 3);
        // Once somebody has it, nothing is remembered against it.
        placing.next(&Farm::default(), &gone, now);
        assert_eq!(placing.tries(1), 0);
    }

    #[test]
    fn what_the_cluster_refused_was_never_there() {
        let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
        let mut placing = Placing::new(Vec::new(), 10);
        placing.next(&farm, &cluster(&[], &[]), 0.0);
        placing.not_placed(&[1]);
        assert_eq!(places(&placing.next(&farm, &cluster(&[], &[]), 0.0).0).len(), 1);
    }

    #[test]
    fn what_was_taken_back_is_taken_back_there() {
        let farm = Farm { cancelled: BTreeSet::from([2]), ..Farm::default() };
        let (actions, _) = Placing::new(Vec::new(), 10).next(&farm, &cluster(&[1, 2], &[]), 0.0);
        assert_eq!(actions, [Action::Cancel("9_2".to_owned())]);
    }

    #[test]
    fn what_the_cluster_holds_is_taken_back_and_placed_again() {
        let farm = Farm { queued: vec![job(1, &[])], ..Farm::default() };
        let mut held = cluster(&[1], &[]);
        let mut placing = Placing::new(Vec::new(), 10);
        assert!(placing.next(&farm, &held, 0.0).0.is_empty());
        held.placed[0].is_held = true;
        assert_eq!(placing.next(&farm, &held, 0.0).0, [Action::Cancel("9_1".to_owned())]);
        assert_eq!(places(&placing.next(&farm, &cluster(&[], &[]), 2.5).0).len(), 1);
    }

    #[test]
    fn a_node_that_slurm_drained_for_what_it_forgot_is_resumed_when_nothing_is_leased_there() {
        let mut farm = Farm { nodes: vec![node("n1", &[], None)], ..Farm::default() };
        let forgot = |name: &str| machine(name, Some("Duplicate jobid"));
        let there = cluster(&[], &[forgot("n1"), forgot("n2")]);
        let resumed = |name: &str| Action::ResumeMachine(name.to_owned());
        assert_eq!(drains(&farm, &there), [resumed("n1"), resumed("n2")]);
        farm.nodes[0].jobs = vec![7];
        assert_eq!(drains(&farm, &there), [resumed("n2")]);
    }

    #[test]
    fn a_drain_is_handed_on_and_ends_where_it_began() {
        let asked = |here: Option<&str>, there: Option<&str>| {
            let farm = Farm { nodes: vec![node("n1", &[], here)], ..Farm::default() };
            drains(&farm, &cluster(&[], &[machine("n1", there), machine("n2", Some("new"))]))
        };
        let name = || "n1".to_owned();
        assert_eq!(
            asked(Some("drift"), None),
            [Action::DrainMachine { name: name(), reason: "assay: drift".to_owned() }]
        );
        assert_eq!(
            asked(None, Some("fan")),
            [Action::DrainNode { name: name(), reason: "slurm: fan".to_owned() }]
        );
        assert_eq!(asked(None, Some("assay: drift")), [Action::ResumeMachine(name())]);
        assert_eq!(asked(Some("slurm: fan"), None), [Action::ResumeNode(name())]);
        for (here, there) in [
            (None, None),
            (Some("drift"), Some("assay: drift")),
            (Some("slurm: fan"), Some("fan")),
            (Some("drift"), Some("fan")),
        ] {
            assert!(asked(here, there).is_empty(), "{here:?} {there:?}");
        }
        assert_eq!(asked(Some("slurm: fan"), Some("assay: drift")).len(), 2);
    }
}
