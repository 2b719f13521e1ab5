//! The protocol between `assay` and its launcher: requests, subjects and replies, as bytes.
//!
//! Both ends are built together and run on one machine, so numbers are in native byte order. The
//! layouts are those of the structures in `c/launcher/protocol.h`, which must be changed together
//! with this file. This module does no input or output.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::control::{Control, Setting};

/// Length of a request without its payload, in bytes.
pub(crate) const REQUEST_LENGTH: usize = 32;
/// Length of a reply, in bytes.
pub(crate) const REPLY_LENGTH: usize = 104;
/// Maximum number of descriptors sent with one request.
pub(crate) const MOST_DESCRIPTORS: usize = 3;
/// Number of the descriptor through which a command writes its samples.
pub(crate) const SAMPLES_DESCRIPTOR: u32 = 7;
/// Maximum padding of a run's environment, in bytes.
pub(crate) const MOST_PADDING: u16 = 4095;

/// A request to the launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Map the shared page, whose descriptor is sent with the request.
    Hello,
    /// Register a subject; `payload` bytes follow.
    Add { payload: u64 },
    /// Run a subject once. With `alone`, every process that it leaves behind is ended, even in
    /// other sessions.
    Run { subject: u32, timeout_ns: u64, padding: u16, given: SentDescriptors, alone: bool },
    /// Remember the value of a file; `payload` bytes with its path and value follow.
    Remember { payload: u64 },
}

/// Which descriptors are sent with a run, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SentDescriptors {
    pub(crate) stdout: bool,
    pub(crate) stderr: bool,
    pub(crate) samples: bool,
}

impl Request {
    pub(crate) fn to_bytes(self) -> [u8; REQUEST_LENGTH] {
        let (kind, subject, payload, timeout, padding, flags) = match self {
            Self::Hello => (1, 0, 0, 0, 0, 0),
            Self::Add { payload } => (2, 0, payload, 0, 0, 0),
            Self::Run { subject, timeout_ns, padding, given, alone } => {
                let SentDescriptors { stdout, stderr, samples } = given;
                let flags = u32::from(stdout) | u32::from(stderr) << 1 | u32::from(samples) << 2;
                let flags = flags | u32::from(alone) << 3;
                (3_u32, subject, 0, timeout_ns, u32::from(padding), flags)
            }
            Self::Remember { payload } => (4, 0, payload, 0, 0, 0),
        };
        let mut bytes = [0; REQUEST_LENGTH];
        bytes[0..4].copy_from_slice(&u32::to_ne_bytes(kind));
        bytes[4..8].copy_from_slice(&u32::to_ne_bytes(subject));
        bytes[8..16].copy_from_slice(&u64::to_ne_bytes(payload));
        bytes[16..24].copy_from_slice(&u64::to_ne_bytes(timeout));
        bytes[24..28].copy_from_slice(&u32::to_ne_bytes(padding));
        bytes[28..32].copy_from_slice(&u32::to_ne_bytes(flags));
        bytes
    }
}

/// How the launcher opens the standard output of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum OutputMode {
    Null = 0,
    Inherit = 1,
    Pipe = 2,
    File = 3,
}

/// Everything that the launcher needs to know about a subject.
pub(crate) struct SubjectText<'a> {
    pub(crate) program: &'a Path,
    /// The working directory; empty for the directory in which `assay` was started.
    pub(crate) directory: &'a Path,
    /// The file for standard input; empty if there is none.
    pub(crate) input: &'a Path,
    pub(crate) output: OutputMode,
    /// The file for standard output; empty unless `output` is `File`.
    pub(crate) output_file: &'a Path,
    pub(crate) argv: &'a [OsString],
    /// The environment as `NAME=value`, without the padding.
    pub(crate) environment: &'a [OsString],
    /// The settings, whose values must be in range.
    pub(crate) control: &'a Control,
}

impl SubjectText<'_> {
    /// Returns the bytes for the launcher; `None` if a string contains a zero byte, there are too
    /// many strings, or the number of a processor is too high.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(4096);
        for count in [self.argv.len(), self.environment.len()] {
            bytes.extend(u32::try_from(count).ok()?.to_ne_bytes());
        }
        let Control { cpus, fifo, nice, no_aslr } = self.control;
        let settings = u32::from(!cpus.is_empty())
            | u32::from(fifo.is_some()) << 1
            | u32::from(nice.is_some()) << 2
            | u32::from(*no_aslr) << 3;
        bytes.extend((self.output as u32).to_ne_bytes());
        bytes.extend(settings.to_ne_bytes());
        bytes.extend(i32::from(fifo.unwrap_or(0)).to_ne_bytes());
        bytes.extend(i32::from(nice.unwrap_or(0)).to_ne_bytes());
        bytes.extend(self.control.mask()?.iter().flat_map(|word| word.to_ne_bytes()));
        let paths = [self.program, self.directory, self.input, self.output_file];
        let strings = paths.iter().map(|path| path.as_os_str());
        let words = self.argv.iter().chain(self.environment).map(OsString::as_os_str);
        for string in strings.chain(words).map(OsStr::as_bytes) {
            if string.contains(&0) {
                return None;
            }
            bytes.extend_from_slice(string);
            bytes.push(0);
        }
        Some(bytes)
    }
}

/// Returns the bytes that tell the guard the value of a file; `None` if the path or the value
/// contains a zero byte.
pub(crate) fn remembered(path: &Path, value: &str) -> Option<Vec<u8>> {
    let path = path.as_os_str().as_bytes();
    if path.contains(&0) || value.contains('\0') {
        return None;
    }
    Some([path, b"\0", value.as_bytes(), b"\0"].concat())
}

