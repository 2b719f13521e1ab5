//! Every classical test as JSON: what `compare --all` adds to the report.
//!
//! Keys are those of the R session that the tests are held to (`p_two`, `ci95`, `U_of`), so that
//! whoever knows R finds the way; `docs/reference/json.md` names the R call of each. What has no
//! answer is `null`, and `reasons` says why. Nothing is computed here.

use crate::json_values::{coverage, number};
use assay_analysis::battery::{
    Anytime, Battery, ChiSquaredTest, Equivalence, FTest, Found, GroupTests, Intervals,
    KolmogorovSmirnov, MannWhitney, Means, PairTests, Pairing, Pairwise, Placements, ShiftEstimate,
    SignedRanks,
};
use assay_analysis::battery::{EffectSize, Interval, PValues};
use assay_analysis::coverage::{Method, Situation};
use serde_json::{Map, Value, json};

/// Adds the battery to a report: `all` to every comparison of the primary metric, `groups` behind
/// the comparisons at the top.
pub(crate) fn extend(top: &mut Map<String, Value>, battery: &Battery) {
    if let Some(Value::Array(comparisons)) = top.get_mut("comparisons") {
        for (comparison, tests) in comparisons.iter_mut().zip(&battery.pairs) {
            if let Value::Object(comparison) = comparison {
                comparison.insert("all".to_owned(), pair(tests));
            }
        }
    }
    let groups = battery.groups.as_ref().map_or(Value::Null, groups);
    let place = top.keys().position(|key| key == "secondary").unwrap_or(top.len());
    top.shift_insert(place, "groups".to_owned(), groups);
}

fn pair(tests: &PairTests) -> Value {
    let mut all = Map::new();
    let mut reasons = Map::new();
    let mut put = |name: &str, found: Found<Value>| {
        if let Err(missing) = &found {
            reasons.insert(name.to_owned(), json!(missing.words()));
        }
        all.insert(name.to_owned(), found.unwrap_or(Value::Null));
    };
    let both = Some(tests.situation);
    let holds = |method| move |map| covered(map, both, method);
    let pairs = tests.situation_of_pairs;
    put("t_pooled", shown(&tests.t_pooled, means).map(holds(Method::PooledT)));
    put("t_welch", shown(&tests.t_welch, means).map(holds(Method::Welch)));
    let t_paired = shown(&tests.t_paired, paired);
    put("t_paired", t_paired.map(|map| covered(map, pairs, Method::MeanT)));
    put("mann_whitney", shown(&tests.mann_whitney, mann_whitney));
    put("hodges_lehmann", shown(&tests.hodges_lehmann, |found| shift(found, tests.situation)));
    let logarithms = shown(&tests.ratio_hodges_lehmann_log, |found| shift(found, tests.situation));
    put("ratio_hodges_lehmann_log", logarithms);
    let ranks = shown(&tests.wilcoxon_signed_rank, |found| signed_ranks(found, pairs));
    put("wilcoxon_signed_rank", ranks);
    let placed = shown(&tests.brunner_munzel, placements);
    put("brunner_munzel", placed.map(holds(Method::BrunnerMunzel)));
    put("ks_two_sample", shown(&tests.ks_two_sample, distances));
    put("effect_size", shown(&tests.effect_size, sizes));
    let variances = shown(
        &tests.f_test_variance,
        |v| json!({"F": number(v.f), "df1": number(v.df.0), "df2": number(v.df.1), "p_two": number(v.p_two)}),
    );
    put("f_test_variance", variances);
    let ci90 = tests.t_welch.as_ref().ok().and_then(|welch| at(&welch.intervals, 0.9));
    let names = ["1pct_of_mean_against", "5pct_of_mean_against", "threshold"];
    for (index, name) in names.into_iter().enumerate() {
        let found = shown(&tests.tost, |all| equivalence(&all[index], ci90));
        put(&format!("tost_welch_{name}"), found);
    }
    let ratio = shown(&tests.ratio_of_means, |ratio| {
        json!({
            "ratio": number(ratio.ratio),
            "fieller_pooled": covered(intervals(&ratio.fieller), both, Method::Fieller),
            "delta_log_unpooled_z": covered(intervals(&ratio.delta_log), both, Method::DeltaLog),
        })
    });
    put("ratio_of_means", ratio);
    put("anytime", shown(&tests.anytime, anytime));
    if tests.all_equal {
        // Tests that have an answer all the same, if not a p-value.
        for name in ["mann_whitney", "brunner_munzel", "f_test_variance", "effect_size"] {
            reasons.insert(name.to_owned(), json!("all observations are equal"));
        }
    }
    all.insert(
        "paired_by".to_owned(),
        json!(tests.pairing.map(|pairing| match pairing {
            Pairing::Blocks => "blocks",
            Pairing::Order => "order",
        })),
    );
    all.insert("reasons".to_owned(), Value::Object(reasons));
    Value::Object(all)
}

