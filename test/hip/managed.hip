// Managed memory: one pointer for host and device, advice and prefetches, and a variable of that kind.
#include "hip_test.h"

__managed__ unsigned total = 5;

__global__ void count_up(unsigned *data, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count) {
    data[i] += 1;
    atomicAdd(&total, 1);
  }
}

int main() {
  enum { COUNT = 20000 };
  unsigned *data = nullptr;
  int managed = 0, device = 0;
  CALL(hipGetDevice(&device));
  CALL(hipDeviceGetAttribute(&managed, hipDeviceAttributeManagedMemory, device));
  EXPECT(managed == 1);
  CALL(hipMallocManaged(reinterpret_cast<void **>(&data), COUNT * sizeof *data, hipMemAttachGlobal));
  for (unsigned i = 0; i < COUNT; i++)
    data[i] = i * 3;
  CALL(hipMemAdvise(data, COUNT * sizeof *data, hipMemAdviseSetPreferredLocation, device));
  CALL(hipMemPrefetchAsync(data, COUNT * sizeof *data, device, nullptr));
  count_up<<<groups_for(COUNT), THREADS>>>(data, COUNT);
  CALL(hipDeviceSynchronize());
  CALL(hipMemPrefetchAsync(data, COUNT * sizeof *data, hipCpuDeviceId, nullptr));
  CALL(hipDeviceSynchronize());
  for (unsigned i = 0; i < COUNT; i++)
    EXPECT(data[i] == i * 3 + 1);
  EXPECT(total == 5 + COUNT);
  CALL(hipFree(data));
  return 0;
}
