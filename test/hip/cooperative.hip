// Cooperative groups: a whole grid meets at a barrier, and tiles of a wave reduce.
#include "hip_test.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

// Each round reads what another group has written in the round before.
__global__ void rotate(unsigned *data, unsigned count, unsigned rounds) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = unsigned(grid.thread_rank());
  for (unsigned round = 0; round < rounds; round++) {
    const unsigned next = data[(i + blockDim.x) % count];
    grid.sync();
    data[i] = next + round;
    grid.sync();
  }
}

__global__ void reduce(unsigned *sums) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  unsigned value = block.thread_rank();
  for (unsigned step = tile.size() / 2; step; step /= 2)
    value += tile.shfl_down(value, step);
  if (tile.thread_rank() == 0)
    sums[block.thread_rank() / tile.size()] = value;
}

static hipError_t launch(unsigned *data, unsigned groups, unsigned rounds) {
  unsigned count = groups * THREADS;
  void *arguments[] = {&data, &count, &rounds};
  return hipLaunchCooperativeKernel(reinterpret_cast<void *>(rotate), dim3(groups), dim3(THREADS), arguments, 0, nullptr);
}

static void rotate_here_and_there(unsigned groups, unsigned rounds) {
  const unsigned count = groups * THREADS;
  std::vector<unsigned> host(count), expected(count);
  for (unsigned i = 0; i < count; i++)
    host[i] = expected[i] = i * i;
  for (unsigned round = 0; round < rounds; round++) {
    const std::vector<unsigned> before = expected;
    for (unsigned i = 0; i < count; i++)
      expected[i] = before[(i + THREADS) % count] + round;
  }
  unsigned *data = allocate<unsigned>(count);
  CALL(hipMemcpy(data, host.data(), count * sizeof(unsigned), hipMemcpyHostToDevice));
  CALL(launch(data, groups, rounds));
  CALL(hipDeviceSynchronize());
  CALL(hipMemcpy(host.data(), data, count * sizeof(unsigned), hipMemcpyDeviceToHost));
  EXPECT(host == expected);
  CALL(hipFree(data));
}

int main() {
  int cooperative = 0, device = 0, per_cu = 0, cus = 0;
  CALL(hipGetDevice(&device));
  CALL(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, device));
  EXPECT(cooperative == 1);
  CALL(hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, device));
  CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_cu, rotate, THREADS, 0));
  rotate_here_and_there(6, 7);
  rotate_here_and_there(1, 3);
  rotate_here_and_there(unsigned(per_cu * cus), 2); // as many as the device holds at once
  unsigned *data = allocate<unsigned>(THREADS);
  EXPECT(launch(data, unsigned(per_cu * cus) + 1, 1) == hipErrorCooperativeLaunchTooLarge);
  std::vector<unsigned> host(THREADS);
  reduce<<<1, THREADS>>>(data);
  CALL(hipMemcpy(host.data(), data, THREADS / 32 * sizeof(unsigned), hipMemcpyDeviceToHost));
  for (unsigned tile = 0; tile < THREADS / 32; tile++)
    EXPECT(host[tile] == tile * 32 * 32 + 31 * 32 / 2);
  return 0;
}
