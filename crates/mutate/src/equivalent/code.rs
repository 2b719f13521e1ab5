//! Parses the code that a compiler generated for functions from its listing, and compares a
//! function's code in two compilations. Nothing is run here.
//!
//! The code consists of blocks that refer to one another. A block is a section in assembler text,
//! or a symbol in Go's listing. Two blocks are the same if their texts are the same and the blocks
//! that they refer to are the same. Writable blocks are also identified by name, since two
//! variables with the same contents are distinct. The names and numbers of code and read-only data
//! are irrelevant because each compilation assigns them anew.

use std::collections::{HashMap, HashSet};

/// The code of a package.
#[derive(Debug, Default)]
pub(super) struct Code {
    blocks: Vec<Block>,
    /// Each name's block, and the position of the name among the names of that block.
    names: HashMap<String, (usize, usize)>,
}

#[derive(Debug, Default)]
struct Block {
    /// The block's text. References to other blocks are replaced by [`ELSEWHERE`], and the block's
    /// own names by [`HERE`] and their index.
    text: String,
    /// Names of other blocks that the text refers to.
    others: Vec<String>,
    /// The block's first name if the block is writable, and `None` otherwise.
    own: Option<String>,
}

const ELSEWHERE: char = '\u{1}';
const HERE: char = '\u{2}';

impl Code {
    /// Parses assembler text, or returns `None` if names are written in an unknown form.
    pub fn of_assembly(text: &str) -> Option<Self> {
        let mut parts: Vec<(&str, Vec<&str>)> = vec![("", Vec::new())];
        let mut names: HashMap<String, (usize, usize)> = HashMap::new();
        let mut number = 0;
        for line in text.lines() {
            if line.starts_with('"') {
                return None;
            }
            let words = line.trim();
            match section(words) {
                Some(section) => {
                    parts.push((section, Vec::new()));
                    number = 0;
                }
                None if is_silent(words) => {}
                None => {
                    let own = parts.len() - 1;
                    if let Some(name) = label(line) {
                        names.entry(name.to_owned()).or_insert((own, number));
                        number += 1;
                    }
                    parts[own].1.push(line);
                }
            }
        }
        let blocks = parts.iter().enumerate().map(|(own, (section, lines))| {
            let mut block = Block::default();
            for line in lines {
                block.assembly(line, own, &names);
            }
            let is_read = [".text", ".rodata", ".data.rel.ro", ".gcc_except_table"];
            if !is_read.iter().any(|kind| section.starts_with(kind)) {
                block.own = lines.iter().find_map(|line| label(line)).map(str::to_owned);
            }
            block
        });
        let blocks = blocks.collect();
        Some(Self { blocks, names })
    }

    /// Parses the listing of Go's compiler (`-S`).
    pub fn of_listing(text: &str) -> Self {
        let mut own = Self::default();
        for line in text.lines() {
            if let Some(line) = line.strip_prefix('\t') {
                let Some(block) = own.blocks.last_mut() else { continue };
                block.listing(line);
                continue;
            }
            let Some((name, kind, head)) = symbol(line) else { continue };
            let mut block = Block { text: head.to_owned(), ..Block::default() };
            if !matches!(kind, "STEXT" | "SRODATA") {
                block.own = Some(name.to_owned());
            }
            own.names.entry(name.to_owned()).or_insert((own.blocks.len(), 0));
            own.blocks.push(block);
        }
        own
    }

    /// Returns true if there is a block of this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Returns true if the named block is the same in another compilation. Blocks with names in
    /// `taken` are assumed to be the same. O(bytes of the block and of all blocks that it refers
    /// to).
    pub fn is_same(&self, other: &Self, name: &str, taken: &HashSet<String>) -> bool {
        let mut seen = HashSet::new();
        let mut open = Vec::new();
        match (self.names.get(name), other.names.get(name)) {
            (Some((a, 0)), Some((b, 0))) => open.push((*a, *b)),
            _ => return false,
        }
        while let Some((a, b)) = open.pop() {
            if !seen.insert((a, b)) {
                continue;
            }
            let (own, its) = (&self.blocks[a], &other.blocks[b]);
            if own.text != its.text || own.own != its.own || own.others.len() != its.others.len() {
                return false;
            }
            for (a, b) in own.others.iter().zip(&its.others) {
                let places = (self.names.get(a), other.names.get(b));
                match places {
                    _ if taken.contains(a) || taken.contains(b) => {
                        if a != b {
                            return false;
                        }
                    }
                    (None, None) if a == b => {}
                    (Some((a, own)), Some((b, its))) if own == its => open.push((*a, *b)),
                    _ => return false,
                }
            }
        }
        true
    }
}

