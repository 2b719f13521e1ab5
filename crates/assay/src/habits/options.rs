//! Options of other tools, and their equivalents here.

/// The commands to which the advice applies, separated by spaces (empty for all), the option, and
/// the advice. The first match applies.
type Habit = (&'static str, &'static str, &'static str);

/// Returns the advice for an option that a command does not have.
pub(super) fn advice(verb: &str, typed: &str) -> Option<&'static str> {
    let name = typed.split('=').next().unwrap_or_default();
    let fits = |verbs: &str| verbs.is_empty() || verbs.split(' ').any(|own| own == verb);
    let found = HABITS.iter().find(|(verbs, option, _)| *option == name && fits(verbs));
    found.map(|(.., advice)| *advice)
}

const FIXED_RUNS: &str = "assay stops by itself when the answer is clear; fix the number of runs with -r, or the time with --time";
const STEP: &str = "write the step into the range, as in -P n=0..1+0.25";
const SLICE: &str = "the length of a slice is --slice, and the time for all is --time, as in --slice 5s --time 2min";
const THREADS: &str = "one thread keeps most servers busy; further processes are --generators 2";
const CLOSED: &str = "a closed loop is --connections, as in --connections 16";
const RATE: &str = "requests per second are --rate, as in --rate 100";
const REQUESTS: &str = "the number of requests of a step is --requests-per-step, as in --rate 100 --requests-per-step 1000";
const HTTPERF: &str =
    "the server, its port and the path are one URL: assay load http://localhost:80/";
const UNIT: &str = "assay picks the unit; --json has every value in its base unit";
const MINISTAT: &str = "this is an option of ministat: assay ministat takes the same files";
const THRESHOLD: &str = "the smallest difference that matters is --threshold, as in --threshold 5%";
const LEVEL: &str =
    "the level is --confidence, as in --confidence 99%; every classical test: --all";
const SAVED: &str =
    "keep a run with --save FILE, and compare with it later: assay compare FILE ...";
const PAGE: &str = "a page is written by --report FILE.html, a table or JSON by --export FILE.csv";
const ALONE: &str = "runs are never made in parallel, because they would disturb one another";
const JOBS: &str = "runs of different commands are never made in parallel, because they would disturb one another; parallel copies of one command are --jobs, as in --jobs 4";
const REVISIONS: &str = "revisions are measured by `assay bench`: assay bench --rev OLD --rev NEW --build LINE --program PATH";
const RANGE: &str = "both commits are one word: assay bisect GOOD..BAD -- COMMAND";
const REPEATED: &str =
    "assay repeats each benchmark until its verdict is clear; fix the number with -r";

