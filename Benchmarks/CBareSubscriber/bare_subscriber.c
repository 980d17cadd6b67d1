#include "bare_client.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Messages that came and are not kept yet.
struct waiting {
  uint8_t *payloads;
  int count;
  int room;
};

struct subscriber {
  const char *filter;
  long expected;
  long received;
  void (*ready)(void);
  struct bare_times *times;
  /// Where each message is committed before it is acknowledged; null: nothing is kept.
  sqlite3 *database;
  sqlite3_stmt *insert;
  bool is_damaged;
  /// Of one that seals; null: all others.
  struct waiting *waiting;
  /// Of this thread, when the broker had accepted the connection.
  int64_t worked;
};

/// Bytes of a payload that are sealed at most.
enum { PAYLOAD = 512, COMMIT = 500 };

int64_t bare_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t worked(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void connected(struct mosquitto *client, void *object, int code, int flags,
                      const mosquitto_property *properties) {
  struct subscriber *self = object;
  (void)flags;
  (void)properties;
  if (code != 0) return;
  self->times->begin = bare_now();
  self->worked = worked();
  mosquitto_subscribe_v5(client, NULL, self->filter, 1, 0, NULL);
}

static void subscribed(struct mosquitto *client, void *object, int identifier, int count,
                       const int *granted, const mosquitto_property *properties) {
  struct subscriber *self = object;
  (void)client;
  (void)identifier;
  (void)count;
  (void)granted;
  (void)properties;
  self->ready();
  if (self->received < self->expected) return;
  self->times->end = bare_now();
  mosquitto_disconnect(client);
}

/// One transaction for one message.
static bool keep(struct subscriber *self, const struct mosquitto_message *message) {
  sqlite3_bind_text(self->insert, 1, message->topic, -1, SQLITE_STATIC);
  sqlite3_bind_blob(self->insert, 2, message->payload, message->payloadlen, SQLITE_STATIC);
  int result = sqlite3_step(self->insert);
  sqlite3_reset(self->insert);
  return result == SQLITE_DONE;
}

static void received(struct mosquitto *client, void *object,
                     const struct mosquitto_message *message,
                     const mosquitto_property *properties) {
  struct subscriber *self = object;
  (void)properties;
  self->received += 1;
  if (self->waiting != NULL) {
    if (self->waiting->count < self->waiting->room) {
      size_t length = message->payloadlen < PAYLOAD ? (size_t)message->payloadlen : PAYLOAD;
      memcpy(self->waiting->payloads + (size_t)self->waiting->count++ * PAYLOAD, message->payload, length);
    } else {
      self->is_damaged = true;
    }
    return;
  }
  if (self->database != NULL && !keep(self, message)) self->is_damaged = true;
  if (self->received != self->expected) return;
  self->times->end = bare_now();
  self->times->worked = worked() - self->worked;
  mosquitto_disconnect(client);
}

/// Connects to a session that outlives the client.
static int start(struct mosquitto *client, int port, int window) {
  mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, window);
  mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_connect_v5_callback_set(client, connected);
  mosquitto_subscribe_v5_callback_set(client, subscribed);
  mosquitto_message_v5_callback_set(client, received);
  mosquitto_property *properties = NULL;
  mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, 3600);
  int result = mosquitto_connect_bind_v5(client, "127.0.0.1", port, 60, NULL, properties);
  mosquitto_property_free_all(&properties);
  return result;
}

int bare_subscribe(int port, const char *client_id, const char *filter, long expected, int window,
                   void (*ready)(void), struct bare_times *times) {
  struct subscriber self = {.filter = filter, .expected = expected, .ready = ready, .times = times};
  mosquitto_lib_init();
  struct mosquitto *client = mosquitto_new(client_id, false, &self);
  if (client == NULL) return MOSQ_ERR_NOMEM;
  int result = start(client, port, window);
  // Not `mosquitto_loop_forever`: that connects again for ever to a broker that is gone.
  while (result == MOSQ_ERR_SUCCESS) result = mosquitto_loop(client, 1000, 1);
  mosquitto_destroy(client);
  return self.received >= expected ? MOSQ_ERR_SUCCESS : result;
}

/// A table for messages, as durable as the store.
static bool open_table(struct subscriber *self, const char *path) {
  static const char schema[] =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
      "CREATE TABLE IF NOT EXISTS message (id INTEGER PRIMARY KEY, topic TEXT NOT NULL,"
      "  payload BLOB NOT NULL)";
  return sqlite3_open(path, &self->database) == SQLITE_OK &&
         sqlite3_exec(self->database, schema, NULL, NULL, NULL) == SQLITE_OK &&
         sqlite3_prepare_v2(self->database, "INSERT INTO message (topic, payload) VALUES (?, ?)",
                            -1, &self->insert, NULL) == SQLITE_OK;
}

