// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import SodiumCrypto

/// The keychain with generic passwords.
final class KeychainStore: PasswordStore, Sendable {
  let name = "keychain"
  let keychain: Keychain

  init(in directory: String) throws {
    keychain = try Keychain.create(
      at: StoreLocation(directory: directory + "/store"),
      slots: [.keyFile(path: directory + "/store.key")])
  }

  func add(_ numbers: Range<Int>, secret: [UInt8]) throws {
    try keychain.database.write { tx in
      for number in numbers {
        try keychain.add(
          NewItem(
            .genericPassword,
            attributes: [
              .service: .string("mail.example.org"), .account: .string("user-\(number)"),
              .accessGroup: .string("bench"), .label: .string("A label"),
            ],
            secret: SecretBytes(copying: secret), accessible: .afterFirstUnlock), in: tx)
      }
    }
  }

  func find(_ numbers: [Int]) throws -> Int {
    var found = 0
    for number in numbers {
      let query = ItemQuery(
        .genericPassword,
        [.service: .string("mail.example.org"), .account: .string("user-\(number)")],
        accessGroups: ["bench"], limit: 1)
      try keychain.database.read { tx in
        found += try keychain.first(matching: query, in: tx)?.secret.count ?? 0 > 0 ? 1 : 0
      }
    }
    return found
  }

  func close() { keychain.close() }
}
