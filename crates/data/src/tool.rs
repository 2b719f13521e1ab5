//! Facts about the tools whose files are imported: the options for more repetitions and for
//! individual values, and whether one file contains things to compare. Each tool has one entry,
//! which is found by the name that the importer records.

use crate::Environment;

/// A benchmark tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tool {
    /// Name of the tool, as its importer records it before the version.
    pub name: &'static str,
    /// Option, or other means, that makes the tool repeat measurements often enough for a verdict.
    pub repetitions: Option<&'static str>,
    /// Option that makes the tool keep individual values, if it may otherwise keep only summaries.
    pub single_values: Option<&'static str>,
    /// True if one file contains the things that are compared, such as several commands. False if
    /// benchmarks are compared between several files.
    pub compares_within: bool,
    /// True if the tool measures commands or servers, which have no names.
    is_unnamed: bool,
}

/// Returns the entry of a tool whose benchmarks have names.
const fn tool(name: &'static str, repetitions: Option<&'static str>) -> Tool {
    Tool { name, repetitions, single_values: None, compares_within: false, is_unnamed: false }
}

/// Returns the entry of a tool that measures commands or servers.
const fn unnamed(name: &'static str, repetitions: Option<&'static str>) -> Tool {
    Tool { is_unnamed: true, ..tool(name, repetitions) }
}

/// How to repeat measurements with a tool that prints one report per run.
const APPENDED: Option<&str> = Some("a loop that appends its output to one file");

const TOOLS: [Tool; 32] = [
    Tool {
        single_values: Some("--exporters fulljson"),
        ..tool("BenchmarkDotNet", Some("--iterationCount 100"))
    },
    Tool { compares_within: true, ..tool("benchmark-ips", Some("x.config(time: 10)")) },
    Tool { single_values: Some("-g FILE"), ..unnamed("ab", APPENDED) },
    tool("Bencher", None),
    tool("benchmark.js", APPENDED),
    tool("Catch2", Some("--benchmark-samples 100")),
    tool("criterion", Some("--sample-size 100")),
    tool("divan", Some("--sample-count 100")),
    tool("github-action-benchmark", None),
    tool("go test", Some("-count=12")),
    Tool {
        single_values: Some(
            "--benchmark_repetitions=12, without --benchmark_report_aggregates_only",
        ),
        ..tool("Google Benchmark", Some("--benchmark_repetitions=12"))
    },
    Tool { single_values: Some("--log-file FILE"), ..unnamed("h2load", APPENDED) },
    Tool { single_values: Some("-o csv"), ..unnamed("hey", APPENDED) },
    unnamed("httperf", APPENDED),
    Tool {
        single_values: Some("--export-json instead of --export-csv"),
        compares_within: true,
        ..tool("hyperfine", Some("--runs 12"))
    },
    tool("JMH", Some("-f 12")),
    unnamed("k6", APPENDED),
    tool("libtest", Some("for i in $(seq 12); do cargo bench >> FILE; done")),
    tool("mitata", None),
    Tool { single_values: Some("--output-format csv"), ..unnamed("oha", APPENDED) },
    tool("nanobench", Some(".epochs(12)")),
    unnamed("perf stat", Some("-r 12")),
    tool("pyperf", Some("--processes=12")),
    Tool {
        single_values: Some("--benchmark-save-data"),
        ..tool("pytest-benchmark", Some("--benchmark-min-rounds=12"))
    },
    Tool { compares_within: true, ..tool("Ruby's Benchmark", APPENDED) },
    unnamed("time", Some("a loop that appends: time -v -a -o FILE COMMAND")),
    tool("tinybench", None),
    unnamed("valgrind", None),
    unnamed("vegeta", APPENDED),
    tool("vitest", None),
    unnamed("wrk", APPENDED),
    unnamed("wrk2", APPENDED),
];

impl Tool {
    /// Returns true if the tool's results are benchmarks that are matched by name between files.
    pub fn names_benchmarks(&self) -> bool {
        !self.compares_within && !self.is_unnamed
    }

    /// Returns the tool that recorded the samples with this environment. `None` if there was none
    /// or it is unknown.
    pub fn that_recorded(environment: &Environment) -> Option<&'static Self> {
        let recorded_by = environment.text("recorded_by")?;
        TOOLS.iter().find(|tool| {
            let rest = recorded_by.strip_prefix(tool.name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_its_name_whatever_its_version() {
        let of = |recorded_by: &str| {
            let mut environment = Environment::default();
            environment.set("recorded_by", recorded_by);
            Tool::that_recorded(&environment).map(|tool| tool.name)
        };
        assert_eq!(of("hyperfine 1.20.0"), Some("hyperfine"));
        assert_eq!(of("go test"), Some("go test"));
        assert_eq!(of("hyperfines"), None);
        assert_eq!(Tool::that_recorded(&Environment::default()), None);
    }

    #[test]
    fn only_tools_for_benchmarks_name_them() {
        let named = |name| TOOLS.iter().any(|tool| tool.name == name && tool.names_benchmarks());
        assert!(["criterion", "pyperf", "vitest"].into_iter().all(named));
        assert!(!["hyperfine", "perf stat", "oha", "wrk"].into_iter().any(named));
    }
}
