// SPDX-License-Identifier: Apache-2.0

/// What comes of a `LoginRequest`.
package struct LoginReport: Codable, Sendable {
  /// `added` or `updated`.
  package var stored: String?
  /// The users whose logins are deleted.
  package var deleted: [String]?
  /// Whether the daemon goes on with what is stored now; not while the settings have a password.
  package var inUse: Bool

  enum CodingKeys: String, CodingKey {
    case stored, deleted
    case inUse = "in_use"
  }
}
