/* Hostcall: the stacks of packets, the services, and messages put together from pieces. */
#include "services/hostcall.h"

#include "services/print.h"
#include "shared/print_message.h"

#include <stdatomic.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
  LANES = 64,
  LANE_WORDS = 8,
  SERVICE_FUNCTION_CALL = 1,
  SERVICE_PRINTF = 2,
  SERVICE_DEVICE_MEMORY = 3,
  /* Of a message's descriptor. */
  FLAG_BEGIN = 1,
  FLAG_END = 2,
  LENGTH_SHIFT = 5,
  ID_SHIFT = 8,
  MOST_MESSAGES = 1 << 20,
  MOST_WORDS = 1 << 27 /* of all messages: 1 GiB */
};

/* ---- bad requests ---- */

typedef enum offence { BAD_PACKET, BAD_SERVICE, BAD_MESSAGE, BAD_FREE, BAD_CALL, BAD_COUNT } offence_t;

static void report(atmi_hostcall_t *hostcall, offence_t offence, const char *what) {
  if (!(hostcall->reported & 1u << offence))
    atmi_warn(hostcall->where, "device code asks its host for something impossible by hostcall: %s", what);
  hostcall->reported |= 1u << offence;
}

/* ---- messages ---- */

typedef struct atmi_hostcall_message {
  bool open;
  uint64_t *words;
  uint32_t count, capacity;
} message_t;

static void close_message(atmi_hostcall_messages_t *messages, message_t *message) {
  messages->words -= message->capacity;
  free(message->words);
  *message = (message_t){0};
}

/* A new message; its number in *id. NULL if there are too many. */
static message_t *open_message(atmi_hostcall_messages_t *messages, uint64_t *id) {
  for (*id = 0; *id < messages->count && messages->list[*id].open;)
    ++*id;
  if (*id == messages->count) {
    uint32_t larger = messages->count ? 2 * messages->count : 64;
    message_t *list = larger <= MOST_MESSAGES ? realloc(messages->list, larger * sizeof *list) : NULL;
    if (!list)
      return NULL;
    memset(&list[messages->count], 0, (larger - messages->count) * sizeof *list);
    messages->list = list;
    messages->count = larger;
  }
  messages->list[*id].open = true;
  return &messages->list[*id];
}

static bool append_words(atmi_hostcall_messages_t *messages, message_t *message, const uint64_t *words,
                         uint32_t count) {
  if (message->count + count > message->capacity) {
    uint32_t larger = message->capacity ? 2 * message->capacity : 32;
    uint64_t *longer = messages->words + larger - message->capacity <= MOST_WORDS
                           ? realloc(message->words, larger * sizeof *longer)
                           : NULL;
    if (!longer)
      return false;
    messages->words += larger - message->capacity;
    message->words = longer;
    message->capacity = larger;
  }
  if (count)
    memcpy(&message->words[message->count], words, count * sizeof *words);
  message->count += count;
  return true;
}

/* ---- printf: control word, format, then a word for each number and the bytes of each string ---- */

typedef struct translation {
  const unsigned char *at, *end; /* what is left of the message */
  unsigned char *packed, *strings;
  uint32_t packed_bytes;
  size_t string_bytes;
} translation_t;

/* Takes a string that fills whole words. */
static const char *take_string(translation_t *t, uint32_t *length) {
  const char *text = (const char *)t->at;
  const unsigned char *nul = t->at < t->end ? memchr(t->at, 0, (size_t)(t->end - t->at)) : NULL;
  if (!nul)
    return NULL;
  *length = (uint32_t)(nul - t->at);
  t->at += atmi_print_padded(*length + 1);
  return text;
}

static void pack_word(translation_t *t, uint32_t bytes) {
  uint64_t word = 0;
  if (t->end - t->at >= (ptrdiff_t)sizeof word) {
    memcpy(&word, t->at, sizeof word);
    t->at += sizeof word;
  }
  memcpy(t->packed + atmi_print_place(&t->packed_bytes, bytes), &word, bytes);
}

static void pack_string(translation_t *t) {
  uint32_t length = 0;
  const char *text = take_string(t, &length);
  uint32_t recorded = text ? length : ATMI_PRINT_NULL;
  atmi_print_place(&t->packed_bytes, sizeof(uint64_t));
  memcpy(t->strings + t->string_bytes, &recorded, sizeof recorded);
  t->string_bytes += sizeof recorded;
  if (length)
    memcpy(t->strings + t->string_bytes, text, length);
  t->string_bytes += length;
}

static void pack_argument(translation_t *t, atmi_print_kind_t kind) {
  switch (kind) {
  case ATMI_PRINT_LITERAL:
  case ATMI_PRINT_ERROR:
  case ATMI_PRINT_UNKNOWN: break;
  case ATMI_PRINT_WORD: pack_word(t, sizeof(uint32_t)); break;
  case ATMI_PRINT_STRING: pack_string(t); break;
  default: pack_word(t, sizeof(uint64_t)); break;
  }
}

