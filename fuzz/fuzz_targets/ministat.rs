//! Runs it with arbitrary arguments and files: it must end by itself, with a result or an error.
//! The first line contains the arguments, separated by spaces; the rest is the content of every
//! file.
#![no_main]

use assay_ministat::{Flavour, Opened, Source, Surroundings, run};
use libfuzzer_sys::fuzz_target;
use std::ffi::OsString;
use std::io::{self, Cursor, Write};
use std::os::unix::ffi::OsStringExt;

/// Rejects sizes larger than any useful plot.
struct Limited(usize);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("enough"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let args: Vec<_> = input[..end].split(|byte| *byte == b' ').map(|arg| OsString::from_vec(arg.to_vec())).collect();
    let data = input[end..].to_vec();
    let open = |_: Source<'_>| Ok(Opened { reader: Box::new(Cursor::new(data.clone())), is_regular: false });
    for flavour in [Flavour::Of2015, Flavour::Of2025] {
        let mut out = Limited(1 << 22);
        if let Ok(ending) = run(&args, &Surroundings::new(flavour, &open), &mut out) {
            assert_eq!(ending.status == 0, ending.stderr.is_empty());
        }
    }
});
