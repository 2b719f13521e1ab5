//! Validation of a JSON value against its schema, limited to the keywords that the schemas of this
//! project use.
//!
//! Stricter than a validator: a member that the schema does not define is an error.

#![allow(dead_code, reason = "not every test needs all of it")]

use serde_json::{Map, Value};

/// Returns the errors in a value, one line each; empty if it is valid.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    Check { root: schema, found: &mut found }.value(schema, value, "");
    found
}

/// Keywords that do not affect validity, and patterns, which are checked separately.
const IGNORED: [&str; 10] = [
    "$schema",
    "$id",
    "$defs",
    "definitions",
    "title",
    "description",
    "examples",
    "format",
    "default",
    "pattern",
];

struct Check<'a> {
    root: &'a Value,
    found: &'a mut Vec<String>,
}

impl Check<'_> {
    fn value(&mut self, schema: &Value, value: &Value, at: &str) {
        let rules = match schema {
            Value::Object(rules) => rules,
            Value::Bool(true) => return,
            _ => return self.wrong(at, "no value is allowed here"),
        };
        for (keyword, rule) in rules {
            let fine = match keyword.as_str() {
                "$ref" => self.reference(rule, value, at),
                "type" => is_of_type(rule, value),
                "const" => rule == value,
                "enum" => rule.as_array().is_some_and(|all| all.contains(value)),
                "minimum" => value.as_f64().is_none_or(|v| v >= rule.as_f64().unwrap_or(f64::NAN)),
                "maximum" => value.as_f64().is_none_or(|v| v <= rule.as_f64().unwrap_or(f64::NAN)),
                "minItems" => value.as_array().is_none_or(|all| all.len() as u64 >= whole(rule)),
                "maxItems" => value.as_array().is_none_or(|all| all.len() as u64 <= whole(rule)),
                "uniqueItems" => value
                    .as_array()
                    .is_none_or(|all| (1..all.len()).all(|n| !all[..n].contains(&all[n]))),
                "items" => self.items(rule, value, at),
                "required" => has_all(rule, value),
                "properties" => {
                    let others = rules.get("additionalProperties");
                    self.members(rule, others, value, at)
                }
                "additionalProperties" if rules.contains_key("properties") => true,
                "additionalProperties" => self.members(&Value::Null, Some(rule), value, at),
                "anyOf" => self.fitting(rule, value) > 0,
                "oneOf" => self.fitting(rule, value) == 1,
                keyword if IGNORED.contains(&keyword) => true,
                unknown => {
                    self.wrong(at, &format!("keyword {unknown} is not known here"));
                    true
                }
            };
            if !fine {
                self.wrong(at, &format!("{keyword} {rule} does not hold for {value}"));
            }
        }
    }

    fn wrong(&mut self, at: &str, what: &str) {
        let what: String = what.chars().take(300).collect();
        self.found.push(format!("{at}: {what}"));
    }

    fn reference(&mut self, rule: &Value, value: &Value, at: &str) -> bool {
        let pointer = rule.as_str().and_then(|text| text.strip_prefix('#'));
        let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else {
            return false;
        };
        self.value(target, value, at);
        true
    }

    fn items(&mut self, rule: &Value, value: &Value, at: &str) -> bool {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            self.value(rule, item, &format!("{at}/{index}"));
        }
        true
    }

    fn members(&mut self, known: &Value, others: Option<&Value>, value: &Value, at: &str) -> bool {
        let none = Map::new();
        for (key, member) in value.as_object().unwrap_or(&none) {
            match known.get(key).or(others) {
                Some(rule) => self.value(rule, member, &format!("{at}/{key}")),
                None => self.wrong(&format!("{at}/{key}"), "not in the schema"),
            }
        }
        true
    }

    fn fitting(&self, rule: &Value, value: &Value) -> usize {
        let fits = |schema: &&Value| {
            let mut found = Vec::new();
            Check { root: self.root, found: &mut found }.value(schema, value, "");
            found.is_empty()
        };
        rule.as_array().into_iter().flatten().filter(fits).count()
    }
}

fn whole(rule: &Value) -> u64 {
    rule.as_u64().unwrap_or(u64::MAX)
}

fn is_of_type(rule: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    rule.as_array().map_or_else(|| is(rule), |any| any.iter().any(is))
}

fn has_all(rule: &Value, value: &Value) -> bool {
    let Some(map) = value.as_object() else { return true };
    rule.as_array()
        .into_iter()
        .flatten()
        .all(|key| key.as_str().is_some_and(|k| map.contains_key(k)))
}
