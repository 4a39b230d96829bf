/* What LIBOMPTARGET_INFO shows of constructs and maps, in the words of LLVM's library, since people and tests
 * read them. Not here: what it shows of launches (openmp/trace), and failures (message). */
#ifndef TGT_INFO_H
#define TGT_INFO_H

#include "ompt.h"
#include "runtime.h"

/* Bits of LIBOMPTARGET_INFO. */
enum {
  TGT_INFO_ARGUMENTS = 1, /* of each construct */
  TGT_INFO_EXISTS = 2,    /* what is mapped already */
  TGT_INFO_TABLE = 4,     /* the table after each construct */
  TGT_INFO_CHANGED = 8,   /* what begins and ends to be mapped */
  TGT_INFO_COPIES = 0x20,
  TGT_INFO_ABSENT = 0x40, /* what has no counterpart on the device */
  TGT_INFO_OF_CONSTRUCTS = TGT_INFO_ARGUMENTS | TGT_INFO_TABLE,
  TGT_INFO_OF_MAPS = TGT_INFO_EXISTS | TGT_INFO_CHANGED | TGT_INFO_COPIES | TGT_INFO_ABSENT,
};

typedef enum tgt_construct {
  TGT_CONSTRUCT_REGION,
  TGT_CONSTRUCT_BEGIN,
  TGT_CONSTRUCT_END,
  TGT_CONSTRUCT_UPDATE,
} tgt_construct_t;

/* The bits as they are now. */
static inline uint32_t tgt_info(void) {
  return atomic_load_explicit(&atmi_context()->info, memory_order_relaxed);
}

/* Whether somebody may want to see constructs: tgt_info_begin and _end know who. */
static inline bool tgt_info_wants_constructs(void) {
  return atomic_load_explicit(&atmi_context()->watched, memory_order_relaxed);
}

/* Tells the context whether somebody looks on, at constructs or what is mapped: to be called after each
 * change of that, and before devices can be used. Thread-safe. */
void tgt_info_watch(void);

/* The device of a construct, if there is one and nobody looks on, at launches, constructs or maps. False: all
 * of that is to be asked. A kernel that is found there can be launched; what is mapped is to be asked for
 * only if also tgt_runtime_is_loaded. */
static inline __attribute__((always_inline)) bool tgt_info_use_unseen(tgt_runtime_t *runtime, int64_t number,
                                                                      tgt_device_t **device) {
  /* Before it is known whether there is a tool somebody looks on, and then the devices are made. */
  if (!atmi_context_is_plain(atmi_context(), number))
    return false;
  *device = &runtime->devices[number];
  return true;
}

/* Prints a construct and its arguments, if that is wanted; before and behind it. */
void tgt_info_begin(const tgt_device_t *device, const tgt_ident_t *where, tgt_construct_t construct,
                    const map_arguments_t *arguments);
void tgt_info_end(const tgt_device_t *device, const tgt_ident_t *where);

/* Prints what is mapped. */
void tgt_info_dump(const tgt_device_t *device, const tgt_ident_t *where);

/* Prints what libraries have for a device, the first of them and those behind it, if
 * OMPTARGET_DUMP_OFFLOAD_ENTRIES names the device: kernels and variables. */
void tgt_info_entries(const tgt_device_t *device, const tgt_library_t *first);

/* Listens to the device's table of maps, or not, as the bits and lint say. */
void tgt_info_listen(const tgt_device_t *device);

#endif
