//! The table of `pprof --text`, identical to the output of google-pprof and perftools.rb: samples
//! in the function itself, their share, the running total of the shares, samples including called
//! functions, their share, the name. Sorted by the first column, then by name.
//!
//! Totals are rounded, not summed from rounded values. Amounts that were timed instead of sampled
//! are in milliseconds.

use crate::functions::Functions;
use crate::model::Profile;
use std::fmt::Write;

pub(super) fn write(profile: &Profile) -> String {
    let sampled = profile.samples() > 0;
    let (total, unit) = match sampled {
        true => (profile.samples(), "samples"),
        false => ((profile.amount() * 1e3).round() as u64, "milliseconds"),
    };
    let mut rows: Vec<(u64, u64, String)> = Functions::of(profile)
        .list
        .into_iter()
        .map(|f| match sampled {
            true => (f.flat_samples, f.cum_samples, f.name),
            false => {
                ((f.flat_amount * 1e3).round() as u64, (f.cum_amount * 1e3).round() as u64, f.name)
            }
        })
        .collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.2.cmp(&b.2)));
    let mut text = format!("Total: {total} {unit}\n");
    let percent = |part: u64| match total {
        0 => "0.0%".to_owned(),
        _ => format!("{:.1}%", part as f64 * 100.0 / total as f64),
    };
    let mut sum = 0u64;
    for (flat, cum, name) in rows {
        sum = sum.saturating_add(flat);
        let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        // Writing to a string cannot fail.
        let _never = writeln!(
            text,
            "{flat:8} {:>6} {:>6} {cum:8} {:>6} {name}",
            percent(flat),
            percent(sum),
            percent(cum)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::load_bytes;

    #[test]
    fn it_is_the_table_of_the_classic() {
        let profile =
            load_bytes(b"_start;main;squares 12\n_start;main;sums;squares 25\n", "x").unwrap();
        // The columns that google-pprof --text printed for such a profile.
        assert_eq!(
            write(&profile),
            "Total: 37 samples\n\
             \u{20}     37 100.0% 100.0%       37 100.0% squares\n\
             \u{20}      0   0.0% 100.0%       37 100.0% _start\n\
             \u{20}      0   0.0% 100.0%       37 100.0% main\n\
             \u{20}      0   0.0% 100.0%       25  67.6% sums\n"
        );
    }

    #[test]
    fn sums_are_rounded_from_the_exact_ones() {
        // 271 and 58 of 596 are 45.5 % and 9.7 %, and 55.2 % together by their exact sum.
        let profile = load_bytes(b"garbage_collector 271\npbkdf2 58\nrest 267\n", "x").unwrap();
        let text = write(&profile);
        assert!(
            text.contains("     271  45.5%  45.5%      271  45.5% garbage_collector\n"),
            "{text}"
        );
        assert!(text.contains("      58   9.7% 100.0%       58   9.7% pbkdf2\n"), "{text}");
    }
}
