//! A Slurm cluster, accessed through its commands: `squeue` and `sinfo` for the current state,
//! `sbatch`, `scancel` and `scontrol` for changes.
//!
//! Each job is a batch job with a node of its own, or one of an array of such jobs; it runs
//! `assay-farm agent --once`. The farm's jobs in the cluster are identified by the comments of the
//! cluster's jobs, so there is no state here that a `kill -9` could lose. The columns of `squeue`
//! are used instead of its JSON: the columns are the same in all versions, while the JSON has
//! changed with each. `sacct` is not needed.
//!
//! Time limits are enforced by the agent, since those of Slurm have a resolution of one minute.

use super::placing::{Batch, Cluster, ClusterJob, Greeting, Machine};
use assay_data::system_error::reason;
use sha2::{Digest, Sha256};
use shell_words::{join, quote};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Time limit of a Slurm command; the commands themselves wait for the controller.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval between checks whether the command has ended.
const LOOK: Duration = Duration::from_millis(10);
/// Reasons of jobs that wait until they are released: a failed start, `scontrol requeuehold`,
/// `scontrol hold`, too many starts.
const HELD: [&str; 5] =
    ["requeued held", "requeued in held state", "JobHeldUser", "JobHeldAdmin", "JobHoldMaxRequeue"];
/// In a comment, precedes the name of a node on which an agent is to say hello, in place of the
/// jobs.
const HELLO: &str = "hello ";
/// Maximum number of characters of the output that are quoted.
const SAID: usize = 500;

/// The reason why a Slurm command failed.
#[derive(Debug, Error)]
pub enum SlurmError {
    /// The program cannot be started.
    #[error(
        "`{program}` can't be started: {reason} (Slurm's commands must be on PATH; Debian: slurm-client)",
        reason = reason(source)
    )]
    Start {
        /// Name of the Slurm command.
        program: String,
        /// The I/O error that prevented the start.
        source: std::io::Error,
    },
    /// The command exited with a status other than 0.
    #[error("`{program}` failed: {said}")]
    Failed {
        /// Name of the Slurm command.
        program: String,
        /// Error output of the command on one line, shortened; its exit status if it printed
        /// nothing.
        said: String,
    },
    /// The command did not end within the time limit and was killed.
    #[error("`{program}` did not end within {} s: does the controller answer? (`scontrol ping`)", PATIENCE.as_secs())]
    Silent {
        /// Name of the Slurm command.
        program: String,
    },
}

/// Settings of all jobs that are submitted to the cluster.
#[derive(Clone, Debug)]
pub struct SlurmSettings {
    /// Address of the farm's server, as reachable from the nodes.
    pub server: String,
    /// Path of the `assay-farm` program on the nodes.
    pub program: PathBuf,
    /// Directory shared by all nodes, which holds one token per node and the output of batch jobs.
    pub shared: PathBuf,
    /// Additional arguments for the agents.
    pub agent: Vec<String>,
    /// Additional arguments for `sbatch`.
    pub sbatch: Vec<String>,
    /// True if several jobs may share a node.
    pub is_shared: bool,
}

/// A cluster that is controlled through Slurm's commands.
#[derive(Clone, Debug)]
pub struct Slurm {
    settings: SlurmSettings,
    /// Prefix of a job's comment in Slurm that identifies the jobs of this farm.
    mark: String,
}

impl Slurm {
    /// Creates a handle of the cluster that the local Slurm commands control.
    #[must_use]
    pub fn new(settings: SlurmSettings) -> Self {
        let digest = Sha256::digest(settings.server.as_bytes());
        let digits: String = digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        Self { settings, mark: format!("assay-farm:{digits}:") }
    }

