//! The sentence for every kind of difference, from synthetic decisions.

use crate::common;

use assay_analysis::{Analysis, Interval, Outlook, QuantileDifference, Scale, verdict::Decision};
use assay_data::{Better, Design, Metric, Plan, StopRule, Unit};
use assay_report::words;

/// Returns an analysis of two subjects with this primary metric and decision.
fn decided(metric: Metric, scale: Scale, numbers: [f64; 3], threshold: f64, step: f64) -> Analysis {
    let mut analysis = common::only_wall();
    let on_scale = |v: f64| if scale == Scale::Ratio { v.ln() } else { v };
    let [estimate, lower, upper] = numbers.map(on_scale);
    let interval = Some(Interval { lower, upper });
    let threshold = if scale == Scale::Ratio { threshold.ln_1p() } else { threshold };
    let decision = Decision::read(scale, estimate, interval, threshold, step, metric.better);
    analysis.metrics[0] = metric;
    let comparison = &mut analysis.comparisons[0];
    comparison.quantiles.clear();
    comparison.decision = decision;
    if scale == Scale::Ratio {
        // Medians and means agree with the decision, unless a test changes them.
        (comparison.medians, comparison.means) = ((1.0, numbers[0]), (1.0, numbers[0]));
    }
    analysis
}

fn ratio(metric: Metric, numbers: [f64; 3]) -> String {
    sentence(&decided(metric, Scale::Ratio, numbers, 0.01, 0.0))
}

fn sentence(analysis: &Analysis) -> String {
    words::sentence(analysis, &analysis.comparisons[0], "new", "old").plain()
}

fn claim(analysis: &Analysis) -> String {
    words::sentence(analysis, &analysis.comparisons[0], "new", "old").claim
}

fn seconds(name: &str) -> Metric {
    Metric::lower(name, Unit::Second)
}

fn higher(name: &str) -> Metric {
    Metric { better: Better::Higher, ..Metric::lower(name, Unit::PerSecond) }
}

#[test]
fn time_is_taken_and_beyond_a_factor_of_two_it_is_multiples() {
    assert_eq!(
        ratio(Metric::wall(), [0.974, 0.969, 0.98]),
        "new takes 2.6 % less time than old (95 % confidence: between 2.0 and 3.1 % less; faster in 42 of 42 blocks)"
    );
    let wall = |numbers| ratio(Metric::wall(), numbers);
    assert!(
        wall([0.25, 0.24, 0.26])
            .starts_with("new is 4.0 × as fast as old (95 % confidence: between 3.8 and 4.2 ×")
    );
    assert!(
        wall([4.0, 3.8, 4.2])
            .starts_with("new takes 4.0 × as long as old (95 % confidence: between 3.8 and 4.2 ×")
    );
    assert!(
        wall([12.0, 12.0, 12.0])
            .starts_with("new takes 12 × as long as old (95 % confidence: 12 ×")
    );
    assert!(wall([1.9, 1.7, 2.2]).starts_with(
        "new takes 90 % more time than old (95 % confidence: between 70 and 120 % more"
    ));
}

#[test]
fn what_rounding_leaves_of_zero_is_zero() {
    let said = ratio(Metric::wall(), [1.05, 1.0 - 1e-10, 1.21]);
    assert!(said.contains("takes up to 21 % more time than old"), "{said}");
    let said = ratio(Metric::wall(), [0.95, 0.9, 1.0 + 1e-10]);
    assert!(said.contains("takes up to 10 % less time than old"), "{said}");
}