/// Splits a line of Go's listing, such as `own.F STEXT nosplit size=9`, into a symbol's name, its
/// kind, and the rest of the line.
fn symbol(line: &str) -> Option<(&str, &str, &str)> {
    let before = &line[..line.find(" size=")?];
    let is_kind = |own: &&str| {
        let mut letters = own.chars();
        letters.next() == Some('S')
            && own.len() > 3
            && letters.all(|own| own.is_ascii_uppercase() || own.is_ascii_digit() || own == '_')
    };
    let kind = before.split(' ').skip(1).filter(is_kind).last()?;
    let at = before.rfind(&format!(" {kind}"))?;
    Some((&line[..at], kind, &line[at..]))
}

/// Returns the section that a line starts.
fn section(words: &str) -> Option<&str> {
    let rest = words.strip_prefix(".section");
    let is_plain = matches!(words, ".text" | ".data" | ".bss");
    match rest {
        Some(rest) => Some(rest.trim().trim_matches('"')),
        None => is_plain.then_some(words),
    }
}

/// Returns true if a line is about the file, or about names that also occur elsewhere.
fn is_silent(words: &str) -> bool {
    let kinds =
        [".file", ".ident", ".globl", ".hidden", ".type", ".size", ".weak", ".local", ".addrsig"];
    words.is_empty() || words.starts_with('#') || kinds.iter().any(|own| words.starts_with(own))
}

/// Returns the name that a line gives to the following block.
fn label(line: &str) -> Option<&str> {
    let name = line.split_once(':').map(|(name, _)| name)?;
    let is_name = !name.is_empty() && name.chars().all(is_of_a_name);
    is_name.then_some(name)
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '$')
}

