/* printf of LLVM libc 20 and later, whose server formats: it asks the wave for the arguments' bytes and for
 * each string, and has them printed. Not here: printing itself (services/print). */
#include "services/rpc_print.h"

#include "services/print.h"
#include "shared/print_message.h"

#include <stdlib.h>
#include <string.h>

/* What a lane prints, as it comes. The message grows behind its arguments, by each string. */
struct atmi_rpc_printing {
  enum { WANTS_FORMAT, WANTS_ARGUMENTS, WANTS_STRINGS } phase;
  bool failed;
  unsigned char *message; /* NULL until the format is there */
  uint64_t bytes;
  uint32_t sent_bytes;   /* of the arguments, as the client packs them */
  uint32_t at, position; /* the next conversion in the format, and its argument */
};

enum { MESSAGE_LIMIT = 1 << 30, TOTAL_LIMIT = INT32_MAX };

void atmi_rpc_printing_end(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane) {
  atmi_rpc_printing_t *printing = lane->printing;
  if (!printing)
    return;
  server->stored_bytes -= printing->bytes;
  free(printing->message);
  free(printing);
  lane->printing = NULL;
}

/* Room for so many bytes more, which are zeros. False: there is no memory, and nothing will be printed. */
static bool grow(atmi_rpc_server_t *server, atmi_rpc_printing_t *printing, uint64_t more) {
  uint64_t bytes = printing->bytes + more;
  unsigned char *longer = NULL;
  if (bytes <= MESSAGE_LIMIT && server->stored_bytes + more <= TOTAL_LIMIT)
    longer = realloc(printing->message, (size_t)bytes);
  if (!longer) {
    printing->failed = true;
    return false;
  }
  memset(longer + printing->bytes, 0, (size_t)more);
  printing->message = longer;
  printing->bytes = bytes;
  server->stored_bytes += more;
  return true;
}

static atmi_print_header_t header_of(const atmi_rpc_printing_t *printing) {
  atmi_print_header_t header;
  memcpy(&header, printing->message, sizeof header);
  return header;
}

static const char *format_of(const atmi_rpc_printing_t *printing) {
  return (const char *)printing->message + sizeof(atmi_print_header_t);
}

static unsigned char *arguments_of(const atmi_rpc_printing_t *printing) {
  return printing->message + sizeof(atmi_print_header_t) +
         atmi_print_padded(header_of(printing).format_bytes);
}

/* ---- arguments ---- */

/* Where arguments are: each at its own alignment, as in messages, or one right behind the other. */
typedef struct places {
  bool is_packed;
  uint32_t packed, aligned;
  /* The bytes of one place go to the other; NULL: only sizes are wanted. */
  const unsigned char *from;
  unsigned char *to;
} places_t;

static void place(places_t *places, uint32_t bytes) {
  uint32_t to = atmi_print_place(&places->aligned, bytes), from = to;
  if (places->is_packed) {
    from = places->packed;
    places->packed += bytes;
  }
  if (places->from)
    memcpy(places->to + to, places->from + from, bytes);
}

static uint32_t source_bytes(const places_t *places) {
  return places->is_packed ? places->packed : places->aligned;
}

static bool takes_argument(const atmi_print_conversion_t *found) {
  return found->kind != ATMI_PRINT_LITERAL && found->kind != ATMI_PRINT_ERROR;
}

/* Goes over all that the format wants. */
static void walk(const char *format, places_t *places) {
  atmi_print_conversion_t found;
  for (; atmi_print_next(format, &found) && found.kind != ATMI_PRINT_UNKNOWN; format = found.end) {
    if (found.width_from_argument)
      place(places, 4);
    if (found.precision_from_argument)
      place(places, 4);
    if (takes_argument(&found))
      place(places, atmi_print_bytes(found.kind));
  }
}

/* ---- phases ---- */

/* The format has come: how many bytes of arguments does it want? */
static void take_format(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane, uint64_t stream, bool is_packed) {
  atmi_rpc_printing_t *printing = lane->printing;
  places_t places = {.is_packed = is_packed};
  lane->words[0] = 0;
  /* The arguments of a format that is no longer take less than 32 bits can say: 16 bytes for three letters.
   */
  enum { LONGEST_FORMAT = 1 << 26 };
  bool ends =
      !lane->refused && lane->stored && lane->stored <= LONGEST_FORMAT && !lane->bytes[lane->stored - 1];
  if (!ends ||
      !grow(server, printing, sizeof(atmi_print_header_t) + atmi_print_padded((uint32_t)lane->stored))) {
    printing->failed = true;
    return;
  }
  walk((const char *)lane->bytes, &places);
  const atmi_print_header_t header = {
      .stream = stream, .format_bytes = (uint32_t)lane->stored, .argument_bytes = places.aligned};
  memcpy(printing->message, &header, sizeof header);
  memcpy(printing->message + sizeof header, lane->bytes, (size_t)lane->stored);
  printing->sent_bytes = source_bytes(&places);
  lane->words[0] = printing->sent_bytes;
}

