// What kernels ask of the host: printf, memory, and assertions that hold.
#include "hip_test.h"

#include <cassert>
#include <string>

struct node {
  node *next;
  unsigned value;
};

__device__ node *first;

__global__ void build(unsigned count) {
  if (threadIdx.x)
    return;
  for (unsigned i = 0; i < count; i++) {
    node *made = static_cast<node *>(malloc(sizeof(node)));
    made->next = first;
    made->value = i;
    first = made;
  }
}

__global__ void sum_up(unsigned *sum) {
  for (node *at = first; at;) {
    node *next = at->next;
    *sum += at->value;
    free(at);
    at = next;
  }
  assert(*sum != 0);
}

__global__ void say(double value, const char *text) {
  printf("lane %u of %s: %.3f %lld %c\n", unsigned(threadIdx.x), text, value + threadIdx.x, -123456789012ll, 'x');
}

int main() {
  enum { COUNT = 100, LANES = 3 };
  unsigned *sum = allocate<unsigned>(1), host = 0;
  CALL(hipMemset(sum, 0, sizeof *sum));
  build<<<1, 64>>>(COUNT);
  sum_up<<<1, 1>>>(sum);
  CALL(hipMemcpy(&host, sum, sizeof host, hipMemcpyDeviceToHost));
  EXPECT(host == COUNT * (COUNT - 1) / 2);
  // What is printed goes to a file here.
  char path[] = "/tmp/hip-services.XXXXXX";
  const int file = mkstemp(path);
  EXPECT(file >= 0 && std::freopen(path, "w", stdout));
  char *text = allocate<char>(8);
  CALL(hipMemcpy(text, "a wave", 7, hipMemcpyHostToDevice));
  say<<<1, LANES>>>(0.5, text);
  CALL(hipDeviceSynchronize());
  std::fflush(stdout);
  FILE *stream = std::fopen(path, "r");
  char line[128], expected[128];
  unsigned seen = 0;
  EXPECT(stream);
  while (std::fgets(line, sizeof line, stream)) {
    std::snprintf(expected, sizeof expected, "lane %u of a wave: %.3f %lld %c\n", seen, 0.5 + seen, -123456789012ll, 'x');
    EXPECT(std::string(line) == expected);
    seen++;
  }
  EXPECT(seen == LANES);
  std::remove(path);
  return 0;
}