static void pack_arguments(translation_t *t, const char *format) {
  atmi_print_numbered_t numbered;
  if (atmi_print_number_arguments(format, &numbered)) {
    for (uint32_t i = 0; i < numbered.count; i++)
      pack_argument(t, (atmi_print_kind_t)numbered.kind[i]);
    return;
  }
  atmi_print_conversion_t found;
  for (; atmi_print_next(format, &found) && found.kind != ATMI_PRINT_UNKNOWN; format = found.end) {
    for (int i = found.width_from_argument + found.precision_from_argument; i > 0; i--)
      pack_word(t, sizeof(uint32_t));
    pack_argument(t, found.kind);
  }
}

/* Rewrites a message as one of the device support library, and prints that. */
static int64_t print_message(atmi_hostcall_t *hostcall, const message_t *message) {
  if (message->count < 2)
    return -1;
  FILE *stream = message->words[0] & 1 ? stderr : stdout;
  translation_t t = {.at = (const unsigned char *)&message->words[1],
                     .end = (const unsigned char *)&message->words[message->count]};
  uint32_t format_length;
  const char *format = take_string(&t, &format_length);
  if (!format)
    return -1;
  /* A conversion has two letters at least and takes at most three arguments of 8 bytes and one string's
   * length; one that numbers its arguments may leave out all others. */
  size_t room = sizeof(atmi_print_header_t) + (size_t)format_length * 16 + 8 * (size_t)message->count +
                ATMI_PRINT_NUMBERED * 16 + 64;
  unsigned char *packed = calloc(2, room), *made = malloc(3 * room);
  int64_t printed = -1;
  if (packed && made) {
    t.packed = packed;
    t.strings = packed + room;
    pack_arguments(&t, format);
    const atmi_print_header_t header = {0, format_length + 1, t.packed_bytes};
    size_t format_bytes = atmi_print_padded(format_length + 1),
           packed_bytes = atmi_print_padded(t.packed_bytes);
    unsigned char *to = memcpy(made, &header, sizeof header);
    memcpy(to += sizeof header, format, format_length + 1);
    memcpy(to += format_bytes, t.packed, packed_bytes);
    memcpy(to += packed_bytes, t.strings, t.string_bytes);
    bool stored_nothing = false;
    printed = atmi_print(made, (size_t)(to - made) + t.string_bytes, stream, &stored_nothing);
    if (stored_nothing)
      report(hostcall, BAD_COUNT,
             "to store the number of characters for %n, which only device code itself could; the variable "
             "keeps its value, use what printf returns");
    hostcall->wrote = true;
  }
  free(packed);
  free(made);
  return printed;
}

/* One piece of a message; at its end it is printed. */
static void serve_printf(atmi_hostcall_t *hostcall, uint64_t *words) {
  atmi_hostcall_messages_t *messages = &hostcall->messages;
  uint64_t descriptor = words[0], id = descriptor >> ID_SHIFT;
  uint32_t length = (uint32_t)(descriptor >> LENGTH_SHIFT) & (LANE_WORDS - 1);
  message_t *message = NULL;
  if (descriptor & FLAG_BEGIN)
    message = open_message(messages, &id);
  else if (id < messages->count && messages->list[id].open)
    message = &messages->list[id];
  if (!message || !append_words(messages, message, &words[1], length)) {
    report(hostcall, BAD_MESSAGE, "to print a message that was not begun, or is too long");
    if (message)
      close_message(messages, message);
    words[0] = UINT64_MAX;
    return;
  }
  words[0] = id << ID_SHIFT | (descriptor & ((1 << ID_SHIFT) - 1) & ~(uint64_t)FLAG_BEGIN);
  if (!(descriptor & FLAG_END))
    return;
  words[0] = (uint64_t)print_message(hostcall, message);
  close_message(messages, message);
}

/* ---- the other services ---- */

static void serve_memory(atmi_hostcall_t *hostcall, uint64_t *words) {
  if (!words[0])
    words[0] = hostcall->host.allocate(hostcall->host.context, words[1]);
  else if (hostcall->host.release(hostcall->host.context, words[0]))
    words[0] = 0;
  else
    report(hostcall, BAD_FREE, "to free memory that it was not given, or that is free already");
}

static void serve_call(atmi_hostcall_t *hostcall, uint64_t *words) {
  if (!hostcall->host.allow_host_calls || !atmi_rpc_is_code(words[0])) {
    report(hostcall, BAD_CALL, "to call a function of the host where no code is");
    words[0] = words[1] = 0;
    return;
  }
  uint64_t out[2] = {0};
  void (*function)(uint64_t *, const uint64_t *) =
      (void (*)(uint64_t *, const uint64_t *))(uintptr_t)words[0];
  function(out, &words[1]);
  memcpy(words, out, sizeof out);
}