    /// Returns the cluster's jobs and nodes.
    ///
    /// # Errors
    /// If Slurm does not answer. The state is then unknown, and jobs must not be placed again.
    pub fn look(&self) -> Result<Cluster, SlurmError> {
        let jobs = run("squeue", &["--noheader", "--array", "--format=%i|%K|%r|%k"], None)?;
        let mut words = vec!["--noheader", "--Node", "--format=%N|%T|%E"];
        // Nodes of other partitions are not used by this farm.
        words.extend(self.settings.sbatch.iter().map(String::as_str).filter(|word| {
            word.starts_with("--partition=")
                || word.strip_prefix("-p").is_some_and(|own| !own.is_empty())
        }));
        let nodes = run("sinfo", &words, None)?;
        Ok(Cluster {
            placed: self.placed(&jobs),
            greeting: self.greeting(&jobs),
            machines: machines(&nodes),
        })
    }

    /// Submits a batch of jobs.
    ///
    /// # Errors
    /// If Slurm refuses the jobs. If the controller failed while it was handling the request, the
    /// jobs may have been accepted anyway; the next [`Slurm::look`] shows whether they were.
    pub fn place(&self, batch: &Batch) -> Result<(), SlurmError> {
        let words = self.words(batch);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run("sbatch", &words, Some(&self.script(&batch.jobs))).map(drop)
    }

    /// Starts an agent on a node so that the node registers with the farm. The agent also runs a
    /// job if one is queued for that node.
    ///
    /// # Errors
    /// The errors of [`Slurm::place`].
    pub fn greet(&self, name: &str) -> Result<(), SlurmError> {
        let mut words = self.common(&format!("{HELLO}{name}"), "%j");
        words.push(format!("--nodelist={name}"));
        words.extend(self.settings.sbatch.iter().cloned());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run("sbatch", &words, Some(&self.script(&[]))).map(drop)
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// If Slurm refuses to cancel the job. A job that has already ended is not an error.
    pub fn cancel(&self, id: &str) -> Result<(), SlurmError> {
        match run("scancel", &["--quiet", id], None) {
            Err(SlurmError::Failed { said, .. }) if said.contains("nvalid job id") => Ok(()),
            other => other.map(drop),
        }
    }

    /// Drains a node: it gets no new jobs, but its running jobs continue.
    ///
    /// # Errors
    /// If Slurm refuses, which it does unless the user is root or a Slurm operator.
    pub fn drain(&self, name: &str, reason: &str) -> Result<(), SlurmError> {
        let (node, reason) = (format!("NodeName={name}"), format!("Reason={}", one_line(reason)));
        run("scontrol", &["update", &node, "State=DRAIN", &reason], None).map(drop)
    }

    /// Resumes a drained node.
    ///
    /// # Errors
    /// The errors of [`Slurm::drain`].
    pub fn resume(&self, name: &str) -> Result<(), SlurmError> {
        run("scontrol", &["update", &format!("NodeName={name}"), "State=RESUME"], None).map(drop)
    }

    /// Parses the jobs of this farm from the output of `squeue`. The comment lists the farm's jobs,
    /// and a task of a job array is assigned the one at its array index.
    fn placed(&self, lines: &str) -> Vec<ClusterJob> {
        let read = |line: &str| {
            let [id, index, reason, what] = self.own(line)?;
            let index = index.parse().unwrap_or(0);
            let job = what.split(',').nth(index)?.parse().ok()?;
            Some(ClusterJob { id: id.to_owned(), job, is_held: is_held(reason) })
        };
        lines.lines().filter_map(read).collect()
    }

    /// Parses the agents that were started to register their nodes from the output of `squeue`.
    fn greeting(&self, lines: &str) -> Vec<Greeting> {
        let read = |line: &str| {
            let [id, _, reason, what] = self.own(line)?;
            let machine = what.strip_prefix(HELLO)?.to_owned();
            Some(Greeting { id: id.to_owned(), machine, is_held: is_held(reason) })
        };
        lines.lines().filter_map(read).collect()
    }

    /// Returns the columns of a line of `squeue`, without the farm's prefix in the comment, or
    /// `None` if the line describes a job that is not from this farm.
    fn own<'l>(&self, line: &'l str) -> Option<[&'l str; 4]> {
        let mut columns = line.trim().splitn(4, '|');
        let (id, index) = (columns.next()?, columns.next()?);
        let (reason, comment) = (columns.next()?, columns.next()?);
        Some([id, index, reason, comment.strip_prefix(&self.mark)?])
    }

