//! Values as every JSON report writes them: what is not finite or not known is `null`.

use assay_analysis::coverage::Optimistic;
use serde_json::{Value, json};

/// Every item in its order.
pub(crate) fn list<T>(items: &[T], render: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(render).collect())
}

/// How often an interval held what it is about, where that is less often than it says; `null` where it keeps its word.
pub(crate) fn coverage(found: Option<Optimistic>) -> Value {
    found.map_or(Value::Null, |found| {
        json!({
            "nominal": number(found.nominal),
            "simulated": number(found.simulated),
            "situation": found.situation.name(),
        })
    })
}

/// A number; `null` when there is none.
pub(crate) fn optional(value: Option<f64>) -> Value {
    value.map_or(Value::Null, number)
}

/// A number; `null` when it is not finite.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}
