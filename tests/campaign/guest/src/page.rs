//! Page tables: all memory one to one, and two pages from which instructions run.

#[repr(C, align(4096))]
struct Table([u64; 512]);

/// The tables, the topmost first, and the two pages.
#[repr(C, align(4096))]
pub struct Tables {
    top: Table,
    _all: Table,
    upper: Table,
    middle: Table,
    lower: Table,
    code: [[u8; PAGE]; 2],
}

const PAGE: usize = 4096;

/// Virtual address of the two pages.
pub const CODE: u64 = 1 << 39;

const PRESENT_WRITABLE: u64 = 3;

impl Tables {
    /// Empty tables; the entry code fills the first two.
    pub const fn new() -> Tables {
        const TABLE: Table = Table([0; 512]);
        Tables { top: TABLE, _all: TABLE, upper: TABLE, middle: TABLE, lower: TABLE, code: [[0; PAGE]; 2] }
    }

    /// Maps the two pages. Behind the first lies the second, other physical memory, or nothing.
    pub fn map_code(&mut self, second: Option<u64>) {
        self.top.0[1] = &raw const self.upper as u64 | PRESENT_WRITABLE;
        self.upper.0[0] = &raw const self.middle as u64 | PRESENT_WRITABLE;
        self.middle.0[0] = &raw const self.lower as u64 | PRESENT_WRITABLE;
        self.lower.0[0] = &raw const self.code[0] as u64 | PRESENT_WRITABLE;
        self.lower.0[1] = second.map_or(0, |address| address & 0x000f_ffff_ffff_f000 | PRESENT_WRITABLE);
    }

    /// Physical address of the second page.
    pub fn second(&self) -> u64 {
        &raw const self.code[1] as u64
    }

    /// Puts bytes at an offset into the two pages, and a filler into the rest.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        for (at, to) in self.code.as_flattened_mut().iter_mut().enumerate() {
            *to = at.checked_sub(offset).and_then(|at| bytes.get(at)).copied().unwrap_or(0xcc);
        }
    }
}
