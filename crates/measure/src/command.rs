//! A command to run: its words, environment, directory, input and output.
//!
//! A command is split into words like in a shell, but no shell runs it, since starting a shell
//! costs more than many programs and would itself be measured. Therefore anything that only a shell
//! can do (`|`, `>`, `*`, `$`...) is refused with its name and column instead of being passed on as
//! a plain word. This module does not access the file system; `resolve` does.

mod foreign;

pub use foreign::{text_of, word_of};

use std::ffi::OsString;
use std::path::PathBuf;

use thiserror::Error;

use crate::control::Control;

/// A command to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program as written, and its arguments. Contains at least one word.
    pub argv: Vec<OsString>,
    /// Variables added to the environment of `assay`; they replace those of the same name.
    pub env: Vec<(String, String)>,
    /// The working directory; `None` for the current one.
    pub cwd: Option<PathBuf>,
    /// Standard input of the command.
    pub input: Input,
    /// Destination of the command's output.
    pub output: Output,
    /// True if `argv` is a shell whose argument is the text of the command.
    pub shell: bool,
    /// Settings of its processes.
    pub control: Control,
    /// If true, the first 64 MiB of standard output are kept in memory, in a separate file for
    /// every run, so that no reader is needed during the run. Requires [`Output::Null`] as
    /// [`Command::output`].
    pub keep_output: bool,
    /// Like [`Command::keep_output`], for standard error. With [`Output::Inherit`], it is kept
    /// instead of being shown.
    pub keep_errors: bool,
    /// Channel for samples that the command provides.
    pub samples: Channel,
}

/// Channel through which a command passes samples to `assay`. The variable `ASSAY_SAMPLES` tells
/// the command which channel to use; without a channel, it is not set. The first 64 MiB of the data
/// are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Channel {
    /// No channel.
    #[default]
    None,
    /// Descriptor 7 (`ASSAY_SAMPLES=fd:7`), which always appends to a file in memory.
    Descriptor,
    /// A file, initially empty, to be appended to (`ASSAY_SAMPLES=path:FILE`): for runtimes that
    /// close inherited descriptors. It is new for every run, with the same name.
    Path,
}

/// Standard input of a command. It is opened anew for every run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// Nothing: `/dev/null`.
    #[default]
    Null,
    /// A file, read from its start; a relative path is relative to the command's directory.
    File(PathBuf),
}

/// Destination of a command's output. Only `Inherit` shows standard error; otherwise it is
/// discarded, unless a run captures it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Nowhere: `/dev/null`.
    #[default]
    Null,
    /// The output of `assay`.
    Inherit,
    /// Standard output goes to a pipe that is read, counted and discarded: programs behave
    /// differently there (buffering, checks for a regular file, a slower reader).
    Pipe,
    /// Standard output goes to a file, truncated before every run; a relative path is relative to
    /// the command's directory.
    File(PathBuf),
}

/// Errors of parsing a command.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommandError {
    /// The text has no words.
    #[error("the command is empty: name a program to run")]
    Empty,
    /// The text has only variable assignments, and no program.
    #[error("`{text}` sets variables but names no program: add one after them")]
    NoProgram {
        /// The text as the user wrote it.
        text: String,
    },
    /// The text contains syntax that only a shell understands.
    #[error(
        "`{character}` in column {column} of `{text}` has a meaning only in a shell, and no shell \
         is used.\nRun the command in a shell with --shell sh, or quote the character to pass it on \
         as it is."
    )]
    ShellCharacter {
        /// The character, with a line break written as `\n`.
        character: String,
        /// Position of the character in the text, counted in characters from 1.
        column: usize,
        /// The text as the user wrote it.
        text: String,
    },
    /// An unterminated quote.
    #[error("the {quote} in column {column} of `{text}` has no closing quote")]
    OpenQuote {
        /// Name of the quote: "double quote", "single quote" or "backslash".
        quote: &'static str,
        /// Position of the quote in the text, counted in characters from 1.
        column: usize,
        /// The text as the user wrote it.
        text: String,
    },
    /// The output is to be kept, but would also be sent elsewhere.
    #[error(
        "the output of `{program}` cannot be both kept and shown, piped or written to a file: choose one"
    )]
    KeptElsewhere {
        /// The program as it was written.
        program: String,
    },
    /// The text contains a zero byte, which cannot be passed to a program.
    #[error("the command contains a NUL byte, which cannot be passed to a program: remove it")]
    ZeroByte,
}

