//! Compares a profile with the CPU time counted by the kernel. Samplers outside of the process
//! (py-spy, rbspy) ask whether a thread is running, and mistake a thread that waits for work for a
//! running one if it is active at that moment: an idle server with four threads seems to use
//! several CPUs. The kernel's figures are passed in; this module queries nothing.

use crate::model::{Frame, Profile, Stack};
use crate::policy;
use assay_data::code;
use assay_data::{Action, Finding, Severity};
use std::collections::HashMap;

/// CPU times counted by the kernel for the time during which a process was sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// CPU time of the whole process, s, including threads that have ended.
    pub whole: f64,
    /// For each thread id, the CPU time and the time spent runnable without a CPU, both in s.
    pub threads: HashMap<u32, (f64, f64)>,
}

/// Functions in which Python waits, by name and end of the file path. A sample in one of them is
/// not work, even if the thread seemed to be running.
const WAITING: [(&str, &str); 12] = [
    ("wait", "threading.py"),
    ("_wait_for_tstate_lock", "threading.py"),
    ("_worker", "concurrent/futures/thread.py"),
    ("select", "selectors.py"),
    ("get", "queue.py"),
    ("accept", "socket.py"),
    ("readinto", "socket.py"),
    ("wait", "multiprocessing/connection.py"),
    ("poll", "multiprocessing/popen_fork.py"),
    ("_recv", "multiprocessing/connection.py"),
    ("_handle_tasks", "multiprocessing/pool.py"),
    ("_try_wait", "subprocess.py"),
];

/// Name for CPU time that the kernel counted and no sample shows.
const NOT_SAMPLED: &str = "(not sampled)";

/// Totals of samples in s: all, those removed as waiting, and the remaining ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct SampleTotals {
    claimed: f64,
    waited: f64,
    left: f64,
}

impl Profile {
    /// Removes samples of waiting threads and scales the rest down to each thread's CPU time. If
    /// the samples of a thread exceed its CPU time, samples in waiting functions are removed; if
    /// the rest still exceeds it by far, all its samples are removed. Time spent runnable without a
    /// CPU is not waiting: samplers count it as running, which is correct. O(stacks).
    pub fn held_against(&mut self, counted: &Counted) {
        let slack = policy::PERIODS * self.asked_hz.map_or(0.0, |rate| 1.0 / rate);
        let mut held = SampleTotals { claimed: self.amount(), ..SampleTotals::default() };
        let claims = self.claims(counted);
        let several = claims.len() > 1;
        let beyond = |thread: Option<u32>, factor: f64, add: f64| {
            let claim = claims.get(&thread).copied().unwrap_or_default();
            claim > share_of(thread, several, counted).0 / factor + add
        };
        for index in 0..self.stacks.len() {
            let thread = known_thread(&self.stacks[index], counted);
            if self.waits(&self.stacks[index]) && beyond(thread, policy::COUNTED, slack) {
                self.stacks[index].amount = 0.0;
            }
        }
        let factors: HashMap<Option<u32>, f64> = self
            .claims(counted)
            .into_iter()
            .map(|(thread, claim)| {
                let (cpu, queued) = share_of(thread, several, counted);
                let waited = claim > policy::WAITED * (cpu + queued) + slack;
                let left = if waited { 0.0 } else { claim.min(cpu) };
                held.left += if waited { 0.0 } else { claim };
                (thread, if claim > 0.0 { left / claim } else { 0.0 })
            })
            .collect();
        held.waited = held.claimed - held.left;
        for stack in &mut self.stacks {
            stack.amount *= factors[&known_thread(stack, counted)];
        }
        held.left = self.amount();
        self.stacks.retain(|stack| stack.amount > 0.0);
        self.forget_unused_frames();
        let sampler = self.tool.as_deref().unwrap_or("the sampler");
        self.findings.extend(finding(held, counted.whole, sampler));
    }

    /// Returns the total of each thread's samples.
    fn claims(&self, counted: &Counted) -> HashMap<Option<u32>, f64> {
        let mut claims = HashMap::new();
        for stack in &self.stacks {
            *claims.entry(known_thread(stack, counted)).or_default() += stack.amount;
        }
        claims
    }

    /// Returns true if a stack ends in a function that waits.
    fn waits(&self, stack: &Stack) -> bool {
        let Some(leaf) = self.frames_of(stack).next_back() else { return false };
        let bare = leaf.name.rsplit('.').next().unwrap_or_default();
        let file = leaf.file.as_deref().unwrap_or_default();
        WAITING.iter().any(|(name, end)| bare == *name && file.ends_with(end))
    }

