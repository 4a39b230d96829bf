/* See sarif.h; the format is OASIS' "Static Analysis Results Interchange Format Version 2.1.0". */
#include "check/sarif.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/text.h"

/* How many bytes from `text` on are one character in UTF-8, which JSON wants; 0 = they are none. */
static unsigned character_bytes(const unsigned char *text) {
  unsigned bytes = *text < 0x80                    ? 1
                   : *text >= 0xC2 && *text < 0xE0 ? 2
                   : *text >= 0xE0 && *text < 0xF0 ? 3
                   : *text >= 0xF0 && *text < 0xF5 ? 4
                                                   : 0;
  for (unsigned i = 1; i < bytes; i++)
    if ((text[i] & 0xC0) != 0x80)
      return 0;
  return bytes;
}

static void write_text(FILE *out, const char *text) {
  fputc('"', out);
  for (const unsigned char *at = (const unsigned char *)text; *at;) {
    const unsigned bytes = character_bytes(at);
    if (*at == '\n')
      fputs("\\n", out);
    else if (*at == '"' || *at == '\\')
      fprintf(out, "\\%c", *at);
    else if (*at < 0x20 || !bytes)
      fprintf(out, "\\u%04x", *at);
    else
      fwrite(at, 1, bytes, out);
    at += bytes ? bytes : 1;
  }
  fputc('"', out);
}

/* A path as a URI: relative ones stay so. */
static void write_uri(FILE *out, const char *path) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  fputs(*path == '/' ? "\"file://" : "\"", out);
  for (const unsigned char *at = (const unsigned char *)path; *at; at++)
    fprintf(out, strchr(plain, *at) ? "%c" : "%%%02X", *at);
  fputc('"', out);
}

void gs_source_place_parse(const char *text, gs_source_place_t *place) {
  size_t length = strcspn(text, " ");
  const char *colon = memrchr(text, ':', length);
  place->line = 0;
  place->file[0] = '\0';
  if (!colon || colon == text)
    return;
  place->line = (uint32_t)strtoul(colon + 1, NULL, 10);
  snprintf(place->file, sizeof place->file, "%.*s", (int)(colon - text), text);
}

static void write_location(FILE *out, const gs_source_place_t *place, const char *kernel, const char *what) {
  fputs("{", out);
  if (*place->file) {
    fputs("\"physicalLocation\": {\"artifactLocation\": {\"uri\": ", out);
    write_uri(out, place->file);
    fputs("}", out);
    if (place->line)
      fprintf(out, ", \"region\": {\"startLine\": %" PRIu32 "}", place->line);
    fputs("}", out);
  }
  if (kernel) {
    fprintf(out, "%s\"logicalLocations\": [{\"kind\": \"function\", \"fullyQualifiedName\": ",
            *place->file ? ", " : "");
    write_text(out, kernel);
    fputs("}]", out);
  }
  if (what) {
    fputs(", \"message\": {\"text\": ", out);
    write_text(out, what);
    fputs("}", out);
  }
  fputs("}", out);
}

static void write_related(FILE *out, const gs_sarif_result_t *result) {
  static const char *const whats[] = {NULL, "the other access", "the variable"};
  bool any = false;
  for (unsigned i = 1; i < 3; i++) {
    if (!*result->at[i].file)
      continue;
    fputs(any ? ", " : ",\n       \"relatedLocations\": [", out);
    write_location(out, &result->at[i], NULL, whats[i]);
    any = true;
  }
  fputs(any ? "]" : "", out);
}

/* What stays the same while the program is changed elsewhere. */
static uint64_t fingerprint(const gs_sarif_result_t *result) {
  const char *const parts[] = {result->rule->tool, result->rule->id, result->at[0].file,
                               result->kernel ? result->kernel : ""};
  uint64_t hash = GS_TEXT_HASH;
  for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
    hash = gs_text_hash(hash, parts[i]);
  return hash;
}

static void write_result(FILE *out, const gs_sarif_result_t *result, unsigned index) {
  fprintf(out,
          "      {\"ruleId\": \"%s/%s\", \"ruleIndex\": %u, \"level\": \"%s\", \"occurrenceCount\": %" PRIu64
          ",\n       \"message\": {\"text\": ",
          result->rule->tool, result->rule->id, index,
          result->rule->severity == GS_SEVERITY_ERROR ? "error" : "warning",
          result->times ? result->times : 1);
  write_text(out, result->message);
  fputs("},\n       \"locations\": [", out);
  if (*result->at[0].file || result->kernel)
    write_location(out, &result->at[0], result->kernel, NULL);
  fputs("]", out);
  write_related(out, result);
  fprintf(out, ",\n       \"partialFingerprints\": {\"ruleFileKernel/v1\": \"%016" PRIx64 "\"}",
          fingerprint(result));
  if (result->suppressed) {
    fputs(",\n       \"suppressions\": [{\"kind\": \"external\", \"justification\": ", out);
    write_text(out, result->suppressed);
    fputs("}]", out);
  }
  fputs("}", out);
}

enum { MOST_RULES = 64 };

/* The rule's number among those that were met, in their order. */
static unsigned index_of(const gs_rule_t *rule, const gs_rule_t **rules, unsigned *count) {
  unsigned i = 0;
  while (i < *count && rules[i] != rule)
    i++;
  if (i == *count && *count < MOST_RULES)
    rules[(*count)++] = rule;
  return i;
}

bool gs_sarif_write(FILE *out, gs_sarif_next_t *next, void *context) {
  const gs_rule_t *rules[MOST_RULES];
  unsigned count = 0;
  const gs_sarif_result_t *result;
  fputs("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n  \"version\": \"2.1.0\",\n"
        "  \"runs\": [\n    {\"tool\": {\"driver\": {\"name\": \"gfxsim\", \"rules\": [",
        out);
  for (bool first = true; (result = next(context, first)); first = false)
    index_of(result->rule, rules, &count);
  for (unsigned i = 0; i < count; i++) {
    fprintf(out, "%s\n       {\"id\": \"%s/%s\", \"shortDescription\": {\"text\": ", i ? "," : "",
            rules[i]->tool, rules[i]->id);
    write_text(out, rules[i]->summary);
    fputs("}}", out);
  }
  fputs("]}},\n     \"columnKind\": \"utf16CodeUnits\",\n     \"results\": [", out);
  for (bool first = true; (result = next(context, first)); first = false) {
    fputs(first ? "\n" : ",\n", out);
    write_result(out, result, index_of(result->rule, rules, &count));
  }
  fputs("]}\n  ]\n}\n", out);
  return !ferror(out);
}
