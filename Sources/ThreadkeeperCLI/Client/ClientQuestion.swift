// SPDX-License-Identifier: Apache-2.0

import SodiumCrypto

/// What the daemon is asked over the broker.
struct ClientQuestion: Sendable {
  let command: String
  /// A JSON object.
  var fields = Array("{}".utf8)
  /// Whether an answer in plaintext is refused, where it could be sealed.
  var isSecret = false
  /// Tells its answer, and the consent that it waits for, from those to others.
  let transaction = Base64.encode(RandomBytes.make(12), .urlSafe)
}
