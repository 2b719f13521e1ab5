//! Reads the members of individual records. Unknown members are ignored. Errors state what was
//! expected.
//!
//! Observations are read directly into one reused [`Observation`], because a file may hold millions
//! of them.

use crate::{Metric, Observation, Outcome, Plan, StopReason};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// The kind of record on a line.
#[derive(Deserialize)]
pub(super) struct Kind<'a> {
    #[serde(borrow)]
    pub kind: Text<'a>,
}

/// The version that a file declares. It may be any JSON value; the reader checks it.
#[derive(Deserialize)]
pub(super) struct Version {
    #[serde(default)]
    pub assay: Option<serde_json::Value>,
}

/// The header, which is the first line of a file.
#[derive(Deserialize)]
pub(super) struct Run {
    #[serde(default)]
    pub tool: Option<String>,
    #[serde(default)]
    pub time: Option<String>,
    #[serde(default)]
    pub argv: Vec<String>,
    #[serde(default)]
    pub plan: Option<Plan>,
}

/// The `stop` record, which gives the reason why measuring stopped.
#[derive(Deserialize)]
pub(super) struct Stop {
    pub reason: StopReason,
}

/// Text borrowed from the line unless it contains escapes.
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Reads an `obs` record into an observation with the values of `metrics`.
pub(super) struct ObservationSeed<'a> {
    pub into: &'a mut Observation,
    pub metrics: &'a [Metric],
    pub subjects: usize,
}

impl<'de> DeserializeSeed<'de> for ObservationSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObservationSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an observation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let into = self.into;
        let (mut has_subject, mut has_values) = (false, false);
        into.pass = None;
        into.block = None;
        into.position = None;
        into.time = None;
        into.outcome = Outcome::Ok;
        into.level.clear();
        while let Some(Text(name)) = map.next_key()? {
            match name.as_ref() {
                "subject" => {
                    into.subject = map.next_value()?;
                    has_subject = true;
                    if into.subject >= self.subjects {
                        return Err(Error::custom(unknown_subject(into.subject, self.subjects)));
                    }
                }
                "pass" => into.pass = map.next_value()?,
                "block" => into.block = place(map.next_value()?, "block")?,
                "pos" => into.position = place(map.next_value()?, "pos")?,
                "level" => into.level = map.next_value()?,
                "t" => into.time = map.next_value()?,
                "outcome" => into.outcome = map.next_value()?,
                "values" => {
                    into.values.clear();
                    into.values.resize(self.metrics.len(), f64::NAN);
                    map.next_value_seed(ValuesSeed {
                        into: &mut into.values,
                        metrics: self.metrics,
                    })?;
                    has_values = true;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        if !has_subject {
            return Err(Error::missing_field("subject"));
        }
        if !has_values {
            return Err(Error::missing_field("values"));
        }
        Ok(())
    }
}

fn unknown_subject(index: usize, declared: usize) -> String {
    match declared {
        0 => format!("subject {index} is not declared: no subject record stands before this line"),
        n => format!("subject {index} is not declared: {n} are, numbered from 0 to {}", n - 1),
    }
}

/// Checks the number of a block or a position. The largest `u32` is not allowed, because it means
/// "none" internally.
fn place<E: Error>(number: Option<u32>, name: &str) -> Result<Option<u32>, E> {
    if number == Some(u32::MAX) {
        return Err(E::custom(format!("`{name}` is at most {}", u32::MAX - 1)));
    }
    Ok(number)
}

struct ValuesSeed<'a> {
    into: &'a mut Vec<f64>,
    metrics: &'a [Metric],
}

impl<'de> DeserializeSeed<'de> for ValuesSeed<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ValuesSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the values by metric, as in {\"wall\":0.812}")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Values are usually in the order of the metrics, with some left out. The search therefore
        // begins after the last metric found.
        let mut expected = 0;
        while let Some(Text(name)) = map.next_key()? {
            let is = |metric: &Metric| metric.name == name.as_ref();
            let ahead = self.metrics[expected..].iter().position(is).map(|i| expected + i);
            let index = ahead.or_else(|| self.metrics[..expected].iter().position(is));
            let Some(index) = index else {
                return Err(Error::custom(format!(
                    "metric `{name}` is not declared: no metric record of that name stands before this line"
                )));
            };
            if !self.into[index].is_nan() {
                return Err(Error::custom(format!("`{name}` has two values in one observation")));
            }
            self.into[index] = map.next_value_seed(NumberSeed { name: &name })?;
            expected = index + 1;
        }
        Ok(())
    }
}

struct NumberSeed<'a> {
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for NumberSeed<'_> {
    type Value = f64;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for NumberSeed<'_> {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a finite number as the value of `{}` (a value that is missing is left out)",
            self.name
        )
    }

    fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }
}
