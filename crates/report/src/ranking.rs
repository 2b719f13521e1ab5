//! The ranking of three or more commands, which is the first line of the terminal report, of
//! Markdown and of a page.

use crate::label::wording;
use crate::number;
use crate::scan;
use crate::words::quoted;
use assay_analysis::Analysis;
use assay_analysis::ranking::{Rank, ranking};
use assay_data::list;

/// Returns `ranking: 1. c; 2. a, 1.3 × as long; 3. b and d, 1.5 × as long, no clear order`, or
/// `None` if there is no ranking. `names` are the display names of the subjects.
pub(crate) fn line(analysis: &Analysis, names: &[String]) -> Option<String> {
    if scan::shows(analysis) {
        return None;
    }
    let words = wording(&analysis.metrics[analysis.primary]);
    let measure = if words.is_time { "as long".to_owned() } else { format!("the {}", words.whole) };
    let told = |(place, Rank { subjects, ratio }): (usize, &Rank)| {
        let names: Vec<String> = subjects.iter().map(|&own| quoted(&names[own])).collect();
        let mut told = format!("{}. {}", place + 1, list::all(&names));
        if place > 0 {
            let decimals = if (0.9..1.1).contains(ratio) || *ratio < 0.1 { 2 } else { 1 };
            told += &format!(", {} × {measure}", number::fixed(*ratio, decimals));
        }
        if subjects.len() > 1 {
            told += ", no clear order";
        }
        told
    };
    let ranks: Vec<String> = ranking(analysis)?.iter().enumerate().map(told).collect();
    Some(format!("ranking: {}", ranks.join("; ")))
}
