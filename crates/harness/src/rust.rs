//! Code shared by the drivers of harnesses whose programs are built by `cargo bench`.

use crate::error::tail;
use crate::program::Program;
use crate::reply::Reply;
use std::path::Path;

/// Returns a message if the program is in a directory where Cargo puts unoptimized builds.
pub(crate) fn built_for_debugging(program: &Program) -> Option<String> {
    let file = program.file.canonicalize().unwrap_or_else(|_| program.file.clone());
    let directory = file.parent()?;
    let is_debug = |path: &Path| path.file_name().is_some_and(|name| name == "debug");
    let above = directory.parent().filter(|_| directory.ends_with("deps"));
    (is_debug(directory) || above.is_some_and(is_debug)).then(|| {
        "it is in the directory where Cargo puts builds without optimization (`debug`)".to_owned()
    })
}

/// Returns `--bench`, without which the program would test its benchmarks rather than measure them.
/// `None` if the user gave the flag, since it is allowed only once.
pub(crate) fn bench_flag(program: &Program) -> Option<&'static str> {
    (!program.has_word("--bench")).then_some("--bench")
}

/// Returns the message of a panic, or otherwise the last line of the output.
pub(crate) fn error_message(reply: &Reply) -> Option<String> {
    let errors = String::from_utf8_lossy(&reply.errors);
    let mut lines = errors.lines().skip_while(|line| !line.contains(" panicked at "));
    // Before Rust 1.73, the message was on the line with the location.
    let place = lines.next();
    let message = lines.next().filter(|_| place.is_some_and(|line| line.ends_with(':')));
    tail(message.or(place).map_or(&reply.errors, str::as_bytes), &reply.output)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_directory_tells_a_debug_build() {
        let debug = |path: &str| {
            let file = PathBuf::from(path);
            built_for_debugging(&Program::look(&[file.clone().into()], &file)).is_some()
        };
        assert!(debug("/x/target/debug/deps/bench-0123"));
        assert!(debug("/x/target/x86_64-unknown-linux-gnu/debug/deps/bench-0123"));
        assert!(debug("/x/target/debug/bench"));
        assert!(!debug("/x/target/release/deps/bench-0123"));
        assert!(!debug("/x/debug/target/release/deps/bench-0123"));
    }

    #[test]
    fn the_flag_is_not_given_twice() {
        let flag = |words: &[&str]| {
            let words: Vec<_> = words.iter().map(Into::into).collect();
            bench_flag(&Program::look(&words, "/x".as_ref()))
        };
        assert_eq!(flag(&["/x"]), Some("--bench"));
        assert_eq!(flag(&["/x", "--bench"]), None);
    }

    #[test]
    fn of_a_panic_its_message_is_told() {
        let said = |errors: &str| {
            error_message(&Reply { errors: errors.as_bytes().to_vec(), ..Reply::default() })
                .unwrap()
        };
        let new = "Benchmarking a\nthread 'main' (7) panicked at benches/a.rs:22:9:\nno luck\nnote: run with\n";
        assert_eq!(said(new), "`no luck`");
        let old = "thread 'main' panicked at 'no luck', benches/a.rs:22:9\nnote: run with\n";
        assert_eq!(said(old), "`thread 'main' panicked at 'no luck', benches/a.rs:22:9`");
        assert_eq!(said("error: unexpected argument\n"), "`error: unexpected argument`");
    }
}
