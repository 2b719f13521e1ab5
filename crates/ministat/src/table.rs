//! Writes the whole output: the names, the plot, and the table with its comparisons.

use crate::Flavour;
use crate::comparison;
use crate::dataset::{Dataset, SYMBOLS};
use crate::options::Options;
use crate::percent_g::percent_g;
use crate::plot::Plot;
use std::io::{self, Write};

/// Writes the whole output.
pub(crate) fn write(
    sets: &[Dataset],
    options: &Options,
    plot: Option<&Plot>,
    flavour: Flavour,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !options.quiet {
        for (set, symbol) in sets.iter().zip(&SYMBOLS[1..]) {
            out.write_all(&[*symbol, b' '])?;
            out.write_all(&set.name)?;
            out.write_all(b"\n")?;
        }
    }
    if let Some(plot) = plot {
        plot.write(out)?;
    }
    if !options.quiet {
        out.write_all(
            b"    N           Min           Max        Median           Avg        Stddev\n",
        )?;
    }
    for (place, (set, symbol)) in sets.iter().zip(&SYMBOLS[1..]).enumerate() {
        write!(out, "{} {:>3}", char::from(*symbol), set.points.len())?;
        for value in [set.smallest(), set.largest(), set.median, set.average, set.deviation] {
            write!(out, " {:>13}", percent_g(value, 8))?;
        }
        out.write_all(b"\n")?;
        if place > 0 && !options.summary_only {
            comparison::write(set, &sets[0], options.level, flavour, out)?;
        }
    }
    out.flush()
}
