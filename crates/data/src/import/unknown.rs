//! Messages about a file of unknown format: its apparent contents, and the known formats.
//!
//! The apparent contents are a guess for the message. They never affect how a file is read.

use super::{FORMATS, Group, Head};
use crate::excerpt::excerpt;
use crate::list;
use crate::read_error::quoted_start;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Maximum number of keys shown.
const SHOWN: usize = 8;

/// Beginnings of lines that are typical of source code.
const SOURCE: [&str; 14] = [
    "#!",
    "#include ",
    "package ",
    "import ",
    "from ",
    "use ",
    "fn ",
    "pub ",
    "def ",
    "class ",
    "func ",
    "int main",
    "public class ",
    "require ",
];

/// If the numbers of a text cannot be compared, returns what it is and advice, as the rest of a
/// sentence that begins with the file. Without this check, its columns would be taken for values.
pub(super) fn refused(head: &Head<'_>) -> Option<&'static str> {
    if head.text.starts_with("#!/") {
        return Some("is a program, not numbers; assay run measures programs");
    }
    let has = |is_of_tool: fn(&str) -> bool| {
        head.text.lines().map(|line| line.trim_end_matches(['\r', ' '])).any(is_of_tool)
    };
    REFUSED.iter().find(|(is_of_tool, _)| has(*is_of_tool)).map(|(_, what)| *what)
}

/// A function that recognizes a line of a tool's output, and the reason why a file with such a line
/// is refused, with advice.
type Refusal = (fn(&str) -> bool, &'static str);

/// Lines that only one tool prints, and the problem with a file that contains one.
const REFUSED: [Refusal; 13] = [
    (
        |line| {
            let line = line.trim_start();
            let is_table = line.starts_with('│') && line.contains("vs base");
            let is_csv = line.starts_with(',') && line.ends_with(",vs base,P");
            let is_old =
                line.starts_with("name ") && line.contains(" old ") && line.ends_with("delta");
            is_table || is_csv || is_old
        },
        "is what benchstat prints: medians and how they differ, without the values; compare the files that benchstat was given",
    ),
    (
        |line| line.starts_with("SUCCESS: ") && line.ends_with("on luau"),
        "is what Luau's benchmarks print: one mean each, with half an interval; the means of several such files can be read with `--pattern '^SUCCESS: \
         (?<name>\\S+) *: (?<value>[0-9.]+)(?<unit>ms)'`",
    ),
    (
        |line| {
            let is_table = line.starts_with("Benchmark ") && line.ends_with(" Units");
            // A CSV without parameters is not refused, because the user can choose its columns.
            let is_csv = line.starts_with("\"Benchmark\"") && line.contains("\"Param: ");
            is_table || is_csv || line.starts_with("# Run progress: ")
        },
        "is JMH's text or CSV, without the iterations; run it with `-rf json -rff FILE`",
    ),
    (
        |line| {
            let line = line.trim_start();
            line.starts_with("<assemblies")
                || line.starts_with("<TestRun ") && line.contains("VisualStudio/TeamTest")
                || line.starts_with("<test-run ")
        },
        "is a report of .NET tests in a format that is not read; write JUnit XML, as by `dotnet test --logger junit` (package JunitXml.TestLogger)",
    ),
    (
        |line| line.starts_with("BenchmarkDotNet v") || line.starts_with("BenchmarkDotNet=v"),
        "is BenchmarkDotNet's summary table, whose numbers are rounded; run it with `--exporters fulljson`",
    ),
    (
        |line| {
            let is_screen = line.starts_with("Benchmark ") && line.ends_with("Iterations");
            is_screen || line.ends_with("Iterations UserCounters...")
        },
        "is Google Benchmark's console output, whose numbers are rounded; run it with `--benchmark_out=FILE --benchmark_out_format=json`",
    ),
    (
        |line| line.starts_with("  Time (mean ± σ):") || line.starts_with("| Command | Mean ["),
        "is what hyperfine prints, without the runs; run it with `--export-json FILE`",
    ),
    (
        |line| line.starts_with("Name (time in ") && line.contains("Rounds"),
        "is pytest-benchmark's table, without the rounds; run it with `--benchmark-json FILE`",
    ),
    (
        |line| line.contains(": Mean +- std dev: "),
        "is what pyperf prints, without the values; run it with `-o FILE`",
    ),
    (
        |line| line.contains(" loops, best of ") && line.ends_with(" per loop"),
        "is what Python's timeit prints: the best of a few loops; `python -m timeit -v -r 12` prints all of them, and pyperf writes a file",
    ),
    (
        |line| {
            let is_totals = line.starts_with("Type,Name,") && line.contains("Request");
            is_totals || line.starts_with("Timestamp,User Count,Type,Name,")
        },
        "is locust's table of totals, in which all requests are one number; a verdict needs several runs",
    ),
    (
        |line| line.starts_with("[{}") && line.bytes().all(|b| b"[]{}, ".contains(&b)),
        "is a list of empty objects; the tasks of newer versions of tinybench are written by `JSON.stringify(bench.tasks.map(({ name, result }) => ({ name, result })))`",
    ),
    (
        |line| {
            let words = ["name", "hz", "min", "max", "mean", "p75"];
            line.split_ascii_whitespace().take(words.len()).eq(words)
        },
        "is vitest's summary table; run it with `--outputJson FILE`, or since version 5 with `--reporter=json --outputFile=FILE`",
    ),
];

/// Describes a text, as in "is JSON with the keys `a`, `b`", for a sentence that begins with the
/// file.
pub(super) fn seen(head: &Head<'_>) -> String {
    let text = head.text.trim_start();
    let begins = || format!("begins with `{}`", quoted_start(head.first));
    if head.is_json() {
        let (is_list, keys) = keys(text);
        let listed = |keys: &[String]| {
            let shown: Vec<String> =
                keys.iter().take(SHOWN).map(|key| format!("`{}`", excerpt(key))).collect();
            list::counted(&shown, keys.len())
        };
        return match (is_list, keys.is_empty()) {
            (_, true) => begins(),
            (false, false) => format!("is JSON with the keys {}", listed(&keys)),
            (true, false) => {
                format!("is a JSON list whose first object has the keys {}", listed(&keys))
            }
        };
    }
    if text.starts_with('<') {
        let Some(root) = root(text) else { return begins() };
        if root.eq_ignore_ascii_case("html") {
            return "is an HTML page".to_owned();
        }
        return format!("is XML with the root element `<{}>`", excerpt(root));
    }
    if text.lines().any(|line| line.starts_with("test result: ")) {
        return "is what `cargo test` prints, without a result of a benchmark".to_owned();
    }
    let mut lines = text.lines().take(50);
    if lines.any(|line| SOURCE.iter().any(|start| line.starts_with(start))) {
        return format!("looks like the source of a program (it {})", begins());
    }
    begins()
}

/// Lists all formats, with one line per group.
pub(super) fn known() -> String {
    let mut lines = String::new();
    for group in Group::ALL {
        let names = FORMATS.iter().filter(|format| format.group == group).map(|f| f.name);
        let names = names.collect::<Vec<_>>().join(", ");
        lines += &format!("\n  {:<8} {names}", group.heading());
    }
    lines
        + "\n  other    lines of any text by a regular expression: `--pattern '(?<value>[0-9.]+)'`"
}

/// Returns the keys of the object in the text, as far as the beginning of the file contains them.
pub(super) fn first_keys(head: &Head<'_>) -> Vec<String> {
    let (is_list, keys) = keys(head.text.trim_start());
    if is_list { Vec::new() } else { keys }
}

/// Returns whether the text is a list, and the keys of the object or of the first object in the
/// list, as far as the beginning of the file contains them.
fn keys(text: &str) -> (bool, Vec<String>) {
    let mut found = (false, Vec::new());
    // An error after the last readable key does not matter.
    let _breaks_off = serde_json::Deserializer::from_str(text).deserialize_any(Keys(&mut found));
    found
}

struct Keys<'a>(&'a mut (bool, Vec<String>));

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.1.push(key);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.0 = true;
        items.next_element_seed(First(self.0))?;
        Ok(())
    }
}

/// The first object of a list.
struct First<'a>(&'a mut (bool, Vec<String>));

impl<'de> serde::de::DeserializeSeed<'de> for First<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(Keys(self.0))
    }
}

/// Returns the first element after declarations and comments.
fn root(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.get(..9).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype")) {
            ">"
        } else {
            break;
        };
        rest = rest.split_once(end)?.1;
    }
    let name = rest.strip_prefix('<')?;
    let end = name.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
    Some(&name[..end]).filter(|name| name.starts_with(char::is_alphabetic))
}
