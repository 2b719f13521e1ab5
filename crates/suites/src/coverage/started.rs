//! The project files that a started program may read, judged by its arguments and its working
//! directory. Programs are not traced. Instead, a harmless program is assumed to read no project
//! file, a reader to read the files named by its arguments, and any other program to read anything
//! if the project is within its reach. Nothing is started here.

use assay_data::path::without_dots;
use assay_data::seen::Started;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Programs that may read any file of the project, in any working directory, because they run code
/// or another program.
const INTERPRETERS: [&str; 52] = [
    "ash", "awk", "bash", "bun", "bundle", "busybox", "cargo", "cmake", "dash", "deno", "env",
    "erb", "gawk", "go", "gradle", "irb", "java", "julia", "ksh", "lua", "luajit", "make", "mawk",
    "mvn", "nice", "node", "nohup", "npm", "npx", "perl", "php", "pip", "pnpm", "pypy", "pytest",
    "python", "rake", "Rscript", "rspec", "ruby", "setsid", "sh", "stdbuf", "strace", "sudo",
    "tclsh", "time", "timeout", "uv", "watch", "xargs", "zsh",
];
/// The interpreters that run the text after `-c`.
const SHELLS: [&str; 5] = ["ash", "bash", "dash", "sh", "zsh"];
/// Shell builtins and keywords that may read anything, or that change the meaning of the other
/// words.
const OWN: [&str; 24] = [
    "!", ".", "[", "[[", "alias", "builtin", "case", "cd", "eval", "exec", "export", "for",
    "function", "if", "popd", "pushd", "read", "set", "shopt", "source", "test", "trap", "until",
    "while",
];
/// Programs that read no project file, whatever their arguments.
const HARMLESS: [&str; 56] = [
    "arch",
    "cal",
    "clear",
    "command",
    "createdb",
    "date",
    "dropdb",
    "echo",
    "expr",
    "factor",
    "false",
    "free",
    "getconf",
    "getent",
    "groups",
    "hostname",
    "id",
    "ifconfig",
    "ip",
    "kill",
    "killall",
    "ldconfig",
    "locale",
    "lsb_release",
    "lscpu",
    "lsof",
    "mkdir",
    "mkfifo",
    "mktemp",
    "netstat",
    "nproc",
    "pgrep",
    "pidof",
    "ping",
    "pkill",
    "printenv",
    "printf",
    "ps",
    "redis-cli",
    "rmdir",
    "seq",
    "sleep",
    "ss",
    "stty",
    "sync",
    "sysctl",
    "touch",
    "tput",
    "true",
    "tty",
    "uname",
    "uptime",
    "which",
    "whereis",
    "whoami",
    "yes",
];
/// Programs that read only the files named by their arguments.
const READERS: [&str; 57] = [
    "[",
    "b2sum",
    "base32",
    "base64",
    "basename",
    "bunzip2",
    "bzip2",
    "cat",
    "chmod",
    "cksum",
    "cmp",
    "column",
    "comm",
    "cp",
    "cut",
    "diff",
    "dirname",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "grep",
    "gunzip",
    "gzip",
    "head",
    "hexdump",
    "install",
    "join",
    "jq",
    "ln",
    "md5sum",
    "mv",
    "nl",
    "od",
    "paste",
    "readlink",
    "realpath",
    "rev",
    "rm",
    "sed",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sort",
    "stat",
    "strings",
    "sum",
    "tac",
    "tail",
    "tee",
    "test",
    "tr",
    "uniq",
    "wc",
];
/// Programs that traverse directories, by default the current one.
const WALKERS: [&str; 3] = ["du", "find", "tree"];
/// Readers that traverse directories if an option says so.
const RECURSIVE: [&str; 5] = ["cp", "diff", "egrep", "fgrep", "grep"];
/// Git commands that read no project file.
const OF_GIT: [&str; 12] = [
    "--exec-path",
    "--help",
    "--version",
    "branch",
    "help",
    "init",
    "log",
    "remote",
    "rev-list",
    "rev-parse",
    "tag",
    "version",
];
/// Arguments that, if given alone, make any program print only its help or version.
const ABOUT: [&str; 5] = ["--help", "--version", "-V", "-version", "-v"];

