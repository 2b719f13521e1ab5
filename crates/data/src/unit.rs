//! Base units for internal use, scaled units for people, and quantities typed by people.
//!
//! Files and computations use base units (second, byte, 1). Only the printer scales values.

use crate::number::plain;
use serde::{Deserialize, Serialize};

/// A base unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Unit {
    /// Seconds.
    Second,
    /// Bytes.
    Byte,
    /// A plain number or a count.
    #[default]
    One,
    /// Per second.
    PerSecond,
    /// Any other unit, by its symbol. Never scaled, except `B/s`.
    Other(String),
}

impl From<String> for Unit {
    fn from(symbol: String) -> Self {
        match symbol.as_str() {
            "s" => Self::Second,
            "B" => Self::Byte,
            "1" | "" => Self::One,
            "1/s" => Self::PerSecond,
            _ => Self::Other(symbol),
        }
    }
}

impl From<Unit> for String {
    fn from(unit: Unit) -> Self {
        unit.symbol().to_owned()
    }
}

/// A multiple of a base unit, with the symbol that people read and type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Symbol, such as `ms`. Empty for unscaled plain numbers and for units that are never scaled.
    pub symbol: &'static str,
    /// Number of base units in one of this multiple.
    pub factor: f64,
}

const SECONDS: [Scale; 4] = [
    Scale { symbol: "ns", factor: 1e-9 },
    Scale { symbol: "µs", factor: 1e-6 },
    Scale { symbol: "ms", factor: 1e-3 },
    Scale { symbol: "s", factor: 1.0 },
];
const BYTES: [Scale; 5] = [
    Scale { symbol: "B", factor: 1.0 },
    Scale { symbol: "KiB", factor: 1024.0 },
    Scale { symbol: "MiB", factor: 1_048_576.0 },
    Scale { symbol: "GiB", factor: 1_073_741_824.0 },
    Scale { symbol: "TiB", factor: 1_099_511_627_776.0 },
];
const ONES: [Scale; 4] = [
    Scale { symbol: "", factor: 1.0 },
    Scale { symbol: "k", factor: 1e3 },
    Scale { symbol: "M", factor: 1e6 },
    Scale { symbol: "G", factor: 1e9 },
];
const PER_SECOND: [Scale; 3] = [
    Scale { symbol: "/s", factor: 1.0 },
    Scale { symbol: "k/s", factor: 1e3 },
    Scale { symbol: "M/s", factor: 1e6 },
];

const BYTES_PER_SECOND: [Scale; 4] = [
    Scale { symbol: "B/s", factor: 1.0 },
    Scale { symbol: "KiB/s", factor: 1024.0 },
    Scale { symbol: "MiB/s", factor: 1_048_576.0 },
    Scale { symbol: "GiB/s", factor: 1_073_741_824.0 },
];

impl Unit {
    /// Returns the symbol used in files: `s`, `B`, `1`, `1/s`.
    pub fn symbol(&self) -> &str {
        match self {
            Self::Second => "s",
            Self::Byte => "B",
            Self::One => "1",
            Self::PerSecond => "1/s",
            Self::Other(symbol) => symbol,
        }
    }

    /// Returns the scale in which a value of this size is easiest to read, which is the largest one
    /// that leaves at least one whole unit. Plain numbers below ten thousand are not scaled. Other
    /// units are never scaled, except bytes per second.
    pub fn scale_for(&self, value: f64) -> Scale {
        let magnitude = value.abs();
        let table: &[Scale] = match self {
            Self::Second => &SECONDS,
            Self::Byte => &BYTES,
            // No prefix helps beyond a million G.
            Self::One if !(10_000.0..1e15).contains(&magnitude) => &ONES[..1],
            Self::One => &ONES,
            Self::PerSecond => &PER_SECOND,
            Self::Other(symbol) if symbol == "B/s" => &BYTES_PER_SECOND,
            Self::Other(_) => return Scale { symbol: "", factor: 1.0 },
        };
        // 999.96 ms would be printed as 1000.0 ms. Such a value is easier to read in the next
        // scale.
        let fits = |scale: &&Scale| magnitude >= scale.factor * 0.99995;
        *table.iter().rev().find(fits).unwrap_or(&table[0])
    }
}

