// SPDX-License-Identifier: Apache-2.0

import Bridge
import Broker
import DaemonTestKit
import Foundation
import KeychainCore
import LocalAPI
import Logging
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset

@testable import ThreadkeeperDaemon

/// A store that is no keychain, as that of a shard.
private struct ShardStandIn: DaemonStore {
  let shard: Int
  let records: SealedRecords

  var id: StoreID { records.id }
  var place: String { "shard \(shard)" }
  var condition: StoreCondition { records.condition }

  func load(_ body: (StoredRecord) throws -> Void) throws -> [DamagedRecord] {
    try records.load(body)
  }
  func commit(_ changes: RecordChanges) throws { try records.commit(changes) }
  func withSecret<R>(of id: RecordID, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
    try records.withSecret(of: id, body)
  }
  func unreadable() throws -> [DamagedRecord] { try records.unreadable() }
  func messages(after id: Int64, limit: Int) throws -> [StoredMessage] {
    try records.messages(after: id, limit: limit)
  }
  func lastAuditRecord() throws -> Int64 { try records.lastAuditRecord() }
  func forEachAuditRecord(
    after number: Int64, limit: Int, _ body: (AuditRecord) throws -> Void
  ) throws {
    try records.forEachAuditRecord(after: number, limit: limit, body)
  }
  func auditProblem() throws -> String? { try records.auditProblem() }
  func hashKey() throws -> SecretBytes { try records.hashKey() }
  func identitySecrets() throws -> SecretBytes? { try records.identitySecrets() }
  func identitySecrets(madeBy actor: String) throws -> SecretBytes {
    try records.identitySecrets(madeBy: actor)
  }
  func checkWritable() throws { try records.checkWritable() }
  func check() throws { try records.check() }
  func upkeep() throws { try records.upkeep() }
  func releaseMemory() throws { try records.releaseMemory() }
  func noteFailure(_ error: any Error) { records.noteFailure(error) }
}

/// A shard of a process: a bridge with settings derived from those of the process.
private struct Shard {
  let number: Int
  let context: OperationContext
  let socket: LocalAPISocket

  var bridge: Bridge { context.bridge }
  var path: String { LocalAPISocket.path(context.settings) }

