// VkDispatchIndirectCommand for a number of workgroups. If x alone cannot hold them, the workgroups form as few rows
// (y) as possible.
//
// Without workgroups, the command is (0, least_rows, 1). The library's own passes use 0 rows: an H200 skips (0, 0, 1)
// faster than (0, 1, 1), which saves 1.3 us in a segmented sort without long segments.
layout(constant_id = SPEC_MAX_GROUPS_X) const uint MAX_GROUPS_X = 65535;

void write_command(Words commands, uint index, uint groups, uint least_rows) {
    uint rows = groups / MAX_GROUPS_X + (groups % MAX_GROUPS_X != 0 ? 1 : 0);
    commands.v[index * 3] = rows == 0 ? 0 : groups / rows + (groups % rows != 0 ? 1 : 0);
    commands.v[index * 3 + 1] = max(rows, least_rows);
    commands.v[index * 3 + 2] = 1;
}
