//! Driver for JMH: `java -jar benchmarks.jar`. A run is restricted to one method by an anchored
//! regular expression, and to values of its parameters by `-p`.
//!
//! A run is one fork with one iteration of warm-up and one of measurement, each of the requested
//! duration. Without a warm-up, the virtual machine would mostly interpret the code. JMH accepts a
//! time, but not a number of operations. Options given by the user are not repeated, because JMH
//! accepts each of them only once.
//!
//! Names are those of the list: the method, followed by its parameters in sorted order (`a.B.c n=10
//! size=2`). The list does not include the number of threads or the modes; one reading covers all
//! modes of a method. A parameter whose value contains a comma cannot be selected: JMH then runs
//! all of its values.

use crate::driver::{Driver, Effort, Request};
use crate::error::{HarnessError, message_line};
use crate::program::{Kind, Program};
use crate::reading::{Reading, imported, readings};
use crate::reply::{Answer, Reply};
use std::cell::RefCell;
use std::path::Path;

/// Name by which users choose this harness.
pub(crate) const NAME: &str = "jmh";

/// Path, within a jar, of JMH's list of benchmarks.
const LIST: &str = "META-INF/BenchmarkList";

/// JMH's main class, which users name if they give a class path instead of a jar.
const MAIN: &str = "org.openjdk.jmh.Main";

/// A command that runs JMH benchmarks.
#[derive(Debug, Default)]
struct Jmh {
    /// The user's command line.
    given: Vec<String>,
    /// The listed benchmarks; empty until the list has been read.
    known: RefCell<Vec<ParameterizedMethod>>,
}

/// Parameters, each with all of its values.
type Choices = Vec<(String, Vec<String>)>;

/// Maximum number of listed benchmarks, counting each combination of parameters.
const MOST: usize = 100_000;

/// A benchmark method with one value for each of its parameters.
#[derive(Clone, Debug)]
struct ParameterizedMethod {
    method: String,
    parameters: Vec<(String, String)>,
}

/// Recognizes `java` with a jar that contains JMH's list of benchmarks, or with JMH's main class.
pub(crate) fn looks(program: &Program) -> Option<Box<dyn Driver>> {
    let has_list = program.kind == Kind::Archive && program.text.lines().any(|name| name == LIST);
    let is_jmh = program.is_called("java") && (has_list || program.has_word(MAIN));
    is_jmh.then(|| assumed(program))
}

/// Creates the driver for any command that accepts JMH's options.
pub(crate) fn assumed(program: &Program) -> Box<dyn Driver> {
    let given = program.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Box::new(Jmh { given, ..Jmh::default() })
}

impl Jmh {
    /// Adds an option with its value, unless the user already gave that option.
    fn option(&self, request: Request, name: &str, value: &str) -> Request {
        let is_it = |word: &String| {
            word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        if self.given.iter().any(is_it) { request } else { request.arg(name).arg(value) }
    }
}

impl Driver for Jmh {
    fn name(&self) -> String {
        "JMH".to_owned()
    }

    fn pins(&self) -> bool {
        false
    }

    fn list(&self, _scratch: &Path) -> Request {
        Request::with(["-lp"])
    }

    fn listed(&self, reply: &Reply) -> Result<Vec<String>, HarnessError> {
        let known = if reply.success { listed(&reply.text()) } else { Ok(Vec::new()) };
        let known =
            known.map_err(|why| HarnessError::Garbage { harness: "JMH", why, said: None })?;
        if known.is_empty() {
            // The first line of a Java stack trace names the exception.
            let said =
                message_line(&reply.errors, &reply.output, |line| line.contains("Exception"));
            return Err(HarnessError::NoBenchmark { said });
        }
        let names = known.iter().map(|one| named(&one.method, &one.parameters)).collect();
        self.known.replace(known);
        Ok(names)
    }

