//! What the bytes of a table contain: header, slots, and what statistics say of them.

use crate::common::contexts::assert_silence;
use crate::table::{GUARD, Table};
use crate::types::{SLICE, Words, hashes};
use trommel::{HashInfo, HashOperation, HashStatistics, Range};

impl Table<'_> {
    /// Words of the header: see `HashHeader`.
    pub(crate) fn header(&self) -> Vec<u32> {
        let words = self.context.download::<u32>(&self.table, GUARD as usize / 4 + 16).expect("the header");
        words[GUARD as usize / 4..].to_vec()
    }

    /// The statistics of the table, compared with the model and with the slots.
    pub(crate) fn statistics(&self) -> HashStatistics {
        const GUARDED: usize = size_of::<HashStatistics>() / 4 + 2;
        let memory = self.context.upload(&[7; GUARDED]).expect("memory");
        let info = HashInfo {
            table: self.range(),
            capacity: self.capacity,
            statistics: Range::new(memory.address() + 4, memory.size() - 8),
            ..HashInfo::default()
        };
        self.run_one(self.hasher(HashOperation::Statistics), &info);
        let words: Vec<u32> = self.context.download(&memory, GUARDED).expect("statistics");
        assert_eq!([words[0], words[GUARDED - 1]], [7; 2], "the words around the statistics");
        let statistics: HashStatistics = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&words[1..GUARDED - 1]));
        let HashStatistics { keys, erased_slots, slots, overflow_slots, overflow_keys, .. } = statistics;
        assert_eq!([keys as usize, erased_slots as usize], [self.model.len(), self.erased_slots()]);
        let all = self.slots();
        assert_eq!((slots + overflow_slots) as usize, all.len());
        let in_overflow_slices = all[slots as usize..].iter().filter(|slot| self.is_in_use(slot)).count();
        assert_eq!(overflow_keys as usize, in_overflow_slices);
        self.check_probes(&statistics);
        statistics
    }

    /// Checks that the probes of statistics agree with each other, and with the slots of a linear table.
    fn check_probes(&self, statistics: &HashStatistics) {
        let HashStatistics { most_probes, total_probes, probes, .. } = *statistics;
        let in_slots = self.model.items().filter(|(key, _)| !self.types.is_reserved(key)).count();
        assert_eq!(probes.iter().map(|keys| *keys as usize).sum::<usize>(), in_slots, "keys by their number of probes");
        let class_of = |probes: u32| probes.next_power_of_two().ilog2() as usize;
        let last = probes.iter().rposition(|keys| *keys != 0);
        assert_eq!(last, (most_probes != 0).then(|| class_of(most_probes)), "{statistics:?}");
        // Class k has more than 2^k / 2 probes, and at most 2^k.
        let sum_of = |number: fn(u64) -> u64| (0..).zip(probes).map(|(k, keys)| number(1 << k) * u64::from(keys)).sum();
        let bounds: [u64; 2] = [sum_of(|most| most / 2 + 1), sum_of(|most| most)];
        assert!((bounds[0]..=bounds[1]).contains(&total_probes), "{bounds:?} of {statistics:?}");
        let mean = if in_slots == 0 { 0.0 } else { total_probes as f64 / in_slots as f64 };
        assert!((statistics.mean_probes() - mean).abs() < 1e-9, "a mean of {mean} of {statistics:?}");
        if self.types.is_linear() {
            let of_keys = self.linear_probes();
            let mut expected = [0; 16];
            of_keys.iter().for_each(|probes| expected[class_of(*probes)] += 1);
            assert_eq!(probes, expected, "keys by their number of probes");
            assert_eq!(Some(most_probes), of_keys.iter().max().copied().or(Some(0)), "most probes");
            assert_eq!(total_probes, of_keys.iter().copied().map(u64::from).sum::<u64>(), "all probes");
        }
    }

    /// The number of slots that a search for each key in a slot of a linear table reads.
    fn linear_probes(&self) -> Vec<u32> {
        let slots = self.slots();
        let (key_words, has_fingerprints) = (self.types.key_words(), self.types.has_fingerprints());
        let in_use = (0..).zip(&slots).filter(|(_, slot)| self.is_in_use(slot));
        let probes = in_use.map(|(index, slot): (u32, _)| {
            let key = &slot[usize::from(has_fingerprints)..][..key_words];
            let [first, second] = hashes(key);
            let is_right = !has_fingerprints || slot[0] == second & 0x7fff_ffff;
            assert!(is_right, "the fingerprint of {key:x?}: {:x}", slot[0]);
            (index.wrapping_sub(first) & (slots.len() as u32 - 1)) + 1
        });
        probes.collect()
    }

    /// Slots of a linear table that a search for an absent key reads, on average over all first slots.
    pub(crate) fn mean_absent_probes(&self) -> f64 {
        let empty = self.types.slot_without_key(0);
        let slots = self.slots();
        let mut length = 0;
        let mut lengths = Vec::new();
        // Twice, from the last slot on: the path of the last slots goes on at the first ones.
        for slot in slots.iter().rev().chain(slots.iter().rev()) {
            length = if slot.starts_with(&empty) { 1 } else { length + 1 };
            lengths.push(length as f64);
        }
        lengths[slots.len()..].iter().sum::<f64>() / slots.len() as f64
    }

    /// Number of erased slots of a linear table that an empty slot follows. Erasures leave none, unless they are
    /// concurrent.
    pub(crate) fn erased_before_empty(&self) -> usize {
        let slots = self.slots();
        let [empty, erased] = [0, 1].map(|number| self.types.slot_without_key(number));
        let next = slots.iter().cycle().skip(1);
        slots.iter().zip(next).filter(|(slot, next)| slot.starts_with(&erased) && next.starts_with(&empty)).count()
    }

    /// Compares the table with the model: looks up all keys of the model, and others.
    pub(crate) fn check(&mut self, others: &[Words]) {
        let keys: Vec<Words> = self.model.keys().chain(others).cloned().collect();
        self.apply_to(HashOperation::Find, keys.clone());
        if self.types.multimap {
            self.apply_to(HashOperation::Count, keys.clone());
            if self.types.value_words() != 0 {
                self.retrieve(&keys);
            }
        }
        let room = self.model.len() as u32 + self.random.below(8);
        let room = if self.random.below(4) == 0 { room / 2 } else { room };
        self.export(room, true);
        let header = self.header();
        assert_eq!(header[3] as usize, self.model.len(), "the number of keys in the header");
        assert_eq!(header[4] as usize, self.erased_slots(), "the number of erased slots in the header");
        if self.types.is_linear() {
            assert_eq!(header[1..3], [self.slots().len() as u32 / SLICE, 0], "slices, and an unused word");
            let is_clear =
                |slot: &Words| slot.iter().rev().take(self.types.value_words()).all(|word| *word == u32::MAX);
            let empty = self.types.slot_without_key(0);
            let all_clear = self.slots().iter().filter(|slot| slot.starts_with(&empty)).all(is_clear);
            assert!(all_clear, "some empty slot has a value");
        }
        assert_eq!(trommel::hash::check_table(&self.types.info(), self.capacity, &self.bytes()), Ok(()));
        assert_silence(self.context);
    }

    fn is_in_use(&self, slot: &Words) -> bool {
        (0..2).all(|number| !slot.starts_with(&self.types.slot_without_key(number)))
    }

    /// Number of slots of erased keys.
    pub(crate) fn erased_slots(&self) -> usize {
        let erased = self.types.slot_without_key(1);
        self.slots().iter().filter(|slot| slot.starts_with(&erased)).count()
    }

    /// The words of each slot.
    pub(crate) fn slots(&self) -> Vec<Words> {
        let words = self.words();
        let guard = GUARD as usize / 4;
        // The device decides the number of slices of a table that grows and shrinks.
        let slices = words[guard + 1];
        let capacity = if self.types.resizable { slices * SLICE } else { self.capacity };
        let all =
            words[guard + self.types.first_slot(capacity)..words.len() - guard].chunks_exact(self.types.slot_words());
        let overflow_slices = if self.types.is_linear() { 0 } else { slices.div_ceil(32) };
        let count = if self.types.resizable { ((slices + overflow_slices) * SLICE) as usize } else { all.len() };
        all.take(count).map(<[u32]>::to_vec).collect()
    }
}