    /// Removes the functions that occurred only in removed samples.
    fn forget_unused_frames(&mut self) {
        let mut used = vec![false; self.frames.len()];
        for &frame in self.stacks.iter().flat_map(|stack| &stack.frames) {
            used[frame as usize] = true;
        }
        let mut next = 0;
        let numbers: Vec<u32> =
            used.iter().map(|&used| (next, next += u32::from(used)).0).collect();
        for frame in self.stacks.iter_mut().flat_map(|stack| &mut stack.frames) {
            *frame = numbers[*frame as usize];
        }
        let mut used = used.into_iter();
        self.frames.retain(|_| used.next() == Some(true));
    }

    /// Removes samples in waiting functions if the total exceeds `whole`, the CPU time (s) of a
    /// program and all its children, and scales the rest to it. Which threads were runnable without
    /// a CPU is unknown; time that was never sampled, such as that of short-lived processes, is
    /// distributed in proportion. If that is most of the time, it gets a separate entry instead:
    /// the few samples do not represent it. O(stacks).
    pub fn held_against_whole(&mut self, whole: f64) {
        let slack = policy::PERIODS * self.asked_hz.map_or(0.0, |rate| 1.0 / rate);
        let mut held = SampleTotals { claimed: self.amount(), ..SampleTotals::default() };
        if held.claimed > whole / policy::COUNTED + slack {
            for index in 0..self.stacks.len() {
                if self.waits(&self.stacks[index]) {
                    self.stacks[index].amount = 0.0;
                }
            }
        }
        held.left = self.amount();
        held.waited = held.claimed - held.left;
        let hardly = is_hardly_seen(held.left, whole, slack);
        let factor = match held.left {
            _ if hardly => 1.0,
            0.0 => 0.0,
            left => whole / left,
        };
        self.stacks.iter_mut().for_each(|stack| stack.amount *= factor);
        self.stacks.retain(|stack| stack.amount > 0.0);
        self.forget_unused_frames();
        if hardly {
            self.add_not_sampled(whole - held.left);
        }
        let sampler = self.tool.as_deref().unwrap_or("the sampler");
        let found = match held.left < policy::COUNTED * whole - slack {
            true => Some(unsampled(held, whole, hardly, sampler)),
            false => finding(SampleTotals { left: whole.min(held.left), ..held }, whole, sampler),
        };
        self.findings.extend(found);
    }

    /// Adds the part of `whole`, the CPU time (s) counted by the kernel, that a profile lacks: a
    /// small part is distributed in proportion, a larger one gets a separate entry, because its
    /// functions may be different ones. O(stacks).
    pub fn filled_up_to(&mut self, whole: f64) {
        let seen = self.amount();
        let factor = whole / seen;
        if !factor.is_finite() || factor <= 1.0 {
            return;
        }
        if seen < (1.0 - policy::UNSEEN) * whole {
            self.add_not_sampled(whole - seen);
        } else {
            self.stacks.iter_mut().for_each(|stack| stack.amount *= factor);
        }
    }

    fn add_not_sampled(&mut self, amount: f64) {
        let frame = self.frames.len() as u32;
        self.frames.push(Frame::named(NOT_SAMPLED));
        self.stacks.push(Stack { frames: vec![frame], labels: Vec::new(), samples: 0, amount });
    }
}

/// Returns true if most of the CPU time was not sampled.
fn is_hardly_seen(seen: f64, whole: f64, slack: f64) -> bool {
    seen > 0.0 && seen < policy::SEEN * whole - slack
}

/// Returns the finding for samples that account for less time than the kernel counted.
fn unsampled(held: SampleTotals, whole: f64, hardly: bool, sampler: &str) -> Finding {
    let (severity, so) = match hardly {
        true => (
            Severity::Warning,
            "processes that ended soon, and a program that replaced itself by another (exec), were not sampled; the table has their time as (not sampled)",
        ),
        false => (
            Severity::Note,
            "what the program did before sampling began, and processes that ended soon, was not sampled; times are scaled up",
        ),
    };
    let told = format!(
        "the samples of {sampler} come to {:.2} s, and the kernel counted {whole:.2} s of CPU time: {so}",
        held.left
    );
    waiting(severity, told, held.claimed, whole)
}

/// Returns the thread of a stack, if the kernel counted it: `Thread 4711 "worker"` in py-spy's
/// form.
fn known_thread(stack: &Stack, counted: &Counted) -> Option<u32> {
    let name = stack.labels.iter().find_map(|(key, name)| (key == "thread").then_some(name))?;
    let (_, behind) = name.split_once("Thread ")?;
    let number = behind.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    counted.threads.contains_key(&number).then_some(number)
}

