// SPDX-License-Identifier: Apache-2.0

import Home

/// A home as the settings have it.
package struct ServedHome: Sendable {
  package let name: String
  /// The base topic.
  package let base: String
  package let rules: HomeRules

  package init(name: String, base: String, rules: HomeRules) {
    self.name = name
    self.base = base
    self.rules = rules
  }
}

/// How a home is called, in the record whose id is its number.
///
///     0 | form 1 | bytes of the name: 2 | name | base topic
package struct HomeNote: Hashable, Sendable {
  package let name: String
  /// Below which the broker may hold something of it.
  package var base: String

  private static let form: UInt8 = 1

  package init(name: String, base: String) {
    self.name = name
    self.base = base
  }

  package static func isOne(_ record: [UInt8]) -> Bool { record.first == 0 }

  package var record: [UInt8] {
    let count = UInt16(clamping: name.utf8.count)
    return [0, Self.form, UInt8(count >> 8), UInt8(count & 0xFF)] + Array(name.utf8)
      + Array(base.utf8)
  }

  /// - Returns: nil for what this version cannot have written.
  package init?(_ record: [UInt8]) {
    guard record.count >= 4, record[0] == 0, record[1] == Self.form else { return nil }
    let end = 4 + Int(record[2]) << 8 + Int(record[3])
    guard end <= record.count,
      let name = String(validating: record[4..<end], as: UTF8.self),
      let base = String(validating: record[end...], as: UTF8.self)
    else { return nil }
    self.init(name: name, base: base)
  }
}
