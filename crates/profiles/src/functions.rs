//! Functions: all frames with the same name and file, on any line. Flat values count
//! samples in the function itself; cumulative values also count samples in the functions it called.
//! A recursive function is counted once per stack.

use crate::model::{Profile, Stack};
use std::collections::HashMap;

/// A function's totals, in samples and in the profile's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Name of the function, followed by its file if a function of the same name exists in another
    /// file.
    pub name: String,
    /// File of the function, if known.
    pub file: Option<String>,
    /// True if the function belongs to a garbage collector.
    pub collector: bool,
    /// Samples in the function itself.
    pub flat_samples: u64,
    /// Number of samples in the function and in the functions it called.
    pub cum_samples: u64,
    /// Amount spent in the function itself.
    pub flat_amount: f64,
    /// Amount spent in the function and in the functions it called.
    pub cum_amount: f64,
}

impl Function {
    /// Returns the function's name without the file that distinguishes it from functions of the
    /// same name, since those functions may differ between two profiles.
    pub fn bare(&self) -> &str {
        let file = self.file.as_deref().unwrap_or_default();
        let behind = self.name.strip_suffix(')').and_then(|name| name.strip_suffix(file));
        behind
            .filter(|_| !file.is_empty())
            .and_then(|name| name.strip_suffix(" ("))
            .unwrap_or(&self.name)
    }
}

/// The functions of a profile, and the function of each frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Functions {
    /// The functions, in the order of the profile's frames.
    pub list: Vec<Function>,
    /// The index of each frame's function.
    pub of_frame: Vec<usize>,
}

impl Functions {
    /// Collects the functions. O(frames of all stacks).
    pub fn of(profile: &Profile) -> Self {
        let (mut list, of_frame) = named(profile);
        // Index of the last stack in which each function occurred, so that recursive functions are
        // counted only once.
        let mut met = vec![usize::MAX; list.len()];
        for (index, stack) in profile.stacks.iter().enumerate() {
            let functions = stack.frames.iter().filter_map(|&f| of_frame.get(f as usize).copied());
            let mut leaf = None;
            for function in functions {
                leaf = Some(function);
                if met[function] != index {
                    met[function] = index;
                    let found: &mut Function = &mut list[function];
                    found.cum_samples = found.cum_samples.saturating_add(stack.samples);
                    found.cum_amount += stack.amount;
                }
            }
            if let Some(leaf) = leaf {
                list[leaf].flat_samples = list[leaf].flat_samples.saturating_add(stack.samples);
                list[leaf].flat_amount += stack.amount;
            }
        }
        Self { list, of_frame }
    }

    /// Returns the functions of a stack, outermost first.
    pub fn of_stack<'a>(&'a self, stack: &'a Stack) -> impl DoubleEndedIterator<Item = usize> + 'a {
        stack.frames.iter().filter_map(|&frame| self.of_frame.get(frame as usize).copied())
    }
}

/// Returns the functions without any samples, and the function of each frame.
fn named(profile: &Profile) -> (Vec<Function>, Vec<usize>) {
    let mut index: HashMap<(&str, Option<&str>), usize> = HashMap::new();
    let mut files: HashMap<&str, usize> = HashMap::new();
    let mut list = Vec::new();
    let mut of_frame = Vec::with_capacity(profile.frames.len());
    for frame in &profile.frames {
        let key = (frame.name.as_str(), frame.file.as_deref());
        let next = list.len();
        let own = *index.entry(key).or_insert(next);
        if own == next {
            *files.entry(&frame.name).or_default() += 1;
            list.push(Function {
                name: frame.name.clone(),
                file: frame.file.clone(),
                collector: frame.is_collector(),
                flat_samples: 0,
                cum_samples: 0,
                flat_amount: 0.0,
                cum_amount: 0.0,
            });
        }
        of_frame.push(own);
    }
    for function in &mut list {
        if let (Some(file), true) = (&function.file, files[function.name.as_str()] > 1) {
            function.name = format!("{} ({file})", function.name);
        }
    }
    (list, of_frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Frame};

    #[test]
    fn a_function_that_calls_itself_is_counted_once() {
        let mut builder = Builder::default();
        let [a, b] = ["a", "b"].map(Frame::named);
        builder.add_frames([a.clone(), b.clone(), a.clone(), a.clone()], 3);
        builder.add_frames([a, b], 1);
        let functions = Functions::of(&builder.build());
        let told: Vec<_> = functions
            .list
            .iter()
            .map(|f| (f.name.as_str(), f.flat_samples, f.cum_samples))
            .collect();
        assert_eq!(told, [("a", 3, 4), ("b", 1, 4)]);
    }

    #[test]
    fn lines_of_one_function_are_one_and_namesakes_of_two_files_are_two() {
        let at = |file: &str, line| Frame {
            name: "run".to_owned(),
            file: Some(file.to_owned()),
            line: Some(line),
        };
        let mut builder = Builder::default();
        builder.add_frames([at("a.py", 1)], 1);
        builder.add_frames([at("a.py", 2)], 1);
        builder.add_frames([at("b.py", 1)], 1);
        let functions = Functions::of(&builder.build());
        let told: Vec<_> =
            functions.list.iter().map(|f| (f.name.as_str(), f.flat_samples)).collect();
        assert_eq!(told, [("run (a.py)", 2), ("run (b.py)", 1)]);
    }
}