/// The project files that a command reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CommandReads {
    /// These files, relative to the root directory of the project.
    These(Vec<ReadPath>),
    /// Files that are not known.
    Anything,
}

/// Something that a command reads, given by its path relative to the root directory of the project.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ReadPath {
    /// A file, which may not exist.
    File(String),
    /// The names in a directory.
    Names(String),
    /// All files below a directory; the whole project if the path is empty.
    All(String),
}

/// Returns the files of a project that a started program reads. A shell command line that consists
/// of plain words is split into its programs.
pub(crate) fn reads(started: &Started, project: &Path) -> CommandReads {
    let place = match &started.place {
        Some(place) => project.join(place),
        None => project.to_owned(),
    };
    let mut all = Vec::new();
    for command in commands(&started.words) {
        match read_by(&command, started.is_cut, &place, project) {
            CommandReads::Anything => return CommandReads::Anything,
            CommandReads::These(these) => all.extend(these),
        }
    }
    all.sort();
    all.dedup();
    CommandReads::These(all)
}

fn commands(words: &[String]) -> Vec<Vec<&str>> {
    if let [shell, option, text] = words
        && option == "-c"
        && shell.starts_with('/') | !shell.contains('/')
        && SHELLS.contains(&name(shell))
        && let Some(plain) = plain(text)
    {
        return plain;
    }
    vec![words.iter().map(String::as_str).collect()]
}

fn read_by(command: &[&str], is_cut: bool, place: &Path, project: &Path) -> CommandReads {
    let nothing = || CommandReads::These(Vec::new());
    let Some((&program, words)) = command.split_first() else { return nothing() };
    let is_own = !program.starts_with('/') && program.contains('/');
    let own = name(program);
    if is_own || Path::new(program).starts_with(project) || INTERPRETERS.contains(&own) {
        return CommandReads::Anything;
    }
    if HARMLESS.contains(&own) {
        return nothing();
    }
    let is_walker = WALKERS.contains(&own);
    let is_known = READERS.contains(&own) || is_walker || own == "ls";
    // A command installed by a package of the project is a script, or is only on the `PATH` of the
    // tests.
    if is_cut || !is_known && !is_binary(program) {
        return CommandReads::Anything;
    }
    if matches!(words, [word] if ABOUT.contains(word)) || own == "git" && of_git(words) {
        return nothing();
    }
    let named: Vec<PathBuf> = words.iter().flat_map(|word| named(word, place)).collect();
    let places = with_real(place.to_owned());
    if !is_known {
        let is_near = |path: &PathBuf| path.starts_with(project) || project.starts_with(path);
        let project = project.to_string_lossy();
        // Detects arguments such as `from:TOP/a` and `kind=bind,from=TOP/a`.
        let is_named = words.iter().any(|word| word.contains(&*project));
        let is_far = !is_named && !places.iter().chain(&named).any(is_near);
        return if is_far { nothing() } else { CommandReads::Anything };
    }
    let has_options = |letters: &[char]| {
        words.iter().any(|word| {
            word.starts_with("--recursive")
                || word.starts_with('-') && !word.starts_with("--") && word.contains(letters)
        })
    };
    let is_recursive = is_walker
        || RECURSIVE.contains(&own) && has_options(&['r', 'R'])
        || own == "ls" && has_options(&['R']);
    let mut paths = named;
    // Without an argument that names an existing path, the program reads its working directory.
    if (is_recursive || own == "ls") && !paths.iter().any(|path| path.exists()) {
        paths.extend(places);
    }
    let shows_names = own == "ls" && !is_recursive && words.iter().all(|word| is_of_names(word));
    let mut all = Vec::new();
    for path in &paths {
        if project.starts_with(path) && path != project {
            // The project is somewhere below the path.
            if is_recursive {
                return CommandReads::Anything;
            }
            continue;
        }
        let Ok(short) = path.strip_prefix(project) else { continue };
        let short = short.to_string_lossy().into_owned();
        all.push(match path.is_dir() {
            // Symbolic links within a named path need not be links in the directory that it names.
            true if shows_names => ReadPath::Names(short),
            true => ReadPath::All(short),
            false => ReadPath::File(short),
        });
    }
    CommandReads::These(all)
}

