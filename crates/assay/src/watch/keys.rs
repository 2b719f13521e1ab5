//! Interprets keys, without side effects. A pattern is typed one character at a time and completed
//! with Enter.

use std::time::{Duration, Instant};

/// Pressing Ctrl-C twice within this time quits.
const TWICE: Duration = Duration::from_millis(1500);

/// A request that the user makes with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Run all tests.
    All,
    /// Forget all results and run all tests.
    AllAnew,
    /// Run the failed tests.
    Failed,
    /// Run the tests whose names contain this text.
    Pattern(String),
    /// Show how to profile the first failing test, or the slowest test if none fails.
    Profile,
    /// Show why each test ran, and how many tests were left out.
    Explain,
    /// Show the keys.
    Help,
    /// Quit.
    Quit,
}

/// The state of the keyboard input.
#[derive(Debug, Default)]
pub(crate) struct Typed {
    /// The pattern as typed so far, or `None` if no pattern is being typed.
    pattern: Option<Vec<u8>>,
    interrupted: Option<Instant>,
}

impl Typed {
    /// Returns the pattern as typed so far, or `None` if no pattern is being typed.
    pub fn pattern(&self) -> Option<String> {
        self.pattern.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// Processes a byte that was received at the time `at`, and returns the request that it
    /// completes, if any.
    pub fn take(&mut self, byte: u8, at: Instant) -> Option<Wish> {
        const INTERRUPT: u8 = 0x03;
        const END: u8 = 0x04;
        const QUIT: u8 = 0x1c;
        if byte == INTERRUPT {
            self.pattern = None;
            let before = self.interrupted.replace(at);
            let is_second = before.is_some_and(|before| at.duration_since(before) <= TWICE);
            return Some(if is_second { Wish::Quit } else { Wish::AllAnew });
        }
        if let Some(mut pattern) = self.pattern.take() {
            match byte {
                b'\r' | b'\n' => {
                    let text = String::from_utf8_lossy(&pattern).trim().to_owned();
                    return Some(if text.is_empty() { Wish::All } else { Wish::Pattern(text) });
                }
                0x1b | END => return None,
                0x08 | 0x7f => {
                    // Remove all bytes of the last letter.
                    while pattern.pop().is_some_and(|byte| byte & 0xc0 == 0x80) {}
                }
                0x15 => pattern.clear(),
                byte if byte >= b' ' => pattern.push(byte),
                _ => {}
            }
            self.pattern = Some(pattern);
            return None;
        }
        Some(match byte {
            b'\r' | b'\n' | b'a' => Wish::All,
            b'f' => Wish::Failed,
            b't' => Wish::Profile,
            b'e' => Wish::Explain,
            b'h' | b'?' => Wish::Help,
            b'q' | END | QUIT => Wish::Quit,
            b'p' => {
                self.pattern = Some(Vec::new());
                return None;
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &mut Typed, text: &str) -> Vec<Wish> {
        text.bytes().filter_map(|byte| keys.take(byte, Instant::now())).collect()
    }

    #[test]
    fn keys_are_wishes_and_a_pattern_is_typed_to_its_end() {
        let mut keys = Typed::default();
        assert_eq!(typed(&mut keys, "af\n"), [Wish::All, Wish::Failed, Wish::All]);
        assert_eq!(typed(&mut keys, "pfoé\u{7f}x"), []);
        assert_eq!(keys.pattern().as_deref(), Some("fox"));
        assert_eq!(typed(&mut keys, "\n"), [Wish::Pattern("fox".to_owned())]);
        assert_eq!(typed(&mut keys, "pq\u{1b}q"), [Wish::Quit]);
        assert_eq!(typed(&mut keys, "p\r"), [Wish::All]);
    }

    #[test]
    fn to_interrupt_once_runs_all_and_twice_leaves() {
        let mut keys = Typed::default();
        let at = Instant::now();
        let mut take = |after: u64| keys.take(3, at + Duration::from_millis(after));
        assert_eq!(take(0), Some(Wish::AllAnew));
        assert_eq!(take(1600), Some(Wish::AllAnew));
        assert_eq!(take(3000), Some(Wish::Quit));
    }
}
