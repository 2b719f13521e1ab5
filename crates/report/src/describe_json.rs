//! SeriesSummaries of series as JSON, for programs: `assay describe --json`, documented in
//! `docs/reference/json.md`, and a test holds the two together. Keys have the names under which
//! statisticians' programs print the same numbers.
//!
//! What has no meaning is `null`, with the `reason` beside it where it is not plain.

use crate::json::{Meta, VERSION};
use crate::json_values::{coverage, list, number, optional};
use assay_analysis::Interval;
use assay_analysis::coverage::{Method, speaks_for};
use assay_analysis::levels::Nested;
use assay_analysis::series_summary::{
    Descriptives, MedianInterval, Periodic, RepeatedValue, SeriesSummaries, SeriesSummary, levels,
};
use assay_data::Finding;
use serde_json::{Map, Value, json};

/// The summaries as one JSON object.
pub fn render(summaries: &SeriesSummaries, meta: &Meta) -> Value {
    let of_series = summaries.series.iter().flat_map(|summary| &summary.findings);
    let mut findings: Vec<&Finding> = summaries.findings.iter().chain(of_series).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    json!({
        "assay": VERSION,
        "confidence": number(summaries.confidence),
        "seed": summaries.seed,
        "series": list(&summaries.series, |summary| series(summary, summaries.confidence)),
        "findings": findings,
        "environment": Value::Object(summaries.environment.facts.clone()),
        "started": summaries.started,
        "tool": meta.tool,
        "argv": meta.argv,
        "file": meta.file,
    })
}

fn series(p: &SeriesSummary, confidence: f64) -> Value {
    let d = &p.description;
    let mut whole = Map::new();
    let mut put = |key: &str, value: Value| {
        whole.insert(key.to_owned(), value);
    };
    put("name", json!(p.name));
    put("metric", json!(p.metric.name));
    put("unit", json!(p.metric.unit.symbol()));
    put("n", json!(d.n));
    let of_median = p.situation.warning(Method::MedianWidened).filter(|_| speaks_for(confidence));
    let of_median = json!({"coverage": coverage(of_median)});
    put("median_interval", with(interval(d.median_interval), of_median));
    put("descriptives", descriptives(&p.descriptives));
    put("median_ci", covered(p, median_intervals(&p.median_intervals), Method::MedianOrder));
    put("t_mean", covered(p, student(p, confidence), Method::MeanT));
    put("acf", autocorrelations(p));
    let default = json!({
        "lag_max": p.order.default_lags, "max_abs": number(p.order.default_max),
    });
    put("acf_r_default", default);
    put("ljung_box", portmanteau(p));
    put("runs_test", runs(p));
    put("shapiro_wilk", shapiro_wilk(p));
    put("anderson_darling_normal", anderson_darling(p));
    put("lilliefors", lilliefors(p));
    put("ks_normal", kolmogorov(p.tests.normal.map(|f| (f.d, f.p_naive)), "too few values"));
    put("ks_lognormal", kolmogorov(p.tests.lognormal.map(|f| (f.d, f.p_naive)), NOT_POSITIVE));
    put("ks_exponential", kolmogorov(p.tests.exponential.map(|f| (f.d, f.p_naive)), NOT_POSITIVE));
    let b = p.bandwidths;
    let bandwidth = json!({
        "nrd0": optional(b.nrd0), "nrd": optional(b.nrd),
        "sj_ste": optional(b.sj_ste), "sj_dpi": optional(b.sj_dpi),
    });
    put("bandwidth", bandwidth);
    put("dip", p.tests.dip.map_or(Value::Null, |f| json!({"D": number(f.d), "p": number(f.p)})));
    let mode = |m: &assay_analysis::series_summary::Mode| json!({"at": number(m.at), "from": number(m.from), "to": number(m.to), "share": number(m.share)});
    put("modes", list(&p.modes, mode));
    put(
        "distributions",
        list(
            &p.distributions,
            |distribution| json!({"distribution": distribution.kind.word(), "mean": number(distribution.mean), "sd": number(distribution.sd), "D": number(distribution.distance)}),
        ),
    );
    put(
        "tails",
        p.tails.map_or(Value::Null, |t| {
            json!({
                "skewness": number(t.skewness), "kurtosis_excess": number(t.kurtosis),
                "lognormal_kurtosis_excess": number(t.lognormal_kurtosis),
                "gamma_kurtosis_excess": number(t.gamma_kurtosis),
            })
        }),
    );
    put("levels", p.levels.as_ref().map_or(Value::Null, |found| levels_of(found, confidence)));
    put("outliers", outliers(p));
    put("distinct", json!(p.distinct));
    let n = d.n as f64;
    let same = |h: &RepeatedValue| json!({"value": number(h.value), "count": h.count, "share": number(h.count as f64 / n)});
    put("repeated_values", list(&p.repeated, same));
    put("clock_step", optional(d.clock_step));
    put("autocorrelation_time", number(d.autocorrelation_time));
    put("effective_sample_size", number(d.effective()));
    put("effective_share", number(p.effective_share()));
    put("drift", optional(d.drift));
    put("change_points", changes(p));
    put("steady_state", steady_state(p));
    let tick = |f: Periodic| json!({"period": f.period, "first": f.first, "excess": number(f.excess), "z": number(f.z), "values": f.values});
    put("periodic", p.periodic.map_or(Value::Null, tick));
    put(
        "histogram",
        json!({
            "low": number(p.shape.low), "high": number(p.shape.high), "below": p.shape.below,
            "above": p.shape.above, "counts": p.shape.counts, "bandwidth": optional(p.shape.bandwidth),
        }),
    );
    put("signed_rank_about_zero", signed_rank(p, confidence));
    for (key, value) in resampled(p, confidence) {
        put(key, value);
    }
    put("findings", json!(p.findings));
    Value::Object(whole)
}

