//! The values, histograms and counts of a slice. The metrics of a load test are defined and
//! computed only here.

use assay_analysis::policy;
use assay_data::code;
use assay_data::samples::{Buckets, Counts};
use assay_data::source::{OfRow, RowResult};
use assay_data::{Action, Better, Finding, Histogram, Metric, Outcome, Severity, Unit};
use assay_load::{Failure, Second, Tally};
use assay_measure::serving::ServerUsage;
use std::collections::BTreeMap;

/// Median latency, measured from the time at which a request was due.
pub(crate) const LATENCY_MEDIAN: &str = "latency_p50";
/// Fraction of requests that were answered as expected.
pub(crate) const ANSWERED: &str = "answered";
/// Answers per second.
pub(crate) const RATE_ACHIEVED: &str = "rate_achieved";
/// The highest rate that a server sustains.
pub(crate) const CAPACITY: &str = "capacity";

/// Quantiles of latency: suffix of the metric's name, probability, and the minimum number of
/// requests at which the quantile can be distinguished from the maximum.
const QUANTILES: [(&str, f64, u64); 5] = [
    ("p50", 0.5, 1),
    ("p90", 0.9, 10),
    ("p95", 0.95, 20),
    ("p99", 0.99, 100),
    ("p99_9", 0.999, 1000),
];

/// Quantiles of the parts of a request: name of the metric, histogram, probability, and the minimum
/// number of values at which the quantile can be distinguished from the maximum.
type Part = (&'static str, fn(&Tally) -> &Histogram, f64, u64);
const PARTS: [Part; 9] = [
    ("service_p50", |own| &own.service, 0.5, 1),
    ("service_p99", |own| &own.service, 0.99, 100),
    ("connect_p50", |own| &own.connect, 0.5, 1),
    ("tls_p50", |own| &own.tls, 0.5, 1),
    ("first_byte_p50", |own| &own.first_byte, 0.5, 1),
    ("first_byte_p99", |own| &own.first_byte, 0.99, 100),
    ("transfer_p50", |own| &own.transfer, 0.5, 1),
    ("chunk_gap_p50", |own| &own.chunk_gap, 0.5, 1),
    ("chunk_gap_p99", |own| &own.chunk_gap, 0.99, 100),
];

/// Returns the metrics of every slice, in the order of [`values`].
pub(crate) fn metrics() -> Vec<Metric> {
    let seconds = |name: &str| Metric::lower(name, Unit::Second);
    let higher = |name: &str, unit| Metric { better: Better::Higher, ..Metric::lower(name, unit) };
    let mut all: Vec<Metric> =
        QUANTILES.iter().map(|(name, ..)| seconds(&format!("latency_{name}"))).collect();
    all.push(higher(ANSWERED, Unit::One));
    all.push(higher(RATE_ACHIEVED, Unit::PerSecond));
    all.extend(PARTS.map(|(name, ..)| seconds(name)));
    all.push(higher("received", Unit::Other("B/s".to_owned())));
    all.push(seconds("lateness_p99"));
    all.push(seconds("server_cpu"));
    all.push(seconds("server_cpu_per_request"));
    all.push(Metric::lower("server_memory", Unit::Byte));
    all.push(Metric::lower("server_descriptors", Unit::One));
    all
}

/// Returns the values of a slice whose measured part lasted `seconds`. `limit_seconds` is the
/// maximum time to wait for an answer; for a user, a failed request took at least that long.
pub(crate) fn values(
    tally: &Tally,
    seconds: f64,
    limit_seconds: f64,
    used: Option<&ServerUsage>,
) -> Vec<f64> {
    let failed = tally.failures();
    let asked = tally.answered + failed;
    let quantile = |histogram: &Histogram, share, fewest, beyond| match histogram.count() + beyond {
        count if count < fewest => f64::NAN,
        _ => histogram
            .quantile_seconds(share, beyond)
            .unwrap_or_else(|| limit_seconds.max(histogram.longest_seconds())),
    };
    let of = |histogram: &Histogram, share, fewest| quantile(histogram, share, fewest, 0);
    let mut all: Vec<f64> = QUANTILES
        .iter()
        .map(|&(_, share, fewest)| quantile(&tally.latency, share, fewest, failed))
        .collect();
    all.push(if asked == 0 { f64::NAN } else { tally.answered as f64 / asked as f64 });
    all.push(tally.delivered as f64 / seconds);
    all.extend(PARTS.map(|(_, histogram, share, fewest)| of(histogram(tally), share, fewest)));
    all.push(tally.received as f64 / seconds);
    all.push(of(&tally.lateness, 0.99, 1));
    all.push(used.map_or(f64::NAN, |used| used.cpu_seconds));
    let answers = tally.answered_in_all as f64;
    let per_request = |used: &ServerUsage| used.cpu_seconds / answers;
    all.push(used.filter(|_| answers > 0.0).map_or(f64::NAN, per_request));
    all.push(used.and_then(|used| used.memory_bytes).map_or(f64::NAN, |bytes| bytes as f64));
    all.push(used.and_then(|used| used.descriptors).map_or(f64::NAN, |count| count as f64));
    all
}

/// Removes the latency quantiles at which the generator itself was late, and returns their names.
/// The other values of the slice stay valid, because neither the number of answers nor their rate
/// depends on the lateness of the generator. A quantile that represents failures also stays, since
/// lateness does not make requests fail.
///
/// `usual` holds the latencies of all sides at this step in earlier slices; if it is empty, the
/// latencies of this slice are used. The decision must not depend on how fast this particular slice
/// was, or slow slices would be kept more often.
pub(crate) fn without_late(
    tally: &Tally,
    usual: &Histogram,
    values: &mut [f64],
) -> Vec<&'static str> {
    let usual = if usual.count() == 0 { &tally.latency } else { usual };
    let mut taken = Vec::new();
    for (value, &(name, share, _)) in values.iter_mut().zip(&QUANTILES) {
        let late = tally.lateness.quantile_seconds(share, 0).unwrap_or(0.0);
        let usual = usual.quantile_seconds(share, 0).filter(|usual| usual.is_finite());
        let is_late =
            late > policy::LATE_SECONDS && late > policy::LATE_SHARE * usual.unwrap_or(0.0);
        let failed = tally.latency.quantile_seconds(share, tally.failures()).is_none();
        if is_late && !failed && !value.is_nan() {
            *value = f64::NAN;
            taken.push(name);
        }
    }
    taken
}

