//! Options that users of other tools type out of habit, and what to type here instead.
//!
//! This module contains only texts. None of these options is accepted: each error names the one
//! correct spelling.

use assay_measure::text_of;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// An option of another tool, and its equivalent here.
const HABITS: [(&str, &str); 37] = [
    ("-m", FIXED_RUNS),
    ("-M", FIXED_RUNS),
    ("-D", STEP),
    ("-u", "assay picks the unit; --json has every value in its base unit"),
    ("--min-runs", FIXED_RUNS),
    ("--max-runs", FIXED_RUNS),
    ("--min-benchmarking-time", "the time budget is --time, as in --time 10s"),
    ("--command-name", "a command's name is given by -n, as in -n old -n new"),
    ("--parameter-scan", "a range of numbers is given by -P, as in -P n=1..8"),
    ("--parameter-step-size", STEP),
    ("--show-output", "use --output inherit"),
    (
        "--export-json",
        "use --export FILE.json, or --export FILE.hyperfine.json for hyperfine's layout",
    ),
    ("--export-csv", "use --export FILE.csv"),
    ("--export-markdown", "use --export FILE.md"),
    ("--export-asciidoc", "use --export FILE.md, or --report FILE.html"),
    ("--export-orgmode", "use --export FILE.md, or --report FILE.html"),
    ("--style", "use --color never for plain text, and -q for no progress bar"),
    ("--sort", "the first command is the reference, and the order is yours"),
    ("--time-unit", "assay picks the unit; --json has every value in its base unit"),
    ("--no-shell", "assay uses no shell unless -S names one"),
    ("--delta-test", "verdicts rest on ranks; --all shows every classical test"),
    (
        "--benchmark_repetitions",
        "assay repeats each benchmark until its verdict is clear; fix the number with -r",
    ),
    ("--benchmark_filter", "use --filter, as in --filter '.name:/Sort/'"),
    (
        "--save-baseline",
        "keep a run with --save FILE, and compare with it later: assay compare FILE ...",
    ),
    (
        "--baseline",
        "keep a run with --save FILE, and compare with it later: assay compare FILE ...",
    ),
    ("-col", "options of several letters have two dashes: --col, as in --col .file"),
    ("-row", "options of several letters have two dashes: --row, as in --row .name"),
    ("-filter", "options of several letters have two dashes: --filter"),
    (
        "--duration",
        "the length of a slice is --slice, and the time for all is --time, as in --slice 5s --time 2min",
    ),
    ("--threads", "one thread keeps most servers busy; further processes are --generators 2"),
    ("--vus", "users that come by a schedule are --rate; a closed loop is --connections 16"),
    ("--concurrency", "a closed loop of so many connections is --connections 16"),
    ("--qps", "requests per second are --rate, as in --rate 100"),
    ("-t", "one thread keeps most servers busy; further processes are --generators 2"),
    (
        "-d",
        "the length of a slice is --slice, and the time for all is --time, as in --slice 5s --time 2min",
    ),
    ("--count", "fix the number of runs with -r"),
    ("--fast", "set a time budget, as in --time 5s"),
];

const FIXED_RUNS: &str = "assay stops by itself when the answer is clear; fix the number of runs with -r, or the time with --time";
const STEP: &str = "write the step into the range, as in -P n=0..1+0.25";

/// Adds the correct spelling to an error about an option that only another tool has.
pub(crate) fn advised(mut error: clap::Error) -> clap::Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let of = |typed: &str| {
        let name = typed.split('=').next().unwrap_or_default();
        HABITS.iter().find(|(option, _)| *option == name)
    };
    // Of `-col` the error knows the first letter alone; a dash alone begins every option.
    let own = || std::env::args_os().map(|word| text_of(&word)).take_while(|word| word != "--");
    let whole = || {
        let mut words = own().filter(|word| typed != "-" && word.starts_with(typed));
        words.find_map(|word| of(&word))
    };
    if let Some((_, advice)) = of(typed).or_else(whole) {
        let advice = clap::builder::StyledStr::from((*advice).to_owned());
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![advice]));
    }
    error
}
