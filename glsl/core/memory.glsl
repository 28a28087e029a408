// Device memory as arrays of 32-bit words. An address is a uvec2 (low, high), so no module needs 64-bit integers.
// The byte offset of `words.v[i]` has 32 bits, enough for 2^30 words. Larger offsets must be added to the base.

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words {
    uint v[];
};

bool is_null(uvec2 address) {
    return (address.x | address.y) == 0;
}

// Returns an address plus a number of bytes (low, high).
uvec2 advance(uvec2 address, uvec2 bytes) {
    uint carry;
    uint low = uaddCarry(address.x, bytes.x, carry);
    return uvec2(low, address.y + bytes.y + carry);
}

// Returns the size of `count` items of `bytes` bytes each, as (low, high).
uvec2 bytes_of(uint count, uint bytes) {
    uint high, low;
    umulExtended(count, bytes, high, low);
    return uvec2(low, high);
}

// Accesses to words that other workgroups write in the same dispatch. Relaxed order suffices: each word carries
// everything that its reader needs.
uint load_relaxed(Words words, uint index) {
    return atomicLoad(words.v[index], gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

void store_relaxed(Words words, uint index, uint value) {
    atomicStore(words.v[index], value, gl_ScopeDevice, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
}

// Returns the index of this workgroup in the dispatch. Dispatches have at most MAX_GROUPS_X workgroups in x, and more
// rows in y.
uint linear_group() {
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}
