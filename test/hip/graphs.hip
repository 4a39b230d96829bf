// Graphs: one that is captured from a stream, and one that is made of nodes, launched several times.
#include "hip_test.h"

__global__ void step(unsigned *data, size_t count, unsigned add) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    data[i] = data[i] * 5 + add;
}

enum { COUNT = 3000, LAUNCHES = 4 };

static void expect_launches(hipGraph_t graph, unsigned *device, const unsigned *result) {
  hipGraphExec_t ready;
  CALL(hipGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
  CALL(hipMemset(device, 0, COUNT * sizeof *device));
  unsigned expected = 0;
  for (int launch = 0; launch < LAUNCHES; launch++) {
    CALL(hipGraphLaunch(ready, nullptr));
    CALL(hipStreamSynchronize(nullptr));
    expected = (expected * 5 + 1) * 5 + 2;
    for (unsigned i = 0; i < COUNT; i++)
      EXPECT(result[i] == expected);
  }
  CALL(hipGraphExecDestroy(ready));
  CALL(hipGraphDestroy(graph));
}

int main() {
  unsigned *device = allocate<unsigned>(COUNT), *host = nullptr;
  const size_t size = COUNT * sizeof *device;
  hipStream_t stream;
  hipGraph_t graph;
  CALL(hipHostMalloc(reinterpret_cast<void **>(&host), size, 0));
  CALL(hipStreamCreate(&stream));
  CALL(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  step<<<groups_for(COUNT), THREADS, 0, stream>>>(device, COUNT, 1);
  step<<<groups_for(COUNT), THREADS, 0, stream>>>(device, COUNT, 2);
  CALL(hipMemcpyAsync(host, device, size, hipMemcpyDeviceToHost, stream));
  CALL(hipStreamEndCapture(stream, &graph));
  expect_launches(graph, device, host);

  hipGraphNode_t node[3];
  size_t count = COUNT;
  unsigned add[2] = {1, 2};
  CALL(hipGraphCreate(&graph, 0));
  for (int i = 0; i < 2; i++) {
    void *arguments[] = {&device, &count, &add[i]};
    hipKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void *>(step);
    kernel.gridDim = dim3(groups_for(COUNT));
    kernel.blockDim = dim3(THREADS);
    kernel.kernelParams = arguments;
    CALL(hipGraphAddKernelNode(&node[i], graph, i ? &node[i - 1] : nullptr, size_t(i), &kernel));
  }
  CALL(hipGraphAddMemcpyNode1D(&node[2], graph, &node[1], 1, host, device, size, hipMemcpyDeviceToHost));
  expect_launches(graph, device, host);
  return 0;
}