/// Returns true if the generator was late at any latency quantile.
pub(crate) fn was_late(tally: &Tally, values: &[f64]) -> bool {
    !without_late(tally, &tally.latency, &mut values.to_vec()).is_empty()
}

/// Returns the histogram and the probability of the metric at this index, if the metric is a
/// quantile.
pub(crate) fn quantile_of(metric: usize, tally: &Tally) -> Option<(&Histogram, f64)> {
    let name = &metrics()[metric].name;
    if let Some(&(_, share, _)) = QUANTILES.get(metric) {
        return Some((&tally.latency, share));
    }
    let part = PARTS.iter().find(|(own, ..)| own == name)?;
    Some((part.1(tally), part.2))
}

/// Returns the probability of the metric at this index, if the metric is a quantile of latency.
pub(crate) fn latency_share(metric: usize) -> Option<f64> {
    QUANTILES.get(metric).map(|&(_, share, _)| share)
}

/// Returns the answers per second from the values of a slice.
pub(crate) fn rate_achieved(values: &[f64]) -> f64 {
    let place = metrics().iter().position(|metric| metric.name == RATE_ACHIEVED);
    place.and_then(|at| values.get(at)).copied().unwrap_or(f64::NAN)
}

/// Returns the minimum number of requests for judging the metric at this index: that of the
/// quantile for a latency, and 100 for all other metrics.
pub(crate) fn fewest(metric: usize) -> u64 {
    QUANTILES.get(metric).map_or(100, |&(_, _, fewest)| fewest)
}

/// Returns the minimum number of requests that this metric needs to have a value: 1 unless it is a
/// quantile with at most one value per request.
pub(crate) fn fewest_requests(name: &str) -> u64 {
    let own =
        QUANTILES.iter().find(|(quantile, ..)| name.strip_prefix("latency_") == Some(quantile));
    let of_part = || fewest_values(name).filter(|_| !name.starts_with("chunk_gap"));
    own.map(|own| own.2).or_else(of_part).unwrap_or(1)
}

/// Returns the minimum number of values that a quantile of a part of requests needs; `None` for all
/// other metrics.
pub(crate) fn fewest_values(name: &str) -> Option<u64> {
    PARTS.iter().find(|(part, ..)| *part == name).map(|part| part.3)
}

