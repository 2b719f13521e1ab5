//! Names of metrics, and the wording of differences in them.
//!
//! Metrics with special wording have an entry here and nowhere else.

use assay_data::{Better, Metric, Unit};

/// Returns the display name of a metric, such as `peak memory` for `max_rss`.
pub(crate) fn label(metric: &Metric) -> String {
    match metric.name.as_str() {
        "max_rss" => "peak memory".to_owned(),
        "cpu_per_wall" => "CPU/wall".to_owned(),
        // The full name would be truncated in headings.
        "valgrind_instructions/iteration" => "sim. instr./iter.".to_owned(),
        "latency_p50" => "median latency".to_owned(),
        "service_p50" => "median service time".to_owned(),
        "answered" => "share answered".to_owned(),
        "rate_achieved" => "achieved rate".to_owned(),
        "server_cpu" => "server CPU".to_owned(),
        "server_cpu_per_request" => "server CPU/request".to_owned(),
        name => quantile(name).unwrap_or_else(|| name.replace('_', " ")),
    }
}

/// Converts `latency_p99_9` to `p99.9 latency`.
fn quantile(name: &str) -> Option<String> {
    let (what, share) = name.rsplit_once("_p")?;
    let share = share.replacen('_', ".", 1);
    let is_number = share.parse::<f64>().is_ok();
    let what = what.replace('_', " ");
    is_number.then(|| match (share.as_str(), what.as_str()) {
        ("50", "tls") => "median TLS handshake time".to_owned(),
        ("50", "connect") => "median connection time".to_owned(),
        ("50", "chunk gap") => "median chunk gap".to_owned(),
        ("50", what) => format!("median {what} time"),
        (share, "first byte") => format!("p{share} first byte time"),
        (share, what) => format!("p{share} {what}"),
    })
}

/// Prefixes of the names of metrics that are time spans within requests.
const OF_REQUESTS: [&str; 4] = ["latency_p", "service_p", "first_byte_p", "chunk_gap_p"];
/// Suffixes of names that already denote a time span.
const SPANS: [&str; 7] = ["time", "latency", "service", "duration", "delay", "wait", "value"];
/// Suffixes of names that already denote a rate.
const RATES: [&str; 6] = ["rate", "capacity", "throughput", "speed", "per second", "bandwidth"];

/// The wording of differences in a metric, such as "takes … less time than" and "takes 4.0 × as
/// long as".
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wording {
    /// The verb, such as `takes` or `has`.
    pub verb: &'static str,
    /// The quantity, preceded by a space, such as ` time`; empty if the noun precedes the amount.
    pub noun: String,
    /// The noun in the wording "4.0 × the … of".
    pub whole: String,
    /// `less`, `fewer`, `lower` or `shorter`.
    pub less: &'static str,
    /// `more`, `higher` or `longer`.
    pub more: &'static str,
    /// True for a time that a user waits for. The wording is then "as fast as", and subjects are
    /// faster or slower.
    pub is_time: bool,
    /// True if the sentence has the form "has a value 4 % lower".
    pub noun_first: bool,
}

/// Returns the wording of differences in a metric.
pub(crate) fn wording(metric: &Metric) -> Wording {
    let amount = |verb, noun: &str, whole: &str| Wording {
        verb,
        noun: format!(" {noun}"),
        whole: whole.to_owned(),
        less: "less",
        more: "more",
        is_time: false,
        noun_first: false,
    };
    // "has a value 4 % lower"
    let valued = |whole: &str| Wording {
        verb: "has",
        noun: String::new(),
        less: "lower",
        more: "higher",
        noun_first: true,
        ..amount("has", "", whole)
    };
    let name = label(metric);
    let ends_in = |ends: &[&str]| ends.iter().any(|end| name.to_lowercase().ends_with(end));
    match (metric.name.as_str(), &metric.unit, metric.better) {
        ("wall", ..) | ("value", Unit::Second, _) => {
            Wording { is_time: true, ..amount("takes", "time", "time") }
        }
        ("cpu", ..) => amount("uses", "CPU time", "CPU time"),
        ("user", Unit::Second, _) => amount("uses", "user CPU time", "user CPU time"),
        ("system", Unit::Second, _) => amount("uses", "system CPU time", "system CPU time"),
        ("valgrind_instructions" | "valgrind_instructions/iteration", ..) => {
            let what = "simulated instructions";
            Wording { less: "fewer", ..amount("takes", what, what) }
        }
        ("max_rss", ..) => amount("needs", "memory at its peak", "peak memory"),
        ("server_cpu", ..) => amount("uses", "server CPU time", "server CPU time"),
        ("server_cpu_per_request", ..) => {
            let what = "server CPU time per request";
            amount("uses", what, what)
        }
        ("capacity", Unit::PerSecond, _) => {
            Wording { less: "fewer", ..amount("sustains", "requests per second", "rate") }
        }
        ("server_memory", ..) => amount("needs", "server memory", "server memory"),
        // Latencies seen by the client are shorter or longer.
        (name_of, Unit::Second, _) if OF_REQUESTS.iter().any(|own| name_of.starts_with(own)) => {
            Wording { less: "shorter", more: "longer", ..valued(&name) }
        }
        // The seconds of a named part: "takes 4 % less inner time". Names that already denote a
        // time span are used alone.
        (_, Unit::Second, Better::Lower) if !ends_in(&SPANS) => {
            amount("takes", &format!("{name} time"), &format!("{name} time"))
        }
        // Plural names are treated as counts: "has 13 fewer page faults".
        (_, Unit::One, _) if name.ends_with('s') => {
            Wording { less: "fewer", ..amount("has", &name, &name) }
        }
        (_, Unit::PerSecond, _) if name.ends_with('s') => {
            let whole = format!("{name} per second");
            Wording { less: "fewer", ..amount("has", &whole, &whole) }
        }
        (_, Unit::PerSecond, Better::Higher) if !ends_in(&RATES) => valued(&format!("{name} rate")),
        (_, Unit::PerSecond, Better::Higher) => amount("has", &name, &name),
        _ => valued(&name),
    }
}

/// Returns `a` or `an`, according to the pronunciation of a word or number that begins with
/// `before`.
pub(crate) fn article(before: &str) -> &'static str {
    let whole: String = before.chars().take_while(char::is_ascii_digit).collect();
    let vowel = before.chars().next().is_some_and(|c| "aeioAEIO8".contains(c));
    if vowel || whole == "11" || whole == "18" { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_follow_the_spoken_word() {
        assert_eq!(
            ["8.2", "11", "18.0", "1.1", "80", "4", "value", "error"].map(article),
            ["an", "an", "an", "a", "an", "a", "a", "an"]
        );
    }
}
