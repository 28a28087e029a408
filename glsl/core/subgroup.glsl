// Subgroup functions. Kernels use subgroups only through these, so one kernel serves hardware subgroups of 4 to 128
// lanes. With EMULATED, subgroups have LANES lanes and consist of shared memory and barriers. Then the whole workgroup
// must reach every call.
//
// LANES: the subgroup size if the pipeline fixes it, or 0 if the device chooses.
// Threads are numbered by (subgroup, lane), never by gl_LocalInvocationID: Vulkan does not promise that the two agree.

layout(local_size_x_id = SPEC_THREADS) in;
layout(constant_id = SPEC_THREADS) const uint THREADS = 64;
layout(constant_id = SPEC_LANES) const uint LANES = 32;

#ifdef EMULATED

shared uvec4 sh_ballots[THREADS / 4];
shared uint sh_lane_values[THREADS];

uint lane_count() { return LANES; }
uint lane_id() { return gl_LocalInvocationIndex % LANES; }
uint subgroup_id() { return gl_LocalInvocationIndex / LANES; }
uint thread_id() { return gl_LocalInvocationIndex; }
void subgroup_sync() { barrier(); }

uvec4 lanes_below() {
    uint lane = lane_id();
    uvec4 mask = uvec4(0);
    for (uint word = 0; word < 4; ++word) {
        uint first = word * 32;
        mask[word] = lane >= first + 32 ? 0xffffffffu : lane > first ? (1u << (lane - first)) - 1 : 0;
    }
    return mask;
}

uvec4 ballot(bool set) {
    barrier();
    if (lane_id() == 0) sh_ballots[subgroup_id()] = uvec4(0);
    barrier();
    if (set) atomicOr(sh_ballots[subgroup_id()][lane_id() / 32], 1u << (lane_id() % 32));
    barrier();
    return sh_ballots[subgroup_id()];
}

uint inclusive_add(uint value) {
    uint thread = thread_id();
    barrier();
    sh_lane_values[thread] = value;
    for (uint step = 1; step < LANES; step *= 2) {
        barrier();
        uint add = lane_id() >= step ? sh_lane_values[thread - step] : 0;
        barrier();
        sh_lane_values[thread] += add;
    }
    barrier();
    return sh_lane_values[thread];
}

uint shuffle(uint value, uint lane) {
    barrier();
    sh_lane_values[thread_id()] = value;
    barrier();
    return sh_lane_values[subgroup_id() * LANES + lane];
}

#else

uint lane_count() { return LANES != 0 ? LANES : gl_SubgroupSize; }
uint lane_id() { return gl_SubgroupInvocationID; }
uint subgroup_id() { return gl_SubgroupID; }
uint thread_id() { return gl_SubgroupID * lane_count() + gl_SubgroupInvocationID; }
void subgroup_sync() { subgroupBarrier(); }
uvec4 lanes_below() { return gl_SubgroupLtMask; }
uvec4 ballot(bool set) { return subgroupBallot(set); }
uint inclusive_add(uint value) { return subgroupInclusiveAdd(value); }
uint shuffle(uint value, uint lane) { return subgroupShuffle(value, lane); }
// There is no subgroupAdd or other reduction. After a loop that a workgroup may leave early, NVIDIA's driver 580.159
// predicates the instruction of a reduction by a register that is not set yet (docs/portability.md).
//
// Not available with emulated subgroups, which do not need it.
bool all_lanes(bool value) { return subgroupAll(value); }

#endif

// Compares LANES instead of lane_count(): if the size is fixed, the branches vanish before register allocation.
uint count_bits(uvec4 mask) {
    uint n = bitCount(mask.x);
    if (LANES == 0 || LANES > 32) n += bitCount(mask.y);
    if (LANES == 0 || LANES > 64) n += bitCount(mask.z) + bitCount(mask.w);
    return n;
}
