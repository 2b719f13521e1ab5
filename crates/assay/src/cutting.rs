//! Runs `assay-mutate blocks`, which splits source files into blocks. Its grammars would be the
//! largest part of this program, and only `tests --changed` and `watch` need them. The process is
//! started once, then queried for each file. It never outlives this process, because it ends when
//! its input does.
//!
//! Without it, files are tracked as a whole. A change then affects more tests, never fewer. This is
//! reported once.

use crate::others;
use assay_data::system_error::reason;
use assay_suites::coverage::{Blocks, Cutter, Language, wire};
use std::cell::RefCell;
use std::io::{self, BufReader, BufWriter, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

/// Name of the program, without the prefix `assay-`.
const NAME: &str = "mutate";

/// Handle to the program; clones share one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cutting(Rc<RefCell<State>>);

#[derive(Debug, Default)]
enum State {
    /// Not started yet.
    #[default]
    Idle,
    Running(Box<Program>),
    /// The process could not be started, or has ended. Contains the reason until it is reported.
    Gone(Option<String>),
}

#[derive(Debug)]
struct Program {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// True once the program has sent the expected greeting.
    is_known: bool,
    /// The last request for a single text, with the resulting blocks. After a save, two callers
    /// request the same text in succession.
    last: Option<(Language, Vec<u8>, Blocks)>,
}

impl Cutting {
    /// Starts the program unless that was done before. Does not wait for it to load.
    pub fn start(&self) {
        let state = &mut *self.0.borrow_mut();
        if let State::Idle = state {
            *state = match Program::start() {
                Ok(program) => State::Running(Box::new(program)),
                Err(why) => State::Gone(Some(why)),
            };
        }
    }

    /// Returns a message about the consequences if the program cannot be used, but only once.
    pub fn lost(&self) -> Option<String> {
        let State::Gone(why) = &mut *self.0.borrow_mut() else { return None };
        let why = why.take()?;
        Some(format!(
            "a change affects all tests that use its file, not only those that use what changed in it: {why}"
        ))
    }
}

impl Cutter for Cutting {
    fn cut(&mut self, texts: &[(Language, &[u8])]) -> Vec<Option<Blocks>> {
        self.start();
        let state = &mut *self.0.borrow_mut();
        let State::Running(program) = state else { return vec![None; texts.len()] };
        match program.ask(texts) {
            Ok(files) => files.into_iter().map(Some).collect(),
            Err(error) => {
                *state = State::Gone(Some(program.failed(&error)));
                vec![None; texts.len()]
            }
        }
    }
}

impl Program {
    fn start() -> Result<Self, String> {
        let path = others::program(NAME).ok_or_else(|| {
            format!("assay-{NAME}, which divides source files into functions, is neither next to this program nor on PATH; install it as well (from source: `cargo install --path crates/{NAME}`)")
        })?;
        let mut command = Command::new(&path);
        command.arg("blocks").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C is meant for this process, not for the program.
        command.process_group(0);
        let failed = |error: io::Error| format!("{}: {}", path.display(), reason(&error));
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let (input, output) = (BufWriter::new(input), BufReader::new(output));
        Ok(Self { child, input, output, is_known: false, last: None })
    }

    fn ask(&mut self, texts: &[(Language, &[u8])]) -> io::Result<Vec<Blocks>> {
        if !self.is_known {
            let mut greeting = wire::GREETING;
            self.output.read_exact(&mut greeting)?;
            if greeting != wire::GREETING {
                let what = "it is of another version than this program";
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            self.is_known = true;
        }
        if let ([(language, text)], Some((own, known, blocks))) = (texts, &self.last)
            && (language, *text) == (own, &known[..])
        {
            return Ok(vec![blocks.clone()]);
        }
        wire::write_request(&mut self.input, texts)?;
        let files = wire::read_answer(&mut self.output, texts.len())?;
        if let ([(language, text)], [blocks]) = (texts, &files[..]) {
            self.last = Some((*language, text.to_vec(), blocks.clone()));
        }
        Ok(files)
    }

    /// Ends the program and returns the reason why it can't be used.
    fn failed(&mut self, error: &io::Error) -> String {
        let ended = matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof
                | io::ErrorKind::BrokenPipe
                | io::ErrorKind::ConnectionReset
        );
        // A program that closed its output is about to exit by itself.
        let status = if ended { self.child.wait() } else { self.end() };
        match status {
            Ok(status) if ended => {
                format!("assay-{NAME} ended ({status}); restart to use it again")
            }
            _ => format!("assay-{NAME}: {}", reason(error)),
        }
    }

    fn end(&mut self) -> io::Result<std::process::ExitStatus> {
        let _ended_already = self.child.kill();
        self.child.wait()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _nothing_is_left_to_do = self.end();
    }
}
