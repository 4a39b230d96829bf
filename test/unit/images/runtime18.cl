// What an image of clang 18 has for the plugin: kernel environments, a launch environment as the kernels' first argument,
// the device runtime's variables, and kernels that run constructors and destructors. Debian 12 has no clang 18.

typedef struct {
  uchar use_generic_state_machine, may_use_nested_parallelism, mode;
  int min_threads, max_threads, min_teams, max_teams, reduction_bytes, reduction_records;
  ulong ident, dynamic;
} kernel_environment;

typedef struct {
  uint count, iterations;
  __global ulong *buffer;
} launch_environment;

#define PROTECTED __attribute__((visibility("protected"), used))

// SPMD; at most 128 threads and 5 teams without clauses.
PROTECTED __constant kernel_environment reduces_kernel_environment = {0, 0, 2, 1, 128, 1, 5, 8, 1024, 0, 0};
// Generic, and SPMD without bounds.
PROTECTED __constant kernel_environment with_workers_kernel_environment = {1, 0, 1, 1, 1024, 0, 0, 0, 0, 0, 0};
PROTECTED __constant kernel_environment alike_kernel_environment = {0, 0, 2, 1, 1024, 0, 0, 0, 0, 0, 0};
PROTECTED __constant kernel_environment plain_kernel_environment = {0, 0, 2, 1, 256, 0, 0, 0, 0, 0, 0};

typedef struct {
  uint debug, devices, device, dynamic_lds;
  ulong clock, calls, call_count, parallelism;
} device_environment;
PROTECTED __global device_environment __omp_rtl_device_environment;
PROTECTED __global ulong __omp_rtl_device_memory_pool[2];
PROTECTED __global ulong __omp_rtl_device_memory_pool_tracker[4];
PROTECTED __global ulong constructed;
PROTECTED __global ulong indirect_first = 111, indirect_second = 222;
PROTECTED __global uint *__global destroyed_at;

// The same as clang 23 has it: no number of records, and the launch environment behind the arguments.
typedef struct {
  uchar use_generic_state_machine, may_use_nested_parallelism, mode;
  int min_threads, max_threads, min_teams, max_teams, reduction_bytes;
  ulong ident, dynamic;
} kernel_environment23;
typedef struct {
  __global ulong *buffer, *instead_of_lds;
  uint count, dynamic_lds;
  uchar instead;
} launch_environment23;
PROTECTED __constant kernel_environment23 reduces_23_kernel_environment = {0, 0, 2, 1, 128, 1, 0, 8, 0, 0};
PROTECTED __constant kernel_environment23 plain_23_kernel_environment = {0, 0, 2, 1, 256, 0, 0, 0, 0, 0};
// A table of virtual functions has several words, its variable here one that points to them.
PROTECTED __global ulong table_pointer = 5000;

// Each team leaves its number + 1 in the buffer; the last one sets the counters back and delivers the sum.
__kernel void reduces(__global launch_environment *environment, __global ulong *sum, ulong teams) {
  if (__builtin_amdgcn_workitem_id_x() != 0)
    return;
  uint team = __builtin_amdgcn_workgroup_id_x();
  ((volatile __global ulong *)environment->buffer)[team] = team + 1;
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  if (__builtin_amdgcn_atomic_inc32(&environment->count, ~0u, __ATOMIC_SEQ_CST, "agent") + 1 != teams)
    return;
  ulong total = 0;
  for (uint i = 0; i < teams; i++)
    total += ((volatile __global ulong *)environment->buffer)[i];
  *sum = total;
  environment->count = 0;
  environment->iterations = 0;
}

__kernel void reduces_23(__global ulong *sum, ulong teams, __global launch_environment23 *environment) {
  if (__builtin_amdgcn_workitem_id_x() != 0)
    return;
  uint team = __builtin_amdgcn_workgroup_id_x();
  ((volatile __global ulong *)environment->buffer)[team] = team + 1;
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  if (__builtin_amdgcn_atomic_inc32(&environment->count, (uint)teams - 1, __ATOMIC_SEQ_CST, "agent") + 1 != teams)
    return;
  ulong total = 0;
  for (uint i = 0; i < teams; i++)
    total += ((volatile __global ulong *)environment->buffer)[i];
  sum[0] = total;
  sum[1] = environment->dynamic_lds + environment->instead + (ulong)environment->instead_of_lds;
}

__kernel void plain_23(__global ulong *out, ulong unused, ulong environment) {
  if (__builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() != 0)
    return;
  out[0] = environment;
  out[1] = environment == ~0ul ? 0 : ((__global launch_environment23 *)environment)->dynamic_lds;
}

__kernel void plain(ulong environment, __global ulong *out) {
  if (__builtin_amdgcn_workitem_id_x() + __builtin_amdgcn_workgroup_id_x() != 0)
    return;
  out[0] = environment;
  out[1] = __omp_rtl_device_environment.devices;
  out[2] = __omp_rtl_device_environment.device;
  out[3] = __omp_rtl_device_environment.clock;
  out[4] = __omp_rtl_device_environment.call_count;
  out[5] = __omp_rtl_device_environment.parallelism;
  out[6] = __omp_rtl_device_memory_pool[0];
  out[7] = __omp_rtl_device_memory_pool[1];
  out[8] = __omp_rtl_device_memory_pool_tracker[2];
  out[9] = constructed;
  __global ulong *calls = (__global ulong *)__omp_rtl_device_environment.calls;
  for (uint i = 0; i < 10; i++)
    out[10 + i] = calls[i];
  ((__global uchar *)__omp_rtl_device_memory_pool[0])[__omp_rtl_device_memory_pool[1] - 1] = 1; // all of it is there
}

// How large the team is, how wide the wave, and how many lanes of the team's first wave are on.
static void tell_shape(__global ulong *out) {
  if (__builtin_amdgcn_workgroup_id_x() + __builtin_amdgcn_workitem_id_x() / __AMDGCN_WAVEFRONT_SIZE != 0)
    return;
  out[0] = __builtin_amdgcn_workgroup_size_x();
  out[1] = __AMDGCN_WAVEFRONT_SIZE;
  out[2] = __builtin_popcountl(__builtin_amdgcn_read_exec());
}
__kernel void with_workers(ulong environment, __global ulong *out) { tell_shape(out); }
__kernel void alike(ulong environment, __global ulong *out) { tell_shape(out); }

// No environment of its own: three dimensions.
__kernel void bare(ulong environment, __global uint *out) {
  enum { X = 64, Y = 2, Z = 2, WIDTH = X * 3, HEIGHT = Y * 4 }; // as the test launches it
  uint x = __builtin_amdgcn_workgroup_id_x() * X + __builtin_amdgcn_workitem_id_x();
  uint y = __builtin_amdgcn_workgroup_id_y() * Y + __builtin_amdgcn_workitem_id_y();
  uint z = __builtin_amdgcn_workgroup_id_z() * Z + __builtin_amdgcn_workitem_id_z();
  out[(z * HEIGHT + y) * WIDTH + x] = x + 1000 * y + 100000 * z + (environment != ~0ul);
}

__kernel void init(void) __asm__("amdgcn.device.init");
__kernel void init(void) { constructed += 42; }

__kernel void fini(void) __asm__("amdgcn.device.fini");
__kernel void fini(void) { *destroyed_at += 1; }