/// Returns a finding about slices that are too short for the deciding quantile.
pub(crate) fn too_short(message: String, needed: u64) -> Finding {
    let finding = Finding::new(code::SLICES_SHORT, message).at(Severity::Warning);
    finding
        .with("needed", needed as f64)
        .advise(Action::text("make slices longer: --slice, or --requests-per-step"))
}

/// Returns the recorded results of a slice. Before the slice, the server answered nothing for
/// `silent_seconds`.
pub(crate) fn row(tally: &Tally, values: Vec<f64>, silent_seconds: f64) -> RowResult {
    let timed = [
        ("latency", &tally.latency),
        ("service", &tally.service),
        ("lateness", &tally.lateness),
        ("connect", &tally.connect),
        ("tls", &tally.tls),
        ("first_byte", &tally.first_byte),
        ("chunk_gap", &tally.chunk_gap),
    ];
    let whole = timed.iter().filter(|(_, histogram)| histogram.count() > 0);
    let mut histograms: Vec<Buckets> = whole
        .map(|(of, histogram)| Buckets {
            of: (*of).to_owned(),
            v2: histogram.encoded(),
            ..Buckets::default()
        })
        .collect();
    let mut whole = counted(tally);
    let silent = (silent_seconds * 1e3).round();
    if silent >= 1.0 {
        whole.insert("silent_ms".to_owned(), silent as u64);
    }
    let mut counts = vec![Counts { counts: whole, ..Counts::default() }];
    for (number, second) in tally.seconds.iter().enumerate() {
        let number = Some(number as u32);
        if !second.latency.is_empty() {
            histograms.push(Buckets {
                of: "latency".to_owned(),
                second: number,
                v2: second.latency.clone(),
                ..Buckets::default()
            });
        }
        let in_it = in_second(second);
        if !in_it.is_empty() {
            counts.push(Counts { second: number, counts: in_it, ..Counts::default() });
        }
    }
    RowResult {
        row: OfRow::Known(0),
        values,
        histograms,
        counts,
        ended: Outcome::Ok,
        ..RowResult::default()
    }
}

/// Returns the latencies and counts of a search at one rate, from the slice that began `from`
/// seconds after the start of the search. The counts include whether the rate was sustained.
pub(crate) fn tried(rate: f64, from: f64, tally: &Tally, is_held: bool) -> (Buckets, Counts) {
    let counts = [
        ("due", tally.due),
        ("answered", tally.answered),
        ("failed", tally.failures()),
        ("held", u64::from(is_held)),
    ];
    let counts = counts.map(|(name, count)| (name.to_owned(), count)).into();
    let (rate, of, v2) = (Some(rate), "latency".to_owned(), tally.latency.encoded());
    let from = Some(from);
    (
        Buckets { rate, from, of, v2, ..Buckets::default() },
        Counts { rate, counts, ..Counts::default() },
    )
}

