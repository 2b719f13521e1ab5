//! Determines the empty value that a function returns from its language and its declared type.
//! Types are interpreted as they are written. If the interpretation is wrong, the compiler rejects
//! the mutant.

use assay_suites::coverage::Language;
use tree_sitter::Node;

/// What a function returns if it does nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EmptyResult {
    /// The function returns no value.
    Empty,
    /// The function returns the empty value that this expression gives.
    Value(String),
    /// The empty value is unknown.
    Unknown,
}

fn value(text: impl Into<String>) -> EmptyResult {
    EmptyResult::Value(text.into())
}

/// Returns what a function returns if it does nothing.
pub(crate) fn of(language: Language, function: Node<'_>, text: &[u8]) -> EmptyResult {
    let words = |node: Node<'_>| {
        let bytes = text.get(node.byte_range()).unwrap_or_default();
        String::from_utf8_lossy(bytes).into_owned()
    };
    let field = |name: &str| function.child_by_field_name(name);
    match language {
        Language::Ruby => value("nil"),
        Language::Python => value("None"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => value("undefined"),
        Language::Go => field("result").map_or(EmptyResult::Empty, |result| of_go(result, &words)),
        Language::Rust if function.kind() == "closure_expression" => value("Default::default()"),
        Language::Rust => {
            field("return_type").map_or(EmptyResult::Empty, |own| of_rust(&words(own)))
        }
        Language::C | Language::Cpp => of_c(language, function, &words),
        Language::Java => match field("type") {
            None if function.kind() == "lambda_expression" => EmptyResult::Unknown,
            None => EmptyResult::Empty,
            Some(own) => match own.kind() {
                "void_type" => EmptyResult::Empty,
                "boolean_type" => value("false"),
                "integral_type" | "floating_point_type" => value("0"),
                _ => value("null"),
            },
        },
    }
}

fn of_go(result: Node<'_>, words: &impl Fn(Node<'_>) -> String) -> EmptyResult {
    if result.kind() != "parameter_list" {
        return value(of_go_type(&words(result)));
    }
    let mut cursor = result.walk();
    let mut all = Vec::new();
    for own in result.named_children(&mut cursor).filter(|own| own.kind() != "comment") {
        let Some(kind) = own.child_by_field_name("type") else { return EmptyResult::Unknown };
        let mut names = own.walk();
        let count = own.children_by_field_name("name", &mut names).count().max(1);
        all.extend(std::iter::repeat_n(of_go_type(&words(kind)), count));
    }
    if all.is_empty() { EmptyResult::Empty } else { value(all.join(", ")) }
}

fn of_go_type(kind: &str) -> String {
    const NUMBERS: [&str; 16] = [
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "uintptr",
        "float32",
        "float64",
        "byte",
        "rune",
        "complex128",
    ];
    let kind = kind.trim();
    if NUMBERS.contains(&kind) {
        return "0".to_owned();
    }
    match kind {
        "string" => "\"\"".to_owned(),
        "bool" => "false".to_owned(),
        "error" | "any" => "nil".to_owned(),
        _ if ["*", "[]", "map[", "chan ", "func(", "interface{"]
            .iter()
            .any(|own| kind.starts_with(own)) =>
        {
            "nil".to_owned()
        }
        // Every type has a zero value.
        _ => format!("*new({kind})"),
    }
}

fn of_rust(kind: &str) -> EmptyResult {
    let kind = kind.trim();
    let name = kind.split(['<', ' ']).next().unwrap_or_default();
    let name = name.rsplit("::").next().unwrap_or_default();
    match name {
        "()" => EmptyResult::Empty,
        "!" | "impl" => EmptyResult::Unknown,
        "bool" => value("false"),
        "Option" => value("None"),
        "Result" if kind.contains("<()") || kind.ends_with("Result") => value("Ok(())"),
        "Result" => value("Ok(Default::default())"),
        _ if kind == "&str" || kind == "&'static str" => value("\"\""),
        _ if kind.starts_with("&mut") => value("Box::leak(Box::default())"),
        _ if kind.starts_with('&') && kind.contains('[') => value("&[]"),
        _ if kind.starts_with('&') => value("Box::leak(Box::default())"),
        _ => value("Default::default()"),
    }
}

fn of_c(
    language: Language,
    function: Node<'_>,
    words: &impl Fn(Node<'_>) -> String,
) -> EmptyResult {
    if function.kind() == "lambda_expression" {
        return EmptyResult::Unknown;
    }
    // Constructors have no type.
    let Some(mut kind) = function.child_by_field_name("type") else { return EmptyResult::Empty };
    let (mut is_pointer, mut is_reference) = (false, false);
    // A macro around a type adds attributes to it: `PUBLIC(const char *) name(void)`.
    if kind.kind() == "macro_type_specifier"
        && let Some(own) = kind.child_by_field_name("type")
    {
        is_pointer = own.child_by_field_name("declarator").is_some();
        kind = own.child_by_field_name("type").unwrap_or(own);
    }
    let kind = words(kind);
    let mut declarator = function.child_by_field_name("declarator");
    while let Some(own) = declarator.filter(|own| own.kind() != "function_declarator") {
        is_pointer |= own.kind() == "pointer_declarator";
        is_reference |= own.kind() == "reference_declarator";
        let first = own.named_child(0);
        declarator = own.child_by_field_name("declarator").or(first);
    }
    const PLAIN: [&str; 14] = [
        "int", "char", "long", "short", "unsigned", "signed", "float", "double", "size_t", "bool",
        "_Bool", "ssize_t", "int64_t", "uint64_t",
    ];
    let is_plain = kind.split_whitespace().all(|word| PLAIN.contains(&word));
    match language {
        _ if is_reference => EmptyResult::Unknown,
        _ if kind == "void" && !is_pointer => EmptyResult::Empty,
        Language::Cpp => value("{}"),
        _ if is_pointer || is_plain => value("0"),
        _ => value(format!("({kind}){{0}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_say_what_is_nothing() {
        for (kind, nothing) in [
            ("int", "0"),
            ("string", "\"\""),
            ("error", "nil"),
            ("[]byte", "nil"),
            ("map[string]int", "nil"),
            ("*T", "nil"),
            ("[4]int", "*new([4]int)"),
            ("time.Time", "*new(time.Time)"),
        ] {
            assert_eq!(of_go_type(kind), nothing);
        }
        for (kind, nothing) in [
            ("bool", "false"),
            ("Option<u8>", "None"),
            ("io::Result<()>", "Ok(())"),
            ("Result<String, Error>", "Ok(Default::default())"),
            ("&str", "\"\""),
            ("Vec<u8>", "Default::default()"),
        ] {
            assert_eq!(of_rust(kind), value(nothing));
        }
        assert_eq!(of_rust("!"), EmptyResult::Unknown);
        assert_eq!(of_rust("impl Iterator<Item = u8>"), EmptyResult::Unknown);
    }

    #[test]
    fn a_macro_around_a_type_of_c_is_left_out() {
        let text = b"P(const char *) a(void) { return b; }\nP(void) c(void) { b(); }\nP(flag) d(void) { return 1; }\n";
        let found = crate::mutants::Generator::new(Language::C).unwrap().mutants("a.c", text);
        let bodies: Vec<_> = found.all.iter().map(|own| own.replacement.as_str()).collect();
        for body in ["{ return 0; }", "{}", "{ return (flag){0}; }"] {
            assert!(bodies.contains(&body), "{bodies:?}");
        }
    }
}
