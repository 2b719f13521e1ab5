//! Interprets the part of CMake's language that names programs: variables, lists, loops, functions,
//! included files and subdirectories.
//!
//! Conditions are not evaluated, and every branch is taken. The options that must be on for the
//! command that adds an executable to run are switched on when the build is configured. Paths are
//! relative to the root of the repository; paths that CMake makes absolute begin with a slash.

use crate::check::found::tree::{Tree, directory_of, within};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the file that CMake reads in a directory.
pub(super) const FILE: &str = "CMakeLists.txt";
/// Maximum number of commands run, so that loops end.
const MOST_COMMANDS: usize = 200_000;
/// Deepest nesting of functions, included files and subdirectories.
const MOST_DEPTH: usize = 24;
/// Maximum length of a variable's value, in bytes.
const MOST_VALUE: usize = 1 << 18;

/// What the scripts of a project define.
#[derive(Default)]
pub(super) struct Project {
    /// The executables, by name.
    pub executables: BTreeMap<String, Executable>,
    /// Libraries that each target is linked with, by the names that the scripts use.
    pub linked: BTreeMap<String, BTreeSet<String>>,
    /// Options by name, with true for those that are on by default.
    pub options: BTreeMap<String, bool>,
}

/// An executable that a script adds.
pub(super) struct Executable {
    pub sources: Vec<String>,
    /// The script that adds the executable.
    pub file: String,
    /// Directory in which the build starts; empty for the repository's root.
    pub root: String,
    /// Names, usually of options, that must be true for every command that adds the executable.
    pub needs: BTreeSet<String>,
}

impl Project {
    /// Reads all scripts of a tree, starting with those nearest to its root. A script that no
    /// earlier one has included is the root of a build if it declares a project. Otherwise it may
    /// belong to the first script in a way that is not understood here.
    pub fn of(tree: &Tree) -> Self {
        let mut reader = Reader {
            tree,
            root: String::new(),
            project: Self::default(),
            functions: BTreeMap::new(),
            for_all: BTreeSet::new(),
            conditions: Vec::new(),
            read: BTreeSet::new(),
            commands: 0,
        };
        let declares = Regex::new(r"(?mi)^\s*project\s*\(").expect("a pattern");
        for (number, file) in tree.named(FILE).into_iter().enumerate() {
            if !reader.read.contains(file) {
                let is_root = || tree.read(file).is_some_and(|text| declares.is_match(&text));
                if number == 0 || is_root() {
                    directory_of(file).clone_into(&mut reader.root);
                }
                let root = format!("/{}", directory_of(file));
                let names = ["CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"];
                let mut variables = Variables::new();
                variables.extend(names.map(|name| (name.to_owned(), root.clone())));
                reader.subdirectory(directory_of(file), &variables, 0);
            }
        }
        reader.project
    }

    /// Returns true if a target is linked with one of these libraries, directly or through another
    /// target.
    pub fn is_linked(&self, target: &str, libraries: &[&str]) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![target];
        while let Some(target) = open.pop() {
            for library in self.linked.get(target).into_iter().flatten() {
                if libraries.contains(&library.as_str()) {
                    return true;
                }
                if seen.insert(library) {
                    open.push(library);
                }
            }
        }
        false
    }
}

type Variables = BTreeMap<String, String>;

/// A command with its arguments as they are written.
#[derive(Clone, Debug, PartialEq)]
struct Command {
    /// The name in lowercase.
    name: String,
    words: Vec<Word>,
}

/// An argument as written.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    /// An unquoted argument, which is split at semicolons after variables are replaced.
    Plain(String),
    Quoted(String),
    /// Text in brackets, in which nothing is replaced.
    Bracketed(String),
}

/// An `if` whose end has not been reached.
struct OpenIf {
    /// Number of names in `Reader::conditions` that come from outside the `if`.
    outside: usize,
    /// The name X if the condition is `NOT X`. If that branch leaves the file, X is true after it.
    negated: Option<String>,
    /// True if the `NOT X` branch leaves the file, with `return` or a fatal error.
    ends: bool,
}

/// A function or a macro.
#[derive(Clone)]
struct Function {
    parameters: Vec<String>,
    body: Vec<Command>,
    /// True for a function, which has its own variables; false for a macro.
    has_scope: bool,
}

struct Reader<'t> {
    tree: &'t Tree,
    /// Directory in which the current build starts.
    root: String,
    project: Project,
    functions: BTreeMap<String, Function>,
    /// Libraries that every later target is linked with.
    for_all: BTreeSet<String>,
    /// Names that must be true for the next command to run.
    conditions: Vec<String>,
    /// Files that have been read.
    read: BTreeSet<String>,
    commands: usize,
}

