//! An analysis as JSON, for programs. The schema is documented field by field in `docs/reference/json.md`, and a test holds the
//! two together.
//!
//! Numbers are in base units; what is not known, not finite or has no meaning is `null`. Keys always stand in the same order.
//! It must not drop a key because its value is unknown: readers should not have to tell absent from empty.

use crate::json_all;
use crate::json_values::{level, list, number, optional};
use crate::noise;
use crate::words;
use assay_analysis::{
    Analysis, Basis, Comparison, Curve, Description, Effect, Interval, NoExponent, Outlook,
    Overall, QuantileDifference, Scale, SubjectSummary,
};
use assay_data::{Design, Metric, Plan, StopReason, StopRule, Threshold};
use serde_json::{Map, Value, json};

/// Version of the schema.
pub const VERSION: u64 = 1;

/// What the analysis does not know of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// The tool and version that made this report, as in `assay 0.1.0`.
    pub tool: String,
    /// The command line.
    pub argv: Vec<String>,
    /// The file that holds the samples, where they were kept.
    pub file: Option<String>,
}

/// The analysis as one JSON object.
pub fn render(analysis: &Analysis, meta: &Meta) -> Value {
    let mut top = Map::new();
    let mut put = |key: &str, value: Value| {
        top.insert(key.to_owned(), value);
    };
    put("assay", json!(VERSION));
    if let ([_, _], [only]) = (analysis.subjects.as_slice(), analysis.comparisons.as_slice()) {
        put("verdict", json!(only.decision.verdict.word()));
        put("of", json!(name(analysis, only.of)));
        put("against", json!(name(analysis, only.against)));
        put("sentence", json!(sentence(analysis, only)));
    }
    put("design", json!(design(analysis.design)));
    put("confidence", number(analysis.plan.confidence));
    put("threshold", threshold(&analysis.plan.threshold));
    put("primary", json!(analysis.metrics[analysis.primary].name));
    put("blocks", json!(analysis.blocks));
    put("seconds_per_block", optional(analysis.seconds_per_block));
    put("stop", json!(analysis.stop.map(stop)));
    put("plan", plan(analysis));
    put("comparisons", list(&analysis.comparisons, |c| comparison(analysis, c)));
    put("secondary", list(&analysis.secondary, |c| comparison(analysis, c)));
    put("subjects", with_noise(analysis, list(&analysis.subjects, |s| subject(analysis, s))));
    put("curves", list(&analysis.curves, curve));
    put("suite", list(&analysis.overall, |o| suite(analysis, o)));
    put("findings", json!(analysis.findings));
    put("environment", Value::Object(analysis.environment.facts.clone()));
    put("started", json!(analysis.started));
    put("tool", json!(meta.tool));
    put("argv", json!(meta.argv));
    put("file", json!(meta.file));
    if let Some(battery) = &analysis.battery {
        json_all::extend(&mut top, battery);
    }
    Value::Object(top)
}

fn name(analysis: &Analysis, subject: usize) -> &str {
    &analysis.subjects[subject].name
}

fn sentence(analysis: &Analysis, c: &Comparison) -> String {
    words::sentence(analysis, c, name(analysis, c.of), name(analysis, c.against)).plain()
}

fn comparison(analysis: &Analysis, c: &Comparison) -> Value {
    let named = Named {
        metric: &analysis.metrics[c.metric],
        of: name(analysis, c.of),
        against: name(analysis, c.against),
        sentence: sentence(analysis, c),
        plan: &analysis.plan,
    };
    comparison_of(&named, c)
}

/// What a comparison does not know of itself.
pub(crate) struct Named<'a> {
    pub metric: &'a Metric,
    pub of: &'a str,
    pub against: &'a str,
    pub sentence: String,
    pub plan: &'a Plan,
}