    /// Returns the arguments of `sbatch` that all jobs have in common. The comment consists of this
    /// farm's prefix and `what`. `file` is the name of the output file without its extension.
    fn common(&self, what: &str, file: &str) -> Vec<String> {
        let said = self.settings.shared.join("said");
        let mut words = vec![
            "--parsable".to_owned(),
            "--job-name=assay-farm".to_owned(),
            format!("--comment={}{what}", self.mark),
            "--nodes=1".to_owned(),
            "--requeue".to_owned(),
            format!("--chdir={}", self.settings.shared.display()),
            format!("--output={}/{file}.txt", said.display()),
        ];
        if !self.settings.is_shared {
            words.push("--exclusive".to_owned());
        }
        words
    }

    fn words(&self, batch: &Batch) -> Vec<String> {
        let ids: Vec<String> = batch.jobs.iter().map(ToString::to_string).collect();
        let one = if batch.jobs.len() > 1 { "%A_%a" } else { "%j" };
        let mut words = self.common(&ids.join(","), one);
        if batch.jobs.len() > 1 {
            words.push(format!("--array=0-{}", batch.jobs.len() - 1));
        }
        if !batch.constraint.is_empty() {
            words.push(format!("--constraint={}", batch.constraint));
        }
        if !batch.excluded.is_empty() {
            words.push(format!("--exclude={}", batch.excluded.join(",")));
        }
        words.extend(self.settings.sbatch.iter().cloned());
        words
    }

    /// Returns the script of a batch job. Each task runs the job in `jobs` at its array index, or
    /// any queued job if `jobs` is empty. The agent is named after the node and uses the token file
    /// of that node.
    fn script(&self, jobs: &[i64]) -> String {
        let ids: Vec<String> = jobs.iter().map(ToString::to_string).collect();
        let tokens = self.settings.shared.join("tokens").display().to_string();
        let tokens = quote(&tokens);
        format!(
            "#!/bin/sh\n\
             # Jobs of the farm; one of an array does the one at its place.\n\
             set -- {ids}\n\
             shift \"${{SLURM_ARRAY_TASK_ID:-0}}\"\n\
             exec {program} agent --once${{1:+=\"$1\"}} --server {server} --name \"$SLURMD_NODENAME\" \
             --token-file {tokens}/\"$SLURMD_NODENAME\" {more}\n",
            ids = ids.join(" "),
            program = quote(&self.settings.program.display().to_string()),
            server = quote(&self.settings.server),
            more = join(&self.settings.agent),
        )
    }
}

/// Parses the nodes from the output of `sinfo`. A node has one line for each of its partitions, but
/// is returned once.
fn machines(lines: &str) -> Vec<Machine> {
    let mut seen = BTreeSet::new();
    let read = |line: &str| {
        let mut columns = line.trim().splitn(3, '|');
        let (name, state, reason) = (columns.next()?, columns.next()?, columns.next()?);
        let is_drained = state.to_lowercase().starts_with("drain");
        let machine = Machine {
            name: name.to_owned(),
            drained: is_drained.then(|| reason.trim().to_owned()),
        };
        seen.insert(machine.name.clone()).then_some(machine)
    };
    lines.lines().filter_map(read).collect()
}

