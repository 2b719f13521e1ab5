//! Tests of a store whose file is damaged: intact contents are recovered, and nothing is made up.

use super::*;

/// Damages a copy of the file and salvages it. Returns the outcome and the recovered texts, keyed
/// by the names of their runs.
fn saved_of(
    home: &Home,
    damage: impl FnOnce(&mut [u8]),
) -> (SalvagedStore, HashMap<String, Vec<u8>>) {
    let damaged = Home::new();
    let mut bytes = std::fs::read(home.path()).unwrap();
    damage(&mut bytes);
    std::fs::write(damaged.path(), bytes).unwrap();
    let mut texts = HashMap::new();
    let saved = salvage(&damaged.path(), |name, text| -> Result<(), StoreError> {
        texts.insert(name.to_owned(), text.to_vec());
        Ok(())
    });
    (saved.unwrap(), texts)
}

/// Creates a store of 60 runs, removes some of them and closes it. Returns the number of the root
/// page of its table of samples.
fn with_gaps(home: &Home) -> usize {
    let mut store = filled(home, 60);
    for run in store.log(PROJECT, usize::MAX).unwrap().iter().step_by(13) {
        store.remove(run).unwrap();
    }
    let root = "SELECT rootpage FROM sqlite_master WHERE name = 'samples'";
    usize::try_from(store.first::<i64>(root, &[]).unwrap().unwrap()).unwrap()
}

#[test]
fn a_damaged_store_gives_back_what_is_whole() {
    let home = Home::new();
    let root = with_gaps(&home);
    let (all, whole) = saved_of(&home, |_| {});
    assert_eq!((all, whole.len()), (SalvagedStore { runs: 55, lost: 0 }, 55));
    let pages = std::fs::metadata(home.path()).unwrap().len() as usize / 4096;
    assert!(pages > 30, "{pages}");
    // Overwrites the middle third of the pages.
    let third = pages / 3 * 4096;
    let (saved, texts) = saved_of(&home, |bytes| bytes[third..2 * third].fill(0xA5));
    assert!(saved.runs >= 10 && saved.lost > 0, "{saved:?}");
    // Removed runs may count as lost where the list of runs is damaged.
    assert!((55..=60).contains(&(saved.runs + saved.lost)), "{saved:?}");
    for text in texts.values() {
        assert!(assay_file::read_from(Cursor::new(text.clone()), "x").is_ok());
    }
    // Overwrites the root page of the samples, which contains no samples itself.
    let (saved, texts) = saved_of(&home, |bytes| bytes[(root - 1) * 4096..root * 4096].fill(0));
    assert_eq!((saved, &texts), (all, &whole));
    // Overwrites the first page, which lists the tables. Without it, the names of runs are unknown,
    // and also which of them were removed.
    let (saved, texts) = saved_of(&home, |bytes| bytes[..4096].fill(0xA5));
    assert!(saved.runs >= 55, "{saved:?}");
    assert!(whole.values().all(|text| texts.values().any(|saved| saved == text)));
}

#[test]
fn whatever_is_damaged_nothing_is_made_up() {
    let home = Home::new();
    with_gaps(&home);
    let (_, whole) = saved_of(&home, |_| {});
    let mut state = 20_u64;
    // Linear congruential generator with Knuth's constants. The numbers only have to vary and be
    // reproducible.
    let mut below = |most: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % most
    };
    for _ in 0..60 {
        let (_, texts) = saved_of(&home, |bytes| {
            for _ in 0..40 {
                let at = below(bytes.len());
                let length = 1 + below(64).min(bytes.len() - at - 1);
                bytes[at..at + length].iter_mut().for_each(|byte| *byte = below(256) as u8);
            }
        });
        let known = |text: &Vec<u8>| whole.values().any(|whole| whole == text);
        // Removed runs may reappear where the list of free pages is damaged.
        let parses = |text: &Vec<u8>| assay_file::read_from(Cursor::new(text.clone()), "x").is_ok();
        assert!(texts.values().all(|text| known(text) || parses(text)));
    }
}

#[test]
fn what_was_written_last_is_saved_from_the_log() {
    let home = Home::new();
    let store = filled(&home, 20);
    let copy = Home::new();
    for name in ["history.db", "history.db-wal"] {
        std::fs::copy(home.directory.path().join(name), copy.directory.path().join(name)).unwrap();
    }
    assert_eq!(store.count(PROJECT).unwrap(), 20);
    let saved = salvage(&copy.path(), |_, _| Ok::<(), StoreError>(()));
    assert_eq!(saved.unwrap(), SalvagedStore { runs: 20, lost: 0 });
}
