//! What a program that was started may read of a project, by the words that it was started with. A program is not watched itself: it reads what its
//! words name, or, if it runs code, whatever it likes. Nothing is started here, and no file is looked at.

use std::path::Path;

/// Programs that may read anything of the project.
const INTERPRETERS: [&str; 28] = [
    "ash", "bash", "bundle", "cargo", "cmake", "dash", "env", "erb", "go", "gradle", "irb", "java",
    "make", "mvn", "node", "npm", "npx", "perl", "php", "pip", "pnpm", "pytest", "python", "rake",
    "rspec", "ruby", "sh", "zsh",
];
/// Of these, the ones that run a text behind `-c`.
const SHELLS: [&str; 5] = ["ash", "bash", "dash", "sh", "zsh"];
/// What a shell does itself, and that may read anything, or makes its other words mean something else.
const OWN: [&str; 24] = [
    "!", ".", "[", "[[", "alias", "builtin", "case", "cd", "eval", "exec", "export", "for",
    "function", "if", "popd", "pushd", "read", "set", "shopt", "source", "test", "trap", "until",
    "while",
];

/// The commands that a start comes to: of a shell with a text that only names programs and plain words, those; of anything else, itself.
pub(crate) fn commands(words: &[String]) -> Vec<Vec<&str>> {
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

/// Whether a command may read anything of the project that lies in a directory, since it runs code.
pub(crate) fn may_read_anything(command: &[&str], project: &Path) -> bool {
    let Some(&program) = command.first() else { return false };
    let is_own = !program.starts_with('/') && program.contains('/');
    is_own || Path::new(program).starts_with(project) || INTERPRETERS.contains(&name(program))
}

/// The name of a program, without the version at its end.
fn name(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// The commands of a shell's text, if it is nothing but plain words, joined by `&&`, `||`, `;` and `|`, and redirections: no variables, patterns,
/// quotes or assignments, and nothing that the shell does itself and that can't be told.
fn plain(text: &str) -> Option<Vec<Vec<&str>>> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:,+@^%= \t;&|<>".contains(c);
    if !text.chars().all(is_plain) {
        return None;
    }
    let mut all = Vec::new();
    let parts = text.split([';', '|']).flat_map(|part| part.split("&&")).map(str::trim);
    // `||` leaves an empty one.
    for part in parts.filter(|part| !part.is_empty()) {
        // Of what goes from and to files, only what is read counts.
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
            // Behind the program, where it is a word of the command.
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
        // It says where a program is, or runs it.
        if first == "command" {
            words.remove(0);
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
        commands(&words)
            .iter()
            .any(|command| may_read_anything(command, Path::new("/home/me/project")))
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
            // What can't be told from the text.
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
}
