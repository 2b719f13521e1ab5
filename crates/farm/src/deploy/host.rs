//! Runs scripts on a machine: this one, or another one through `ssh`, as the current user or as
//! root through `sudo`. It makes no decisions.

use super::{DeployError, StepResult};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// The exit status of ssh if the connection failed.
const SSH_FAILED: i32 = 255;
/// Maximum number of characters of the output that are quoted.
const SAID: usize = 800;

/// A machine.
#[derive(Clone, Debug)]
pub struct Host {
    name: String,
    /// The ssh command that precedes the command line, which is passed to it as one word; empty for
    /// this machine.
    ssh: Vec<String>,
    is_sudo: bool,
}

/// The desired state of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileAttributes<'a> {
    /// The path.
    pub path: &'a str,
    /// The mode, such as `640`.
    pub mode: &'a str,
    /// The owner.
    pub owner: &'a str,
    /// The group.
    pub group: &'a str,
}

impl Host {
    /// Returns this machine.
    #[must_use]
    pub fn here(is_sudo: bool) -> Self {
        Self { name: "this machine".to_owned(), ssh: Vec::new(), is_sudo }
    }

    /// Returns another machine; `ssh` is the command that connects to one, such as `ssh -p 2222`.
    #[must_use]
    pub fn over(ssh: &[String], host: &str, is_sudo: bool) -> Self {
        let ssh = ssh.iter().cloned().chain(["--".to_owned(), host.to_owned()]).collect();
        Self { name: host.to_owned(), ssh, is_sudo }
    }

