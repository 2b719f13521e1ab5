//! The mutation table of Rust.

use super::*;

pub(super) static RUST: Table = Table {
    entries: &[&[
        entry(Statement, &["expression_statement"], Change::Whole(";")).of(&[
            "call_expression",
            "assignment_expression",
            "compound_assignment_expr",
            "await_expression",
            "try_expression",
        ]),
        entry(Loop, &["while_expression"], Change::Field("condition", "false")),
        entry(Return, &["return_expression"], Change::Returned),
        entry(Condition, &["if_expression"], Change::Field("condition", "true")),
        entry(Condition, &["if_expression"], Change::Field("condition", "false")),
        entry(Negation, &["if_expression"], Change::Field("condition", "!({})")),
        entry(Negation, &["match_pattern"], Change::Field("condition", "!({})")),
        entry(Boolean, &["boolean_literal"], BOOLEAN),
        entry(Logic, &["binary_expression"], LOGIC),
        entry(Comparison, &["binary_expression"], COMPARISON),
        entry(Arithmetic, &["binary_expression", "compound_assignment_expr"], ARITHMETIC),
        entry(Sign, &["unary_expression"], Change::Unwrap),
        entry(Jump, &["break_expression", "continue_expression"], LEAVE),
        entry(Text, &["string_literal"], Change::Quoted),
        entry(Number, &["integer_literal", "float_literal"], Change::Increment),
        entry(Boundary, &["binary_expression"], BOUNDARY),
        entry(Boundary, &["range_expression"], Change::Word(&[("..", "..="), ("..=", "..")])),
    ]],
    passed: &[
        "line_comment",
        "block_comment",
        "attribute_item",
        "inner_attribute_item",
        "macro_invocation",
        "macro_definition",
        "type_arguments",
        "array_type",
        "use_declaration",
        "const_item",
    ],
    calls: &[("call_expression", "function")],
    comment: "//",
};