/// Returns true for an argument of `ls` unless it is an option that may show more than the names of
/// files.
fn is_of_names(word: &str) -> bool {
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => {
            ["all", "almost-all", "color", "reverse"].iter().any(|own| long.starts_with(own))
        }
        (None, Some(letters)) => letters.chars().all(|c| "aA1pFdrCxmqQ".contains(c)),
        (None, None) => true,
    }
}

/// Returns true if a program is found on the `PATH` of this process and is not a script.
fn is_binary(program: &str) -> bool {
    let place = |path: PathBuf| path.is_file().then_some(path);
    let path = match program.starts_with('/') {
        true => place(PathBuf::from(program)),
        false => std::env::var_os("PATH").and_then(|all| {
            std::env::split_paths(&all).find_map(|directory| place(directory.join(program)))
        }),
    };
    let mut begin = [0; 2];
    let read = path.and_then(|path| std::fs::File::open(path).ok()?.read_exact(&mut begin).ok());
    read.is_some() && begin != *b"#!"
}

/// Returns true if a git command line reads no project file.
fn of_git(words: &[&str]) -> bool {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "-C" | "-c" | "--git-dir" | "--work-tree" => drop(words.next()),
            // With some options, these commands read a named file or the working tree.
            "config" => {
                return !words.any(|word| {
                    ["-f", "--file", "--blob"].iter().any(|own| word.starts_with(own))
                });
            }
            "ls-files" => return !words.any(|word| word.starts_with('-')),
            word if OF_GIT.contains(&word) => return true,
            word if word.starts_with('-') => {}
            _ => return false,
        }
    }
    true
}

/// Returns the paths that an argument may name: the argument itself unless it is an option, the
/// part after its `=`, and, if it exists, the part after its `@`, `file://` or short option.
fn named(word: &str, place: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let is_option = word.starts_with('-');
    let behind = word.split_once('=').map(|(_, behind)| behind);
    let short = word.get(2..).filter(|_| is_option && !word.starts_with("--"));
    let file = word.strip_prefix('@').or(word.strip_prefix("file://"));
    for part in [behind, short, file].into_iter().flatten().filter(|part| !part.is_empty()) {
        let path = without_dots(&place.join(part));
        if path.exists() || behind == Some(part) {
            all.extend(with_real(path));
        }
    }
    if !is_option && !word.is_empty() && word.len() < 1024 && !word.contains(['\n', '\0']) {
        all.extend(with_real(without_dots(&place.join(word))));
    }
    all
}

/// Returns a path, and the target of its symbolic links if different, since the target may be in
/// the project.
fn with_real(path: PathBuf) -> Vec<PathBuf> {
    let real = path.canonicalize().ok().filter(|real| *real != path);
    [path].into_iter().chain(real).collect()
}