/// A comparison with its names.
pub(crate) fn comparison_of(named: &Named<'_>, c: &Comparison) -> Value {
    let Named { metric, plan, .. } = named;
    let scale = c.decision.scale;
    // Sizes on the log scale are handed out as fractions, like the threshold that people give.
    let size = |on_scale: f64| match scale {
        Scale::Ratio => number(on_scale.exp_m1()),
        Scale::Shift => number(on_scale),
    };
    let both = |(against, of): (f64, f64)| json!({"of": number(of), "against": number(against)});
    let blocks = c.design == Design::Blocks;
    // A summary may not say how many values it is of.
    let count = |n: usize| (n > 0 || c.basis != Basis::Summary).then_some(n);
    json!({
        "of": named.of,
        "against": named.against,
        "metric": metric.name,
        "unit": metric.unit.symbol(),
        "design": design(c.design),
        "verdict": c.decision.verdict.word(),
        "possibly_below_threshold": c.decision.possibly_below_threshold,
        "sentence": named.sentence,
        "ratio": c.ratio.map(effect),
        "shift": effect(c.shift),
        "scale": match scale { Scale::Ratio => "ratio", Scale::Shift => "shift" },
        "threshold": size(c.decision.threshold),
        "confidence": number(plan.confidence),
        "level": level(c.level),
        "anytime_valid": blocks && plan.is_sequential(),
        "blocks": c.blocks,
        "fewest_blocks": (c.fewest_blocks > 0).then_some(c.fewest_blocks),
        "basis": basis(&c.basis),
        "counts": {"of": count(c.counts.1), "against": count(c.counts.0)},
        "medians": both(c.medians),
        "means": both(c.means),
        "p99": both(c.p99),
        "ratio_of_medians": optional(c.ratio_of_medians()),
        "quantiles": list(&c.quantiles, quantile),
        "wins": {"better": number(c.wins.better), "worse": number(c.wins.worse), "of": number(c.wins.of)},
        "effective": number(c.effective),
        "drifting": optional(c.drifting),
        "too_dependent": c.too_dependent,
        "mixed": c.mixed,
        "clock_step": size(c.decision.clock_step),
        "detectable": c.detectable.map_or(Value::Null, size),
        "outlook": c.outlook.map(|outlook| forecast(outlook, &size)),
    })
}

/// What was compared.
fn basis(basis: &Basis) -> &'static str {
    match basis {
        Basis::Values => "values",
        Basis::Units(_) => "units",
        Basis::Summary => "summary",
    }
}

fn forecast(outlook: Outlook, size: &dyn Fn(f64) -> Value) -> Value {
    json!({
        "to_rule_out": outlook.to_rule_out,
        "to_confirm": outlook.to_confirm,
        "reachable_threshold": outlook.reachable_threshold.map_or(Value::Null, size),
    })
}

/// What the comparisons of a scan say together.
fn suite(analysis: &Analysis, overall: &Overall) -> Value {
    let label = |command: usize| analysis.scan.as_ref().and_then(|s| s.labels.get(command));
    let ends = |i: Interval| json!({"lower": number(i.lower), "upper": number(i.upper)});
    json!({
        "of": label(overall.of),
        "against": label(overall.against),
        "comparisons": overall.comparisons,
        "geometric_mean": number(overall.mean.estimate),
        "interval_of_these": ends(overall.mean.of_these),
        "interval_of_such": overall.mean.of_such.map(ends),
        "confidence": number(analysis.plan.confidence),
    })
}

/// The difference of one quantile.
fn quantile(q: &QuantileDifference) -> Value {
    json!({
        "share": number(q.share),
        "of": number(q.y),
        "against": number(q.x),
        "shift": effect(Effect { estimate: q.difference, interval: q.interval }),
        "ratio": q.ratio.map(|estimate| effect(Effect { estimate, interval: q.ratio_interval })),
        "p": optional(q.p),
        "p_adjusted": optional(q.adjusted),
        "fewest": q.fewest,
    })
}

fn effect(effect: Effect) -> Value {
    json!({
        "estimate": number(effect.estimate),
        "lower": end(effect.interval, |i| i.lower),
        "upper": end(effect.interval, |i| i.upper),
    })
}

