/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A store that hangs when it is to write a long record: a library to be preloaded into a program (ld.so(8)). Records are
 * sealed, so only by its length one can be distinguished from others.
 *
 * HANGING_LENGTH: the bytes that a part of a record may have. HANGING_NOTE: the file that is made when it hangs.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct sqlite3_stmt sqlite3_stmt;

static int is_long(sqlite3_stmt *statement, uint64_t count) {
  const char *longest = getenv("HANGING_LENGTH");
  if (longest == NULL || count <= strtoull(longest, NULL, 10)) return 0;
  const char *(*sql)(sqlite3_stmt *) = (const char *(*)(sqlite3_stmt *))dlsym(RTLD_NEXT, "sqlite3_sql");
  const char *text = sql == NULL ? NULL : sql(statement);
  return text != NULL && strstr(text, "INTO records") != NULL;
}

static void hang(void) {
  const char *note = getenv("HANGING_NOTE");
  if (note != NULL) close(creat(note, 0600));
  while (1) pause();
}

int sqlite3_bind_blob64(
    sqlite3_stmt *statement, int position, const void *bytes, uint64_t count, void (*end)(void *)) {
  static int (*real)(sqlite3_stmt *, int, const void *, uint64_t, void (*)(void *));
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "sqlite3_bind_blob64");
  if (is_long(statement, count)) hang();
  return real(statement, position, bytes, count, end);
}
