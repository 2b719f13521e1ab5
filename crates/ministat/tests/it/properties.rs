//! For any arguments and bytes, it terminates, and a run with an error prints only the error.

#![allow(clippy::unwrap_used)]

use assay_ministat::{Ending, Flavour, Opened, Surroundings, Terminal, run};
use proptest::prelude::*;
use std::ffi::OsString;
use std::io::{self, Cursor};

/// More than any of these runs should print; beyond it the writer refuses.
const ENOUGH: usize = 1 << 22;

fn outcome(
    args: &[OsString],
    data: &[u8],
    flavour: Flavour,
    columns: Option<u16>,
) -> Option<(Ending, Vec<u8>)> {
    let data = data.to_vec();
    let open = move |_: assay_ministat::Source<'_>| {
        Ok(Opened { reader: Box::new(Cursor::new(data.clone())), is_regular: false })
    };
    let mut around = Surroundings::new(flavour, &open);
    around.terminal = columns.map(|columns| Terminal { columns_variable: None, columns });
    let mut printed = Limited(Vec::new());
    let ending = run(args, &around, &mut printed).ok()?;
    Some((ending, printed.0))
}

struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > ENOUGH {
            return Err(io::Error::other("that is enough"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn flavour() -> impl Strategy<Value = Flavour> {
    prop_oneof![Just(Flavour::Of2015), Just(Flavour::Of2025)]
}

fn argument() -> impl Strategy<Value = OsString> {
    prop_oneof![
        "-[AnqsCcdw]{1,3}",
        "-w(-?[0-9]{1,12}|x)",
        "-c(80|90|95|98|99|99.5|97|nan)",
        "-C[0-9]{1,10}",
        "-d.{0,3}",
        "[a-z-]{0,2}",
        "\\PC{0,5}",
    ]
    .prop_map(OsString::from)
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "-?[0-9]{1,4}(\\.[0-9]{1,3})?".prop_map(String::into_bytes),
        1 => "(-?inf|-?nan|1e308|-1e308|1e-320|0x1p-1074|1e150|-0)".prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..20),
        1 => any::<f64>().prop_map(|value| value.to_string().into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn whatever_it_is_given_it_ends_by_itself(
        args in proptest::collection::vec(argument(), 0..5),
        lines in proptest::collection::vec(line(), 0..30),
        flavour in flavour(),
        columns in proptest::option::of(0_u16..200),
    ) {
        if let Some((ending, printed)) = outcome(&args, &lines.join(&b'\n'), flavour, columns) {
            prop_assert_eq!(ending.status == 0, ending.stderr.is_empty());
            prop_assert!(ending.status == 0 || printed.is_empty());
            prop_assert!(ending.status <= 2);
        }
    }

    #[test]
    fn numbers_alone_are_always_a_result_without_a_plot(
        numbers in proptest::collection::vec(-1e6_f64..1e6, 3..40),
        flavour in flavour(),
    ) {
        let text: String = numbers.iter().map(|number| format!("{number}\n")).collect();
        let (ending, printed) = outcome(&["-A".into()], text.as_bytes(), flavour, None).unwrap();
        prop_assert_eq!(ending.status, 0);
        prop_assert!(String::from_utf8(printed).unwrap().starts_with("x <stdin>\n"));
    }
}