impl Reader<'_> {
    fn subdirectory(&mut self, directory: &str, variables: &Variables, depth: usize) {
        let mut variables = variables.clone();
        variables.insert("CMAKE_CURRENT_SOURCE_DIR".to_owned(), format!("/{directory}"));
        let libraries = self.for_all.clone();
        self.file(&within(directory, FILE), &mut variables, depth);
        self.for_all = libraries;
    }

    fn file(&mut self, path: &str, variables: &mut Variables, depth: usize) {
        self.read.insert(path.to_owned());
        let Some(text) = self.tree.read(path) else { return };
        let outside = self.conditions.len();
        self.run(&parsed(&text), path, variables, depth);
        self.conditions.truncate(outside);
    }

    /// Updates the conditions if the command is part of an `if` or ends its branch.
    fn condition(&mut self, command: &Command, open: &mut Vec<OpenIf>) {
        match (command.name.as_str(), open.last_mut()) {
            ("if", _) => {
                let (outside, negated) = (self.conditions.len(), negated(&command.words));
                self.conditions.extend(required(&command.words));
                open.push(OpenIf { outside, negated, ends: false });
            }
            ("elseif" | "else", Some(own)) => {
                self.conditions.truncate(own.outside);
                self.conditions.extend(required(&command.words));
                own.negated = own.negated.take().filter(|_| own.ends);
            }
            ("return", Some(own)) => own.ends |= own.negated.is_some(),
            ("message", Some(own)) if is_fatal(&command.words) => {
                own.ends |= own.negated.is_some();
            }
            ("endif", Some(_)) => {
                let Some(own) = open.pop() else { return };
                self.conditions.truncate(own.outside);
                self.conditions.extend(own.negated.filter(|_| own.ends));
            }
            _ => {}
        }
    }

    /// Runs the commands of a file or of a block in it.
    fn run(&mut self, commands: &[Command], file: &str, variables: &mut Variables, depth: usize) {
        let mut next = 0;
        let mut open = Vec::new();
        while let Some(command) = commands.get(next) {
            next += 1;
            self.commands += 1;
            self.condition(command, &mut open);
            if self.commands > MOST_COMMANDS || depth > MOST_DEPTH {
                return;
            }
            let end = match command.name.as_str() {
                name @ ("foreach" | "function" | "macro") => end_of(commands, next, name),
                _ => next,
            };
            let body = &commands[next..end.saturating_sub(1).max(next)];
            let words = expanded(&command.words, variables);
            match (command.name.as_str(), words.as_slice()) {
                ("foreach", [variable, items @ ..]) => {
                    for item in items_of(items, variables) {
                        variables.insert(variable.clone(), item);
                        self.run(body, file, variables, depth + 1);
                    }
                }
                (name @ ("function" | "macro"), [own, parameters @ ..]) => {
                    let function = Function {
                        parameters: parameters.to_vec(),
                        body: body.to_vec(),
                        has_scope: name == "function",
                    };
                    self.functions.insert(own.to_lowercase(), function);
                }
                (name, words) => self.command(name, words, file, variables, depth),
            }
            next = end;
        }
    }

    fn command(
        &mut self,
        name: &str,
        words: &[String],
        file: &str,
        variables: &mut Variables,
        depth: usize,
    ) {
        let directory = variables.get("CMAKE_CURRENT_SOURCE_DIR").map_or("", |own| &own[1..]);
        let directory = directory.to_owned();
        match (name, words) {
            ("project", [own, ..]) => {
                variables.insert("PROJECT_NAME".to_owned(), own.clone());
                variables.entry("CMAKE_PROJECT_NAME".to_owned()).or_insert(own.clone());
                variables.insert("PROJECT_SOURCE_DIR".to_owned(), format!("/{directory}"));
            }
            ("add_subdirectory", [own, ..]) => {
                let own = placed(&directory, own);
                if !self.read.contains(&within(&own, FILE)) {
                    self.subdirectory(&own, variables, depth + 1);
                }
            }
            ("include", [own, ..]) => {
                let path = placed(&directory, own);
                let module = format!("{own}.cmake");
                let found = match self.tree.has(&path) {
                    true => Some(path),
                    false => self.tree.named(&module).first().map(|&own| own.to_owned()),
                };
                if let Some(path) = found {
                    self.file(&path, variables, depth + 1);
                }
            }
            ("option" | "cmake_dependent_option", [own, _, rest @ ..]) => {
                self.option(own, rest.first());
            }
            ("set", [own, value, cache, ..]) if cache == "CACHE" => {
                self.option(own, Some(value));
                set(name, words, variables);
            }
            ("link_libraries", libraries) => self.for_all.extend(libraries.iter().cloned()),
            ("target_link_libraries", [target, libraries @ ..]) => {
                let linked = self.project.linked.entry(target.clone()).or_default();
                linked.extend(libraries.iter().cloned());
            }
            ("add_executable", [target, sources @ ..]) => {
                let is_other = ["IMPORTED", "ALIAS"];
                if sources.first().is_some_and(|own| is_other.contains(&own.as_str())) {
                    return;
                }
                let sources = sources.iter().map(|own| placed(&directory, own)).collect();
                let (file, root) = (file.to_owned(), self.root.clone());
                let needs: BTreeSet<String> = self.conditions.iter().cloned().collect();
                // Another branch may add the same program.
                let known = self.project.executables.get_mut(target);
                known.into_iter().for_each(|own| own.needs.retain(|name| needs.contains(name)));
                let added = Executable { sources, file, root, needs };
                self.project.executables.entry(target.clone()).or_insert(added);
                let linked = self.project.linked.entry(target.clone()).or_default();
                linked.extend(self.for_all.iter().cloned());
            }
            ("file", [kind, variable, patterns @ ..]) if kind.starts_with("GLOB") => {
                let found = globbed(self.tree, &directory, patterns, kind == "GLOB_RECURSE");
                variables.insert(variable.clone(), found.join(";"));
            }
            (name, words) => match self.functions.get(name).cloned() {
                Some(function) => self.call(&function, words, file, variables, depth),
                None => set(name, words, variables),
            },
        }
    }

    /// Adds an option with its default.
    fn option(&mut self, name: &str, value: Option<&String>) {
        let value = value.map_or(String::new(), |value| value.to_uppercase());
        let is_on = ["ON", "TRUE", "YES", "1"].contains(&value.as_str());
        self.project.options.entry(name.to_owned()).or_insert(is_on);
    }

    fn call(
        &mut self,
        function: &Function,
        words: &[String],
        file: &str,
        variables: &mut Variables,
        depth: usize,
    ) {
        let mut own = variables.clone();
        let rest = words.get(function.parameters.len()..).unwrap_or_default();
        let values = words.iter().cloned().chain(std::iter::repeat(String::new()));
        own.extend(function.parameters.iter().cloned().zip(values));
        own.insert("ARGN".to_owned(), rest.join(";"));
        own.insert("ARGV".to_owned(), words.join(";"));
        own.extend(words.iter().enumerate().map(|(at, word)| (format!("ARGV{at}"), word.clone())));
        let outside = self.conditions.len();
        self.run(&function.body, file, &mut own, depth + 1);
        self.conditions.truncate(outside);
        if !function.has_scope {
            *variables = own;
        }
    }
}

