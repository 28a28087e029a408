// Device memory as 32-bit words behind addresses. An address is a uvec2 (low, high): no module needs 64-bit integers.
// `words.v[i]` with a uint index reaches 4 GiB past its base, enough for 2^30 words: larger offsets go into the base.

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words {
    uint v[];
};

bool is_null(uvec2 address) {
    return (address.x | address.y) == 0;
}

// The address so many bytes (low, high) further on.
uvec2 advance(uvec2 address, uvec2 bytes) {
    uint carry;
    uint low = uaddCarry(address.x, bytes.x, carry);
    return uvec2(low, address.y + bytes.y + carry);
}

// `count` items of `bytes` bytes each, as (low, high).
uvec2 bytes_of(uint count, uint bytes) {
    uint high, low;
    umulExtended(count, bytes, high, low);
    return uvec2(low, high);
}

// Words that other workgroups write while this one runs. Relaxed: each word carries everything its reader needs.
uint load_relaxed(Words words, uint index) {
    return atomicLoad(words.v[index], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_relaxed(Words words, uint index, uint value) {
    atomicStore(words.v[index], value, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Dispatches have at most max_groups_x workgroups in x and go on in y; this is the workgroup's place in the whole line.
uint linear_group() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
