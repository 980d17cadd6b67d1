// SPDX-License-Identifier: Apache-2.0

/// What keeps passwords: the keychain, or a table that it is compared with. Items are counted from 0, and
/// number n is that of `user-n`.
protocol PasswordStore: AnyObject {
  var name: String { get }

  /// Adds items in one durable transaction.
  func add(_ numbers: Range<Int>, secret: [UInt8]) throws

  /// Looks items up by their whole primary key, each in a transaction of its own, with their secrets.
  /// - Returns: how many were found.
  func find(_ numbers: [Int]) throws -> Int

  func close()
}