/// Returns the names that a condition requires to be true; none for one with `OR`.
fn required(condition: &[Word]) -> Vec<String> {
    let words: Vec<&str> = condition.iter().filter_map(named).collect();
    let terms = words.split(|word| *word == "AND");
    let single = |term: &[&str]| match term {
        [name] => Some((*name).to_owned()),
        _ => None,
    };
    if words.len() < condition.len() || words.contains(&"OR") {
        return Vec::new();
    }
    terms.filter_map(single).collect()
}

/// Returns X for the condition `NOT X`.
fn negated(condition: &[Word]) -> Option<String> {
    match condition {
        [not, name] if named(not) == Some("NOT") => named(name).map(str::to_owned),
        _ => None,
    }
}

/// Returns the name of an argument such as `X` or `${X}`; `None` for any other.
fn named(word: &Word) -> Option<&str> {
    let Word::Plain(text) = word else { return None };
    let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    is_name.then_some(name)
}

fn is_fatal(words: &[Word]) -> bool {
    words.first().and_then(named) == Some("FATAL_ERROR")
}

/// Runs a command that only sets variables. Ignores any other command.
fn set(name: &str, words: &[String], variables: &mut Variables) {
    let mut assign = |name: &String, value: String| {
        if value.len() <= MOST_VALUE {
            variables.insert(name.clone(), value);
        }
    };
    match (name, words) {
        ("set", [own, values @ ..]) => {
            let is_end = |word: &&String| !["CACHE", "PARENT_SCOPE"].contains(&word.as_str());
            let values: Vec<&str> = values.iter().take_while(is_end).map(String::as_str).collect();
            assign(own, values.join(";"));
        }
        ("list", [kind, own, values @ ..]) if kind == "APPEND" => {
            let before = variables.get(own).cloned().unwrap_or_default();
            let all: Vec<&str> = std::iter::once(before.as_str())
                .chain(values.iter().map(String::as_str))
                .filter(|value| !value.is_empty())
                .collect();
            let value = all.join(";");
            if value.len() <= MOST_VALUE {
                variables.insert(own.clone(), value);
            }
        }
        ("string", [kind, from, to, own, text @ ..]) if kind == "REPLACE" => {
            assign(own, text.concat().replace(from.as_str(), to));
        }
        ("string", [kind, text, own]) if kind == "TOLOWER" => assign(own, text.to_lowercase()),
        ("string", [kind, text, own]) if kind == "TOUPPER" => assign(own, text.to_uppercase()),
        ("get_filename_component", [own, path, kind, ..]) => {
            let name = path.rsplit('/').next().unwrap_or_default();
            let value = match kind.as_str() {
                "NAME" => name,
                "NAME_WE" => name.split('.').next().unwrap_or_default(),
                "NAME_WLE" => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
                "DIRECTORY" | "PATH" => directory_of(path),
                _ => path,
            };
            assign(own, value.to_owned());
        }
        ("cmake_parse_arguments", [prefix, flags, single, several, words @ ..]) => {
            for (name, value) in parsed_arguments([flags, single, several], words) {
                assign(&format!("{prefix}_{name}"), value);
            }
        }
        _ => {}
    }
}

