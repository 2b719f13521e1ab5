//! The targets that a load test measures.

use assay_data::ParameterValue;
use assay_load::GeneratorJob;

/// One thing that is measured: a server at one rate.
pub(crate) struct LoadSlot {
    pub side: usize,
    pub parameters: Vec<(String, ParameterValue)>,
    /// The slice; its seed is drawn for each block.
    pub job: GeneratorJob,
    /// Index of the server among those started here; `None` if the server runs elsewhere.
    pub server: Option<usize>,
}