#[test]
fn every_metric_has_its_own_words() {
    let start = |metric: Metric, numbers| {
        let said = ratio(metric, numbers);
        said.split(" (95").next().map(str::to_owned)
    };
    let less = [0.88, 0.86, 0.9];
    let more = [1.03, 1.02, 1.04];
    let memory = || Metric::lower("max_rss", Unit::Byte);
    let expect = |text: &str| Some(text.to_owned());
    assert_eq!(start(seconds("cpu"), less), expect("new uses 12 % less CPU time than old"));
    assert_eq!(start(memory(), more), expect("new needs 3.0 % more memory at its peak than old"));
    assert_eq!(start(memory(), [4.0, 3.8, 4.2]), expect("new needs 4.0 × the peak memory of old"));
    assert_eq!(start(seconds("latency"), more), expect("new has a 3.0 % higher latency than old"));
    assert_eq!(
        start(seconds("real_time"), [0.92, 0.91, 0.93]),
        expect("new has an 8.0 % lower real time than old")
    );
    assert_eq!(
        start(higher("requests"), [1.12, 1.1, 1.14]),
        expect("new has 12 % more requests per second than old")
    );
    assert_eq!(start(higher("throughput"), less), expect("new has 12 % less throughput than old"));
    assert_eq!(
        start(Metric::lower("page_faults", Unit::One), less),
        expect("new has 12 % fewer page faults than old")
    );
}

#[test]
fn an_interval_on_both_sides_of_nothing_names_both() {
    assert_eq!(
        ratio(Metric::wall(), [1.001, 0.996, 1.007]),
        "no difference that matters: new takes between 0.40 % less and 0.70 % more time than old (95 % confidence; threshold 1 %)"
    );
    assert_eq!(
        ratio(Metric::wall(), [0.994, 0.981, 1.008]),
        "not known yet: new takes between 1.9 % less and 0.8 % more time than old, so any difference is below 1.9 % (95 % confidence, 42 blocks)"
    );
    assert!(ratio(Metric::wall(), [1.0, 0.4, 3.1]).starts_with(
        "not known yet: new takes between 0.4 and 3.1 × the time of old, so any difference is below a factor of 3.1"
    ));
    assert!(ratio(seconds("latency"), [1.0, 0.97, 1.02]).starts_with(
        "not known yet: new has a latency between 3.0 % lower and 2.0 % higher than old, so"
    ));
}

#[test]
fn no_difference_can_be_a_small_one() {
    assert!(ratio(Metric::wall(), [0.998, 0.997, 0.999]).starts_with(
        "no difference that matters: new takes between 0.10 and 0.30 % less time than old"
    ));
    assert!(
        ratio(Metric::wall(), [1.001, 1.0, 1.003])
            .starts_with("no difference that matters: new takes up to 0.30 % more time than old")
    );
}

#[test]
fn a_direction_that_may_not_matter_says_so() {
    assert_eq!(
        ratio(Metric::wall(), [0.986, 0.971, 0.997]),
        "new takes at least 0.3 % less time than old, possibly less than the 1 % that matters (95 % confidence: between 0.3 and 2.9 % less; faster in 42 of 42 blocks)"
    );
}

#[test]
fn a_size_that_is_hardly_known_is_told_by_what_it_is_at_least() {
    assert!(ratio(Metric::wall(), [2.0, 1.0255, 4.7]).starts_with(
        "new takes at least 3 % more time than old (95 % confidence: between 3 and 370 % more"
    ));
    assert!(ratio(Metric::wall(), [2.5, 2.2, 2.8]).starts_with("new takes 2.5 × as long as old"));
}

#[test]
fn amounts_are_told_where_amounts_decide() {
    let decided =
        decided(Metric::wall(), Scale::Shift, [-12.3e-6, -13.1e-6, -11.6e-6], 6.667e-6, 0.0);
    assert!(sentence(&decided).starts_with(
        "new takes 12.30 µs less time than old (95 % confidence: between 11.60 and 13.10 µs less"
    ));
    let latency = decided_latency();
    assert!(sentence(&latency).starts_with(
        "new has a latency at least 0.8 ms lower than old, possibly less than the 2 ms that matters"
    ));
}

fn decided_latency() -> Analysis {
    decided(seconds("latency"), Scale::Shift, [-0.003, -0.0052, -0.0008], 0.002, 0.0)
}