static void take_arguments(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane, bool is_packed) {
  atmi_rpc_printing_t *printing = lane->printing;
  if (printing->failed || lane->refused || lane->stored != printing->sent_bytes ||
      !grow(server, printing, atmi_print_padded(header_of(printing).argument_bytes))) {
    printing->failed = true;
    return;
  }
  places_t places = {.is_packed = is_packed, .from = lane->bytes, .to = arguments_of(printing)};
  if (printing->sent_bytes)
    walk(format_of(printing), &places);
}

static void append_string(atmi_rpc_server_t *server, atmi_rpc_printing_t *printing,
                          const unsigned char *bytes, uint32_t length) {
  uint64_t at = printing->bytes, more = length == ATMI_PRINT_NULL ? 0 : length;
  if (!grow(server, printing, sizeof length + more))
    return;
  memcpy(printing->message + at, &length, sizeof length);
  if (more)
    memcpy(printing->message + at + sizeof length, bytes, (size_t)more);
}

/* Of a lane that was asked for one; it sends the NUL, too. */
static void take_string(atmi_rpc_server_t *server, atmi_rpc_lane_t *lane) {
  if (!lane->asked)
    return;
  if (lane->refused || !lane->stored)
    lane->printing->failed = true;
  else
    append_string(server, lane->printing, lane->bytes, (uint32_t)lane->stored - 1);
}

/* The address of the next string that is wanted, or 0. Null pointers, and strings of wide characters, whose
 * length the client cannot find, have none. */
static uint64_t next_string(atmi_rpc_server_t *server, atmi_rpc_printing_t *printing) {
  atmi_print_conversion_t found;
  while (!printing->failed && atmi_print_next(format_of(printing) + printing->at, &found) &&
         found.kind != ATMI_PRINT_UNKNOWN) {
    printing->at = (uint32_t)(found.end - format_of(printing));
    if (found.width_from_argument)
      (void)atmi_print_place(&printing->position, 4);
    if (found.precision_from_argument)
      (void)atmi_print_place(&printing->position, 4);
    if (!takes_argument(&found))
      continue;
    uint32_t at = atmi_print_place(&printing->position, atmi_print_bytes(found.kind));
    if (found.kind != ATMI_PRINT_STRING && found.kind != ATMI_PRINT_WIDE)
      continue;
    uint64_t address;
    memcpy(&address, arguments_of(printing) + at, sizeof address);
    if (address && found.kind == ATMI_PRINT_STRING)
      return address;
    append_string(server, printing, NULL, ATMI_PRINT_NULL);
  }
  return 0;
}

/* ---- the call ---- */

void atmi_rpc_print_collect(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  static const char another_string[] = "SNADS";
  const atmi_rpc_print_to_t to = port->operation->print_to;
  bool is_first = !lane->printing;
  if (is_first && !(lane->printing = calloc(1, sizeof *lane->printing)))
    return; /* it is asked for nothing more */
  atmi_rpc_printing_t *printing = lane->printing;
  if (printing->phase == WANTS_FORMAT) {
    take_format(server, lane, to.stream ? to.stream : lane->words[0], to.is_packed);
    printing->phase = WANTS_ARGUMENTS;
    return;
  }
  if (printing->phase == WANTS_ARGUMENTS)
    take_arguments(server, lane, to.is_packed);
  else
    take_string(server, lane);
  printing->phase = WANTS_STRINGS;
  lane->asked = next_string(server, printing);
  lane->words[0] = 0;
  lane->words[1] = lane->asked;
  if (lane->asked)
    port->step = another_string;
}

void atmi_rpc_print_deliver(atmi_rpc_server_t *server, atmi_rpc_port_t *port, atmi_rpc_lane_t *lane) {
  (void)port;
  atmi_rpc_printing_t *printing = lane->printing;
  int64_t result = -1;
  if (printing && !printing->failed)
    result = atmi_rpc_print_message(server, printing->message, (size_t)printing->bytes);
  else
    atmi_rpc_report(server, ATMI_RPC_BAD_MESSAGE, "to print a message that is damaged, or too long");
  lane->words[0] = (uint64_t)result;
  lane->words[1] = 0;
  atmi_rpc_printing_end(server, lane);
}
