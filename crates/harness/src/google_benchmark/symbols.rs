//! Finds the symbol that contains the code of a benchmark, from the names that the library's macros
//! give to the function and the benchmark.
//!
//! `BENCHMARK(BM_Sort)` measures a function of that name, whatever suffix the benchmark has
//! (`/100`, `/threads:2`). `BENCHMARK_F(Set, Find)` measures a method of the class
//! `Set_Find_Benchmark`, together with `SetUp` and `TearDown`, so the vtable of that class is used
//! as its symbol. For a template, all instances match, because a symbol does not contain the
//! arguments as they were written. A benchmark with captured arguments or a custom name has no
//! symbol. Names are mangled as in the Itanium C++ ABI, 5.1.

/// Mangled type of a benchmark function's only parameter, for functions in the user's namespaces
/// and in the library's namespace.
const STATE: [&str; 2] = ["RN9benchmark5StateE", "RNS_5StateE"];

/// Returns true if a symbol is the code that a benchmark of this name measures.
pub(super) fn is_code_of(benchmark: &str, symbol: &str) -> bool {
    let mut parts = benchmark.split('/');
    let name = parts.next().unwrap_or_default();
    let method = parts.clone().next().filter(|part| !is_setting(part));
    if !parts.skip(usize::from(method.is_some())).all(is_setting) {
        return false;
    }
    let (name, is_template) = match name.split_once('<') {
        Some((name, _)) => (name, true),
        None => (name, false),
    };
    let name = name.rsplit("::").next().unwrap_or_default();
    if let Some(method) = method {
        let class = format!("{name}_{method}_Benchmark");
        let table = symbol.strip_prefix("_ZTV").and_then(last_name);
        return table.is_some_and(|(own, rest)| own == class && matches!(rest, "" | "E"));
    }
    let Some((own, rest)) = symbol.strip_prefix("_Z").and_then(last_name) else { return false };
    let Some(before) = STATE.iter().find_map(|state| rest.strip_suffix(state)) else {
        return false;
    };
    own == name
        && match is_template {
            // Template arguments, followed by the return type.
            true => before.starts_with('I') && before.ends_with("Ev"),
            false => matches!(before, "" | "E"),
        }
}

/// Returns the name of a function without its namespaces and parameters; the symbol itself if it
/// cannot be demangled.
pub fn function_name(symbol: &str) -> &str {
    symbol.strip_prefix("_Z").and_then(last_name).map_or(symbol, |(name, _)| name)
}

/// Returns true if a part of a benchmark's name is a number, a name with a number (`threads:2`), or
/// a clock setting.
fn is_setting(part: &str) -> bool {
    let number = part.rsplit_once(':').map_or(part, |(_, number)| number);
    let number = number.strip_suffix('s').unwrap_or(number);
    matches!(part, "real_time" | "manual_time" | "process_time") || number.parse::<f64>().is_ok()
}

/// Returns the last component of the name at the start of a mangled symbol, and the remaining text.
fn last_name(mangled: &str) -> Option<(&str, &str)> {
    let nested = mangled.strip_prefix('N');
    let mut rest = nested.unwrap_or(mangled);
    let mut last = None;
    loop {
        // `L` marks a name with internal linkage.
        rest = rest.strip_prefix('L').unwrap_or(rest);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(length) = rest[..digits].parse::<usize>() else { return last };
        let name = rest.get(digits..digits + length)?;
        rest = &rest[digits + length..];
        last = Some((name, rest));
        if nested.is_none() {
            return last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_benchmark_is_the_function_that_its_macro_names() {
        let of = |benchmark: &str| -> Vec<&str> {
            let symbols = [
                "_Z7BM_SortRN9benchmark5StateE",
                "_ZL7BM_SortRN9benchmark5StateE",
                "_ZN12_GLOBAL__N_17BM_SortERN9benchmark5StateE",
                "_ZN9benchmark7BM_SortERNS_5StateE",
                "_ZN3ns17BM_SortERN9benchmark5StateE",
                "_Z17BM_SortBackwards2RN9benchmark5StateE",
                "_Z7BM_SortRN9benchmark5StateEi",
                "_Z7BM_SortIiEvRN9benchmark5StateE",
                "_Z7BM_SortISt6vectorIiSaIiEEEvRN9benchmark5StateE",
                "_ZTV18Set_Find_Benchmark",
                "_ZN18Set_Find_Benchmark13BenchmarkCaseERN9benchmark5StateE",
                "BM_Sort",
                "_Z",
                "_Z99BM_SortRN9benchmark5StateE",
            ];
            symbols.into_iter().filter(|symbol| is_code_of(benchmark, symbol)).collect()
        };
        assert_eq!(of("BM_Sort").len(), 5);
        assert_eq!(of("BM_Sort/100/threads:2/real_time"), of("BM_Sort"));
        assert_eq!(of("BM_Sort/min_time:0.500s/rows:-8"), of("BM_Sort"));
        assert_eq!(of("ns1::BM_Sort"), of("BM_Sort"));
        assert_eq!(of("BM_Sort<int>/8").len(), 2);
        assert_eq!(of("Set/Find/8"), ["_ZTV18Set_Find_Benchmark"]);
        // Names with captured arguments, and custom names.
        for none in ["BM_Sort/words", "BM_Sort/words/8/9x", "sorting", "", "BM_Sort<int>/a"] {
            assert!(of(none).is_empty(), "{none}: {:?}", of(none));
        }
    }
}