const NOT_POSITIVE: &str = "some values are zero or negative";
const ALL_EQUAL: &str = "all values are equal";

fn descriptives(d: &Descriptives) -> Value {
    let (skewness, kurtosis) = (d.skewness, d.kurtosis_excess);
    let numbers = [
        ("min", d.min),
        ("max", d.max),
        ("sum", d.sum),
        ("mean", d.mean),
        ("sd", d.sd),
        ("var", d.var),
        ("median", d.median),
        ("p25", d.p25),
        ("p50", d.median),
        ("p75", d.p75),
        ("p90", d.p90),
        ("p95", d.p95),
        ("p99", d.p99),
        ("p999", d.p999),
        ("mad_raw", d.mad_raw),
        ("mad_normal", d.mad_normal),
        ("iqr", d.iqr),
        ("cv", d.cv),
        ("sem", d.sem),
        ("geomean", d.geomean),
        ("trimmed_mean_10", d.trimmed_mean_10),
        ("skewness_g1", skewness.plain),
        ("skewness_G1", skewness.adjusted),
        ("skewness_b1", skewness.by_sd),
        ("kurtosis_excess_g2", kurtosis.plain),
        ("kurtosis_excess_G2", kurtosis.adjusted),
        ("kurtosis_excess_b2", kurtosis.by_sd),
    ];
    let mut map = Map::from_iter([("n".to_owned(), json!(d.n))]);
    map.extend(numbers.into_iter().map(|(key, value)| (key.to_owned(), number(value))));
    Value::Object(map)
}

/// `ci95` for 0.95, `ci97.5` for 0.975.
fn key_of(level: f64) -> String {
    let percent = format!("{:.6}", level * 100.0);
    format!("ci{}", percent.trim_end_matches('0').trim_end_matches('.'))
}

fn interval(found: Option<Interval>) -> Value {
    json!({"lower": optional(found.map(|i| i.lower)), "upper": optional(found.map(|i| i.upper))})
}

/// One interval for each level, under its key.
fn per_level(confidence: f64, of: impl Fn(f64) -> Option<Interval>) -> Value {
    let each = levels(confidence).into_iter().map(|level| (key_of(level), interval(of(level))));
    Value::Object(each.collect())
}

fn with(head: Value, more: Value) -> Value {
    match (head, more) {
        (Value::Object(mut head), Value::Object(more)) => {
            head.extend(more);
            Value::Object(head)
        }
        (head, _) => head,
    }
}

/// Says beside intervals how often those of `method` held for values like these.
fn covered(p: &SeriesSummary, intervals: Value, method: Method) -> Value {
    with(intervals, json!({"coverage": coverage(p.situation.warning(method))}))
}

fn median_intervals(found: &[MedianInterval]) -> Value {
    let one = |m: &MedianInterval| {
        let value = json!({"ci": interval(m.interval), "k": m.k, "coverage": number(m.coverage)});
        (key_of(m.confidence), value)
    };
    Value::Object(found.iter().map(one).collect())
}

