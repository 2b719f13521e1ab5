//! A plan as JSON, field by field as `docs/reference/json.md` describes it, unrounded. Nothing is worded here but by the screen's
//! own sentence.

use super::sentence;
use crate::json::{Meta, VERSION};
use assay_analysis::Scale;
use assay_analysis::planning::blocks::{BlocksPlan, Needed};
use assay_analysis::planning::pilot::{Pilot, SpreadOf};
use assay_analysis::planning::rank::RankPlan;
use assay_analysis::planning::{Alternative, Here, Kind, Measure, Planning, Unknown};
use serde_json::{Value, json};

/// The plan for programs, as `docs/reference/json.md` describes it. What is not known is `null`.
pub fn json(planning: &Planning, meta: &Meta) -> Value {
    let asked = &planning.asked;
    json!({
        "assay": VERSION,
        "sentence": sentence(planning),
        "solved_for": name_of(planning.unknown),
        "unit": match &planning.measure { Measure::Unit(unit) => unit.symbol(), Measure::Fraction => "fraction" },
        "power_t_test": {
            "n": finite(planning.t.n),
            "delta": finite(planning.t.delta),
            "sd": finite(planning.t.sd),
            "sig_level": finite(planning.t.sig_level),
            "power": finite(planning.t.power),
            "type": match asked.kind {
                Kind::TwoSample => "two-sample",
                Kind::OneSample => "one-sample",
                Kind::Paired => "paired",
            },
            "alternative": match asked.alternative {
                Alternative::TwoSided => "two-sided",
                Alternative::Greater => "greater",
                Alternative::Less => "less",
            },
            "strict": asked.strict,
        },
        "rank": rank(planning),
        "curve": planning.curve.iter().map(|p| json!({
            "n": p.n,
            "power_t": finite(p.t),
            "power_rank": finite(p.rank),
            "delta_t": p.delta.map(finite),
            "delta_rank": p.delta_rank.map(finite),
        })).collect::<Vec<_>>(),
        "pilot": planning.pilot.as_ref().map(pilot),
        "blocks": planning.blocks.as_ref().map(blocks),
        "here": here(&planning.here),
        "seed": asked.seed,
        "tool": meta.tool,
        "argv": meta.argv,
    })
}

fn here(here: &Here) -> Value {
    match here {
        Here::NotAsked | Here::NotCalibrated => Value::Null,
        Here::Calibrated { at, in_a_minute, seconds } => json!({
            "calibrated_at": at,
            "in_a_minute": finite(*in_a_minute),
            "seconds": finite(*seconds),
        }),
    }
}

fn name_of(unknown: Unknown) -> &'static str {
    match unknown {
        Unknown::N => "n",
        Unknown::Delta => "delta",
        Unknown::Sd => "sd",
        Unknown::SigLevel => "sig_level",
        Unknown::Power => "power",
    }
}

fn rank(planning: &Planning) -> Value {
    let RankPlan { rule, n, rounded_to, fewest_n, distribution, .. } = &planning.rank;
    let simulated =
        distribution.as_ref().and_then(|distribution| distribution.simulated.as_ref().ok());
    let reason = match distribution {
        None => Some("a simulation needs a pilot"),
        Some(distribution) => distribution.simulated.as_ref().err().map(String::as_str),
    };
    json!({
        "rule_of_thumb_n": finite(rule.n),
        "rule_of_thumb": {
            "n": finite(rule.n),
            "delta": finite(rule.delta),
            "sd": finite(rule.sd),
            "sig_level": finite(rule.sig_level),
            "power": finite(rule.power),
        },
        "n": n,
        "rounded_to": rounded_to,
        "fewest_n": fewest_n,
        "superiority": distribution.as_ref().map(|distribution| finite(distribution.superiority)),
        "formula_n": distribution.as_ref().and_then(|distribution| distribution.formula_n).map(finite),
        "formula_power": distribution.as_ref().map(|distribution| finite(distribution.formula_power)),
        "formula_delta": distribution.as_ref().and_then(|distribution| distribution.formula_delta).map(finite),
        "simulated_n": simulated.and_then(|s| s.n).map(finite),
        "simulated_n_error": simulated.and_then(|s| s.n_error).map(finite),
        "simulated_power": simulated.map(|s| finite(s.power)),
        "simulated_power_error": simulated.map(|s| finite(s.power_error)),
        "experiments": simulated.map(|s| s.experiments),
        "reason": reason,
    })
}

fn pilot(pilot: &Pilot) -> Value {
    let spread = |s: &SpreadOf| {
        json!({
            "subject": s.name,
            "n": s.n,
            "sd": finite(s.sd),
            "normal_upper": s.normal_upper.map(finite),
            "basic_upper": s.basic_upper.map(finite),
            "percentile_upper": s.percentile_upper.map(finite),
            "resamples": s.resamples,
            "autocorrelation_time": finite(s.autocorrelation_time),
        })
    };
    json!({
        "metric": pilot.metric,
        "unit": pilot.unit.symbol(),
        "median": finite(pilot.median),
        "spreads": pilot.spreads.iter().map(spread).collect::<Vec<_>>(),
        "noisiest": pilot.spreads.get(pilot.noisiest).map(|s| s.name.as_str()),
        "sd": finite(pilot.sd),
        "n": pilot.n,
        "runs_per_independent": finite(pilot.runs_per_independent),
        "detectable": pilot.detectable.map(finite),
        "seconds_per_run": pilot.seconds_per_run.map(finite),
    })
}

fn blocks(plan: &BlocksPlan) -> Value {
    let size = |on_scale: f64| match plan.scale {
        Scale::Ratio => finite(on_scale.exp_m1()),
        Scale::Shift => finite(on_scale),
    };
    let needed = |n: &Needed| {
        json!({
            "to_find": n.to_find,
            "to_rule_out": n.to_rule_out,
            "detectable": size(n.detectable),
        })
    };
    json!({
        "of": plan.of,
        "against": plan.against,
        "pilot_blocks": plan.pilot_blocks,
        "at_blocks": finite(plan.at_blocks),
        "scale": match plan.scale { Scale::Ratio => "ratio", Scale::Shift => "shift" },
        "spread": finite(plan.spread),
        "threshold": plan.threshold.map(size),
        "fixed": needed(&plan.fixed),
        "sequential": needed(&plan.sequential),
        "seconds_per_block": plan.seconds_per_block.map(finite),
    })
}

/// A number; `null` when it is not finite.
fn finite(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}
