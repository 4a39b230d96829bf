// Memory at addresses of the program's choice: two pieces side by side, then one of them elsewhere.
#include "hip_test.h"

__global__ void number(unsigned *data, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    data[i] = unsigned(i) * 7;
}

int main() {
  int supported = 0;
  CALL(hipDeviceGetAttribute(&supported, hipDeviceAttributeVirtualMemoryManagementSupported, 0));
  EXPECT(supported == 1);
  hipMemAllocationProp kind = {};
  kind.type = hipMemAllocationTypePinned;
  kind.location.type = hipMemLocationTypeDevice;
  size_t piece = 0;
  CALL(hipMemGetAllocationGranularity(&piece, &kind, hipMemAllocationGranularityRecommended));
  EXPECT(piece > 0);
  hipMemGenericAllocationHandle_t handle[2];
  hipMemAccessDesc access = {};
  access.location = kind.location;
  access.flags = hipMemAccessFlagsProtReadWrite;
  void *address = nullptr, *other = nullptr;
  CALL(hipMemAddressReserve(&address, 2 * piece, 0, nullptr, 0));
  CALL(hipMemAddressReserve(&other, piece, 0, nullptr, 0));
  for (size_t i = 0; i < 2; i++) {
    CALL(hipMemCreate(&handle[i], piece, &kind, 0));
    CALL(hipMemMap(static_cast<char *>(address) + i * piece, piece, 0, handle[i], 0));
  }
  CALL(hipMemSetAccess(address, 2 * piece, &access, 1));
  const size_t count = 2 * piece / sizeof(unsigned);
  number<<<groups_for(count), THREADS>>>(static_cast<unsigned *>(address), count);
  CALL(hipDeviceSynchronize());
  CALL(hipMemUnmap(static_cast<char *>(address) + piece, piece));
  CALL(hipMemMap(other, piece, 0, handle[1], 0));
  CALL(hipMemSetAccess(other, piece, &access, 1));
  std::vector<unsigned> host(count / 2);
  CALL(hipMemcpy(host.data(), other, piece, hipMemcpyDeviceToHost));
  for (size_t i = 0; i < host.size(); i++)
    EXPECT(host[i] == unsigned(i + count / 2) * 7);
  CALL(hipMemUnmap(address, piece));
  CALL(hipMemUnmap(other, piece));
  for (int i = 0; i < 2; i++)
    CALL(hipMemRelease(handle[i]));
  CALL(hipMemAddressFree(address, 2 * piece));
  CALL(hipMemAddressFree(other, piece));
  return 0;
}
