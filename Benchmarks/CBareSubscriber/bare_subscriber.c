#include "bare_client.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <time.h>

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
};

int64_t bare_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void connected(struct mosquitto *client, void *object, int code, int flags,
                      const mosquitto_property *properties) {
  struct subscriber *self = object;
  (void)flags;
  (void)properties;
  if (code != 0) return;
  self->times->begin = bare_now();
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
  if (self->database != NULL && !keep(self, message)) self->is_damaged = true;
  self->received += 1;
  if (self->received != self->expected) return;
  self->times->end = bare_now();
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
  struct subscriber self = {filter, expected, 0, ready, times, NULL, NULL, false};
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
  struct subscriber self = {filter, expected, 0, ready, times, NULL, NULL, false};
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
