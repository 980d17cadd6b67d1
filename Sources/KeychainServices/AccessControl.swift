// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// What has to happen before the secret of an item is given out (`SecAccessControl`).
package struct AccessControl: Hashable, Sendable {
  /// The bits of `SecAccessControlCreateFlags`.
  package struct Flags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package static let userPresence = Self(rawValue: 1 << 0)
    package static let biometryAny = Self(rawValue: 1 << 1)
    package static let biometryCurrentSet = Self(rawValue: 1 << 3)
    package static let devicePasscode = Self(rawValue: 1 << 4)
    package static let companion = Self(rawValue: 1 << 5)
    package static let privateKeyUsage = Self(rawValue: 1 << 30)
    package static let applicationPassword = Self(rawValue: 1 << 31)

    /// Each of them asks a person.
    static let presence: Self = [
      .userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion,
    ]
  }

  package let flags: Flags

  package init(_ flags: Flags) { self.flags = flags }

  /// Whether a person has to be there when the secret is read or the item is changed.
  package var needsPresence: Bool { !flags.isDisjoint(with: .presence) }

  // MARK: - As an attribute

  /// The first byte of the attribute: its form.
  private static let form: UInt8 = 1

  /// Form 1 | flags 8, big-endian.
  var attribute: AttributeValue {
    .data([Self.form] + withUnsafeBytes(of: flags.rawValue.bigEndian) { Array($0) })
  }

  /// What was stored. A form that this version does not know needs a person: better too strict.
  init(_ attribute: AttributeValue) {
    guard let bytes = attribute.data, bytes.count == 9, bytes[0] == Self.form else {
      self.init(.userPresence)
      return
    }
    self.init(Flags(rawValue: bytes[1...].reduce(0) { $0 << 8 | UInt64($1) }))
  }
}

extension Item {
  /// Nil: nothing has to happen.
  package var accessControl: AccessControl? { self[.accessControl].map { AccessControl($0) } }

  var needsPresence: Bool { accessControl?.needsPresence ?? false }
}
