//! The languages whose files are cut into blocks: by which ending they are known, and which nodes of their grammars are what.

use std::path::Path;
use tree_sitter::Node;

/// A language that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Ruby
    Ruby,
    /// Python
    Python,
    /// JavaScript, with JSX
    JavaScript,
    /// TypeScript
    TypeScript,
    /// TypeScript with JSX
    Tsx,
    /// Go
    Go,
    /// Rust
    Rust,
}

/// What a node is to whoever cuts a file into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function or method: one block, with all that is within it.
    Function,
    /// A block of code that is handed to somebody (`describe … do`): a block, and so are those within it.
    Callback,
    /// What names those within it: a class, a module.
    Container,
    /// What does not count.
    Comment,
    /// All the rest.
    Other,
}

/// Names of Ruby's files that have no ending.
const RUBY_FILES: [&str; 5] = ["Rakefile", "Gemfile", "Guardfile", "Capfile", "config.ru"];

impl Language {
    /// That of a file, by its name.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        if RUBY_FILES.contains(&name) {
            return Some(Self::Ruby);
        }
        match path.extension()?.to_str()? {
            "rb" | "rake" | "gemspec" => Some(Self::Ruby),
            "py" => Some(Self::Python),
            "js" | "jsx" | "mjs" | "cjs" => Some(Self::JavaScript),
            "ts" | "mts" | "cts" => Some(Self::TypeScript),
            "tsx" => Some(Self::Tsx),
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            _ => None,
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }

    /// What a node is.
    pub(crate) fn kind(self, node: Node<'_>) -> Kind {
        let kind = node.kind();
        match (self, kind) {
            (_, "comment" | "line_comment" | "block_comment") => Kind::Comment,
            (Self::Ruby, "method" | "singleton_method") => Kind::Function,
            (Self::Ruby, "do_block" | "block" | "lambda") => Kind::Callback,
            (Self::Ruby, "class" | "module" | "singleton_class") => Kind::Container,
            (Self::Python, "function_definition") => Kind::Function,
            (Self::Python, "class_definition") => Kind::Container,
            (Self::JavaScript | Self::TypeScript | Self::Tsx, _) => javascript(node),
            (Self::Go, "function_declaration" | "method_declaration") => Kind::Function,
            (Self::Rust, "function_item") => Kind::Function,
            (Self::Rust, "mod_item" | "impl_item" | "trait_item") => Kind::Container,
            _ => Kind::Other,
        }
    }

    /// Whether a comment tells the language something.
    pub(crate) fn is_directive(self, comment: &str) -> bool {
        match self {
            Self::Ruby => {
                let text = comment.to_ascii_lowercase();
                ["frozen_string_literal", "coding", "warn_indent", "shareable_constant_value"]
                    .iter()
                    .any(|word| text.contains(word))
            }
            Self::Python => comment.contains("coding"),
            Self::Go => comment.starts_with("//go:") || comment.starts_with("// +build"),
            Self::JavaScript | Self::TypeScript | Self::Tsx => {
                // What jest and vitest read: the environment of a file.
                comment.contains("@jest-") || comment.contains("@vitest-")
            }
            Self::Rust => false,
        }
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
