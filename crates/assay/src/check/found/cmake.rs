//! CMake: executables that are linked with Google Benchmark.

use super::{Looked, OURS, Program, ProgramGroup, Tree, directory_of, some, within, word};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

const SOUGHT: &str =
    "CMakeLists.txt with an executable that is linked with benchmark::benchmark (Google Benchmark)";

pub(super) fn find(tree: &Tree) -> (Vec<ProgramGroup>, Looked) {
    let files = tree.named("CMakeLists.txt");
    let mut notes = Vec::new();
    let mut targets: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut options = BTreeSet::new();
    let mut where_found = BTreeSet::new();
    for file in &files {
        let Some(text) = tree.read(file) else { continue };
        let text = without_comments(&text);
        options.extend(switched_off(&text));
        let linked = linked(&text);
        for (name, sources) in executables(&text).into_iter().filter(|(n, _)| linked.contains(n)) {
            let sources = sources.iter().map(|own| within(directory_of(file), own));
            where_found.insert((*file).to_owned());
            targets.insert(name, sources.filter(|own| tree.has(own)).collect());
        }
    }
    match (files.first(), targets.is_empty()) {
        (None, _) => notes.push("there is no CMakeLists.txt".to_owned()),
        (Some(file), true) => notes.push(format!("{file} has no such executable")),
        _ => {}
    }
    let way = (!targets.is_empty()).then(|| {
        let root = directory_of(files[0]);
        let where_found: Vec<String> = where_found.into_iter().collect();
        way(root, &targets, &options, &some(&where_found))
    });
    (way.into_iter().collect(), Looked { tool: "CMake", sought: SOUGHT, notes })
}

fn without_comments(text: &str) -> String {
    text.lines().map(|line| line.split('#').next().unwrap_or_default().to_owned() + "\n").collect()
}

/// Returns the calls of a command, each as a list of its words.
fn calls(text: &str, command: &str) -> Vec<Vec<String>> {
    let pattern = Regex::new(&format!(r"(?i)\b{command}\s*\(([^()]*)\)"));
    let pattern = pattern.expect("the names of commands are letters");
    let words = |text: &str| {
        text.split_whitespace().map(|word| word.trim_matches('"').to_owned()).collect()
    };
    pattern.captures_iter(text).map(|found| words(&found[1])).collect()
}

fn executables(text: &str) -> Vec<(String, Vec<String>)> {
    let named = calls(text, "add_executable").into_iter().filter_map(|words| {
        let (name, sources) = words.split_first()?;
        (!name.contains('$')).then(|| (name.clone(), sources.to_vec()))
    });
    named.collect()
}

/// Returns the targets that are linked with Google Benchmark.
fn linked(text: &str) -> BTreeSet<String> {
    let is_library = |word: &String| {
        ["benchmark::benchmark", "benchmark::benchmark_main", "benchmark", "benchmark_main"]
            .contains(&word.as_str())
    };
    calls(text, "target_link_libraries")
        .into_iter()
        .filter(|words| words.iter().skip(1).any(is_library))
        .filter_map(|words| words.into_iter().next())
        .collect()
}

/// Returns the options about benchmarks that are off unless they are set.
fn switched_off(text: &str) -> Vec<String> {
    let pattern = Regex::new(r#"(?i)\boption\s*\(\s*(\w*BENCH\w*)\s+"[^"]*"\s*(\w*)\s*\)"#);
    let pattern = pattern.expect("a pattern");
    let is_on = |value: &str| ["ON", "TRUE", "YES", "1"].contains(&value.to_uppercase().as_str());
    let off = pattern.captures_iter(text).filter(|found| !is_on(&found[2]));
    off.map(|found| found[1].to_owned()).collect()
}

fn way(
    root: &str,
    targets: &BTreeMap<String, Vec<String>>,
    options: &BTreeSet<String>,
    evidence: &str,
) -> ProgramGroup {
    let tree = format!("{OURS}/cmake");
    let source = if root.is_empty() { "." } else { root };
    let switches: String = options.iter().map(|option| format!(" -D{option}=ON")).collect();
    let names: Vec<String> = targets.keys().map(|name| word(name)).collect();
    let mut build = vec![
        format!("cmake -S {} -B {tree} -DCMAKE_BUILD_TYPE=Release{switches}", word(source)),
        format!("cmake --build {tree} --config Release --target {}", names.join(" ")),
    ];
    let mut programs = Vec::new();
    for (name, sources) in targets {
        let file = format!("{OURS}/{name}");
        let found = format!("find {tree} -type f -name {} -perm -u+x", word(name));
        // A missing link is created again, because the build line runs once for every link.
        build.push(format!("cp \"$({found} | head -n 1)\" {}", word(&file)));
        programs.push(Program {
            name: name.clone(),
            command: word(&file),
            directory: None,
            variables: Vec::new(),
            is_timed: false,
            sources: sources.clone(),
            // The program is copied from the build directory, where it would not be linked again.
            is_linked: false,
        });
    }
    let evidence = format!("{evidence} links with Google Benchmark");
    ProgramGroup { tool: "CMake", evidence, build, programs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executables_options_and_libraries_are_read() {
        let text = "option(FOO_BUILD_BENCHMARKS \"Build them\" OFF)\noption(BENCH_B \"b\" ON)\n\
            add_executable(bm a.cpp\n  b.cpp) # add_executable(no x)\nadd_executable(other c.cpp)\n\
            target_link_libraries(bm PRIVATE foo benchmark::benchmark)\n";
        let text = without_comments(text);
        assert_eq!(switched_off(&text), ["FOO_BUILD_BENCHMARKS"]);
        assert_eq!(executables(&text)[0], ("bm".into(), vec!["a.cpp".into(), "b.cpp".into()]));
        assert!(linked(&text).contains("bm") && linked(&text).len() == 1);
    }
}
