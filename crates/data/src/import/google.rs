//! Google Benchmark's JSON: rows for single repetitions and aggregates, with counters, complexity
//! fits and errors.
//!
//! Rows are read one by one into a reused [`Row`] and passed to the [`Gatherer`], so that a file of
//! a hundred megabytes uses no more memory than its values. The library writes the repetitions of a
//! benchmark together and in order, even if it interleaved them randomly with those of other
//! benchmarks, so the order of measurement is lost. All repetitions run in the same process, so
//! there are no levels. The layouts of versions 1.4 to 1.9 are supported. [`gather`] documents how
//! counters are interpreted.

mod context;
mod gather;
mod names;
mod row;
mod text;

use super::recorder::Recorder;
use super::{Context, Head, ImportError, Part, json};
use crate::input::Input;
use gather::Gatherer;
use row::{Row, RowSeed};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

pub(super) use text::{read as read_table, recognise as recognise_table};

const EXPECTED: &str =
    "Google Benchmark's results: `{\"context\": {…}, \"benchmarks\": [{\"name\": …}, …]}`";

const ONLY_ERRORS: &str = "benchmarks without a value";

pub(super) fn recognise(head: &Head<'_>) -> bool {
    let has = |key: &str| head.text.contains(key);
    let has_context = has("\"num_cpus\"") || has("\"host_name\"") || has("\"library_build_type\"");
    head.is_json() && has("\"context\"") && (has_context || has("\"time_unit\""))
}

pub(super) fn read(input: Input, context: &Context<'_>) -> Result<Part, ImportError> {
    let mut gatherer = Gatherer::new(Recorder::new(context, "Google Benchmark"));
    json::read(input, EXPECTED, File(&mut gatherer))?;
    gatherer.finish(ONLY_ERRORS)
}

/// A whole file: the context, and the rows, which are passed on as they are read.
struct File<'g, 'c>(&'g mut Gatherer<'c>);

impl<'de> DeserializeSeed<'de> for File<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for File<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with `context` and `benchmarks`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_rows = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "context" => {
                    let facts: Map<String, Value> = map.next_value()?;
                    context::record(&facts, &mut self.0.recorder);
                    self.0.told = context::counters(&facts);
                }
                "benchmarks" => {
                    has_rows = true;
                    map.next_value_seed(Rows(self.0))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if has_rows { Ok(()) } else { Err(A::Error::missing_field("benchmarks")) }
    }
}

struct Rows<'g, 'c>(&'g mut Gatherer<'c>);

impl<'de> DeserializeSeed<'de> for Rows<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of benchmarks")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        let mut row = Row::default();
        loop {
            let seed = RowSeed { row: &mut row, counters: &mut self.0.counters };
            if rows.next_element_seed(seed)?.is_none() {
                return Ok(());
            }
            self.0.take(&row).map_err(A::Error::custom)?;
        }
    }
}
