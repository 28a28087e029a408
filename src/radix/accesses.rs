//! The resources that passes over items read and write.

use super::passes::{Area, Id, Passes, set};
use super::problems::Problems;
use crate::core::plan::Resources;
use crate::shared::{FLAG_SKIPS_DIGITS, LAYOUT_DROP_KEYS, LAYOUT_INDICES};

impl Passes<'_, '_> {
    /// Resources that a kernel reads to map a tile to its problem. Empty for a single problem: the push constants hold
    /// it.
    pub(crate) fn tile_map(&self) -> Resources {
        self.tile_map_of(self.rows.when(!self.format().segmented))
    }

    /// As [`Passes::tile_map`], with other rows.
    pub(crate) fn tile_map_of(&self, rows: Id) -> Resources {
        let Problems { prepared, any_count_on_device, count, .. } = *self.problems;
        let resolved = prepared && (any_count_on_device || count > 1);
        set(&[self.states.when(resolved), self.counts.when(!prepared && any_count_on_device), rows])
    }

    /// As [`Passes::tile_map`], for kernels after the passes. Small problems have no prepared states.
    pub(super) fn final_tile_map(&self) -> Resources {
        if self.format().segmented {
            return set(&[self.rows]);
        }
        let has_states = self.problems.prepared && self.states.0.is_some();
        self.tile_map().union(set(&[self.counts.when(!has_states)]))
    }

    /// The resources that hold counts, besides rows.
    pub(crate) fn resolved_counts(&self) -> Resources {
        if self.format().segmented {
            return set(&[self.offsets, self.counts]);
        }
        let Problems { prepared, any_count_on_device, .. } = *self.problems;
        set(&[self.states.when(prepared && any_count_on_device), self.counts.when(!prepared)])
    }

    /// Whether the device decides which digits are skipped.
    fn decided_on_device(&self) -> bool {
        self.facts.pass.has(FLAG_SKIPS_DIGITS)
    }

    /// The resource that holds the skipped digits.
    pub(crate) fn skipped_digits(&self) -> Resources {
        set(&[self.histograms.when(self.decided_on_device())])
    }

    /// The input resources that are read. Indices are generated, not read.
    pub(crate) fn read_of_input(&self) -> Resources {
        let ([keys, values], format) = (self.input, self.format());
        let moves_keys = !(format.binning.labels && format.has(LAYOUT_DROP_KEYS));
        set(&[keys.when(moves_keys), values.when(!format.has(LAYOUT_INDICES))])
    }

    /// The resources that a pass writes. The last pass does not write dropped keys.
    pub(crate) fn written_of(&self, [keys, values]: Area, last: bool) -> Resources {
        set(&[keys.when(!(last && self.format().has(LAYOUT_DROP_KEYS))), values])
    }

    /// The resource of the labels, if passes go by labels.
    pub(crate) fn labels(&self) -> Id {
        self.alternate[0].when(self.format().binning.labels)
    }

    /// The resource that contains the digits before the first pass.
    pub(crate) fn digits_source(&self) -> Id {
        if self.format().binning.labels { self.labels() } else { self.input[0] }
    }

    /// The resources that a pass reads and writes. If digits may be skipped, the device selects among several.
    pub(crate) fn source_and_target(&self, pass: u32) -> (Resources, Resources) {
        let format = self.format();
        let moves = format.digits() + u32::from(self.decided_on_device() || !format.ends_right());
        let after = moves - 1 - pass;
        let (first, last) = (pass == 0, after == 0);
        let (out, alternate) = (set(&self.staged), set(&self.alternate));
        // Labels are in scratch. Two passes also write them there.
        let labels = set(&[self.labels()]);
        let kept = if format.keeps_labels() { labels } else { Resources::default() };
        let (input, written) = (self.read_of_input(), self.written_of(self.staged, last));
        if self.decided_on_device() {
            let reads = if first { input } else { input.union(out).union(alternate) };
            return (reads, if last { written } else { out.union(alternate) });
        }
        let to_output = after.is_multiple_of(2);
        let reads = if first {
            input
        } else if to_output {
            alternate
        } else {
            out
        };
        (reads.union(labels), if to_output { written } else { alternate }.union(kept))
    }
}
