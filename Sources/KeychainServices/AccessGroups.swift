// SPDX-License-Identifier: Apache-2.0

import KeychainCore

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
        "the access group \"\(group)\" is not one of this program's: \(names.joined(separator: ", "))"
      )
    }
    return group
  }
}
