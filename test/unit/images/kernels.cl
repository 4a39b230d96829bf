// Kernels for code object v5: one that reads hidden arguments, and one whose need for stack is not known.
__kernel void fill(__global unsigned *out, unsigned value) {
  __constant ushort *hidden = (__constant ushort *)__builtin_amdgcn_implicitarg_ptr();
  uint blocks = *(__constant uint *)hidden;
  out[__builtin_amdgcn_workgroup_id_x() * hidden[6] + __builtin_amdgcn_workitem_id_x()] = value + blocks + hidden[32];
}

unsigned elsewhere(unsigned n); // the compiler cannot see how much stack it takes

__kernel void dynamic_stack(__global unsigned *out) { *out = elsewhere(*out); }
