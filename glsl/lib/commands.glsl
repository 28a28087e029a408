// VkDispatchIndirectCommand: a line of groups, in as few rows as do where it exceeds what one takes.
void write_command(Words commands, uint index, uint groups, uint max_groups_x) {
    uint rows = groups / max_groups_x + (groups % max_groups_x != 0 ? 1 : 0);
    commands.v[index * 3] = rows == 0 ? 0 : groups / rows + (groups % rows != 0 ? 1 : 0);
    commands.v[index * 3 + 1] = rows;
    commands.v[index * 3 + 2] = 1;
}
