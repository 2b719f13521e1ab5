//! The code with which each language reads the switch. These few lines are added to a file and
//! depend on nothing in the project. The file that contains the number is read once per process. If
//! reached functions are recorded, each function is recorded once.

use super::{SwitchFiles, quoted};
use assay_suites::coverage::Language;

/// Returns the text to insert before the text of the file (in Go, after the package name), and the
/// text to insert after it. `None` if a path cannot be written in the language.
pub(super) fn of(
    language: Language,
    places: &SwitchFiles<'_>,
    tag: &str,
    units: usize,
) -> Option<(String, String)> {
    let (switch, reached) = (quoted(places.switch)?, quoted(places.reached)?);
    let filled = |text: &str| {
        text.replace("TAG", tag)
            .replace("SWITCH", &switch)
            .replace("REACHED", &reached)
            .replace("FIRST", &places.first.to_string())
            .replace("UNITS", &units.max(1).to_string())
    };
    Some(match language {
        Language::Rust => (String::new(), filled(RUST)),
        Language::Go => (GO_IMPORTS.to_owned(), filled(GO)),
        Language::C => (filled(C), String::new()),
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            (String::new(), filled(JAVASCRIPT))
        }
        _ => return None,
    })
}

/// The code in Rust. The code that reads the number may itself call changed functions, such as an
/// allocator. For such a call, these functions are unchanged. All names start at the root of the
/// standard library, which is available even to crates that do not use it.
const RUST: &str = r#"
#[doc(hidden)]
#[allow(warnings, unused, missing_docs, unreachable_pub, nonstandard_style)]
mod assay_switch {
    extern crate std as real;
    use self::real::cell::Cell;
    use self::real::prelude::v1::*;
    use self::real::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use self::real::{env, fs, io::Write};

    static NUMBER: AtomicU32 = AtomicU32::new(!0);
    static NOTES: AtomicBool = AtomicBool::new(false);
    const NOT_YET: AtomicBool = AtomicBool::new(false);
    static SEEN: [AtomicBool; UNITS] = [NOT_YET; UNITS];
    self::real::thread_local! { static ASKS: Cell<bool> = Cell::new(false); }

    #[inline]
    pub(super) fn number(unit: usize) -> u32 {
        let number = NUMBER.load(Ordering::Relaxed);
        if number != !0 { number } else { asked(unit) }
    }

    #[cold]
    fn asked(unit: usize) -> u32 {
        if ASKS.try_with(|own| own.replace(true)).unwrap_or(true) {
            return 0;
        }
        let told = if NOTES.load(Ordering::Relaxed) {
            String::from("r")
        } else {
            fs::read_to_string(SWITCH).unwrap_or_default()
        };
        let mut number = 0;
        if told.starts_with('r') {
            NOTES.store(true, Ordering::Relaxed);
            note(unit);
        } else {
            number = told.trim().parse().unwrap_or(0);
            NUMBER.store(number, Ordering::Relaxed);
        }
        let _ = ASKS.try_with(|own| own.set(false));
        number
    }

    fn note(unit: usize) {
        if SEEN[unit].swap(true, Ordering::Relaxed) {
            return;
        }
        let mut line = (FIRST + unit).to_string();
        line.push(' ');
        line.push_str(&env::current_exe().unwrap_or_default().to_string_lossy());
        line.push('\n');
        let file = fs::OpenOptions::new().create(true).append(true).open(REACHED);
        if let Ok(mut file) = file {
            let _ = file.write_all(line.as_bytes());
        }
    }
}
"#;

const GO_IMPORTS: &str =
    "; import ( assayos \"os\"; assayconv \"strconv\"; assayatomic \"sync/atomic\" )";

const GO: &str = r#"
var assayNumberTAG = func() int {
	told, _ := assayos.ReadFile(SWITCH)
	if len(told) > 0 && told[0] == 'r' {
		return -1
	}
	number := 0
	for _, digit := range told {
		if digit >= '0' && digit <= '9' {
			number = number*10 + int(digit-'0')
		}
	}
	return number
}()