    /// Returns its display name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Runs a script with `words` as `$1`, `$2`, … and `input` as standard input, and returns its
    /// output.
    ///
    /// # Errors
    /// If the machine cannot be reached, or the script fails. The error contains its output.
    pub fn run(
        &self,
        script: &str,
        words: &[&str],
        input: Option<&mut File>,
    ) -> Result<String, DeployError> {
        let mut line: Vec<&str> = if self.is_sudo { vec!["sudo", "-n"] } else { Vec::new() };
        line.extend(["sh", "-c", script, "assay-farm"]);
        line.extend(words);
        let line: Vec<String> = match self.ssh.is_empty() {
            true => line.into_iter().map(str::to_owned).collect(),
            false => self.ssh.iter().cloned().chain([shell_words::join(line)]).collect(),
        };
        let start = |source| DeployError::Start { program: line[0].clone(), source };
        let mut child = Command::new(&line[0])
            .args(&line[1..])
            .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(start)?;
        let sent = match (input, child.stdin.take()) {
            (Some(file), Some(mut stdin)) => {
                file.rewind().and_then(|()| std::io::copy(file, &mut stdin)).map(drop)
            }
            _ => Ok(()),
        };
        let output = child.wait_with_output().map_err(start)?;
        let said: String =
            String::from_utf8_lossy(&output.stderr).trim().chars().take(SAID).collect();
        if !self.ssh.is_empty() && output.status.code() == Some(SSH_FAILED) {
            return Err(DeployError::Unreachable { host: self.name.clone(), said });
        }
        let failed = |said| DeployError::Failed { host: self.name.clone(), said };
        if !output.status.success() {
            return Err(failed(if said.is_empty() { output.status.to_string() } else { said }));
        }
        sent.map_err(|error| failed(format!("the transfer failed: {error}")))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs a script whose last line is `changed`, `same` or `left out: WHY`.
    ///
    /// # Errors
    /// As for [`Host::run`]; also if the last line is none of these.
    pub fn step(&self, script: &str, words: &[&str]) -> Result<StepResult, DeployError> {
        let script = format!("set -eu\n{PRELUDE}{script}");
        let printed = self.run(&script, words, None)?;
        step_result(printed.lines().last().unwrap_or_default()).ok_or_else(|| DeployError::Failed {
            host: self.name.clone(),
            said: format!("a step printed `{}` instead of its result", printed.trim()),
        })
    }

    /// Ensures that a file exists with this content. It is sent only if it differs, and appears
    /// complete.
    ///
    /// # Errors
    /// As for [`Host::run`].
    pub fn put(
        &self,
        wanted: FileAttributes<'_>,
        content: &mut File,
    ) -> Result<StepResult, DeployError> {
        let file = |source| DeployError::File { file: wanted.path.to_owned(), source };
        let digest = digest(content).map_err(file)?;
        let FileAttributes { path, mode, owner, group } = wanted;
        let words = [path, mode, owner, group, &digest];
        match self.step(LOOK_AT_FILE, &words)? {
            StepResult::LeftOut(_) => {}
            as_it_is_now => return Ok(as_it_is_now),
        }
        let script = format!("set -eu\n{PRELUDE}{SEND_FILE}");
        self.run(&script, &words, Some(content))?;
        Ok(StepResult::Changed)
    }

    /// Ensures that a file exists with this text.
    ///
    /// # Errors
    /// As for [`Host::put`].
    pub fn put_text(
        &self,
        wanted: FileAttributes<'_>,
        text: &str,
    ) -> Result<StepResult, DeployError> {
        let file = |source| DeployError::File { file: wanted.path.to_owned(), source };
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let content =
            rustix::fs::memfd_create("assay-farm", flags).map_err(|error| file(error.into()))?;
        let mut content = File::from(content);
        content.write_all(text.as_bytes()).map_err(file)?;
        self.put(wanted, &mut content)
    }

    /// Ensures that a file exists with the content of a local one.
    ///
    /// # Errors
    /// As for [`Host::put`]; also if the local file cannot be read.
    pub fn copy(&self, wanted: FileAttributes<'_>, from: &Path) -> Result<StepResult, DeployError> {
        let file = |source| DeployError::File { file: from.display().to_string(), source };
        self.put(wanted, &mut File::open(from).map_err(file)?)
    }
}

/// Functions shared by scripts: `own PATH MODE OWNER GROUP` sets the permissions of a path, `came`
/// prints the result.
const PRELUDE: &str = r#"changed=same
own() {
    if [ "$(stat -c '%a %U %G' "$1")" != "$2 $3 $4" ]; then
        [ "$(stat -c '%U %G' "$1")" = "$3 $4" ] || chown "$3:$4" "$1"
        chmod "$2" "$1"
        changed=changed
    fi
}
came() { echo "$changed"; }
fail() { echo "$1" >&2; exit 1; }
"#;

/// Prints `same`, `changed` (permissions only), or that the file has to be sent.
const LOOK_AT_FILE: &str = r#"
if [ -f "$1" ] && [ "$(sha256sum < "$1" | cut -d' ' -f1)" = "$5" ]; then
    own "$1" "$2" "$3" "$4"
    came
else
    echo "left out: it has to be sent"
fi
"#;

/// Writes a file from standard input. It is first written under another name: a running program
/// cannot be written to, and an incomplete file must never be visible.
const SEND_FILE: &str = r#"
umask 077
trap 'rm -f "$1.new"' EXIT
cat > "$1.new"
[ "$(sha256sum < "$1.new" | cut -d' ' -f1)" = "$5" ] || fail "$1 did not arrive whole"
own "$1.new" "$2" "$3" "$4"
mv "$1.new" "$1"
"#;

fn step_result(line: &str) -> Option<StepResult> {
    match line.trim() {
        "changed" => Some(StepResult::Changed),
        "same" => Some(StepResult::AsItWas),
        line => line.strip_prefix("left out: ").map(|why| StepResult::LeftOut(why.to_owned())),
    }
}

fn digest(file: &mut File) -> std::io::Result<String> {
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => break,
            read => hash.update(&part[..read]),
        }
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        let _never_fails = write!(digits, "{byte:02x}");
    }
    Ok(digits)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Returns this machine as if it were another one: `sh -c` replaces `ssh HOST`, as both pass
    /// one line to a shell.
    fn behind_a_shell() -> Host {
        let ssh = ["sh", "-c", r#"shift 2; exec sh -c "$1""#, "ssh"].map(str::to_owned);
        Host::over(&ssh, "there", false)
    }

    #[test]
    fn words_reach_the_script_as_they_are() {
        for host in [Host::here(false), behind_a_shell()] {
            let words = ["it's", "", "a  b", "$HOME", "-n", "ü\n\"`"];
            let printed = host.run(r#"printf '%s|' "$@""#, &words, None).unwrap();
            assert_eq!(printed, words.join("|") + "|", "{host:?}");
        }
    }

    #[test]
    fn a_file_is_sent_once() {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("it's a file");
        let me = |what: &str| {
            let id = Command::new("id").arg(what).output().unwrap();
            String::from_utf8(id.stdout).unwrap().trim().to_owned()
        };
        let (owner, group) = (me("-un"), me("-gn"));
        let wanted = |mode| FileAttributes {
            path: path.to_str().unwrap(),
            mode,
            owner: &owner,
            group: &group,
        };
        let host = behind_a_shell();
        assert_eq!(host.put_text(wanted("640"), "one\n").unwrap(), StepResult::Changed);
        assert_eq!(host.put_text(wanted("640"), "one\n").unwrap(), StepResult::AsItWas);
        assert_eq!(host.put_text(wanted("600"), "one\n").unwrap(), StepResult::Changed);
        assert_eq!(host.put_text(wanted("600"), "two\n").unwrap(), StepResult::Changed);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            room.path().read_dir().unwrap().count(),
            1,
            "nothing is left of what was under way"
        );
    }

    #[test]
    fn what_failed_says_so() {
        let host = Host::here(false);
        assert_eq!(
            host.run("echo no >&2; exit 3", &[], None).unwrap_err().to_string(),
            "on this machine: no"
        );
        assert!(host.step("echo perhaps", &[]).unwrap_err().to_string().contains("perhaps"));
        assert_eq!(
            host.step("echo 'left out: no systemd'", &[]).unwrap(),
            StepResult::LeftOut("no systemd".to_owned())
        );
        let gone =
            Host::over(&["sh".to_owned(), "-c".to_owned(), "exit 255".to_owned()], "there", false);
        assert!(matches!(gone.run("true", &[], None), Err(DeployError::Unreachable { .. })));
    }
}
