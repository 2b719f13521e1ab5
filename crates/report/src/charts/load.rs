//! Plots specific to load tests: latency up to the rarest quantiles, and latency and failures
//! second by second, with one line per server.

use super::frame::{Axis, Frame, range};
use super::legend::Legend;
use super::panels::{PANEL, Panel, panels};
use super::scene::{Anchor, Ink, LETTERS, Position, Scene, dashes, text_width};
use super::{Chart, HEIGHT};
use crate::names::fitted;
use crate::number;
use crate::scan_table::combination;
use assay_analysis::Analysis;
use assay_analysis::figures::{LoadFigures, MOST_SUBJECTS, QuantileCurve, SlicePiece, SliceTrace};
use assay_analysis::search::Try;
use assay_data::Unit;

/// Maximum number of load steps drawn. If there are more, some are left out.
const MOST_STEPS: usize = 6;
/// Height of the frame of a step if there are several steps, in sheet units (about a pixel each).
const STEP: f64 = 118.0;
/// Maximum number of shaded slices. If there are more, blocks are shaded instead.
const MOST_BANDS: usize = 80;
/// Maximum number of kinds of failures with a frame of their own.
const MOST_WAYS: usize = 5;
/// Maximum length of a server's name, in characters.
const NAME: usize = 34;
/// Ratio of the largest to the smallest latency above which the axis is logarithmic.
const WIDE: f64 = 4.0;
/// Factor by which the axis extends above the longest latency if requests failed.
const ABOVE: f64 = 2.0;
/// Names of the quantiles that summarize the latencies of each second.
const SHARES: [&str; 3] = ["p50", "p90", "p99"];

/// Returns the plots of a load test. Plots for which data is missing are left out.
pub(super) fn charts(analysis: &Analysis, figures: &LoadFigures) -> Vec<Chart> {
    let names: Vec<String> = analysis.sides.iter().map(|side| side.name.clone()).collect();
    let names = fitted(&names[..names.len().min(MOST_SUBJECTS)], NAME, "…");
    let drawn = LoadChart { analysis, figures, names };
    let all = [drawn.search(), drawn.quantiles(), drawn.over_time(), drawn.failures()];
    all.into_iter().flatten().collect()
}

struct LoadChart<'a> {
    analysis: &'a Analysis,
    figures: &'a LoadFigures,
    /// Names of the servers that are drawn.
    names: Vec<String>,
}

