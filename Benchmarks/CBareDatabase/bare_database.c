#define _GNU_SOURCE

#include "bare_database.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// The functions that are needed, with the types of the header.
struct bare_database {
  void *library;
  sqlite3 *handle;
  sqlite3_stmt *insert;
  sqlite3_stmt *find;
  sqlite3_stmt *change;
  __typeof__(&sqlite3_open_v2) open;
  __typeof__(&sqlite3_close) close;
  __typeof__(&sqlite3_exec) exec;
  __typeof__(&sqlite3_prepare_v2) prepare;
  __typeof__(&sqlite3_step) step;
  __typeof__(&sqlite3_reset) reset;
  __typeof__(&sqlite3_finalize) finalize;
  __typeof__(&sqlite3_bind_text) bind_text;
  __typeof__(&sqlite3_bind_int64) bind_int64;
  __typeof__(&sqlite3_bind_blob) bind_blob;
  __typeof__(&sqlite3_column_blob) column_blob;
  __typeof__(&sqlite3_column_bytes) column_bytes;
  __typeof__(&sqlite3_errmsg) errmsg;
  __typeof__(&sqlite3_libversion) libversion;
};

static int load(struct bare_database *self, const char *library) {
  // DEEPBIND: SQLCipher's functions have SQLite's names, and must find their own and not those of the
  // SQLite that this process has already.
  self->library = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (self->library == NULL) return 0;
#define LOAD(name, symbol) \
  if ((*(void **)&self->name = dlsym(self->library, "sqlite3_" #symbol)) == NULL) return 0
  LOAD(open, open_v2);
  LOAD(close, close);
  LOAD(exec, exec);
  LOAD(prepare, prepare_v2);
  LOAD(step, step);
  LOAD(reset, reset);
  LOAD(finalize, finalize);
  LOAD(bind_text, bind_text);
  LOAD(bind_int64, bind_int64);
  LOAD(bind_blob, bind_blob);
  LOAD(column_blob, column_blob);
  LOAD(column_bytes, column_bytes);
  LOAD(errmsg, errmsg);
  LOAD(libversion, libversion);
#undef LOAD
  return 1;
}

/// The attributes that a password has in the store, and the index that makes it unique there.
static const char schema[] =
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
    "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000;"
    "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, access_group TEXT NOT NULL,"
    "  service TEXT NOT NULL, account TEXT NOT NULL, label TEXT NOT NULL, created INTEGER NOT NULL,"
    "  modified INTEGER NOT NULL, secret BLOB NOT NULL);"
    "CREATE UNIQUE INDEX IF NOT EXISTS items_primary ON items (service, account, access_group);"
    "CREATE INDEX IF NOT EXISTS items_account ON items (account);";

static int prepare(struct bare_database *self, const char *sql, sqlite3_stmt **statement) {
  return self->prepare(self->handle, sql, -1, statement, NULL);
}

static int set_up(struct bare_database *self, const char *path, const char *key) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  int result = self->open(path, &self->handle, flags, NULL);
  if (result == SQLITE_OK && key != NULL) {
    char pragma[160];
    snprintf(pragma, sizeof pragma, "PRAGMA key = \"%s\"", key);
    result = self->exec(self->handle, pragma, NULL, NULL, NULL);
  }
  if (result == SQLITE_OK) result = self->exec(self->handle, schema, NULL, NULL, NULL);
  if (result == SQLITE_OK) {
    result = prepare(self,
                     "INSERT INTO items (access_group, service, account, label, created, modified,"
                     " secret) VALUES (?, ?, ?, ?, ?, ?, ?)",
                     &self->insert);
  }
  if (result == SQLITE_OK) {
    result = prepare(self,
                     "SELECT label, created, modified, secret FROM items"
                     " WHERE service = ? AND account = ? AND access_group = ?",
                     &self->find);
  }
  if (result == SQLITE_OK) {
    result = prepare(self,
                     "UPDATE items SET secret = ?, modified = ?"
                     " WHERE service = ? AND account = ? AND access_group = ?",
                     &self->change);
  }
  return result;
}

struct bare_database *bare_database_open(const char *library, const char *path, const char *key,
                                         char *reason) {
  struct bare_database *self = calloc(1, sizeof *self);
  if (self == NULL) return NULL;
  if (!load(self, library)) {
    const char *error = dlerror();
    snprintf(reason, 256, "%s", error != NULL ? error : "a function is missing");
  } else if (set_up(self, path, key) != SQLITE_OK) {
    snprintf(reason, 256, "%s", self->errmsg(self->handle));
  } else {
    return self;
  }
  bare_database_close(self);
  return NULL;
}

const char *bare_database_version(const struct bare_database *self) { return self->libversion(); }

const char *bare_database_system_version(void) { return sqlite3_libversion(); }

static void bind_name(struct bare_database *self, sqlite3_stmt *statement, int place,
                      const char *text) {
  self->bind_text(statement, place, text, (int)strlen(text), SQLITE_TRANSIENT);
}

int bare_database_add(struct bare_database *self, long first, long count, const uint8_t *secret,
                      long length) {
  int result = self->exec(self->handle, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  for (long number = first; number < first + count && result == SQLITE_OK; number++) {
    char account[32];
    snprintf(account, sizeof account, "user-%ld", number);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    bind_name(self, self->insert, 1, "bench");
    bind_name(self, self->insert, 2, "mail.example.org");
    bind_name(self, self->insert, 3, account);
    bind_name(self, self->insert, 4, "A label");
    self->bind_int64(self->insert, 5, now.tv_sec);
    self->bind_int64(self->insert, 6, now.tv_sec);
    self->bind_blob(self->insert, 7, secret, (int)length, SQLITE_TRANSIENT);
    result = self->step(self->insert);
    self->reset(self->insert);
    if (result == SQLITE_DONE) result = SQLITE_OK;
  }
  if (result == SQLITE_OK) result = self->exec(self->handle, "COMMIT", NULL, NULL, NULL);
  return result;
}

long bare_database_find(struct bare_database *self, const long *numbers, long count, uint8_t *secret,
                        long room) {
  long found = 0;
  for (long position = 0; position < count; position++) {
    char account[32];
    snprintf(account, sizeof account, "user-%ld", numbers[position]);
    bind_name(self, self->find, 1, "mail.example.org");
    bind_name(self, self->find, 2, account);
    bind_name(self, self->find, 3, "bench");
    if (self->step(self->find) == SQLITE_ROW) {
      const void *bytes = self->column_blob(self->find, 3);
      long length = self->column_bytes(self->find, 3);
      if (length <= room && bytes != NULL) {
        memcpy(secret, bytes, (size_t)length);
        found += 1;
      }
    }
    self->reset(self->find);
  }
  return found;
}

int bare_database_change(struct bare_database *self, long number, const uint8_t *secret, long length) {
  char account[32];
  snprintf(account, sizeof account, "user-%ld", number);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  self->bind_blob(self->change, 1, secret, (int)length, SQLITE_TRANSIENT);
  self->bind_int64(self->change, 2, now.tv_sec);
  bind_name(self, self->change, 3, "mail.example.org");
  bind_name(self, self->change, 4, account);
  bind_name(self, self->change, 5, "bench");
  int result = self->step(self->change);
  self->reset(self->change);
  return result == SQLITE_DONE ? SQLITE_OK : result;
}

void bare_database_close(struct bare_database *self) {
  if (self == NULL) return;
  if (self->insert != NULL) self->finalize(self->insert);
  if (self->find != NULL) self->finalize(self->find);
  if (self->change != NULL) self->finalize(self->change);
  if (self->handle != NULL) self->close(self->handle);
  if (self->library != NULL) dlclose(self->library);
  free(self);
}
