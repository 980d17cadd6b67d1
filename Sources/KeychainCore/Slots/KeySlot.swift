// SPDX-License-Identifier: Apache-2.0

/// A key slot as it can be shown: one of the ways into the store.
package struct KeySlot: Equatable, Sendable {
  /// The raw values are part of the format.
  package enum Kind: UInt8, CaseIterable, Sendable {
    case keyFile = 1
    case passphrase = 2
    case systemdCredential = 3
    case recoveryCode = 4

    /// Whether the session key is sealed into slots of this kind: they reach all that there is.
    var holdsSession: Bool { self == .passphrase || self == .recoveryCode }

    /// Whether the session key lies in slots only as long as there is one of this kind. Then what is
    /// accessible "when unlocked" needs a slot that holds it; otherwise the session key lies beside
    /// the others, wrapped by the master key.
    var guardsSession: Bool { self == .passphrase }
  }

  package let number: Int64
  let id: ItemID
  package let kind: Kind
  package let label: String
  /// Microseconds since 1970.
  package let created: Int64
}
