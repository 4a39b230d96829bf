// How many groups of a kernel a compute unit holds: what follows from its registers and its local memory on gfx90a.
#include "hip_test.h"

__global__ void plain(unsigned *data) {
  data[threadIdx.x] = threadIdx.x;
}

__global__ void with_local(unsigned *data) {
  __shared__ unsigned local[4096]; // 16 KiB: four groups in 64 KiB
  local[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = local[blockDim.x - 1 - threadIdx.x];
}

int main() {
  int groups = 0, smallest = 0, size = 0, cus = 0;
  hipDeviceProp_t properties;
  CALL(hipGetDeviceProperties(&properties, 0));
  EXPECT(properties.warpSize == 64 && properties.sharedMemPerBlock == 65536);
  CALL(hipDeviceGetAttribute(&cus, hipDeviceAttributeMultiprocessorCount, 0));
  EXPECT(cus == properties.multiProcessorCount && cus > 0);
  CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, plain, THREADS, 0));
  EXPECT(groups == 8); // 8 waves on each of 4 SIMDs, 4 waves in a group
  CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, with_local, THREADS, 0));
  EXPECT(groups == 4);
  CALL(hipOccupancyMaxActiveBlocksPerMultiprocessor(&groups, plain, THREADS, 32768));
  EXPECT(groups == 2);
  CALL(hipOccupancyMaxPotentialBlockSize(&smallest, &size, plain, 0, 0));
  EXPECT(size > 0 && size <= 1024 && size % 64 == 0 && smallest > 0);
  return 0;
}
