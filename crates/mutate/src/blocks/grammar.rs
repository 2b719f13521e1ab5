//! The grammars of the languages, and the classification of their nodes.

use assay_suites::coverage::Language;
use tree_sitter::Node;

/// The role of a node when a file is divided into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function or method, which is one block including everything in it.
    Function,
    /// A block of code passed to a call (`describe … do`), which may contain other blocks.
    Callback,
    /// A class or module. Its name qualifies the names within it.
    Container,
    /// A comment, which is ignored.
    Comment,
    /// Everything else.
    Other,
}

/// Returns the grammar of a language.
pub fn grammar(language: Language) -> tree_sitter::Language {
    match language {
        Language::Ruby => tree_sitter_ruby::LANGUAGE.into(),
        Language::Python => tree_sitter_python::LANGUAGE.into(),
        Language::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
        Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
        Language::Go => tree_sitter_go::LANGUAGE.into(),
        Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        Language::C => tree_sitter_c::LANGUAGE.into(),
        Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        Language::Java => tree_sitter_java::LANGUAGE.into(),
    }
}

/// Returns the kind of a node.
pub fn kind(language: Language, node: Node<'_>) -> Kind {
    let kind = node.kind();
    match (language, kind) {
        (_, "comment" | "line_comment" | "block_comment") => Kind::Comment,
        (Language::Ruby, "method" | "singleton_method") => Kind::Function,
        (Language::Ruby, "do_block" | "block" | "lambda") => Kind::Callback,
        (Language::Ruby, "class" | "module" | "singleton_class") => Kind::Container,
        (Language::Python, "function_definition") => Kind::Function,
        (Language::Python, "class_definition") => Kind::Container,
        (Language::JavaScript | Language::TypeScript | Language::Tsx, _) => javascript(node),
        (Language::Go, "function_declaration" | "method_declaration") => Kind::Function,
        (Language::Rust, "function_item") => Kind::Function,
        (Language::Rust, "mod_item" | "impl_item" | "trait_item") => Kind::Container,
        (Language::C | Language::Cpp, "function_definition") => Kind::Function,
        (Language::Cpp, "class_specifier" | "struct_specifier" | "namespace_definition") => {
            Kind::Container
        }
        (
            Language::Java,
            "method_declaration" | "constructor_declaration" | "compact_constructor_declaration",
        ) => Kind::Function,
        (
            Language::Java,
            "class_declaration"
            | "interface_declaration"
            | "enum_declaration"
            | "record_declaration",
        ) => Kind::Container,
        _ => Kind::Other,
    }
}

/// Returns true if a comment is a directive that the language or a test framework interprets.
pub(crate) fn is_directive(language: Language, comment: &str) -> bool {
    match language {
        Language::Ruby => {
            let text = comment.to_ascii_lowercase();
            ["frozen_string_literal", "coding", "warn_indent", "shareable_constant_value"]
                .iter()
                .any(|word| text.contains(word))
        }
        Language::Python => comment.contains("coding"),
        Language::Go => comment.starts_with("//go:") || comment.starts_with("// +build"),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            // Directives of jest and vitest that select the environment of a file.
            comment.contains("@jest-") || comment.contains("@vitest-")
        }
        Language::Rust | Language::C | Language::Cpp | Language::Java => false,
    }
}

fn javascript(node: Node<'_>) -> Kind {
    match node.kind() {
        "function_declaration" | "generator_function_declaration" | "method_definition" => {
            Kind::Function
        }
        "class_declaration" | "class" => Kind::Container,
        "arrow_function" | "function_expression" | "generator_function" => {
            match node.parent().map(|parent| parent.kind()) {
                Some("arguments") => Kind::Callback,
                _ => Kind::Function,
            }
        }
        _ => Kind::Other,
    }
}
