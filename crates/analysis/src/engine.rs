//! The measurement engine: runs a source's turns in random order until the question is answered.
//!
//! A [`Source`] runs one turn and returns its values. A [`Session`] gets the next turn from the
//! experiment ([`design`](crate::design)), runs it on the source, repeats lost runs, and passes the
//! values to the recorder and the experiment. It stops when every row has its answer, the budget is
//! spent, or the user interrupts it, and it can resume a recording.
//!
//! Clock, recorder, observer and interruption are passed in; the module starts no processes, reads
//! no clock, computes no statistics and prints nothing. So a test can run a whole session within
//! microseconds, as in this example:
//!
//! ```
//! use assay_analysis::{Options, Verdict, analyse};
//! use assay_data::source::{Layout, Measured, Obstacle, Turn};
//! use assay_data::{Metric, Plan, Source, Threshold};
//! use assay_analysis::engine::{Limits, Session};
//! use std::{cell::Cell, convert::Infallible};
//!
//! struct Pretended<'a> {
//!     clock: &'a Cell<f64>,
//!     metrics: Vec<Metric>,
//! }
//!
//! impl Source for Pretended<'_> {
//!     type Error = Infallible;
//!
//!     fn layout(&self) -> Layout {
//!         Layout::of_names(["old", "new"])
//!     }
//!
//!     fn metrics(&self) -> &[Metric] {
//!         &self.metrics
//!     }
//!
//!     fn measure(&mut self, turn: &Turn) -> Result<Measured, Obstacle<Infallible>> {
//!         let took = [0.2, 0.1][turn.place] + f64::from(turn.padding) * 1e-6;
//!         self.clock.set(self.clock.get() + took);
//!         Ok(Measured::values(vec![took]))
//!     }
//! }
//!
//! let clock = Cell::new(0.0);
//! let source = Pretended { clock: &clock, metrics: vec![Metric::wall()] };
//! let mut session = Session::unrecorded(source, || clock.get());
//! session.begin(&Plan::sequential(0.95, Threshold::default(), 7), 0, Limits::default());
//! let Ok(phase) = session.measure(&mut |_| ());
//! session.close(phase.reason, Default::default());
//! let analysis = analyse(&session.samples, &Options::default())?;
//! assert_eq!(analysis.comparisons[0].decision.verdict, Verdict::Faster);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Source`]: assay_data::Source

mod discovered;
mod recorder;
mod session;

pub use recorder::{Recorder, Unrecorded};
pub use session::{Limits, Phase, Session, Standing};