fn anytime(found: &Anytime) -> Value {
    json!({
        "level": number(found.level),
        "sign_log10_e": number(found.sign_log10_e),
        "rejects": found.rejects,
        "mean_ratio": interval(found.mean_ratio),
        "median_ratio": interval(found.median_ratio),
    })
}

fn shown<T>(found: &Found<T>, show: impl Fn(&T) -> Value) -> Found<Value> {
    found.as_ref().map(show).map_err(|missing| *missing)
}

/// Says beside intervals how often those of `method` held in such a situation; nothing beside what is no object.
fn covered(mut value: Value, situation: Option<Situation>, method: Method) -> Value {
    if let (Value::Object(map), Some(situation)) = (&mut value, situation) {
        map.insert("coverage".to_owned(), coverage(situation.warning(method)));
    }
    value
}

/// An interval; an end that is not finite is `null`.
fn interval(interval: Option<Interval>) -> Value {
    interval.map_or(Value::Null, |i| json!({"lower": number(i.lower), "upper": number(i.upper)}))
}

/// The key of the interval at a confidence: `ci95`, `ci97.5`.
fn key(confidence: f64) -> String {
    format!("ci{}", (confidence * 1e8).round() / 1e6)
}

/// One key for each confidence: `ci90`, `ci95`, `ci99`, and the one asked for.
fn intervals(all: &Intervals) -> Value {
    let mut map = Map::new();
    put_intervals(&mut map, all);
    Value::Object(map)
}

fn put_intervals(map: &mut Map<String, Value>, all: &Intervals) {
    map.extend(all.iter().map(|(confidence, found)| (key(*confidence), interval(*found))));
}

fn at(all: &Intervals, confidence: f64) -> Option<Interval> {
    all.iter().find(|(known, _)| (known - confidence).abs() < 1e-9).and_then(|(_, found)| *found)
}

fn put_p(map: &mut Map<String, Value>, p: PValues) {
    for (name, value) in [("p_two", p.two), ("p_less", p.less), ("p_greater", p.greater)] {
        map.insert(name.to_owned(), number(value));
    }
}

fn p_values(p: PValues) -> Value {
    let mut map = Map::new();
    put_p(&mut map, p);
    Value::Object(map)
}

fn object(pairs: &[(&str, Value)]) -> Map<String, Value> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn paired(means: &Means) -> Value {
    let mut map = object(&[
        ("diff", number(means.test.estimate)),
        ("t", number(means.test.t)),
        ("df", number(means.test.df)),
        ("stderr", number(means.test.standard_error)),
    ]);
    put_p(&mut map, means.p);
    put_intervals(&mut map, &means.intervals);
    Value::Object(map)
}

fn means(means: &Means) -> Value {
    let mut map =
        object(&[("mean_of", number(means.means.0)), ("mean_against", number(means.means.1))]);
    if let Value::Object(test) = paired(means) {
        map.extend(test);
    }
    if let Some(sd) = means.pooled_sd {
        map.insert("pooled_sd".to_owned(), number(sd));
    }
    map.extend(object(&[
        ("half_width99", number(means.half_width99)),
        ("rel_diff_pct_of_against", number(means.difference_percent)),
        ("rel_half_width99_pct_of_against", number(means.half_width99_percent)),
    ]));
    Value::Object(map)
}

fn mann_whitney(test: &MannWhitney) -> Value {
    json!({
        "U_of": number(test.u.0),
        "U_against": number(test.u.1),
        "ties": test.ties,
        "r_default": if test.exact.is_some() { "exact" } else { "asymptotic" },
        "exact": test.exact.map_or(Value::Null, p_values),
        "asymptotic": p_values(test.asymptotic),
        "asymptotic_nocorrect": p_values(test.asymptotic_nocorrect),
        "z_corrected": number(test.z.0),
        "z": number(test.z.1),
        "log10_p_two_corrected": number(test.log10_p_two),
    })
}

fn shift(found: &ShiftEstimate, situation: Situation) -> Value {
    let (less, greater) = split(found.exact_one_sided);
    let exact = found.exact.as_ref().map_or(Value::Null, |all| {
        let mut map = object(&[("estimate", number(found.estimate))]);
        put_achieved(&mut map, all);
        map.insert("less95".to_owned(), interval(less));
        map.insert("greater95".to_owned(), interval(greater));
        Value::Object(map)
    });
    let (less, greater) = split(found.asymptotic_one_sided);
    let asymptotic = found.asymptotic.as_ref().map_or(Value::Null, |all| {
        let mut map = object(&[("estimate_root", number(found.estimate))]);
        put_intervals(&mut map, all);
        map.insert("less95".to_owned(), interval(less));
        map.insert("greater95".to_owned(), interval(greater));
        map.insert("k95".to_owned(), json!(found.k95.map(|(lower, upper)| [lower, upper])));
        Value::Object(map)
    });
    json!({
        "estimate_exact": number(found.estimate),
        "exact": covered(exact, Some(situation), Method::ShiftExact),
        "asymptotic": covered(asymptotic, Some(situation), Method::ShiftAsymptotic),
    })
}

fn split(both: Option<(Interval, Interval)>) -> (Option<Interval>, Option<Interval>) {
    (both.map(|(less, _)| less), both.map(|(_, greater)| greater))
}