/// Returns the number of requests that ended in one second, by outcome. Zeros are left out.
fn in_second(second: &Second) -> BTreeMap<String, u64> {
    let kinds = Failure::ALL.iter().zip(second.failed);
    let kinds = kinds.map(|(kind, count)| (format!("failed.{}", kind.name()), count));
    [("answered", second.answered), ("failed", second.failed.iter().sum())]
        .into_iter()
        .map(|(name, count)| (name.to_owned(), count))
        .chain(kinds)
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// Returns the counts of a slice by name. Zeros are left out unless they are meaningful.
fn counted(tally: &Tally) -> BTreeMap<String, u64> {
    let c = &tally.connections;
    let mut all: BTreeMap<String, u64> =
        [("due", tally.due), ("answered", tally.answered), ("failed", tally.failures())]
            .into_iter()
            .map(|(name, count)| (name.to_owned(), count))
            .collect();
    let some = [
        ("delivered", tally.delivered),
        ("unknown", tally.unknown),
        ("redirected", tally.redirected),
        ("received_bytes", tally.received),
        ("sent", tally.sent),
        ("connections", c.opened),
        ("closed_by_server", c.closed_by_server),
        ("stray", c.stray),
        ("full_handshakes", c.full_handshakes),
        ("resumed_handshakes", c.resumed_handshakes),
        ("lost_idle", c.lost_idle),
        ("most_open", c.most_open),
        ("most_in_flight", c.most_in_flight),
    ];
    let failed = Failure::ALL.map(|failure| (failure.name(), tally.failed_as(failure)));
    let mut add = |name: String, count: u64| {
        if count > 0 {
            all.insert(name, count);
        }
    };
    some.into_iter().for_each(|(name, count)| add(name.to_owned(), count));
    failed.into_iter().for_each(|(name, count)| add(format!("failed.{name}"), count));
    tally.statuses.iter().for_each(|(status, count)| add(format!("status.{status}"), *count));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(answered: u64, timeouts: u64) -> Tally {
        let mut tally = Tally { due: answered + timeouts, answered, ..Tally::default() };
        (1..=answered).for_each(|i| tally.latency.record(i * 1_000_000));
        tally.failed[Failure::Timeout as usize] = timeouts;
        tally
    }

    #[test]
    fn every_metric_has_a_value_and_failures_are_beyond_all_answers() {
        let found = values(&tally(990, 10), 10.0, 30.0, None);
        assert_eq!(found.len(), metrics().len());
        let of = |name: &str| found[metrics().iter().position(|m| m.name == name).expect("there")];
        assert!((of("latency_p50") - 0.5).abs() < 1e-3);
        assert!((of("latency_p99") - 0.99).abs() < 2e-3);
        // One in a thousand was not answered within the limit.
        assert_eq!(of("latency_p99_9"), 30.0);
        assert_eq!(of(ANSWERED), 0.99);
    }

    #[test]
    fn what_is_late_is_told_by_what_is_usual_not_by_the_slice_itself() {
        let late_of = |late_ms: u64, usual_ms: u64| {
            let mut own = tally(200, 0);
            (0..200).for_each(|_| own.lateness.record(late_ms * 1_000_000));
            let mut usual = Histogram::default();
            (0..50).for_each(|_| usual.record(usual_ms * 1_000_000));
            let mut found = values(&own, 1.0, 30.0, None);
            (without_late(&own, &usual, &mut found).len(), found[0].is_nan())
        };
        assert_eq!(late_of(3, 1), (4, true));
        assert_eq!(late_of(3, 100), (0, false));
        assert_eq!(late_of(0, 1), (0, false));
        // Before the first slice there is no usual latency; its own median is 100 ms.
        let mut first = tally(200, 0);
        (0..200).for_each(|_| first.lateness.record(3_000_000));
        let mut found = values(&first, 1.0, 30.0, None);
        assert!(without_late(&first, &Histogram::default(), &mut found).is_empty());
    }

    #[test]
    fn no_lateness_takes_failures_away() {
        let mut own = tally(30, 170);
        (0..200).for_each(|_| own.lateness.record(3_000_000));
        let mut found = values(&own, 1.0, 30.0, None);
        let mut usual = Histogram::default();
        usual.record(1_000_000);
        assert_eq!(without_late(&own, &usual, &mut found), Vec::<&str>::new());
        assert_eq!(found[0], 30.0);
        // The generator may have delayed the quantiles of answered requests, but not those of
        // failures.
        let mut own = tally(180, 20);
        (0..200).for_each(|_| own.lateness.record(3_000_000));
        let mut found = values(&own, 1.0, 30.0, None);
        assert_eq!(without_late(&own, &usual, &mut found), ["p50", "p90"]);
        assert!(found[0].is_nan() && found[2] == 30.0, "{found:?}");
    }

    #[test]
    fn processor_time_is_shared_out_among_all_answers() {
        let own = Tally { answered_in_all: 120, ..tally(100, 0) };
        let used = ServerUsage { cpu_seconds: 0.6, memory_bytes: None, descriptors: None };
        let found = values(&own, 1.0, 30.0, Some(&used));
        let place = metrics().iter().position(|m| m.name == "server_cpu_per_request");
        assert_eq!(place.map(|at| found[at]), Some(0.005));
    }

    #[test]
    fn few_requests_have_no_far_quantiles() {
        let found = values(&tally(50, 0), 1.0, 30.0, None);
        let names: Vec<String> = metrics().into_iter().map(|m| m.name).collect();
        let known =
            |name: &str| !found[names.iter().position(|n| n == name).expect("there")].is_nan();
        assert!(known("latency_p95") && !known("latency_p99") && !known("latency_p99_9"));
    }
}