static void serve_lane(atmi_hostcall_t *hostcall, uint32_t service, uint64_t *slot) {
  /* A copy: the device could change its own while it is looked at. */
  uint64_t words[LANE_WORDS];
  memcpy(words, slot, sizeof words);
  switch (service) {
  case SERVICE_FUNCTION_CALL: serve_call(hostcall, words); break;
  case SERVICE_PRINTF: serve_printf(hostcall, words); break;
  case SERVICE_DEVICE_MEMORY: serve_memory(hostcall, words); break;
  default:
    report(hostcall, BAD_SERVICE,
           "a service that is not known; images of AMD's own OpenMP compilers are not served");
    words[0] = words[1] = 0;
  }
  memcpy(slot, words, 2 * sizeof *words);
}

/* ---- packets ---- */

static size_t padded(size_t bytes) {
  return (bytes + 63) & ~(size_t)63;
}

size_t atmi_hostcall_bytes(uint32_t packets) {
  return padded(sizeof(atmi_hostcall_buffer_t)) + padded(packets * sizeof(atmi_hostcall_header_t)) +
         packets * (size_t)LANES * LANE_WORDS * sizeof(uint64_t);
}

void atmi_hostcall_init(const char *where, void *memory, uint32_t packets, uint64_t doorbell,
                        const atmi_rpc_host_t *host, atmi_hostcall_t *hostcall) {
  *hostcall = (atmi_hostcall_t){.where = where, .buffer = memory, .packets = packets, .host = *host};
  atmi_hostcall_buffer_t *buffer = memory;
  char *headers = (char *)memory + padded(sizeof *buffer);
  uint64_t mask = 1;
  while (mask < packets)
    mask *= 2;
  buffer->headers = (uint64_t)(uintptr_t)headers;
  buffer->payloads = buffer->headers + padded(packets * sizeof(atmi_hostcall_header_t));
  buffer->doorbell = doorbell;
  buffer->index_mask = mask - 1;
  /* All packets are in the stack of free ones. 0 is the end of a stack, so packet 0 has a tag. */
  atmi_hostcall_header_t *list = (atmi_hostcall_header_t *)(void *)headers;
  for (uint32_t i = 1; i < packets; i++)
    list[i].next = i == 1 ? mask : i - 1;
  atomic_store_explicit(&buffer->free_stack, packets - 1, memory_order_relaxed);
}

void atmi_hostcall_fini(atmi_hostcall_t *hostcall) {
  for (uint32_t i = 0; i < hostcall->messages.count; i++)
    free(hostcall->messages.list[i].words);
  free(hostcall->messages.list);
  *hostcall = (atmi_hostcall_t){0};
}

bool atmi_hostcall_poll(atmi_hostcall_t *hostcall) {
  atmi_hostcall_buffer_t *buffer = hostcall->buffer;
  if (!atomic_load_explicit(&buffer->ready_stack, memory_order_relaxed))
    return false;
  /* Acquire: the packets that the device pushed are seen with all that is in them. */
  uint64_t at = atomic_exchange_explicit(&buffer->ready_stack, 0, memory_order_acquire);
  /* Our own addresses, not those in the buffer, which the device could change. */
  char *headers = (char *)buffer + padded(sizeof *buffer);
  char *payloads = headers + padded(hostcall->packets * sizeof(atmi_hostcall_header_t));
  uint64_t mask = 1;
  while (mask < hostcall->packets)
    mask *= 2;
  for (uint32_t served = 0; at; served++) {
    uint64_t index = at & (mask - 1);
    if (index >= hostcall->packets || served == hostcall->packets) {
      report(hostcall, BAD_PACKET, "with damaged packets");
      break;
    }
    atmi_hostcall_header_t *header = (atmi_hostcall_header_t *)(void *)headers + index;
    uint64_t lanes = header->active_mask;
    at = header->next; /* before the answer: then the packet is the device's again */
    for (uint32_t lane = 0; lane < LANES; lane++)
      if (lanes >> lane & 1)
        serve_lane(hostcall, header->service,
                   (uint64_t *)(void *)(payloads + (index * LANES + lane) * LANE_WORDS * sizeof(uint64_t)));
    /* Release: the answer is there before the device sees that it is. */
    atomic_fetch_and_explicit(&header->control, ~1u, memory_order_release);
  }
  return true;
}

void atmi_hostcall_flush(atmi_hostcall_t *hostcall) {
  if (!hostcall->wrote)
    return;
  hostcall->wrote = false;
  fflush(stdout);
  fflush(stderr);
}
