// Streams and events: copies and kernels of one stream are in order, those of two meet at an event.
#include "hip_test.h"

__global__ void scale(unsigned *data, size_t count, unsigned factor) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    data[i] = data[i] * factor + unsigned(i);
}

__global__ void add(const unsigned *a, unsigned *b, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    b[i] += a[i];
}

static void on_end(hipStream_t, hipError_t status, void *count) {
  *static_cast<int *>(count) += status == hipSuccess;
}

int main() {
  enum { STREAMS = 4, COUNT = 10000, ROUNDS = 5 };
  hipStream_t stream[STREAMS];
  unsigned *device[STREAMS], *host[STREAMS];
  hipEvent_t ready[STREAMS], begin, end;
  int ended = 0;
  CALL(hipEventCreate(&begin));
  CALL(hipEventCreate(&end));
  for (int s = 0; s < STREAMS; s++) {
    CALL(hipStreamCreateWithFlags(&stream[s], s % 2 ? hipStreamNonBlocking : hipStreamDefault));
    CALL(hipEventCreateWithFlags(&ready[s], hipEventDisableTiming));
    CALL(hipHostMalloc(reinterpret_cast<void **>(&host[s]), COUNT * sizeof(unsigned), 0));
    device[s] = allocate<unsigned>(COUNT);
    for (unsigned i = 0; i < COUNT; i++)
      host[s][i] = i + unsigned(s);
  }
  CALL(hipEventRecord(begin, stream[0]));
  for (int s = 0; s < STREAMS; s++) {
    CALL(hipMemcpyAsync(device[s], host[s], COUNT * sizeof(unsigned), hipMemcpyHostToDevice, stream[s]));
    for (int round = 0; round < ROUNDS; round++)
      scale<<<groups_for(COUNT), THREADS, 0, stream[s]>>>(device[s], COUNT, 3);
    CALL(hipEventRecord(ready[s], stream[s]));
  }
  for (int s = 1; s < STREAMS; s++) {
    CALL(hipStreamWaitEvent(stream[0], ready[s], 0));
    add<<<groups_for(COUNT), THREADS, 0, stream[0]>>>(device[s], device[0], COUNT);
  }
  CALL(hipMemcpyAsync(host[0], device[0], COUNT * sizeof(unsigned), hipMemcpyDeviceToHost, stream[0]));
  CALL(hipEventRecord(end, stream[0]));
  CALL(hipStreamAddCallback(stream[0], on_end, &ended, 0));
  CALL(hipStreamSynchronize(stream[0]));
  CALL(hipDeviceSynchronize());
  EXPECT(ended == 1);
  EXPECT(hipEventQuery(end) == hipSuccess);
  float milliseconds = -1;
  CALL(hipEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds > 0);
  for (unsigned i = 0; i < COUNT; i++) {
    unsigned sum = 0;
    for (unsigned s = 0; s < STREAMS; s++) {
      unsigned value = i + s;
      for (int round = 0; round < ROUNDS; round++)
        value = value * 3 + i;
      sum += value;
    }
    EXPECT(host[0][i] == sum);
  }
  for (int s = 0; s < STREAMS; s++)
    CALL(hipStreamDestroy(stream[s]));
  return 0;
}
