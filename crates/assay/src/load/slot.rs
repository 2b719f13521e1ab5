//! The combinations of server and load that a load test measures.

use assay_data::ParameterValue;
use assay_load::GeneratorJob;

/// One combination of a server and its parameters, such as the rate.
pub(crate) struct LoadSlot {
    pub side: usize,
    pub parameters: Vec<(String, ParameterValue)>,
    /// The slice to run. The seed of random arrivals is chosen anew for each block.
    pub job: GeneratorJob,
    /// Index of the server among those that this process started; `None` if it runs elsewhere.
    pub server: Option<usize>,
}
