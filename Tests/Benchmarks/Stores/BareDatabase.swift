// SPDX-License-Identifier: Apache-2.0

import CBareDatabase

/// A table of passwords in C, with or without SQLCipher.
final class BareDatabase: PasswordStore {
  struct Unavailable: Error, CustomStringConvertible {
    let description: String
  }

  let name: String
  private var handle: OpaquePointer?
  private var secret = [UInt8](repeating: 0, count: 4_096)

  var version: String { handle.map { String(cString: bare_database_version($0)) } ?? "" }

  static func plain(at path: String) throws -> BareDatabase {
    try BareDatabase("SQLite in C", library: "libsqlite3.so.0", path: path, key: nil)
  }

  /// With a key as it is and not a passphrase, so that nothing is derived from it at the opening.
  static func encrypted(at path: String, library: String) throws -> BareDatabase {
    let key = "x'" + String(repeating: "5eed0fbe7c4b1a60", count: 4) + "'"
    return try BareDatabase("SQLCipher", library: library, path: path, key: key)
  }

  private init(_ name: String, library: String, path: String, key: String?) throws {
    self.name = name
    var reason = [CChar](repeating: 0, count: 256)
    handle = bare_database_open(library, path, key, &reason)
    guard handle != nil else {
      let text = String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self)
      throw Unavailable(description: text)
    }
  }

  deinit { close() }

  func add(_ numbers: Range<Int>, secret: [UInt8]) throws {
    let result = bare_database_add(
      handle, numbers.lowerBound, numbers.count, secret, secret.count)
    guard result == 0 else { throw Unavailable(description: "\(name) answered \(result)") }
  }

  func find(_ numbers: [Int]) throws -> Int {
    bare_database_find(handle, numbers, numbers.count, &secret, secret.count)
  }

  func close() {
    bare_database_close(handle)
    handle = nil
  }
}
