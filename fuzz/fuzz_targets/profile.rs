//! Reads profiles of any format; a profile that was read can be counted, compared with itself and
//! written, and the result can be read again.
#![no_main]

use assay_profiles::difference::{Change, Difference};
use assay_profiles::export::Format;
use assay_profiles::shares::Shares;
use assay_profiles::tree::Tree;
use assay_profiles::{checks, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(profile) = import::load_bytes(bytes, "fuzzed") else { return };
    let shares = Shares::of(&profile, 0.95);
    assert!(
        shares.functions.iter().all(|f| (0.0..=1.0).contains(&f.flat) && f.flat <= f.cum + 1e-9)
    );
    let _findings = checks::findings(&profile);
    if let Ok(found) = Difference::of(&profile, &profile, 0.95) {
        assert!(found.rows.iter().all(|row| row.change == Change::Unknown));
    }
    let nodes = Tree::of_two(&profile, &profile, 100);
    assert!(nodes.iter().all(|node| node.amounts[0] == node.amounts[1]));
    for format in
        [Format::Text, Format::Collapsed, Format::Pprof, Format::Speedscope, Format::Firefox]
    {
        let written = format.write(&profile).expect("packing works in memory");
        if matches!(format, Format::Pprof) && profile.samples() > 0 {
            import::load_bytes(&written, "written").expect("what was written is read");
        }
    }
});
