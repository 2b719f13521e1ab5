//! The kinds of change made by mutants, from the most severe to the mildest, which is the order in
//! which they are tried and shown. A test may detect a milder change and miss a more severe one in
//! the same position. The rewrites come last: they change the text but not the behavior, so no test
//! should detect them.

use std::fmt;

/// The kind of change that a mutant makes. More severe kinds come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The body of a function is removed, so it returns nothing or the empty value of its type.
    Body,
    /// A statement is removed.
    Statement,
    /// An exception is not raised.
    Raise,
    /// A loop is never entered.
    Loop,
    /// An exception handler re-raises the exception that it caught.
    Handler,
    /// A `return` returns nothing, or the empty value of the function's type.
    Return,
    /// The empty value is assigned instead of the original one.
    Value,
    /// A call is replaced with the empty value.
    Call,
    /// A condition is always true, or always false.
    Condition,
    /// A condition is negated.
    Negation,
    /// A boolean constant is flipped.
    Boolean,
    /// A logical "and" is replaced with "or", or vice versa.
    Logic,
    /// A comparison is replaced with its opposite.
    Comparison,
    /// An arithmetic or bitwise operator is replaced with another one.
    Arithmetic,
    /// A sign or a negation is removed.
    Sign,
    /// `break` is replaced with `continue`, or vice versa.
    Jump,
    /// A string is emptied, or a word is put into an empty string.
    Text,
    /// A number is incremented.
    Number,
    /// A comparison includes its boundary instead of excluding it, or vice versa.
    Boundary,
    /// Rewrite: a local variable is renamed.
    Rename,
    /// Rewrite: a private function that is used only in its own file is renamed.
    RenamePrivate,
    /// Rewrite: the sides of a comparison are swapped, and its operator is mirrored.
    Mirror,
    /// Rewrite: the branches of a condition are swapped, and the condition is negated.
    Invert,
    /// Rewrite: two independent assignments are swapped.
    Reorder,
    /// Rewrite: a returned value is first stored in a variable.
    Extract,
    /// Rewrite: a variable is replaced with the constant that it holds.
    Inline,
}

impl Operator {
    /// The operators that change what a program does, most severe first.
    pub const ALL: [Self; 19] = [
        Self::Body,
        Self::Statement,
        Self::Raise,
        Self::Loop,
        Self::Handler,
        Self::Return,
        Self::Value,
        Self::Call,
        Self::Condition,
        Self::Negation,
        Self::Boolean,
        Self::Logic,
        Self::Comparison,
        Self::Arithmetic,
        Self::Sign,
        Self::Jump,
        Self::Text,
        Self::Number,
        Self::Boundary,
    ];

    /// The operators that do not change what a program does.
    pub const REWRITES: [Self; 7] = [
        Self::Rename,
        Self::RenamePrivate,
        Self::Mirror,
        Self::Invert,
        Self::Reorder,
        Self::Extract,
        Self::Inline,
    ];

    /// Returns the name for files and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Statement => "statement",
            Self::Raise => "raise",
            Self::Loop => "loop",
            Self::Handler => "handler",
            Self::Return => "return",
            Self::Value => "value",
            Self::Call => "call",
            Self::Condition => "condition",
            Self::Negation => "negation",
            Self::Boolean => "boolean",
            Self::Logic => "logic",
            Self::Comparison => "comparison",
            Self::Arithmetic => "arithmetic",
            Self::Sign => "sign",
            Self::Jump => "jump",
            Self::Text => "text",
            Self::Number => "number",
            Self::Boundary => "boundary",
            Self::Rename => "rename",
            Self::RenamePrivate => "rename-private",
            Self::Mirror => "mirror",
            Self::Invert => "invert",
            Self::Reorder => "reorder",
            Self::Extract => "extract",
            Self::Inline => "inline",
        }
    }

    /// Returns a description of the change, as the end of a sentence that begins with the position
    /// of the change.
    pub fn words(self) -> &'static str {
        match self {
            Self::Body => "the whole body is gone",
            Self::Statement => "a statement is gone",
            Self::Raise => "an exception is not raised",
            Self::Loop => "a loop is never entered",
            Self::Handler => "a handler raises again",
            Self::Return => "nothing is returned",
            Self::Value => "nothing is assigned",
            Self::Call => "a call gives nothing",
            Self::Condition => "a condition is fixed",
            Self::Negation => "a condition is negated",
            Self::Boolean => "true and false are swapped",
            Self::Logic => "and and or are swapped",
            Self::Comparison => "a comparison is reversed",
            Self::Arithmetic => "an operator is another one",
            Self::Sign => "a sign or a negation is gone",
            Self::Jump => "break and continue are swapped",
            Self::Text => "a text is another one",
            Self::Number => "a number is one more",
            Self::Boundary => "a boundary is off by one",
            Self::Rename => "a local variable has another name",
            Self::RenamePrivate => "a private function has another name",
            Self::Mirror => "the sides of a comparison are swapped",
            Self::Invert => "the branches of a condition are swapped",
            Self::Reorder => "two independent assignments are swapped",
            Self::Extract => "a result is kept in a variable first",
            Self::Inline => "a constant stands in place of its variable",
        }
    }

    /// Returns true for the operator that removes the whole body of a function, which comes before
    /// all others.
    pub fn is_extreme(self) -> bool {
        self == Self::Body
    }

    /// Returns true if the change does not affect what the program does.
    pub fn is_rewrite(self) -> bool {
        self >= Self::Rename
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_listed_from_the_harshest_on_under_different_names() {
        assert!(Operator::ALL.is_sorted());
        assert!(Operator::REWRITES.is_sorted());
        assert!(Operator::REWRITES.iter().all(|own| own.is_rewrite()));
        assert!(!Operator::ALL.iter().any(|own| own.is_rewrite()));
        let all = || Operator::ALL.iter().chain(&Operator::REWRITES);
        let mut names: Vec<&str> = all().map(|own| own.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
    }
}
