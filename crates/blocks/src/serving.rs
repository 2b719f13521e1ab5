//! The program's work: requests are answered in their order, until there are no more ([`assay_coverage::wire`]).

use crate::cut;
use assay_coverage::{Blocks, wire};
use std::io::{self, Read, Write};

/// Answers requests until the input ends. Whoever asks ends it by closing it, or by ending.
///
/// # Errors
/// When a request is none, or nobody takes the answer.
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
