//! All sequences of distinct tools, shortest first, in declared order.
//!
//! Owns the enumeration alone; it knows neither tools nor plans, only positions. Called by the search planner.

/// Yields each sequence of distinct positions below `positions`, from the empty one up to `longest`, shorter ones first,
/// those of one length in lexicographic order.
#[derive(Debug, Clone)]
pub struct ToolSequences {
    positions: usize,
    longest: usize,
    next: Option<Vec<usize>>,
}

impl ToolSequences {
    /// The sequences over so many tools, at most `longest` long.
    #[must_use]
    pub fn new(positions: usize, longest: usize) -> Self {
        Self {
            positions,
            longest: longest.min(positions),
            next: Some(Vec::new()),
        }
    }

    /// The next sequence of the same length, else the first of the next length, else none.
    fn after(&self, sequence: &[usize]) -> Option<Vec<usize>> {
        for place in (0..sequence.len()).rev() {
            let kept = &sequence[..place];
            let larger = (sequence[place] + 1..self.positions).find(|at| !kept.contains(at));
            if let Some(larger) = larger {
                let mut next = kept.to_vec();
                next.push(larger);
                return Some(self.filled(next, sequence.len()));
            }
        }
        (sequence.len() < self.longest).then(|| self.filled(Vec::new(), sequence.len() + 1))
    }

    fn filled(&self, mut sequence: Vec<usize>, length: usize) -> Vec<usize> {
        for at in 0..self.positions {
            if sequence.len() == length {
                break;
            }
            if !sequence.contains(&at) {
                sequence.push(at);
            }
        }
        sequence
    }
}

impl Iterator for ToolSequences {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        self.next = self.after(&current);
        Some(current)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_comes_once_shortest_first_in_declared_order() {
        let all: Vec<_> = ToolSequences::new(3, 2).collect();
        let expected: [&[usize]; 10] = [
            &[],
            &[0],
            &[1],
            &[2],
            &[0, 1],
            &[0, 2],
            &[1, 0],
            &[1, 2],
            &[2, 0],
            &[2, 1],
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn five_tools_give_326_sequences() {
        let mut counts = [0; 6];
        let mut seen = std::collections::HashSet::new();
        for sequence in ToolSequences::new(5, 5) {
            counts[sequence.len()] += 1;
            assert!(seen.insert(sequence));
        }
        assert_eq!(counts, [1, 5, 20, 60, 120, 120]);
    }

    #[test]
    fn the_longest_is_bounded_by_both_numbers_and_none_leaves_the_empty_one() {
        assert_eq!(ToolSequences::new(2, 9).count(), 1 + 2 + 2);
        assert_eq!(ToolSequences::new(9, 1).count(), 1 + 9);
        assert_eq!(ToolSequences::new(0, 5).count(), 1);
        assert_eq!(ToolSequences::new(5, 0).count(), 1);
    }
}
