//! A chart that shows which functions are well tested and which are tangled. A function's position
//! is given by the share of its changes that the tests detect and by how local the failures are.
//! Its color shows whether few or many of its equivalent rewrites fail a test.

use super::frame::{Axis, Frame};
use super::scene::{Anchor, Ink, LETTERS, Position, Scene};
use super::{BELOW, Chart, RIGHT, WIDTH};
use crate::names::shorten;
use crate::words::counted;
use assay_analysis::coupling::{Coupling, Couplings, Quadrant};
use assay_analysis::policy::{BRITTLE, LOCAL, TESTED};
use assay_data::mutation::Mutation;
use std::collections::BTreeMap;

/// Height of the frame.
const HEIGHT: f64 = 280.0;
/// Maximum number of functions labeled with their names.
const NAMED: usize = 8;
/// Maximum length of a name, in letters.
const NAME: usize = 22;
/// Maximum number of functions for which intervals are drawn. With more, they would overlap.
const WITH_INTERVALS: usize = 40;

/// Draws the chart. Returns `None` if there is too little data about each of the functions.
pub fn chart(mutation: &Mutation, all: &Couplings) -> Option<Chart> {
    let known: Vec<(usize, &Coupling, f64, f64)> = all
        .units
        .iter()
        .enumerate()
        .filter_map(|(index, own)| {
            Some((index, own, own.score.share?, own.locality.map_or(0.0, |own| own.mean)))
        })
        .filter(|(_, own, _, _)| own.locality.is_some() || own.quadrant == Some(Quadrant::Untested))
        .collect();
    if known.is_empty() {
        return None;
    }
    let x = Axis::of_shares("changes that the tests notice", 0.0, 1.0);
    let y = Axis::of_shares(
        "how local failures are (own share of failing tests / test files)",
        0.0,
        1.0,
    );
    let (top, left) = (LETTERS + 8.0, y.room());
    let mut scene = Scene::new(WIDTH, (top + HEIGHT + BELOW).ceil());
    let frame = Frame { left, top, width: WIDTH - left - RIGHT, height: HEIGHT, x, y };
    frame.draw(&mut scene, true);
    scene.dashed(frame.upright(TESTED), Ink::Mark, 1.0, &[4.0, 3.0]);
    let level = vec![frame.place((TESTED, LOCAL)), (frame.right(), frame.down(LOCAL))];
    scene.dashed(level, Ink::Mark, 1.0, &[4.0, 3.0]);
    let beside = |value: f64| frame.across(value);
    let words: [(&str, Position, Anchor); 3] = [
        ("well tested", (beside(TESTED) + 6.0, frame.down(LOCAL) - 6.0), Anchor::Start),
        ("tangled", (beside(TESTED) + 6.0, frame.bottom() - 8.0), Anchor::Start),
        ("untested", (beside(TESTED) - 6.0, frame.bottom() - 8.0), Anchor::End),
    ];
    for (word, place, anchor) in words {
        scene.words(place, word, anchor, Ink::Quiet);
    }
    if known.len() <= WITH_INTERVALS {
        for (_, own, share, locality) in &known {
            let mut ends = Vec::new();
            if let Some(i) = own.score.interval.filter(|i| i.upper > i.lower) {
                ends.push((frame.place((i.lower, *locality)), frame.place((i.upper, *locality))));
            }
            let interval = own.locality.and_then(|own| own.interval);
            if let Some(i) = interval.filter(|i| i.upper > i.lower) {
                ends.push((frame.place((*share, i.lower)), frame.place((*share, i.upper))));
            }
            if !ends.is_empty() {
                scene.sticks(ends, ink(own), 1.0);
            }
        }
    }
    // Functions at the same position are merged into one larger dot.
    let mut places: BTreeMap<(i64, i64, u8), usize> = BTreeMap::new();
    let colour = |own: &Coupling| match ink(own) {
        Ink::Subject(1) => 2,
        Ink::Subject(_) => 1,
        _ => 0,
    };
    for (_, own, share, locality) in &known {
        let key = ((share * 200.0).round() as i64, (locality * 200.0).round() as i64, colour(own));
        *places.entry(key).or_default() += 1;
    }
    for (&(across, up, colour), count) in &places {
        let (mut across_at, down) = frame.place((across as f64 / 200.0, up as f64 / 200.0));
        // Dots of different colors at the same position are drawn side by side.
        let others = (0..colour).filter(|own| places.contains_key(&(across, up, *own))).count();
        across_at += others as f64 * 7.0;
        let place = (across_at, down);
        let ink = [Ink::Quiet, Ink::Subject(2), Ink::Subject(1)][usize::from(colour)];
        let radius = (3.4 + 1.2 * ((*count - 1) as f64).sqrt()).min(14.0);
        scene.dots(vec![place], radius, ink, 0.8);
    }
    let mut worst: Vec<&(usize, &Coupling, f64, f64)> = known
        .iter()
        .filter(|(_, own, _, _)| own.quadrant.is_some_and(|own| own != Quadrant::WellTested))
        .collect();
    worst.sort_by_key(|(index, own, _, _)| {
        (own.quadrant, std::cmp::Reverse(own.score.counted), *index)
    });
    let mut taken: Vec<Position> = Vec::new();
    for (index, _, share, locality) in worst.into_iter().take(NAMED) {
        let name = mutation.units.get(*index).map_or("", |unit| unit.name.as_str());
        let (across, mut down) = frame.place((*share, *locality));
        // A name that would overlap another is moved up.
        while taken.iter().any(|(x, y)| (x - across).abs() < 90.0 && (y - down).abs() < LETTERS) {
            down -= LETTERS;
        }
        taken.push((across, down));
        let (anchor, at) = match across > frame.left + frame.width / 2.0 {
            true => (Anchor::End, across - 8.0),
            false => (Anchor::Start, across + 8.0),
        };
        scene.words((at, down + 4.0), shorten(name, NAME, "…"), anchor, Ink::Text);
    }
    let left_out = all.units.len() - known.len();
    let more = match left_out {
        0 => String::new(),
        n => format!(" Too little is known of {}.", counted(n, "function")),
    };
    Some(Chart {
        name: "quadrant",
        title: "Well tested or tangled".to_owned(),
        caption: format!(
            "Each dot is a function, a larger one several. Right: tests notice more of its changes. Up: a change fails the function's own tests, and few other files. Orange: {} or more of its equivalent rewrites fail a test; green: fewer; gray: no rewrite was possible. The dashed lines are {} and {LOCAL}. Bars are 95 % intervals of estimates.{more}",
            crate::number::chosen_percent(BRITTLE),
            crate::number::chosen_percent(TESTED),
        ),
        scene,
    })
}

/// Returns the ink of a function's dot.
fn ink(own: &Coupling) -> Ink {
    match own.brittleness {
        None => Ink::Quiet,
        Some(own) if own.mean >= BRITTLE => Ink::Subject(1),
        Some(_) => Ink::Subject(2),
    }
}
