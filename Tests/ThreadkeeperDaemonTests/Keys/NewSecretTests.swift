// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import LocalAPI
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("What a new key slot may be made of")
struct NewSecretTests {
  @Test(
    "A short passphrase, a relative path and an open kind are refused, and nothing is added",
    arguments: [
      StoreSecret(kind: .passphrase, value: "seven c"),
      StoreSecret(kind: .keyFile, value: "store-2.key"),
      StoreSecret(kind: .passphraseOrCode, value: "long enough"),
    ])
  func refused(secret: StoreSecret) throws {
    var options = KeychainOptions()
    options.passwordHash = .floor
    let store = try TemporaryStore(options: options)
    let opened = OpenedStore(keychain: store.keychain, settings: MovedStore.settings(store))
    let failure = #expect(throws: CommandFailure.self) {
      try AddKeySlot(secret: secret).perform(opened)
    }
    #expect(failure.map(VarlinkError.init(failing:))?.code == "invalid_payload")
    #expect(try store.keychain.slots().count == 1)
  }

  @Test("A passphrase of eight characters and an absolute path are taken")
  func taken() throws {
    try StoreSecret(kind: .passphrase, value: "eight ch").checkAsNew()
    try StoreSecret(kind: .keyFile, value: "/media/stick/store.key").checkAsNew()
  }
}
