/* The functions of OpenMP's API, and of LLVM's additions to it, that programs call. What they mean is in the
 * specification; what is said here goes beyond it. Devices are numbers from 0 on; the number behind the last
 * one is the host. All are thread-safe. */
#ifndef TGT_API_H
#define TGT_API_H

#include "runtime.h"

enum { TGT_DONE = 0, TGT_FAILED = ~0 };

/* Whether the number is the host's: the one behind all devices, or OpenMP's omp_initial_device. */
bool tgt_is_host(int number);
/* The device of this number, ready. NULL after a failure, described, and if it is the host or offloading is
 * disabled. */
tgt_device_t *tgt_api_device(int number, const char *operation);

/* ---- memory.c ---- */

TGT_EXPORT int omp_get_num_devices(void);
TGT_EXPORT int omp_get_initial_device(void);
TGT_EXPORT int omp_get_device_num(void);
/* A name that stays the same wherever the device is in the list; NULL if there is none. And what has it; -2
 * if nothing does. */
TGT_EXPORT const char *omp_get_uid_from_device(int device);
TGT_EXPORT int omp_get_device_from_uid(const char *uid);
TGT_EXPORT void *omp_target_alloc(size_t bytes, int device);
TGT_EXPORT void omp_target_free(void *memory, int device);
TGT_EXPORT void *llvm_omp_target_alloc_device(size_t bytes, int device);
TGT_EXPORT void *llvm_omp_target_alloc_host(size_t bytes, int device);
TGT_EXPORT void *llvm_omp_target_alloc_shared(size_t bytes, int device);
TGT_EXPORT void llvm_omp_target_free_device(void *memory, int device);
TGT_EXPORT void llvm_omp_target_free_host(void *memory, int device);
TGT_EXPORT void llvm_omp_target_free_shared(void *memory, int device);
TGT_EXPORT void *llvm_omp_target_dynamic_shared_alloc(void);
TGT_EXPORT void *llvm_omp_get_dynamic_shared(void);
/* The address at which devices see host memory, which stays pinned; NULL after a failure. */
TGT_EXPORT void *llvm_omp_target_lock_mem(void *host, size_t bytes, int device);
TGT_EXPORT void llvm_omp_target_unlock_mem(void *host, int device);
TGT_EXPORT void *omp_get_mapped_ptr(const void *host, int device);
TGT_EXPORT int omp_target_is_present(const void *host, int device);
TGT_EXPORT int omp_target_is_accessible(const void *host, size_t bytes, int device);
TGT_EXPORT int omp_target_associate_ptr(const void *host, const void *memory, size_t bytes, size_t offset,
                                        int device);
TGT_EXPORT int omp_target_disassociate_ptr(const void *host, int device);

/* ---- copy.c ---- */

TGT_EXPORT int omp_target_memcpy(void *destination, const void *source, size_t bytes,
                                 size_t destination_offset, size_t source_offset, int destination_device,
                                 int source_device);
TGT_EXPORT int omp_target_memcpy_async(void *destination, const void *source, size_t bytes,
                                       size_t destination_offset, size_t source_offset,
                                       int destination_device, int source_device, int depend_count,
                                       void *depend_list);
/* Without both addresses: how many dimensions it can do. */
TGT_EXPORT int omp_target_memcpy_rect(void *destination, const void *source, size_t element_bytes,
                                      int dimensions, const size_t *volume, const size_t *destination_offsets,
                                      const size_t *source_offsets, const size_t *destination_sizes,
                                      const size_t *source_sizes, int destination_device, int source_device);
TGT_EXPORT int omp_target_memcpy_rect_async(void *destination, const void *source, size_t element_bytes,
                                            int dimensions, const size_t *volume,
                                            const size_t *destination_offsets, const size_t *source_offsets,
                                            const size_t *destination_sizes, const size_t *source_sizes,
                                            int destination_device, int source_device, int depend_count,
                                            void *depend_list);
TGT_EXPORT void *omp_target_memset(void *memory, int value, size_t bytes, int device);
TGT_EXPORT void *omp_target_memset_async(void *memory, int value, size_t bytes, int device, int depend_count,
                                         void *depend_list);

#endif