#[test]
fn a_share_of_zero_is_no_threshold() {
    let none = decided(
        Metric::lower("page_faults", Unit::One),
        Scale::Shift,
        [3.0, 2.0, 4.0],
        f64::NAN,
        0.0,
    );
    assert_eq!(
        sentence(&none),
        "new has 3 more page faults than old (95 % confidence: between 2 and 4 more; no threshold, since a share of 0 is 0; more in 0 of 42 blocks)"
    );
}

#[test]
fn equal_values_in_coarse_steps_are_no_share_of_zero() {
    let same = decided(seconds("inner"), Scale::Ratio, [1.0, 0.93, 1.08], 0.01, 0.08);
    let claim = claim(&same);
    assert!(
        claim.contains("so any difference is below 8.0 %, most of which one step hides"),
        "{claim}"
    );
}

#[test]
fn nothing_against_nothing_is_no_difference() {
    let faults = Metric::lower("page_faults", Unit::One);
    let none = decided(faults, Scale::Shift, [0.0, 0.0, 0.0], f64::NAN, 0.0);
    assert_eq!(claim(&none), "no difference that matters: new has the same page faults as old");
    let touching = decided(seconds("wall"), Scale::Shift, [0.001, 0.0, 0.0015], 0.002, 0.0);
    assert!(claim(&touching).ends_with("new takes up to 1.50 ms more time than old"));
}

#[test]
fn a_clock_too_coarse_is_named_as_what_keeps_it_from_being_known() {
    let coarse = decided(Metric::wall(), Scale::Ratio, [1.0, 0.98, 1.02], 0.01, 0.02);
    let sentence = sentence(&coarse);
    assert!(
        sentence.contains("most of which one step hides: wall comes in steps of 2.0 %"),
        "{sentence}"
    );
}

#[test]
fn medians_and_means_that_disagree_are_named() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [2.5, 1.6, 3.4], 0.01, 0.0);
    analysis.comparisons[0].medians = (1.13, 1.29);
    let told = claim(&analysis);
    assert!(told.ends_with("; the medians differ by 14 %"), "{told}");
    // Readers who divide the medians in the table find another number than the sentence.
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [1.24, 1.15, 1.38], 0.01, 0.0);
    analysis.comparisons[0].medians = (1.0, 1.36);
    let told = claim(&analysis);
    assert!(told.ends_with("; the medians differ by 36 %"), "{told}");
    assert!(told.starts_with("within a typical block "), "{told}");
    // One of many values is ten times as large.
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [1.0, 0.998, 1.002], 0.01, 0.0);
    analysis.comparisons[0].means = (1.0, 1.29);
    let told = claim(&analysis);
    assert!(
        told.starts_with("no difference that matters: ")
            && told.ends_with("; the means differ by 29 %"),
        "{told}"
    );
    // Means within the interval are not mentioned.
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [1.05, 1.04, 1.06], 0.01, 0.0);
    (analysis.comparisons[0].medians, analysis.comparisons[0].means) = ((1.0, 1.055), (1.0, 1.045));
    assert!(!claim(&analysis).contains("differ by"));
}

#[test]
fn a_size_that_is_an_end_of_the_interval_is_written_as_that_end() {
    let told = ratio(Metric::wall(), [0.8, 0.67, 0.953]);
    assert!(
        told.contains("at least 5 % less") && told.contains("between 5 and 33 % less"),
        "{told}"
    );
}

#[test]
fn a_machine_too_busy_for_the_whole_difference_is_named_with_the_answer() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [1.9, 1.31, 2.76], 0.01, 0.0);
    analysis.environment.set("load_1m", 30.0);
    analysis.environment.set("cpus_online", 2.0);
    let told = words::details(&analysis, &analysis.comparisons[0], "new", "old");
    assert!(told.iter().any(|line| line.contains("busy (load 30 on 2 CPUs)")), "{told:?}");
    // If the size is known, the load is not mentioned.
    let mut known = decided(Metric::wall(), Scale::Ratio, [1.3, 1.28, 1.32], 0.01, 0.0);
    known.environment = analysis.environment.clone();
    let told = words::details(&known, &known.comparisons[0], "new", "old");
    assert!(!told.iter().any(|line| line.contains("busy")), "{told:?}");
}

