// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("A new way into the store, whoever asks for it")
struct NewSecretTests {
  @Test(
    "A short passphrase and a relative path are refused, and nothing is added",
    arguments: [
      StoreSecret(kind: .passphrase, value: "seven c"),
      StoreSecret(kind: .keyFile, value: "store-2.key"),
    ])
  func refused(secret: StoreSecret) throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let store = try TemporaryStore(options: options)
    let actions = StoreActions(
      keychain: store.keychain, settings: MovedStore.settings(store), actor: nil, notes: nil)
    let failure = #expect(throws: CommandFailure.self) { try actions.add(.init(secret: secret)) }
    #expect(failure?.status == .badInput)
    #expect(try store.keychain.slots().count == 1)
  }

  @Test("Of eight characters, or from the root, is enough")
  func taken() throws {
    try StoreSecret(kind: .passphrase, value: "eight ch").checkAsNew()
    try StoreSecret(kind: .keyFile, value: "/media/stick/store.key").checkAsNew()
  }
}
