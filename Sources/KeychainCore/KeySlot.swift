// SPDX-License-Identifier: Apache-2.0

/// A key slot as it can be shown: one of the ways into the store.
package struct KeySlot: Equatable, Sendable {
  /// The raw values are part of the format; 3 (systemd credential) and 4 (recovery code) are
  /// reserved.
  package enum Kind: UInt8, Sendable {
    case keyFile = 1
    case passphrase = 2

    /// Whether the session key lies in slots of this kind. While there is one such slot, what is
    /// accessible "when unlocked" needs it; without one, the session key lies beside the others,
    /// wrapped by the master key.
    var holdsSession: Bool { self == .passphrase }
  }

  package let number: Int64
  let id: ItemID
  package let kind: Kind
  package let label: String
  /// Microseconds since 1970.
  package let created: Int64
}
