//! Comparisons of servers by failed requests. If a server stops answering, its latencies are
//! meaningless, so the failed requests decide.
//!
//! A server has *stopped* if its last slices have no answers at all while the other server
//! answered. It fails *beyond* the other if its share of failed requests is larger by more than the
//! threshold, and chance is ruled out either by the sign test over the blocks or because the server
//! was *away* for a while (restarted or hung, for example). The sign test can't detect an absence
//! of a few slices, but nothing else explains such an absence: a busy machine slows servers down,
//! but does not make them refuse requests, and if it stalls a server, it also stalls the generator
//! and the other server.

use crate::comparison::{Comparison, Failing};
use crate::policy;
use crate::slices::{Answers, SliceOf};
use crate::verdict::Verdict;
use assay_data::{Plan, Threshold};
use assay_stats::binomial;

/// Decides the comparisons in which one side fails beyond the other. O(slices · log slices).
pub(crate) fn decide(comparisons: &mut [Comparison], answers: &[Answers], plan: &Plan) {
    let level = (1.0 - plan.confidence) / comparisons.len().max(1) as f64;
    let least = match plan.threshold {
        Threshold::Relative(share) => share,
        Threshold::Absolute { .. } => policy::FAILING_SHARE,
    };
    let own = |subject: usize| answers.iter().find(|own| own.subject == subject);
    for c in comparisons.iter_mut().filter(|c| !c.mixed) {
        let (Some(of), Some(against)) = (own(c.of), own(c.against)) else { continue };
        c.failing = pair(of, against, least, level).map(Box::new);
        if let Some(failing) = &c.failing {
            let worse = failing.subject == c.of;
            c.decision.verdict = if worse { Verdict::Slower } else { Verdict::Faster };
            c.decision.possibly_below_threshold = false;
        }
    }
}

/// Returns the number (counted from 1) of the first slice from which on a subject answered no more
/// requests; `None` if it answered in the last slice, or if there are too few failed requests to
/// tell.
pub fn stopped(own: &Answers) -> Option<usize> {
    let dead = |slice: &&SliceOf| slice.answered == 0 && slice.failed > 0;
    let last: Vec<&SliceOf> = own.by_slice.iter().rev().take_while(dead).collect();
    let failed: u64 = last.iter().map(|slice| slice.failed).sum();
    let enough = last.len() > 1 || failed >= policy::FEWEST_FAILED;
    (!last.is_empty() && enough).then(|| own.by_slice.len() - last.len() + 1)
}

fn pair(of: &Answers, against: &Answers, least: f64, level: f64) -> Option<Failing> {
    let failing = |own: &Answers, other: &Answers, stopped| Failing {
        subject: own.subject,
        failed: own.count("failed"),
        requests: requests(own),
        other_share: share(other),
        stopped,
        slices: own.by_slice.len(),
        silent_seconds: own.by_slice.iter().map(|slice| slice.silent_seconds).sum(),
    };
    for (own, other) in [(of, against), (against, of)] {
        if let Some(since) = stopped(own)
            && answers_from(other, own.by_slice[since - 1].block)
        {
            return Some(failing(own, other, Some(since)));
        }
    }
    let (more, less) = blocks(of, against, fails_more);
    let unlikely = 2.0 * binomial::at_most(more.min(less), more + less) <= level;
    let difference = lacking(of) - lacking(against);
    let worse = match was_away(of, against) {
        Some(worse) if !unlikely => worse,
        None if !unlikely => return None,
        _ => more > less,
    };
    if difference.abs() <= least || (difference > 0.0) != worse {
        return None;
    }
    let (own, other) = if worse { (of, against) } else { (against, of) };
    Some(failing(own, other, None))
}

