//! Builds many mutants together in all copies. Mutants that fail to compile are removed until the
//! remaining ones build. Then all tests must pass with no mutant active, and a planted error must
//! be noticed once. Mutants that do not meet these conditions are tried separately, by changing one
//! file for each.

use crate::arena::{Arena, TestSelection};
use crate::built::{CopyBuild, ReachingPrograms, SwitchPaths, SwitchedMutant};
use crate::policy::{BUILDS, PROOFS, SHARE_OF_CHOOSING, TIMES_IN_ANOTHER_COPY};
use crate::proof;
use crate::singly::counted;
use crate::sources::Source;
use crate::switches::{Round, Standing, Switches};
use assay_data::threads;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::thread;
use std::time::Instant;

/// The result of building a round of mutants.
pub(crate) enum RoundBuild {
    /// The build is ready in the copies.
    Built {
        /// The mutants that cannot be built, each with the compiler's message.
        unviable: HashMap<usize, String>,
        /// The numbers of the functions that tests reach.
        reached: HashSet<usize>,
        /// Indices of the tests that reach each function, by the function's number, where known.
        tests: HashMap<usize, Vec<usize>>,
    },
    /// Switches cannot be used in this project, for the given reason.
    Unusable(String),
}

/// Builds the round. Drops copies in which the build fails although it succeeded in the first copy,
/// and all other copies if building in them could use up the time until `deadline`.
///
/// # Errors
///
/// Fails if something cannot be written or started, or if no test notices a planted error.
pub(crate) fn ready(
    switches: &mut Switches<'_>,
    round: &mut Round,
    arenas: &mut Vec<Arena<'_>>,
    sources: &[Source],
    with: TestSelection<'_>,
    deadline: Option<Instant>,
) -> anyhow::Result<RoundBuild> {
    let began = Instant::now();
    let Some(first) = arenas.first_mut() else { return Ok(unusable("there is no copy")) };
    if !switches.is_proven {
        switches.plant(round);
    }
    let mut unviable: HashMap<usize, String> = HashMap::new();
    let (mut built, mut why_left) = (Err(String::new()), None);
    for _ in 0..BUILDS {
        let Some(standing) = standing(switches, round, &unviable, first) else {
            return Ok(unusable(
                "the name of the directory for temporary files cannot be written there",
            ));
        };
        first.stand(&standing, sources)?;
        built = first.build(with)?;
        let Err(said) = &built else { break };
        let lesson = switches.learn(said, round, &standing);
        why_left = why_left.or_else(|| lesson.has_more.then(|| cannot_be_built(said)));
        if lesson.unviable.is_empty() && !lesson.has_more {
            break;
        }
        unviable.extend(lesson.unviable);
    }
    let by_build = match built {
        Ok(reached) => reached,
        Err(said) if switches.is_driven => {
            return Ok(unusable(said.lines().next().unwrap_or_default()));
        }
        Err(said) => return Ok(unusable(&cannot_be_built(&said))),
    };
    let reached = match first.learn(with)? {
        Ok(reached) if reached.is_empty() => {
            let why = "no test reaches any of the functions that can be changed this way";
            return Ok(unusable(&why_left.unwrap_or_else(|| why.to_owned())));
        }
        Ok(reached) => reached,
        Err(why) => return Ok(unusable(&why)),
    };
    for unit in of_the_build(&by_build, &reached) {
        switches.leave(unit);
    }
    if !switches.is_proven {
        prove(switches, round, first, &reached, with)?;
        switches.is_proven = true;
    }
    let tried = round.mutants.iter().filter(|own| !unviable.contains_key(&own.index));
    let counts = counted(tried.map(|own| switches.unit(*own)));
    let left = |until: Instant| until.saturating_duration_since(Instant::now());
    let soon = deadline.map(|until| Instant::now() + left(until).mul_f64(SHARE_OF_CHOOSING));
    let took = began.elapsed();
    first.single_out(&counts, with, soon)?;
    let known = first.singly();
    let tests: HashMap<usize, Vec<usize>> = reached
        .keys()
        .filter_map(|unit| Some((*unit, first.built.as_ref()?.tests_that_reach(*unit)?)))
        .collect();
    // Nothing has been compiled in the other copies yet.
    if deadline.is_some_and(|until| took.mul_f64(TIMES_IN_ANOTHER_COPY) > left(until)) {
        arenas.truncate(1);
    }
    others(switches, round, &unviable, arenas, sources, with)?;
    for own in arenas.iter_mut().skip(1).filter_map(|own| own.built.as_mut()) {
        own.singly.clone_from(&known);
    }
    Ok(RoundBuild::Built { unviable, reached: reached.into_keys().collect(), tests })
}

