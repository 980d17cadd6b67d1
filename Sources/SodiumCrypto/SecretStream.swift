// SPDX-License-Identifier: Apache-2.0

import CLibSodium

/// A sequence of messages under one key (`crypto_secretstream_xchacha20poly1305`): none can be altered,
/// removed, repeated or moved without notice, and the last one says that it is the last.
///
///     sealed message = tag 1, encrypted | message, encrypted | authenticator 16
package enum SecretStream {
  package static let keyLength = 32
  /// What the reader needs besides the key; it is no secret.
  package static let headerLength = 24
  /// Bytes that a sealed message has more than the message.
  package static let overhead = 17

  /// What a message is to the sequence; libsodium's numbers.
  package enum Tag: UInt8, Sendable {
    case message = 0
    /// The end of a set of messages, which goes on.
    case push = 1
    /// From here on the key is another one, made of this one.
    case rekey = 2
    /// Nothing follows.
    case final = 3
  }
}

/// The memory of one direction of a stream. It holds the key, so it is wiped at its end.
struct SecretStreamState: ~Copyable {
  typealias Memory = crypto_secretstream_xchacha20poly1305_state

  let memory = UnsafeMutablePointer<Memory>.allocate(capacity: 1)

  init() { memory.initialize(to: Memory()) }

  deinit {
    sodium_memzero(memory, MemoryLayout<Memory>.size)
    memory.deallocate()
  }
}
