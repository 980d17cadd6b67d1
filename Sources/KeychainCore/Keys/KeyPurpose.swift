// SPDX-License-Identifier: Apache-2.0

/// What a key is for. The raw values are part of the format.
struct KeyPurpose: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt8

  /// Roots: they wrap others, and lie in the key slots.
  static let master = Self(rawValue: 1)
  static let session = Self(rawValue: 2)
  static let device = Self(rawValue: 3)

  /// Whether such a key has no record, or need not have one.
  var isRoot: Bool { rawValue <= Self.device.rawValue }

  static let metadata = Self(rawValue: 8)
  static let blindIndex = Self(rawValue: 9)
  static let manifest = Self(rawValue: 10)
  static let audit = Self(rawValue: 11)

  /// 16…22: the class keys, by `Accessibility`.
  static let firstClass: UInt8 = 16

  var accessibility: Accessibility? {
    rawValue >= Self.firstClass ? Accessibility(rawValue: rawValue - Self.firstClass) : nil
  }

  /// The session key and what it wraps: gone while the store is locked.
  var isOfSession: Bool { self == .session || accessibility?.wrapper == .session }
}