fn student(p: &SeriesSummary, confidence: f64) -> Value {
    let t = p.student;
    let why_not = if p.description.n < 2 { "too few values" } else { ALL_EQUAL };
    let reason = t.is_none().then_some(why_not);
    let head = json!({
        "mean": number(p.descriptives.mean),
        "t": optional(t.map(|t| t.t)),
        "df": optional(t.map(|t| t.df)),
        "p_two": optional(t.map(|t| t.p().two)),
        "reason": reason,
    });
    with(head, per_level(confidence, |level| t?.interval(level)))
}

fn autocorrelations(p: &SeriesSummary) -> Value {
    let order = &p.order;
    json!({
        "lag_max": order.acf.len(),
        "acf": list(&order.acf, |r| number(*r)),
        "bound_1.96": number(order.bound),
        "bound_qnorm": number(order.bound_exact),
        "max_abs": number(order.max_abs()),
        "n_outside_1.96": order.outside(),
    })
}

fn portmanteau(p: &SeriesSummary) -> Value {
    let one = |found: &assay_analysis::series_summary::LjungBox| {
        let value = json!({"Q": number(found.q), "df": found.lags, "p": number(found.p)});
        (format!("lag{}", found.lags), value)
    };
    Value::Object(p.order.ljung_box.iter().map(one).collect())
}

fn runs(p: &SeriesSummary) -> Value {
    let runs = p.order.runs;
    json!({
        "runs": runs.runs, "n_above": runs.above, "n_below": runs.below,
        "expected": number(runs.expected), "z": number(runs.z), "p_two": number(runs.p),
    })
}

fn shapiro_wilk(p: &SeriesSummary) -> Value {
    let found = p.tests.shapiro_wilk;
    let reason = found.is_none().then_some(match p.description.n {
        0..=2 => "fewer than 3 values",
        3..=5000 => ALL_EQUAL,
        _ => "more than 5000 values: the approximation does not reach so far",
    });
    json!({"W": optional(found.map(|f| f.w)), "p": optional(found.map(|f| f.p)), "reason": reason})
}

fn anderson_darling(p: &SeriesSummary) -> Value {
    let found = p.tests.anderson_darling;
    let few = if p.description.n < 8 { "fewer than 8 values" } else { ALL_EQUAL };
    let reason = found.is_none().then_some(few);
    json!({"A2": optional(found.map(|f| f.statistic)), "p": optional(found.map(|f| f.p)), "reason": reason})
}

fn lilliefors(p: &SeriesSummary) -> Value {
    let found = p.tests.lilliefors;
    let few = if p.description.n < 5 { "fewer than 5 values" } else { ALL_EQUAL };
    let reason = found.is_none().then_some(few);
    json!({"D": optional(found.map(|f| f.statistic)), "p": optional(found.map(|f| f.p)), "reason": reason})
}

fn kolmogorov(found: Option<(f64, f64)>, otherwise: &str) -> Value {
    let reason = found.is_none().then_some(otherwise);
    json!({"D": optional(found.map(|f| f.0)), "p_naive": optional(found.map(|f| f.1)), "reason": reason})
}

fn outliers(p: &SeriesSummary) -> Value {
    let outliers = &p.outliers;
    let fence = |(lower, upper): (f64, f64), (below, above): (usize, usize)| json!({"lower": number(lower), "upper": number(upper), "below": below, "above": above});
    json!({
        "inner": fence(outliers.inner, outliers.beyond_inner),
        "outer": fence(outliers.outer, outliers.beyond_outer),
        "farthest": list(&outliers.farthest, |(index, value)| json!({"index": index, "value": number(*value)})),
    })
}

fn levels_of(found: &Nested, confidence: f64) -> Value {
    let gained = found.most_gained();
    let best = found.best_repetitions(1.0);
    let each = found.names.iter().zip(&found.levels.levels).enumerate().map(|(index, (name, l))| {
        json!({
            "name": name, "units": l.units, "repetitions": number(l.repetitions),
            "variance": number(l.variance), "component": number(l.component),
            "share": number(l.share), "most_gained": number(gained[index]),
            // Of the outermost there is no best number: the more the better.
            "best_repetitions": index.checked_sub(1).and_then(|above| best.get(above).copied()?).map_or(Value::Null, number),
        })
    });
    let each: Vec<Value> = each.collect();
    let head = json!({
        "of": if found.of_series { "values" } else { "values within runs" },
        "levels": each,
        "mean": number(found.levels.mean),
        "standard_error": number(found.levels.squared_error.sqrt()),
        "df": number(found.levels.df()),
        "too_narrow": optional(found.too_narrow()),
    });
    with(head, per_level(confidence, |level| found.levels.mean_interval(level)))
}

