//! Delayed tiles: other tiles stop waiting and count by themselves. Results are the same.

use crate::common::arena::Together;
use crate::common::contexts::{Setup, assert_silence};
use crate::common::items::Counted;
use crate::common::keys::Keys;
use crate::problem::Asked;
use crate::{BITS, Case, in_rotation};
use trommel::{BucketFunction, SplitOutput, SplitterInfo, Strategy};

/// Delayed tiles, and others that stop waiting for them.
pub(crate) fn late_tiles() {
    let strategies = Strategy::ALL
        .into_iter()
        .enumerate()
        .filter(|(i, strategy)| *strategy != Strategy::Lookback && in_rotation(*i));
    // Up to four bins: several lanes look back for each bin.
    let together = [Strategy::Lookback; 2].into_iter().enumerate();
    for (i, strategy) in together.chain(strategies) {
        let (buckets, function) = [(3, BITS), (2, BucketFunction::Range), (33, BITS)][i % 3];
        let case =
            Case::new(Setup::Late(16), &SplitterInfo::pairs(buckets, function).strategy(strategy)).ranges(0, 1 << 27);
        let asked = if function == BITS { Asked { width: 0, ..case.asked } } else { case.asked };
        let case = Case { asked, ..case };
        let n = case.tiles(19);
        case.split(&[case.draw(Keys::Random, n, 1), case.draw(Keys::LowEntropy, n, 2)], Together::Singles, 9);
        assert_silence(&case.context);
    }
}

/// The same without a histogram: published prefixes begin at 0, and the last ones give the bucket information.
pub(crate) fn late_tiles_of_other_outputs() {
    use SplitOutput::{Bucket, Placed, Ranks};
    let kinds = [
        (SplitterInfo::pairs(2, BITS).output(Bucket(1)), Strategy::Lookback),
        (SplitterInfo::pairs(33, BITS).output(Placed), Strategy::Lookback),
        (SplitterInfo::keys(5, BITS).output(Ranks), Strategy::Ring),
        (SplitterInfo::pairs(3, BITS).output(Placed), Strategy::ChainedScan),
        (SplitterInfo::keys(100, BITS).output(Bucket(99)), Strategy::RingInOrder),
        (SplitterInfo::keys(3, BITS).output(Ranks), Strategy::Lookback),
    ];
    for (_, (info, strategy)) in kinds.into_iter().enumerate().filter(|(index, _)| *index == 1 || in_rotation(*index)) {
        let case = Case::new(Setup::Late(16), &info.strategy(strategy));
        let n = case.tiles(19);
        let few = case.draw(Keys::LowEntropy, n, 2).counted(Counted::Device(n as u32 / 2));
        case.split(&[case.draw(Keys::Random, n, 1), few], Together::Singles, 9);
        assert_silence(&case.context);
    }
}
