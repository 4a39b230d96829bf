/* The functions that programs call, by file. Device numbers are the program's: TGT_DEVICE_DEFAULT is libomp's
 * default device, the number behind all devices the host. Any thread may call any of them at any time. Arrays
 * of maps are the compiler's, have `count` elements, and may be NULL where there are none; `names` and
 * `mappers` also otherwise. */
#ifndef TGT_ENTRY_H
#define TGT_ENTRY_H

#include "abi.h"

/* ---- register.c ---- */

/* By constructors and destructors. The descriptor stays the program's, until it is unregistered. */
TGT_EXPORT void __tgt_register_lib(const tgt_descriptor_t *descriptor);
TGT_EXPORT void __tgt_unregister_lib(const tgt_descriptor_t *descriptor);
TGT_EXPORT void __tgt_register_requires(int64_t flags);
TGT_EXPORT void __tgt_init_all_rtls(void);
TGT_EXPORT void __tgt_rtl_init(void);
TGT_EXPORT void __tgt_rtl_deinit(void);

/* ---- region.c ---- */

/* 0: the region ran on the device. Else the program runs its own version of it. [15-] */
TGT_EXPORT int __tgt_target_kernel(const tgt_ident_t *where, int64_t device, int32_t teams, int32_t threads,
                                   const void *id, const tgt_kernel_args_t *args);

/* Behind the arguments of what may run later: what it depends on. */
#define TGT_DEPEND int32_t depend_count, void *depend_list, int32_t other_count, void *other_list

/* [15] */
TGT_EXPORT int __tgt_target_kernel_nowait(const tgt_ident_t *where, int64_t device, int32_t teams,
                                          int32_t threads, const void *id, const tgt_kernel_args_t *args,
                                          TGT_DEPEND);

/* Maps of old entry points, and of the oldest. */
#define TGT_OLD_MAPS int32_t count, void **bases, void **begins, int64_t *sizes, int64_t *types
#define TGT_MAPS     TGT_OLD_MAPS, void **names, void **mappers

/* [13, 14], and without "_mapper" those of clang 11 and older */
TGT_EXPORT int __tgt_target_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS);
TGT_EXPORT int __tgt_target_nowait_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS,
                                          TGT_DEPEND);
TGT_EXPORT int __tgt_target_teams_mapper(const tgt_ident_t *where, int64_t device, const void *id, TGT_MAPS,
                                         int32_t teams, int32_t threads);
TGT_EXPORT int __tgt_target_teams_nowait_mapper(const tgt_ident_t *where, int64_t device, const void *id,
                                                TGT_MAPS, int32_t teams, int32_t threads, TGT_DEPEND);
TGT_EXPORT int __tgt_target(int64_t device, const void *id, TGT_OLD_MAPS);
TGT_EXPORT int __tgt_target_nowait(int64_t device, const void *id, TGT_OLD_MAPS, TGT_DEPEND);
TGT_EXPORT int __tgt_target_teams(int64_t device, const void *id, TGT_OLD_MAPS, int32_t teams,
                                  int32_t threads);
TGT_EXPORT int __tgt_target_teams_nowait(int64_t device, const void *id, TGT_OLD_MAPS, int32_t teams,
                                         int32_t threads, TGT_DEPEND);
/* Iterations of the loop of the thread's next region. [13, 14] */
TGT_EXPORT void __kmpc_push_target_tripcount_mapper(const tgt_ident_t *where, int64_t device,
                                                    uint64_t tripcount);
TGT_EXPORT void __kmpc_push_target_tripcount(int64_t device, uint64_t tripcount);

/* ---- info.c ---- */

/* Sets the bits of LIBOMPTARGET_INFO. */
TGT_EXPORT void __tgt_set_info_flag(uint32_t flags);
TGT_EXPORT void __tgt_print_device_info(int64_t device);
TGT_EXPORT void ompx_dump_mapping_tables(void);

/* ---- operation.c ---- */

/* libomp asks whether what a task waits for has ended: *handle is NULL then. [16-] */
TGT_EXPORT void __tgt_target_nowait_query(void **handle);

/* ---- data.c ---- */

TGT_EXPORT void __tgt_target_data_begin_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS);
TGT_EXPORT void __tgt_target_data_begin_nowait_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS,
                                                      TGT_DEPEND);
TGT_EXPORT void __tgt_target_data_begin(int64_t device, TGT_OLD_MAPS);
TGT_EXPORT void __tgt_target_data_begin_nowait(int64_t device, TGT_OLD_MAPS, TGT_DEPEND);
TGT_EXPORT void __tgt_target_data_end_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS);
TGT_EXPORT void __tgt_target_data_end_nowait_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS,
                                                    TGT_DEPEND);
TGT_EXPORT void __tgt_target_data_end(int64_t device, TGT_OLD_MAPS);
TGT_EXPORT void __tgt_target_data_end_nowait(int64_t device, TGT_OLD_MAPS, TGT_DEPEND);
TGT_EXPORT void __tgt_target_data_update_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS);
TGT_EXPORT void __tgt_target_data_update_nowait_mapper(const tgt_ident_t *where, int64_t device, TGT_MAPS,
                                                       TGT_DEPEND);
TGT_EXPORT void __tgt_target_data_update(int64_t device, TGT_OLD_MAPS);
TGT_EXPORT void __tgt_target_data_update_nowait(int64_t device, TGT_OLD_MAPS, TGT_DEPEND);

/* What functions of `declare mapper` call, with the handle that they were called with. */
TGT_EXPORT int64_t __tgt_mapper_num_components(void *handle);
TGT_EXPORT void __tgt_push_mapper_component(void *handle, void *base, void *begin, int64_t size, int64_t type,
                                            void *name);

/* ---- ompt.c: ompt_libomptarget_connect, see ompt.h ---- */

/* ---- foreign.c ---- */

/* Refused: nothing happens but a message. Arguments that are not looked at are left out. */
TGT_EXPORT int __tgt_activate_record_replay(int64_t device);
TGT_EXPORT int __tgt_target_kernel_replay(const tgt_ident_t *where);
TGT_EXPORT unsigned __llvmPushCallConfiguration(void);
TGT_EXPORT unsigned __llvmPopCallConfiguration(void);
TGT_EXPORT unsigned llvmLaunchKernel(void);
TGT_EXPORT void __tgt_register_rpc_callback(void *callback);
TGT_EXPORT size_t omp_get_gprivate_limit(int device, int group);

#endif