/// A number with a unit, as typed: `6.667us`, `64KiB`, `1%`.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// A fraction, which was typed as a percentage.
    Fraction(f64),
    /// An amount, converted to the base unit.
    Amount(f64, Unit),
    /// A number without a unit.
    Bare(f64),
}

/// Reasons why a typed quantity could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text does not begin with a finite number.
    #[error("`{0}` does not begin with a number; write it like `250ms`, `64KiB` or `1%`")]
    NotANumber(String),
    /// The unit is not a known unit.
    #[error(
        "`{unit}` in `{text}` is not a unit that is known here; known are ns, us, ms, s, min, h, B, KiB, MiB, GiB, kB, MB, GB, /s, units (of numbers that have none) and %"
    )]
    UnknownUnit {
        /// The text as typed.
        text: String,
        /// The part that was not recognized.
        unit: String,
    },
}

/// A unit of time or memory: its names, and its size in base units.
struct UnitEntry {
    symbols: &'static [&'static str],
    factor: f64,
    unit: Unit,
}

const fn time(factor: f64, symbols: &'static [&'static str]) -> UnitEntry {
    UnitEntry { symbols, factor, unit: Unit::Second }
}

const fn memory(factor: f64, symbols: &'static [&'static str]) -> UnitEntry {
    UnitEntry { symbols, factor, unit: Unit::Byte }
}

/// All units of time and memory that can be parsed.
static UNITS: [UnitEntry; 18] = [
    time(1e-12, &["ps", "psec", "psecs", "picosecond", "picoseconds"]),
    time(1e-9, &["ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"]),
    time(1e-6, &["us", "µs", "μs", "usec", "usecs", "micros", "microsecond", "microseconds"]),
    time(1e-3, &["ms", "msec", "msecs", "millis", "millisecond", "milliseconds"]),
    time(1.0, &["s", "sec", "secs", "second", "seconds"]),
    time(60.0, &["m", "min", "mins", "minute", "minutes"]),
    time(3600.0, &["h", "hr", "hrs", "hour", "hours"]),
    time(86_400.0, &["day", "days"]),
    time(604_800.0, &["week", "weeks"]),
    memory(1.0, &["B", "byte", "bytes"]),
    memory(1e3, &["kB", "KB"]),
    memory(1e6, &["MB"]),
    memory(1e9, &["GB"]),
    memory(1e12, &["TB"]),
    memory(1024.0, &["KiB"]),
    memory(1_048_576.0, &["MiB"]),
    memory(1_073_741_824.0, &["GiB"]),
    memory(1_099_511_627_776.0, &["TiB"]),
];

/// Names for one iteration, so that `ops/s` and `iter/ms` are plain rates.
const WORK: [&str; 10] =
    ["", "1", "op", "ops", "iter", "iters", "iteration", "iterations", "run", "runs"];

/// Names of rates, in lower case. A prefix from [`MULTIPLES`] may precede them.
const RATES: [&str; 10] = ["hz", "fps", "rps", "qps", "tps", "pps", "ips", "iops", "bps", "flops"];

/// Prefixes of rates, in lower case.
const MULTIPLES: [&str; 9] = ["", "k", "m", "g", "t", "ki", "mi", "gi", "ti"];

/// Costs: less is better, both in total and per item.
const COSTS: [&str; 8] = [
    "cycle",
    "cycles",
    "instruction",
    "instructions",
    "alloc",
    "allocs",
    "allocation",
    "allocations",
];

/// Events of which fewer are better, both in total and per anything except a processor cycle.
const TROUBLES: [&str; 10] = [
    "fault", "faults", "miss", "misses", "error", "errors", "failure", "failures", "timeout",
    "timeouts",
];

/// Units of energy and power. They are costs, so less of them is better, and more of anything per
/// unit is better.
const ENERGY: [&str; 12] =
    ["J", "kJ", "mJ", "uJ", "µJ", "joule", "joules", "W", "mW", "watt", "Wh", "kWh"];

/// Minimum length of a word that means a time even in capital letters: `SEC`, but not `S`.
const SHORTEST_WORD: usize = 3;

