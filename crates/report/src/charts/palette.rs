//! Colors of charts: the palette of Okabe and Ito ("Color universal design", 2008), which people
//! with any form of color blindness can distinguish. The yellow is darker, so that it is visible on
//! white.
//!
//! Pages assign the same roles in their style sheet, with lighter variants in dark mode.

use super::scene::Ink;

/// Number of subject colors, after which they repeat.
pub const SUBJECTS: usize = 8;

type Rgb = (u8, u8, u8);

const ON_PAPER: [Rgb; SUBJECTS] = [
    (0x00, 0x72, 0xb2),
    (0xd5, 0x5e, 0x00),
    (0x00, 0x9e, 0x73),
    (0xcc, 0x79, 0xa7),
    (0xb8, 0x86, 0x00),
    (0x3a, 0x9b, 0xd9),
    (0x7a, 0x6a, 0x00),
    (0x44, 0x44, 0x44),
];

/// Returns the color of an ink on white.
pub fn on_paper(ink: Ink) -> Rgb {
    match ink {
        Ink::Text => (0x1c, 0x1c, 0x1e),
        Ink::Quiet => (0x5a, 0x5f, 0x66),
        Ink::Grid => (0xe3, 0xe5, 0xe8),
        Ink::Mark => (0x1c, 0x1c, 0x1e),
        Ink::Subject(index) => ON_PAPER[index % SUBJECTS],
    }
}

/// Formats the color for SVG and CSS.
pub fn hex((red, green, blue): Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
