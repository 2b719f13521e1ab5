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
    /// C
    C,
    /// C++
    Cpp,
    /// Java
    Java,
}

/// What a node is to whoever cuts a file into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Ruby,
        Self::Python,
        Self::JavaScript,
        Self::TypeScript,
        Self::Tsx,
        Self::Go,
        Self::Rust,
        Self::C,
        Self::Cpp,
        Self::Java,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ruby => "Ruby",
            Self::Python => "Python",
            Self::JavaScript => "JavaScript",
            Self::TypeScript | Self::Tsx => "TypeScript",
            Self::Go => "Go",
            Self::Rust => "Rust",
            Self::C => "C",
            Self::Cpp => "C++",
            Self::Java => "Java",
        }
    }

    /// That of a file, by its name, also where it is one of those that nobody sees used: a file of C or Java is no source to who chooses tests.
    pub fn of_source(path: &Path) -> Option<Self> {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("c" | "h") => Some(Self::C),
            Some("cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx") => Some(Self::Cpp),
            Some("java") => Some(Self::Java),
            _ => Self::of(path),
        }
    }

    /// That of a file whose use by tests can be seen, by its name.
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

    /// What reads it.
    pub fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Ruby => tree_sitter_ruby::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
        }
    }

    /// What a node is.
    pub fn kind(self, node: Node<'_>) -> Kind {
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
            (Self::C | Self::Cpp, "function_definition") => Kind::Function,
            (Self::Cpp, "class_specifier" | "struct_specifier" | "namespace_definition") => {
                Kind::Container
            }
            (
                Self::Java,
                "method_declaration"
                | "constructor_declaration"
                | "compact_constructor_declaration",
            ) => Kind::Function,
            (
                Self::Java,
                "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration",
            ) => Kind::Container,
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
            Self::Rust | Self::C | Self::Cpp | Self::Java => false,
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
