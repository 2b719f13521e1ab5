//! A table of a page.

/// A table: its headings, then rows whose first cell is their label.
pub(crate) struct Table {
    pub title: String,
    /// Note on the whole table; may be empty.
    pub told: String,
    pub heads: Vec<String>,
    pub rows: Vec<Row>,
    /// An additional CSS class, preceded by a space, or empty.
    pub kind: &'static str,
}

/// A row of a table, and the class of its last cell, which may be empty.
pub(crate) struct Row {
    pub cells: Vec<String>,
    pub tone: &'static str,
}

impl Table {
    /// Returns a table with all cells in one color.
    pub(crate) fn plain(title: String, heads: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        let rows = rows.into_iter().map(|cells| Row { cells, tone: "" }).collect();
        Self { title, told: String::new(), heads, rows, kind: "" }
    }
}
