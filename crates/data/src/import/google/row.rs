//! One row of a Google Benchmark file, read into memory that is reused for every row.

use super::super::json::{Number, is_disguised};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use std::collections::HashMap;
use std::fmt;

/// Maximum number of different counters in one file.
const MAX_COUNTERS: usize = 1000;

/// Kind of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Kind {
    /// The kind is not stated, as in files of Google Benchmark 1.4 and in CSV tables.
    #[default]
    Unknown,
    /// One repetition.
    Iteration,
    /// A value computed from repetitions.
    Aggregate,
}

/// One row. Missing strings are empty, and missing numbers are NaN.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub name: String,
    pub run_name: String,
    pub kind: Kind,
    pub aggregate: String,
    pub repetitions: f64,
    pub iterations: f64,
    pub real_time: f64,
    pub cpu_time: f64,
    pub time_unit: String,
    pub label: String,
    pub is_error: bool,
    pub is_skipped: bool,
    pub message: String,
    pub big_o: String,
    /// Numbers of a complexity fit, by key.
    pub complexity: Vec<(&'static str, f64)>,
    /// Counters, by index in [`Counters`].
    pub counters: Vec<(usize, f64)>,
}

impl Row {
    /// The name of the benchmark, if it is stated, otherwise that of the row.
    pub(super) fn own_name(&self) -> &str {
        if self.run_name.is_empty() { &self.name } else { &self.run_name }
    }

    pub(super) fn clear(&mut self) {
        for text in [
            &mut self.name,
            &mut self.run_name,
            &mut self.aggregate,
            &mut self.time_unit,
            &mut self.label,
            &mut self.message,
            &mut self.big_o,
        ] {
            text.clear();
        }
        for number in
            [&mut self.repetitions, &mut self.iterations, &mut self.real_time, &mut self.cpu_time]
        {
            *number = f64::NAN;
        }
        self.kind = Kind::Unknown;
        (self.is_error, self.is_skipped) = (false, false);
        self.complexity.clear();
        self.counters.clear();
    }
}

/// The names of counters, in order of first appearance.
#[derive(Default)]
pub(super) struct Counters {
    pub names: Vec<String>,
    by_name: HashMap<String, usize>,
}

impl Counters {
    /// Returns the index of the counter `name`, adding it if necessary.
    ///
    /// # Errors
    /// Returns an error if there are too many counters.
    pub(super) fn index(&mut self, name: &str) -> Result<usize, String> {
        if let Some(&index) = self.by_name.get(name) {
            return Ok(index);
        }
        if self.names.len() >= MAX_COUNTERS {
            return Err(format!("more than {MAX_COUNTERS} counters in one file"));
        }
        self.by_name.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        Ok(self.names.len() - 1)
    }
}

/// Reads a row whose keys may be in any order.
pub(super) struct RowSeed<'a> {
    pub row: &'a mut Row,
    pub counters: &'a mut Counters,
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `name` and `real_time`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let row = self.row;
        row.clear();
        while let Some(key) = map.next_key_seed(KeySeed(self.counters))? {
            match key {
                Key::Ignored => {
                    map.next_value::<IgnoredAny>()?;
                }
                Key::Name => map.next_value_seed(Text(&mut row.name))?,
                Key::RunName => map.next_value_seed(Text(&mut row.run_name))?,
                Key::Aggregate => map.next_value_seed(Text(&mut row.aggregate))?,
                Key::TimeUnit => map.next_value_seed(Text(&mut row.time_unit))?,
                Key::Label => map.next_value_seed(Text(&mut row.label))?,
                Key::Message => map.next_value_seed(Text(&mut row.message))?,
                Key::BigO => map.next_value_seed(Text(&mut row.big_o))?,
                Key::RunType => row.kind = map.next_value::<Kind>()?,
                Key::Repetitions => row.repetitions = map.next_value::<Number>()?.0,
                Key::Iterations => row.iterations = map.next_value::<Number>()?.0,
                Key::RealTime => row.real_time = map.next_value::<Number>()?.0,
                Key::CpuTime => row.cpu_time = map.next_value::<Number>()?.0,
                Key::IsError => row.is_error = map.next_value()?,
                Key::IsSkipped => row.is_skipped = map.next_value()?,
                Key::Complexity(name) => {
                    row.complexity.push((name, map.next_value::<Number>()?.0));
                }
                Key::Counter(index) => {
                    // Later versions may add texts and lists: only numbers are counters.
                    if let Counter(Some(value)) = map.next_value()? {
                        row.counters.push((index, value));
                    }
                }
            }
        }
        if row.name.is_empty() && row.run_name.is_empty() {
            return Err(A::Error::missing_field("name"));
        }
        Ok(())
    }
}

enum Key {
    Name,
    RunName,
    RunType,
    Aggregate,
    Repetitions,
    Iterations,
    RealTime,
    CpuTime,
    TimeUnit,
    Label,
    IsError,
    IsSkipped,
    Message,
    BigO,
    Complexity(&'static str),
    Counter(usize),
    Ignored,
}

/// Reads a key without keeping its text.
struct KeySeed<'a>(&'a mut Counters);

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key, E> {
        Ok(match key {
            "name" => Key::Name,
            "run_name" => Key::RunName,
            "run_type" => Key::RunType,
            "aggregate_name" => Key::Aggregate,
            "repetitions" => Key::Repetitions,
            "iterations" => Key::Iterations,
            "real_time" => Key::RealTime,
            "cpu_time" => Key::CpuTime,
            "time_unit" => Key::TimeUnit,
            "label" => Key::Label,
            "error_occurred" => Key::IsError,
            "skipped" => Key::IsSkipped,
            "error_message" | "skip_message" => Key::Message,
            "big_o" => Key::BigO,
            "cpu_coefficient" => Key::Complexity("cpu_coefficient"),
            "real_coefficient" => Key::Complexity("real_coefficient"),
            "rms" => Key::Complexity("rms"),
            "family_index"
            | "per_family_instance_index"
            | "repetition_index"
            | "threads"
            | "aggregate_unit" => Key::Ignored,
            _ => Key::Counter(self.0.index(key).map_err(E::custom)?),
        })
    }
}

/// Reads a string into an existing buffer.
struct Text<'a>(&'a mut String);

impl<'de> DeserializeSeed<'de> for Text<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        text.clone_into(self.0);
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KindVisitor)
    }
}

struct KindVisitor;

impl Visitor<'_> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`iteration` or `aggregate`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Kind, E> {
        match text {
            "iteration" => Ok(Kind::Iteration),
            "aggregate" => Ok(Kind::Aggregate),
            _ => Err(E::unknown_variant(text, &["iteration", "aggregate"])),
        }
    }
}

/// The value of a key that the library does not define. Any value other than a number is ignored.
struct Counter(Option<f64>);

impl<'de> Deserialize<'de> for Counter {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CounterVisitor)
    }
}

struct CounterVisitor;

impl<'de> Visitor<'de> for CounterVisitor {
    type Value = Counter;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a counter")
    }

    fn visit_f64<E>(self, value: f64) -> Result<Counter, E> {
        Ok(Counter(Some(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Counter, E> {
        Ok(Counter(Some(value as f64)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Counter, E> {
        Ok(Counter(Some(value as f64)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Counter, E> {
        Ok(Counter(None))
    }

    fn visit_unit<E>(self) -> Result<Counter, E> {
        Ok(Counter(Some(f64::NAN)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Counter, E> {
        Ok(Counter(is_disguised(text).then_some(f64::NAN)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Counter, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Counter(None))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counter, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Counter(None))
    }
}