impl LoadChart<'_> {
    fn legend(&self) -> Legend<'_> {
        Legend(self.names.iter().map(String::as_str).enumerate().collect())
    }

    /// Returns the index of the server of a subject, or `None` if the server is not drawn.
    fn server(&self, subject: usize) -> Option<usize> {
        Some(self.analysis.subjects[subject].side).filter(|side| *side < self.names.len())
    }

    /// Groups items by load step, and returns the groups with the total number of steps. If there
    /// are too many steps, some are left out, but never the first or the last.
    fn steps<T>(
        &self,
        all: impl Iterator<Item = T>,
        subject: impl Fn(&T) -> usize,
    ) -> (Vec<(String, Vec<T>)>, usize) {
        let mut steps: Vec<(String, Vec<T>)> = Vec::new();
        for own in all {
            let step = combination(self.analysis, subject(&own));
            match steps.iter_mut().find(|(known, _)| *known == step) {
                Some((_, known)) => known.push(own),
                None => steps.push((step, vec![own])),
            }
        }
        let count = steps.len();
        if count > MOST_STEPS {
            let kept: Vec<usize> =
                (0..MOST_STEPS).map(|k| k * (count - 1) / (MOST_STEPS - 1)).collect();
            let mut index = 0..;
            steps.retain(|_| index.next().is_some_and(|i| kept.contains(&i)));
        }
        (steps, count)
    }

    /// Draws the rates tried in a search for the highest rate, and its result. Returns `None` if
    /// there was no search.
    fn search(&self) -> Option<Chart> {
        let search = self.figures.search.as_ref()?;
        let (steps, all) = self.steps(search.tries.iter(), |own| own.subject);
        let tries = || steps.iter().flat_map(|(_, tries)| tries);
        let x = range(tries().map(|own| own.rate));
        let known = tries().map(|own| own.latency).filter(|value| value.is_finite());
        let [low, high] = range(known.chain(search.limit));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let never = tries().any(|own| own.latency.is_infinite());
        let (top, is_wide) = (if never { high * ABOVE } else { high }, high > WIDE * low);
        let percent = number::chosen_percent(search.share);
        let name = format!("p{} latency", percent.trim_end_matches(" %"));
        let y = Axis::of(&name, &Unit::Second, low, top, is_wide);
        let x = Axis::of("requested rate", &Unit::PerSecond, x[0], x[1], true);
        let (rows, height) = rows(&steps, &y);
        let scene = panels(&self.legend(), rows, height, &x, |scene, frame, row| {
            if let Some(limit) = search.limit {
                scene.dashed(frame.level(limit), Ink::Mark, 1.0, &[4.0, 3.0]);
            }
            for (index, own) in steps[row].1.iter().enumerate() {
                let first = steps[row].1.iter().position(|other| other.subject == own.subject);
                let Some(server) = self.server(own.subject) else { continue };
                if first == Some(index) {
                    self.found(scene, frame, own.subject, Ink::Subject(server));
                }
                tried(scene, frame.place((own.rate, own.latency)), own, Ink::Subject(server));
            }
        });
        let limit = if search.limit.is_some() { " The dashed line is the goal." } else { "" };
        let never = if never {
            " Rates at which too many requests failed are at the upper edge."
        } else {
            ""
        };
        Some(Chart {
            name: "rates-tried",
            title: "The search for the highest rate".to_owned(),
            caption: format!(
                "Every slice of all searches: dots are rates that met the goals, crosses are those that did not. Vertical lines are the resulting rates, medians over the blocks, with their {} intervals.{limit}{never} The horizontal axis is logarithmic.{}{}",
                number::chosen_percent(self.analysis.plan.confidence),
                logarithmic(low, high),
                left_out(all)
            ),
            scene,
        })
    }

    /// Marks the rate that the search found for a subject.
    fn found(&self, scene: &mut Scene, frame: &Frame, subject: usize, ink: Ink) {
        let Some(found) = self.analysis.primary_of(subject) else { return };
        if let Some(i) = found.median_interval.filter(|i| i.is_bounded()) {
            let ends = [i.lower, i.upper].map(|end| frame.across(end.max(f64::MIN_POSITIVE)));
            scene.rectangle((ends[0], frame.top), (ends[1], frame.bottom()), ink, 0.18);
        }
        scene.line(frame.upright(found.median), ink, 1.6);
    }

    /// Draws latency against the share of the requests, one frame per step. Returns `None` if there
    /// are no requests.
    fn quantiles(&self) -> Option<Chart> {
        let known = self.figures.quantiles.iter().filter(|curve| curve.requests > 0);
        let (steps, all) = self.steps(known, |curve| curve.subject);
        let curves = || steps.iter().flat_map(|(_, curves)| curves);
        let most = curves().map(|curve| curve.requests).max()?;
        let [low, high] = range(curves().flat_map(|curve| &curve.points).map(|p| p.1));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let failed = curves().any(|curve| curve.failed > 0.0);
        // If requests failed, their curve rises to the upper edge, which must be above all
        // latencies.
        let top = if failed { high * ABOVE } else { high };
        let y = Axis::of("latency", &Unit::Second, low, top, high > WIDE * low);
        let rows = steps.iter().map(|(name, _)| {
            let name = if all > 1 { name.clone() } else { String::new() };
            Panel { name, ink: Ink::Text, y: y.clone() }
        });
        let height = if all > 1 { STEP } else { HEIGHT };
        let scene =
            panels(&self.legend(), rows.collect(), height, &shares(most), |s, frame, row| {
                let mut foot = frame.top + 12.0;
                for curve in &steps[row].1 {
                    self.curve(s, frame, curve, &mut foot);
                }
            });
        let failing = if failed {
            " Failed requests count as never answered: a curve leaves the plot where only failures remain."
        } else {
            ""
        };
        let left_out = left_out(all);
        let slices = match self.figures.search {
            Some(_) => "All slices at the rates that were found.",
            None => "All slices together.",
        };
        let from = match self.analysis.environment.text("load_loop") {
            Some("closed") => "Times count from when requests were sent, so they exclude waiting.",
            _ => "Times count from when requests were due.",
        };
        Some(Chart {
            name: "latency-quantiles",
            title: "Latency by share of the requests".to_owned(),
            caption: format!(
                "Latency within which a given share of the requests was answered; each step to the right stands for ten times fewer slower requests. A steep rise means that some requests were delayed and others were not. {slices} {from}{failing}{}{left_out}",
                logarithmic(low, high)
            ),
            scene,
        })
    }

    /// Draws one curve. If requests failed, it gets a label at the vertical position `foot`, which
    /// is then moved down for the next label.
    fn curve(&self, scene: &mut Scene, frame: &Frame, curve: &QuantileCurve, foot: &mut f64) {
        let Some(server) = self.server(curve.subject) else { return };
        let ink = Ink::Subject(server);
        let mut places: Vec<Position> = curve.points.iter().map(|&p| frame.place(p)).collect();
        if curve.failed > 0.0 {
            let at = frame.across(-curve.failed.log10());
            let from = places.last().map_or(frame.bottom(), |last| last.1);
            places.extend([(at, from), (at, frame.top)]);
            let told = format!("{} failed", number::percent_fine(curve.failed));
            // The label is next to the end of the curve, on the side with enough space.
            let (across, anchor) = match at + text_width(&told, LETTERS) < frame.right() {
                true => (at + 4.0, Anchor::Start),
                false => (at - 4.0, Anchor::End),
            };
            scene.words((across, *foot), told, anchor, ink);
            *foot += 13.0;
        }
        scene.dashed(places, ink, 1.6, dashes(server));
    }

    /// Returns the slices that are drawn, each with the index of its server.
    fn slices(&self) -> impl Iterator<Item = (usize, &SliceTrace)> {
        self.figures.slices.iter().filter_map(|slice| Some((self.server(slice.subject)?, slice)))
    }

    /// Returns the time axis of the run; `None` if nothing is drawn.
    fn time(&self) -> Option<Axis> {
        let pieces = self.slices().flat_map(|(_, slice)| &slice.pieces);
        let last = pieces.map(|piece| piece.from + piece.seconds).reduce(f64::max)?;
        Some(Axis::of("time since the start", &Unit::Second, 0.0, last, false))
    }

    /// Returns the shaded bands as start and end times, and a sentence that explains them. Every
    /// second slice is shaded or, if there are many slices, every second block.
    fn bands(&self) -> (Vec<(f64, f64)>, &'static str) {
        let ends = |slices: &[&SliceTrace]| {
            let pieces = || slices.iter().flat_map(|slice| &slice.pieces);
            let [from, _] = range(pieces().map(|piece| piece.from));
            let [_, to] = range(pieces().map(|piece| piece.from + piece.seconds));
            (from, to)
        };
        let slices: Vec<&SliceTrace> = self.figures.slices.iter().collect();
        let every_second = |bands: Vec<(f64, f64)>| bands.into_iter().step_by(2).collect();
        if slices.len() <= MOST_BANDS {
            let bands = slices.chunks(1).map(ends).collect();
            return (every_second(bands), " Every second slice is shaded.");
        }
        let blocks: Vec<(f64, f64)> =
            slices.chunk_by(|a, b| a.block == b.block).map(ends).collect();
        match blocks.len() {
            0..=MOST_BANDS => (every_second(blocks), " Every second block is shaded."),
            _ => (Vec::new(), ""),
        }
    }

    /// Draws latency second by second; `None` if no request was answered.
    fn over_time(&self) -> Option<Chart> {
        let pieces = || self.slices().flat_map(|(_, slice)| &slice.pieces);
        let known = pieces().flat_map(|piece| piece.latency).filter(|value| value.is_finite());
        let [low, high] = range(known);
        if low > high {
            return None;
        }
        let (x, (bands, shaded)) = (self.time()?, self.bands());
        let y = Axis::of("latency", &Unit::Second, low, high, high > WIDE * low);
        let panel = |name: &&str| Panel { name: (*name).to_owned(), ink: Ink::Text, y: y.clone() };
        let rows = SHARES.iter().map(panel).collect();
        let scene = panels(&self.legend(), rows, PANEL, &x, |scene, frame, row| {
            shade(scene, frame, &bands);
            for (server, slice) in self.slices() {
                let middle = |piece: &SlicePiece| piece.from + piece.seconds / 2.0;
                let known = slice.pieces.iter().filter(|piece| piece.latency[row].is_finite());
                let places: Vec<Position> =
                    known.map(|piece| frame.place((middle(piece), piece.latency[row]))).collect();
                scene.dots(places.clone(), 1.3, Ink::Subject(server), 1.0);
                scene.line(places, Ink::Subject(server), 1.3);
            }
        });
        Some(Chart {
            name: "latency-over-time",
            title: "Latency over time".to_owned(),
            caption: format!(
                "Quantiles of the requests answered in {}, including the settling part of slices. Look for recurring peaks, slices that begin slow, and a server that gets slower from slice to slice.{shaded}{}",
                self.per_piece(),
                logarithmic(low, high)
            ),
            scene,
        })
    }

    fn per_piece(&self) -> String {
        match self.figures.seconds_per_piece {
            1 => "each second".to_owned(),
            n => format!("every {n} seconds"),
        }
    }

    /// Draws failures second by second, with one frame per kind. Returns `None` if nothing failed.
    fn failures(&self) -> Option<Chart> {
        let ways = &self.figures.ways[..self.figures.ways.len().min(MOST_WAYS)];
        if ways.is_empty() {
            return None;
        }
        let (x, (bands, shaded)) = (self.time()?, self.bands());
        let rate = |piece: &SlicePiece, way: usize| piece.failed[way] as f64 / piece.seconds;
        let rows = ways.iter().enumerate().map(|(way, name)| {
            let pieces = self.slices().flat_map(|(_, slice)| &slice.pieces);
            let most = pieces.map(|piece| rate(piece, way)).fold(0.0, f64::max);
            let y = Axis::of("failures each second", &Unit::One, 0.0, most.max(1.0), false);
            Panel { name: name.replace('_', " "), ink: Ink::Text, y }
        });
        let rows = rows.collect();
        let scene = panels(&self.legend(), rows, PANEL, &x, |scene, frame, way| {
            shade(scene, frame, &bands);
            for (server, slice) in self.slices() {
                for piece in slice.pieces.iter().filter(|piece| piece.failed[way] > 0) {
                    let (from, to) = (piece.from, piece.from + piece.seconds);
                    let top = frame.down(rate(piece, way));
                    // A minimum width keeps a single failure visible.
                    let (from, to) = (frame.across(from), frame.across(to));
                    let air = ((1.5 - (to - from)) / 2.0).max(0.0);
                    let corners = ((from - air, top), (to + air, frame.down(0.0)));
                    scene.rectangle(corners.0, corners.1, Ink::Subject(server), 1.0);
                }
            }
        });
        let more = match self.figures.ways.len() - ways.len() {
            0 => String::new(),
            n => format!(" {n} rarer kinds are in the table alone."),
        };
        Some(Chart {
            name: "failures-over-time",
            title: "Failures over time".to_owned(),
            caption: format!(
                "Number of requests that failed in {}, by kind, including the settling part of slices.{shaded}{more}",
                self.per_piece()
            ),
            scene,
        })
    }
}

