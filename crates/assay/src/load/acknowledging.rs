//! Detects answers that wait for a delayed acknowledgement. The server sends an answer in several
//! writes, Nagle's algorithm holds back the second one until the first is acknowledged, and the
//! receiving kernel acknowledges it only after 40 ms (Linux's `TCP_DELACK_MIN`).

use assay_data::{Action, Finding, Histogram, code};
use assay_report::number;

/// Range of times, in seconds, from the first to the last byte of an answer that waits for a
/// delayed acknowledgement. The timer expires at a tick of the kernel, which comes up to 10 ms
/// later.
const DELAYED: [f64; 2] = [0.0385, 0.05];
/// Wider range around [`DELAYED`], in seconds. The times of a server that is slow for another
/// reason spread over it.
const AROUND: [f64; 2] = [0.02, 0.1];
/// Minimum share of delayed answers that is reported.
const LEAST_SHARE: f64 = 0.05;
/// Minimum number of delayed answers that is reported.
const LEAST_ANSWERS: u64 = 20;
/// Maximum number of other answers within [`AROUND`], as a share of the delayed ones.
const MOST_AROUND: f64 = 0.1;

/// Returns the finding about a server whose answers wait for acknowledgements, given the times
/// between the first and last byte of its answers.
pub(super) fn finding(name: &str, transfer: &Histogram) -> Option<Finding> {
    let recorded = transfer.recorded();
    let between = |[from, to]: [f64; 2]| -> u64 {
        let within = recorded.iter().filter(|(seconds, _)| (from..=to).contains(seconds));
        within.map(|(_, count)| count).sum()
    };
    let delayed = between(DELAYED);
    let around = between(AROUND) - delayed;
    let share = delayed as f64 / transfer.count().max(1) as f64;
    let is_marked = delayed >= LEAST_ANSWERS
        && share >= LEAST_SHARE
        && around as f64 <= MOST_AROUND * delayed as f64;
    is_marked.then(|| {
        let message = format!(
            "{name}: {} of the answers ended about 40 ms after they began: the server writes an answer in parts, and each waits for the acknowledgement of the previous one, which the receiver delays (Nagle's algorithm)",
            number::percent(share)
        );
        Finding::new(code::MULTIMODAL, message)
            .about(name)
            .with("delayed", delayed as f64)
            .with("answers", transfer.count() as f64)
            .advise(Action::text(
                "let the server write each answer as a whole, or set TCP_NODELAY on its connections",
            ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(times: &[(u64, u64)]) -> bool {
        let mut histogram = Histogram::default();
        for &(milliseconds, count) in times {
            (0..count).for_each(|_| histogram.record(milliseconds * 1_000_000));
        }
        finding("a", &histogram).is_some()
    }

    #[test]
    fn a_cluster_at_the_timer_of_acknowledgements_is_explained() {
        assert!(found(&[(43, 300)]) && found(&[(0, 900), (41, 60), (44, 30)]));
        // Few answers, a share that does not matter, other causes, and a wide distribution.
        assert!(!found(&[(43, 10)]) && !found(&[(0, 9000), (43, 60)]));
        assert!(!found(&[(80, 300)]) && !found(&[(0, 300)]));
        assert!(!found(&[(25, 100), (35, 100), (43, 100), (60, 100)]));
    }
}
