//! Compares the code of sampled functions between two commands. Compares the machine code of
//! compiled programs, and otherwise the source text of each function.

use assay_analysis::why::CodeChange;
use assay_harness::function_name;
use assay_measure::Command;
use assay_measure::code::{Code, changed};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Returns for each function whether its code changed. `files` contains the source file of each
/// function on each side.
pub(super) fn changes(
    commands: [&Command; 2],
    files: &[HashMap<String, String>; 2],
    functions: &[String],
) -> Vec<(String, CodeChange)> {
    let mut machine = Machine::of(commands);
    let of = |name: &String| {
        let by_text = || match (files[0].get(name), files[1].get(name)) {
            (Some(old), Some(new)) => compared(name, [old, new]),
            _ => CodeChange::Unknown,
        };
        let found = machine.as_mut().map_or(CodeChange::Unknown, |own| own.change(name));
        (name.clone(), if found == CodeChange::Unknown { by_text() } else { found })
    };
    functions.iter().map(of).collect()
}

/// The code of two compiled programs.
struct Machine {
    programs: [Code; 2],
    changed: HashSet<String>,
}

impl Machine {
    /// Reads both programs; `None` if either has no symbols, or if both are the same file.
    fn of(commands: [&Command; 2]) -> Option<Self> {
        let [old, new] = commands.map(|command| command.resolve().ok());
        let (old, new) = (old?, new?);
        if old == new {
            return None;
        }
        let (mut old, mut new) = (Code::read(&old)?, Code::read(&new)?);
        let found = changed((&mut old, &mut new), [&|_| false, &|_| false]);
        let changed = found.into_iter().map(|own| bare(&own.name).to_owned()).collect();
        Some(Self { programs: [old, new], changed })
    }

    fn change(&mut self, name: &str) -> CodeChange {
        let name = bare(name);
        let has = |code: &Code| code.has(|symbol| bare(symbol) == name);
        match self.programs.each_ref().map(has) {
            [true, true] if self.changed.contains(name) => CodeChange::Changed,
            [true, true] => CodeChange::Same,
            [false, false] => CodeChange::Unknown,
            _ => CodeChange::OnOneSide,
        }
    }
}

/// Returns the last component of a function's name, on which symbols and samplers agree: without
/// namespaces, parameters, and suffixes added by the compiler.
fn bare(name: &str) -> &str {
    let name = function_name(name);
    let end = name.find(['(', '<', '[']).filter(|&at| at > 0).unwrap_or(name.len());
    let name = &name[..end];
    let is_hash = |last: &str| last.len() == 17 && last.starts_with('h');
    let name = match name.rsplit_once("::") {
        Some((before, last)) if is_hash(last) => before,
        _ => name,
    };
    let name = name.rsplit_once("::").map_or(name, |(_, last)| last);
    let suffixes = [".cold", ".constprop", ".isra", ".part", ".lto_priv", ".llvm"];
    let cut = suffixes.iter().filter_map(|suffix| name.find(suffix)).min();
    cut.map_or(name, |at| &name[..at])
}

/// Compares the source text of a function between two files.
fn compared(name: &str, files: [&String; 2]) -> CodeChange {
    let text = |file: &String| std::fs::read_to_string(Path::new(file)).ok();
    let (Some(old), Some(new)) = (text(files[0]), text(files[1])) else {
        return CodeChange::Unknown;
    };
    match (definition(&old, name), definition(&new, name)) {
        (Some(old), Some(new)) if old == new => CodeChange::Same,
        (Some(_), Some(_)) => CodeChange::Changed,
        _ => CodeChange::Unknown,
    }
}

/// Returns the trimmed lines of a function's definition in Python or Ruby: from `def` to the last
/// line with greater indentation. `None` unless there is exactly one definition of this name.
fn definition(text: &str, name: &str) -> Option<Vec<String>> {
    let last = name.rsplit(['.', '#', ':']).next().unwrap_or(name);
    let is_own = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ");
        let rest = rest.map(|rest| rest.strip_prefix("self.").unwrap_or(rest));
        let word = rest.map(|rest| {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "_?!=".contains(c)));
            &rest[..end.unwrap_or(rest.len())]
        });
        word == Some(last)
    };
    let mut starts = text.lines().enumerate().filter(|(_, line)| is_own(line));
    let (start, first) = starts.next()?;
    if starts.next().is_some() {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(first);
    let belongs = |line: &&str| line.trim().is_empty() || indent(line) > own;
    let rest =
        text.lines().skip(start + 1).take_while(belongs).filter(|line| !line.trim().is_empty());
    Some(std::iter::once(first).chain(rest).map(|line| line.trim().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_has_one_name_for_symbols_and_samplers() {
        let of = [
            "inflate_block",
            "inflate_block.constprop.0",
            "_ZN2zl13inflate_blockEPKhm",
            "zl::inflate_block(unsigned char const*, unsigned long)",
            "zl::inflate_block::h0123456789abcdef",
        ];
        assert_eq!(of.map(bare), ["inflate_block"; 5]);
        assert_eq!(bare("[unknown]"), "[unknown]");
        assert_eq!(bare("main.parseHeader"), "main.parseHeader");
    }

    #[test]
    fn a_definition_ends_where_its_indentation_does() {
        let old =
            "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n";
        let new = old.replace("return 2", "return 3");
        assert_eq!(definition(old, "A.f"), definition(&new, "A.f"));
        assert_ne!(definition(old, "g"), definition(&new, "g"));
        assert_eq!(definition(old, "h"), None);
        let twice = format!("{old}def f():\n    pass\n");
        assert_eq!(definition(&twice, "f"), None);
        let ruby = "def self.draw?(x)\n  x + 1\nend\n";
        assert_eq!(definition(ruby, "Pen.draw?").map(|lines| lines.len()), Some(2));
    }
}