/// Returns the factor to the base unit, and the base unit, for the symbol of a unit of time or
/// memory, such as `us`, `µs`, `min` or `MB`.
pub fn unit_of_symbol(symbol: &str) -> Option<(f64, Unit)> {
    let is_named = |entry: &&UnitEntry| entry.symbols.contains(&symbol);
    let entry = UNITS.iter().find(is_named).or_else(|| time_in_capitals(symbol))?;
    Some((entry.factor, entry.unit.clone()))
}

/// Returns the unit of time that a word such as `SEC` or `Seconds` means. Units of memory are not
/// matched this way because some of their symbols differ only in case.
fn time_in_capitals(word: &str) -> Option<&'static UnitEntry> {
    let word = Some(word).filter(|word| word.len() >= SHORTEST_WORD)?.to_lowercase();
    let is_named =
        |entry: &&UnitEntry| entry.unit == Unit::Second && entry.symbols.contains(&word.as_str());
    UNITS.iter().find(is_named)
}

/// Splits a compound unit into its numerator and denominators. `ops/ms`, `ops per ms`, `ops_per_ms`
/// and `ops·ms^-1` are the same unit.
fn fraction(symbol: &str) -> (&str, Vec<&str>) {
    let parts = symbol.split('/').flat_map(|part| part.split(" per "));
    let mut parts = parts.flat_map(|part| part.split("_per_")).map(str::trim);
    let above = parts.next().unwrap_or_default();
    let mut below: Vec<&str> = parts.collect();
    if let Some(own) = above.strip_prefix("per ") {
        below.push(own);
        return ("", below);
    }
    let inverted = above.strip_suffix("^-1").or_else(|| above.strip_suffix("⁻¹"));
    let Some(inverted) = inverted else { return (above, below) };
    let (above, own) = inverted.rsplit_once([' ', '*', '·']).unwrap_or(("", inverted));
    below.push(own);
    (above, below)
}

/// Returns the factor from a rate of iterations (`ops/ms`, `iter/min`) to iterations per second.
pub(crate) fn rate_of_symbol(symbol: &str) -> Option<f64> {
    let (work, below) = fraction(symbol);
    let &[time] = below.as_slice() else { return None };
    let (seconds, unit) = unit_of_symbol(time)?;
    let is_rate = WORK.contains(&work) && unit == Unit::Second;
    // For units of less than a second, the factor is a whole number, so that conversion rounds only
    // once.
    let factor = if seconds < 1.0 { (1.0 / seconds).round() } else { 1.0 / seconds };
    is_rate.then_some(factor)
}

/// Returns the direction in which values in this unit improve, according to its dimension: less
/// time and memory is better, in total and per item, and more of most things per time is better.
/// `None` for plain numbers and unknown units.
pub fn direction(unit: &Unit) -> Option<Better> {
    match unit {
        Unit::Second | Unit::Byte => Some(Better::Lower),
        Unit::PerSecond => Some(Better::Higher),
        Unit::One => None,
        Unit::Other(symbol) => direction_of_symbol(symbol),
    }
}

/// Returns the direction of improvement implied by a unit's symbol, or by a name that is a unit:
/// `fps`, `cache-misses`.
pub(crate) fn direction_of_symbol(symbol: &str) -> Option<Better> {
    let is_time = |word: &str| matches!(unit_of_symbol(word), Some((_, Unit::Second)));
    let (above, below) = fraction(symbol);
    // A name may precede the unit: `p50-ns/op`.
    let last = above.rsplit(['-', ' ']).next().unwrap_or(above);
    let is_trouble = TROUBLES.contains(&last.to_lowercase().as_str());
    if is_trouble && !below.iter().any(is_cycle) {
        return Some(Better::Lower);
    }
    if below.iter().any(|word| is_time(word)) {
        // A share of the time, such as `ms/s`, may be that of useful work or that of a pause.
        return (!is_time(last)).then_some(Better::Higher);
    }
    if is_rate(above) {
        return Some(Better::Higher);
    }
    let is_word_of_cost = |word: &str| COSTS.contains(&word.to_lowercase().as_str());
    // A processor's cycle is like a unit of time: more work or bytes per cycle are better, but not
    // more misses.
    if below.iter().any(is_cycle) {
        let is_work = !is_word_of_cost(last) || last.to_lowercase().starts_with("instruction");
        return (is_work && !is_trouble).then_some(Better::Higher);
    }
    if below.iter().any(|word| ENERGY.contains(word)) {
        return Some(Better::Higher);
    }
    let is_cost = |word: &str| {
        unit_of_symbol(word).is_some() || ENERGY.contains(&word) || is_word_of_cost(word)
    };
    let cost = if below.is_empty() && !is_word_of_cost(last) { above } else { last };
    is_cost(cost).then_some(Better::Lower)
}