    fn measure(&self, benchmark: &str, effort: Effort, scratch: &Path) -> Request {
        let file = scratch.join("result.json");
        let known = self.known.borrow();
        let one = known.iter().find(|one| named(&one.method, &one.parameters) == benchmark);
        // If the list has not been read, the text before the first space is the method, since names
        // in Java contain no spaces.
        let method = one.map_or_else(
            || benchmark.split(' ').next().unwrap_or_default(),
            |one| one.method.as_str(),
        );
        let mut request = Request::with([format!("^{}$", regex::escape(method))]);
        for (name, value) in one.iter().flat_map(|one| &one.parameters) {
            if !value.contains(',') {
                request = request.arg("-p").arg(format!("{name}={value}"));
            }
        }
        let (warm_ups, seconds) = match effort {
            Effort::Seconds(seconds) => ("1", Some(seconds)),
            Effort::Once | Effort::Iterations(_) | Effort::Counted(_) => ("0", None),
        };
        request = self.option(request, "-f", "1");
        request = self.option(request, "-wi", warm_ups);
        request = self.option(request, "-i", "1");
        match seconds {
            Some(seconds) => {
                let time = format!("{}ms", (seconds * 1e3).ceil().max(1.0));
                request = self.option(request, "-w", &time);
                request = self.option(request, "-r", &time);
            }
            // Single-shot mode measures one call.
            None => request = self.option(request, "-bm", "ss"),
        }
        request
            .arg("-rf")
            .arg("json")
            .arg("-rff")
            .arg(file.clone().into_os_string())
            .answered_in(Answer::File(file))
    }

