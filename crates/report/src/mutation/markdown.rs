//! Undetected changes as a review comment: the score, a line for each file, and each survivor in
//! collapsed form, with its change, the tests that ran it and the advice. The first line is an
//! invisible marker by which the next run finds and edits the comment. Code and names come from the
//! user's sources, may contain arbitrary characters, and are escaped.

use super::advice::{self, Advice, Piece};
use super::survivor::Survivor;
use super::survivors;
use super::{basis, coupling, doubts, headline, others, percent};
use crate::charts::capital;
use crate::escape::{code, escaped};
use crate::markup;
use crate::names::clean;
use crate::words::counted;
use assay_analysis::mutation::Scores;
use assay_data::list;
use assay_data::mutation::Mutation;
use std::cmp::Reverse;

/// The marker in the first line.
const MARK: &str = "<!-- assay-mutate -->";
/// Maximum number of file rows.
const MOST_FILES: usize = 30;
/// Maximum number of survivors shown.
const MOST_SHOWN: usize = 30;
/// Maximum length in bytes. Forges reject comments that are much longer.
const LONGEST: usize = 55_000;
/// Maximum number of tests named.
const MOST_TESTS: usize = 5;

/// Renders the Markdown text. Every line ends with a newline, and the first line is the marker.
pub fn markdown(mutation: &Mutation, scores: &Scores) -> String {
    let sign = if scores.whole.missed == 0 { "✅" } else { "⚠️" };
    let mut text =
        format!("{MARK}\n{sign} **{}**\n\n", escaped(&headline(mutation, &scores.whole)));
    text += &files(mutation, scores);
    let all = survivors::of(mutation);
    let mut shown = 0;
    for own in all.iter().take(MOST_SHOWN) {
        let next = survivor(own);
        if text.len() + next.len() > LONGEST {
            break;
        }
        text += &next;
        shown += 1;
    }
    if shown < all.len() {
        text += &format!("… and {}.\n\n", counted(all.len() - shown, "more survivor"));
    }
    if let Some(all) = &scores.couplings {
        text += &format!("**{}**\n\n", escaped(&coupling::headline(all)));
        for sentence in coupling::sentences(mutation, all) {
            text += &format!("{}.\n\n", escaped(&sentence));
        }
    }
    for line in
        [others(mutation), doubts(mutation)].into_iter().chain(mutation.notes.iter().cloned())
    {
        if !line.is_empty() {
            text += &format!("{}.\n\n", escaped(&line));
        }
    }
    text + &format!("{}.\n", escaped(&basis(mutation)))
}

fn files(mutation: &Mutation, scores: &Scores) -> String {
    if mutation.files.is_empty() {
        return String::new();
    }
    let mut text = "| file | score | noticed | missed |\n|:--|--:|--:|--:|\n".to_owned();
    let mut order: Vec<usize> = (0..mutation.files.len().min(scores.files.len())).collect();
    order.sort_by_key(|file| Reverse(scores.files[*file].missed));
    for file in order.iter().take(MOST_FILES) {
        let score = &scores.files[*file];
        let share = score.share.map_or_else(|| "–".to_owned(), percent);
        let name = code(&mutation.files[*file].path);
        text += &format!(
            "| {name} | {share} | {} of {} | {} |\n",
            score.detected, score.known, score.missed
        );
    }
    let more = order.len().saturating_sub(MOST_FILES);
    if more > 0 {
        text += &format!("\n… and {}.\n", counted(more, "more file"));
    }
    text + "\n"
}

fn survivor(own: &Survivor<'_>) -> String {
    // Markdown is not interpreted within a summary, and mentions are not interpreted within code.
    let head = format!("{} {}", own.place(), own.unit.name);
    let mut text = format!(
        "<details><summary><code>{}</code>: {}</summary>\n\n",
        markup::escaped(&head),
        markup::escaped(&own.said())
    );
    if own.shows_change() {
        text += &fenced(&own.own.diff);
        text += &match own.tests() {
            Some(names) if !names.is_empty() => {
                let shown: Vec<String> =
                    names.iter().take(MOST_TESTS).map(|name| code(name)).collect();
                format!("Ran over it, and passed: {}.\n\n", list::counted(&shown, names.len()))
            }
            _ => format!("{}.\n\n", capital(&own.ran(0))),
        };
    }
    text + &format!("To notice it: {}.\n\n</details>\n\n", sentence(&advice::of(own)))
}

fn sentence(advice: &Advice) -> String {
    let piece = |own: &Piece| match own {
        Piece::Words(words) => (*words).to_owned(),
        Piece::Code(text) => code(text),
    };
    advice.iter().map(piece).collect()
}

/// Returns a change as a code block whose fence is longer than any run of backticks in the change.
fn fenced(diff: &str) -> String {
    let longest = diff.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let lines = diff.lines().map(|line| clean(&line.replace('\t', "    ")) + "\n");
    format!("{fence}diff\n{}{fence}\n\n", lines.collect::<String>())
}
