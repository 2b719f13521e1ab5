//! `assay schema`: prints the JSON Schema of a command's `--json` output. The schema is generated
//! from the types that are serialized, so it always matches.

use crate::{Ending, output};
use assay_report::json::schema;
use clap::builder::PossibleValuesParser;

/// Arguments of `assay schema`.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  assay schema compare > result.schema.json      schema of `assay compare --json`
  assay schema gate")]
pub(crate) struct Args {
    /// Verb or document to describe; `run`, `bench` and `compare` share a schema
    #[arg(default_value = "run", value_parser = PossibleValuesParser::new(schema::names()))]
    verb: String,
}

/// Prints the schema.
pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    if let Some(document) = schema::named(&args.verb) {
        output::print(&format!("{:#}\n", document.schema()))?;
    }
    Ok(Ending::Fine)
}