impl Block {
    /// Adds a line of assembler text to this block, whose number is `own`.
    fn assembly(&mut self, line: &str, own: usize, names: &HashMap<String, (usize, usize)>) {
        let words = line.trim();
        // This is data, even if it looks like a name.
        if [".ascii", ".asciz", ".string"].iter().any(|kind| words.starts_with(kind)) {
            self.text.push_str(words);
            self.text.push('\n');
            return;
        }
        let mut rest = words;
        while !rest.is_empty() {
            // `$` marks an immediate value, which may be an address.
            if let Some(number) = rest.strip_prefix('$') {
                self.text.push('$');
                rest = number;
            }
            let end = rest.find(|c| !is_of_a_name(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(end);
            match names.get(word) {
                Some((block, number)) if *block == own => {
                    self.text.push(HERE);
                    self.text.push_str(&number.to_string());
                }
                // Names from other sections, and from other compilation units.
                _ if word.starts_with(|c: char| c.is_alphabetic() || "_.".contains(c))
                    && (names.contains_key(word) || behind.starts_with('@')) =>
                {
                    self.text.push(ELSEWHERE);
                    self.others.push(word.to_owned());
                }
                _ => self.text.push_str(word),
            }
            let length = behind.chars().next().map_or(0, char::len_utf8);
            self.text.push_str(&behind[..length]);
            rest = &behind[length..];
        }
        self.text.push('\n');
    }

    /// Adds a line of Go's listing without its prefix. The line contains machine code, a reference,
    /// or data for the runtime about a position in the code.
    fn listing(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("rel ") {
            // `23+4 t=R_CALL runtime.panicBounds+0`
            let mut words = rest.splitn(3, ' ');
            let (at, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            let aim = words.next().unwrap_or_default();
            let end = aim.rfind(['+', '-']).unwrap_or(aim.len());
            let (name, more) = aim.split_at(end);
            self.text.push_str(&format!("rel {at} {kind} {ELSEWHERE}{more}\n"));
            self.others.push(name.to_owned());
            return;
        }
        let is_address = |own: &str| own.strip_prefix("0x").is_some_and(|own| !own.is_empty());
        let mut parts = line.splitn(3, ' ');
        let (Some(address), Some(second)) = (parts.next(), parts.next()) else { return };
        if !is_address(address) {
            return;
        }
        let is_instruction = second.len() >= 5 && second.bytes().all(|own| own.is_ascii_digit());
        match line.split_once('\t').filter(|_| is_instruction) {
            // The machine code of other instructions is sufficient.
            Some((_, said)) if said.starts_with("PCDATA") => {
                self.text.push_str(&format!("{address} {said}\n"));
            }
            Some(_) => {}
            // `0x0000 55 48 89 e5  UH..`
            None => {
                let code = line.split("  ").next().unwrap_or_default();
                self.text.push_str(code.trim_end());
                self.text.push('\n');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    fn nobody() -> HashSet<String> {
        HashSet::new()
    }

    const ASSEMBLY: &str = "\
\t.file\t\"a.1\"
\t.section\t.text.one,\"ax\",@progbits
\t.globl\tone
one:
\ttestl\t%edi, %edi
\tje\t.LBB3_2
\tleaq\t.Lanon.a.1(%rip), %rdi
\tcallq\t*elsewhere@GOTPCREL(%rip)
.LBB3_2:
\tjmp\ttwo
.Lfunc_end3:
\t.size\tone, .Lfunc_end3-one
\t.section\t.text.two,\"ax\",@progbits
two:
\tmovl\tcounter(%rip), %eax
\tretq
\t.section\t.rodata..Lanon.a.1,\"a\",@progbits
.Lanon.a.1:
\t.ascii\t\".LBB3_2 one\"
\t.section\t.bss.counter,\"aw\",@nobits
counter:
\t.long\t0
\t.section\t.bss.other,\"aw\",@nobits
other:
\t.long\t0
";

    #[test]
    fn code_is_the_same_whatever_its_parts_are_called() {
        let own = Code::of_assembly(ASSEMBLY).unwrap();
        assert!(own.has("one") && !own.has("three"));
        let is_same = |other: &str, taken: &HashSet<String>| {
            own.is_same(&Code::of_assembly(other).unwrap(), "one", taken)
        };
        let renamed = ASSEMBLY
            .replace("LBB3", "LBB7")
            .replace("func_end3", "func_end9")
            .replace(".Lanon.a.1", ".Lanon.a.5")
            .replace(".LBB7_2 one", ".LBB3_2 one");
        assert!(is_same(&renamed, &nobody()));
        // A string may look like a name.
        assert!(!is_same(&ASSEMBLY.replace("\".LBB3_2 one\"", "\".LBB7_2 one\""), &nobody()));
        for (from, to) in [
            ("je\t", "jne\t"),
            ("*elsewhere@", "*another@"),
            // Code that it refers to.
            ("retq", "nop\n\tretq"),
            // Two variables with the same contents.
            ("counter(%rip)", "other(%rip)"),
        ] {
            let other = ASSEMBLY.replace(from, to);
            assert!(!is_same(&other, &nobody()), "{from}");
        }
        // Functions that are judged by themselves are assumed to be the same.
        let taken = HashSet::from(["two".to_owned()]);
        assert!(is_same(&ASSEMBLY.replace("retq", "nop\n\tretq"), &taken));
        assert!(!is_same(&ASSEMBLY.replace("jmp\ttwo", "jmp\tone"), &taken));
        assert!(!own.is_same(&own, "three", &taken), "nothing is not the same as nothing");
        let by_number = |line: &str| Code::of_assembly(&ASSEMBLY.replace("retq", line)).unwrap();
        let (one, other) = (by_number("push $counter"), by_number("push $other"));
        assert!(!one.is_same(&other, "one", &nobody()));
        assert!(Code::of_assembly("\"a b\":\n\tretq\n").is_none());
    }

    const LISTING: &str = "\
# example.org/own
example.org/own.(*S).Get STEXT nosplit size=28 args=0x10 locals=0x8 funcid=0x0 align=0x0
\t0x0000 00000 (/t/own.go:7)\tTEXT\texample.org/own.(*S).Get(SB), NOSPLIT|ABIInternal, $8-16
\t0x0016 00022 (/t/own.go:7)\tPCDATA\t$4, $1431
\t0x0016 00022 (/t/own.go:7)\tCALL\truntime.panicBounds(SB)
\t0x0000 55 48 89 e5 48 8b 48 08 48 39 cb 73 09 48 8b 08  UH..H.H.H9.s.H..
\t0x0010 48 8b 04 d9 5d c3 e8 00 00 00 00 90              H...].......
\trel 23+4 t=R_CALL runtime.panicBounds+0
\trel 3+4 t=R_PCREL example.org/own..stmp_0+0
\trel 9+4 t=R_PCREL example.org/own.table+8
example.org/own..stmp_0 SRODATA static size=3
\t0x0000 01 02 03                                         ...
example.org/own.table SNOPTRDATA size=3
\t0x0000 01 02 03                                         ...
example.org/own.chair SNOPTRDATA size=3
\t0x0000 01 02 03                                         ...
type:struct { F uintptr; X0 int } SRODATA dupok size=1
\t0x0000 01                                               .
";

    #[test]
    fn listings_of_go_are_compared_without_lines_and_numbers() {
        let own = Code::of_listing(LISTING);
        let name = "example.org/own.(*S).Get";
        assert!(own.has(name) && own.has("type:struct { F uintptr; X0 int }"));
        let is_same = |other: &str| own.is_same(&Code::of_listing(other), name, &nobody());
        assert!(is_same(&LISTING.replace("own.go:7", "own.go:9").replace("stmp_0", "stmp_4")));
        for (from, to) in [
            ("48 8b 04 d9", "48 8b 04 d8"),
            ("$1431", "$1432"),
            ("panicBounds+0", "panicOther+0"),
            ("own.table+8", "own.table+0"),
            ("own.table+8", "own.chair+8"),
            ("size=28", "size=29"),
            (
                "SRODATA static size=3\n\t0x0000 01 02 03",
                "SRODATA static size=3\n\t0x0000 01 02 04",
            ),
        ] {
            assert!(!is_same(&LISTING.replacen(from, to, 1)), "{from}");
        }
    }
}
