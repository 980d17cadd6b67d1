#ifndef BARE_CLIENT_H
#define BARE_CLIENT_H

#include <stdint.h>

/// Monotonic nanoseconds, the same clock in every process of the machine.
int64_t bare_now(void);

/// When things happened, in nanoseconds of `bare_now`.
struct bare_times {
  /// The broker accepted the connection (subscriber), or the first byte was written (publisher).
  int64_t begin;
  /// The last message came, or the last acknowledgement.
  int64_t end;
  /// Nanoseconds that the thread of a subscriber was at work: of one that keeps nothing, from the connection to the last
  /// message; of one that seals, with its sealing and its database.
  int64_t worked;
};

/// What a subscriber costs that keeps nothing: libmosquitto's own loop, QoS 1, a message callback
/// that counts. Connects to the session `client_id`, which outlives it, and subscribes to `filter`.
/// The broker may send `window` messages that are not acknowledged.
///
/// Calls `ready` when the broker has answered the subscription, and returns when `expected`
/// messages have come: 0, or an error of the library.
int bare_subscribe(int port, const char *client_id, const char *filter, long expected, int window,
                   void (*ready)(void), struct bare_times *times);

/// The same with one commit a message, to a database of SQLite at `path`, before it is acknowledged.
int bare_keep(int port, const char *client_id, const char *filter, long expected, int window,
              const char *path, void (*ready)(void), struct bare_times *times);

/// Bytes of rows: a record's sealed state and secret, and an event.
struct bare_sizes {
  int state;
  int secret;
  int event;
};

/// What the daemon cannot do without to store first announcements: two seals, a row of a record and a row of an event,
/// with one commit for 500 messages, before they are acknowledged. Everything else of it is its own.
int bare_seal(int port, const char *client_id, const char *filter, long expected, int window,
              const char *path, struct bare_sizes sizes, void (*ready)(void), struct bare_times *times);

/// A publisher that costs next to nothing: sends `length` bytes of finished PUBLISH packets with
/// QoS 1, `count` of them, and reads as many acknowledgements. At most `window` are under way, and
/// no more than `rate` a second are sent; 0: as fast as it goes.
///
/// Returns 0, or an errno.
int bare_publish(int port, const uint8_t *packets, long length, long count, long window,
                 long rate, struct bare_times *times);

#endif
