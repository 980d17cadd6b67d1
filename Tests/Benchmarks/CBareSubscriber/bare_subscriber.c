// SPDX-License-Identifier: Apache-2.0

#include "bare_client.h"

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdbool.h>
#include <time.h>

struct subscriber {
  const char *filter;
  long expected;
  long received;
  void (*ready)(void);
  struct bare_times *times;
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
  if (self->received >= self->expected) mosquitto_disconnect(client);
}

static void received(struct mosquitto *client, void *object,
                     const struct mosquitto_message *message,
                     const mosquitto_property *properties) {
  struct subscriber *self = object;
  (void)message;
  (void)properties;
  self->received += 1;
  if (self->received != self->expected) return;
  self->times->end = bare_now();
  mosquitto_disconnect(client);
}

int bare_subscribe(int port, const char *client_id, const char *filter, long expected,
                   void (*ready)(void), struct bare_times *times) {
  struct subscriber self = {filter, expected, 0, ready, times};
  mosquitto_lib_init();
  struct mosquitto *client = mosquitto_new(client_id, false, &self);
  if (client == NULL) return MOSQ_ERR_NOMEM;
  mosquitto_int_option(client, MOSQ_OPT_PROTOCOL_VERSION, MQTT_PROTOCOL_V5);
  mosquitto_int_option(client, MOSQ_OPT_RECEIVE_MAXIMUM, 1000);
  mosquitto_int_option(client, MOSQ_OPT_TCP_NODELAY, 1);
  mosquitto_connect_v5_callback_set(client, connected);
  mosquitto_subscribe_v5_callback_set(client, subscribed);
  mosquitto_message_v5_callback_set(client, received);
  mosquitto_property *properties = NULL;
  mosquitto_property_add_int32(&properties, MQTT_PROP_SESSION_EXPIRY_INTERVAL, 3600);
  int result = mosquitto_connect_bind_v5(client, "127.0.0.1", port, 60, NULL, properties);
  mosquitto_property_free_all(&properties);
  if (result == MOSQ_ERR_SUCCESS) result = mosquitto_loop_forever(client, -1, 1);
  mosquitto_destroy(client);
  return self.received >= expected ? MOSQ_ERR_SUCCESS : result;
}