    fn read(&self, reply: &Reply) -> Result<Vec<Reading>, HarnessError> {
        let failed = failures(&reply.text());
        let mut found = match imported(reply, "JMH") {
            Ok(samples) => merged(readings(&samples)),
            // The result file is empty if all benchmarks failed.
            Err(HarnessError::Garbage { .. }) if !failed.is_empty() => Vec::new(),
            Err(error) => return Err(error),
        };
        for reading in failed {
            if found.iter().all(|other| other.benchmark != reading.benchmark) {
                found.push(reading);
            }
        }
        Ok(found)
    }
}

/// Returns the name of a benchmark: its method and parameters. The parameters are sorted because
/// the list and the results order them differently.
fn named(method: &str, parameters: &[(String, String)]) -> String {
    let mut sorted: Vec<_> = parameters.iter().collect();
    sorted.sort();
    sorted.iter().fold(method.to_owned(), |name, (key, value)| format!("{name} {key}={value}"))
}

/// Parses the list with parameters. Each method is on one line, followed by lines such as `  param
/// "size" = {10, 1000}`. JMH lists a method with several modes once for each mode, but it is
/// returned only once.
fn listed(text: &str) -> Result<Vec<ParameterizedMethod>, String> {
    let mut methods: Vec<(String, Choices)> = Vec::new();
    for line in text.lines().skip_while(|line| !line.starts_with("Benchmarks:")).skip(1) {
        if let Some(rest) = line.trim_start().strip_prefix("param \"") {
            let parameter = rest.split_once("\" = {").and_then(|(name, rest)| {
                let values = rest.trim_end().strip_suffix('}')?.split(", ").map(str::to_owned);
                Some((name.to_owned(), values.collect()))
            });
            if let (Some((_, parameters)), Some(parameter)) = (methods.last_mut(), parameter) {
                parameters.push(parameter);
            }
        } else if !line.trim().is_empty()
            && !line.trim().contains(char::is_whitespace)
            && !line.starts_with(' ')
        {
            methods.push((line.trim().to_owned(), Vec::new()));
        }
    }
    let mut found: Vec<ParameterizedMethod> = Vec::new();
    for (method, parameters) in methods {
        if found.iter().any(|one| one.method == method) {
            continue;
        }
        let each = parameters.iter().map(|(_, values)| values.len());
        let count = each.fold(1, usize::saturating_mul);
        if count.saturating_add(found.len()) > MOST {
            return Err(format!("`{method}` makes more than {MOST} combinations of parameters"));
        }
        let mut all = vec![Vec::new()];
        for (name, values) in parameters {
            let with = |chosen: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
                let one = |value: &String| {
                    let mut chosen = chosen.clone();
                    chosen.push((name.clone(), value.clone()));
                    chosen
                };
                values.iter().map(one).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        let known = |parameters| ParameterizedMethod { method: method.clone(), parameters };
        found.extend(all.into_iter().map(known));
    }
    Ok(found)
}

/// Merges the readings of all modes of a method, so that there is one reading for every name in the
/// list. If two modes have the same metric, the mode is appended to the name of the second metric.
fn merged(readings: Vec<Reading>) -> Vec<Reading> {
    let mut found: Vec<Reading> = Vec::new();
    for mut reading in readings {
        let own = reading.parameters.iter().filter(|(name, _)| name != "threads");
        let own: Vec<_> = own.map(|(name, value)| (name.clone(), value.to_string())).collect();
        let method = reading.label.clone().unwrap_or_else(|| reading.benchmark.clone());
        // The importer appends the mode in parentheses to a benchmark's name if that name already
        // exists.
        let mode = reading.benchmark.rsplit_once(" (").map(|(_, mode)| format!(" ({mode}"));
        reading.benchmark = named(&method, &own);
        match found.iter_mut().find(|other| other.benchmark == reading.benchmark) {
            None => found.push(reading),
            Some(other) => {
                for (mut metric, value) in reading.values {
                    if other.values.iter().any(|(known, _)| known.name == metric.name) {
                        metric.name += mode.as_deref().unwrap_or_default();
                    }
                    if other.values.iter().all(|(known, _)| known.name != metric.name) {
                        other.values.push((metric, value));
                    }
                }
            }
        }
    }
    found
}

/// Parses the output about failed benchmarks. The lines `# Benchmark: …` and `# Parameters: (a = 1,
/// b = 2)` come before the exception.
fn failures(text: &str) -> Vec<Reading> {
    let mut found: Vec<Reading> = Vec::new();
    let (mut method, mut parameters) = ("", Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("# Benchmark: ") {
            (method, parameters) = (name.trim(), Vec::new());
        } else if let Some(list) = line.strip_prefix("# Parameters: (") {
            let pairs = list.trim_end().trim_end_matches(')').split(", ");
            let pairs = pairs.filter_map(|pair| pair.split_once(" = "));
            parameters = pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        } else if line.ends_with("<failure>") || line.starts_with("<forked VM failed") {
            let why = lines.by_ref().map(str::trim).find(|line| !line.is_empty());
            let benchmark = named(method, &parameters);
            if !method.is_empty() && found.iter().all(|other| other.benchmark != benchmark) {
                let error = Some(why.unwrap_or("it failed").to_owned());
                found.push(Reading { benchmark, error, ..Reading::default() });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    const LISTED: &str = "Benchmarks: 
a.Sums.total
  param \"size\" = {10, 1000}
  param \"kind\" = {int, a b}
a.Sums.fixed
a.Sums.fixed
";

    const RESULT: &str = r#"[
        {"jmhVersion": "1.37", "benchmark": "a.Sums.fixed", "mode": "thrpt", "threads": 2,
         "primaryMetric": {"score": 2e6, "scoreUnit": "ops/s", "rawData": [[2e6]]}, "secondaryMetrics": {}},
        {"jmhVersion": "1.37", "benchmark": "a.Sums.fixed", "mode": "avgt", "threads": 2,
         "primaryMetric": {"score": 500, "scoreUnit": "ns/op", "rawData": [[500]]}, "secondaryMetrics": {}},
        {"jmhVersion": "1.37", "benchmark": "a.Sums.fixed", "mode": "ss", "threads": 2,
         "primaryMetric": {"score": 7, "scoreUnit": "us/op", "rawData": [[7]]}, "secondaryMetrics": {}},
        {"jmhVersion": "1.37", "benchmark": "a.Sums.total", "mode": "avgt", "threads": 1,
         "params": {"size": "10", "kind": "a b"},
         "primaryMetric": {"score": 5, "scoreUnit": "ns/op", "rawData": [[5]]}, "secondaryMetrics": {}}]"#;

    const FAILED: &str = "
# Benchmark: a.Sums.total
# Parameters: (size = 10, kind = a b)
# Warmup Iteration   1: <failure>

java.lang.IllegalStateException: not today
\tat a.Sums.total(Sums.java:58)
";

    fn answered(text: &str, output: &str, scratch: &Path) -> Reply {
        let file = scratch.join("result.json");
        std::fs::write(&file, text).unwrap();
        let output = output.as_bytes().to_vec();
        Reply { output, success: true, answer: Answer::File(file), ..Reply::default() }
    }

    fn output(text: &str) -> Reply {
        Reply { output: text.as_bytes().to_vec(), success: true, ..Reply::default() }
    }

    fn words(request: &Request) -> String {
        let words: Vec<_> = request.args.iter().map(|arg| arg.to_string_lossy()).collect();
        words.join(" ")
    }

    #[test]
    fn the_list_has_every_method_once_with_all_its_parameters() {
        let names = Jmh::default().listed(&output(LISTED)).unwrap();
        let total = |rest: &str| format!("a.Sums.total {rest}");
        assert_eq!(
            names,
            [
                total("kind=int size=10"),
                total("kind=a b size=10"),
                total("kind=int size=1000"),
                total("kind=a b size=1000"),
                "a.Sums.fixed".to_owned(),
            ]
        );
        let many = "  param \"x\" = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}\n".repeat(30);
        let error = Jmh::default().listed(&output(&format!("Benchmarks: \na.B.c\n{many}")));
        assert!(error.unwrap_err().to_string().contains("combinations"));
        for none in ["", "Benchmarks: \n", "Error: Unable to access jarfile x.jar\n"] {
            assert!(Jmh::default().listed(&output(none)).is_err(), "{none}");
        }
    }

    #[test]
    fn one_benchmark_is_asked_for_with_its_parameters() {
        let scratch = Path::new("/scratch");
        let driver = Jmh::default();
        driver.listed(&output(LISTED)).unwrap();
        let asked = driver.measure("a.Sums.total kind=a b size=10", Effort::Seconds(0.5), scratch);
        let asked = words(&asked);
        assert!(asked.contains(r"^a\.Sums\.total$ -p size=10 -p kind=a b -f 1"), "{asked}");
        assert!(asked.contains("-w 500ms -r 500ms") && !asked.contains("-bm"), "{asked}");
        let once = words(&driver.measure("a.Sums.fixed", Effort::Once, scratch));
        assert!(once.contains("-wi 0 -i 1 -bm ss"), "{once}");
    }

    #[test]
    fn options_of_the_user_are_not_given_twice() {
        let given = ["java", "-jar", "x.jar", "-wi", "3", "-f=2"];
        let driver = Jmh { given: given.map(str::to_owned).to_vec(), ..Jmh::default() };
        let asked = words(&driver.measure("a.B.c", Effort::Seconds(1.0), Path::new("/scratch")));
        assert!(!asked.contains("-wi") && !asked.contains("-f "), "{asked}");
        assert!(asked.contains("-i 1"), "{asked}");
    }

    #[test]
    fn modes_of_a_method_are_one_reading_under_the_name_of_the_list() {
        let scratch = tempfile::tempdir().unwrap();
        let found = Jmh::default().read(&answered(RESULT, "", scratch.path())).unwrap();
        let names: Vec<_> = found.iter().map(|reading| reading.benchmark.as_str()).collect();
        assert_eq!(names, ["a.Sums.fixed", "a.Sums.total kind=a b size=10"]);
        let values: Vec<_> = found[0].values.iter().map(|(m, v)| (m.name.as_str(), *v)).collect();
        assert_eq!(values, [("rate", 2e6), ("wall", 5e-7), ("wall (ss)", 7e-6)]);
    }

    #[test]
    fn a_benchmark_that_fails_is_a_reading_with_its_error() {
        let scratch = tempfile::tempdir().unwrap();
        let found = Jmh::default().read(&answered("[\n]\n", FAILED, scratch.path())).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].benchmark, "a.Sums.total kind=a b size=10");
        assert_eq!(found[0].error.as_deref(), Some("java.lang.IllegalStateException: not today"));
        for text in ["[\n]\n", "", &RESULT[..200], "{}"] {
            assert!(Jmh::default().read(&answered(text, "", scratch.path())).is_err(), "{text}");
        }
    }

    #[test]
    fn a_class_path_with_its_main_class_is_known() {
        let program = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            Program::look(&words, Path::new("/nowhere"))
        };
        assert!(looks(&program(&["java", "-cp", "a:b", MAIN])).is_some());
        assert!(looks(&program(&["java", "-jar", "nowhere.jar"])).is_none());
    }
}
