//! A table of a page.

/// A table with headings. The first cell of each row is the row's label.
pub(crate) struct Table {
    pub title: String,
    /// Note on the whole table; may be empty.
    pub told: String,
    pub heads: Vec<String>,
    pub rows: Vec<Row>,
    /// An additional CSS class, preceded by a space, or empty.
    pub kind: &'static str,
}

/// A row of a table, with the CSS class of its last cell; the class may be empty.
pub(crate) struct Row {
    pub cells: Vec<String>,
    pub tone: &'static str,
}

impl Table {
    /// Leaves out columns that are empty in every row.
    pub(crate) fn without_empty_columns(mut self) -> Self {
        let is_used = |column: usize| {
            self.rows.iter().any(|row| row.cells.get(column).is_some_and(|cell| !cell.is_empty()))
        };
        let used: Vec<bool> = (0..self.heads.len()).map(is_used).collect();
        let kept = |cells: Vec<String>| -> Vec<String> {
            let cells = cells.into_iter().zip(&used);
            cells.filter_map(|(cell, is_used)| is_used.then_some(cell)).collect()
        };
        self.heads = kept(self.heads);
        for row in &mut self.rows {
            row.cells = kept(std::mem::take(&mut row.cells));
        }
        self
    }

    /// Creates a table whose cells all have the same color.
    pub(crate) fn plain(title: String, heads: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        let rows = rows.into_iter().map(|cells| Row { cells, tone: "" }).collect();
        Self { title, told: String::new(), heads, rows, kind: "" }
    }
}