fn is_cycle(word: &&str) -> bool {
    matches!(word.to_lowercase().as_str(), "cycle" | "cycles")
}

/// Returns true for the name of a rate: `fps`, `GFLOPS`, `MiBps`.
fn is_rate(name: &str) -> bool {
    let name = name.to_lowercase();
    RATES.iter().filter_map(|rate| name.strip_suffix(rate)).any(|rest| MULTIPLES.contains(&rest))
}

/// Parses a quantity as people type it. Spaces between the number and the unit are allowed.
///
/// # Errors
///
/// Returns an error if the text does not begin with a finite number, or if the unit is unknown.
pub fn parse_quantity(text: &str) -> Result<Quantity, QuantityError> {
    let trimmed = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
    let mut end = trimmed.find(|c: char| !is_number(c)).unwrap_or(trimmed.len());
    // An exponent belongs to the number only if digits follow it.
    let rest = &trimmed.as_bytes()[end..];
    if matches!(rest.first(), Some(b'e' | b'E')) {
        let signed = usize::from(matches!(rest.get(1), Some(b'+' | b'-')));
        let digits = rest[1 + signed..].iter().take_while(|b| b.is_ascii_digit()).count();
        if digits > 0 {
            end += 1 + signed + digits;
        }
    }
    let not_a_number = || QuantityError::NotANumber(text.to_owned());
    let number = plain(&trimmed[..end]).ok_or_else(not_a_number)?;
    if !number.is_finite() {
        return Err(not_a_number());
    }
    match trimmed[end..].trim() {
        "" => Ok(Quantity::Bare(number)),
        "%" => Ok(Quantity::Fraction(number / 100.0)),
        // Users type this where a bare number might be taken for a percentage.
        "unit" | "units" => Ok(Quantity::Amount(number, Unit::One)),
        "/s" => Ok(Quantity::Amount(number, Unit::PerSecond)),
        symbol => unit_of_symbol(symbol)
            .map(|(factor, unit)| Quantity::Amount(number * factor, unit))
            .ok_or_else(|| QuantityError::UnknownUnit {
                text: text.to_owned(),
                unit: symbol.to_owned(),
            }),
    }
}