/// The library queues the acknowledgement before it calls `received`. To a threaded client it leaves it to write it, so
/// here that happens after the commit.
static int loop(struct mosquitto *client, const struct subscriber *self) {
  int result = MOSQ_ERR_SUCCESS;
  while (result == MOSQ_ERR_SUCCESS) {
    struct pollfd ready = {mosquitto_socket(client), POLLIN, 0};
    if (mosquitto_want_write(client)) ready.events |= POLLOUT;
    if (poll(&ready, 1, 1000) < 0) return MOSQ_ERR_ERRNO;
    if (ready.revents & (POLLIN | POLLHUP | POLLERR)) result = mosquitto_loop_read(client, 1);
    if (result == MOSQ_ERR_SUCCESS) result = mosquitto_loop_write(client, 1);
    if (result == MOSQ_ERR_SUCCESS) result = mosquitto_loop_misc(client);
    if (self->times->end != 0 || self->is_damaged) return MOSQ_ERR_SUCCESS;
  }
  return result;
}

int bare_keep(int port, const char *client_id, const char *filter, long expected, int window,
              const char *path, void (*ready)(void), struct bare_times *times) {
  struct subscriber self = {.filter = filter, .expected = expected, .ready = ready, .times = times};
  times->end = 0;
  if (!open_table(&self, path)) return MOSQ_ERR_UNKNOWN;
  mosquitto_lib_init();
  struct mosquitto *client = mosquitto_new(client_id, false, &self);
  if (client == NULL) return MOSQ_ERR_NOMEM;
  mosquitto_threaded_set(client, true);
  int result = start(client, port, window);
  if (result == MOSQ_ERR_SUCCESS) result = loop(client, &self);
  mosquitto_destroy(client);
  sqlite3_finalize(self.insert);
  sqlite3_close(self.database);
  return self.received >= expected && !self.is_damaged ? MOSQ_ERR_SUCCESS : MOSQ_ERR_UNKNOWN;
}

/// What seals, and where it goes.
struct sealer {
  sqlite3 *database;
  sqlite3_stmt *begin, *record, *event, *commit;
  struct bare_sizes sizes;
  sqlite3_int64 rows;
  uint8_t key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
};

/// As the store has them: format 1 and key id 4, nonce 24, ciphertext, tag 16, bound to 47 bytes.
enum { HEAD = 29, OVERHEAD = HEAD + crypto_aead_xchacha20poly1305_ietf_ABYTES, BOUND = 47 };

/// The two tables of the store, as durable as it is.
static bool open_store(struct sealer *self, const char *path) {
  static const char schema[] =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;"
      "PRAGMA wal_autocheckpoint = 4000;"
      "CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, home INTEGER NOT NULL, version INTEGER NOT NULL,"
      "  secret_version INTEGER NOT NULL, state BLOB NOT NULL, secret BLOB) STRICT;"
      "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;";
  if (sodium_init() < 0 || sqlite3_open(path, &self->database) != SQLITE_OK ||
      sqlite3_exec(self->database, schema, NULL, NULL, NULL) != SQLITE_OK)
    return false;
  crypto_aead_xchacha20poly1305_ietf_keygen(self->key);
  const struct {
    const char *sql;
    sqlite3_stmt **statement;
  } all[] = {
      {"BEGIN IMMEDIATE", &self->begin},
      {"INSERT INTO records (id, home, version, secret_version, state, secret) VALUES (?, 1, 1, 1, ?, ?)",
       &self->record},
      {"INSERT INTO messages (id, bytes) VALUES (?, ?)", &self->event},
      {"COMMIT", &self->commit},
  };
  for (size_t place = 0; place < sizeof all / sizeof *all; place++) {
    if (sqlite3_prepare_v2(self->database, all[place].sql, -1, all[place].statement, NULL) != SQLITE_OK)
      return false;
  }
  return true;
}

static bool run(sqlite3_stmt *statement) {
  int result = sqlite3_step(statement);
  sqlite3_reset(statement);
  return result == SQLITE_DONE;
}

/// Seals the beginning of a payload, filled up with zeros, into `length` bytes.
static void seal(const struct sealer *self, uint8_t *sealed, int length, const uint8_t *payload) {
  uint8_t plaintext[PAYLOAD], bound[BOUND] = {0};
  int count = length - OVERHEAD;
  memcpy(plaintext, payload, (size_t)count);
  memcpy(bound + BOUND - 8, &self->rows, 8);
  memset(sealed, 1, HEAD);
  randombytes_buf(sealed + 5, HEAD - 5);
  crypto_aead_xchacha20poly1305_ietf_encrypt(sealed + HEAD, NULL, plaintext, (unsigned long long)count, bound,
                                             sizeof bound, NULL, sealed + 5, self->key);
}

