//! Tables of values for the placeholders of requests: CSV with a header, whose columns are separated
//! by commas, tabs or semicolons.

use super::{MOST, ReadingError};
use std::io::Read;

/// Reads the column names and the rows.
///
/// # Errors
/// If the file is not a valid table; includes the line.
pub fn values(mut file: impl Read) -> Result<(Vec<String>, Vec<Vec<String>>), ReadingError> {
    let wrong = |error: csv::Error| ReadingError(error.to_string());
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(|error| ReadingError(error.to_string()))?;
    let heading = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let separator = b",\t;".iter().find(|separator| heading.contains(separator));
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::Headers)
        .delimiter(*separator.unwrap_or(&b','))
        .from_reader(text.as_slice());
    let columns: Vec<String> = reader.headers().map_err(wrong)?.iter().map(str::to_owned).collect();
    if columns.iter().all(String::is_empty) {
        return Err(ReadingError(
            "line 1: the header with the names of the columns is missing".to_owned(),
        ));
    }
    let mut rows = Vec::new();
    for record in reader.records().take(MOST) {
        let record = record.map_err(wrong)?;
        let line = record.position().map_or(0, csv::Position::line);
        if record.iter().any(|field| field.chars().any(char::is_control)) {
            let why = format!(
                "line {line}: a value has a line break or another control character, which is not allowed in a request"
            );
            return Err(ReadingError(why));
        }
        rows.push(record.iter().map(str::to_owned).collect());
    }
    if rows.is_empty() {
        return Err(ReadingError("there is no row below the header".to_owned()));
    }
    Ok((columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_and_what_is_wrong_has_its_line() {
        let (columns, rows) = values(&b"id, name\n1,a\n2,\"b,c\"\n"[..]).expect("a table");
        assert_eq!(
            (columns, rows[1].clone()),
            (vec!["id".into(), "name".into()], vec!["2".into(), "b,c".into()])
        );
        for text in ["id\tname\n1\ta\n", "id;name\r\n1;a\r\n"] {
            let (columns, rows) = values(text.as_bytes()).expect("a table");
            assert_eq!((columns.len(), rows[0].join(" ")), (2, "1 a".to_owned()), "{text:?}");
        }
        for (text, said) in [
            ("", "line 1"),
            ("a\n", "no row"),
            ("a,b\n1\n", "line: 2"),
            ("a\n\"x\r\ny\"\n", "line 2"),
        ] {
            let error = values(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
