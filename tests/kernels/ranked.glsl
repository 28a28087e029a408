// A comparator for tests: looks up the ranks of keys in a table. words.x is the number of ranks.

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Table {
    uint ranks[];
};

bool trm_less(KEY a, KEY b, TrmUserData data) {
    Table table = Table(data.address);
    return table.ranks[a % data.words.x] < table.ranks[b % data.words.x];
}
