// Exclusive scan of one value for each thread of the workgroup. Also returns the sum of all values.
shared uint sh_subgroup_sums[THREADS / 4];

uint scan_threads(uint value, out uint total) {
    uint inclusive = inclusive_add(value);
    uint lanes = lane_count();
    uint subgroups = THREADS / lanes;
    if (lane_id() == lanes - 1) sh_subgroup_sums[subgroup_id()] = inclusive;
    barrier();
    // Every subgroup scans the sums of all subgroups, one for each lane, and selects its own exclusive prefix.
    uint before = 0;
    total = 0;
    for (uint first = 0; first < subgroups; first += lanes) {
        uint s = first + lane_id();
        uint prefix = total + inclusive_add(s < subgroups ? sh_subgroup_sums[s] : 0);
        uint picked = shuffle(prefix, (subgroup_id() + lanes - 1) % lanes);
        if (subgroup_id() > first && subgroup_id() <= first + lanes) before = picked;
        total = shuffle(prefix, lanes - 1);
    }
    barrier();
    return before + inclusive - value;
}
