/* Printing of packed messages, compared with the host's own printf: each row is printed by both. */
#include "plugin_test.h"

#include "services/print.h"
#include "shared/print_message.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- what the device support library does: packing ---- */

typedef struct packer {
  unsigned char arguments[256];
  uint32_t position;
} packer_t;

static void put(packer_t *packer, const void *value, uint32_t bytes) {
  memcpy(packer->arguments + atmi_print_place(&packer->position, bytes), value, bytes);
}

/* Takes the arguments of one conversion from a real argument list, as clang would pack them. */
static void pack_conversion(packer_t *packer, const atmi_print_conversion_t *conversion, va_list *list) {
  for (int i = conversion->width_from_argument + conversion->precision_from_argument; i > 0; i--)
    put(packer, &(int){va_arg(*list, int)}, 4);
  switch (conversion->kind) {
  case ATMI_PRINT_WORD: put(packer, &(int){va_arg(*list, int)}, 4); break;
  case ATMI_PRINT_REAL: put(packer, &(double){va_arg(*list, double)}, 8); break;
  case ATMI_PRINT_LITERAL:
  case ATMI_PRINT_ERROR:
  case ATMI_PRINT_UNKNOWN: break;
  default: put(packer, &(uint64_t){va_arg(*list, uint64_t)}, 8); break;
  }
}

static size_t add_string(unsigned char *at, const atmi_print_conversion_t *conversion, const packer_t *packer,
                         uint32_t position) {
  int32_t number = 0, precision = conversion->has_precision ? conversion->precision : -1;
  for (int i = conversion->width_from_argument + conversion->precision_from_argument; i > 0; i--)
    memcpy(&number, packer->arguments + atmi_print_place(&position, 4), 4);
  if (conversion->precision_from_argument)
    precision = number;
  const char *text;
  memcpy(&text, packer->arguments + atmi_print_place(&position, 8), 8);
  uint32_t bytes = ATMI_PRINT_NULL;
  if (text && conversion->kind == ATMI_PRINT_WIDE)
    bytes = (uint32_t)(sizeof(wchar_t) * wcslen((const wchar_t *)(const void *)text));
  else if (text)
    bytes = (uint32_t)(precision < 0 ? strlen(text) : strnlen(text, (size_t)precision));
  memcpy(at, &bytes, 4);
  if (bytes == ATMI_PRINT_NULL)
    return 4;
  memcpy(at + 4, text, bytes);
  return 4 + (size_t)bytes;
}

static size_t pack(unsigned char *message, uint64_t stream, const char *format, va_list list) {
  packer_t packer = {.position = 0};
  unsigned char strings[4096];
  size_t string_bytes = 0;
  atmi_print_conversion_t conversion;
  va_list rest;
  va_copy(rest, list);
  atmi_print_numbered_t numbered;
  bool is_numbered = atmi_print_number_arguments(format, &numbered);
  for (uint32_t i = 0; is_numbered && i < numbered.count; i++) {
    uint32_t before = packer.position;
    const atmi_print_conversion_t plain = {.kind = (atmi_print_kind_t)numbered.kind[i],
                                           .has_precision = numbered.precision[i] >= 0,
                                           .precision = numbered.precision[i]};
    pack_conversion(&packer, &plain, &rest);
    if (plain.kind == ATMI_PRINT_STRING)
      string_bytes += add_string(strings + string_bytes, &plain, &packer, before);
  }
  for (const char *at = format; !is_numbered && atmi_print_next(at, &conversion); at = conversion.end) {
    uint32_t before = packer.position;
    pack_conversion(&packer, &conversion, &rest);
    if (conversion.kind == ATMI_PRINT_STRING || conversion.kind == ATMI_PRINT_WIDE)
      string_bytes += add_string(strings + string_bytes, &conversion, &packer, before);
  }
  va_end(rest);
  atmi_print_header_t header = {stream, (uint32_t)strlen(format) + 1, packer.position};
  memcpy(message, &header, sizeof header);
  unsigned char *at = message + sizeof header;
  memcpy(at, format, header.format_bytes);
  at += atmi_print_padded(header.format_bytes);
  memcpy(at, packer.arguments, packer.position);
  at += atmi_print_padded(packer.position);
  memcpy(at, strings, string_bytes);
  return (size_t)(at - message) + string_bytes;
}

