// Exclusive sum of a value a thread over the workgroup.
shared uint sh_subgroup_sums[THREADS / 4];

uint scan_threads(uint value, out uint total) {
    uint inclusive = inclusive_add(value);
    if (lane_id() == lane_count() - 1) sh_subgroup_sums[subgroup_id()] = inclusive;
    barrier();
    // A subgroup's sum for each lane: one read where each thread would take as many as there are subgroups.
    uint before = 0;
    total = 0;
    for (uint s = lane_id(); s < THREADS / lane_count(); s += lane_count()) {
        uint sum = sh_subgroup_sums[s];
        total += sum;
        if (s < subgroup_id()) before += sum;
    }
    before = sum_of_lanes(before);
    total = sum_of_lanes(total);
    barrier();
    return before + inclusive - value;
}
