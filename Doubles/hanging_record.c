/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A store that hangs when it is to write a long record: a library to be preloaded into a program (ld.so(8)). Records are
 * sealed, so only by its length one can be distinguished from others.
 *
 * HANGING_LENGTH: the bytes that a part of a record may have.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct sqlite3_stmt sqlite3_stmt;

static int is_long(sqlite3_stmt *statement, uint64_t count) {
  const char *longest = getenv("HANGING_LENGTH");
  if (longest == NULL || count <= strtoull(longest, NULL, 10)) return 0;
  const char *(*sql)(sqlite3_stmt *) = (const char *(*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_sql");
  const char *text = sql == NULL ? NULL : sql(statement);
  return text != NULL && strstr(text, "INTO records") != NULL;
}

int sqlite3_bind_blob64(
    sqlite3_stmt *statement, int position, const void *bytes, uint64_t count, void (*end)(void *)) {
  static int (*real)(sqlite3_stmt *, int, const void *, uint64_t, void (*)(void *));
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_bind_blob64");
  while (is_long(statement, count)) continue;
  return real(statement, position, bytes, count, end);
}
