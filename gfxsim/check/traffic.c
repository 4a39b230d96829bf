/* See traffic.h. */
#include "check/traffic.h"

#include <inttypes.h>

enum { MOST_LINES = 10 };

static const struct {
  const char *what, *hint;
} wastes[] = {
    [GS_WASTE_UNREAD] = {"to the device, where no kernel read them",
                         "map(from:), map(alloc:), or less of it"},
    [GS_WASTE_REPEATED] = {"to the device, which had them", "target data around the regions"},
    [GS_WASTE_UNCHANGED] = {"to the host, which had them", "map(to:)"},
};

/* The waste with the most bytes of those that come behind `last` in the order of the table. */
static const gs_variable_t *find_next(const gs_variable_t *first, const gs_variable_t *last,
                                      gs_waste_t *kind) {
  const gs_variable_t *found = NULL;
  const uint64_t limit = last ? last->bytes[*kind] : UINT64_MAX;
  const gs_waste_t last_kind = *kind;
  uint64_t most = 0;
  bool behind = !last;
  for (const gs_variable_t *variable = first; variable; variable = variable->next)
    for (gs_waste_t i = 0; i < GS_WASTE_COUNT; i++) {
      const uint64_t bytes = variable->bytes[i];
      /* Of as many bytes as the last, those that come later in the list. */
      if (bytes > most && (bytes < limit || (bytes == limit && behind))) {
        most = bytes;
        found = variable;
        *kind = i;
      }
      behind |= variable == last && i == last_kind;
    }
  return found;
}

void gs_traffic_write(gs_text_t *text, const gs_variable_t *first, uint64_t copied) {
  const gs_variable_t *variable = NULL;
  gs_waste_t kind = 0;
  for (unsigned i = 0; i < MOST_LINES && (variable = find_next(first, variable, &kind)); i++) {
    if (i == 0)
      gs_text_line(text, "Copies that nobody needed, of %" PRIu64 " bytes that were copied:", copied);
    char place[GS_BLOCK_NAME + 24] = "";
    if (*variable->file)
      snprintf(place, sizeof place, " (%s:%" PRIu32 ")", variable->file, variable->line);
    gs_text_line(text, "%12" PRIu64 " bytes (%2" PRIu64 " %%) of %s%s%s%s in %" PRIu64 " copies %s: %s",
                 variable->bytes[kind], copied ? 100 * variable->bytes[kind] / copied : 0,
                 *variable->name ? "`" : "", *variable->name ? variable->name : "a variable",
                 *variable->name ? "`" : "", place, variable->times[kind], wastes[kind].what,
                 wastes[kind].hint);
  }
}