/// Returns one frame per step, labeled if there are several steps, and the height of a frame.
fn rows<T>(steps: &[(String, T)], y: &Axis) -> (Vec<Panel>, f64) {
    let name = |name: &String| if steps.len() > 1 { name.clone() } else { String::new() };
    let panel = |(step, _): &(String, T)| Panel { name: name(step), ink: Ink::Text, y: y.clone() };
    (steps.iter().map(panel).collect(), if steps.len() > 1 { STEP } else { HEIGHT })
}

/// Returns a note on the number of steps that are not drawn; empty if all are drawn.
fn left_out(steps: usize) -> String {
    match steps.saturating_sub(MOST_STEPS) {
        0 => String::new(),
        n => format!(" {n} steps between these are not drawn."),
    }
}

/// Draws a dot for a tried rate that the server sustained, and a cross for one that it did not
/// sustain.
fn tried(scene: &mut Scene, (x, y): Position, own: &Try, ink: Ink) {
    const ARM: f64 = 2.6;
    if own.is_held {
        scene.dots(vec![(x, y)], 2.6, ink, 0.8);
    } else {
        let arms =
            [((x - ARM, y - ARM), (x + ARM, y + ARM)), ((x - ARM, y + ARM), (x + ARM, y - ARM))];
        scene.sticks(arms.to_vec(), ink, 1.2);
    }
}

fn logarithmic(low: f64, high: f64) -> &'static str {
    if high > WIDE * low { " The vertical axis is logarithmic." } else { "" }
}

fn shade(scene: &mut Scene, frame: &Frame, bands: &[(f64, f64)]) {
    for &(from, to) in bands {
        let (from, to) = (frame.across(from), frame.across(to));
        scene.rectangle((from, frame.top), (to, frame.bottom()), Ink::Quiet, 0.10);
    }
}

/// Returns the axis for the share of the requests. It is logarithmic in the share above, with ticks
/// at 50 %, 90 %, 99 %, 99.9 %, …
fn shares(requests: u64) -> Axis {
    let length = (requests as f64).log10().max(1.0);
    let mut ticks = vec![(2f64.log10(), "50 %".to_owned())];
    for nines in 1..=(length as u32) {
        let percent = match nines {
            1 => "90 %".to_owned(),
            2 => "99 %".to_owned(),
            n => format!("99.{} %", "9".repeat(n as usize - 2)),
        };
        ticks.push((f64::from(nines), percent));
    }
    Axis::with_ticks("share of the requests", 0.0, length * 1.02, ticks)
}
