// What both of the example's own dispatches work on: values are indices, keys a hash of them that leaves many equal.

#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 64) in;

layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Words { uint v[]; };

layout(push_constant, scalar) uniform Args {
    uvec2 keys;
    uvec2 values;
    uvec2 faults;
    uint count;
} args;

uint key_of(uint value)
{
    return (value * 2654435761u) >> 12;
}
