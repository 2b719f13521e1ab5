//! The kinds of change that mutants are made of, from the harshest to the mildest, which is the order in which they are tried and shown. A test may notice a
//! milder one and miss a harsher one of the same place. The rewrites come last: they change the text and not the behaviour, so no test should notice
//! one.

use std::fmt;

/// What a mutant changes. Harsher ones come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// The body of a function is gone: it returns nothing, or what its type has for nothing.
    Body,
    /// A statement is gone.
    Statement,
    /// An exception is not raised.
    Raise,
    /// A loop is never entered.
    Loop,
    /// A handler hands on what it caught.
    Handler,
    /// A function returns nothing there, or what its type has for nothing.
    Return,
    /// What is assigned is nothing.
    Value,
    /// A call gives nothing.
    Call,
    /// A condition always holds, or never.
    Condition,
    /// A condition is turned round.
    Negation,
    /// A constant of logic is the other one.
    Boolean,
    /// And becomes or, or becomes and.
    Logic,
    /// A comparison becomes its opposite.
    Comparison,
    /// An operator of arithmetic or of bits becomes another one.
    Arithmetic,
    /// A sign or a negation is gone.
    Sign,
    /// A loop is left where it went on, or goes on where it was left.
    Jump,
    /// A text is empty, or is one where it was empty.
    Text,
    /// A number is one more.
    Number,
    /// A comparison takes its boundary in, or leaves it out.
    Boundary,
    /// A rewrite: a local variable has another name.
    Rename,
    /// A rewrite: a private function, which nobody uses but its own file, has another name.
    RenamePrivate,
    /// A rewrite: the sides of a comparison are swapped, and its sign with them.
    Mirror,
    /// A rewrite: the branches of a condition are swapped, and the condition is negated.
    Invert,
    /// A rewrite: two assignments that know nothing of each other are swapped.
    Reorder,
    /// A rewrite: what is returned is kept in a variable first.
    Extract,
    /// A rewrite: a constant stands where a variable held it.
    Inline,
}

impl Operator {
    /// Those that change what a program does, the harshest first.
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

    /// Those that do not.
    pub const REWRITES: [Self; 7] = [
        Self::Rename,
        Self::RenamePrivate,
        Self::Mirror,
        Self::Invert,
        Self::Reorder,
        Self::Extract,
        Self::Inline,
    ];

    /// Its name, for files and options.
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

    /// What was changed, as the end of a sentence that begins with the place.
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

    /// Whether it is the one mutant of a function that comes before all others.
    pub fn is_extreme(self) -> bool {
        self == Self::Body
    }

    /// Whether it means the same as what was there.
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
