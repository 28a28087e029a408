//! Chooses few candidates that serve all sizes well.

/// Minimum gain of one more span: a difference of the logarithms of times, summed over the sizes. Less is noise.
pub(super) const SPAN_COST: f64 = 0.03;

/// Consecutive sizes with one choice: those from the end of the span before up to `end`, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) end: usize,
    pub(super) choice: usize,
}

/// The largest count that is served like the sizes before index `end`, not like those from there on: the geometric mean
/// of the last one before and the first one behind.
pub(super) fn boundary(sizes: &[u32], end: usize) -> u32 {
    match (end.checked_sub(1).map(|last| sizes[last]), sizes.get(end)) {
        (None, _) => 0,
        (Some(last), Some(next)) => last.isqrt() * next.isqrt(),
        (Some(_), None) => u32::MAX,
    }
}

/// Cuts the sizes into at most `most` spans with a choice each and minimizes the product of all times. Each span costs
/// [`SPAN_COST`]. Times are `times[choice][size]`; in the last span, `at_last` replaces them.
pub(super) fn spans(times: &[&[f64]], at_last: &[&[f64]], most: usize) -> Vec<Span> {
    let sizes = times.first().map_or(0, |times| times.len());
    // `plans[end]`: cost and spans of the best cut of the sizes before `end`, for one number of spans after another.
    let mut plans: Vec<Option<(f64, Vec<Span>)>> = vec![None; sizes + 1];
    plans[0] = Some((0.0, Vec::new()));
    let mut answer: Option<(f64, Vec<Span>)> = None;
    for _ in 0..most {
        let mut longer = vec![None; sizes + 1];
        for (start, plan) in plans.iter().enumerate() {
            let Some((cost, cut)) = plan else { continue };
            for end in start + 1..=sizes {
                let times = if end == sizes { at_last } else { times };
                let costs = times.iter().map(|times| times[start..end].iter().map(|time| time.ln()).sum::<f64>());
                let Some((choice, span)) = costs.enumerate().min_by(|a, b| a.1.total_cmp(&b.1)) else { continue };
                let total = cost + span + SPAN_COST;
                if longer[end].as_ref().is_none_or(|(least, _)| total < *least) {
                    longer[end] = Some((total, cut.iter().copied().chain([Span { end, choice }]).collect()));
                }
            }
        }
        plans = longer;
        if let Some((cost, cut)) = &plans[sizes]
            && answer.as_ref().is_none_or(|(least, _)| cost < least)
        {
            answer = Some((*cost, cut.clone()));
        }
    }
    answer.map(|(_, cut)| cut).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_span_takes_its_best_choice() {
        let times: &[&[f64]] = &[&[1.0, 1.0, 9.0, 9.0], &[2.0, 2.0, 2.0, 9.0], &[9.0, 9.0, 9.0, 3.0]];
        let found = spans(times, times, 4);
        assert_eq!(found, [Span { end: 2, choice: 0 }, Span { end: 3, choice: 1 }, Span { end: 4, choice: 2 }]);
    }

    #[test]
    fn fewer_spans_are_kept_to() {
        let times: &[&[f64]] = &[&[1.0, 2.0, 2.0], &[2.0, 1.0, 2.0], &[2.0, 2.0, 1.0]];
        assert_eq!(spans(times, times, 3).len(), 3);
        assert_eq!(spans(times, times, 2).len(), 2);
        assert_eq!(spans(times, times, 2).last().map(|span| span.end), Some(3), "every size is served");
    }

    #[test]
    fn counts_are_cut_half_way() {
        let sizes = [1 << 16, 1 << 18, 1 << 20];
        assert_eq!([0, 1, 2, 3].map(|end| boundary(&sizes, end)), [0, 1 << 17, 1 << 19, u32::MAX]);
    }

    #[test]
    fn noise_makes_no_span() {
        let times: &[&[f64]] = &[&[1.00, 1.01, 1.00], &[1.01, 1.00, 1.01]];
        assert_eq!(spans(times, times, 4), [Span { end: 3, choice: 0 }]);
    }
}