/// Returns the values by keyword, as `cmake_parse_arguments` sets them.
fn parsed_arguments(keywords: [&String; 3], words: &[String]) -> BTreeMap<String, String> {
    let [flags, single, several] = keywords.map(|list| list.split(';').collect::<Vec<_>>());
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut open: Option<(&str, bool)> = None;
    for word in words {
        let word = word.as_str();
        if flags.contains(&word) {
            found.insert(word.to_owned(), vec!["TRUE"]);
            open = None;
        } else if single.contains(&word) || several.contains(&word) {
            open = Some((word, several.contains(&word)));
        } else {
            let (name, takes_more) = open.unwrap_or(("UNPARSED_ARGUMENTS", true));
            found.entry(name.to_owned()).or_default().push(word);
            open = open.filter(|_| takes_more);
        }
    }
    found.into_iter().map(|(name, values)| (name, values.join(";"))).collect()
}

/// Returns the items of a loop over `a b`, `IN LISTS x y` or `IN ITEMS a b`. A loop over a range
/// has no items here.
fn items_of(words: &[String], variables: &Variables) -> Vec<String> {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|own| own == word);
    if is(0, "RANGE") {
        return Vec::new();
    }
    if !is(0, "IN") {
        return words.to_vec();
    }
    let mut items = Vec::new();
    let mut are_lists = false;
    for word in &words[1..] {
        match word.as_str() {
            "LISTS" => are_lists = true,
            "ITEMS" => are_lists = false,
            name if are_lists => {
                let value = variables.get(name).map_or("", String::as_str);
                items.extend(value.split(';').filter(|own| !own.is_empty()).map(str::to_owned));
            }
            item => items.push(item.to_owned()),
        }
    }
    items
}

/// Returns the index after the command that ends a block, given the index `from` of the first
/// command in the block.
fn end_of(commands: &[Command], from: usize, name: &str) -> usize {
    let end = format!("end{name}");
    let mut depth = 1;
    for (at, command) in commands.iter().enumerate().skip(from) {
        if command.name == name {
            depth += 1;
        } else if command.name == end {
            depth -= 1;
        }
        if depth == 0 {
            return at + 1;
        }
    }
    commands.len() + 1
}

/// Returns the arguments with their variables replaced.
fn expanded(words: &[Word], variables: &Variables) -> Vec<String> {
    let mut all = Vec::new();
    for word in words {
        match word {
            Word::Bracketed(text) => all.push(text.clone()),
            Word::Quoted(text) => all.push(replaced(text, variables)),
            Word::Plain(text) => {
                let text = replaced(text, variables);
                all.extend(text.split(';').filter(|own| !own.is_empty()).map(str::to_owned));
            }
        }
    }
    all
}

