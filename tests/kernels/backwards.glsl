// Another function of the same keys: as spread.glsl, with the table read from its end.

layout(buffer_reference, scalar, buffer_reference_align = 4) readonly buffer Table {
    uint buckets[];
};

uint trm_bucket(KEY key, uint index, TrmUserData data) {
    return Table(data.address).buckets[data.words.x - 1 - key % data.words.x] + (index & data.words.w);
}