/// Exact intervals, and the confidence that each really has where that is less than asked for.
fn put_achieved(map: &mut Map<String, Value>, all: &[(f64, Interval, f64)]) {
    for (confidence, found, _) in all {
        map.insert(key(*confidence), interval(Some(*found)));
    }
    let achieved: Vec<Value> =
        all.iter().map(|(confidence, _, achieved)| number(achieved.min(*confidence))).collect();
    map.insert("conf_level_achieved".to_owned(), Value::Array(achieved));
}

/// Wilcoxon's signed ranks, of differences or of one sample about 0.
fn signed_ranks(ranks: &SignedRanks, situation: Option<Situation>) -> Value {
    let exact = ranks.exact.as_ref().map_or(Value::Null, |exact| {
        let mut map = Map::new();
        put_p(&mut map, exact.p);
        map.insert("estimate".to_owned(), number(ranks.estimate));
        put_achieved(&mut map, &exact.intervals);
        Value::Object(map)
    });
    let mut asymptotic = object(&[("estimate", number(ranks.estimate))]);
    put_intervals(&mut asymptotic, &ranks.asymptotic_ci);
    json!({
        "n_used": ranks.n_used,
        "V": number(ranks.v),
        "ties": ranks.ties,
        "zeros": ranks.zeros,
        "exact": covered(exact, situation, Method::PseudoMedianExact),
        "asymptotic": p_values(ranks.asymptotic),
        "asymptotic_nocorrect": p_values(ranks.asymptotic_nocorrect),
        "asymptotic_ci":
            covered(Value::Object(asymptotic), situation, Method::PseudoMedianAsymptotic),
        "pseudomedian_exact_all": number(ranks.pseudomedian),
        "rank_biserial": number(ranks.rank_biserial),
    })
}

fn placements(test: &Placements) -> Value {
    let mut map = object(&[
        ("p_of_less_against_plus_half_ties", number(test.p_less)),
        ("stat", number(test.statistic)),
        ("df", number(test.df)),
        ("se", number(test.standard_error)),
    ]);
    put_p(&mut map, test.p);
    put_intervals(&mut map, &test.intervals);
    Value::Object(map)
}

fn distances(test: &KolmogorovSmirnov) -> Value {
    json!({
        "D": number(test.d),
        "p_two": number(test.p_two),
        "method": if test.exact { "exact" } else { "asymptotic" },
        "D_minus": number(test.d_minus),
        "p_less": number(test.p_less),
        "D_plus": number(test.d_plus),
        "p_greater": number(test.p_greater),
        "p_two_asymptotic": number(test.p_two_asymptotic),
    })
}

fn sizes(sizes: &EffectSize) -> Value {
    json!({
        "a12": number(sizes.a12),
        "cliffs_delta": number(sizes.cliffs_delta),
        "cohen_d": number(sizes.cohen_d),
        "hedges_g_exact": number(sizes.hedges_g),
        "glass_delta_sd_against": number(sizes.glass_delta),
    })
}

fn equivalence(test: &Equivalence, ci90: Option<Interval>) -> Value {
    json!({
        "margin": number(test.margin),
        "t_lower": number(test.t_lower),
        "p_lower": number(test.p_lower),
        "t_upper": number(test.t_upper),
        "p_upper": number(test.p_upper),
        "df": number(test.df),
        "p_tost": number(test.p()),
        "ci90": interval(ci90),
    })
}

fn groups(groups: &GroupTests) -> Value {
    json!({
        "kruskal_wallis": chi_squared(groups.kruskal_wallis, "H"),
        "anova_oneway": f_test(groups.anova_oneway),
        "anova_welch": f_test(groups.anova_welch),
        "levene_median": f_test(groups.levene_median),
        "fligner_killeen": chi_squared(groups.fligner_killeen, "X2"),
        "pairwise_mann_whitney_asymptotic": pairwise(&groups.pairwise),
    })
}

fn chi_squared(test: Option<ChiSquaredTest>, statistic: &str) -> Value {
    let shown = |test: ChiSquaredTest| json!({statistic: number(test.statistic), "df": number(test.df), "p": number(test.p)});
    test.map_or(Value::Null, shown)
}

fn f_test(test: Option<FTest>) -> Value {
    let shown = |test: FTest| {
        json!({
            "F": number(test.f),
            "df1": number(test.df1),
            "df2": number(test.df2),
            "p": number(test.p),
        })
    };
    test.map_or(Value::Null, shown)
}

fn pairwise(found: &Pairwise) -> Value {
    let named = |p: &[f64]| -> Value {
        let names = found.pairs.iter().map(|(first, second)| format!("{first}|{second}"));
        Value::Object(names.zip(p.iter().copied().map(number)).collect())
    };
    json!({
        "raw": named(&found.raw),
        "holm": named(&found.holm),
        "bh": named(&found.bh),
        "by": named(&found.by),
        "hochberg": named(&found.hochberg),
        "bonferroni": named(&found.bonferroni),
    })
}