fn is_held(reason: &str) -> bool {
    HELD.iter().any(|held| reason.contains(held))
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Runs a Slurm command and returns its standard output. The environment variables of this tool are
/// removed because they may contain tokens, and Slurm passes its environment on to the jobs.
fn run(program: &str, words: &[&str], input: Option<&str>) -> Result<String, SlurmError> {
    let named = || program.to_owned();
    let start = |source| SlurmError::Start { program: named(), source };
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"ASSAY") {
            command.env_remove(name);
        }
    }
    // Output goes to files: if it went to a pipe that is not read, the command could block.
    let (mut out, mut err) = (scratch().map_err(start)?, scratch().map_err(start)?);
    let stdin = match input {
        Some(text) => {
            let mut file = scratch().map_err(start)?;
            file.write_all(text.as_bytes()).and_then(|()| rewound(&mut file)).map_err(start)?;
            Stdio::from(file)
        }
        None => Stdio::null(),
    };
    command.args(words).stdin(stdin);
    command.stdout(out.try_clone().map_err(start)?).stderr(err.try_clone().map_err(start)?);
    let mut child = command.spawn().map_err(start)?;
    let until = Instant::now() + PATIENCE;
    let status = loop {
        match child.try_wait().map_err(start)? {
            Some(status) => break status,
            None if Instant::now() > until => {
                let _gone = child.kill().and_then(|()| child.wait().map(drop));
                return Err(SlurmError::Silent { program: named() });
            }
            None => std::thread::sleep(LOOK),
        }
    };
    if status.success() {
        return text_of(&mut out).map_err(start);
    }
    let said = text_of(&mut err).map_err(start)?;
    let said: String = one_line(said.trim()).chars().take(SAID).collect();
    let said = if said.is_empty() { status.to_string() } else { said };
    Err(SlurmError::Failed { program: named(), said })
}

/// Returns an unnamed file in memory.
fn scratch() -> std::io::Result<std::fs::File> {
    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    Ok(std::fs::File::from(rustix::fs::memfd_create("assay-farm", flags)?))
}

fn rewound(file: &mut std::fs::File) -> std::io::Result<()> {
    use std::io::Seek;
    file.rewind()
}

