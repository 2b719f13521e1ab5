//! The data model: frames, stacks, how often each stack was sampled and the corresponding amount,
//! and how the samples were taken.
//!
//! Nothing is interpreted here except which frames belong to a garbage collector.

use assay_data::{Finding, Unit};

/// Names that samplers give to frames of garbage collectors: those of stackprof, perftools.rb,
/// CPython, Go, Firefox and V8.
const COLLECTORS: [&str; 10] = [
    "(garbage collection)",
    "(marking)",
    "(sweeping)",
    "garbage_collector",
    "(garbage collector)",
    "gc_collect_main",
    "runtime.gcBgMarkWorker",
    "runtime.gcAssistAlloc",
    "runtime.bgsweep",
    "gc_start",
];

/// The name for code where no function is known.
pub(crate) const NOTHING_KNOWN: &str = "(no function known)";

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Name of the function.
    pub name: String,
    /// The file or shared object that contains the function.
    pub file: Option<String>,
    /// The line being executed, counted from 1.
    pub line: Option<u32>,
}

impl Frame {
    /// Creates a frame with only a name.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), file: None, line: None }
    }

    /// Returns true if the frame has the name of a garbage collector.
    pub fn is_collector(&self) -> bool {
        COLLECTORS.contains(&self.name.as_str())
    }
}

/// A stack, and how often it was sampled.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// Indices of the frames, outermost first; empty if unknown.
    pub frames: Vec<u32>,
    /// Labels of the stack, such as `("thread", "worker 1")`.
    pub labels: Vec<(String, String)>,
    /// Number of samples; 0 if the stack was not sampled but timed from call to return.
    pub samples: u64,
    /// Amount of the samples, in [`Profile::unit`]; finite and not negative.
    pub amount: f64,
}

/// A profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The profiled program, for headings; may be empty.
    pub name: String,
    /// The tool that recorded or wrote the profile.
    pub tool: Option<String>,
    /// The quantity that the amounts measure: `cpu`, `wall`, `samples`, `alloc_space`.
    pub measure: String,
    /// The base unit of the amounts.
    pub unit: Unit,
    /// The frames.
    pub frames: Vec<Frame>,
    /// The stacks; no two have the same frames and labels.
    pub stacks: Vec<Stack>,
    /// Requested sampling rate, in samples per second.
    pub asked_hz: Option<f64>,
    /// Actual sampling rate while the program was running, in samples per second; `None` if the
    /// times of the samples do not show it.
    pub delivered_hz: Option<f64>,
    /// Duration of sampling, in seconds of wall time.
    pub seconds: Option<f64>,
    /// Number of samples that the sampler reports as missed.
    pub missed: u64,
    /// Findings of the importer.
    pub findings: Vec<Finding>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: String::new(),
            tool: None,
            measure: "samples".to_owned(),
            unit: Unit::One,
            frames: Vec::new(),
            stacks: Vec::new(),
            asked_hz: None,
            delivered_hz: None,
            seconds: None,
            missed: 0,
            findings: Vec::new(),
        }
    }
}

impl Profile {
    /// Returns the total number of samples. O(stacks).
    pub fn samples(&self) -> u64 {
        self.stacks.iter().fold(0, |sum, stack| sum.saturating_add(stack.samples))
    }

    /// Returns the total amount of all samples, in [`Profile::unit`]. O(stacks).
    pub fn amount(&self) -> f64 {
        self.stacks.iter().map(|stack| stack.amount).sum()
    }

    /// Returns true if a stack is the work of a garbage collector, that is, if one of its frames
    /// belongs to a collector.
    pub fn is_collection(&self, stack: &Stack) -> bool {
        self.frames_of(stack).any(Frame::is_collector)
    }

    /// Returns the frames of a stack, outermost first.
    pub fn frames_of<'a>(&'a self, stack: &'a Stack) -> impl DoubleEndedIterator<Item = &'a Frame> {
        stack.frames.iter().filter_map(|&index| self.frames.get(index as usize))
    }

    /// Corrects the actual sampling rate of a CPU timer from the program's CPU time `seconds`. The
    /// rate is at least the number of samples divided by `seconds`. A rate derived from the gaps
    /// between samples is too low if other processes used the CPU. In that case the amounts of the
    /// samples are corrected as well.
    pub fn knowing_cpu(&mut self, seconds: f64) {
        let rate = self.samples() as f64 / seconds;
        if let Some(before) = self.delivered_hz
            && self.unit == Unit::Second
            && rate.is_finite()
            && rate > before
        {
            self.delivered_hz = Some(rate);
            self.stacks.iter_mut().for_each(|stack| stack.amount *= before / rate);
        }
    }

    /// Appends each frame's line to the frame's name, as in `parse:12`, so that lines are counted
    /// instead of functions. Returns false if the profile does not show which line was being
    /// executed; stackprof reports the first line of the method.
    pub fn by_line(&mut self) -> bool {
        if self.tool.as_deref() == Some("stackprof") {
            return false;
        }
        let mut known = false;
        for frame in &mut self.frames {
            if let Some(line) = frame.line {
                frame.name = format!("{}:{line}", frame.name);
                known = true;
            }
        }
        known
    }

    /// Returns the number of samples taken in the garbage collector. Some samplers do not identify
    /// the collector; with these, 0 does not mean that no garbage was collected. O(frames of all
    /// stacks).
    pub fn collections(&self) -> u64 {
        let of_collector = self.stacks.iter().filter(|stack| self.is_collection(stack));
        of_collector.map(|stack| stack.samples).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;

    #[test]
    fn lines_are_counted_where_they_are_known() {
        let at = |line| Frame { line, file: Some("a.py".to_owned()), ..Frame::named("work") };
        let mut builder = Builder::default();
        builder.add_frames([at(Some(3)), at(None)], 1);
        builder.add_frames([at(Some(5))], 2);
        let mut profile = builder.build();
        assert!(profile.by_line());
        let names: Vec<&str> = profile.frames.iter().map(|frame| frame.name.as_str()).collect();
        assert_eq!(names, ["work:3", "work", "work:5"]);
        profile.tool = Some("stackprof".to_owned());
        assert!(!profile.by_line());
    }

    #[test]
    fn processes_are_no_functions() {
        let mut builder = Builder::default();
        let process = |id: u32| Frame::named(&format!("process {id}:\"python3 a.py\""));
        builder.add_frames([process(1), process(2), Frame::named("f")], 3);
        builder.add_frames([process(1), Frame::named("f")], 2);
        builder.add_frames([process(1)], 1);
        let mut profile = builder.build();
        profile.without_process_frames();
        let names: Vec<&str> = profile.frames.iter().map(|frame| frame.name.as_str()).collect();
        assert_eq!((names, profile.samples()), (vec!["f", NOTHING_KNOWN], 6));
        assert_eq!(profile.stacks[0].labels[0].1, "process 2:\"python3 a.py\"");
    }

    #[test]
    fn processor_time_that_is_known_corrects_what_a_sample_stands_for() {
        let mut builder = Builder::default();
        builder.profile.unit = Unit::Second;
        builder.profile.delivered_hz = Some(100.0);
        let frame = builder.frame(Frame::named("a"));
        builder.add(vec![frame], Vec::new(), 250, 2.5);
        let mut profile = builder.build();
        profile.knowing_cpu(1.0);
        assert_eq!((profile.delivered_hz, profile.amount()), (Some(250.0), 1.0));
        // Time spent before sampling began is irrelevant.
        profile.knowing_cpu(2.0);
        assert_eq!((profile.delivered_hz, profile.amount()), (Some(250.0), 1.0));
    }
}
