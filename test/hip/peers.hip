// Two devices: copies between them, and a kernel of one that reads memory of the other.
#include "hip_test.h"

__global__ void read_peer(const unsigned *theirs, unsigned *mine, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    mine[i] = theirs[i] ^ 0x55555555u;
}

int main() {
  enum { COUNT = 50000 };
  int devices = 0, can = 0;
  CALL(hipGetDeviceCount(&devices));
  EXPECT(devices == 2);
  CALL(hipDeviceCanAccessPeer(&can, 0, 1));
  EXPECT(can == 1);
  std::vector<unsigned> host(COUNT), back(COUNT);
  for (unsigned i = 0; i < COUNT; i++)
    host[i] = i * 2654435761u;
  unsigned *memory[2];
  for (int device = 0; device < 2; device++) {
    CALL(hipSetDevice(device));
    CALL(hipDeviceEnablePeerAccess(1 - device, 0));
    memory[device] = allocate<unsigned>(COUNT);
  }
  CALL(hipSetDevice(0));
  CALL(hipMemcpy(memory[0], host.data(), COUNT * sizeof(unsigned), hipMemcpyHostToDevice));
  CALL(hipMemcpyPeer(memory[1], 1, memory[0], 0, COUNT * sizeof(unsigned)));
  CALL(hipMemcpy(back.data(), memory[1], COUNT * sizeof(unsigned), hipMemcpyDeviceToHost));
  EXPECT(back == host);
  read_peer<<<groups_for(COUNT), THREADS>>>(memory[1], memory[0], COUNT);
  CALL(hipMemcpy(back.data(), memory[0], COUNT * sizeof(unsigned), hipMemcpyDeviceToHost));
  for (unsigned i = 0; i < COUNT; i++)
    EXPECT(back[i] == (host[i] ^ 0x55555555u));
  return 0;
}
