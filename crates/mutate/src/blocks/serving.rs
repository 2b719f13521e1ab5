//! The loop of `assay-mutate blocks`: answers requests in order until the input ends
//! ([`assay_suites::coverage::wire`]).

use crate::blocks::cut;
use assay_suites::coverage::{Blocks, wire};
use std::io::{self, Read, Write};

/// Answers requests until the input ends, which happens when the client closes it or exits.
///
/// # Errors
///
/// Fails if a request is malformed or the answer cannot be written.
pub fn serve(input: &mut impl Read, out: &mut impl Write) -> io::Result<()> {
    out.write_all(&wire::GREETING)?;
    out.flush()?;
    while let Some(texts) = wire::read_request(input)? {
        let files: Vec<Blocks> =
            texts.iter().map(|(language, text)| cut(*language, text)).collect();
        wire::write_answer(out, &files)?;
    }
    Ok(())
}