#[test]
fn cpu_time_of_a_server_is_no_substitute_for_its_latency() {
    let told = |metric: Metric| {
        let mut analysis = decided(metric, Scale::Ratio, [1.9, 1.31, 2.76], 0.01, 0.0);
        analysis.environment.set("load_1m", 30.0);
        analysis.environment.set("cpus_online", 2.0);
        analysis.metrics.push(Metric::lower("server_cpu_per_request", Unit::Second));
        analysis.subjects.iter_mut().for_each(|own| own.metrics.push(own.metrics[0].clone()));
        words::details(&analysis, &analysis.comparisons[0], "new", "old").concat()
    };
    let latency = told(Metric::lower("latency_p99", Unit::Second));
    assert!(latency.contains("busy") && !latency.contains("cpu_per_request"), "{latency}");
    let higher = Metric::lower("rate_achieved", Unit::PerSecond);
    let rate = told(Metric { better: Better::Higher, ..higher });
    assert!(rate.contains("answers another question (--primary server_cpu_per_request)"), "{rate}");
}

#[test]
fn runs_that_hit_the_limit_make_the_difference_a_bound() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [0.7, 0.68, 0.72], 0.01, 0.0);
    analysis.subjects[0].timeouts = 3;
    assert_eq!(claim(&analysis), "new takes at least 30 % less time than old");
    analysis.subjects[1].timeouts = 3;
    assert_eq!(claim(&analysis), "new takes 30 % less time than old");
    analysis.subjects[0].timeouts = 0;
    assert_eq!(claim(&analysis), "new takes at most 30 % less time than old");
}

#[test]
fn recordings_speak_of_themselves_only() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [0.7, 0.68, 0.72], 0.01, 0.0);
    analysis.comparisons[0].design = Design::Unpaired;
    assert_eq!(
        claim(&analysis),
        "new takes 30 % less time than old, if nothing else changed between the recordings"
    );
}

#[test]
fn the_outlook_answers_two_questions_and_says_what_to_type() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [0.994, 0.981, 1.008], 0.01, 0.0);
    let mut follow = |outlook: Outlook, seconds: Option<f64>| {
        analysis.comparisons[0].outlook = Some(outlook);
        analysis.seconds_per_block = seconds;
        words::details(&analysis, &analysis.comparisons[0], "new", "old")
    };
    let both = Outlook { to_rule_out: Some(108), to_confirm: Some(200), reachable_threshold: None };
    assert_eq!(
        follow(both, Some(2.0)),
        [
            "To rule out 1 %: about 110 more blocks (4 min); to confirm the 0.60 % seen now: about 200 more blocks (7 min). Give it that time: --time 9min"
        ]
    );
    let beyond =
        Outlook { to_rule_out: Some(9000), to_confirm: None, reachable_threshold: Some(0.0305) };
    assert_eq!(
        follow(beyond, None),
        [
            "Ruling out 1 % takes more than 1024 blocks with this noise; 3.1 % is feasible: --threshold 3.1%"
        ]
    );
    let nothing = Outlook { to_rule_out: None, to_confirm: None, reachable_threshold: None };
    assert!(follow(nothing, None).is_empty());
}

#[test]
fn nobody_is_advised_to_measure_for_days() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [0.994, 0.981, 1.008], 0.01, 0.0);
    analysis.plan = Plan { stop: StopRule::Fixed { blocks: 42 }, ..analysis.plan };
    let long = Outlook { to_rule_out: Some(280_000), to_confirm: None, reachable_threshold: None };
    analysis.comparisons[0].outlook = Some(long);
    let mut told = |seconds| {
        analysis.seconds_per_block = Some(seconds);
        words::details(&analysis, &analysis.comparisons[0], "new", "old").join(" ")
    };
    assert_eq!(
        told(10.0),
        "The difference, if there is one, is too small to be detected in a day."
    );
    assert!(told(0.1).ends_with("--runs 290000"), "{}", told(0.1));
}

