//! Removes information that identifies the user or the place, for records that are passed on.
//!
//! Texts are shortened by their form alone because no files may be accessed here. Anything with a
//! slash in it is taken for a path, and only the last component of a path is kept. This sometimes
//! removes too much (the expression of `sed s/a/b/`) but never too little of a path. Values of
//! variables and anything that looks like a secret (`secrets`) are removed too. Other revealing
//! words in commands and names are kept because they cannot be recognized.

mod secrets;

pub use secrets::without as without_secrets;

use super::Samples;
use std::collections::HashMap;

/// Characters that end a path within a text: `--save=/a/b`, `cat </a/b`, `PATH=/a:/b`.
const BETWEEN: &[char] =
    &['=', ':', ',', ';', '(', ')', '<', '>', '|', '&', '`', '\'', '"', '{', '}', '[', ']'];
/// Parents of home directories.
const HOMES: [&str; 2] = ["/home/", "/Users/"];
/// A unit that looks like a path.
const PER_SECOND: &str = "1/s";

impl Samples {
    /// Removes everything that identifies a person or a place: facts of the environment (see
    /// [`Environment::make_anonymous`](crate::Environment::make_anonymous)), working directories,
    /// values of variables, anything that looks like a secret, and the directories of paths. Paths
    /// occur in the command line, commands, parameters, names of imported and other files, and
    /// names of sides and subjects that were derived from a command. Digests of files are kept, so
    /// that a change is still noticed.
    ///
    /// Names of sides and subjects, and values of one parameter, that become equal are numbered to
    /// keep them distinct. The messages of findings are not changed. The operation is idempotent.
    pub fn make_anonymous(&mut self) {
        self.environment.make_anonymous();
        secrets::of_words(&mut self.argv);
        self.argv.iter_mut().for_each(|word| *word = without_directories(word));
        let mut values: HashMap<String, Distinct> = HashMap::new();
        let mut names = Distinct::default();
        for side in &mut self.sides {
            let command = side.command.clone().unwrap_or_default();
            let mentioned = |path: &str| {
                side.command.is_none() || pieces(&command).any(|(piece, _)| piece == path)
            };
            let name = secrets::of_command(&cut_where(&side.name, mentioned));
            side.name = names.of(&side.name, name);
            side.command = side.command.as_deref().map(command_without);
            side.source = side.source.as_deref().map(file_name);
            side.builds.iter_mut().for_each(|build| *build = file_name(build));
            side.recordings.iter_mut().for_each(|one| one.file = file_name(&one.file));
        }
        let mut names = Distinct::default();
        let mut renamed: HashMap<String, String> = HashMap::new();
        for subject in &mut self.subjects {
            let command = subject.command.clone().unwrap_or_default();
            let mentioned = |path: &str| pieces(&command).any(|(piece, _)| piece == path);
            let name = secrets::of_command(&cut_where(&subject.name, mentioned));
            let name = names.of(&subject.name, name);
            renamed.insert(std::mem::replace(&mut subject.name, name.clone()), name);
            subject.command = subject.command.as_deref().map(command_without);
            subject.cwd = None;
            subject.env.iter_mut().for_each(|(_, value)| secrets::of_variable(value));
            subject.files.iter_mut().for_each(|(path, _)| *path = file_name(path));
            for (parameter, value) in &mut subject.parameters {
                let known = values.entry(parameter.clone()).or_default();
                let text = value.as_str();
                *value = known.of(text, without_directories(text)).into();
            }
        }
        for finding in &mut self.findings {
            let name = finding.subject.as_ref().and_then(|name| renamed.get(name));
            finding.subject = name.cloned().or(finding.subject.take());
        }
    }

    /// Returns the words of an anonymous record's command line from which something was removed
    /// (`KEY=…`), so that the measurement cannot be repeated. A record with a hostname is not
    /// anonymous. The result is empty for it because there, such a word was typed by the user.
    pub fn left_out(&self) -> Vec<&str> {
        let anonymous = self.environment.text("hostname").is_none();
        let words = self.argv.iter().filter(|word| anonymous && word.contains(secrets::LEFT_OUT));
        words.map(String::as_str).collect()
    }
}

/// Replaces texts so that different originals have different replacements.
#[derive(Default)]
struct Distinct {
    of_original: HashMap<String, String>,
    taken: Vec<String>,
}

impl Distinct {
    /// Returns the replacement of an original: `cut`, with a number appended if it is already the
    /// replacement of another original.
    fn of(&mut self, original: &str, cut: String) -> String {
        if let Some(known) = self.of_original.get(original) {
            return known.clone();
        }
        let numbered = (2..=self.taken.len() + 1).map(|number| format!("{cut} #{number}"));
        let free = std::iter::once(cut.clone()).chain(numbered).find(|t| !self.taken.contains(t));
        let text = free.unwrap_or(cut);
        self.taken.push(text.clone());
        self.of_original.insert(original.to_owned(), text.clone());
        text
    }
}

/// Returns the text of a command without secrets and with paths shortened.
fn command_without(text: &str) -> String {
    without_directories(&secrets::of_command(text))
}

/// Returns the text with every path shortened to its last component.
fn without_directories(text: &str) -> String {
    cut_where(text, |_| true)
}

/// Returns the text with the paths shortened that satisfy `condition`.
fn cut_where(text: &str, condition: impl Fn(&str) -> bool) -> String {
    let cut = |(piece, after): (&str, &str)| {
        let kept = if condition(piece) { last_component(piece) } else { piece };
        format!("{kept}{after}")
    };
    pieces(text).map(cut).collect()
}

/// Returns the pieces of a text that may be paths, each with the separator after it. A separator
/// preceded by a backslash does not separate.
fn pieces(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut escaped = false;
        let end = rest.char_indices().find(|&(_, c)| {
            let separates = !escaped && (c.is_whitespace() || BETWEEN.contains(&c));
            escaped = c == '\\' && !escaped;
            separates
        });
        let (piece, after, next) = match end {
            None => (rest, "", ""),
            Some((at, c)) => {
                let behind = at + c.len_utf8();
                (&rest[..at], &rest[at..behind], &rest[behind..])
            }
        };
        rest = next;
        Some((piece, after))
    })
}

/// Returns the last component of a path, or `~` for a home directory. Paths that reveal no
/// directory name (`./app`, `../app`) are unchanged.
fn last_component(path: &str) -> &str {
    let whole = path.trim_end_matches('/');
    // Without the slash, a backslash at the end would escape the following separator.
    let end = if whole.ends_with('\\') { path.len() } else { whole.len() };
    let person =
        HOMES.iter().any(|home| whole.strip_prefix(home).is_some_and(|p| !p.contains('/')));
    match whole.rsplit_once('/') {
        _ if whole.is_empty() || path == PER_SECOND => path,
        _ if person => "~",
        None => &path[..end],
        Some((directories, _)) => {
            let tells = directories.split('/').any(|d| d != "." && d != "..");
            if tells { &path[directories.len() + 1..end] } else { path }
        }
    }
}

/// Returns the file name of a path. The text is known to be a path, so slashes are the only
/// separators.
fn file_name(path: &str) -> String {
    let whole = path.trim_end_matches('/');
    whole.rsplit_once('/').map_or(whole, |(_, name)| name).to_owned()
}

#[cfg(test)]
mod tests;
