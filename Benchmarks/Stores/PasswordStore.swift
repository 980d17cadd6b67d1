/// What keeps passwords: the keychain, or what it is compared with. Items are counted from 0, and number n is that of
/// `user-n`. Each function returns how long it took, for one item or change.
protocol PasswordStore: AnyObject {
  var name: String { get }
  /// Items of one write, when many are added.
  var batch: Int { get }
  /// Changes of one item that are measured one after the other.
  func changes(of items: Int) -> Int

  /// Adds items in one durable write.
  func add(_ numbers: Range<Int>, secret: [UInt8]) throws -> Stopwatch

  /// Looks items up by their whole primary key, one after the other, with their secrets.
  func find(_ numbers: [Int]) throws -> Stopwatch

  /// Gives one item another secret, in a durable write of its own.
  func change(_ number: Int, secret: [UInt8]) throws -> Stopwatch

  /// Closes it and opens it again, until one item was found.
  func reopen() throws -> Stopwatch

  /// Bytes of its files.
  var fileSize: Double { get throws }

  func close()
}

extension PasswordStore {
  var batch: Int { 10_000 }
  func changes(of items: Int) -> Int { 100 }
}

/// What a store did not do.
struct StoreFailure: Error, CustomStringConvertible {
  let description: String

  /// Checks that all were found.
  static func check(_ name: String, found: Int, of count: Int) throws {
    guard found == count else { throw StoreFailure(description: "\(name) found \(found) of \(count) items") }
  }
}
