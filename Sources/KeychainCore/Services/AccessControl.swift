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
    static let presence: Self = [.userPresence, .biometryAny, .biometryCurrentSet, .devicePasscode, .companion]
  }

  package let flags: Flags

  package init(_ flags: Flags) { self.flags = flags }

  /// Whether a person has to be there when the secret is read or the item is changed.
  var needsPresence: Bool { !flags.isDisjoint(with: .presence) }

  // MARK: - As an attribute

  /// The first byte of the attribute: its form.
  private static let form: UInt8 = 1

  /// Form 1 | flags 8, big-endian.
  var attribute: AttributeValue {
    var bytes = [Self.form]
    bytes.write(flags.rawValue)
    return .data(bytes)
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

/// The access groups that a client may use, the default first.
package struct AccessGroups: Equatable, Sendable {
  /// Items in this group decide who may do what; no client can name it.
  package static let reserved = "threadkeeper.internal"

  package let names: [String]

  /// Leaves out what no client may have, and repetitions.
  package init(_ names: [String]) {
    var seen: Set<String> = []
    self.names = names.filter { !$0.isEmpty && $0 != Self.reserved && seen.insert($0).inserted }
  }

  /// The group of a new item.
  ///
  /// - Throws: `missingEntitlement` when the client has no group, or not this one.
  func group(ofNew group: String?) throws(KeychainError) -> String {
    guard let chosen = group ?? names.first else {
      throw KeychainError(.missingEntitlement, "this program has no access group")
    }
    return try checked(chosen)
  }

  /// The groups that a search covers: the one that is named, or all.
  func groups(searched group: String?) throws(KeychainError) -> [String] {
    guard let group else { return names }
    return [try checked(group)]
  }

  func checked(_ group: String) throws(KeychainError) -> String {
    guard names.contains(group) else {
      throw KeychainError(
        .missingEntitlement,
        "the access group \"\(group)\" is not one of this program's: \(names.joined(separator: ", "))")
    }
    return group
  }
}

/// Whether a person may be asked for items that need one (`u_AuthUI`).
package enum AuthenticationUI: String, Sendable {
  case allow = "u_AuthUIA"
  /// Answer -25308 when somebody would have to be asked.
  case fail = "u_AuthUIF"
  /// Leave out what somebody would have to be asked for. For searches only.
  case skip = "u_AuthUIS"
}
