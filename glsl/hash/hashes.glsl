// Keys of hash tables: the two reserved ones, and the header of a table.

#include "core/pairs.glsl"
#include "hash/key.glsl"

layout(constant_id = SPEC_VALUE_WORDS) const uint VALUE_WORDS = 1;

// Whether the header has the number of slices, which resize.comp changes. Otherwise the host knows it.
layout(constant_id = SPEC_RESIZABLE) const uint RESIZABLE = 0;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Header {
    HashHeader v[];
};

uint resizable_slices;

// Reads the number of slices of a RESIZABLE table. Kernels that access slots call it first. The number is limited, so a
// corrupt header causes no access beyond the table.
void open_table() {
    if (RESIZABLE == 0) return;
    resizable_slices = clamp(Header(args.problem.table).v[0].slices, 1u, args.problem.slices);
}

// Number of slices of the table, without overflow slices.
uint table_slices() { return RESIZABLE != 0 ? resizable_slices : args.problem.slices; }

// Address of the value of a reserved key.
uvec2 reserved_value(uint reserved) {
    return advance(args.problem.table, uvec2((RESERVED_VALUES + 4 * reserved) * 4, 0));
}

layout(buffer_reference, scalar, buffer_reference_align = 16) buffer Quads {
    uvec4 v[];
};

const uint NOT_RESERVED = 2;

// Which of the keys EMPTY (0) and ERASED (1) a key is, or NOT_RESERVED.
uint reserved_index(uint key[KEY_WORDS]) {
    bool all = key[KEY_WORDS - 1] >= 0xfffffffeu;
    [[unroll]] for (uint w = 0; w + 1 < KEY_WORDS; ++w) all = all && key[w] == 0xffffffffu;
    return all ? 0xffffffffu - key[KEY_WORDS - 1] : NOT_RESERVED;
}

bool is_empty_key(uint key[KEY_WORDS]) {
    bool all = true;
    [[unroll]] for (uint w = 0; w < KEY_WORDS; ++w) all = all && key[w] == 0xffffffffu;
    return all;
}
