//! Settings of a suite that are compared with a baseline: their names, their effects and their
//! requirements.
//!
//! A toggle is data: variables, files that Ruby or Python load, server settings, shell lines. The
//! code that runs the suite applies them; nothing is applied, started or looked up here. The sides
//! of a comparison are defined in [`sides`].

pub mod sides;

use std::fmt;
use thiserror::Error;

/// Files that the interpreters of a suite load from a directory created for them: name and text.
pub const FILES: [(&str, &str); 2] = [
    (RUBY_FILE, include_str!("toggles/assay_toggles.rb")),
    (PYTHON_FILE, include_str!("toggles/sitecustomize.py")),
];
const RUBY_FILE: &str = "assay_toggles.rb";
const PYTHON_FILE: &str = "sitecustomize.py";

/// All built-in kinds of toggles, as listed in error messages.
pub const OFFERED: &str = "warm=on, gc=off|per-process|generational, yjit=on, python-gc=off|freeze, hash-cost=min, log-level=LEVEL, workers=N, \
     pg.SETTING=VALUE (pg.fsync=off), pg.tmpfs=on, redis.SETTING=VALUE (redis.save=off), VARIABLE=VALUE, or 'NAME=ON-LINE;OFF-LINE' of your own";

/// Log levels, most verbose first.
const LEVELS: [&str; 6] = ["debug", "info", "warn", "error", "fatal", "off"];
/// Settings of Ruby's garbage collector for a process that allocates a lot and ends soon: a larger
/// initial heap and later collections of old objects. The variables are documented in gc.c;
/// versions ignore those that they do not know.
const GENERATIONAL: [(&str, &str); 10] = [
    ("RUBY_GC_HEAP_INIT_SLOTS", "600000"),
    ("RUBY_GC_HEAP_0_INIT_SLOTS", "600000"),
    ("RUBY_GC_HEAP_1_INIT_SLOTS", "150000"),
    ("RUBY_GC_HEAP_2_INIT_SLOTS", "60000"),
    ("RUBY_GC_HEAP_FREE_SLOTS", "200000"),
    ("RUBY_GC_MALLOC_LIMIT", "134217728"),
    ("RUBY_GC_MALLOC_LIMIT_MAX", "268435456"),
    ("RUBY_GC_OLDMALLOC_LIMIT", "268435456"),
    ("RUBY_GC_OLDMALLOC_LIMIT_MAX", "536870912"),
    ("RUBY_GC_HEAP_OLDOBJECT_LIMIT_FACTOR", "4.0"),
];
/// Variables that set the number of tests that runners execute in parallel.
const WORKERS: [&str; 9] = [
    "PARALLEL_WORKERS",
    "PARALLEL_TEST_PROCESSORS",
    "MT_CPU",
    "PYTEST_XDIST_AUTO_NUM_WORKERS",
    "RUST_TEST_THREADS",
    "NEXTEST_TEST_THREADS",
    "GOMAXPROCS",
    "CTEST_PARALLEL_LEVEL",
    "VITEST_MAX_WORKERS",
];

/// A setting and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toggle {
    /// Name of the setting: `gc`, `pg.fsync`.
    pub setting: String,
    /// The displayed value: `off`; for shell lines `on`.
    pub value: String,
    /// The changes that the toggle makes.
    pub parts: Vec<ToggleEffect>,
}

/// Something that a toggle changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToggleEffect {
    /// An environment variable.
    Variable {
        /// Name of the variable.
        name: String,
        /// Value of the variable.
        value: String,
    },
    /// A word appended to the value of a variable; it includes the space before it.
    Word {
        /// Name of the variable.
        name: &'static str,
        /// The word.
        word: &'static str,
    },
    /// An action of the toggle file in the interpreter.
    Hook(&'static str),
    /// A setting of the PostgreSQL server that the suite uses.
    Postgres {
        /// Name of the setting in PostgreSQL.
        setting: String,
        /// Value of the setting.
        value: String,
    },
    /// A PostgreSQL server with its data in memory instead of on disk.
    PostgresInMemory,
    /// A setting of the Redis server that the suite uses.
    Redis {
        /// Name of the setting in Redis.
        setting: String,
        /// Value of the setting.
        value: String,
    },
    /// Each run is a fork of a process that has the suite loaded.
    Preloaded,
    /// Shell lines run before and after every run.
    Lines {
        /// Switches the setting on.
        on: String,
        /// Switches the setting off.
        off: String,
    },
}

/// A language whose interpreter can load a toggle file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Ruby.
    Ruby,
    /// Python.
    Python,
}

/// A kind of server whose settings can be toggled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ServerKind {
    /// PostgreSQL.
    Postgres,
    /// Redis.
    Redis,
}

/// The origin of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerFrom {
    /// Started only for the suite, with its data on disk or in memory.
    Started {
        /// True if the data is in memory regardless of toggles.
        in_memory: bool,
    },
    /// The user's own server, given by its address.
    Named,
}