/// Returns the reason why a build failed, based on its output.
fn cannot_be_built(said: &str) -> String {
    let told = said.lines().find(|line| line.contains("error"));
    let told = told.or_else(|| said.lines().find(|line| !line.trim().is_empty()));
    format!("it can't be built: {}", told.unwrap_or_default().trim())
}

fn unusable(why: &str) -> RoundBuild {
    RoundBuild::Unusable(why.to_owned())
}

fn standing(
    switches: &Switches<'_>,
    round: &Round,
    unviable: &HashMap<usize, String>,
    arena: &Arena<'_>,
) -> Option<Vec<Standing>> {
    let at = SwitchPaths::of(&arena.copy.top());
    switches.standing(round, &unviable.keys().copied().collect(), &at)
}

/// Returns the functions that are reached by programs that run only in the build. The build is
/// finished before the switch is set, so it is unknown what these programs would have produced with
/// a mutant.
fn of_the_build(by_build: &ReachingPrograms, by_tests: &ReachingPrograms) -> Vec<usize> {
    let programs: BTreeSet<&String> = by_tests.values().flatten().collect();
    let is_tool = |own: &BTreeSet<String>| own.iter().any(|own| !programs.contains(own));
    by_build.iter().filter(|(_, own)| is_tool(own)).map(|(unit, _)| *unit).collect()
}

/// Checks that tests notice a planted error, starting with the function that most programs reach.
fn prove(
    switches: &Switches<'_>,
    round: &Round,
    arena: &mut Arena<'_>,
    reached: &ReachingPrograms,
    with: TestSelection<'_>,
) -> anyhow::Result<()> {
    let mut units: Vec<(usize, usize)> =
        reached.iter().map(|(unit, programs)| (programs.len(), *unit)).collect();
    units.sort_by_key(|(programs, unit)| (std::cmp::Reverse(*programs), *unit));
    let planted = |(_, unit): &(usize, usize)| Some((*unit, switches.planted(round, *unit)?));
    let mut tried = Vec::new();
    for (unit, number) in units.iter().filter_map(planted).take(PROOFS) {
        if arena.behind(SwitchedMutant { number, unit }, with)?.fate.is_detected() {
            return Ok(());
        }
        tried.push(switches.name(unit));
    }
    if tried.is_empty() { Ok(()) } else { Err(proof::unnoticed(&tried)) }
}

/// Builds the same mutants in the other copies in parallel, and drops the copies in which this
/// fails.
fn others(
    switches: &Switches<'_>,
    round: &Round,
    unviable: &HashMap<usize, String>,
    arenas: &mut Vec<Arena<'_>>,
    sources: &[Source],
    with: TestSelection<'_>,
) -> anyhow::Result<()> {
    let Some((first, rest)) = arenas.split_first_mut() else { return Ok(()) };
    let built = thread::scope(|scope| {
        let begun: Vec<_> = rest
            .iter_mut()
            .map(|arena| {
                let standing = standing(switches, round, unviable, arena);
                let same = first.built.as_ref().and_then(CopyBuild::elsewhere);
                threads::start_in(scope, move || -> anyhow::Result<bool> {
                    let Some(standing) = standing else { return Ok(false) };
                    arena.stand(&standing, sources)?;
                    if same.is_some() {
                        arena.built = same;
                        return Ok(true);
                    }
                    // If no function is reached, the tests run code that was built in another copy.
                    Ok(arena.build(with)?.is_ok()
                        && arena.learn(with)?.is_ok_and(|own| !own.is_empty()))
                })
            })
            .collect();
        let ended = begun.into_iter().map(|own| own?.join().unwrap_or(Ok(false)));
        ended.collect::<anyhow::Result<Vec<bool>>>()
    })?;
    let mut is_built = std::iter::once(true).chain(built);
    arenas.retain(|_| is_built.next().unwrap_or(false));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_failed_build_is_its_first_error() {
        let said = "\n cc -c a.c\na.c:1:7: error: line number out of range\nmake: *** [a.o]\n";
        assert_eq!(
            cannot_be_built(said),
            "it can't be built: a.c:1:7: error: line number out of range"
        );
        assert_eq!(cannot_be_built("\n killed\n"), "it can't be built: killed");
    }

    #[test]
    fn what_a_build_runs_and_no_test_is_left_to_the_plain_way() {
        let of = |all: &[(usize, &[&str])]| -> ReachingPrograms {
            let own = |own: &[&str]| own.iter().map(|own| (*own).to_owned()).collect();
            all.iter().map(|(unit, programs)| (*unit, own(programs))).collect()
        };
        let by_build = of(&[(1, &["tests"]), (2, &["generator"]), (3, &["generator", "tests"])]);
        let by_tests = of(&[(1, &["tests"]), (3, &["tests"])]);
        let mut own = of_the_build(&by_build, &by_tests);
        own.sort_unstable();
        assert_eq!(own, [2, 3]);
    }
}
