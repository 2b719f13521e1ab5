//! The targets that a load test measures.

use assay_data::ParameterValue;
use assay_load::GeneratorJob;

/// One thing that is measured: a server at one rate.
pub(crate) struct LoadSlot {
    pub side: usize,
    pub parameters: Vec<(String, ParameterValue)>,
    /// The slice; its seed is drawn for each block.
    pub job: GeneratorJob,
    /// Index of its server among those started here; `None` if it runs elsewhere.
    pub server: Option<usize>,
}
