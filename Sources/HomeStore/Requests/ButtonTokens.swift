// SPDX-License-Identifier: Apache-2.0

import Home
import SodiumCrypto
import ThreadDataset

/// What is published when a button of Home Assistant is pressed holds a token for what the button decides about. So who
/// knows the id of a request, as its requester does, cannot make a button for it. It is no protection against who may
/// write below Home Assistant's discovery prefix: an entity with a template can read the token in `bridge/consent`.
///
/// A token is a keyed hash (BLAKE2b) of the subject. The key is random and of this process: buttons are announced again
/// with new tokens when the daemon starts. A request is decided about once, and its token is of no use then.
package struct ButtonTokens: Sendable {
  private let key = RandomBytes.make(32)

  package init() {}

  /// Of a decision about a question.
  package func token(for question: ConsentID) -> String { token(question.questionText) }

  /// Of the choice of a preferred network.
  package func token(forPreferring network: ExtendedPANID) -> String { token("prefer/\(network)") }

  /// Of the keys that are preferred since then.
  package func token(forKeepingKeysSince time: WireTime) -> String {
    token("keep/\(time.milliseconds)")
  }

  private func token(_ subject: String) -> String {
    // Where hashing fails these stay: a token that is valid for nothing.
    var hash = RandomBytes.make(16)
    Array(subject.utf8).withUnsafeBytes { input in
      key.withUnsafeBytes { key in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: key, into: $0) }
      }
    }
    return Hexadecimal.encode(hash)
  }

  package func isValid(_ token: String?, for question: ConsentID) -> Bool {
    isSame(token, self.token(for: question))
  }

  package func isValid(_ token: String?, forPreferring network: ExtendedPANID) -> Bool {
    isSame(token, self.token(forPreferring: network))
  }

  package func isValid(_ token: String?, forKeepingKeysSince time: WireTime) -> Bool {
    isSame(token, self.token(forKeepingKeysSince: time))
  }

  /// Both are hashed: how long the comparison takes tells nothing of the token.
  private func isSame(_ given: String?, _ token: String) -> Bool {
    given.map { self.token("=" + $0) == self.token("=" + token) } ?? false
  }
}
