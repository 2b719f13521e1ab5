//! The list of all formats: how messages call each of them, how its beginning is recognized, and
//! which function reads it. The module of each format defines which files are accepted.

use super::stores::action;
use super::{
    Context, Head, ImportError, Part, asv, benchmark_dotnet, benchmark_dotnet_table, benchmark_ips,
    benchmark_js, cargo_bench_history, catch2, catch2_text, columns, criterion, criterion_text,
    csv, divan, exported, go_bench, google, gungraun, http_load, httperf, hyperfine, javascript,
    jmh, libtest, logfmt, named_times, nanobench, perf_print, perf_stat, pyperf, pytest,
    ruby_benchmark, single_values, test_reports, time_command, tinybench_table, valgrind_totals,
};
use crate::assay_file;
use crate::input::Input;

/// A format, with the function that recognizes its beginning, and its reader.
pub(super) struct Format {
    /// Name of the format in messages, where formats are listed by group.
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) recognise: fn(&Head<'_>) -> bool,
    pub(super) read: fn(Input, &Context<'_>) -> Result<Part, ImportError>,
}

/// Groups of formats that look similar to people, as listed in messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Own,
    Json,
    Text,
    Tests,
    Tables,
}

impl Group {
    pub(super) const ALL: [Self; 5] =
        [Self::Own, Self::Json, Self::Text, Self::Tests, Self::Tables];

    pub(super) fn heading(self) -> &'static str {
        match self {
            Self::Own => "assay's",
            Self::Json => "JSON of",
            Self::Text => "text of",
            Self::Tests => "tests by",
            Self::Tables => "tables",
        }
    }
}

