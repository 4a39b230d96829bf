/* What the mapping engine tells others: failures, always; and to a listener, if there is one, each thing that
 * happens to a map (for LIBOMPTARGET_INFO, lint). Not here: where texts go. */
#ifndef MAP_NOTE_H
#define MAP_NOTE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum map_status {
  MAP_OK = 0,
  MAP_INVALID,   /* the program broke a rule of OpenMP, or passed what no compiler writes */
  MAP_ABSENT,    /* something has to be present, and is not */
  MAP_HELD,      /* a construct with ompx_hold uses what is to go */
  MAP_NO_MEMORY, /* of the host; that of the device is MAP_DEVICE */
  MAP_DEVICE,    /* a function of the device failed, and has said why */
  MAP_AGAIN,     /* of map_work_end, no failure: wait for the stream and call it again */
} map_status_t;

#define MAP_MUST_CHECK __attribute__((warn_unused_result))

typedef enum map_note_kind {
  MAP_NOTE_CREATED,   /* an entry is new */
  MAP_NOTE_FOUND,     /* entering, there is one already */
  MAP_NOTE_LEFT,      /* leaving, one was found; the counts are those afterwards */
  MAP_NOTE_REMOVED,   /* an entry is gone and its memory is free */
  MAP_NOTE_SUBMIT,    /* a copy to the device was begun */
  MAP_NOTE_RETRIEVE,  /* a copy to the host was begun */
  MAP_NOTE_RETRIEVED, /* and has ended: the host's memory has the bytes */
  MAP_NOTE_HOST,      /* the device uses the host's memory */
  MAP_NOTE_ABSENT,    /* nothing is mapped there; `operation` says where that was met */
  MAP_NOTE_PARAMETER, /* a region's parameter was found, behind all that it maps; or what an update copies */
  MAP_NOTE_ATTACHED, /* a pointer on the device was set; `host` is where it is on the host, `name` the entry's
                      */
} map_note_kind_t;

typedef enum map_operation {
  MAP_BEGIN,  /* target enter data, the beginning of target data */
  MAP_END,    /* target exit data, the end of target data */
  MAP_UPDATE, /* target update */
  MAP_ENTER,  /* the beginning of a target region */
  MAP_LEAVE,  /* the end of a target region */
} map_operation_t;

/* The notes of one operation come in the order of its arguments (of those that leave: in reverse), those of
 * removal last. No lock is held: the listener may look at the table. */
typedef struct map_note {
  map_note_kind_t kind;
  map_operation_t operation;
  uint64_t type;          /* the argument's MAP_ bits, 0 where it is not about one */
  const char *name;       /* as the compiler wrote it, ";name;file;line;column;;"; may be NULL */
  const char *entry_name; /* of the list item that made the entry; likewise */
  uintptr_t host;         /* what the argument says, and its size */
  uint64_t bytes;
  uintptr_t base; /* of the entry, as in map_entry_view_t; 0 without one, and so below */
  uintptr_t begin, end;
  uintptr_t device;     /* where `host` is on the device */
  uintptr_t allocation; /* the beginning of the device's memory */
  uint32_t dynamic_count, hold_count;
  bool infinite; /* the dynamic count is: a global variable or an associated pointer */
  bool hold;     /* the argument counts the holds */
  bool counted;  /* this argument changed a count */
  bool last;     /* leaving: it is going to be removed. MAP_LEFT with DELETE in the type: was reset */
} map_note_t;

/* Functions of whoever made the table, and a context for them. */
typedef struct map_listener {
  void *context;
  /* A failure: lower case, without a full stop at its end; further lines behind "\n". The first line has
   * LLVM's words where its tests compare them. Never NULL. */
  void (*fail)(void *context, map_status_t status, const char *text);
  /* NULL: nobody listens, and it costs nothing. May change while no operation is under way. */
  void (*note)(void *context, const map_note_t *note);
} map_listener_t;

#endif
