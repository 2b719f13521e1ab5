//! The value of a parameter, such as `64`, `1e3` or `fast`. It keeps the spelling in which it was
//! typed, since users look for that in the output, and is a number in JSON if that preserves the
//! spelling.

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;

/// A parameter value as it was typed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterValue(String);

impl ParameterValue {
    /// Returns the value as it was typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the finite number that it represents, if any.
    pub fn number(&self) -> Option<f64> {
        crate::number::finite(self.0.trim())
    }

    /// Returns the JSON number with exactly this spelling. `None` for `fast`, and for `1e3`, which
    /// JSON would write as `1000.0`.
    fn json_number(&self) -> Option<serde_json::Number> {
        let starts_like_one = self.0.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        let number = || serde_json::from_str::<serde_json::Number>(&self.0).ok();
        number().filter(|number| starts_like_one && number.to_string() == self.0)
    }
}

impl From<String> for ParameterValue {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for ParameterValue {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl PartialEq<str> for ParameterValue {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for ParameterValue {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for ParameterValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.json_number() {
            Some(number) => number.serialize(serializer),
            None => serializer.serialize_str(&self.0),
        }
    }
}

impl<'de> Deserialize<'de> for ParameterValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;
        impl Visitor<'_> for ValueVisitor {
            type Value = ParameterValue;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the value of a parameter, a number or a text")
            }
            fn visit_str<E>(self, text: &str) -> Result<ParameterValue, E> {
                Ok(ParameterValue(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<ParameterValue, E> {
                Ok(ParameterValue(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<ParameterValue, E> {
                Ok(ParameterValue(number.to_string()))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<ParameterValue, E> {
                let number = serde_json::Number::from_f64(number);
                let number = number.ok_or_else(|| E::custom("expected a finite number"))?;
                Ok(ParameterValue(number.to_string()))
            }
        }
        deserializer.deserialize_any(ValueVisitor)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_stay_numbers_and_every_spelling_stays_as_it_was() {
        for (typed, json, number) in [
            ("64", "64", Some(64.0)),
            ("-3", "-3", Some(-3.0)),
            ("0.25", "0.25", Some(0.25)),
            ("1e3", "\"1e3\"", Some(1000.0)),
            ("0.10", "\"0.10\"", Some(0.1)),
            ("08", "\"08\"", Some(8.0)),
            ("fast", "\"fast\"", None),
            ("true", "\"true\"", None),
            ("inf", "\"inf\"", None),
            ("", "\"\"", None),
        ] {
            let value = ParameterValue::from(typed);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
            assert_eq!(serde_json::from_str::<ParameterValue>(json).unwrap(), value);
            assert_eq!(value.number(), number, "{typed}");
        }
        assert!(serde_json::from_str::<ParameterValue>("[1]").is_err());
    }

    proptest! {
        #[test]
        fn whatever_was_typed_comes_back(typed in "[-+0-9.eE ]{0,8}|.{0,4}") {
            let value = ParameterValue::from(typed);
            let json = serde_json::to_string(&value).unwrap();
            prop_assert_eq!(serde_json::from_str::<ParameterValue>(&json).unwrap(), value);
        }
    }
}
