// What the HIP programs of this folder share: checks that end the program and say where. Not here: anything
// about HIP itself.
#ifndef TEST_HIP_HIP_TEST_H
#define TEST_HIP_HIP_TEST_H

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

// A call of HIP that must succeed.
#define CALL(call)                                                                                           \
  do {                                                                                                       \
    const hipError_t status_of_call = (call);                                                                \
    if (status_of_call != hipSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, hipGetErrorString(status_of_call)); \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)

// What must be true.
#define EXPECT(condition)                                                                                    \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      std::fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                         \
      std::exit(1);                                                                                          \
    }                                                                                                        \
  } while (0)

enum { THREADS = 256 };

template <typename T> T *allocate(size_t count) {
  void *memory = nullptr;
  CALL(hipMalloc(&memory, count * sizeof(T)));
  return static_cast<T *>(memory);
}

inline unsigned groups_for(size_t count) {
  return static_cast<unsigned>((count + THREADS - 1) / THREADS);
}

#endif
