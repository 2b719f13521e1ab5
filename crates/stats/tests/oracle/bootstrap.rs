//! The bootstrap.

use crate::ledger::Ledger;
use serde_json::Value;

/// Compares what this room knows; false for a function that is not of this room.
pub fn check(_: &mut Ledger, _: &str, _: &[Vec<f64>], _: &Value) -> bool {
    false
}
