//! Opcodes: the operations of the keys of a mixed batch, and the batch applied in order.

use super::outputs::{bytes, word};
use super::scene::Scene;
use super::table::{Entries, Words};
use crate::arena::{Array, ArrayRanges};
use crate::items::Stream;
use crate::primitive::Ask;
use crate::random::Random;
use trommel::{HashOpcode, HashOperation, Range};

const ROLE: &str = "opcodes";

/// The bits of a word that are read.
const MASK: u32 = 3;
const INSERT: u32 = HashOpcode::Insert as u32;
const ASSIGN: u32 = HashOpcode::Assign as u32;
const ERASE: u32 = HashOpcode::Erase as u32;

/// A word for each key of the arrays. The bits that are not read are random, and so are the words beyond the batch.
#[derive(Clone, Debug)]
pub(super) struct Opcodes {
    words: Vec<u32>,
    /// Whether the words are those that the array of keys begins with.
    is_keys: bool,
}

/// Whether the array of keys of a request is that of its opcodes, too.
fn is_keys(random: &mut Random) -> bool {
    random.chance(1, 16)
}

impl Opcodes {
    /// Draws the words of the first `len` keys of an array.
    pub(super) fn draw(len: usize, keys: &[Words], ask: &Ask) -> Self {
        let mut random = ask.stream(Stream::Selection);
        if is_keys(&mut random) {
            return Self { words: keys.iter().flatten().take(keys.len()).copied().collect(), is_keys: true };
        }
        let mut words: Vec<u32> = keys.iter().map(|_| random.word()).collect();
        let mut opcodes = [0, 1, 2, 3];
        random.shuffle(&mut opcodes);
        // Keys have the first opcode, or one of some that are as likely. Of 256 keys, so many have one of some.
        let (main, some) = (opcodes[0], &opcodes[..random.pick(&[2, 3, 4, 4])]);
        let share = random.pick(&[0, 1, 16, 64, 256, 256, 256]);
        // Keys side by side mostly have the same opcode.
        let most_run = if random.chance(1, 4) { random.log_between(1, word(len).max(1)) } else { 1 };
        let (mut run, mut opcode) = (0, 0);
        for word in &mut words[..len] {
            if run == 0 {
                (run, opcode) = (random.between(1, most_run), main);
                if random.chance(share, 256) {
                    opcode = random.pick(some);
                }
            }
            run -= 1;
            *word = *word & !MASK | opcode;
        }
        // One operation may decide the results of all that follow, and one at the end may undo all.
        if random.chance(1, 4) && len != 0 {
            words[0] = words[0] & !MASK | random.pick(&[INSERT, ASSIGN, ERASE]);
            words[len - 1] = words[len - 1] & !MASK | random.pick(&[INSERT, ASSIGN, ERASE]);
        }
        Self { words, is_keys: false }
    }

    /// The opcode of the key with an index.
    fn get(&self, index: usize) -> u32 {
        self.words[index] & MASK
    }

    /// The array of the words, unless the keys are the words.
    pub(super) fn array(&self) -> Option<Array> {
        (!self.is_keys).then(|| Array::input(ROLE, 4, 4, bytes(&self.words)))
    }

    /// The memory of the words. Other operations do not use it, even if it is that of the keys or none at all.
    pub(super) fn range(operation: HashOperation, ask: &Ask, ranges: &ArrayRanges) -> Range {
        let mut random = ask.stream(Stream::Selection);
        if is_keys(&mut random) {
            return ranges.range("keys");
        }
        let is_invalid = operation != HashOperation::Mixed && random.chance(1, 2);
        if is_invalid { Range::new(random.draw(), random.below(9).into()) } else { ranges.range(ROLE) }
    }
}

impl Scene {
    /// Applies the operations of a mixed batch to the entries of a table, one after the other. Returns the value of
    /// each key before its operation.
    pub(super) fn apply_in_order(&self, opcodes: &Opcodes, entries: &mut Entries) -> Vec<Option<Words>> {
        let mut results = Vec::with_capacity(self.len);
        for (index, (key, value)) in self.items().enumerate() {
            let before = entries.get(key).map(|values| values[0].clone());
            match opcodes.get(index) {
                INSERT if before.is_some() => {}
                INSERT | ASSIGN => _ = entries.insert(key.clone(), vec![value.clone()]),
                ERASE => _ = entries.remove(key),
                _ => {}
            }
            results.push(before);
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{Data, words};
    use crate::primitive::CountAt;
    use trommel::HasherInfo;

    fn ask(items: u32, seed: u64) -> Ask {
        let (count, data) = (CountAt::Host, Data::Random);
        Ask { items, count, segments: None, second: None, status: false, results: 0, hostile: false, data, seed }
    }

    #[test]
    fn opcodes_are_drawn() {
        let keys: Vec<Words> = (0..100).map(|key| vec![key, 9]).collect();
        let (mut alone, mut skewed, mut all, mut others) = (0, 0, 0, 0);
        for seed in 0..500 {
            let opcodes = Opcodes::draw(70, &keys, &ask(100, seed));
            assert_eq!(opcodes.words.len(), 100);
            assert_eq!(opcodes.array().is_none(), opcodes.is_keys);
            if opcodes.is_keys {
                assert_eq!(opcodes.words[..4], [0, 9, 1, 9]);
                continue;
            }
            let mut counts = [0; 4];
            (0..70).for_each(|index| counts[opcodes.get(index) as usize] += 1);
            let most = counts.into_iter().max().unwrap_or(0);
            alone += usize::from(most == 70);
            skewed += usize::from((50..70).contains(&most));
            all += usize::from(counts.into_iter().all(|count| count > 8));
            others += usize::from(opcodes.words.iter().any(|word| word & !MASK != 0));
            assert_eq!(words(&opcodes.array().unwrap().before), opcodes.words);
        }
        assert!(alone > 40 && skewed > 80 && all > 80 && others > 400, "{alone} {skewed} {all} {others}");
        assert_eq!(Opcodes::draw(0, &[], &ask(0, 1)).words, []);
    }

    #[test]
    fn operations_are_applied_in_order() {
        let mixed = HasherInfo::pairs().operation(HashOperation::Mixed);
        let mut scene = Scene::new(&mixed, &ask(8, 1));
        scene.keys = vec![vec![5]; 8];
        scene.values = (0..8).map(|value| vec![value]).collect();
        let words = [ERASE, 0, INSERT, ASSIGN, INSERT, ERASE, 0, INSERT].map(|opcode| opcode | 0xdead_beec).to_vec();
        let opcodes = Opcodes { words, is_keys: false };
        let mut entries = Entries::from([(vec![5], vec![vec![77]])]);
        let results = scene.apply_in_order(&opcodes, &mut entries);
        assert_eq!(
            results,
            [Some(77), None, None, Some(2), Some(3), Some(3), None, None].map(|value| Some(vec![value?]))
        );
        assert_eq!(entries, Entries::from([(vec![5], vec![vec![7]])]));
    }
}