var assaySeenTAG [UNITS]uint32

func assaySwitchTAG(unit int) int {
	if assayNumberTAG >= 0 {
		return assayNumberTAG
	}
	if assayatomic.SwapUint32(&assaySeenTAG[unit], 1) == 0 {
		program, _ := assayos.Executable()
		file, err := assayos.OpenFile(REACHED, assayos.O_CREATE|assayos.O_APPEND|assayos.O_WRONLY, 0666)
		if err == nil {
			file.WriteString(assayconv.Itoa(FIRST+unit) + " " + program + "\n")
			file.Close()
		}
	}
	return 0
}
"#;

/// The code in C. It includes no header because the text may have to define something before it
/// includes the first header. It gives system functions other names because headers may declare
/// them in different ways.
///
/// Compilers report some warnings about a changed body for the enclosing function.
const C: &str = r#"#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wunused-label"
extern int assay_open_TAG(const char *, int, ...) __asm__("open");
extern int assay_close_TAG(int) __asm__("close");
extern __INTPTR_TYPE__ assay_read_TAG(int, void *, __SIZE_TYPE__) __asm__("read");
extern __INTPTR_TYPE__ assay_write_TAG(int, const void *, __SIZE_TYPE__) __asm__("write");
extern __INTPTR_TYPE__ assay_readlink_TAG(const char *, char *, __SIZE_TYPE__) __asm__("readlink");
static void assay_note_TAG(int unit)
{
    static char seen[UNITS];
    char line[4200], digits[12];
    int length = 0, count = 0, number = FIRST + unit, file;
    __INTPTR_TYPE__ name;
    if (seen[unit])
        return;
    seen[unit] = 1;
    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (count)
        line[length++] = digits[--count];
    line[length++] = ' ';
    name = assay_readlink_TAG("/proc/self/exe", line + length, 4096);
    if (name > 0)
        length += (int)name;
    line[length++] = '\n';
    /* Write only, create, append. */
    file = assay_open_TAG(REACHED, 02101, 0666);
    if (file >= 0) {
        if (assay_write_TAG(file, line, (__SIZE_TYPE__)length) < 0)
            length = 0;
        assay_close_TAG(file);
    }
}
__attribute__((unused)) static int assay_switch_TAG(int unit)
{
    static int number = -2;
    if (number == -2) {
        char told[16];
        int file = assay_open_TAG(SWITCH, 0), i, known = 0;
        __INTPTR_TYPE__ length = file < 0 ? 0 : assay_read_TAG(file, told, sizeof told);
        if (file >= 0)
            assay_close_TAG(file);
        for (i = 0; i < (int)length; i++)
            if (told[i] >= '0' && told[i] <= '9')
                known = known * 10 + (told[i] - '0');
        number = length > 0 && told[0] == 'r' ? -1 : known;
    }
    if (number != -1)
        return number;
    assay_note_TAG(unit);
    return 0;
}
#line 1
"#;

/// The code in JavaScript. A caller that loads a file repeatedly in one process sets `assay$` on
/// the global object. Otherwise the first function that runs creates it.
const JAVASCRIPT: &str = r#"
function assay$TAG(unit) {
  let own = globalThis.assay$;
  if (own === undefined) {
    const fs = process.getBuiltinModule("node:fs");
    const told = fs.readFileSync(SWITCH, "utf8");
    const seen = new Set();
    const note = (unit) => {
      if (!seen.has(unit)) fs.appendFileSync(REACHED, `${unit} ${process.argv[0]}\n`);
      seen.add(unit);
    };
    own = { number: Number(told) || 0, reaches: told.startsWith("r") ? note : undefined };
    Object.defineProperty(globalThis, "assay$", { value: own });
  }
  own.reaches?.(FIRST + unit);
  return own.number;
}
"#;
