//! Damage to pages, reproducible by its seed.

/// A small, fast random number generator, good enough to damage pages with (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from any seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound.max(1)
    }
}

/// Changes a page in one to four places: a bit, a byte, a number, or a range copied elsewhere. The
/// FIL header's page number and tablespace stay, so that the damage passes the first checks.
pub fn damage(page: &mut [u8], random: &mut Random) {
    const KEPT: usize = 38;
    let room = page.len() - KEPT - 8;
    for _ in 0..=random.below(4) {
        // Half of the changes are near the head, where the important fields are.
        let reach = if random.below(2) == 0 { room } else { 200.min(room) };
        let at = KEPT + random.below(reach);
        match random.below(4) {
            0 => page[at] ^= 1 << random.below(8),
            1 => page[at] = random.below(256) as u8,
            2 => {
                const NUMBERS: [u16; 6] = [0, 1, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF];
                let number = NUMBERS[random.below(NUMBERS.len())].to_be_bytes();
                page[at..at + 2].copy_from_slice(&number);
            }
            _ => {
                let len = 1 + random.below(16);
                let from = KEPT + random.below(room - len);
                let to = KEPT + random.below(room - len);
                page.copy_within(from..from + len, to);
            }
        }
    }
}
