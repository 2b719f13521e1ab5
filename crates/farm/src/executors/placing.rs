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
/// Nodes that are had say hello at a time.
const GREETING: usize = 20;
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
    /// Agents that are about to say hello, or do.
    pub greeting: Vec<Greeting>,
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

/// An agent that is to say hello, as the cluster has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The cluster's name for it.
    pub id: String,
    /// The node that it is for.
    pub machine: String,
    /// As for [`Placed`].
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
    /// Has an agent say hello on a node that the farm does not know.
    Greet(String),
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
    /// Nodes that an agent was begun on and that the farm does not know yet: how often, and until when they wait.
    greeted: BTreeMap<String, (u32, f64)>,
}

/// When something that was tried so often is tried again.
fn later(tries: u32, now: f64) -> f64 {
    now + (WAIT.0 * f64::from(1_u32 << tries.saturating_sub(1).min(16))).min(WAIT.1)
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
            self.tries.insert(job, (tries, later(tries, now)));
        }
        let mut actions = cancels(farm, cluster);
        actions.extend(drains(farm, cluster));
        actions.extend(self.greetings(farm, cluster, now));
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

    /// How often an agent was begun on a node that the farm does not know yet.
    #[must_use]
    pub fn greetings_of(&self, machine: &str) -> u32 {
        self.greeted.get(machine).map_or(0, |&(tries, _)| tries)
    }

    /// Versions have jobs for the targets that the farm knows, and it knows those of nodes that said hello: on a cluster where no agent ever ran, nothing
    /// would ever be queued. So each node that it does not know is had say hello.
    fn greetings(&mut self, farm: &Farm, cluster: &Cluster, now: f64) -> Vec<Action> {
        let is_known = |name: &str| farm.nodes.iter().any(|node| node.name == name);
        self.greeted.retain(|name, _| !is_known(name));
        let strangers = cluster.machines.iter().filter(|machine| {
            let waits = self.greeted.get(&machine.name).is_some_and(|&(_, until)| until > now);
            machine.drained.is_none()
                && !is_known(&machine.name)
                && !cluster.greeting.iter().any(|own| !own.is_held && own.machine == machine.name)
                && !waits
        });
        let room = GREETING.saturating_sub(cluster.greeting.len());
        let names: Vec<String> = strangers.take(room).map(|machine| machine.name.clone()).collect();
        for name in &names {
            let tries = self.greetings_of(name) + 1;
            self.greeted.insert(name.clone(), (tries, later(tries, now)));
        }
        names.into_iter().map(Action::Greet).collect()
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
    let taken_back = cluster.placed.iter().filter(is_taken_back).map(|placed| &placed.id);
    // One that is held would stay there for ever: its node is had say hello anew.
    let held = cluster.greeting.iter().filter(|own| own.is_held).map(|own| &own.id);
    taken_back.chain(held).map(|id| Action::Cancel(id.clone())).collect()
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
mod tests;
