//! The protocol as JSON, under the key `protocol` of the report. `docs/reference/json.md` tells each field.

use super::words::Teller;
use crate::json_values::{level, number};
use assay_analysis::protocol::{
    DistributionFound, EffectFound, PowerFound, Protocol, QuantileDifference, Reason, SeriesFound,
    Spread, Status, TestFound, Validity,
};
use assay_analysis::{Analysis, Interval};
use serde_json::{Map, Value, json};

/// Adds the key `protocol` to a report.
pub fn add_to(report: &mut Value, analysis: &Analysis, chains: &[Protocol]) {
    if let Value::Object(top) = report {
        top.insert("protocol".to_owned(), render(analysis, chains));
    }
}

fn render(analysis: &Analysis, chains: &[Protocol]) -> Value {
    let first = chains.first();
    let outcome = chains.iter().map(Protocol::outcome).max();
    json!({
        "outcome": outcome.map(Status::word),
        "alpha": first.map(|c| number(c.alpha)),
        "power": first.map(|c| number(c.power_wanted)),
        "confidence": first.map(|c| number(c.confidence)),
        "shared_by": first.map(|c| c.shared_by),
        "looked_often": first.map(|c| c.looked_often),
        "seed": first.map(|c| c.resampling.1),
        "chains": chains.iter().map(|c| chain(analysis, c)).collect::<Vec<_>>(),
    })
}

fn chain(analysis: &Analysis, chain: &Protocol) -> Value {
    let names = analysis.names();
    let teller = Teller::new(analysis, chain, &names);
    let name = |subject: usize| names.get(subject);
    let details = [
        chain.validity.found.as_ref().map(|f| validity(f, &names)),
        chain.power.found.as_ref().map(|f| power(f, &names, chain)),
        chain.test.found.as_ref().map(|f| test(f, chain)),
        chain.effect.found.as_ref().map(|f| effect(f, chain)),
    ];
    let steps = chain.steps().into_iter().zip(details).enumerate();
    let steps: Vec<Value> = steps
        .map(|(index, ((step, status, reasons), details))| {
            json!({
                "name": step,
                "status": status.word(),
                "line": teller.line(index),
                "reasons": reasons.iter().map(|r| reason(r, &teller)).collect::<Vec<_>>(),
                "numbers": details,
            })
        })
        .collect();
    json!({
        "of": name(chain.of),
        "against": chain.against.and_then(name),
        "metric": analysis.metrics[chain.metric].name,
        "unit": analysis.metrics[chain.metric].unit.symbol(),
        "paired": chain.paired,
        "outcome": chain.outcome().word(),
        "stopped_at": chain.stopped_at().map(|at| chain.steps()[at].0),
        "sentence": teller.sentence(),
        "threshold": number(chain.threshold),
        "steps": steps,
    })
}

fn reason(reason: &Reason, teller: &Teller<'_>) -> Value {
    let (message, next) = teller.reason(reason);
    json!({
        "code": reason.code(),
        "status": reason.status().word(),
        "message": message,
        "next_step": next,
    })
}

fn validity(found: &Validity, names: &[String]) -> Value {
    let causes = found
        .causes
        .iter()
        .map(|cause| json!({"cause": cause.kind.word(), "evidence": cause.evidence}));
    json!({
        "series": found.series.iter().map(|s| series(s, names)).collect::<Vec<_>>(),
        "differences": found.differences.as_ref().map(|d| series(d, names)),
        "clock_step": number(found.clock_step),
        "drifting": found.drifting.map(number),
        "causes": causes.collect::<Vec<_>>(),
    })
}

fn series(found: &SeriesFound, names: &[String]) -> Value {
    let (skewness, kurtosis) = found.moments;
    json!({
        "name": names.get(found.subject),
        "n": found.n,
        "acf_max_abs_r_default": number(found.acf_max_r_default),
        "lags_r_default": found.lags_r_default,
        "acf_max_abs_30": number(found.acf_max_30),
        "acf_bound": number(found.acf_bound),
        "rank_lag1": number(found.lag1),
        "autocorrelation_time": number(found.autocorrelation_time),
        "effective_sample_size": number(found.effective),
        "ess_per_n": number(found.share()),
        "drift": found.drift.map(number),
        "skewness_g1": number(skewness.plain),
        "kurtosis_g2": number(kurtosis.plain),
        "distributions": found.distributions.iter().map(distribution).collect::<Vec<_>>(),
        "failures": found.failures.0,
        "timeouts": found.failures.1,
    })
}

fn distribution(found: &DistributionFound) -> Value {
    json!({
        "distribution": found.distribution,
        "D": number(found.d),
        "p_naive": number(found.p_naive),
        "rejected": found.is_rejected(),
    })
}

fn power(found: &PowerFound, names: &[String], chain: &Protocol) -> Value {
    let optional = |value: Option<f64>| value.map(number);
    json!({
        "bootstrap_sd": found.spreads.iter().map(|s| spread(s, names)).collect::<Vec<_>>(),
        "confidence": number(found.confidence),
        "sd": number(found.sd),
        "delta": number(chain.threshold),
        "sig_level": number(chain.level_planned()),
        "power": number(chain.power_wanted),
        "n_t": optional(found.n_t),
        "needed": optional(found.needed),
        "planned": optional(found.planned),
        "needed_tenfold": optional(found.needed_tenfold),
        "have": number(found.have),
        "achieved": optional(found.power),
        "visible": optional(found.visible),
    })
}

fn spread(spread: &Spread, names: &[String]) -> Value {
    json!({
        "name": names.get(spread.subject),
        "t0": number(spread.sd),
        "normal": interval(spread.normal),
        "basic": interval(spread.basic),
        "percentile": interval(spread.percentile),
        "resamples": spread.resamples,
    })
}

fn test(found: &TestFound, chain: &Protocol) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    put("test", json!(found.name.word()));
    put("statistic", number(found.statistic));
    put("exact", json!(found.exact));
    put("p_two", number(found.p));
    put("log10_p_two", number(found.log10_p));
    put("log10_p_decisive", number(found.log10_p_decisive));
    put("level", level(chain.level));
    put("rejects", json!(found.rejects));
    Value::Object(map)
}

fn effect(found: &EffectFound, chain: &Protocol) -> Value {
    json!({
        "hodges_lehmann": number(found.estimate),
        "interval": interval(found.interval),
        "classic": interval(found.classic),
        "level": level(chain.interval_level),
        "superiority": number(found.superiority()),
        "better": number(found.wins.better),
        "worse": number(found.wins.worse),
        "pairs": number(found.wins.of),
        "quantiles": found.quantiles.iter().map(quantile).collect::<Vec<_>>(),
    })
}

fn quantile(found: &QuantileDifference) -> Value {
    json!({
        "share": number(found.share),
        "of": number(found.y),
        "against": number(found.x),
        "difference": number(found.difference),
        "interval": interval(found.interval),
    })
}

fn interval(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |i| json!({"lower": number(i.lower), "upper": number(i.upper)}))
}