/// Returns the language of a framework's tests, in lower case; `None` if the framework runs tests
/// in any language, or is unknown.
pub fn language_of(framework: &str) -> Option<&'static str> {
    Some(match framework {
        "rspec" | "minitest" | "test-unit" => "ruby",
        "pytest" | "unittest" => "python",
        "go" => "go",
        "cargo" | "nextest" => "rust",
        "jest" | "vitest" | "node" => "javascript",
        _ => return None,
    })
}

/// Properties of a suite that are known before it runs.
#[derive(Clone, Debug, Default)]
pub struct Suite<'a> {
    /// The language of the tests, in lower case; `None` if the command does not reveal it.
    pub language: Option<&'a str>,
    /// Servers whose settings may be changed.
    pub servers: Vec<(ServerKind, ServerFrom)>,
}

/// Reasons why a text is not a toggle.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ToggleError {
    /// The setting is unknown.
    #[error("`{given}` is not a setting that can be toggled; known are {OFFERED}")]
    Unknown {
        /// The text as given.
        given: String,
    },
    /// The setting does not have this value.
    #[error("`{setting}` can't be `{value}`: {offered}")]
    Value {
        /// Name of the setting.
        setting: String,
        /// The rejected value.
        value: String,
        /// The supported values.
        offered: &'static str,
    },
    /// Shell lines that are not a pair.
    #[error(
        "`{given}`: write the line that switches it on, one `;`, and the line that switches it off; join several commands with `&&`"
    )]
    Lines {
        /// The text as given.
        given: String,
    },
}

impl Toggle {
    /// Parses a toggle: `SETTING=VALUE`, a variable `NAME=VALUE` in capitals, or
    /// `name=ON-LINE;OFF-LINE`.
    ///
    /// # Errors
    /// [`ToggleError`], which lists the alternatives.
    pub fn read(given: &str) -> Result<Self, ToggleError> {
        let unknown = || ToggleError::Unknown { given: given.to_owned() };
        let (setting, value) = given.split_once('=').ok_or_else(unknown)?;
        let bad = |offered| ToggleError::Value {
            setting: setting.to_owned(),
            value: value.to_owned(),
            offered,
        };
        let parts = match setting {
            "gc" => match value {
                "off" => vec![ToggleEffect::Hook("gc-off")],
                "per-process" => vec![ToggleEffect::Hook("gc-per-process")],
                "generational" => GENERATIONAL.map(|(name, value)| variable(name, value)).into(),
                _ => {
                    return Err(bad(
                        "off (during each test), per-process (from its start to its end), or generational (fewer collections)",
                    ));
                }
            },
            "warm" if value == "on" => vec![ToggleEffect::Preloaded],
            "warm" => {
                return Err(bad("the only value is on; without it, each run starts from scratch"));
            }
            "yjit" if value == "on" => vec![ToggleEffect::Word { name: "RUBYOPT", word: "--yjit" }],
            "yjit" => return Err(bad("the only value is on; without it, nothing is changed")),
            "python-gc" => match value {
                "off" => vec![ToggleEffect::Hook("python-gc-off")],
                "freeze" => vec![ToggleEffect::Hook("python-gc-freeze")],
                _ => return Err(bad("off, or freeze (what is loaded before the first test)")),
            },
            "hash-cost" if value == "min" => vec![ToggleEffect::Hook("hash-cost")],
            "hash-cost" => return Err(bad("the only value is min")),
            "log-level" if LEVELS.contains(&value) => {
                vec![ToggleEffect::Hook("log-level"), variable("ASSAY_TOGGLES_LOG_LEVEL", value)]
            }
            "log-level" => return Err(bad("debug, info, warn, error, fatal or off")),
            "workers" => match value.parse::<u16>() {
                Ok(1..) => WORKERS.map(|name| variable(name, value)).into(),
                _ => return Err(bad("a number of workers")),
            },
            "pg.tmpfs" if value == "on" => vec![ToggleEffect::PostgresInMemory],
            "pg.tmpfs" => return Err(bad("the only value is on")),
            _ if is_variable(setting) => vec![variable(setting, value)],
            _ => match setting.split_once('.') {
                Some(("pg", name)) => {
                    let own = is_setting(name, b"_.") && is_value(value);
                    let (setting, value) = (name.to_owned(), value.to_owned());
                    own.then_some(vec![ToggleEffect::Postgres { setting, value }])
                        .ok_or_else(|| bad("a PostgreSQL setting has one short value"))?
                }
                Some(("redis", name)) => {
                    let own = is_setting(name, b"-") && is_value(value);
                    let value = redis_value(name, value);
                    own.then_some(vec![ToggleEffect::Redis { setting: name.to_owned(), value }])
                        .ok_or_else(|| bad("a Redis setting has one short value"))?
                }
                _ if value.contains(';') && !setting.trim().is_empty() => {
                    return lines(given, setting, value);
                }
                _ => return Err(unknown()),
            },
        };
        Ok(Self { setting: setting.to_owned(), value: value.to_owned(), parts })
    }

    /// Returns the reason why the toggle cannot affect the suite, as the end of a sentence; `None`
    /// if no reason is known.
    pub fn obstacle(&self, suite: &Suite<'_>) -> Option<String> {
        self.parts.iter().find_map(|part| part.obstacle(suite))
    }

