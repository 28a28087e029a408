// Keys of a batch that a stencil selects: those with a bit that is set.

layout(constant_id = SPEC_STENCIL) const uint STENCIL = 0;

bool is_selected(uint index) {
    return STENCIL == 0 || (Words(args.problem.stencil).v[index / 32] >> index % 32 & 1) != 0;
}
