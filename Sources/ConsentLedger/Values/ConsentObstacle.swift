// SPDX-License-Identifier: Apache-2.0

/// Why what a person has agreed to was not given out.
package struct ConsentObstacle: Sendable, Codable, Hashable {
  /// For programs, and stored: `hung_up`, `changed`, or the code that the requester was answered with.
  package let code: String
  /// For people: a sentence without a full stop; no secret.
  package let message: String

  package init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  /// Of a program on the socket.
  package static let hungUp = ConsentObstacle(code: "hung_up", message: "who asked has hung up")
  /// Of a router, which is sent nothing.
  package static let changed = ConsentObstacle(
    code: "changed", message: "what was asked for has changed")
}
