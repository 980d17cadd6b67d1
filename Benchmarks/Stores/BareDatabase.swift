import CBareDatabase
import Foundation

/// A table of passwords in C, with or without SQLCipher.
final class BareDatabase: PasswordStore {
  struct Unavailable: Error, CustomStringConvertible { let description: String }

  static let cipher = "SQLCipher in C"
  let name: String
  private let library: String
  private let path: String
  private let key: String?
  private var handle: OpaquePointer?
  private var secret = [UInt8](repeating: 0, count: 4_096)

  var version: String { handle.map { String(cString: bare_database_version($0)) } ?? "" }

  /// - Parameter directory: of its own.
  static func plain(in directory: String) throws -> BareDatabase {
    try BareDatabase("SQLite in C", library: "libsqlite3.so.0", directory, key: nil)
  }

  /// With a key as it is and not a passphrase, so that nothing is derived from it at the opening.
  static func encrypted(in directory: String, library: String) throws -> BareDatabase {
    let key = "x'" + String(repeating: "5eed0fbe7c4b1a60", count: 4) + "'"
    return try BareDatabase(cipher, library: library, directory, key: key)
  }

  private init(_ name: String, library: String, _ directory: String, key: String?) throws {
    self.name = name
    self.library = library
    self.key = key
    path = directory + "/items.sqlite3"
    try open()
  }

  deinit { close() }

  func add(_ numbers: Range<Int>, secret: [UInt8]) throws -> Stopwatch {
    try Stopwatch(of: numbers.count) {
      try check(bare_database_add(handle, numbers.lowerBound, numbers.count, secret, secret.count))
    }
  }

  func find(_ numbers: [Int]) throws -> Stopwatch {
    var found = 0
    let time = Stopwatch(of: numbers.count) {
      found = bare_database_find(handle, numbers, numbers.count, &secret, secret.count)
    }
    try StoreFailure.check(name, found: found, of: numbers.count)
    return time
  }

  func change(_ number: Int, secret: [UInt8]) throws -> Stopwatch {
    try Stopwatch(of: 1) { try check(bare_database_change(handle, number, secret, secret.count)) }
  }

  func reopen() throws -> Stopwatch {
    close()
    return try Stopwatch(of: 1) {
      try open()
      _ = try find([0])
    }
  }

  var fileSize: Double { get throws { try StoreFiles.size(of: (path as NSString).deletingLastPathComponent) } }

  func close() {
    bare_database_close(handle)
    handle = nil
  }

  private func open() throws {
    var reason = [CChar](repeating: 0, count: 256)
    handle = bare_database_open(library, path, key, &reason)
    guard handle != nil else {
      let text = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      throw Unavailable(description: text)
    }
  }

  private func check(_ result: Int32) throws {
    guard result == 0 else { throw Unavailable(description: "\(name) answered \(result)") }
  }
}