/// Returns the CPU time of a thread and its time spent runnable without a CPU. Stacks without a
/// known thread get everything that does not belong to the other threads, if there are any. Threads
/// that have ended are included only in the total of the process, and their runnable time is
/// unknown.
fn share_of(thread: Option<u32>, several: bool, counted: &Counted) -> (f64, f64) {
    if let Some(own) = thread.and_then(|thread| counted.threads.get(&thread)) {
        return *own;
    }
    let (cpu, queued) =
        counted.threads.values().fold((0.0, 0.0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
    match several {
        false => (counted.whole, queued),
        true => ((counted.whole - cpu).max(0.0), f64::INFINITY),
    }
}

/// Returns the finding for samples that account for more time than the kernel counted; `None` if
/// the difference is small.
fn finding(held: SampleTotals, whole: f64, sampler: &str) -> Option<Finding> {
    let SampleTotals { claimed, waited, left } = held;
    let told = |what: &str| {
        format!(
            "the samples of {sampler} come to {claimed:.2} s, and the kernel counted {whole:.2} s of CPU time: {what}"
        )
    };
    if waited > (1.0 - policy::COUNTED) * claimed {
        let told = told(&format!(
            "{waited:.2} s, of threads that waited and were taken for running, are left out; what is left stands for {left:.2} s"
        ));
        let found = waiting(Severity::Warning, told, claimed, whole);
        return Some(found.advise(Action::text("count waiting too: --clock wall")));
    }
    (left < policy::COUNTED * claimed).then(|| {
        let told = told(
            "each thread's times are scaled down to its own; the rest is waiting for a processor",
        );
        waiting(Severity::Note, told, claimed, whole)
    })
}

fn waiting(severity: Severity, told: String, sampled: f64, counted: f64) -> Finding {
    Finding::new(code::PROFILE_WAITING, told)
        .at(severity)
        .with("sampled", sampled)
        .with("counted", counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    /// Creates a profile of threads, given by id and number of 10 ms samples; 0 means stacks
    /// without a thread.
    fn profile(threads: &[(u32, u64)]) -> Profile {
        let mut builder = Builder::default();
        builder.profile.asked_hz = Some(100.0);
        for &(thread, samples) in threads {
            let frame = builder.frame(Frame::named(&format!("f{thread}")));
            let labels = match thread {
                0 => Vec::new(),
                _ => vec![("thread".to_owned(), format!("Thread {thread} \"pool-{thread}\""))],
            };
            builder.add(vec![frame], labels, samples, samples as f64 * 0.01);
        }
        builder.build()
    }

    /// Returns the remaining time of each stack, in ms, and the finding's severity.
    fn held(
        threads: &[(u32, u64)],
        whole: f64,
        counted: &[(u32, f64, f64)],
    ) -> (Vec<u64>, Option<Severity>) {
        let mut profile = profile(threads);
        let counted = Counted {
            whole,
            threads: counted.iter().map(|&(id, cpu, queued)| (id, (cpu, queued))).collect(),
        };
        profile.held_against(&counted);
        assert_eq!(profile.frames.len(), profile.stacks.len(), "each has a frame of its own");
        assert!((0..).zip(&profile.stacks).all(|(index, stack)| stack.frames == [index]));
        let left = profile.stacks.iter().map(|s| (s.amount * 1000.0).round() as u64).collect();
        (left, profile.findings.first().map(|finding| finding.severity))
    }

    #[test]
    fn threads_that_waited_are_left_out_and_told() {
        let found = held(&[(1, 100), (2, 90)], 1.01, &[(1, 0.99, 0.0), (2, 0.02, 0.0)]);
        assert_eq!(found, (vec![990], Some(Severity::Warning)));
        let nothing = held(&[(1, 100), (2, 90)], 0.04, &[(1, 0.02, 0.0), (2, 0.02, 0.0)]);
        assert_eq!(nothing.0, Vec::<u64>::new());
        let alone = held(&[(0, 100)], 0.04, &[(7, 0.04, 0.0)]);
        assert_eq!(alone, (Vec::new(), Some(Severity::Warning)));
    }

    #[test]
    fn functions_that_wait_are_left_out_where_a_thread_claims_too_much() {
        let made = |cpu: f64| {
            let mut builder = Builder::default();
            builder.profile.asked_hz = Some(100.0);
            let file = Some("/usr/lib/python3.11/threading.py".to_owned());
            let wait = Frame { name: "Condition.wait".to_owned(), file, line: Some(3) };
            let labels = || vec![("thread".to_owned(), "Thread 1".to_owned())];
            let [wait, work] = [wait, Frame::named("work")].map(|frame| builder.frame(frame));
            builder.add(vec![work, wait], labels(), 70, 0.7);
            builder.add(vec![work], labels(), 30, 0.3);
            let mut profile = builder.build();
            let threads = [(1, (cpu, 0.0))].into();
            profile.held_against(&Counted { whole: cpu, threads });
            (profile.stacks.len(), (profile.amount() * 100.0).round(), profile.findings.len())
        };
        assert_eq!(made(0.5), (1, 30.0, 1));
        assert_eq!(made(0.2), (1, 20.0, 1));
        // A program that contends for a lock also uses CPU time.
        assert_eq!(made(0.97), (2, 97.0, 0));
    }

    #[test]
    fn the_queue_for_a_processor_is_no_waiting_and_only_scales() {
        let found = held(&[(1, 100), (2, 100)], 0.8, &[(1, 0.3, 0.68), (2, 0.5, 0.5)]);
        assert_eq!(found, (vec![300, 500], Some(Severity::Note)));
        assert_eq!(held(&[(0, 100)], 0.4, &[(7, 0.4, 0.6)]), (vec![400], Some(Severity::Note)));
    }

    #[test]
    fn what_the_kernel_bears_out_stays_as_it_is() {
        assert_eq!(held(&[(1, 100)], 1.2, &[(1, 1.2, 0.0)]), (vec![1000], None));
        // One sample of a thread that was active at that moment is not reported as an error.
        assert_eq!(held(&[(1, 1), (2, 99)], 1.0, &[(1, 0.005, 0.0), (2, 0.99, 0.0)]).0, [5, 990]);
    }

    #[test]
    fn a_program_has_the_processor_time_that_the_kernel_counted() {
        let of = |whole: f64| {
            let mut profile = profile(&[(1, 100), (2, 300)]);
            profile.held_against_whole(whole);
            let left: Vec<u64> =
                profile.stacks.iter().map(|s| (s.amount * 1000.0).round() as u64).collect();
            (left, profile.findings.first().map(|own| own.severity))
        };
        assert_eq!(of(4.0), (vec![1000, 3000], None));
        // On a busy machine, threads that wait for a CPU seem to run.
        assert_eq!(of(0.8), (vec![200, 600], Some(Severity::Note)));
        // A short-lived child was not sampled.
        assert_eq!(of(6.0), (vec![1500, 4500], Some(Severity::Note)));
        // The same happens if a program soon replaces itself by another one, which has no samples.
        assert_eq!(of(10.0), (vec![1000, 3000, 6000], Some(Severity::Warning)));
    }

    #[test]
    fn what_waits_is_left_out_before_the_rest_is_scaled() {
        let mut builder = Builder::default();
        builder.profile.asked_hz = Some(100.0);
        let file = Some("/usr/lib/python3.11/threading.py".to_owned());
        let wait = Frame { name: "Condition.wait".to_owned(), file, line: Some(3) };
        let [wait, work] = [wait, Frame::named("work")].map(|frame| builder.frame(frame));
        builder.add(vec![wait], Vec::new(), 400, 4.0);
        builder.add(vec![work], Vec::new(), 110, 1.1);
        let mut profile = builder.build();
        profile.held_against_whole(1.0);
        assert_eq!((profile.stacks.len(), profile.frames[0].name.as_str()), (1, "work"));
        assert!((profile.amount() - 1.0).abs() < 1e-9);
        assert!(profile.findings[0].message.contains("4.00 s, of threads that waited"));
    }

    #[test]
    fn threads_that_have_ended_share_what_is_left_of_the_whole() {
        let found = held(&[(1, 50), (8, 30), (9, 30)], 0.9, &[(1, 0.6, 0.0)]);
        assert_eq!(found.0, [500, 150, 150]);
    }

    #[test]
    fn what_perf_lacks_is_distributed_or_has_an_entry_of_its_own() {
        let profile = |amount: f64| {
            let mut builder = Builder::default();
            let work = builder.frame(Frame::named("work"));
            builder.add(vec![work], Vec::new(), 40, amount);
            builder.build()
        };
        for (seen, work, others) in [(0.95, 1.0, 0.0), (0.8, 0.8, 0.2), (1.02, 1.02, 0.0)] {
            let mut filled = profile(seen);
            filled.filled_up_to(1.0);
            let amounts: Vec<f64> = filled.stacks.iter().map(|stack| stack.amount).collect();
            assert!((amounts[0] - work).abs() < 1e-9, "{seen}: {amounts:?}");
            assert!(
                (amounts[1..].iter().sum::<f64>() - others).abs() < 1e-9,
                "{seen}: {amounts:?}"
            );
            assert_eq!(filled.frames.iter().any(|f| f.name == NOT_SAMPLED), others > 0.0);
        }
    }
}