/// Returns true if only the first subject was away for a while, false if only the second one was;
/// `None` if neither or both were.
fn was_away(of: &Answers, against: &Answers) -> Option<bool> {
    match (is_away(of, against), is_away(against, of)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Returns true if a subject was away for a while and the other one was not.
fn is_away(own: &Answers, other: &Answers) -> bool {
    let (mostly_gone, others) = blocks(own, other, is_mostly_gone);
    let (gone, _) = blocks(own, other, is_gone);
    if mostly_gone >= FEWEST_GONE && gone > 0 && others == 0 {
        return true;
    }
    let is_spared = share(other) * policy::SPARED <= share(own) && silent(other) == 0;
    let broken: u64 = own.by_slice.iter().map(|slice| slice.broken).sum();
    let breaks = broken >= policy::FEWEST_FAILED
        && broken as f64 >= policy::BROKEN_SHARE * requests(own) as f64;
    is_spared && (breaks || silent(own) > 0 || blocks(own, other, is_mostly_gone_in_time).0 > 0)
}

/// Minimum length in blocks of an absence for which there is no other evidence. A shorter one
/// counts as a pause.
const FEWEST_GONE: u64 = 2;

/// Returns true if a slice has a larger share of failed requests than the other side's slice.
fn fails_more(own: &SliceOf, other: &SliceOf) -> bool {
    let share = |slice: &SliceOf| slice.failed as f64 / (slice.answered + slice.failed) as f64;
    share(own) > share(other)
}

/// Returns true if a slice has more failed requests than answers, and not just a few, and the other
/// side's slice has no failed requests.
fn is_mostly_gone(own: &SliceOf, other: &SliceOf) -> bool {
    own.failed > own.answered && own.failed >= policy::FEWEST_FAILED && other.failed == 0
}

/// Like [`is_mostly_gone`], for a slice without any answer.
fn is_gone(own: &SliceOf, other: &SliceOf) -> bool {
    own.answered == 0 && is_mostly_gone(own, other)
}

/// Like [`is_mostly_gone`], for a slice in which the generator was on time, so that the cause did
/// not affect the generator.
fn is_mostly_gone_in_time(own: &SliceOf, other: &SliceOf) -> bool {
    is_mostly_gone(own, other)
        && own.late_seconds.is_some_and(|late| late <= policy::ON_TIME_SECONDS)
}

/// Returns the number of slices before which the server was silent.
fn silent(own: &Answers) -> usize {
    let is_silent = |slice: &&SliceOf| slice.silent_seconds >= policy::ABSENT_SECONDS;
    own.by_slice.iter().filter(is_silent).count()
}

/// Returns the share of requests that failed, or the share of slices before which the server was
/// silent, whichever is larger: silence hides requests that would have failed.
fn lacking(own: &Answers) -> f64 {
    share(own).max(silent(own) as f64 / own.by_slice.len().max(1) as f64)
}

/// Returns the share of requests that failed.
fn share(own: &Answers) -> f64 {
    own.count("failed") as f64 / requests(own).max(1) as f64
}

fn requests(own: &Answers) -> u64 {
    own.count("answered") + own.count("failed")
}

/// Returns true if most requests of a subject were answered from a block on. For separate
/// recordings, which have no common blocks, all requests count.
fn answers_from(own: &Answers, block: u32) -> bool {
    let mut later = own.by_slice.iter().filter(|slice| slice.block >= block).peekable();
    let sum = |slices: &mut dyn Iterator<Item = &SliceOf>| {
        slices.fold((0, 0), |sum, slice| (sum.0 + slice.answered, sum.1 + slice.failed))
    };
    let (answered, failed) = match later.peek() {
        Some(_) => sum(&mut later),
        None => sum(&mut own.by_slice.iter()),
    };
    answered > failed
}

/// Returns the number of common blocks in which `holds` is true of the first subject's slice
/// compared with the second's, and the number in which it is true of the second's compared with the
/// first's.
fn blocks(of: &Answers, against: &Answers, holds: fn(&SliceOf, &SliceOf) -> bool) -> (u64, u64) {
    let (mut own, mut others) = (0, 0);
    for slice in &of.by_slice {
        if let Some(other) = against.by_slice.iter().find(|other| other.block == slice.block) {
            own += u64::from(holds(slice, other));
            others += u64::from(holds(other, slice));
        }
    }
    (own, others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_stats::resampling::Stream;
    use std::collections::BTreeMap;

    fn answers(subject: usize, slices: &[(u64, u64)]) -> Answers {
        let by_slice: Vec<SliceOf> = slices
            .iter()
            .enumerate()
            .map(|(block, &(answered, failed))| SliceOf {
                block: block as u32,
                answered,
                failed,
                ..SliceOf::default()
            })
            .collect();
        let sum = |of: fn(&SliceOf) -> u64| by_slice.iter().map(of).sum::<u64>();
        let counts = BTreeMap::from([
            ("answered".to_owned(), sum(|own| own.answered)),
            ("failed".to_owned(), sum(|own| own.failed)),
        ]);
        Answers { counts, by_slice, ..Answers::empty(subject) }
    }

    fn found(of: &[(u64, u64)], against: &[(u64, u64)]) -> Option<(usize, Option<usize>)> {
        let found = pair(&answers(1, of), &answers(0, against), 0.01, 0.05)?;
        Some((found.subject, found.stopped))
    }

    const WELL: [(u64, u64); 7] = [(25, 0); 7];

    #[test]
    fn a_server_that_answers_no_more_has_stopped_whichever_side_it_is() {
        let dies = [(25, 0), (25, 0), (20, 5), (0, 25), (0, 25), (0, 25), (0, 25)];
        assert_eq!(found(&dies, &WELL), Some((1, Some(4))));
        assert_eq!(found(&WELL, &dies), Some((0, Some(4))));
        let at_the_end = [(25, 0), (25, 0), (25, 0), (25, 0), (25, 0), (25, 0), (0, 25)];
        assert_eq!(found(&at_the_end, &WELL), Some((1, Some(7))));
        assert_eq!(found(&[(0, 25); 3], &[(25, 0); 3]), Some((1, Some(1))));
    }

    #[test]
    fn one_pause_or_what_befell_both_is_no_verdict() {
        let comes_back = [(25, 0), (25, 0), (0, 25), (25, 0), (25, 0), (25, 0), (25, 0)];
        assert_eq!(found(&comes_back, &WELL), None);
        let after_long = [(25, 0), (20, 5), (0, 25), (8, 17), (25, 0), (25, 0), (25, 0)];
        assert_eq!(found(&after_long, &WELL), Some((1, None)));
        assert_eq!(found(&WELL, &after_long), Some((0, None)));
        // Each was away for a while, or both at the same time; slow answers of a busy machine do
        // not count as absence.
        let mut another = after_long;
        another.reverse();
        assert_eq!(found(&after_long, &another), None);
        let slow = [(25, 0), (20, 5), (8, 17), (8, 17), (25, 0), (25, 0), (25, 0)];
        assert_eq!(found(&slow, &WELL), None);
        assert_eq!(found(&after_long, &after_long), None);
        let both = [(25, 0), (25, 0), (25, 0), (25, 0), (25, 0), (0, 25), (0, 25)];
        assert_eq!(found(&both, &both), None);
        // Two failed requests of one slice may be chance.
        assert_eq!(found(&[(2, 0), (2, 0), (0, 2)], &[(2, 0); 3]), None);
    }

    /// Like `found`, for slices with more data.
    fn known(of: &[SliceOf], against: &[(u64, u64)]) -> Option<(usize, Option<usize>)> {
        let plain: Vec<(u64, u64)> = of.iter().map(|own| (own.answered, own.failed)).collect();
        let mut own = answers(1, &plain);
        for (slice, more) in own.by_slice.iter_mut().zip(of) {
            *slice = SliceOf { block: slice.block, ..*more };
        }
        let found = pair(&own, &answers(0, against), 0.01, 0.05)?;
        Some((found.subject, found.stopped))
    }

    #[test]
    fn a_pause_that_no_busy_machine_explains_is_an_absence() {
        let well = SliceOf { answered: 25, ..SliceOf::default() };
        let with = |own: SliceOf| known(&[well, well, own, well, well, well, well], &WELL);
        let slice = |answered, failed| SliceOf { answered, failed, ..SliceOf::default() };
        let away = Some((1, None));
        // Requests that were refused, broken off, or answered wrongly.
        assert_eq!(with(SliceOf { broken: 25, ..slice(0, 25) }), away);
        assert_eq!(with(SliceOf { broken: 12, ..slice(10, 15) }), away);
        assert_eq!(with(SliceOf { broken: 8, ..slice(17, 8) }), None);
        // Requests that were never answered, while the generator was on time.
        assert_eq!(with(SliceOf { late_seconds: Some(0.02), ..slice(0, 25) }), away);
        assert_eq!(with(SliceOf { late_seconds: Some(0.9), ..slice(0, 25) }), None);
        assert_eq!(with(SliceOf { late_seconds: Some(0.02), ..slice(8, 17) }), away);
        assert_eq!(with(SliceOf { late_seconds: Some(0.02), ..slice(14, 11) }), None);
        // Unanswered requests, followed by silence.
        let late = SliceOf { silent_seconds: 1.4, ..well };
        let silent = [well, slice(20, 5), late, well, well, well, well];
        assert_eq!(known(&silent, &WELL), away);
        let briefly = [well, slice(20, 5), SliceOf { silent_seconds: 0.3, ..well }, well];
        assert_eq!(known(&briefly, &WELL[..4]), None);
        // Even a few failed requests suffice.
        let hardly = [well, slice(24, 1), late, well, well, well, well];
        assert_eq!(known(&hardly, &WELL), away);
        // The other server fails as well.
        let both = [(25, 0), (20, 5), (25, 0), (25, 0), (25, 0), (25, 0), (25, 0)];
        assert_eq!(known(&silent, &both), None);
        // A negligible share in a long run.
        let mut long = vec![well; 300];
        long[7] = SliceOf { broken: 25, ..slice(0, 25) };
        assert_eq!(known(&long, &[(25, 0); 300]), None);
    }

    #[test]
    fn servers_that_fail_alike_are_rarely_told_apart() {
        let mut stream = Stream::new(49, 0);
        let mut slice = |rate: f64, requests: u64| {
            let failed = (0..requests).filter(|_| stream.uniform() < rate).count() as u64;
            let late_seconds = Some(0.01);
            let answered = requests - failed;
            SliceOf { answered, failed, broken: failed, late_seconds, ..SliceOf::default() }
        };
        for rate in [0.01, 0.05, 0.2, 0.6] {
            for (slices, requests) in [(4, 25), (7, 25), (12, 100), (30, 50)] {
                let mut some = || (0..slices).map(|_| slice(rate, requests)).collect::<Vec<_>>();
                let wrong = (0..400).filter(|_| {
                    let other = some();
                    let other: Vec<(u64, u64)> =
                        other.iter().map(|own| (own.answered, own.failed)).collect();
                    known(&some(), &other).is_some()
                });
                let wrong = wrong.count();
                // 5 % are allowed; chance exceeds 32 in 1 of 300 such tests.
                assert!(wrong <= 32, "{wrong} of 400 at {rate}, {slices} slices of {requests}");
            }
        }
    }

    #[test]
    fn failing_more_in_every_block_is_no_accident_and_a_trifle_does_not_count() {
        assert_eq!(found(&[(90, 10); 7], &[(100, 0); 7]), Some((1, None)));
        assert_eq!(found(&[(100, 0); 7], &[(90, 10); 7]), Some((0, None)));
        assert_eq!(found(&[(90, 10); 4], &[(100, 0); 4]), None);
        assert_eq!(found(&[(999, 1); 7], &[(1000, 0); 7]), None);
        assert_eq!(found(&[(90, 10); 7], &[(90, 10); 7]), None);
    }
}
