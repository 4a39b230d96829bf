/* Constructs in the timeline. */
#include "profile.h"

#include "message.h"

#include "base/env.h"
#include "base/timeline.h"

#include <stdio.h>
#include <stdlib.h>

enum { NAME_BYTES = 400 };

/* Set before the first construct. */
static struct { uint64_t shortest; /* ticks: what takes less is left out */ } profile;

static atmi_timeline_t *timeline(void) {
  return atmi_context()->machine.timeline;
}

/* In microseconds, as LLVM has it; there the default is 500, here all is shown. */
static int64_t granularity(void) {
  static const atmi_env_row_t row = {.name = "LIBOMPTARGET_PROFILE_GRANULARITY", .most = INT32_MAX};
  const char *text = getenv(row.name), *reason;
  int64_t value = 0;
  if (text && *text && !atmi_env_parse(&row, text, &value, &reason)) {
    atmi_warn(NULL, "environment variable %s is ignored: %s", row.name, reason);
    return 0;
  }
  return value;
}

void tgt_profile_start(void) {
  if (!timeline())
    return;
  profile.shortest = (uint64_t)granularity() * atmi_context()->machine.timestamp_frequency / 1000000;
  tgt_ompt_watch();
}

void tgt_profile_begin(tgt_told_t *told) {
  told->begin = timeline() ? atmi_timeline_now() : 0;
}

/* As constructs are written; the beginning of `target data` is an enter data to us, and its end an exit data.
 */
static const char *const names[] = {
    [TGT_OMPT_TARGET] = "target",
    [TGT_OMPT_ENTER_DATA] = "target enter data",
    [TGT_OMPT_EXIT_DATA] = "target exit data",
    [TGT_OMPT_UPDATE] = "target update",
};

void tgt_profile_end(const tgt_told_t *told) {
  char name[NAME_BYTES];
  tgt_place_t place;
  if (!told->begin || atmi_timeline_now() - told->begin < profile.shortest)
    return;
  tgt_place_of_ident(told->where, &place);
  snprintf(name, sizeof name, "%s%s at %.*s:%ld:%ld", names[told->kind & ~TGT_OMPT_NOWAIT],
           told->kind & TGT_OMPT_NOWAIT ? " nowait" : "", place.file_length, place.file, place.line,
           place.column);
  atmi_timeline_host(timeline(), "construct", name, told->begin);
}
