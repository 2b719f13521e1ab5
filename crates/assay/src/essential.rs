//! The options that `-h` shows: for each command, those that most people need, on one screen.
//! `--help`, the man pages and the completions contain all options.
//!
//! A new option does not appear in `-h` unless it is listed here.

use clap::Command;

/// Returns the ids of a command's essential options; `None` if it has so few options that all are
/// shown.
fn of(verb: &str) -> Option<&'static [&'static str]> {
    Some(match verb {
        "run" => &[
            "threshold",
            "runs",
            "time",
            "warmup",
            "parameter",
            "name",
            "shell",
            "prepare",
            "ignore_failure",
            "pin",
            "save",
            "keep",
            "json",
            "export",
            "report",
        ],
        "bench" => &[
            "filter",
            "list",
            "env",
            "rev",
            "build",
            "program",
            "runs",
            "time",
            "threshold",
            "fail_if",
            "save",
            "keep",
            "json",
            "export",
            "report",
        ],
        "check" => &[
            "base",
            "explain",
            "budget",
            "threshold",
            "fail_if",
            "comment",
            "json",
            "install_hook",
        ],
        "load" => &[
            "rate",
            "connections",
            "find",
            "requests_per_step",
            "header",
            "body",
            "new_connections",
            "http2",
            "tls",
            "serve",
            "runs",
            "time",
            "save",
            "keep",
            "json",
            "report",
        ],
        "compare" => &[
            "by",
            "value",
            "filter",
            "col",
            "threshold",
            "primary",
            "fail_if",
            "all",
            "rigorous",
            "json",
            "export",
            "report",
            "verbose",
        ],
        "describe" => &["unit", "filter", "primary", "all", "json", "report", "plots"],
        "plan" => &["n", "delta", "threshold", "sd", "alpha", "power", "pilot", "blocks", "json"],
        "profile" => &[
            "pid", "sampler", "rate", "duration", "runs", "overhead", "export", "top", "focus",
            "json",
        ],
        "simulate" => {
            &["distribution", "subject", "count", "seed", "out", "blocks", "ar", "drift", "step"]
        }
        "gate" => &[
            "threshold",
            "detect",
            "primary",
            "secondary",
            "branch",
            "confirm",
            "build",
            "rev",
            "export",
            "all",
            "json",
            "store",
            "project",
            "machine",
        ],
        "tests" => &[
            "framework",
            "order",
            "causes",
            "profile",
            "rev",
            "toggle",
            "with",
            "runs",
            "time",
            "test_timeout",
            "number",
            "flaky",
            "fail_if",
            "keep",
            "json",
        ],
        "watch" => &[
            "any",
            "framework",
            "cold",
            "no_first",
            "no_full",
            "ignore",
            "poll",
            "notify",
            "on_red",
            "on_green",
            "on_all_green",
            "mutate",
            "clear",
            "json",
        ],
        "repeat" => &["runs", "time", "save", "fail_if", "json", "report"],
        _ => return None,
    })
}

/// Returns the command with only its essential options in `-h`.
pub(crate) fn only(name: &str, verb: Command) -> Command {
    let Some(shown) = of(name) else { return verb };
    let verb = verb.mut_args(|argument| {
        let is_shown = argument.is_positional() || shown.contains(&argument.get_id().as_str());
        argument.hide_short_help(!is_shown)
    });
    let more = format!("All options, with examples: assay {name} --help");
    let examples = verb.get_after_help().cloned();
    let verb = verb.after_help(more);
    match examples {
        Some(examples) => verb.after_long_help(examples),
        None => verb,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_is_named_exists_and_the_help_fits_on_a_screen() {
        for verb in crate::VERBS {
            let mut command = (verb.augment)(Command::new(verb.name));
            for id in of(verb.name).unwrap_or_default() {
                assert!(command.get_arguments().any(|a| a.get_id() == id), "{} {id}", verb.name);
            }
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 60, "{}: {lines} lines", verb.name);
        }
    }
}