/// Names with values, in their order.
fn named(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

fn curve(curve: &Curve) -> Value {
    let exponent = curve.exponent.as_ref().ok();
    let steps = exponent.map(|e| e.steps.iter().copied().map(number).collect::<Vec<_>>());
    let reason = curve.exponent.as_ref().err().map(|reason| match reason {
        NoExponent::NotInBlocks => "not_in_blocks",
        NoExponent::TooFewBlocks(_) => "too_few_blocks",
        NoExponent::NotPositive => "not_positive",
    });
    json!({
        "command": curve.command,
        "parameter": curve.parameter,
        "fixed": named(&curve.fixed),
        "points": list(&curve.points, |point| json!({
            "value": number(point.value),
            "subject": point.subject,
            "median": number(point.median),
        })),
        "exponent": optional(exponent.map(|e| e.estimate)),
        "exponent_interval": {
            "lower": end(exponent.and_then(|e| e.interval), |i| i.lower),
            "upper": end(exponent.and_then(|e| e.interval), |i| i.upper),
        },
        "steps": steps,
        "curved": exponent.map(|e| e.curved),
        "reason": reason,
    })
}

fn subject(analysis: &Analysis, summary: &SubjectSummary) -> Value {
    let described: Map<String, Value> = analysis
        .metrics
        .iter()
        .zip(&summary.metrics)
        .filter_map(|(metric, d)| Some((metric.name.clone(), description(metric, d.as_ref()?))))
        .collect();
    json!({
        "name": summary.name,
        "command": summary.command,
        "parameters": named(&summary.parameters),
        "against": summary.against.map(|against| name(analysis, against)),
        "observations": summary.observations,
        "failures": summary.failures,
        "timeouts": summary.timeouts,
        "metrics": described,
    })
}

/// The subjects, each with what its noise came from.
fn with_noise(analysis: &Analysis, mut subjects: Value) -> Value {
    for (index, of) in analysis.noise.iter().enumerate() {
        if let Some(Value::Object(subject)) = subjects.get_mut(index) {
            subject.insert("noise".to_owned(), noise::json(of));
        }
    }
    subjects
}

fn description(metric: &Metric, d: &Description) -> Value {
    json!({
        "unit": metric.unit.symbol(),
        "n": d.n,
        "median": number(d.median),
        "median_interval": {
            "lower": end(d.median_interval, |i| i.lower),
            "upper": end(d.median_interval, |i| i.upper),
            "confidence": number(d.confidence),
        },
        "mean": number(d.mean),
        "standard_deviation": number(d.standard_deviation),
        "min": number(d.min),
        "max": number(d.max),
        "quantiles": {
            "0.05": number(d.quantiles.p5),
            "0.25": number(d.quantiles.p25),
            "0.75": number(d.quantiles.p75),
            "0.95": number(d.quantiles.p95),
            "0.99": number(d.quantiles.p99),
        },
        "outliers": d.outliers,
        "autocorrelation_time": number(d.autocorrelation_time),
        "effective": number(d.effective()),
        "lag1": number(d.lag1),
        "clock_step": optional(d.clock_step),
        "drift": optional(d.drift),
    })
}

fn plan(analysis: &Analysis) -> Value {
    let plan = &analysis.plan;
    let stop = match plan.stop {
        StopRule::Sequential { look_level, max_blocks } => {
            json!({"rule": "sequential", "look_level": number(look_level), "max_blocks": max_blocks})
        }
        StopRule::Fixed { blocks } => json!({"rule": "fixed", "blocks": blocks}),
    };
    json!({
        "confidence": number(plan.confidence),
        "threshold": threshold(&plan.threshold),
        "stop": stop,
        "budget_seconds": optional(plan.budget_seconds),
        "warmup": plan.warmup,
        "primary": plan.primary,
        "secondary": plan.secondary,
        "until": plan.until,
        "seed": plan.seed,
    })
}

pub(crate) fn threshold(threshold: &Threshold) -> Value {
    match threshold {
        Threshold::Relative(fraction) => json!({"relative": number(*fraction)}),
        Threshold::Absolute { value, unit } => {
            json!({"absolute": number(*value), "unit": unit.symbol()})
        }
    }
}

pub(crate) fn design(design: Design) -> &'static str {
    match design {
        Design::Blocks => "blocks",
        Design::Unpaired => "unpaired",
        Design::Summary => "summary",
    }
}

fn stop(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Clear => "clear",
        StopReason::Precise => "precise",
        StopReason::Blocks => "blocks",
        StopReason::Budget => "budget",
        StopReason::Interrupted => "interrupted",
        StopReason::Failed => "failed",
        StopReason::Until => "until",
    }
}

fn end(interval: Option<Interval>, of: impl Fn(Interval) -> f64) -> Value {
    optional(interval.map(of))
}
