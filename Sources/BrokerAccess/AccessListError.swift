// SPDX-License-Identifier: Apache-2.0

/// What an access list cannot have in it, in words that say what to do.
package struct AccessListError: Error, Equatable, CustomStringConvertible {
  package enum Reason: String, Sendable {
    case userName = "user_name"
    case baseTopic = "base_topic"
  }

  package let reason: Reason
  package let message: String

  package var description: String { message }

  static func userName(_ name: String, _ why: String) -> AccessListError {
    // What it contains must not break the line that reports it.
    let shown = String(name.map { $0.isNewline || $0.asciiValue ?? 32 < 32 ? "?" : $0 })
    return AccessListError(
      reason: .userName, message: "the user name `\(shown)` can't be used: \(why)")
  }

  static func baseTopic(_ topic: String) -> AccessListError {
    AccessListError(
      reason: .baseTopic,
      message:
        "the base topic `\(topic)` can't be used: it must not be empty, start or end with `/` or a "
        + "space, or contain `+`, `#`, `%u`, `%c` or control characters")
  }
}
