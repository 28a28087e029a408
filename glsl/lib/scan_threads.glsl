// Exclusive sum of a value a thread over the workgroup.
shared uint sh_subgroup_sums[THREADS / 4];

uint scan_threads(uint value, out uint total) {
    uint inclusive = inclusive_add(value);
    if (lane_id() == lane_count() - 1) sh_subgroup_sums[subgroup_id()] = inclusive;
    barrier();
    uint before = 0;
    total = 0;
    for (uint s = 0; s < THREADS / lane_count(); ++s) {
        if (s == subgroup_id()) before = total;
        total += sh_subgroup_sums[s];
    }
    barrier();
    return before + inclusive - value;
}