/// A step of the launcher's work that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Request,
    Memory,
    Stdin,
    Stdout,
    Stderr,
    Directory,
    Spawn,
    Exec,
    Wait,
    /// One of the settings of [`Control`].
    Set(Setting),
}

/// The launcher's reply to any request. All fields except `failure` are meaningful only for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The failed step, with its `errno`.
    pub(crate) failure: Option<(Step, i32)>,
    pub(crate) status: i32,
    pub(crate) timed_out: bool,
    pub(crate) wanted_terminal: bool,
    /// True if the command stopped itself and was not continued.
    pub(crate) stopped: bool,
    pub(crate) left_behind: bool,
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
    pub(crate) user_us: u64,
    pub(crate) system_us: u64,
    pub(crate) max_rss_kib: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
    pub(crate) block_in: u64,
    pub(crate) block_out: u64,
    pub(crate) voluntary: u64,
    pub(crate) involuntary: u64,
}

impl Reply {
    /// Parses a reply; `None` if it can't come from our launcher.
    pub(crate) fn from_bytes(bytes: &[u8; REPLY_LENGTH]) -> Option<Self> {
        let (words, _) = bytes.as_chunks::<4>();
        let (longs, _) = bytes.as_chunks::<8>();
        let word = |i: usize| u32::from_ne_bytes(words[i]);
        let long = |i: usize| u64::from_ne_bytes(longs[i]);
        let step = match word(0) {
            0 => None,
            1 => Some(Step::Request),
            2 => Some(Step::Memory),
            3 => Some(Step::Stdin),
            4 => Some(Step::Stdout),
            5 => Some(Step::Stderr),
            6 => Some(Step::Directory),
            7 => Some(Step::Spawn),
            8 => Some(Step::Exec),
            9 => Some(Step::Wait),
            10 => Some(Step::Set(Setting::Pin)),
            11 => Some(Step::Set(Setting::Fifo)),
            12 => Some(Step::Set(Setting::Nice)),
            13 => Some(Step::Set(Setting::Aslr)),
            _ => return None,
        };
        let flags = word(3);
        Some(Self {
            failure: step.map(|step| (step, word(1).cast_signed())),
            status: word(2).cast_signed(),
            timed_out: flags & 1 != 0,
            wanted_terminal: flags & 2 != 0,
            left_behind: flags & 4 != 0,
            stopped: flags & 8 != 0,
            start_ns: long(2),
            end_ns: long(3),
            user_us: long(4),
            system_us: long(5),
            max_rss_kib: long(6),
            minor_faults: long(7),
            major_faults: long(8),
            block_in: long(9),
            block_out: long(10),
            voluntary: long(11),
            involuntary: long(12),
        })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use proptest::prelude::*;

    use super::*;

    fn text<'a>(argv: &'a [OsString], control: &'a Control) -> SubjectText<'a> {
        let nothing = Path::new("");
        SubjectText {
            program: Path::new("/bin/true"),
            directory: nothing,
            input: nothing,
            output: OutputMode::Null,
            output_file: nothing,
            argv,
            environment: &[],
            control,
        }
    }

    #[test]
    fn a_string_with_a_zero_byte_is_not_sent() {
        let argv = [OsString::from("a\0b")];
        assert_eq!(text(&argv, &Control::default()).to_bytes(), None);
        assert_eq!(remembered(Path::new("/a\0b"), "1"), None);
        assert_eq!(remembered(Path::new("/a"), "1\0"), None);
        assert_eq!(remembered(Path::new("/a"), "1\n"), Some(b"/a\x001\n\0".to_vec()));
    }

    #[test]
    fn settings_lie_where_the_launcher_reads_them() {
        let word = |bytes: &[u8], i: usize| {
            i32::from_ne_bytes([bytes[i], bytes[i + 1], bytes[i + 2], bytes[i + 3]])
        };
        let bytes = text(&[], &Control::default()).to_bytes().unwrap();
        assert!(bytes[..152].iter().all(|&byte| byte == 0));
        assert_eq!(&bytes[152..], b"/bin/true\0\0\0\0");
        let control =
            Control { cpus: vec![0, 1023], fifo: Some(99), nice: Some(-20), no_aslr: true };
        let bytes = text(&[], &control).to_bytes().unwrap();
        assert_eq!((word(&bytes, 12), word(&bytes, 16), word(&bytes, 20)), (15, 99, -20));
        let set: u32 = bytes[24..152].iter().map(|byte| byte.count_ones()).sum();
        assert_eq!(set, 2);
        let control = Control { cpus: vec![1024], ..Control::default() };
        assert_eq!(text(&[], &control).to_bytes(), None);
    }

    #[test]
    fn every_descriptor_of_a_run_has_its_flag() {
        let flags = |stdout, stderr, samples| {
            let given = SentDescriptors { stdout, stderr, samples };
            Request::Run { subject: 1, timeout_ns: 2, padding: 3, given, alone: false }.to_bytes()
                [28..]
                .to_vec()
        };
        assert_eq!(flags(true, false, false), 1_u32.to_ne_bytes());
        assert_eq!(flags(false, true, false), 2_u32.to_ne_bytes());
        assert_eq!(flags(false, false, true), 4_u32.to_ne_bytes());
    }

    proptest! {
        #[test]
        fn no_reply_makes_the_reader_panic(bytes: Vec<u8>) {
            let mut reply = [0; REPLY_LENGTH];
            let n = bytes.len().min(REPLY_LENGTH);
            reply[..n].copy_from_slice(&bytes[..n]);
            let read = Reply::from_bytes(&reply);
            prop_assert_eq!(read.is_none(), u32::from_ne_bytes([reply[0], reply[1], reply[2], reply[3]]) > 13);
        }
    }
}