  init(
    _ number: Int, _ homes: [String], on store: TemporaryStore, _ connection: MosquittoConfiguration
  ) throws {
    var settings = MovedStore.settings(store)
    settings.store.path = "\(store.path)/shards/\(number)"
    settings.homes = homes.map { .init(name: $0, baseTopic: "tk/\(number)/\($0)") }
    settings.discovery.mdns = .off
    settings.homeAssistant.discovery = .off
    settings.http.isEnabled = false
    settings.mqtt.host = .named("127.0.0.1")
    settings.mqtt.port = connection.port
    settings.mqtt.username = "node"
    settings.mqtt.password = .init("a password")
    try FileManager.default.createDirectory(
      atPath: settings.store.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    var configuration = BridgeConfiguration(settings)
    configuration.topics = BaseTopics(configuration.topics.homes, below: "tk/\(number)")
    self.number = number
    let logger = Logger(label: "shard \(number)") { _ in SwiftLogNoOpLogHandler() }
    context = OperationContext(
      settings,
      bridge: try Bridge(
        configuration, connection: connection, clientID: "tk-fleet-\(number)-0000",
        store: ShardStandIn(shard: number, records: SealedRecords(store.keychain)), logger: logger),
      logger: logger)
    socket = LocalAPISocket(context)
  }

  func perform<Performed: ThreadkeeperDaemon.Operation>(
    _ operation: Performed
  ) async throws -> Performed.Reply {
    let client = try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    let call = OperationCall(operation)
    return try await client.call(call.method, call, within: .seconds(600)).reply
  }

  func status() async throws -> StatusReport {
    let client = try #require(try await VarlinkClient.connect(to: path, within: .seconds(600)))
    return try await client.call(StatusMethods.get, VarlinkNothing(), within: .seconds(600)).status
  }
}

@Suite("Shards of a process", .timeLimit(.minutes(30)))
struct ShardTests {
  @Test("Two of them have homes, connections and sockets of their own, and end one by one")
  func two() async throws {
    let broker = try TestBroker()
    let stores = try [17, 18].map { _ in try TemporaryStore() }
    let connection = broker.configuration(clientID: "unused")
    let shards = [
      try Shard(17, ["smith", "ada"], on: stores[0], connection),
      try Shard(18, ["smith"], on: stores[1], connection),
    ]
    let serving = shards.map { shard in Task { try await shard.bridge.serve() } }
    let listening = shards.map { shard in Task { try await shard.socket.run() } }
    let listener = try await TestSubscriber.start(broker, "tk/#")
    for shard in shards {
      try await eventually("shard \(shard.number)") {
        shard.bridge.monitor.snapshot.intake == .running
          && FileManager.default.fileExists(atPath: shard.path)
      }
    }
    let publisher = try await TestPublisher.start(broker)
    func announce(_ place: String, _ agent: String) async throws {
      try await publisher.publish(
        "tk/\(place)/in/otbr/announce", #"{"border_agent_id":"\#(agent)"}"#)
    }
    try await announce("17/smith", "00000000000000a1")
    try await announce("18/smith", "00000000000000a2")
    try await announce("17/jones", "00000000000000a3")
    try await publisher.publish("tk/17/jones/in", "{}")
    _ = try await listener.wait { messages in
      ["tk/17/smith/router/00000000000000a1", "tk/18/smith/router/00000000000000a2"].allSatisfy {
        topic in messages.contains { $0.topic == topic && !$0.payload.isEmpty }
      }
    }
    try await eventually {
      shards[0].bridge.monitor.snapshot.rejectedByCode == ["invalid_topic": 2]
    }
    #expect(shards[1].bridge.monitor.snapshot.rejectedByCode == [:])

    for (shard, (homes, store)) in zip(shards, [(2, "shard 17"), (1, "shard 18")]) {
      let status = try await shard.status()
      #expect((status.homes, status.routers) == (homes, 1))
      #expect(status.store.path == store && status.store.condition == "healthy")
      #expect(status.broker.state == .connected && status.page.state == .off)
      #expect(status.login.username == "node" && status.login.passwordFrom == .settings)
      #expect(try await shard.perform(VerifyAudit()).problem == nil)
      let agent = BorderAgentID(hex: "00000000000000a\(shard.number - 16)")
      #expect(agent.flatMap { shard.bridge.loop.home("smith")?.routers[$0] } != nil)
    }
    shards[0].bridge.stop()
    try await serving[0].value
    listening[0].cancel()
    try await listening[0].value
    try await eventually("the last state of the shard that has stopped") {
      listener.latest("tk/17/ada/bridge/state")?.contains("stopped") == true
    }
    try await announce("18/smith", "00000000000000a4")
    try await eventually { shards[1].bridge.loop.home("smith")?.routers.count == 2 }
    #expect(try await shards[1].status().routers == 2)
    shards[1].bridge.stop()
    try await serving[1].value
    listening[1].cancel()
    try await listening[1].value
    try await publisher.stop()
    try await listener.stop()
  }

  @Test(
    "A home that has left the shard, and its topics at the broker, go by the shard's own filters")
  func left() async throws {
    let broker = try TestBroker()
    let store = try TemporaryStore()
    let listener = try await TestSubscriber.start(broker, "tk/#")
    let publisher = try await TestPublisher.start(broker)
    let topic = "tk/17/gone/router/00000000000000a1"
    for homes in [["smith", "gone"], ["smith"]] {
      let shard = try Shard(17, homes, on: store, broker.configuration(clientID: "unused"))
      let serving = Task { try await shard.bridge.serve() }
      try await eventually { shard.bridge.monitor.snapshot.intake == .running }
      if homes.count == 2 {
        try await publisher.publish(
          "tk/17/gone/in/otbr/announce", #"{"border_agent_id":"00000000000000a1"}"#)
        try await listener.wait { $0.contains { $0.topic == topic && !$0.payload.isEmpty } }
      } else {
        try await listener.wait { $0.last { $0.topic == topic }?.payload.isEmpty == true }
      }
      shard.bridge.stop()
      try await serving.value
    }
    try await publisher.stop()
    try await listener.stop()
  }

  @Test("What needs key slots, logins or a file is refused, and says what to use instead")
  func keychain() throws {
    let store = try TemporaryStore()
    let context = try Shard(
      17, ["smith"], on: store, MosquittoConfiguration(host: "127.0.0.1", clientID: "unused")
    ).context
    let broker = "mqtt://127.0.0.1:1883"
    let operations: [(any ThreadkeeperDaemon.Operation, String)] = [
      (VerifyStore(), "threadkeeper fleet doctor"),
      (ListKeySlots(), "fleet.unseal_command"), (RotateKeys(secrets: []), "fleet.unseal_command"),
      (RemoveKeySlot(slot: 1, isConfirmed: true), "fleet.unseal_command"),
      (
        AddKeySlot(secret: StoreSecret(kind: .passphrase, value: "a b c d e f")),
        "fleet.unseal_command"
      ),
      (StoreLogin(broker: broker, username: "node", password: "b"), "mqtt.password"),
      (DeleteLogin(broker: broker), "mqtt.password"),
    ]
    for (operation, remedy) in operations {
      let failure = #expect(throws: CommandFailure.self) { _ = try operation.perform(context) }
      #expect(failure?.status == .unavailable, "\(operation): \(failure?.message ?? "")")
      #expect(failure?.message.contains("shard 17") == true)
      #expect(failure?.remedy?.contains(remedy) == true, "\(failure?.remedy ?? "")")
    }
    #expect(throws: CommandFailure.self) { try context.store.keychain(instead: "") }
    #expect(try VerifyAudit().perform(context).problem == nil)
    #expect(try SealedRecords(store.keychain).keychain(instead: "") === store.keychain)
  }
}
