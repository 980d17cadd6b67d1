import KeychainCore
import SodiumCrypto
import Synchronization

/// The keychain with generic passwords.
final class KeychainStore: PasswordStore, Sendable {
  let name = "threadkeeper"
  private let directory: String
  private let opened: Mutex<Keychain>

  init(in directory: String) throws {
    self.directory = directory
    opened = Mutex(
      try Keychain.create(
        at: StoreLocation(directory: directory + "/store"), slots: [.keyFile(path: directory + "/store.key")]))
  }

  var keychain: Keychain { opened.withLock { $0 } }

  func rotate() throws { try keychain.rotateKeys([.keyFile(path: directory + "/store.key")]) }

  func add(_ numbers: Range<Int>, secret: [UInt8]) throws -> Stopwatch {
    let keychain = keychain
    return try Stopwatch(of: numbers.count) {
      try keychain.database.write { tx in
        for number in numbers {
          try keychain.add(
            NewItem(
              .genericPassword,
              attributes: [
                .service: .string("mail.example.org"), .account: .string("user-\(number)"),
                .accessGroup: .string("bench"), .label: .string("A label"),
              ], secret: SecretBytes(copying: secret), accessible: .afterFirstUnlock), in: tx)
        }
      }
    }
  }

  func find(_ numbers: [Int]) throws -> Stopwatch {
    let keychain = keychain
    var found = 0
    let time = try Stopwatch(of: numbers.count) {
      for number in numbers { found += try keychain.first(matching: Self.query(number))?.secret.count ?? 0 > 0 ? 1 : 0 }
    }
    try StoreFailure.check(name, found: found, of: numbers.count)
    return time
  }

  func change(_ number: Int, secret: [UInt8]) throws -> Stopwatch {
    let keychain = keychain
    return try Stopwatch(of: 1) {
      try keychain.database.write { tx in
        guard let item = try keychain.first(matching: Self.query(number), in: tx)?.item else {
          throw StoreFailure(description: "\(name) has no item \(number)")
        }
        try keychain.update(item, secret: SecretBytes(copying: secret), in: tx)
      }
    }
  }

  func reopen() throws -> Stopwatch {
    close()
    return try Stopwatch(of: 1) {
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory + "/store"), with: .keyFile(path: directory + "/store.key"))
      opened.withLock { $0 = keychain }
      _ = try find([0])
    }
  }

  var fileSize: Double { get throws { try StoreFiles.size(of: directory + "/store") } }

  func close() { keychain.close() }

  private static func query(_ number: Int) -> ItemQuery {
    ItemQuery(
      .genericPassword, [.service: .string("mail.example.org"), .account: .string("user-\(number)")],
      accessGroups: ["bench"], limit: 1)
  }
}
