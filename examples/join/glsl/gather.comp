// In:  for each order, the row of its customer, or all ones; the city of each customer.
// Out: for each order, the city of its customer, or all ones.
// Progress: none needed.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 128) in;
// Orders of an invocation.
const uint ORDERS = 4;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };

// The host's twin is `Args` in record.rs.
layout(push_constant, scalar) uniform Args {
    uvec2 rows;
    uvec2 cities;
    uvec2 order_cities;
    uint order_count;
    uint customer_count;
} args;

void main() {
    for (uint k = 0; k < ORDERS; ++k) {
        uint i = (gl_WorkGroupID.x * ORDERS + k) * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
        if (i >= args.order_count) {
            return;
        }
        uint row = Words(args.rows).v[i];
        uint city = 0xffffffffu;
        if (row < args.customer_count) {
            city = Words(args.cities).v[row];
        }
        Words(args.order_cities).v[i] = city;
    }
}
