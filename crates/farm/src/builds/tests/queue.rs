//! Compares the queue with a model of it. After any sequence of leases, extensions, submissions,
//! cancellations and failures, the store matches a list in memory, every job has ended at most
//! once, and the sums match the rows.

use super::farm::{NODES, asks, begun, check_sums};
use super::*;
use crate::builds::model::Progress;
use crate::builds::policy::{DELAY, RETRIES};
use crate::builds::wire::{Ending, LeasedJob};
use crate::builds::{FarmError, SubmissionOutcome};
use proptest::prelude::*;

/// A random event. Its numbers select from the items that exist.
#[derive(Clone, Copy, Debug)]
enum Event {
    Lease(u8),
    Beat(u8),
    Pass(u8),
    Undecided(u8),
    Fault(u8),
    Replay(u8),
    Late(u8),
    Cancel(u8),
    Drain(u8, bool),
    Wait(u8),
    Kill,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => any::<u8>().prop_map(Event::Lease),
        2 => any::<u8>().prop_map(Event::Beat),
        3 => any::<u8>().prop_map(Event::Pass),
        1 => any::<u8>().prop_map(Event::Undecided),
        2 => any::<u8>().prop_map(Event::Fault),
        1 => any::<u8>().prop_map(Event::Replay),
        2 => any::<u8>().prop_map(Event::Late),
        1 => any::<u8>().prop_map(Event::Cancel),
        1 => any::<(u8, bool)>().prop_map(|(node, on)| Event::Drain(node, on)),
        4 => any::<u8>().prop_map(Event::Wait),
        1 => Just(Event::Kill),
    ]
}

/// Expected state of a job.
#[derive(Clone, Debug, PartialEq)]
enum ExpectedState {
    Queued,
    Waiting { due: i64 },
    Leased { node: usize, until: i64 },
    Done,
    Cancelled,
}

struct ModelJob {
    id: i64,
    kind: Kind,
    /// Index of the target on which the job runs.
    target: usize,
    should: ExpectedState,
    retries: i64,
}

/// A lease that was granted, and the result submitted for it.
struct GrantedLease {
    job: usize,
    node: usize,
    leased: LeasedJob,
    handed: Option<Ending>,
    is_live: bool,
}

struct Model<'h> {
    home: &'h Home,
    store: Store,
    now: i64,
    jobs: Vec<ModelJob>,
    given: Vec<GrantedLease>,
    drained: [bool; 3],
    keys: u32,
    seen: super::stamps::PageContents,
}

impl<'h> Model<'h> {
    fn new(home: &'h Home) -> Self {
        let store = home.store();
        begun(&store);
        for ordinal in 1..=2 {
            let name = ordinal.to_string();
            store.add_version(("rails", "rack"), &name, &version(ordinal), NOW).unwrap();
        }
        let mut model = Self {
            home,
            store,
            now: NOW,
            jobs: Vec::new(),
            given: Vec::new(),
            drained: [false; 3],
            keys: 0,
            seen: super::stamps::PageContents::default(),
        };
        model.note_new();
        model
    }

    /// Adds the new jobs to the model: those of new versions, and further rounds of benchmarks.
    fn note_new(&mut self) -> usize {
        let before = self.jobs.len();
        for job in self.store.jobs(None, 999).unwrap().items {
            if self.jobs.iter().all(|known| known.id != job.id) {
                let target = usize::from(job.of.target != Some(key(&farm::targets()[0])));
                self.jobs.push(ModelJob {
                    id: job.id,
                    kind: job.of.kind,
                    target,
                    should: ExpectedState::Queued,
                    retries: 0,
                });
            }
        }
        self.jobs.len() - before
    }

    fn held_by(&self, node: usize) -> impl Iterator<Item = &ModelJob> {
        self.jobs.iter().filter(
            move |job| matches!(job.should, ExpectedState::Leased { node: by, .. } if by == node),
        )
    }

    /// Returns the index of the job that the queue should lease to a node now.
    fn next(&self, node: usize) -> Option<usize> {
        let busy = self.held_by(node).count() > 0;
        if self.drained[node] || self.held_by(node).any(|job| job.kind == Kind::Bench) {
            return None;
        }
        let fits = |job: &&ModelJob| {
            job.should == ExpectedState::Queued
                && job.target == NODES[node].1
                && !(busy && job.kind == Kind::Bench)
        };
        let found = self.jobs.iter().filter(fits).min_by_key(|job| job.id)?;
        self.jobs.iter().position(|job| job.id == found.id)
    }

