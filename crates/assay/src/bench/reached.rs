//! The finding about changed functions: the number of benchmarks that reach or execute one, and the
//! changed functions that no benchmark reaches.

use assay_data::code;
use assay_data::{Action, Finding, Severity};
use assay_harness::function_name;
use assay_measure::code::Changed;

/// How a benchmark relates to changed code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wording {
    /// The benchmark may call the code.
    Reaches,
    /// The benchmark executed the code.
    Executes,
}

impl Wording {
    /// Returns the verb in the singular and in the plural.
    fn verbs(self) -> [&'static str; 2] {
        match self {
            Self::Reaches => ["reaches", "reach"],
            Self::Executes => ["executes", "execute"],
        }
    }
}

/// Returns the finding about changed functions; `None` if there are no benchmarks or no such
/// functions. `differ` of `all` benchmarks reach a changed function.
pub(super) fn reach(
    functions: &[Changed],
    (differ, all): (usize, usize),
    whose: &str,
    wording: Wording,
) -> Option<Finding> {
    let [reaches, reach] = wording.verbs();
    // Initializers of files run before any benchmark.
    let functions: Vec<&Changed> =
        functions.iter().filter(|own| !own.name.starts_with("_GLOBAL__")).collect();
    let mut unreached = functions.iter().filter(|own| !own.is_reached);
    if all == 0 || functions.is_empty() {
        return None;
    }
    let lacking = unreached.clone().count();
    let first = unreached.next().map(|own| function_name(&own.name));
    let is_longest = functions.first().is_some_and(|own| !own.is_reached);
    let longest = if is_longest { ", the longest function that changed" } else { "" };
    let others = match lacking {
        0 | 1 => String::new(),
        2 => ", nor 1 other".to_owned(),
        n => format!(", nor {} others", n - 1),
    };
    let none =
        first.map_or(String::new(), |name| format!("none {reaches} `{name}`{longest}{others}"));
    let told = match (differ, none.is_empty()) {
        (0, true) => format!("no benchmark {reaches} code that changed{whose}"),
        (0, false) => format!("of {all} benchmarks {none}{whose}"),
        // The difference is then in data, or in code outside functions.
        _ if lacking == functions.len() => {
            format!("{differ} of {all} benchmarks may {reach} data that changed{whose}")
        }
        (1, _) if all == 1 => format!("the only benchmark {reaches} code that changed{whose}"),
        (1, _) => format!("1 of {all} benchmarks {reaches} code that changed{whose}"),
        _ => format!("{differ} of {all} benchmarks {reach} code that changed{whose}"),
    };
    let none = if differ == 0 || none.is_empty() { String::new() } else { format!("; {none}") };
    let severity = if differ == 0 { Severity::Warning } else { Severity::Note };
    let finding = Finding::new(code::CODE_CHANGED, format!("{told}{none}"))
        .at(severity)
        .with("benchmarks", differ as f64)
        .with("of", all as f64)
        .with("functions", functions.len() as f64)
        .with("unreached", lacking as f64);
    Some(match differ {
        0 => finding.advise(Action::text("add a benchmark that calls the changed code")),
        _ => finding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(reached: &[bool], counts: (usize, usize)) -> String {
        let changed = |&is_reached: &bool| Changed { name: "f".to_owned(), bytes: 8, is_reached };
        let functions: Vec<Changed> = reached.iter().map(changed).collect();
        reach(&functions, counts, "", Wording::Reaches).expect("a finding").message
    }

    #[test]
    fn benchmarks_reach_no_code_if_they_reach_no_changed_function() {
        assert_eq!(told(&[true], (1, 1)), "the only benchmark reaches code that changed");
        assert_eq!(told(&[true, true], (2, 3)), "2 of 3 benchmarks reach code that changed");
        assert_eq!(
            told(&[false], (2, 2)),
            "2 of 2 benchmarks may reach data that changed; none reaches `f`, the longest function that changed"
        );
        assert_eq!(
            told(&[false, false], (0, 2)),
            "of 2 benchmarks none reaches `f`, the longest function that changed, nor 1 other"
        );
    }
}
