// SPDX-License-Identifier: Apache-2.0

/// Names a key: its purpose in the high byte, its epoch (from 1) in the other three. The number
/// stands in the `keys` table, in `items.class_key` and in the head of all that is sealed.
struct KeyID: RawRepresentable, Hashable, Sendable {
  let rawValue: UInt32

  /// Sealed by a key that has no record: a slot's, or an item's own.
  static let none = KeyID(rawValue: 0)

  init(rawValue: UInt32) { self.rawValue = rawValue }

  init(_ purpose: KeyPurpose, epoch: UInt32) {
    rawValue = UInt32(purpose.rawValue) << 24 | (epoch & 0xFF_FFFF)
  }

  var purpose: KeyPurpose { KeyPurpose(rawValue: UInt8(rawValue >> 24)) }
  var epoch: UInt32 { rawValue & 0xFF_FFFF }
}