    /// Returns a command that exits with status 0 if the setting is available, and the explanation
    /// if it does not.
    pub fn probe(&self) -> Option<(&'static [&'static str], &'static str)> {
        (self.setting == "yjit")
            .then_some((&["ruby", "--yjit", "-e", ""], "this Ruby was built without YJIT"))
    }

    /// Returns the kind of server that the toggle changes.
    pub fn server(&self) -> Option<ServerKind> {
        self.parts.iter().find_map(ToggleEffect::server)
    }
}

impl fmt::Display for Toggle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.setting, self.value)
    }
}

impl ToggleEffect {
    fn server(&self) -> Option<ServerKind> {
        match self {
            Self::Postgres { .. } | Self::PostgresInMemory => Some(ServerKind::Postgres),
            Self::Redis { .. } => Some(ServerKind::Redis),
            _ => None,
        }
    }

    /// The languages whose interpreters support the toggle; empty if it does not depend on the
    /// language.
    fn languages(&self) -> &'static [Language] {
        match self {
            Self::Hook("gc-off" | "gc-per-process") | Self::Word { .. } => &[Language::Ruby],
            Self::Hook("python-gc-off" | "python-gc-freeze") => &[Language::Python],
            Self::Hook(_) | Self::Preloaded => &[Language::Ruby, Language::Python],
            Self::Variable { name, .. } if name.starts_with("RUBY_GC_") => &[Language::Ruby],
            _ => &[],
        }
    }

    fn obstacle(&self, suite: &Suite<'_>) -> Option<String> {
        let languages = self.languages();
        if let Some(other) = suite.language
            && !languages.is_empty()
            && !languages.iter().any(|own| own.name() == other)
        {
            let known = languages.iter().map(|own| own.label()).collect::<Vec<_>>().join(" or ");
            return Some(format!("it is a setting of {known}, and these tests are in {other}"));
        }
        let kind = self.server()?;
        let from = suite.servers.iter().find(|(own, _)| *own == kind).map(|(_, from)| *from);
        match (self, from) {
            (_, None) => {
                let (name, example) = (kind.label(), kind.example());
                Some(format!(
                    "no {name} is given whose settings may be changed; --with {} starts one, --server {example} names your own",
                    kind.name()
                ))
            }
            (Self::PostgresInMemory, Some(ServerFrom::Named)) => {
                Some("the data of your own server stay where they are; --with postgres starts one".to_owned())
            }
            (Self::PostgresInMemory, Some(ServerFrom::Started { in_memory: true })) => {
                Some("the server's data are in memory already".to_owned())
            }
            (Self::Postgres { setting, .. }, Some(ServerFrom::Started { in_memory: true }))
                if is_about_disks(setting) =>
            {
                Some(
                    "the server's data are in memory, where nothing waits for a disk; set TMPDIR to a directory on one"
                        .to_owned(),
                )
            }
            _ => None,
        }
    }
}

/// Returns true for PostgreSQL settings that affect only how long the server waits for the disk.
fn is_about_disks(setting: &str) -> bool {
    matches!(setting, "fsync" | "synchronous_commit" | "full_page_writes" | "wal_sync_method")
}

impl Language {
    /// Name in lower case, as in [`Suite::language`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Ruby => "ruby",
            Self::Python => "python",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Ruby => "Ruby",
            Self::Python => "Python",
        }
    }
}

impl ServerKind {
    /// Name of the server in `--with`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
        }
    }

    /// The product name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Redis => "Redis",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Postgres => "postgres://…",
            Self::Redis => "redis://…",
        }
    }
}

fn variable(name: &str, value: &str) -> ToggleEffect {
    ToggleEffect::Variable { name: name.to_owned(), value: value.to_owned() }
}

/// Returns true if a name is that of a variable: capitals distinguish it from a built-in setting.
fn is_variable(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
    begins && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

fn is_setting(name: &str, others: &[u8]) -> bool {
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || others.contains(&b);
    name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(known)
}

fn is_value(value: &str) -> bool {
    value.len() <= 200 && !value.is_empty() && !value.contains(|c: char| c.is_control())
}

/// Converts `on` and `off` to Redis's values.
fn redis_value(setting: &str, value: &str) -> String {
    match (setting, value) {
        ("save", "off") => "",
        (_, "off") => "no",
        (_, "on") => "yes",
        (_, own) => own,
    }
    .to_owned()
}

fn lines(given: &str, setting: &str, value: &str) -> Result<Toggle, ToggleError> {
    match value.split(';').map(str::trim).collect::<Vec<_>>()[..] {
        [on, off] if !on.is_empty() || !off.is_empty() => Ok(Toggle {
            setting: setting.trim().to_owned(),
            value: "on".to_owned(),
            parts: vec![ToggleEffect::Lines { on: on.to_owned(), off: off.to_owned() }],
        }),
        _ => Err(ToggleError::Lines { given: given.to_owned() }),
    }
}

#[cfg(test)]
mod tests;