impl Command {
    /// Creates a command from separate words: the program and its arguments.
    ///
    /// # Errors
    ///
    /// [`CommandError::Empty`] without a word, [`CommandError::ZeroByte`].
    pub fn new<W: Into<OsString>>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Self, CommandError> {
        let argv: Vec<OsString> = words.into_iter().map(Into::into).collect();
        if argv.first().is_none_or(|program| program.is_empty()) {
            return Err(CommandError::Empty);
        }
        if argv.iter().any(|word| word.as_encoded_bytes().contains(&0)) {
            return Err(CommandError::ZeroByte);
        }
        Ok(Self {
            argv,
            env: Vec::new(),
            cwd: None,
            input: Input::default(),
            output: Output::default(),
            shell: false,
            control: Control::default(),
            keep_output: false,
            keep_errors: false,
            samples: Channel::None,
        })
    }

    /// Parses a command. Without `shell` it is split into words like in a shell, and leading
    /// `NAME=value` words become variables; with `shell` it is passed to `/bin/sh`.
    ///
    /// # Errors
    ///
    /// Every [`CommandError`]; with `shell` only [`CommandError::ZeroByte`] and
    /// [`CommandError::Empty`].
    pub fn parse(text: &str, shell: bool) -> Result<Self, CommandError> {
        if shell {
            return Self::by_shell("/bin/sh", text);
        }
        if text.contains('\0') {
            return Err(CommandError::ZeroByte);
        }
        let variables = Scanner::new(text).scan()?;
        // The scanner has already refused unterminated quotes and comments.
        let mut words = shell_words::split(text).map_err(|_| CommandError::OpenQuote {
            quote: "quote",
            column: text.chars().count(),
            text: text.to_owned(),
        })?;
        if words.is_empty() {
            return Err(CommandError::Empty);
        }
        let argv = words.split_off(variables.min(words.len()));
        if argv.is_empty() {
            return Err(CommandError::NoProgram { text: text.to_owned() });
        }
        let mut command = Self::new(argv.iter().map(|word| word_of(word)))?;
        command.env = words
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        Ok(command)
    }

    /// Creates a command that passes a text to a shell of the caller's choice, which must
    /// understand `-c`.
    ///
    /// # Errors
    ///
    /// [`CommandError::Empty`] if the text is blank, [`CommandError::ZeroByte`].
    pub fn by_shell(shell: impl Into<OsString>, text: &str) -> Result<Self, CommandError> {
        if text.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        let mut command = Self::new([shell.into(), "-c".into(), word_of(text)])?;
        command.shell = true;
        Ok(command)
    }
}

