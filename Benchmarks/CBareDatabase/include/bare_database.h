#ifndef BARE_DATABASE_H
#define BARE_DATABASE_H

#include <stdint.h>

/// A table of passwords as one would write it in C on SQLite's functions, whoever brings them: the
/// library is loaded when it is asked for, so nothing depends on SQLCipher.
struct bare_database;

/// Opens `path` with the SQLite functions of `library`, a name that the loader finds. `key` is null, or
/// what `PRAGMA key` takes. Durable, and wiping what is deleted, like the store that it is compared with.
///
/// Returns null and why in `reason`, which has room for 256 characters.
struct bare_database *bare_database_open(const char *library, const char *path, const char *key,
                                         char *reason);

/// What SQLite the library is.
const char *bare_database_version(const struct bare_database *self);

/// Of the SQLite that this process is linked with, as the daemon is.
const char *bare_database_system_version(void);

/// Adds the items `first` to `first + count` in one transaction, each with a secret of `length` bytes.
/// Returns 0, or SQLite's error.
int bare_database_add(struct bare_database *self, long first, long count, const uint8_t *secret,
                      long length);

/// Looks up `count` items by service and account, one after the other, each in a transaction of its own,
/// and copies the secret into `secret`, which has room for `room` bytes. Returns how many were found.
long bare_database_find(struct bare_database *self, const long *numbers, long count, uint8_t *secret,
                        long room);

/// Gives an item another secret, in a transaction of its own. Returns 0, or SQLite's error.
int bare_database_change(struct bare_database *self, long number, const uint8_t *secret, long length);

void bare_database_close(struct bare_database *self);

#endif
