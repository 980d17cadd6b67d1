#include <stdbool.h>
#include <sys/types.h>

/// Bytes of a socket in both directions, for a library that reads them one by one and writes each packet by itself.
///
/// While a thread is between `socket_buffer_enter` and `socket_buffer_leave`, its calls of `read`, `recv`, `write` and
/// `send` for this descriptor, also those that check the size of the memory, are those of the buffer; those for other
/// descriptors, and of other threads, are the C library's. So nothing depends on which descriptor has the same number
/// later. The descriptor does not block, and is the caller's to close.
///
/// All but `socket_buffer_enter` and `socket_buffer_leave` can be called outside of them.
typedef struct socket_buffer socket_buffer;

/// Whether other libraries of this program call all the functions that are here. Not so with sanitizers, and where a
/// program exports no symbols to them.
bool socket_buffer_works(void);

/// Null without memory.
socket_buffer *_Nullable socket_buffer_make(int descriptor);
/// What it still has is zeroed.
void socket_buffer_free(socket_buffer *_Nullable buffer);

void socket_buffer_enter(socket_buffer *_Nonnull buffer);
void socket_buffer_leave(void);

/// As read(2), with up to 64 KiB from the socket at once. When it has given less, it is not asked again before the next
/// `socket_buffer_enter`, and there is EAGAIN: poll(2) says whether more has come.
ssize_t socket_buffer_read(socket_buffer *_Nonnull buffer, void *_Nonnull bytes, size_t count);
/// As write(2), but what is taken leaves with `socket_buffer_flush`, or when 64 KiB are there.
ssize_t socket_buffer_write(socket_buffer *_Nonnull buffer, const void *_Nonnull bytes, size_t count);

/// Sends what was written, as far as the socket takes it.
///
/// - Returns: 0, or errno of a socket that takes nothing any more. EAGAIN is none: `socket_buffer_has_output` says so.
int socket_buffer_flush(socket_buffer *_Nonnull buffer);
/// From now on nothing is taken that does not leave at once: the library will close the socket.
void socket_buffer_write_through(socket_buffer *_Nonnull buffer);

/// Bytes have come that were not read: poll(2) does not know of them.
bool socket_buffer_has_input(const socket_buffer *_Nonnull buffer);
/// Bytes were written that the socket has not taken.
bool socket_buffer_has_output(const socket_buffer *_Nonnull buffer);
