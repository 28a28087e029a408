// A bucket function for tests, for keys of any type: looks the key up in a table, and adds the lowest bits of the index
// (words.w is their mask).

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Table {
    uint buckets[];
};

uint number(uint key) { return key; }
uint number(int key) { return uint(key); }
uint number(float key) { return floatBitsToUint(key); }
uint number(uvec2 key) { return key.x ^ key.y; }
uint number(uvec3 key) { return key.x ^ key.y ^ key.z; }
uint number(uvec4 key) { return key.x ^ key.y ^ key.z ^ key.w; }

uint trm_bucket(KEY key, uint index, TrmUserData data) {
    return Table(data.address).buckets[number(key) % data.words.x] + (index & data.words.w);
}