/// Returns the name of a program, without a trailing version.
fn name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Returns the commands of a shell text if it consists only of plain words, joined by `&&`, `||`,
/// `;` and `|`, and of redirections. `None` if it contains variables, patterns, quotes,
/// assignments, or builtins with unknown effects.
fn plain(text: &str) -> Option<Vec<Vec<&str>>> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,+@^%= \t;&|<>".contains(c);
    if !text.chars().all(is_plain) {
        return None;
    }
    let mut all = Vec::new();
    let parts = text.split([';', '|']).flat_map(|part| part.split("&&")).map(str::trim);
    // Splitting `||` leaves an empty part.
    for part in parts.filter(|part| !part.is_empty()) {
        // Of redirected files, only those that are read count.
        let mut words = Vec::new();
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find([' ', '\t', '<', '>']).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            let is_redirected = behind.starts_with(['<', '>']);
            let is_number = !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
            if !(word.is_empty() || is_redirected && is_number) {
                words.push(word);
            }
            rest = behind.trim_start();
            if !is_redirected {
                continue;
            }
            let is_read = rest.starts_with('<');
            let target = rest.trim_start_matches(['<', '>', '&']).trim_start();
            let end = target.find([' ', '\t', '<', '>']).unwrap_or(target.len());
            let (file, behind) = target.split_at(end);
            if file.is_empty() {
                return None;
            }
            // The file is appended after the program's name, so that it counts as an argument of
            // the command.
            if is_read {
                words.push(file);
            }
            rest = behind.trim_start();
        }
        let first = *words.first()?;
        if first.contains('=')
            || OWN.contains(&first)
            || words.iter().any(|word| word.contains('&'))
        {
            return None;
        }
        // `command` either locates a program or runs it.
        if first == "command" {
            words.remove(0);
            if let Some(first) = words.first_mut().filter(|word| word.starts_with('-')) {
                *first = "which";
            }
        }
        all.push(words);
    }
    (!all.is_empty()).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> bool {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        reads(&words.into(), Path::new("/home/me/project")) == CommandReads::Anything
    }

    #[test]
    fn a_shell_reads_what_the_programs_in_its_text_read() {
        for text in [
            "which editor",
            "which editor > /dev/null 2>&1",
            "command -v nano >/dev/null 2>&1 || command -v vi",
            "uname -a 2>/dev/null; tput cols",
            "git rev-parse --short HEAD 2>/dev/null",
            "stty -a < /dev/tty",
        ] {
            assert!(!read(&["sh", "-c", text]), "{text}");
            assert!(!read(&["/bin/bash", "-c", text]), "{text}");
        }
    }

    #[test]
    fn what_runs_code_may_read_anything() {
        for text in [
            "ruby x.rb",
            "which editor && ruby x.rb",
            "true;./x",
            "bin/x",
            "command ruby -e 1",
            "/home/me/project/x",
            // Unknown from the text alone.
            "$EDITOR x",
            "cat *.rb",
            "echo `ls`",
            "A=1 which x",
            "cd lib && cat user.rb",
            "test -f lib/user.rb",
            ". lib/x",
            "which x & ruby y",
            "cat 'a b'",
            "exec ruby",
            "",
            "which x >",
        ] {
            assert!(read(&["sh", "-c", text]), "{text}");
        }
        for words in [
            &["sh", "x.sh"][..],
            &["sh", "-c", "which x", "y"],
            &["lib/sh", "-c", "which x"],
            &["ruby3.1", "x"],
            &["sh"],
        ] {
            assert!(read(words), "{words:?}");
        }
        assert!(!read(&["which", "editor"]) && !read(&["/usr/bin/git", "ls-files"]) && !read(&[]));
    }

    #[test]
    fn what_a_shell_reads_from_is_a_word() {
        let words = ["sh", "-c", "wc -l <data/a.txt 2>&1 | sort>out -u"].map(str::to_owned);
        assert_eq!(commands(&words), [vec!["wc", "-l", "data/a.txt"], vec!["sort", "-u"]]);
    }

    /// Returns the files that a command reads in a project with some files.
    fn read_in(words: &[&str], place: Option<&str>) -> CommandReads {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(top.join("data/deep")).unwrap();
        std::fs::write(top.join("data/a.json"), "{}").unwrap();
        std::fs::write(room.path().join("tool"), "#!/bin/sh\n").unwrap();
        std::os::unix::fs::symlink(top.join("data"), room.path().join("link")).unwrap();
        let spelled = |word: &str| {
            let word = word.replace("TOP", &top.display().to_string());
            word.replace("ROOM", &room.path().display().to_string())
        };
        let words: Vec<String> = words.iter().map(|word| spelled(word)).collect();
        let place = place.map(spelled);
        reads(&Started { words, place, is_cut: false }, &top)
    }

    /// Returns the files that are read, if known.
    fn these(reads: CommandReads) -> Vec<ReadPath> {
        match reads {
            CommandReads::These(these) => these,
            CommandReads::Anything => vec![ReadPath::All("anything".to_owned())],
        }
    }

    #[test]
    fn a_reader_reads_what_its_words_name_wherever_it_runs() {
        let file = || CommandReads::These(vec![ReadPath::File("data/a.json".to_owned())]);
        for (words, place) in [
            (&["cat", "TOP/data/a.json"][..], None),
            (&["cat", "data/a.json"], None),
            (&["cat", "TOP/lib/../data/a.json"], Some("/")),
            (&["cat", "a.json"], Some("TOP/data")),
            (&["cat", "../a.json"], Some("TOP/data/deep")),
            (&["sh", "-c", "wc -l < a.json | sort"], Some("TOP/data")),
            (&["diff", "--from-file=data/a.json", "/etc/hosts"], None),
            (&["grep", "-fdata/a.json", "/etc/hosts"], Some("TOP")),
        ] {
            let mut found = these(read_in(words, place));
            // Patterns and other arguments may look like file names.
            found.retain(|own| matches!(own, ReadPath::File(path) if path == "data/a.json"));
            assert_eq!(CommandReads::These(found), file(), "{words:?}");
        }
        let gone = read_in(&["cat", "data/none"], None);
        assert_eq!(gone, CommandReads::These(vec![ReadPath::File("data/none".to_owned())]));
    }

    #[test]
    fn a_directory_that_is_named_counts_with_what_is_below_it() {
        let of = |words: &[&str], place| read_in(words, place);
        let all = |path: &str| ReadPath::All(path.to_owned());
        let found = these(of(&["grep", "-rc", "x", "data"], None));
        assert!(found.contains(&all("data")));
        assert_eq!(of(&["find"], Some("TOP/data")), CommandReads::These(vec![all("data")]));
        assert_eq!(
            of(&["ls", "data"], None),
            CommandReads::These(vec![ReadPath::Names("data".to_owned())])
        );
        assert_eq!(
            of(&["ls"], Some("TOP/data")),
            CommandReads::These(vec![ReadPath::Names("data".to_owned())])
        );
        // Sizes and times belong to the files themselves.
        assert_eq!(of(&["ls", "-l", "data"], None), CommandReads::These(vec![all("data")]));
        assert!(these(of(&["ls", "--sort=size"], Some("TOP/data"))).contains(&all("data")));
        assert_eq!(of(&["find"], Some("ROOM/link")), CommandReads::These(vec![all("data")]));
        assert_eq!(of(&["cat", "ROOM/link/a.json"], None), of(&["cat", "data/a.json"], None));
        assert_eq!(of(&["du", "/"], None), CommandReads::Anything);
        assert_eq!(of(&["find", "TOP/.."], Some("/tmp")), CommandReads::Anything);
        assert_eq!(of(&["ls", "-la"], Some("/")), CommandReads::These(vec![]));
    }

    #[test]
    fn a_program_that_nobody_knows_reads_anything_where_the_project_is_within_reach() {
        let is_any = |words: &[&str], place| read_in(words, place) == CommandReads::Anything;
        assert!(is_any(&["convert", "a.png"], None));
        assert!(is_any(&["git", "status"], None));
        assert!(is_any(&["git", "grep", "x"], Some("TOP/data")));
        assert!(is_any(&["tool", "--config=TOP/data/a.json"], Some("/usr")));
        assert!(is_any(&["tool", "TOP/data"], Some("/usr")));
        assert!(is_any(&["tar", "-cf", "-", "."], Some("/")));
        assert!(is_any(&["tar", "-cf", "-", "x:TOP/data"], Some("/usr")));
        assert!(!is_any(&["tar", "--version"], None));
        assert!(!is_any(&["tar", "-tf", "x.tar"], Some("/usr")));
        assert!(!is_any(&["git", "-C", "data", "rev-parse", "HEAD"], None));
        assert!(!is_any(&["git", "config", "user.name"], None));
        assert!(is_any(&["git", "config", "-f", "data/a.json", "x.y"], None));
        assert!(is_any(&["git", "ls-files", "--others"], None));
        // Scripts installed by packages may run code of the project from anywhere, and so may
        // programs that are only on the tests' own path.
        assert!(is_any(&["ROOM/tool", "--version"], Some("/usr")));
        assert!(is_any(&["assay-no-such-tool"], Some("/usr")));
        assert!(is_any(&["timeout", "5", "tool"], Some("/usr")));
        let cut = Started { words: vec!["cat".to_owned()], place: None, is_cut: true };
        assert_eq!(reads(&cut, Path::new("/home/me/project")), CommandReads::Anything);
        let cut = Started { words: vec!["true".to_owned()], ..cut };
        assert_ne!(reads(&cut, Path::new("/home/me/project")), CommandReads::Anything);
    }
}
