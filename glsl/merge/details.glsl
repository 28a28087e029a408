// The additional parameters of merges of segments, of merges with a comparator, and of updates: one MergeDetails for
// each problem, in scratch.

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer AllDetails {
    MergeDetails v[];
};

#define MERGE_DETAIL(type, member) \
    type merge_##member(uint p) { return AllDetails(scratch_part(args.details)).v[p].member; }

layout(constant_id = SPEC_OPERATION) const uint OPERATION = OPERATION_MERGE;

const bool SEGMENTED = (OPERATION & OPERATION_SEGMENTS) != 0;
const bool MARKS_VALUES = (OPERATION & 0xff) == OPERATION_UPDATE_BY_VALUE;
const bool UPDATES = (OPERATION & 0xff) == OPERATION_UPDATE || MARKS_VALUES;
