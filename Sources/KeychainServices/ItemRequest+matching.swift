// SPDX-License-Identifier: Apache-2.0

import KeychainCore

extension ItemRequest {
  /// Whether the store itself can compare everything that the request says.
  var isComparedByStore: Bool {
    !ignoresCase && host == nil && accessControl == nil && authenticationUI != .skip
  }

  /// The attributes that the store compares. Where case does not matter, text is compared here.
  var comparedByStore: ItemAttributes {
    guard ignoresCase else { return attributes }
    return attributes.filter { $0.value.string == nil }
  }

  /// Compares what the store does not. Every attribute is compared again, so it also serves where
  /// the store could compare none.
  func isMetBy(_ found: ItemAttributes, needsPresence: Bool) -> Bool {
    if authenticationUI == .skip, needsPresence { return false }
    if let accessControl {
      let flags = found[.accessControl].map { AccessControl($0).flags } ?? []
      guard flags == accessControl.flags else { return false }
    }
    if let host, !Self.isHost(found[.server], orBelow: host) { return false }
    return attributes.allSatisfy { attribute, wanted in
      let missing: AttributeValue? = attribute.isEmptyByDefault ? .data([]) : nil
      guard let value = found[attribute] ?? missing else { return false }
      return value.matches(wanted) || ignoresCase && Self.areSameText(value, wanted)
    }
  }

  /// By Unicode's full case mapping, and canonical equivalence.
  private static func areSameText(_ one: AttributeValue, _ other: AttributeValue) -> Bool {
    guard let one = one.string, let other = other.string else { return false }
    return one.lowercased() == other.lowercased()
  }

  /// Whether a server is the host `host`, or a name below it.
  private static func isHost(_ server: AttributeValue?, orBelow host: String) -> Bool {
    guard let server = server?.string?.lowercased() else { return false }
    let host = host.lowercased()
    return server == host || server.hasSuffix("." + host)
  }
}
