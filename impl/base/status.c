/* Results of the core: messages and the translation of HSA's codes. */
#include "base/status.h"

#include "base/hsa.h"
#include "base/text.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* A message on its way out. */
typedef struct output {
  const char *kind;
  size_t length;
  char text[8192];
} output_t;

static void flush(output_t *out) {
  fwrite(out->text, 1, out->length, stderr);
  out->length = 0;
}

static void put(output_t *out, const char *bytes, size_t count) {
  if (count > sizeof out->text - out->length)
    flush(out);
  memcpy(out->text + out->length, bytes, count);
  out->length += count;
}

static void put_text(output_t *out, const char *text) {
  put(out, text, strlen(text));
}

/* Each line begins in the same way, so that all of a message is found by that. */
static void begin_line(output_t *out) {
  put_text(out, "AMDGPU ");
  put_text(out, out->kind);
  put_text(out, ": ");
}

/* Whatever the text holds of names and variables of others, a terminal only sees what can be printed. */
static void put_clean(output_t *out, const char *text) {
  while (*text) {
    char escape[ATMI_TEXT_ESCAPE_BYTES];
    size_t printable = atmi_text_printable(text);
    if (printable) {
      put(out, text, printable);
    } else if (*text == *ATMI_BREAK) {
      put(out, "\n", 1);
      begin_line(out);
      put_text(out, "  ");
    } else {
      put(out, escape, atmi_text_escape(*text, escape));
    }
    text += printable ? printable : 1;
  }
}

static void print_message(const char *kind, const char *where, const char *format, va_list arguments) {
  char text[8192];
  output_t out = {.kind = kind, .length = 0};
  vsnprintf(text, sizeof text, format, arguments);
  flockfile(stderr);
  begin_line(&out);
  if (where) {
    put_clean(&out, where);
    put_text(&out, ": ");
  }
  put_clean(&out, text);
  put(&out, "\n", 1);
  flush(&out);
  funlockfile(stderr);
}

atmi_status_t atmi_fail(atmi_status_t status, const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("error", where, format, arguments);
  va_end(arguments);
  return status;
}

void atmi_warn(const char *where, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message("warning", where, format, arguments);
  va_end(arguments);
}

/* hsa_status_string works only between hsa_init and hsa_shut_down, and failures before and after matter too.
 */
static const struct {
  hsa_status_t status;
  const char *text;
} reasons[] = {
    {HSA_STATUS_ERROR, "HSA_STATUS_ERROR: generic error"},
    {HSA_STATUS_ERROR_INVALID_ARGUMENT, "HSA_STATUS_ERROR_INVALID_ARGUMENT"},
    {HSA_STATUS_ERROR_INVALID_ALLOCATION, "HSA_STATUS_ERROR_INVALID_ALLOCATION"},
    {HSA_STATUS_ERROR_INVALID_AGENT, "HSA_STATUS_ERROR_INVALID_AGENT"},
    {HSA_STATUS_ERROR_OUT_OF_RESOURCES, "HSA_STATUS_ERROR_OUT_OF_RESOURCES"},
    {HSA_STATUS_ERROR_NOT_INITIALIZED, "HSA_STATUS_ERROR_NOT_INITIALIZED"},
};

const char *atmi_hsa_reason(hsa_status_t status) {
  const char *text = NULL;
  if (hsa_status_string && hsa_status_string(status, &text) == HSA_STATUS_SUCCESS && text)
    return text;
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i].status == status)
      return reasons[i].text;
  return "an HSA status that this ROCr does not describe";
}

atmi_status_t atmi_status_from_hsa(hsa_status_t status) {
  switch ((int)status) {
  case HSA_STATUS_SUCCESS: return ATMI_OK;
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
  case HSA_STATUS_ERROR_INVALID_ALLOCATION: return ATMI_NO_MEMORY;
  case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: return ATMI_NOT_FOUND;
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT: return ATMI_CORRUPT;
  default: return ATMI_HSA_FAILED;
  }
}
