// The items of a batch that may belong to a workgroup: those of one slice, or of the slices that share an overflow
// slice. Positions are those in the sorted order.

// Items that a thread tests at a time: the components of a vector.
const uint CHUNK_ITEMS = 4;
const uint CHUNK = CHUNK_ITEMS * THREADS;

// Slices of this dispatch that share a workgroup.
#ifdef OVERFLOW
const uint SHARE = OVERFLOW_SHARE;
#else
const uint SHARE = 1;
#endif

// Number of workgroups that have slices. Dispatches may have more.
uint slice_count() { return (table_slices() + SHARE - 1) / SHARE; }

// The home slices of the items that this workgroup may have.
uint first_home() { return linear_group() * SHARE; }
uint last_home() { return linear_group() * SHARE + SHARE - 1; }

// Whether an item with this hash belongs to this workgroup.
bool is_own(uint hash) {
    uint home = slice_of(hash);
    return home >= first_home() && home <= last_home();
}

// The first hash of a bin.
uint first_hash(uint bin) { return bin << 32 - args.bin_bits; }

// The first bin with hashes of this slice or a later one.
uint first_bin(uint slice) {
    uint last = (1u << args.bin_bits) - 1;
    // Rounding may move the quotient across one bin, but not across two.
    float quotient = float(slice) / float(table_slices()) * float(last + 1);
    uint bin = min(uint(max(quotient - 1, 0)), last);
    while (bin <= last && slice_of(first_hash(bin) | first_hash(1) - 1) < slice) ++bin;
    return bin;
}

// The positions of the bins of this workgroup: [x, y).
uvec2 own_positions() {
    if (args.bin_bits == 0) return uvec2(0, batch_count());
    uint last = min(last_home() + 1, table_slices());
    uint end = first_bin(last);
    // The bin at the end may begin with hashes of this slice.
    if (last < table_slices() && slice_of(first_hash(end)) < last) ++end;
    return uvec2(bins().v[first_bin(first_home())], bins().v[end]);
}