fn changes(p: &SeriesSummary) -> Value {
    let changes = &p.stability.changes;
    json!({
        "points": list(&changes.points, |point| {
            json!({"index": point.index, "before": number(point.before), "after": number(point.after)})
        }),
        "within": changes.group,
    })
}

fn steady_state(p: &SeriesSummary) -> Value {
    let Some(steady) = &p.stability.steady else { return Value::Null };
    json!({
        "label": steady.label.word(),
        "begins": steady.begins,
        "tolerance": number(p.stability.tolerance),
        "parts": list(&steady.parts, |part| {
            json!({"start": part.start, "end": part.end, "median": number(part.median)})
        }),
    })
}

fn signed_rank(p: &SeriesSummary, confidence: f64) -> Value {
    let Some((test, pseudo_median)) = &p.signed_rank else { return Value::Null };
    let exact = test.exact().map(|found| {
        let head = json!({
            "p_two": number(found.two), "p_less": number(found.less),
            "p_greater": number(found.greater), "estimate": number(test.estimate()),
        });
        let found = per_level(confidence, |level| Some(test.exact_interval(level)?.0));
        covered(p, with(head, found), Method::PseudoMedianExact)
    });
    let asymptotic = with(
        json!({"estimate": number(test.estimate())}),
        per_level(confidence, |level| test.asymptotic_interval(level)),
    );
    let corrected = test.asymptotic(true);
    json!({
        "n_used": test.used(),
        "V": number(test.v),
        "ties": test.ties,
        "zeros": test.zeros,
        "exact": exact,
        "asymptotic": {
            "p_two": number(corrected.two), "p_less": number(corrected.less),
            "p_greater": number(corrected.greater),
        },
        "asymptotic_nocorrect": {"p_two": number(test.asymptotic(false).two)},
        "asymptotic_ci": covered(p, asymptotic, Method::PseudoMedianAsymptotic),
        "pseudomedian_exact_all": number(*pseudo_median),
        "rank_biserial": number(test.rank_biserial()),
    })
}

fn resampled(p: &SeriesSummary, confidence: f64) -> [(&'static str, Value); 3] {
    let Some(found) = &p.resampled else {
        return ["bootstrap_mean", "bootstrap_sd", "bootstrap_median"]
            .map(|key| (key, Value::Null));
    };
    use Method::{
        BootstrapMeanBasic, BootstrapMeanBca, BootstrapMeanNormal, BootstrapMeanPercentile,
        BootstrapMedianBasic, BootstrapMedianBca, BootstrapMedianNormal, BootstrapMedianPercentile,
        BootstrapSdBasic, BootstrapSdBca, BootstrapSdNormal, BootstrapSdPercentile,
    };
    let of_mean =
        [BootstrapMeanNormal, BootstrapMeanBasic, BootstrapMeanPercentile, BootstrapMeanBca];
    let of_sd = [BootstrapSdNormal, BootstrapSdBasic, BootstrapSdPercentile, BootstrapSdBca];
    let of_median = [
        BootstrapMedianNormal,
        BootstrapMedianBasic,
        BootstrapMedianPercentile,
        BootstrapMedianBca,
    ];
    let statistics = [
        ("bootstrap_mean", &found.mean, of_mean),
        ("bootstrap_sd", &found.sd, of_sd),
        ("bootstrap_median", &found.median, of_median),
    ];
    statistics.map(|(key, of, methods)| {
        let [normal, basic, percentile, bca] = methods
            .map(|method| coverage(p.situation.warning(method).filter(|_| speaks_for(confidence))));
        let value = json!({
            "R": found.resamples,
            "seed": found.seed,
            "confidence": number(confidence),
            "t0": number(of.t0),
            "bias": number(of.bias),
            "se": number(of.se),
            "normal": interval(of.normal(confidence)),
            "basic": interval(of.basic(confidence)),
            "percentile": interval(of.percentile(confidence)),
            "bca": interval(of.bca(confidence)),
            "coverage": {"normal": normal, "basic": basic, "percentile": percentile, "bca": bca},
        });
        (key, value)
    })
}
