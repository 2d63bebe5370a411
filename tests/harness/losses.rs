//! Which of the changes that were not synced a power loss takes: the same ones for the same seed.

/// Draws the fate of each file on its own.
pub struct Losses(u64);

impl Losses {
    pub const fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Of so many changes, the oldest first: none are lost, or all, or what came last, or some anywhere.
    pub fn draw(&mut self, unsynced: usize) -> Vec<bool> {
        let kept = match self.below(4) {
            0 => unsynced,
            1 => 0,
            2 => self.below(unsynced + 1),
            _ => return (0..unsynced).map(|_| self.below(2) == 0).collect(),
        };
        (0..unsynced).map(|change| change >= kept).collect()
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}
