//! Resolves the names of metrics as users write them: with different capitalization, in the plural,
//! or as in other tools.

/// Names used by other tools, with the corresponding metric names.
const OTHER_NAMES: [(&str, &str); 12] = [
    ("walltime", "wall"),
    ("wall_time", "wall"),
    ("wall-time", "wall"),
    ("time", "wall"),
    ("elapsed", "wall"),
    ("real", "wall"),
    ("memory", "max_rss"),
    ("mem", "max_rss"),
    ("rss", "max_rss"),
    ("sys", "system"),
    ("page_faults", "minor_faults"),
    ("page-faults", "minor_faults"),
];

/// Returns the known metric that was probably meant by the unknown `name`.
pub fn meant<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase();
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
    let longer = format!("_{}", name.replace('.', "_"));
    let find = |is_meant: &dyn Fn(&str) -> bool| {
        known.iter().copied().find(|own| is_meant(&own.to_lowercase()))
    };
    let near = || {
        let distance = |own: &str| strsim::osa_distance(&own.to_lowercase(), &name);
        let near = known.iter().copied().filter(|own| name.len() > 2 && distance(own) <= 2);
        near.min_by_key(|own| distance(own))
    };
    find(&|own| own == name)
        .or_else(|| find(&|own| Some(own) == other))
        .or_else(|| find(&|own| own.ends_with(&longer)))
        .or_else(near)
}

/// Returns a message that there is no metric `name`, which suggests the one that was probably meant
/// and lists all known ones.
pub fn unknown(name: &str, known: &[&str]) -> String {
    let known = match (known, meant(name, known)) {
        ([only], _) => format!("the only one is `{only}`"),
        (all, None) => format!("the metrics are {}", all.join(", ")),
        (all, Some(meant)) => {
            format!("did you mean `{meant}`? The metrics are {}", all.join(", "))
        }
    };
    format!("there is no metric `{name}`; {known}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_metric_is_meant() {
        let known = ["wall", "cpu", "max_rss", "minor_faults", "major_faults", "p9", "p99"];
        for (name, right) in [
            ("Wall", Some("wall")),
            ("walls", Some("wall")),
            ("CPU", Some("cpu")),
            ("Walltime", Some("wall")),
            ("memory", Some("max_rss")),
            ("minor_fault", Some("minor_faults")),
            ("faults", Some("minor_faults")),
            ("p999", Some("p99")),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(meant(name, &known), right, "{name}");
        }
    }
}