    fn lease(&mut self, node: usize) {
        let wanted = self.next(node);
        let may = self.store.may_lease(NODES[node].0, &asks(node)).unwrap();
        assert!(may || wanted.is_none(), "who waits must hear of a job");
        let got = self.store.lease(NODES[node].0, &asks(node), self.now, LEASE).unwrap();
        assert_eq!(got.as_ref().map(|leased| leased.job.id), wanted.map(|job| self.jobs[job].id));
        if let (Some(job), Some(leased)) = (wanted, got) {
            self.jobs[job].should = ExpectedState::Leased { node, until: self.now + LEASE };
            self.given.push(GrantedLease { job, node, leased, handed: None, is_live: true });
        }
    }

    /// Selects one of all leases granted so far.
    fn pick(&self, number: u8) -> Option<usize> {
        (!self.given.is_empty()).then(|| usize::from(number) % self.given.len())
    }

    fn live(&self, number: u8) -> Option<usize> {
        let live: Vec<usize> = (0..self.given.len()).filter(|g| self.given[*g].is_live).collect();
        (!live.is_empty()).then(|| live[usize::from(number) % live.len()])
    }

    fn beat(&mut self, given: usize) {
        let GrantedLease { job, node, ref leased, is_live, .. } = self.given[given];
        let (id, node) = (leased.job.id, NODES[node].0);
        let beaten = self.store.beat(node, id, &leased.nonce, self.now, LEASE);
        let is_last = self.given.iter().rposition(|other| other.job == job) == Some(given);
        match &mut self.jobs[job].should {
            ExpectedState::Leased { until, .. } if is_live => {
                assert!(!beaten.unwrap().is_cancelled);
                *until = (*until).max(self.now + LEASE);
            }
            ExpectedState::Cancelled if is_last && is_live => {
                assert!(beaten.unwrap().is_cancelled);
            }
            ExpectedState::Cancelled => {}
            _ => assert_eq!(beaten.unwrap_err().code(), "lease_lost"),
        }
    }

    fn hand_in(&mut self, given: usize, outcome: Outcome) -> Result<SubmissionOutcome, FarmError> {
        self.keys += 1;
        let one = &mut self.given[given];
        let nonce = one.leased.nonce.clone();
        let ending = Ending { nonce, key: format!("k{}", self.keys), outcome };
        one.handed = Some(ending.clone());
        self.store.hand_in(NODES[one.node].0, one.leased.job.id, &ending, 0, self.now)
    }

    fn end(&mut self, given: usize, outcome: Outcome) {
        let is_open = outcome.comparisons.iter().any(|c| c.verdict == "inconclusive");
        let is_fault = outcome.state == State::Infrastructure;
        let job = self.given[given].job;
        let outcome = match self.jobs[job].kind {
            Kind::Test => Outcome { comparisons: Vec::new(), ..outcome },
            Kind::Bench if outcome.comparisons.is_empty() && !is_fault => compared("equivalent"),
            Kind::Bench => outcome,
        };
        let ended = self.hand_in(given, outcome).unwrap();
        let own = &mut self.jobs[job];
        let ExpectedState::Leased { .. } = own.should else {
            // The job was cancelled, so its result is late.
            assert!(matches!(ended, SubmissionOutcome::Late(_)), "{ended:?}");
            self.given[given].is_live = false;
            return;
        };
        self.given[given].is_live = false;
        if is_fault && own.retries < RETRIES {
            assert!(matches!(ended, SubmissionOutcome::Again(_)), "{ended:?}");
            own.should = ExpectedState::Waiting { due: self.now + (DELAY << own.retries) };
            own.retries += 1;
            return;
        }
        assert!(matches!(ended, SubmissionOutcome::Ended(_)), "{ended:?}");
        own.should = ExpectedState::Done;
        if !(is_open && self.jobs[job].kind == Kind::Bench) {
            assert_eq!(self.note_new(), 0);
        }
        self.note_new();
    }

    fn late(&mut self, number: u8) {
        let stale: Vec<usize> = (0..self.given.len())
            .filter(|g| !self.given[*g].is_live && self.given[*g].handed.is_none())
            .collect();
        if stale.is_empty() {
            return;
        }
        let given = stale[usize::from(number) % stale.len()];
        let done = match self.jobs[self.given[given].job].kind {
            Kind::Test => outcome(State::Passed),
            Kind::Bench => compared("equivalent"),
        };
        let ended = self.hand_in(given, done).unwrap();
        assert!(matches!(&ended, SubmissionOutcome::Late(build) if build.is_evidence), "{ended:?}");
    }