/// One transaction for all that waits.
static bool store(struct sealer *self, struct waiting *waiting) {
  uint8_t state[PAYLOAD + OVERHEAD], secret[PAYLOAD + OVERHEAD];
  bool is_well = run(self->begin);
  for (int place = 0; place < waiting->count && is_well; place++) {
    const uint8_t *payload = waiting->payloads + (size_t)place * PAYLOAD;
    self->rows += 1;
    seal(self, state, self->sizes.state, payload);
    seal(self, secret, self->sizes.secret, payload);
    sqlite3_bind_int64(self->record, 1, self->rows);
    sqlite3_bind_blob(self->record, 2, state, self->sizes.state, SQLITE_STATIC);
    sqlite3_bind_blob(self->record, 3, secret, self->sizes.secret, SQLITE_STATIC);
    sqlite3_bind_int64(self->event, 1, self->rows);
    sqlite3_bind_blob(self->event, 2, payload, self->sizes.event, SQLITE_STATIC);
    is_well = run(self->record) && run(self->event);
  }
  waiting->count = 0;
  return run(self->commit) && is_well;
}

/// Acknowledgements are written when everything that they are for is on the disk.
static int loop_and_store(struct mosquitto *client, struct subscriber *self, struct sealer *sealer) {
  int result = MOSQ_ERR_SUCCESS;
  while (result == MOSQ_ERR_SUCCESS) {
    struct pollfd ready = {mosquitto_socket(client), POLLIN, 0};
    if (self->waiting->count == 0 && mosquitto_want_write(client)) ready.events |= POLLOUT;
    if (poll(&ready, 1, 1000) < 0) return MOSQ_ERR_ERRNO;
    if (ready.revents & (POLLIN | POLLHUP | POLLERR)) result = mosquitto_loop_read(client, 1);
    bool is_last = self->received >= self->expected;
    if (self->waiting->count >= COMMIT || (is_last && self->waiting->count > 0)) {
      int64_t before = worked();
      if (!store(sealer, self->waiting)) self->is_damaged = true;
      self->times->worked += worked() - before;
    }
    if (is_last && self->expected > 0) {
      self->times->end = bare_now();
      mosquitto_disconnect(client);
    }
    if (result == MOSQ_ERR_SUCCESS && self->waiting->count == 0) result = mosquitto_loop_write(client, 1);
    if (result == MOSQ_ERR_SUCCESS) result = mosquitto_loop_misc(client);
    if (self->times->end != 0 || self->is_damaged) return MOSQ_ERR_SUCCESS;
  }
  return result;
}

int bare_seal(int port, const char *client_id, const char *filter, long expected, int window,
              const char *path, struct bare_sizes sizes, void (*ready)(void), struct bare_times *times) {
  // No longer than what a payload has room for.
  if (sizes.state < OVERHEAD || sizes.secret < OVERHEAD || sizes.state > PAYLOAD || sizes.secret > PAYLOAD ||
      sizes.event < 0 || sizes.event > PAYLOAD * 2)
    return MOSQ_ERR_INVAL;
  struct sealer sealer = {.sizes = sizes};
  // A read takes as many as are in flight at most; an event may reach into the room of the next payload.
  struct waiting waiting = {.room = COMMIT + window};
  struct subscriber self = {
      .filter = filter, .expected = expected, .ready = ready, .times = times, .waiting = &waiting};
  waiting.payloads = calloc((size_t)waiting.room + 2, PAYLOAD);
  times->end = 0;
  times->worked = 0;
  mosquitto_lib_init();
  struct mosquitto *client = mosquitto_new(client_id, false, &self);
  int result = MOSQ_ERR_NOMEM;
  if (client != NULL && waiting.payloads != NULL && open_store(&sealer, path)) {
    mosquitto_threaded_set(client, true);
    result = start(client, port, window);
    if (result == MOSQ_ERR_SUCCESS) result = loop_and_store(client, &self, &sealer);
  }
  mosquitto_destroy(client);
  sqlite3_finalize(sealer.begin);
  sqlite3_finalize(sealer.record);
  sqlite3_finalize(sealer.event);
  sqlite3_finalize(sealer.commit);
  sqlite3_close(sealer.database);
  free(waiting.payloads);
  return self.received >= expected && !self.is_damaged ? MOSQ_ERR_SUCCESS : MOSQ_ERR_UNKNOWN;
}
