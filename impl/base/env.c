/* Environment variables: reading them. The table is in base/env.def. */
#include "base/env.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FIELD(name) offsetof(atmi_env_t, name)

#define ROW(name, type, field, initial, least, most, unit, stock, help)                                      \
  {initial, most, least, FIELD(field), ATMI_ENV_##type, name},
#define IGNORED(name, stock, help) {0, 0, 0, 0, ATMI_ENV_IGNORED, name},
static const atmi_env_row_t table[] = {
#include "base/env.def"
};

enum { ROWS = sizeof table / sizeof *table };

const atmi_env_row_t *atmi_env_table(size_t *count) {
  *count = ROWS;
  return table;
}

static bool parse_word(const char *text, int64_t *value) {
  static const struct {
    const char *word;
    int64_t value;
  } words[] = {{"true", 1}, {"on", 1}, {"false", 0}, {"off", 0}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (strcasecmp(text, words[i].word))
      continue;
    *value = words[i].value;
    return true;
  }
  return false;
}

bool atmi_env_parse(const atmi_env_row_t *row, const char *text, int64_t *value, const char **reason) {
  int64_t result;
  if (row->most == ATMI_ENV_MANDATORY && !strcasecmp(text, "mandatory")) {
    result = ATMI_ENV_MANDATORY;
  } else if (!parse_word(text, &result)) {
    char *end;
    errno = 0;
    result = strtoll(text, &end, strncasecmp(text, "0x", 2) ? 10 : 16);
    if (end == text || *end) {
      *reason = "it is no number";
      return false;
    }
    if (errno) {
      *reason = "it is too large";
      return false;
    }
  }
  if (result < row->least || result > row->most) {
    *reason = result < row->least ? "it is too small" : "it is too large";
    return false;
  }
  *value = result;
  return true;
}

/* Levenshtein distance, for names of at most 63 characters; longer ones count as far apart. */
static size_t edit_distance(const char *left, size_t left_length, const char *right) {
  enum { LONGEST = 64 };
  size_t right_length = strlen(right), row[LONGEST];
  if (right_length >= LONGEST)
    return SIZE_MAX;
  for (size_t j = 0; j <= right_length; j++)
    row[j] = j;
  for (size_t i = 1; i <= left_length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= right_length; j++) {
      size_t replaced = diagonal + (left[i - 1] != right[j - 1]);
      diagonal = row[j];
      size_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = replaced < shorter ? replaced : shorter;
    }
  }
  return row[right_length];
}

static void warn_unknown(const char *name, size_t length) {
  const atmi_env_row_t *nearest = NULL;
  size_t distance = 8; /* farther than this is no misspelling */
  for (size_t i = 0; i < ROWS; i++) {
    size_t d = edit_distance(name, length, table[i].name);
    if (d < distance) {
      distance = d;
      nearest = &table[i];
    }
  }
  if (nearest)
    atmi_warn(NULL, "environment variable %.*s is not known and has no effect; did you mean %s?", (int)length,
              name, nearest->name);
  else
    atmi_warn(NULL, "environment variable %.*s is not known and has no effect", (int)length, name);
}

static const atmi_env_row_t *find_row(const char *name, size_t length) {
  for (size_t i = 0; i < ROWS; i++)
    if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
      return &table[i];
  return NULL;
}

static int64_t *field_of(atmi_env_t *env, const atmi_env_row_t *row) {
  return (int64_t *)(void *)((char *)env + row->field);
}

static const char **file_of(atmi_env_t *env, const atmi_env_row_t *row) {
  return (const char **)(void *)((char *)env + row->field);
}

/* Users of a program that has other rights than they (set-user-id, set-group-id, capabilities) must not
 * choose what it writes to. */
const char *atmi_env_file(const char *name, const char *text) {
  if (!text || !*text)
    return NULL;
  if (!getauxval(AT_SECURE))
    return text;
  atmi_warn(NULL, "environment variable %s is ignored: this program runs with other rights than its user's",
            name);
  return NULL;
}

void atmi_env_load(char *const *environment, atmi_env_t *env) {
  static const char family[] = "LIBOMPTARGET_AMDGPU_";
  for (size_t i = 0; i < ROWS; i++)
    if (table[i].type == ATMI_ENV_INTEGER)
      *field_of(env, &table[i]) = table[i].initial;
    else if (table[i].type == ATMI_ENV_FILE)
      *file_of(env, &table[i]) = NULL;
  for (; *environment; environment++) {
    size_t length = strcspn(*environment, "=");
    const atmi_env_row_t *row = find_row(*environment, length);
    if (!row && !strncmp(*environment, family, sizeof family - 1))
      warn_unknown(*environment, length);
    if (!row || row->type == ATMI_ENV_IGNORED || (*environment)[length] != '=')
      continue;
    const char *text = *environment + length + 1, *reason;
    if (row->type == ATMI_ENV_FILE)
      *file_of(env, row) = atmi_env_file(row->name, text);
    else if (*text && !atmi_env_parse(row, text, field_of(env, row), &reason))
      atmi_warn(NULL, "environment variable %s is ignored: \"%s\" cannot be used, %s (%lld to %lld)",
                row->name, text, reason, (long long)row->least, (long long)row->most);
  }
}