#[test]
fn one_number_of_blocks_is_needed_wherever_it_is_told() {
    let mut analysis = decided(Metric::wall(), Scale::Ratio, [0.97, 0.96, 0.98], 0.01, 0.0);
    let c = &mut analysis.comparisons[0];
    (c.blocks, c.fewest_blocks, c.decision.interval) = (Some(7), 8, None);
    c.share = 2.0;
    assert!(claim(&analysis).ends_with(": 8 needed, 7 taken"), "{}", claim(&analysis));
    let details = words::details(&analysis, &analysis.comparisons[0], "new", "old").join(" ");
    assert!(details.ends_with("95 % confidence takes at least 8 blocks"), "{details}");
}

#[test]
fn a_tail_that_goes_its_own_way_has_a_line_and_any_other_has_none() {
    let tail = |numbers, scale, ratio: f64| {
        let mut analysis = decided(Metric::wall(), scale, numbers, 0.01, 0.0);
        let around = |centre: f64| Some(Interval { lower: centre - 0.05, upper: centre + 0.06 });
        analysis.comparisons[0].quantiles = vec![QuantileDifference {
            share: 0.999,
            x: 1.0,
            y: ratio,
            difference: ratio - 1.0,
            interval: around(ratio - 1.0),
            ratio: Some(ratio),
            ratio_interval: around(ratio),
            p: Some(1e-4),
            adjusted: Some(1e-3),
            fewest: 3688,
        }];
        words::details(&analysis, &analysis.comparisons[0], "new", "old")
    };
    let (equal, slower) = ([1.0, 0.995, 1.005], [1.03, 1.02, 1.04]);
    assert_eq!(
        tail(equal, Scale::Ratio, 1.08),
        [
            "the middle did not move, but p99.9 is 8.0 % higher (95 % confidence: between 3 and 14 %)"
        ]
    );
    assert_eq!(
        tail(slower, Scale::Ratio, 0.8),
        ["the tail goes the other way: p99.9 is 20 % lower (95 % confidence: between 14 and 25 %)"]
    );
    assert_eq!(
        tail([0.0, -0.005, 0.005], Scale::Shift, 1.2),
        [
            "the middle did not move, but p99.9 is 200.0 ms higher (95 % confidence: between 150.0 ms and 260.0 ms)"
        ]
    );
    assert!(tail(slower, Scale::Ratio, 1.08).is_empty());
    assert!(tail(equal, Scale::Ratio, 1.04).is_empty());
}

#[test]
fn metrics_of_the_user_read_well_whatever_their_name() {
    let start = |metric: Metric, numbers| {
        let said = ratio(metric, numbers);
        said.split(" (95").next().unwrap_or_default().to_owned()
    };
    let (less, more, much) = ([0.974, 0.969, 0.98], [1.12, 1.1, 1.14], [3.2, 3.1, 3.3]);
    let one = |name: &str| Metric { unit: Unit::One, ..higher(name) };
    assert_eq!(start(seconds("inner"), less), "new takes 2.6 % less inner time than old");
    assert_eq!(start(seconds("inner"), much), "new takes 3.2 × the inner time of old");
    assert_eq!(start(seconds("gc_pause"), more), "new takes 12 % more gc pause time than old");
    assert_eq!(start(higher("inflates"), more), "new has 12 % more inflates per second than old");
    assert_eq!(start(higher("inner"), more), "new has a 12 % higher inner rate than old");
    assert_eq!(start(higher("inner"), much), "new has 3.2 × the inner rate of old");
    assert_eq!(start(one("cpu_per_wall"), less), "new has a 2.6 % lower CPU/wall than old");
    assert_eq!(start(one("cpu_per_wall"), much), "new has 3.2 × the CPU/wall of old");
    assert_eq!(start(one("score"), more), "new has a 12 % higher score than old");
}