/// Scans a text and refuses syntax that only a shell understands. It does not build words.
struct Scanner<'a> {
    text: &'a str,
    /// Unquoted characters of the current word; empty if all of them are quoted.
    word: String,
    in_word: bool,
    /// True if the current word has no quote or backslash yet: `NAME=` may still be an assignment.
    plain: bool,
    /// True if the word is known to begin with an unquoted `NAME=`.
    assignment: bool,
    variables: usize,
    words: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            word: String::new(),
            in_word: false,
            plain: true,
            assignment: false,
            variables: 0,
            words: 0,
        }
    }

    /// Returns the number of leading words that are variable assignments.
    fn scan(mut self) -> Result<usize, CommandError> {
        let mut characters = self.text.chars().zip(1..);
        while let Some((c, column)) = characters.next() {
            match c {
                ' ' | '\t' => self.end_word(),
                '\'' => {
                    self.quoted();
                    if !characters.any(|(c, _)| c == '\'') {
                        return Err(self.open("single quote", column));
                    }
                }
                '"' => {
                    self.quoted();
                    self.double_quoted(&mut characters, column)?;
                }
                '\\' => {
                    self.quoted();
                    if characters.next().is_none() {
                        return Err(self.open("backslash", column));
                    }
                }
                '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '\n' => {
                    return Err(self.refuse(c, column));
                }
                // A tilde is special only at the start of a word or of a variable's value.
                '~' if !self.in_word || (self.assignment && self.word.ends_with('=')) => {
                    return Err(self.refuse(c, column));
                }
                '#' if !self.in_word => return Err(self.refuse(c, column)),
                _ => {
                    if c == '=' && self.plain && !self.assignment && is_name(&self.word) {
                        self.assignment = true;
                    }
                    self.in_word = true;
                    self.word.push(c);
                }
            }
        }
        self.end_word();
        Ok(self.variables)
    }

    fn double_quoted(
        &self,
        characters: &mut impl Iterator<Item = (char, usize)>,
        opened: usize,
    ) -> Result<(), CommandError> {
        loop {
            match characters.next() {
                None => return Err(self.open("double quote", opened)),
                Some(('"', _)) => return Ok(()),
                Some(('\\', _)) => {
                    characters.next();
                }
                Some((c @ ('$' | '`'), column)) => return Err(self.refuse(c, column)),
                Some(_) => {}
            }
        }
    }

    fn quoted(&mut self) {
        self.in_word = true;
        self.plain = false;
        // The following characters are not at the start of a value.
        self.word.push('"');
    }

    fn end_word(&mut self) {
        if self.in_word {
            if self.assignment && self.variables == self.words {
                self.variables += 1;
            }
            self.words += 1;
        }
        self.in_word = false;
        self.plain = true;
        self.assignment = false;
        self.word.clear();
    }

    fn refuse(&self, character: char, column: usize) -> CommandError {
        let character = if character == '\n' { "\\n".to_owned() } else { character.to_string() };
        CommandError::ShellCharacter { character, column, text: self.text.to_owned() }
    }

    fn open(&self, quote: &'static str, column: usize) -> CommandError {
        CommandError::OpenQuote { quote, column, text: self.text.to_owned() }
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        let command = Command::parse(text, false).unwrap();
        command.argv.iter().map(|w| w.to_str().unwrap().to_owned()).collect()
    }

    fn refused(text: &str) -> (String, usize) {
        match Command::parse(text, false) {
            Err(CommandError::ShellCharacter { character, column, .. }) => (character, column),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_text_is_split_as_a_shell_would() {
        assert_eq!(words("sort -n  'a b' \"c d\" e\\ f"), ["sort", "-n", "a b", "c d", "e f"]);
        assert_eq!(words("a '' \"\\$x\" 'b|c*'"), ["a", "", "$x", "b|c*"]);
        assert_eq!(words("a b#c d~e x=y"), ["a", "b#c", "d~e", "x=y"]);
    }

    #[test]
    fn leading_assignments_become_variables() {
        let command = Command::parse("A=1 B_2='x y' prog C=3", false).unwrap();
        assert_eq!(command.env, [("A".into(), "1".into()), ("B_2".into(), "x y".into())]);
        assert_eq!(command.argv, ["prog", "C=3"]);
        assert!(Command::parse("'A=1' x", false).unwrap().env.is_empty());
        assert!(Command::parse("2A=1 x", false).unwrap().env.is_empty());
        assert!(Command::parse("=1 x", false).unwrap().env.is_empty());
    }

    #[test]
    fn what_only_a_shell_understands_is_refused_by_name_and_column() {
        for (text, character, column) in [
            ("a | b", "|", 3),
            ("a&", "&", 2),
            ("é; b", ";", 2),
            ("a <x", "<", 3),
            ("a 2>x", ">", 4),
            ("(a)", "(", 1),
            ("a )", ")", 3),
            ("a $HOME", "$", 3),
            ("a \"b $c\"", "$", 6),
            ("a \"`b`\"", "`", 4),
            ("a `b`", "`", 3),
            ("ls *.c", "*", 4),
            ("ls a?", "?", 5),
            ("ls [ab]", "[", 4),
            ("ls ~/x", "~", 4),
            ("A=~/x b", "~", 3),
            ("a #b", "#", 3),
            ("a\nb", "\\n", 2),
        ] {
            assert_eq!(refused(text), (character.to_owned(), column), "{text}");
        }
        let message = Command::parse("a | b", false).unwrap_err().to_string();
        assert!(message.contains("`|` in column 3 of `a | b`") && message.contains("--shell"));
    }

    #[test]
    fn a_quotation_that_does_not_end_is_refused_where_it_begins() {
        for (text, column) in [("a 'b", 3), ("a \"b", 3), ("a b\\", 4), ("a \"b\\\"", 3)] {
            match Command::parse(text, false) {
                Err(CommandError::OpenQuote { column: found, .. }) => assert_eq!(found, column),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_text_without_a_program_is_refused() {
        assert_eq!(Command::parse("  ", false), Err(CommandError::Empty));
        assert_eq!(Command::parse("''", false), Err(CommandError::Empty));
        assert_eq!(Command::parse(" \n", true), Err(CommandError::Empty));
        assert!(matches!(Command::parse("A=1", false), Err(CommandError::NoProgram { .. })));
        assert_eq!(Command::parse("a\0b", false), Err(CommandError::ZeroByte));
    }

    #[test]
    fn a_shell_is_given_the_text_untouched() {
        let command = Command::parse("a | b $c", true).unwrap();
        assert_eq!(command.argv, ["/bin/sh", "-c", "a | b $c"]);
        assert!(command.shell);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "\\PC*|[a-zA=_ '\"\\\\$~#\n]{0,20}") {
            let _ = Command::parse(&text, false);
        }

        // The last characters of Unicode are private-use characters that represent bytes that are
        // not UTF-8.
        #[test]
        fn quoted_words_come_back_as_they_were(
            words in proptest::collection::vec("[^\0\u{10ff00}-\u{10ffff}]{1,8}", 1..5)
        ) {
            let text = shell_words::join(&words);
            let command = Command::parse(&text, false);
            prop_assert_eq!(
                command.map(|c| c.argv),
                Ok(words.iter().map(OsString::from).collect::<Vec<_>>()),
                "{}", text
            );
        }
    }
}
