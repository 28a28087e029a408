// Exclusive sum of a value a thread over the workgroup.
shared uint sh_subgroup_sums[THREADS / 4];

uint scan_threads(uint value, out uint total) {
    uint inclusive = inclusive_add(value);
    uint lanes = lane_count();
    uint subgroups = THREADS / lanes;
    if (lane_id() == lanes - 1) sh_subgroup_sums[subgroup_id()] = inclusive;
    barrier();
    // Each subgroup scans the sums of all of them, a sum a lane, and picks the prefix that ends before its own.
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