    fn replay(&mut self, given: usize) {
        let one = &self.given[given];
        let Some(ending) = &one.handed else { return };
        let (node, id) = (NODES[one.node].0, one.leased.job.id);
        let again = self.store.hand_in(node, id, ending, 0, self.now).unwrap();
        assert!(matches!(again, SubmissionOutcome::Known(_)), "{again:?}");
        let mut forged = ending.clone();
        forged.outcome.seconds += 1.0;
        let told = self.store.hand_in(node, id, &forged, 0, self.now).unwrap_err();
        assert_eq!(told.code(), "conflict");
        let never = Ending { nonce: "0".repeat(64), key: "never".to_owned(), ..ending.clone() };
        let told = self.store.hand_in(node, id, &never, 0, self.now).unwrap_err();
        assert_eq!(told.code(), "lease_lost");
    }

    fn cancel(&mut self, number: u8) {
        let job = usize::from(number) % self.jobs.len();
        let cancelled = self.store.cancel(self.jobs[job].id, self.now);
        let own = &mut self.jobs[job];
        if own.should == ExpectedState::Done {
            assert_eq!(cancelled.unwrap_err().code(), "conflict");
        } else {
            assert_eq!(cancelled.unwrap().progress, Progress::Cancelled);
            own.should = ExpectedState::Cancelled;
        }
    }

    fn wait(&mut self, number: u8) {
        self.now += i64::from(number) * 1_000;
        let swept = self.store.sweep(self.now).unwrap();
        let (mut expired, mut lost, mut woken) = (0, 0, 0);
        for (place, job) in self.jobs.iter_mut().enumerate() {
            match job.should {
                ExpectedState::Leased { until, .. } if until < self.now => {
                    for given in self.given.iter_mut().filter(|given| given.job == place) {
                        given.is_live = false;
                    }
                    if job.retries < RETRIES {
                        job.retries += 1;
                        job.should = ExpectedState::Queued;
                        expired += 1;
                    } else {
                        job.should = ExpectedState::Done;
                        lost += 1;
                    }
                }
                ExpectedState::Waiting { due } if due <= self.now => {
                    job.should = ExpectedState::Queued;
                    woken += 1;
                }
                _ => {}
            }
        }
        assert_eq!((swept.expired, swept.lost, swept.woken), (expired, lost, woken));
    }

    fn does(&mut self, event: Event) {
        match event {
            Event::Lease(number) => self.lease(usize::from(number) % NODES.len()),
            Event::Beat(number) => {
                if let Some(given) = self.pick(number) {
                    self.beat(given);
                }
            }
            Event::Pass(number) => {
                if let Some(given) = self.live(number) {
                    self.end(given, outcome(State::Passed));
                }
            }
            Event::Undecided(number) => {
                if let Some(given) = self.live(number) {
                    self.end(given, compared("inconclusive"));
                }
            }
            Event::Fault(number) => {
                if let Some(given) = self.live(number) {
                    self.end(given, outcome(State::Infrastructure));
                }
            }
            Event::Replay(number) => {
                if let Some(given) = self.pick(number) {
                    self.replay(given);
                }
            }
            Event::Late(number) => self.late(number),
            Event::Cancel(number) => self.cancel(number),
            Event::Drain(number, on) => {
                let node = usize::from(number) % NODES.len();
                self.drained[node] = on;
                match on {
                    true => self.store.drain(NODES[node].0, "test").unwrap(),
                    false => self.store.resume(NODES[node].0).unwrap(),
                };
            }
            Event::Wait(number) => self.wait(number),
            Event::Kill => self.store = self.home.store(),
        }
        self.seen.look(&mut self.store);
    }

    fn check(&self) {
        for job in &self.jobs {
            let is = self.store.job(job.id).unwrap();
            let should = match job.should {
                ExpectedState::Queued | ExpectedState::Waiting { .. } => Progress::Queued,
                ExpectedState::Leased { .. } => Progress::Leased,
                ExpectedState::Done => Progress::Done,
                ExpectedState::Cancelled => Progress::Cancelled,
            };
            assert_eq!(is.progress, should, "job {}", job.id);
            assert_eq!(is.build.is_some(), should == Progress::Done);
            if let ExpectedState::Leased { node, .. } = job.should {
                assert_eq!(is.node.as_deref(), Some(NODES[node].0));
            }
        }
        check_sums(&self.store);
    }
}

fn run(home: &Home, events: &[Event]) {
    let mut model = Model::new(home);
    for event in events {
        model.does(*event);
    }
    model.check();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_in_a_file_does_what_the_model_says(events in prop::collection::vec(event(), 1..120)) {
        run(&Home::new(), &events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_queue_on_a_server_does_what_the_model_says(events in prop::collection::vec(event(), 1..100)) {
        if let Some(home) = Home::on_server() {
            run(&home, &events);
        }
    }
}
