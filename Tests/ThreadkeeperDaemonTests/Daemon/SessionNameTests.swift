// SPDX-License-Identifier: Apache-2.0

import DaemonTestKit
import KeychainCore
import Settings
import TestKit
import Testing

@testable import ThreadkeeperDaemon

@Suite("The name of the MQTT sessions")
struct SessionNameTests {
  private func name(
    _ store: TemporaryStore, machine: String = "a1"
  ) throws -> String {
    try SessionName.make(MovedStore.settings(store), store.keychain, machine: machine)
  }

  @Test("It is the same after a restart and after a rotation, and does not hold the store's id")
  func lasting() throws {
    let store = try TemporaryStore()
    let first = try name(store)
    #expect(first.count == "threadkeeper-".count + 32)
    #expect(!first.contains(store.keychain.storeID.description))
    try store.reopen()
    #expect(try name(store) == first)
    try store.keychain.rotateKeys([store.keyFile])
    #expect(try name(store) == first)
    try store.reopen()
    #expect(try name(store) == first)
  }

  @Test("It differs from machine to machine, and from store to store")
  func different() throws {
    let store = try TemporaryStore()
    let another = try TemporaryStore()
    let names = [
      try name(store), try name(store, machine: "b2"), try name(store, machine: ""),
      try name(another),
    ]
    #expect(Set(names).count == names.count)
  }

  @Test("A client id of the settings is used as it is")
  func chosen() throws {
    let store = try TemporaryStore()
    var settings = MovedStore.settings(store)
    settings.mqtt.clientID = SecretText("hall")
    #expect(try SessionName.make(settings, store.keychain) == "hall")
  }
}
