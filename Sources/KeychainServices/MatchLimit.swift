// SPDX-License-Identifier: Apache-2.0

import KeychainCore

/// How many items a caller wants (`m_Limit`).
package enum MatchLimit: Equatable, Sendable {
  /// One, given as a single value. The number 1 means the same.
  case one
  /// At most so many, given as an array.
  case count(Int)
  /// All, given as an array.
  case all

  /// - Throws: `param` for 0 and below.
  package init(_ number: Int64) throws(KeychainError) {
    guard number > 0 else {
      throw KeychainError(.param, "a limit of \(number) items is invalid")
    }
    self = number == 1 ? .one : .count(Int(clamping: number))
  }

  /// The most items; nil when there is no limit.
  var count: Int? {
    switch self {
    case .one: 1
    case .count(let count): count
    case .all: nil
    }
  }
}
