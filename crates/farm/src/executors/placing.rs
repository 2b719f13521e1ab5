//! Decides the next actions from the state of the farm and the cluster: which jobs are placed, on
//! which nodes they may run, which are cancelled, and which nodes are drained. Pure: it starts
//! nothing, makes no requests, and has no clock.

use assay_farm::builds::model::{Facts, meets};
use assay_farm::builds::wire::{Job, Node};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of the reasons for drains in the cluster that were copied from the farm.
const BY_FARM: &str = "assay: ";
/// Prefix of the reasons for drains in the farm that were copied from the cluster.
const BY_CLUSTER: &str = "slurm: ";
/// The reason for which Slurm drains a node if its controller was killed before saving which jobs
/// it had started there. A job that runs there twice is leased once, so the node is resumed as soon
/// as the farm has no jobs on it.
const BY_LOST_STATE: &str = "Duplicate jobid";
/// Maximum number of jobs that are passed to the cluster as one array.
const ARRAY: usize = 100;
/// Maximum number of nodes that are made to say hello at the same time.
const GREETING: usize = 20;
/// Number of seconds to wait before placing a job again that left the cluster without having been
/// started, and the maximum to which it is doubled each time.
const WAIT: (f64, f64) = (2.0, 300.0);

/// A feature by which the cluster selects nodes, and the fact that it represents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// The fact's name.
    pub fact: String,
    /// The fact's value.
    pub value: String,
    /// The feature's name in the cluster.
    pub name: String,
}

/// The state of the farm.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Farm {
    /// Jobs without a lease, in the order in which they are due.
    pub queued: Vec<Job>,
    /// Cancelled jobs that the cluster still has.
    pub cancelled: BTreeSet<i64>,
    /// The known nodes.
    pub nodes: Vec<Node>,
    /// The facts of the targets of all nodes, by digest.
    pub facts: BTreeMap<String, Facts>,
}

/// The state of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Jobs of this farm that are waiting or running in the cluster.
    pub placed: Vec<ClusterJob>,
    /// Agents that are waiting to say hello, or are doing so.
    pub greeting: Vec<Greeting>,
    /// Nodes of the cluster.
    pub machines: Vec<Machine>,
}

/// A job of the farm in the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterJob {
    /// The cluster's id.
    pub id: String,
    /// The farm's id.
    pub job: i64,
    /// True if the cluster holds the job until it is released, as with a job that could not be
    /// started.
    pub is_held: bool,
}

/// An agent that is to say hello, as a job of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// The cluster's id.
    pub id: String,
    /// The node that it is for.
    pub machine: String,
    /// As in [`ClusterJob::is_held`].
    pub is_held: bool,
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Name of the node, which is also the name of the agents there.
    pub name: String,
    /// The reason why the node is drained, if it is.
    pub drained: Option<String>,
}

/// An action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Submits jobs to the cluster.
    Place(Batch),
    /// Makes an agent say hello on a node that the farm does not know.
    Greet(String),
    /// Cancels a job in the cluster.
    Cancel(String),
    /// Drains a node of the cluster.
    DrainMachine {
        /// The node.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Resumes a node of the cluster.
    ResumeMachine(String),
    /// Drains the farm's node of that name.
    DrainNode {
        /// The node.
        name: String,
        /// The reason.
        reason: String,
    },
    /// Resumes the farm's node of that name.
    ResumeNode(String),
}

/// Jobs that may run on the same nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The jobs.
    pub jobs: Vec<i64>,
    /// The constraint on nodes; empty for any node.
    pub constraint: String,
    /// Nodes that are known to be unsuitable.
    pub excluded: Vec<String>,
}

/// A job that cannot be placed, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplaceableJob {
    /// The job.
    pub job: i64,
    /// The reason, in plain words.
    pub why: String,
}

/// The state that is kept between rounds. Losing it costs a few attempts, but no job.
#[derive(Debug, Default)]
pub struct Placing {
    /// The features that represent facts.
    pub features: Vec<Feature>,
    /// Maximum number of jobs in the cluster.
    pub most: usize,
    /// Jobs that were in the cluster, or submitted to it, in the last round.
    had: BTreeSet<i64>,
    /// For each job that left the cluster without having been started: the number of times that
    /// this happened, and the time until which the job waits.
    tries: BTreeMap<i64, (u32, f64)>,
    /// For each node on which an agent was started but that the farm does not know yet: the number
    /// of times that this happened, and the time until which the node waits.
    greeted: BTreeMap<String, (u32, f64)>,
}

/// Returns the time at which something is tried again after this number of attempts.
fn later(tries: u32, now: f64) -> f64 {
    now + (WAIT.0 * f64::from(1_u32 << tries.saturating_sub(1).min(16))).min(WAIT.1)
}

impl Placing {
    /// Creates the state for placing at most `most` jobs at the same time.
    #[must_use]
    pub fn new(features: Vec<Feature>, most: usize) -> Self {
        Self { features, most, ..Self::default() }
    }

    /// Returns the number of times that a job left the cluster without having been started.
    #[must_use]
    pub fn tries(&self, job: i64) -> u32 {
        self.tries.get(&job).map_or(0, |&(tries, _)| tries)
    }

    /// Returns the actions to perform, and the jobs that cannot be placed. `now` is the time in s
    /// of any monotonic clock.
    pub fn next(
        &mut self,
        farm: &Farm,
        cluster: &Cluster,
        now: f64,
    ) -> (Vec<Action>, Vec<UnplaceableJob>) {
        // A held job would wait forever, so it is cancelled and placed again.
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

    /// Marks jobs that could not be submitted after all, so that they do not count as having been
    /// in the cluster.
    pub fn not_placed(&mut self, jobs: &[i64]) {
        self.had.retain(|job| !jobs.contains(job));
    }

    /// Returns the number of times that an agent was started on a node that the farm does not know
    /// yet.
    #[must_use]
    pub fn greetings_of(&self, machine: &str) -> u32 {
        self.greeted.get(machine).map_or(0, |&(tries, _)| tries)
    }

    /// Makes each unknown node say hello. Jobs exist only for targets that the farm knows, which
    /// are those of nodes that have said hello; on a cluster where no agent has ever run, nothing
    /// would ever be queued.
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
    ) -> (Vec<Batch>, Vec<UnplaceableJob>) {
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
                    homeless.push(UnplaceableJob { job: job.id, why });
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

    /// Returns the features that a job's node must have, and the nodes that are known to be
    /// unsuitable. Nothing is known about nodes that never asked for a job; they may be tried.
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
                // The features do not tell which nodes have it.
                (true, _) => {}
                (false, 0) => {
                    return Err(format!("no feature of the cluster represents {fact}={wanted}"));
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
    let is_taken_back =
        |placed: &&ClusterJob| placed.is_held || farm.cancelled.contains(&placed.job);
    let taken_back = cluster.placed.iter().filter(is_taken_back).map(|placed| &placed.id);
    // A held greeting would remain forever; its node is made to say hello again.
    let held = cluster.greeting.iter().filter(|own| own.is_held).map(|own| &own.id);
    taken_back.chain(held).map(|id| Action::Cancel(id.clone())).collect()
}

/// Synchronizes drained nodes. A drain belongs to the side on which its reason has no prefix. It is
/// copied to the other side, and removed there when it ends on its original side.
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
            // The original drain has ended.
            (None, Some((_, true))) => actions.push(Action::ResumeMachine(name)),
            (Some((_, true)), None) => actions.push(Action::ResumeNode(name)),
            // Both are copies: each side has lost its original drain.
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
