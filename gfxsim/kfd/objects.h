/* The devices that the door opens as files, and the descriptors that mean them: whatever number they have,
 * however they were copied. Behind each is an empty file in memory, known by its inode. Not here: what the
 * devices do (kfd.h, drm.h). */
#ifndef GFXSIM_KFD_OBJECTS_H
#define GFXSIM_KFD_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "machine/machine.h"

/* An object is one of these, plus a GPU's ordinal if it is a render node or a card. */
enum {
  GS_OBJECT_KFD,
  GS_OBJECT_RENDER,
  GS_OBJECT_CARD = GS_OBJECT_RENDER + GS_MOST_GPUS,
  GS_OBJECTS = GS_OBJECT_CARD + GS_MOST_GPUS
};
enum { GS_OBJECT_NONE = -1, GS_OBJECT_PARENTS = -2 /* opened before a fork: of no use here */ };

enum { GS_DRM_MAJOR = 226, GS_KFD_MAJOR = 234, GS_FIRST_RENDER_MINOR = 128 };

/* A new descriptor of an object; `flags` as open takes them. -1 with errno when the host has none.
 * Thread-safe. */
int gs_object_open(int object, int flags);

/* Which object a descriptor means: or GS_OBJECT_NONE, GS_OBJECT_PARENTS. One that the program closed, all at
 * once perhaps, still means its object until another file gets its number. Thread-safe. */
int gs_object_of(int file);

/* Makes the status of a descriptor's file that of a device if it is one of ours. Thread-safe. */
void gs_object_dress(struct stat *status);

/* The device numbers of an object, and its path. */
dev_t gs_object_device(int object);
enum { GS_OBJECT_PATH_BYTES = 32 };
void gs_object_path(int object, char path[GS_OBJECT_PATH_BYTES]);

/* Whether an object was ever opened as this number: one look at a table, to know what is certainly none. */
bool gs_object_may_be(int file);

/* The ordinal of the GPU whose render node or card an object is, or -1. */
int gs_object_gpu(int object);

/* In a child after a fork: descriptors that there are are the parent's. */
void gs_objects_forget(void);

#endif