/* ---- both ways ---- */

static unsigned compared;

static void compare(const char *format, ...) {
  unsigned char message[8192];
  char expected[4096], *got = NULL;
  size_t got_bytes;
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  errno = 0; /* as on a device, for %m */
  int wanted = vsnprintf(expected, sizeof expected, format, list);
  size_t bytes = pack(message, 2, format, again);
  va_end(again);
  va_end(list);
  FILE *stream = open_memstream(&got, &got_bytes);
  assert_non_null(stream);
  bool stored_nothing = false;
  int64_t printed = atmi_print(message, bytes, stream, &stored_nothing);
  assert_false(stored_nothing);
  fclose(stream);
  if (strcmp(got, expected))
    fail_msg("format \"%s\": \"%s\" instead of \"%s\"", format, got, expected);
  assert_int_equal(printed, wanted);
  free(got);
  compared++;
}

static void numbers(void **state) {
  (void)state;
  static const char *const formats[] = {"%d",   "%5d", "%-5d|", "%05d", "%+d",   "% d",   "%x",  "%X",
                                        "%#x",  "%o",  "%#o",   "%u",   "%.3d",  "%8.3d", "%hd", "%hhd",
                                        "%hhu", "%hu", "%i",    "%c",   "%-3c|", "%3c",   "%'d", "%-08d|"};
  static const int values[] = {0, 1, -1, 65, 12345, -54321, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    for (size_t j = 0; j < sizeof values / sizeof *values; j++)
      if (values[j] || !strchr(formats[i], 'c'))
        compare(formats[i], strchr(formats[i], 'c') ? 65 + (int)j : values[j]);
  static const char *const wide[] = {"%ld", "%lld",   "%zu",     "%zd",     "%lx", "%#llX", "%ju",
                                     "%td", "%20ld|", "%-20lu|", "%020lld", "%p",  "%20p|"};
  static const int64_t longs[] = {0, -1, 1, INT64_MAX, INT64_MIN, 0x123456789a};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
    for (size_t j = 0; j < sizeof longs / sizeof *longs; j++)
      compare(wide[i], longs[j]);
}

static void reals(void **state) {
  (void)state;
  static const char *const formats[] = {"%f", "%.3f", "%10.2f|", "%-10.2f|", "%e",    "%.0e",  "%g",
                                        "%G", "%a",   "%A",      "%.2a",     "%+f",   "%010f", "%#g",
                                        "%F", "%E",   "%.0f",    "%#.0f",    "%.15g", "%.17g", "%20.12e"};
  const double values[] = {0,      -0.0,     1,         -1.5, 3.14159265358979, 1e300, 1e-300,
                           5e-324, INFINITY, -INFINITY, NAN,  123456.789};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    for (size_t j = 0; j < sizeof values / sizeof *values; j++)
      compare(formats[i], values[j]);
}

static void strings_and_mixtures(void **state) {
  (void)state;
  const char unended[4] = {'a', 'b', 'c', 'd'};
  compare("no conversion at all\n");
  compare("");
  compare("%%");
  compare("100%% of %s", "it");
  compare("%s", "");
  compare("%s %s", "two", "strings");
  compare("%10s|%-10s|", "right", "left");
  compare("%.3s", "precision");
  compare("%.4s", unended);
  compare("%.*s", 3, unended);
  compare("%*.*s|", 10, 2, unended);
  compare("%.*s", -1, "all of it");
  compare("%.s", "nothing");
  compare("%s", (const char *)NULL);
  compare("%.3s|", (const char *)NULL);
  compare("%ls", L"wide");
  compare("%*d", 8, 42);
  compare("%-*d|", 8, 42);
  compare("%*d|", -8, 42);
  compare("%.*f", 2, 3.14159);
  compare("%*.*f|", 12, 4, 2.5);
  compare("%.*f|", -3, 2.5);
  compare("%d %ld %d %f %s %c", 1, 2L, 3, 4.5, "six", 'x');
  compare("%c%f%c%f", 'a', 1.0, 'b', 2.0);
  compare("%zu bytes at %p, %lld left of %a: %s\n", (size_t)10, (void *)0x1000, -7LL, 0.1, "done");
  compare("%d%%%s%%%x", 5, "%d", 0xabc);
  compare("%5%|");
  assert_true(compared > 400);
}

static void numbered_arguments(void **state) {
  (void)state;
  const char unended[4] = {'a', 'b', 'c', 'd'};
  compare("%1$d", 5);
  compare("%2$s %1$s", "world", "hello");
  compare("%1$d %1$d %2$s %1$x %2$s\n", 77, "twice");
  compare("%3$s|%2$f|%1$c", 'c', 2.5, "three");
  compare("%2$*1$d|", 8, 42);
  compare("%2$-*1$d|%3$.*1$f|", 8, 42, 3.25);
  compare("%3$*1$.*2$f|", 12, 4, 2.5);
  compare("%2$*1$s|", -8, "left");
  compare("%3$.*1$s|%3$.2s|%2$ld", 3, 7L, "abcdef");
  compare("%1$.4s %1$.2s", unended);
  compare("%1$s %%", (const char *)NULL);
  compare("%2$lld %1$hhd %3$5.1f%% %4$p", 300, -1LL, 99.5, (void *)0x10);
  compare("%10$d%9$d%8$d%7$d%6$d%5$d%4$d%3$d%2$d%1$d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
}

static void without_argument(void **state) {
  (void)state;
  compare("%m");
  compare("%d %m %s", 3, "end");
  compare("%12m|%-12m|%.3m|");
}

/* %n is not carried out, and that is said. */
static void counts(void **state) {
  (void)state;
  static const char format[] = "1234%n56 %d";
  uint64_t variable = 99;
  const struct {
    atmi_print_header_t header;
    char format[16];
    uint64_t address;
    int number;
  } message = {{2, sizeof format, 12}, "1234%n56 %d", (uint64_t)(uintptr_t)&variable, 7};
  char *got = NULL;
  size_t got_bytes;
  FILE *stream = open_memstream(&got, &got_bytes);
  bool stored_nothing = false;
  assert_int_equal(atmi_print(&message, sizeof message, stream, &stored_nothing), 8);
  fclose(stream);
  assert_true(stored_nothing);
  assert_string_equal(got, "123456 7");
  assert_int_equal(variable, 99);
  free(got);
}

/* Damaged messages: nothing beyond the message is read (the sanitizers and valgrind watch). */
static void damaged(void **state) {
  (void)state;
  static const char *const formats[] = {"%s %s %d %ld %f %s %*.*s", "%3$s %1$*2$d %9$f %99$% %40$d"};
  unsigned char message[128] = {0};
  FILE *stream = fopen("/dev/null", "w");
  uint64_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    const char *format = formats[round / 64 % 2];
    atmi_print_header_t header = {2, (uint32_t)strlen(format) + 1, (uint32_t)(round % 64)};
    memcpy(message, &header, sizeof header);
    memcpy(message + sizeof header, format, header.format_bytes);
    for (int i = 0; i < 4; i++) {
      seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
      message[(seed >> 33) % sizeof message] = (unsigned char)(seed >> 50);
    }
    size_t bytes = (size_t)(seed >> 40) % sizeof message;
    unsigned char *exact = malloc(bytes ? bytes : 1);
    memcpy(exact, message, bytes);
    uint64_t handle;
    atmi_print_stream(exact, bytes, &handle);
    int64_t printed = atmi_print(exact, bytes, stream, &(bool){false});
    assert_true(printed >= -1);
    free(exact);
  }
  fclose(stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers),
      cmocka_unit_test(reals),
      cmocka_unit_test(strings_and_mixtures),
      cmocka_unit_test(numbered_arguments),
      cmocka_unit_test(without_argument),
      cmocka_unit_test(counts),
      cmocka_unit_test(damaged),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
