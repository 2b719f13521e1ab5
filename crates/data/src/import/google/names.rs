//! Parses the name of a benchmark as Google Benchmark prints it: base name, arguments, and settings
//! of the library.

/// Settings that the library appends to a name with their value. They describe the measurement and
/// not the benchmark.
const SETTINGS: [&str; 4] = ["iterations", "min_time", "min_warmup_time", "repeats"];
/// Settings that the library appends as a single word.
const FLAGS: [&str; 3] = ["manual_time", "process_time", "real_time"];

/// Returns the base name and the arguments of `name`. Arguments without a name (unlike `w:8`) are
/// named by their position among such arguments, counted from 1. `threads:2` is an argument like
/// any other.
pub(super) fn take_apart(name: &str) -> (&str, Vec<(String, String)>) {
    let mut parts = parts(name);
    let base = parts.next().unwrap_or(name);
    let mut unnamed = 0;
    let mut parameters = Vec::new();
    for part in parts.filter(|part| !FLAGS.contains(part)) {
        match part.split_once(':').filter(|(key, _)| !key.is_empty()) {
            Some((key, _)) if SETTINGS.contains(&key) => {}
            Some((key, value)) => parameters.push((key.to_owned(), value.to_owned())),
            None => {
                unnamed += 1;
                parameters.push((unnamed.to_string(), part.to_owned()));
            }
        }
    }
    (base, parameters)
}

/// Splits a name at slashes, except those within the brackets of template arguments or of a
/// captured expression.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    name.split(move |c| {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = (depth - 1).max(0),
            _ => {}
        }
        c == '/' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(name: &str) -> (&str, String) {
        let (base, parameters) = take_apart(name);
        let shown = parameters.iter().map(|(key, value)| format!("{key}={value}"));
        (base, shown.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn arguments_are_told_from_settings() {
        assert_eq!(apart("BM/params:2"), ("BM", "params=2".into()));
        assert_eq!(apart("BM/64/w:8/3"), ("BM", "1=64 w=8 2=3".into()));
        assert_eq!(apart("BM/real_time/threads:2"), ("BM", "threads=2".into()));
        assert_eq!(
            apart("BM/8/iterations:20/repeats:3/min_time:0.500/manual_time"),
            ("BM", "1=8".into())
        );
        assert_eq!(apart("Templ<a/b, int>/5"), ("Templ<a/b, int>", "1=5".into()));
        assert_eq!(apart(""), ("", String::new()));
    }
}
