// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeychainCore
import SodiumCrypto
import TestKit
import Testing

/// A store whose keys are renewed, with a second key file.
struct RotatingHome: Sendable {
  static let passphrase = "correct horse battery"
  /// So many that a rotation takes longer than it takes to look at it.
  static let items = 30_000

  let installation: Installation
  /// Not added yet.
  let passphraseFile: String
  let leaked: String
  /// Whose commands these are, in the audit.
  let user = "command of user \(geteuid())"
  private let broker: TestBroker

  init() async throws {
    broker = try TestBroker()
    installation = try Installation(broker)
    passphraseFile = try installation.passphraseFile(Self.passphrase)
    leaked = installation.directory.file("leaked.key")
    try installation.makeStore()
    #expect(try await installation.command("keys", "add", "--key-file", leaked).status == 0)
  }

  /// Adds items of both kinds.
  func fill(_ count: Int = Self.items) throws {
    let keychain = try Keychain.open(
      at: installation.location, with: .keyFile(path: installation.directory.file("store.key")))
    defer { keychain.close() }
    try keychain.database.write { tx in
      for number in 0..<count {
        _ = try keychain.add(
          NewItem(
            .genericPassword,
            attributes: [.account: .string("user \(number)"), .service: .string("mail")],
            secret: SecretBytes(copying: Array("secret \(number)".utf8)),
            accessible: number % 2 == 0 ? .afterFirstUnlock : .whenUnlocked), in: tx)
      }
    }
  }

  /// Every change that the audit has, as `actor: action`.
  func audit() async throws -> [String] {
    let outcome = try await installation.command("audit", "--last", "1000", "--json")
    let records = try #require(JSON(outcome.output)).list
    return records.flatMap { record in
      (record["changes"]?.list ?? []).map {
        "\(record["actor"]?.text ?? ""): \($0["action"]?.text ?? "")"
      }
    }
  }

  func untilRotated() async throws {
    try await eventually("the rotation to end") {
      try await installation.json("status")["store"]?["rotation_pending"] == false
    }
  }
}