/// All formats, most specific first. A file is read as the first format that recognizes its
/// beginning.
pub(super) const FORMATS: &[Format] = &[
    Format {
        name: "sample files",
        group: Group::Own,
        recognise: is_sample_file,
        read: read_sample_file,
    },
    Format {
        name: "tables by `--export FILE.samples.csv`",
        group: Group::Own,
        recognise: exported::recognise,
        read: exported::read,
    },
    Format {
        name: "hyperfine (1.x, 2.x)",
        group: Group::Json,
        recognise: hyperfine::recognise,
        read: hyperfine::read,
    },
    Format {
        name: "hyperfine's table",
        group: Group::Tables,
        recognise: hyperfine::recognise_table,
        read: hyperfine::read_table,
    },
    Format { name: "pyperf", group: Group::Json, recognise: pyperf::recognise, read: pyperf::read },
    Format {
        name: "pytest-benchmark",
        group: Group::Json,
        recognise: pytest::recognise,
        read: pytest::read,
    },
    Format { name: "JMH", group: Group::Json, recognise: jmh::recognise, read: jmh::read },
    Format {
        name: "nanobench",
        group: Group::Json,
        recognise: nanobench::recognise,
        read: nanobench::read,
    },
    Format {
        name: "nanobench's table",
        group: Group::Tables,
        recognise: nanobench::recognise_table,
        read: nanobench::read_table,
    },
    Format {
        name: "criterion (`sample.json`, or its directory)",
        group: Group::Json,
        recognise: criterion::recognise,
        read: criterion::read,
    },
    Format {
        name: "vitest",
        group: Group::Json,
        recognise: javascript::recognise_vitest,
        read: javascript::read_vitest,
    },
    Format {
        name: "tinybench",
        group: Group::Json,
        recognise: javascript::recognise_tinybench,
        read: javascript::read_tinybench,
    },
    Format {
        name: "mitata",
        group: Group::Json,
        recognise: javascript::recognise_mitata,
        read: javascript::read_mitata,
    },
    Format {
        name: "github-action-benchmark's `data.js`",
        group: Group::Json,
        recognise: action::recognise,
        read: action::read_history,
    },
    Format {
        name: "github-action-benchmark",
        group: Group::Json,
        recognise: single_values::recognise_entries,
        read: single_values::read_entries,
    },
    Format {
        name: "Bencher",
        group: Group::Json,
        recognise: single_values::recognise_bmf,
        read: single_values::read_bmf,
    },
    Format {
        name: "oha",
        group: Group::Json,
        recognise: http_load::oha::recognise,
        read: http_load::oha::read,
    },
    Format {
        name: "k6's summary",
        group: Group::Json,
        recognise: http_load::k6::recognise_json,
        read: http_load::k6::read_json,
    },
    Format {
        name: "vegeta",
        group: Group::Json,
        recognise: http_load::vegeta::recognise_json,
        read: http_load::vegeta::read_json,
    },
    Format {
        name: "BenchmarkDotNet",
        group: Group::Json,
        recognise: benchmark_dotnet::recognise,
        read: benchmark_dotnet::read,
    },
    Format {
        name: "BenchmarkDotNet's table",
        group: Group::Tables,
        recognise: benchmark_dotnet_table::recognise,
        read: benchmark_dotnet_table::read,
    },
    Format {
        name: "cargo-bench-history",
        group: Group::Json,
        recognise: cargo_bench_history::recognise,
        read: cargo_bench_history::read,
    },
    Format { name: "asv", group: Group::Json, recognise: asv::recognise, read: asv::read },
    Format {
        name: "`asv run`",
        group: Group::Text,
        recognise: asv::recognise_text,
        read: asv::read_text,
    },
    Format {
        name: "tinybench's table",
        group: Group::Text,
        recognise: tinybench_table::recognise,
        read: tinybench_table::read,
    },
    Format {
        name: "Catch2's XML",
        group: Group::Text,
        recognise: catch2::recognise,
        read: catch2::read,
    },
    Format {
        name: "JUnit XML (of any framework)",
        group: Group::Tests,
        recognise: test_reports::recognise_junit,
        read: test_reports::read_junit,
    },
    Format {
        name: "TAP with times",
        group: Group::Tests,
        recognise: test_reports::recognise_tap,
        read: test_reports::read_tap,
    },
    Format {
        name: "rspec's JSON",
        group: Group::Tests,
        recognise: test_reports::recognise_rspec,
        read: test_reports::read_rspec,
    },
    Format {
        name: "JSON of jest and vitest",
        group: Group::Tests,
        recognise: test_reports::recognise_jest,
        read: test_reports::read_jest,
    },
    Format {
        name: "pytest-json-report",
        group: Group::Tests,
        recognise: test_reports::recognise_pytest,
        read: test_reports::read_pytest,
    },
    Format {
        name: "`go test -json` (tests, benchmarks)",
        group: Group::Tests,
        recognise: test_reports::recognise_go,
        read: test_reports::read_go,
    },
    Format {
        name: "libtest's JSON (`cargo test`, nextest)",
        group: Group::Tests,
        recognise: test_reports::recognise_libtest,
        read: test_reports::read_libtest,
    },
    Format {
        name: "pytest-reportlog",
        group: Group::Tests,
        recognise: test_reports::recognise_reportlog,
        read: test_reports::read_reportlog,
    },
    Format {
        name: "gungraun and iai (also its JSON)",
        group: Group::Text,
        recognise: gungraun::recognise,
        read: gungraun::read,
    },
    Format {
        name: "Google Benchmark",
        group: Group::Json,
        recognise: google::recognise,
        read: google::read,
    },
    Format {
        name: "Google Benchmark's table",
        group: Group::Tables,
        recognise: google::recognise_table,
        read: google::read_table,
    },
    Format {
        name: "`go test -bench`",
        group: Group::Text,
        recognise: go_bench::recognise,
        read: go_bench::read,
    },
    Format {
        name: "benchmark-ips (also its JSON)",
        group: Group::Text,
        recognise: benchmark_ips::recognise,
        read: benchmark_ips::read,
    },
    Format {
        name: "`cargo bench` (libtest)",
        group: Group::Text,
        recognise: libtest::recognise,
        read: libtest::read,
    },
    Format {
        name: "criterion's text",
        group: Group::Text,
        recognise: criterion_text::recognise,
        read: criterion_text::read,
    },
    Format {
        name: "`time`",
        group: Group::Text,
        recognise: time_command::recognise,
        read: time_command::read,
    },
    Format {
        name: "Ruby's `Benchmark`",
        group: Group::Text,
        recognise: ruby_benchmark::recognise,
        read: ruby_benchmark::read,
    },
    Format {
        name: "benchmark.js",
        group: Group::Text,
        recognise: benchmark_js::recognise,
        read: benchmark_js::read,
    },
    Format {
        name: "callgrind and cachegrind (totals)",
        group: Group::Text,
        recognise: valgrind_totals::recognise,
        read: valgrind_totals::read,
    },
    Format {
        name: "Catch2's console",
        group: Group::Text,
        recognise: catch2_text::recognise,
        read: catch2_text::read,
    },
    Format { name: "divan", group: Group::Text, recognise: divan::recognise, read: divan::read },
    Format {
        name: "`perf stat -x` and `-j`",
        group: Group::Tables,
        recognise: perf_stat::recognise,
        read: perf_stat::read,
    },
    Format {
        name: "`perf stat`",
        group: Group::Text,
        recognise: perf_print::recognise,
        read: perf_print::read,
    },
    Format {
        name: "wrk and wrk2",
        group: Group::Text,
        recognise: http_load::wrk::recognise,
        read: http_load::wrk::read,
    },
    Format {
        name: "hey",
        group: Group::Text,
        recognise: http_load::hey::recognise_hey,
        read: http_load::hey::read_hey,
    },
    Format {
        name: "oha's text",
        group: Group::Text,
        recognise: http_load::hey::recognise_oha,
        read: http_load::hey::read_oha,
    },
    Format {
        name: "ab",
        group: Group::Text,
        recognise: http_load::apache_bench::recognise,
        read: http_load::apache_bench::read,
    },
    Format {
        name: "h2load",
        group: Group::Text,
        recognise: http_load::h2load::recognise,
        read: http_load::h2load::read,
    },
    Format {
        name: "vegeta's text",
        group: Group::Text,
        recognise: http_load::vegeta::recognise_text,
        read: http_load::vegeta::read_text,
    },
    Format {
        name: "k6's text",
        group: Group::Text,
        recognise: http_load::k6::recognise_text,
        read: http_load::k6::read_text,
    },
    Format {
        name: "percentiles of ab (`-e`)",
        group: Group::Tables,
        recognise: http_load::apache_bench::recognise_table,
        read: http_load::apache_bench::read_table,
    },
    Format {
        name: "requests of hey, oha, ab and h2load",
        group: Group::Tables,
        recognise: http_load::request_logs::recognise,
        read: http_load::request_logs::read,
    },
    Format {
        name: "httperf",
        group: Group::Text,
        recognise: httperf::recognise,
        read: httperf::read,
    },
    Format {
        name: "`console.timeEnd` and Dart's benchmark_harness",
        group: Group::Text,
        recognise: named_times::recognise,
        read: named_times::read,
    },
    Format {
        name: "lines of `key=value`",
        group: Group::Text,
        recognise: logfmt::recognise,
        read: logfmt::read,
    },
    Format {
        name: "CSV with `,`, `;` or tabs",
        group: Group::Tables,
        recognise: csv::recognise,
        read: csv::read,
    },
    Format {
        name: "columns of numbers",
        group: Group::Tables,
        recognise: columns::recognise,
        read: columns::read,
    },
];

/// Recognizes a sample file by its header, which begins with the version, or by a record if the
/// header is missing.
fn is_sample_file(head: &Head<'_>) -> bool {
    let dense: String = head.text.chars().filter(|c| !c.is_whitespace()).take(9).collect();
    dense.starts_with("{\"assay\":") || dense.starts_with("{\"kind\":\"")
}

fn read_sample_file(input: Input, _context: &Context<'_>) -> Result<Part, ImportError> {
    Ok(Part { samples: assay_file::read_input(input)?, is_bare: false, is_ours: true })
}
