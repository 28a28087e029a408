// A comparator for tests: keys are indices of their ranks in a table. Other keys would be outside of it.

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Table {
    uint ranks[];
};

bool trm_less(KEY a, KEY b, TrmUserData data) {
    Table table = Table(data.address);
    return table.ranks[a] < table.ranks[b];
}