const HABITS: &[Habit] = &[
    ("load", "--server", HTTPERF),
    ("load", "--port", HTTPERF),
    ("load", "--uri", HTTPERF),
    ("load", "--num-conns", REQUESTS),
    ("load", "--num-calls", REQUESTS),
    ("load", "-m", "the method is -X, as in -X POST"),
    ("load", "-D", "the body is --body, as in --body @FILE"),
    ("load", "-d", SLICE),
    ("load", "-z", SLICE),
    ("load", "--duration", SLICE),
    ("load", "-n", REQUESTS),
    ("load", "--requests", REQUESTS),
    ("load", "-R", RATE),
    ("load", "--qps", RATE),
    ("load", "-t", THREADS),
    ("load", "--threads", THREADS),
    ("load", "--workers", CLOSED),
    ("load", "--concurrency", CLOSED),
    (
        "load",
        "--vus",
        "users that come by a schedule are --rate; a closed loop is --connections 16",
    ),
    (
        "load",
        "-k",
        "connections are kept alive unless --new-connections is given; --insecure accepts any certificate",
    ),
    ("load", "--keepalive", "connections are kept alive unless --new-connections is given"),
    ("load", "--disable-keepalive", "use --new-connections"),
    (
        "load",
        "-s",
        "scripts are not run: paths are --path, bodies --body, several users --values, a recorded session --har",
    ),
    (
        "load",
        "--script",
        "scripts are not run: paths are --path, bodies --body, several users --values, a recorded session --har",
    ),
    ("load", "--latency", "leave it out: latencies are always measured and shown"),
    ("load", "-T", "the content type is a header field: -H 'Content-Type: application/json'"),
    ("load", "-A", "credentials are a header field: -H 'Authorization: ...'"),
    ("load", "-a", "credentials are a header field: -H 'Authorization: ...'"),
    ("load", "-C", "a cookie is a header field: -H 'Cookie: NAME=VALUE'"),
    ("load", "-p", "the body of a POST is --body @FILE, with -X POST"),
    ("load", "--targets", "several paths are --path, as in --path /a --path /b@3"),
    ("load", "--no-tui", "leave it out; -q hides the progress bar"),
    ("load", "-j", "use --json"),
    ("load", "-o", PAGE),
    ("compare describe", "-t", THRESHOLD),
    ("compare", "-c", "the level is --confidence, as in --confidence 95%"),
    ("compare", "--alpha", LEVEL),
    ("compare describe", "-C", "the column is --column, as in --column 2"),
    (
        "compare describe",
        "-d",
        "columns are found by themselves, whatever separates them; choose one with --column 2",
    ),
    ("compare describe", "-s", MINISTAT),
    ("compare describe", "-n", MINISTAT),
    ("compare describe", "-w", MINISTAT),
    ("compare describe", "-A", MINISTAT),
    ("compare", "-a", LEVEL),
    ("compare", "-U", LEVEL),
    ("compare", "--delta-test", "verdicts rest on ranks; --all shows every classical test"),
    ("compare describe", "-r", "recorded numbers are only read; assay run measures"),
    ("compare describe", "-o", PAGE),
    ("compare describe run bench", "--html", PAGE),
    ("profile", "-p", "a running process is --pid, as in --pid 1234"),
    ("profile", "-F", "samples per second are --rate, as in --rate 997"),
    ("profile", "-d", "the time to sample is --duration, as in --duration 30s"),
    ("profile", "-g", "leave it out: stacks are always recorded"),
    ("profile", "--format", "the extension selects the format, as in -o profile.speedscope.json"),
    ("run", "--rev", REVISIONS),
    ("run", "--build", REVISIONS),
    ("check", "--time", "the time of a check is --budget, as in --budget 2min"),
    ("bisect", "--good", RANGE),
    ("bisect", "--bad", RANGE),
    (
        "bench",
        "--warmup",
        "benchmark programs warm up by their own options, given after `--`; assay run --warmup is for commands",
    ),
    ("run", "-j", JOBS),
    ("bench tests", "-j", ALONE),
    ("run bench", "-o", PAGE),
    ("run bench", "-d", "a time budget is --time, as in --time 30s"),
    ("run bench", "-t", "a time budget is --time, as in --time 30s"),
    ("run bench", "-e", "events are --counters, as in --counters cache-misses"),
    ("bench", "-b", "select benchmarks with --filter, as in --filter '.name:/Sort/'"),
    ("bench", "--bench", "select benchmarks with --filter, as in --filter '.name:/Sort/'"),
    (
        "bench",
        "--benchtime",
        "the measuring time of one process is --run-time, as in --run-time 1s",
    ),
    ("bench", "--benchmark-compare", SAVED),
    ("run bench", "--compare", SAVED),
    ("check", "--primary", "the metric that decides is --metric, as in --metric cpu"),
    ("bench", "--benchmark-autosave", SAVED),
    ("bench", "--benchmark-json", "use --export FILE.json"),
    ("bench", "--benchmark_out", "use --export FILE.json"),
    ("bench", "--benchmark_repetitions", REPEATED),
    ("bench", "--count", REPEATED),
    ("bench", "--benchmark_filter", "use --filter, as in --filter '.name:/Sort/'"),
    ("", "--save-baseline", SAVED),
    ("", "--baseline", SAVED),
    ("run bench", "-m", FIXED_RUNS),
    ("run bench", "-M", FIXED_RUNS),
    ("run bench", "--min-runs", FIXED_RUNS),
    ("run bench", "--max-runs", FIXED_RUNS),
    ("", "--count", "fix the number of runs with -r"),
    ("run", "-D", STEP),
    ("run", "--parameter-step-size", STEP),
    ("run", "--parameter-scan", "a range of numbers is given by -P, as in -P n=1..8"),
    ("", "-u", UNIT),
    ("", "--time-unit", UNIT),
    ("", "--min-benchmarking-time", "the time budget is --time, as in --time 10s"),
    ("", "--command-name", "a command's name is given by -n, as in -n old -n new"),
    ("", "--show-output", "use --output inherit"),
    (
        "",
        "--export-json",
        "use --export FILE.json, or --export FILE.hyperfine.json for hyperfine's layout",
    ),
    ("", "--export-csv", "use --export FILE.csv"),
    ("", "--export-markdown", "use --export FILE.md"),
    ("", "--export-asciidoc", "use --export FILE.md, or --report FILE.html"),
    ("", "--export-orgmode", "use --export FILE.md, or --report FILE.html"),
    ("", "--style", "use --color never for plain text, and -q for no progress bar"),
    ("", "--sort", "the table keeps the order typed; three or more commands are ranked above it"),
    ("", "--no-shell", "assay uses no shell unless -S names one"),
    ("", "--fast", "set a time budget, as in --time 5s"),
];