/// The direction in which a metric improves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Less is better, as for time and memory.
    #[default]
    Lower,
    /// More is better, as for requests per second.
    Higher,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_people_type_them() {
        assert_eq!(parse_quantity("250ms"), Ok(Quantity::Amount(0.25, Unit::Second)));
        assert_eq!(parse_quantity(" 64 KiB"), Ok(Quantity::Amount(65536.0, Unit::Byte)));
        assert_eq!(parse_quantity("2%"), Ok(Quantity::Fraction(0.02)));
        assert_eq!(parse_quantity("1e-3s"), Ok(Quantity::Amount(1e-3, Unit::Second)));
        assert_eq!(parse_quantity("12"), Ok(Quantity::Bare(12.0)));
        assert_eq!(parse_quantity("2units"), Ok(Quantity::Amount(2.0, Unit::One)));
        assert_eq!(parse_quantity("40 /s"), Ok(Quantity::Amount(40.0, Unit::PerSecond)));
        assert!(matches!(parse_quantity("fast"), Err(QuantityError::NotANumber(_))));
        assert!(matches!(parse_quantity("3 parsec"), Err(QuantityError::UnknownUnit { .. })));
        assert!(parse_quantity("1e999").is_err());
    }

    #[test]
    fn a_value_is_shown_in_the_scale_that_leaves_a_whole_unit() {
        assert_eq!(Unit::Second.scale_for(0.0025).symbol, "ms");
        assert_eq!(Unit::Second.scale_for(0.999_96).symbol, "s");
        assert_eq!(Unit::Second.scale_for(0.0).symbol, "ns");
        assert_eq!(Unit::Byte.scale_for(1e6).symbol, "KiB");
        assert_eq!(Unit::One.scale_for(9_999.0).symbol, "");
        assert_eq!(Unit::One.scale_for(12_345.0).symbol, "k");
    }

    #[test]
    fn anything_per_time_is_better_when_larger_and_time_per_thing_when_smaller() {
        let times = UNITS.iter().filter(|entry| entry.unit == Unit::Second);
        for time in times.flat_map(|entry| entry.symbols) {
            for thing in ["op", "ops", "req", "requests", "MB", "rows", "widgets", "KiB"] {
                let of = |symbol: String| direction(&Unit::from(symbol));
                assert_eq!(of(format!("{thing}/{time}")), Some(Better::Higher), "{thing}/{time}");
                assert_eq!(of(format!("{time}/{thing}")), Some(Better::Lower), "{time}/{thing}");
            }
        }
        for (symbol, better) in [
            ("B/op", Some(Better::Lower)),
            ("cycles", Some(Better::Lower)),
            ("cycles/iter", Some(Better::Lower)),
            ("p50-ns/op", Some(Better::Lower)),
            ("MHz", Some(Better::Higher)),
            ("QPS", Some(Better::Higher)),
            ("J", Some(Better::Lower)),
            ("requests per second", Some(Better::Higher)),
            ("ms per frame", Some(Better::Lower)),
            ("s^-1", Some(Better::Higher)),
            ("req·s⁻¹", Some(Better::Higher)),
            ("ops/s/thread", Some(Better::Higher)),
            ("GFLOPS/W", Some(Better::Higher)),
            ("ns/op/thread", Some(Better::Lower)),
            ("MIPS", Some(Better::Higher)),
            ("GiBps", Some(Better::Higher)),
            ("Mpps", Some(Better::Higher)),
            ("bytes/cycle", Some(Better::Higher)),
            ("instructions per cycle", Some(Better::Higher)),
            ("cycles/byte", Some(Better::Lower)),
            ("MB/SEC", Some(Better::Higher)),
            ("Ops/Second", Some(Better::Higher)),
            ("ops/mins", Some(Better::Higher)),
            ("kB/msecs", Some(Better::Higher)),
            ("ops/week", Some(Better::Higher)),
            ("per second", Some(Better::Higher)),
            ("ops_per_sec", Some(Better::Higher)),
            ("ns_per_op", Some(Better::Lower)),
            ("MB/J", Some(Better::Higher)),
            ("ops/kWh", Some(Better::Higher)),
            ("Seconds", Some(Better::Lower)),
            ("uJ/op", Some(Better::Lower)),
            ("cache-misses", Some(Better::Lower)),
            ("page-faults/s", Some(Better::Lower)),
            ("errors/min", Some(Better::Lower)),
            ("CYCLES", Some(Better::Lower)),
            ("ms/s", None),
            ("Kb", None),
            ("hits", None),
            ("misses/cycle", None),
            ("Misses/Cycle", None),
            ("cycles/cycle", None),
            ("steps", None),
            ("points per game", None),
            ("furlong", None),
            ("points/game", None),
            ("%", None),
            ("score", None),
            ("1", None),
        ] {
            assert_eq!(direction(&Unit::from(symbol.to_owned())), better, "{symbol}");
        }
    }

    #[test]
    fn rates_of_work_come_in_a_second() {
        for (symbol, factor) in [
            ("ops/ms", Some(1e3)),
            ("ops/us", Some(1e6)),
            ("ops/ns", Some(1e9)),
            ("ops/sec", Some(1.0)),
            ("iter/s", Some(1.0)),
            ("ops/min", Some(1.0 / 60.0)),
            ("ops per ms", Some(1e3)),
            ("s^-1", Some(1.0)),
            ("ops/s/thread", None),
            ("req/min", None),
            ("MB/ms", None),
            ("ms/op", None),
        ] {
            assert_eq!(rate_of_symbol(symbol), factor, "{symbol}");
        }
    }

    #[test]
    fn a_unit_survives_the_file() {
        for unit in
            [Unit::Second, Unit::Byte, Unit::One, Unit::PerSecond, Unit::Other("furlong".into())]
        {
            assert_eq!(Unit::from(String::from(unit.clone())), unit);
        }
    }
}
