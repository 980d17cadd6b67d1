// SPDX-License-Identifier: Apache-2.0

/// What comes of a `LoginRequest`.
struct LoginReport: Codable, Sendable {
  /// `added` or `updated`.
  var stored: String?
  /// The users whose logins are deleted.
  var deleted: [String]?
  /// Whether the keeper goes on with what is stored now; not while the settings have a password.
  var inUse: Bool

  enum CodingKeys: String, CodingKey {
    case stored, deleted
    case inUse = "in_use"
  }
}