/// Returns the text with each `${NAME}` replaced, innermost first. Unknown names are replaced by
/// nothing.
fn replaced(text: &str, variables: &Variables) -> String {
    let mut text = text.to_owned();
    // A value may contain a reference to itself, which CMake would not replace again.
    for _ in 0..64 {
        let Some(begin) = text.rfind("${") else { break };
        let Some(length) = text[begin..].find('}') else { break };
        let name = &text[begin + 2..begin + length];
        let value = variables.get(name).map_or("", String::as_str);
        if text.len() + value.len() > MOST_VALUE {
            break;
        }
        let value = value.replace("${", "$");
        text.replace_range(begin..=begin + length, &value);
    }
    text
}

/// Returns a path relative to the root of the repository.
fn placed(directory: &str, path: &str) -> String {
    let path = match path.strip_prefix('/') {
        Some(absolute) => absolute.to_owned(),
        None => within(directory, path),
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the files that match one of the patterns, as absolute paths.
fn globbed(tree: &Tree, directory: &str, patterns: &[String], recurses: bool) -> Vec<String> {
    let mut found = Vec::new();
    for pattern in patterns {
        let pattern = regex::escape(&placed(directory, pattern));
        let any = if recurses { ".*" } else { "[^/]*" };
        let pattern = pattern.replace(r"\*", any).replace(r"\?", "[^/]");
        let Ok(pattern) = Regex::new(&format!("^{pattern}$")) else { continue };
        let own = tree.files.iter().filter(|file| pattern.is_match(file));
        found.extend(own.map(|file| format!("/{file}")));
    }
    found
}

/// Parses a script into commands, skipping any other text.
fn parsed(text: &str) -> Vec<Command> {
    let mut scanner = Scanner { rest: text };
    let mut commands = Vec::new();
    while let Some(command) = scanner.command() {
        commands.push(command);
    }
    commands
}

struct Scanner<'t> {
    rest: &'t str,
}

impl Scanner<'_> {
    fn command(&mut self) -> Option<Command> {
        loop {
            self.skip_comments();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
            let (name, rest) = self.rest.split_at(end);
            let after = rest.trim_start_matches([' ', '\t']);
            if let Some(after) = after.strip_prefix('(').filter(|_| !name.is_empty()) {
                self.rest = after;
                return Some(Command { name: name.to_lowercase(), words: self.words() });
            }
            self.rest = rest;
            let mut letters = self.rest.chars();
            letters.next()?;
            self.rest = letters.as_str();
        }
    }

    /// Reads arguments up to the closing parenthesis.
    fn words(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        let mut depth = 1;
        loop {
            self.skip_comments();
            let Some(first) = self.rest.chars().next() else { return words };
            if let Some(text) = self.bracketed() {
                words.push(Word::Bracketed(text));
                continue;
            }
            match first {
                '"' => words.push(Word::Quoted(self.quoted())),
                '(' | ')' => {
                    self.rest = &self.rest[1..];
                    depth = if first == '(' { depth + 1 } else { depth - 1 };
                    if depth == 0 {
                        return words;
                    }
                }
                _ => {
                    let is_end = |c: char| c.is_whitespace() || "()\"#".contains(c);
                    let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                    words.push(Word::Plain(self.rest[..end].to_owned()));
                    self.rest = &self.rest[end..];
                }
            }
        }
    }

    fn skip_comments(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix('#') else { return };
            self.rest = comment;
            if self.bracketed().is_none() {
                let end = comment.find('\n').unwrap_or(comment.len());
                self.rest = &comment[end..];
            }
        }
    }

    /// Reads `[[text]]` or `[=[text]=]`, if it is next.
    fn bracketed(&mut self) -> Option<String> {
        let inner = self.rest.strip_prefix('[')?;
        let equals = inner.len() - inner.trim_start_matches('=').len();
        let text = inner[equals..].strip_prefix('[')?;
        let close = format!("]{}]", "=".repeat(equals));
        let end = text.find(&close)?;
        self.rest = &text[end + close.len()..];
        Some(text[..end].to_owned())
    }

    fn quoted(&mut self) -> String {
        let mut text = String::new();
        let mut letters = self.rest[1..].chars();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => text.extend(letters.next().filter(|&next| next != '\n')),
                letter => text.push(letter),
            }
        }
        self.rest = letters.as_str();
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;

    fn project(files: &[(&str, &str)]) -> Project {
        let room = tempfile::tempdir().expect("a directory");
        for (path, text) in files {
            let path = room.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let names = files.iter().map(|(path, _)| (*path).to_owned()).collect();
        Project::of(&Tree::of(room.path(), names))
    }

    fn benchmarks(project: &Project) -> Vec<&str> {
        let is_linked = |name: &&String| project.is_linked(name, &["benchmark::benchmark"]);
        project.executables.keys().filter(is_linked).map(String::as_str).collect()
    }

    #[test]
    fn loops_over_lists_and_variables_name_targets() {
        let text = "set(BENCHES a_bench b_bench)\nlist(APPEND BENCHES c_bench)\n\
            foreach(one ${BENCHES})\n  add_executable(${one} src/${one}.cc) # comment )\n  \
            target_link_libraries(${one} PUBLIC foo benchmark::benchmark ${MORE})\nendforeach()\n\
            foreach(one IN LISTS BENCHES ITEMS d)\n add_executable(other_${one} x.cc)\nendforeach()\n";
        let project = project(&[(FILE, text), ("src/a_bench.cc", "")]);
        assert_eq!(benchmarks(&project), ["a_bench", "b_bench", "c_bench"]);
        assert_eq!(project.executables["a_bench"].sources, ["src/a_bench.cc"]);
        assert!(project.executables.contains_key("other_d"));
    }

    #[test]
    fn functions_and_files_of_a_pattern_name_targets() {
        let top = "project(Foo)\ninclude(cmake/Bench.cmake)\nadd_subdirectory(\"bench\")\n";
        let module = "function(add_bench NAME)\n  cmake_parse_arguments(OWN \"QUIET\" \"\" \"SRCS;DEPS\" ${ARGN})\n  \
            add_executable(${PROJECT_NAME}_${NAME} ${OWN_SRCS})\n  \
            target_link_libraries(${PROJECT_NAME}_${NAME} PRIVATE ${OWN_DEPS} common)\nendfunction()\n\
            add_library(common INTERFACE)\ntarget_link_libraries(common INTERFACE benchmark::benchmark)\n";
        let bench = "add_bench(first SRCS first.cc helper.cc QUIET DEPS foo)\n\
            file(GLOB FILES \"${CMAKE_CURRENT_SOURCE_DIR}/many/*.cpp\")\nforeach(file IN LISTS FILES)\n  \
            get_filename_component(name ${file} NAME_WE)\n  add_bench(${name} SRCS ${file})\nendforeach()\n";
        let files = [
            (FILE, top),
            ("cmake/Bench.cmake", module),
            ("bench/CMakeLists.txt", bench),
            ("bench/many/x.cpp", ""),
            ("bench/many/y.cpp", ""),
            ("bench/many/deeper/z.cpp", ""),
        ];
        let project = project(&files);
        assert_eq!(benchmarks(&project), ["Foo_first", "Foo_x", "Foo_y"]);
        assert_eq!(project.executables["Foo_x"].sources, ["bench/many/x.cpp"]);
        assert_eq!(project.executables["Foo_first"].sources, ["bench/first.cc", "bench/helper.cc"]);
    }

    #[test]
    fn libraries_for_all_targets_count_and_text_does_not() {
        let text = "#[[ add_executable(no a.cc) ]]\nmessage(\"add_executable(no a.cc)\")\n\
            if(NOT (A AND B))\n  link_libraries(benchmark::benchmark)\nendif()\n\
            Add_Executable(\n  bm\n  a.cc)\nadd_executable(alias ALIAS bm)\n\
            option(FOO_BENCH \"of (it)\" OFF)\nset(BAR ON CACHE BOOL \"\")\nset(x [[add_executable(no b.cc)]])\n";
        let project = project(&[(FILE, text)]);
        assert_eq!(benchmarks(&project), ["bm"]);
        assert_eq!(project.executables.len(), 1);
        assert_eq!(
            project.options,
            BTreeMap::from([("BAR".to_owned(), true), ("FOO_BENCH".to_owned(), false)])
        );
    }

    #[test]
    fn scripts_that_call_themselves_end() {
        let text = "function(f)\n f()\n f()\nendfunction()\nf()\nset(a ${a}${a}x)\n\
            macro(g)\n set(a \"${a}${a}${a}\")\n g()\nendmacro()\ng()\nadd_subdirectory(.)\ninclude(CMakeLists.txt)\n\
            foreach(x a b)\n";
        assert!(project(&[(FILE, text)]).executables.is_empty());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "(add_executable|foreach|endforeach|set|f|function|endfunction|[(){}$\\[\\]\"#\\\\=;a \n]){0,40}") {
            let _project = project(&[(FILE, &text)]);
        }
    }
}