fn text_of(file: &mut std::fs::File) -> std::io::Result<String> {
    use std::io::Read;
    rewound(file)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Creates the directories for tokens and for the output of batch jobs, and deletes all but the
/// newest `keep` output files.
///
/// # Errors
/// If a directory cannot be created or read.
pub fn prepare(shared: &Path, keep: usize) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    for name in ["tokens", "said"] {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(shared.join(name))?;
    }
    let mut said: Vec<_> = std::fs::read_dir(shared.join("said"))?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    said.sort_unstable();
    let too_many = said.len().saturating_sub(keep);
    // Another process may already have deleted the file.
    said.iter().take(too_many).for_each(|(_, path)| drop(std::fs::remove_file(path)));
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn slurm() -> Slurm {
        Slurm::new(SlurmSettings {
            server: "http://127.0.0.1:8040".to_owned(),
            program: "/opt/it's/assay-farm".into(),
            shared: "/shared/farm".into(),
            agent: vec!["--memory".to_owned(), "2 G".to_owned()],
            sbatch: vec!["--account=x".to_owned()],
            is_shared: false,
        })
    }

    fn batch(jobs: &[i64]) -> Batch {
        Batch {
            jobs: jobs.to_vec(),
            constraint: "epyc".to_owned(),
            excluded: vec!["n1".to_owned(), "n3".to_owned()],
        }
    }

    #[test]
    fn what_is_placed_is_read_from_the_comments_of_this_farms_jobs() {
        let slurm = slurm();
        let lines = format!(
            "12_0|0|None|{mark}41,42,43\n12_2|2|Resources|{mark}41,42,43\n13|N/A|launch failed requeued held|{mark}7\n\
             18|N/A|job requeued in held state|{mark}8\n19|N/A|None|{mark}hello n1\n\
             20|N/A|launch failed requeued held|{mark}hello n2\n\
             14|N/A|None|(null)\n15|N/A|None|assay-farm:00000000:9\n16|3|None|{mark}1,2\n17|N/A|None|{mark}x\nslurm_load_jobs error\n",
            mark = slurm.mark
        );
        let found: Vec<_> =
            slurm.placed(&lines).into_iter().map(|own| (own.id, own.job, own.is_held)).collect();
        assert_eq!(
            found,
            [
                ("12_0".to_owned(), 41, false),
                ("12_2".to_owned(), 43, false),
                ("13".to_owned(), 7, true),
                ("18".to_owned(), 8, true),
            ]
        );
        let greeting: Vec<_> = slurm
            .greeting(&lines)
            .into_iter()
            .map(|own| (own.id, own.machine, own.is_held))
            .collect();
        assert_eq!(
            greeting,
            [("19".to_owned(), "n1".to_owned(), false), ("20".to_owned(), "n2".to_owned(), true)]
        );
    }

    #[test]
    fn nodes_are_listed_once_with_why_they_are_drained() {
        let lines = "n1|idle|none\nn1|idle|none\nn2|drained*|assay: drift | 3 %\nn3|draining|fan\nn4|down*|Not responding\n";
        let found: Vec<_> =
            machines(lines).into_iter().map(|machine| (machine.name, machine.drained)).collect();
        let drained = |reason: &str| Some(reason.to_owned());
        assert_eq!(
            found,
            [
                ("n1".to_owned(), None),
                ("n2".to_owned(), drained("assay: drift | 3 %")),
                ("n3".to_owned(), drained("fan")),
                ("n4".to_owned(), None),
            ]
        );
    }

    #[test]
    fn an_array_does_the_job_at_its_place() {
        let words = slurm().words(&batch(&[5, 6]));
        for wanted in
            ["--exclusive", "--requeue", "--array=0-1", "--constraint=epyc", "--exclude=n1,n3"]
        {
            assert!(words.iter().any(|word| word == wanted), "{wanted}: {words:?}");
        }
        assert_eq!(words.last().map(String::as_str), Some("--account=x"));
        assert!(!slurm().words(&batch(&[5])).iter().any(|word| word.starts_with("--array")));
        // Without a job number, the agent runs any job.
        assert!(slurm().script(&[]).contains("agent --once${1:+=\"$1\"} --server"));

        // The script is run by a shell, with a program that only prints its arguments.
        let script =
            slurm().script(&[5, 6]).replace("'/opt/it'\\''s/assay-farm'", "printf '%s\\n'");
        let mut ran = Command::new("sh");
        ran.args(["-c", &script]);
        let printed =
            ran.env("SLURM_ARRAY_TASK_ID", "1").env("SLURMD_NODENAME", "n2").output().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        assert_eq!(
            printed.lines().collect::<Vec<_>>(),
            [
                "agent",
                "--once=6",
                "--server",
                "http://127.0.0.1:8040",
                "--name",
                "n2",
                "--token-file",
                "/shared/farm/tokens/n2",
                "--memory",
                "2 G",
            ]
        );
    }

    #[test]
    fn farms_of_one_cluster_know_their_own_jobs() {
        let other = Slurm::new(SlurmSettings {
            server: "http://127.0.0.1:8041".to_owned(),
            ..slurm().settings
        });
        assert_ne!(other.mark, slurm().mark);
    }

    #[test]
    fn what_a_command_said_is_in_the_error() {
        let error = run("sh", &["-c", "echo \"no\nsuch\" >&2; exit 3"], None).unwrap_err();
        assert_eq!(error.to_string(), "`sh` failed: no such");
        assert!(run("assay-no-such-program", &[], None).unwrap_err().to_string().contains("PATH"));
        assert_eq!(run("cat", &[], Some("a\n")).unwrap(), "a\n");
        assert_eq!(
            run("sh", &["-c", "exit 3"], None).unwrap_err().to_string(),
            "`sh` failed: exit status: 3"
        );
    }
}
