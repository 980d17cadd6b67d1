// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import KeychainCore
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

/// What a login shares that is no border router, from its messages to the disk.
@Suite("Shared credentials in the loop, on an encrypted store")
final class SharedLoopTests {
  private let directory = FileManager.default.temporaryDirectory.appending(
    path: "shared-\(UUID().uuidString)")
  private let daemon: Identity
  private let sender: Identity

  init() throws {
    daemon = try Identity()
    sender = try Identity()
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(at: directory) }

  private func open(create: Bool = false) throws -> Keychain {
    var options = KeychainOptions()
    options.auditor = "threadkeeper"
    options.passwordHash = .floor
    let location = StoreLocation(directory: directory.path + "/store")
    let secret = KeySlotSecret.keyFile(path: directory.path + "/store.key")
    return create
      ? try Keychain.create(at: location, slots: [secret], options: options)
      : try Keychain.open(at: location, with: secret, options: options)
  }

  private func kit(_ keychain: Keychain, _ time: LoopKit.Time = .init()) throws -> LoopKit {
    let daemon = daemon
    return try LoopKit(store: SealedRecords(keychain), time: time, discovers: true) {
      $0.identity = { daemon }
    }
  }

  /// The kit's user `ha` with keys of its own, and network 1 preferred by its Extended PAN ID alone.
  private func begin(_ kit: LoopKit) throws {
    try kit.loop.perform(
      .enroll(
        EnrolledClient(
          line: sender.keys.line, fingerprint: sender.keys.fingerprint, trust: .signed,
          at: kit.time.now, by: "uid 0"), "ha", by: .commandLine(user: 0)), in: "home")
    var seen = try #require(Advertisement([LoopKit.agent(7)]))
    seen.network = LoopKit.dataset(1).extendedPANID
    try kit.loop.see(Sightings([seen]))
    try kit.loop.perform(
      .request(.setPreferred(.network(#require(seen.network), router: nil)), Self.administrator),
      in: "home")
    #expect(kit.home.preferred?.dataset.hasCredentials == false)
  }

  private static var administrator: RequestContext {
    var context = RequestContext(
      Requester(.systemUser(0), team: "root"), reply: .caller, actor: "uid 0")
    context.isAdministrator = true
    return context
  }

  private func shares(
    _ dataset: OperationalDataset, _ number: UInt64, _ kit: LoopKit, more: String = ""
  ) throws -> IncomingMessage {
    let topic = "tk/home/in/ha/credentials"
    let envelope = try Envelope.seal(
      Array(#"{"dataset":"\#(dataset.hex)","name":"Home Assistant"\#(more)}"#.utf8),
      to: daemon.keys, from: sender,
      at: .init(topic: topic, order: .sequence(number), now: kit.time.now.unixSeconds))
    return IncomingMessage(
      topic: topic, payload: Array(#"{"sealed":"#.utf8) + envelope + Array("}".utf8))
  }

  private func plain(_ dataset: OperationalDataset, _ more: String = "", user: String = "ha")
    -> IncomingMessage
  {
    IncomingMessage(
      topic: "tk/home/in/\(user)/credentials",
      payload: Array(#"{"dataset":"\#(dataset.hex)"\#(more)}"#.utf8))
  }

  @Test("What is shared is sealed, asked about, used after a yes, and followed; on disk is no key")
  func life() throws {
    let keychain = try open(create: true)
    let kit = try kit(keychain)
    try begin(kit)
    let first = LoopKit.dataset(1)
    let network = try #require(first.extendedPANID)
    let shared = RecordKey.shared("ha", network)
    try kit.loop.received([
      try shares(first, 1, kit, more: #","border_agent_id":"00000000000000cd""#)
    ])
    #expect(kit.follower.rejections.isEmpty)
    let stored = try #require(kit.home.shared[network]?["ha"])
    #expect(stored.name == "Home Assistant" && !stored.isPreferredThere)
    #expect(stored.agent == BorderAgentID(high: 0xCD, low: 0))
    #expect(try kit.dataset(shared) == first.bytes)
    #expect(kit.home.preferred?.dataset.hasCredentials == false)
    #expect(kit.home.questions.map(\.subject.command) == [.accept])

    let answer = try kit.loop.perform(
      .acceptCredentials(nil, by: .commandLine(user: 0)), in: "home", actor: "uid 0"
    ).answer
    #expect(answer == .preferredSet(isChanged: true, hasCredentials: true))
    #expect(try kit.dataset(.home) == first.bytes)
    #expect(kit.home.questions.isEmpty)

    let second = LoopKit.dataset(1, seconds: 2, channel: 20)
    try kit.loop.received([try shares(second, 2, kit)])
    #expect(try kit.dataset(.home) == second.bytes && kit.dataset(shared) == second.bytes)
    try kit.loop.stop()
    keychain.close()

    let again = try open()
    defer { again.close() }
    let later = try self.kit(again, kit.time)
    #expect(later.home.equals(kit.home))
    #expect(try later.dataset(.home) == second.bytes && later.dataset(shared) == second.bytes)
    var lines: [String] = []
    try again.forEachAuditRecord { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    #expect(
      lines.contains("mqtt user ha: added genp thread-shared/home \(network) (ha)"), "\(lines)")
    #expect(lines.contains("mqtt user ha: secretChanged genp thread-shared/home \(network) (ha)"))
    try expectNoKey(of: first, later)

    try later.loop.received([try shares(LoopKit.dataset(2), 3, kit)])
    let other = try #require(LoopKit.dataset(2).extendedPANID)
    let forgotten = try later.loop.perform(
      .request(.forgetNetwork(.network(other)), Self.administrator), in: "home"
    ).answer
    #expect(forgotten == .forgotten([], remaining: [], sharedBy: ["ha"]))
    #expect(try later.dataset(.shared("ha", other)) == nil)
  }

  /// Neither in the store's files nor in what waits for the broker.
  private func expectNoKey(of dataset: OperationalDataset, _ kit: LoopKit) throws {
    let key = try #require(dataset.networkKey?.withUnsafeBytes { Array($0) })
    var texts = [Data(key), Data(Hexadecimal.encode(key).utf8)]
    texts += texts.map { $0.base64EncodedData() }
    let files = try #require(
      FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil))
    var found = try files.compactMap { $0 as? URL }.filter { !$0.hasDirectoryPath }
      .map { try Data(contentsOf: $0) }
    #expect(found.count > 1)
    found += try kit.store.messages(after: 0, limit: 1_000).map { Data($0.bytes) }
    for text in texts {
      #expect(!found.contains { $0.range(of: text) != nil })
    }
  }

  @Test("What a login may not share is rejected by name, and changes nothing")
  func rejections() throws {
    let keychain = try open(create: true)
    defer { keychain.close() }
    let kit = try kit(keychain)
    try begin(kit)
    let dataset = LoopKit.dataset(1)
    func code(_ message: IncomingMessage) throws -> String? {
      let before = kit.follower.rejections.count
      try kit.loop.received([message])
      return kit.follower.rejections.dropFirst(before).first?.code
    }
    // Its trust is `signed`.
    #expect(try code(plain(dataset)) == "not_sealed")
    #expect(try code(shares(dataset, 5, kit)) == nil)
    let before = kit.home
    #expect(try code(shares(LoopKit.dataset(1, seconds: 9), 4, kit)) == "out_of_order")
    #expect(try code(shares(dataset, 5, kit)) == nil)
    #expect(kit.home.shared == before.shared)
    // Numbers count for each network.
    #expect(try code(shares(LoopKit.dataset(2), 1, kit)) == nil)
    #expect(
      try code(
        IncomingMessage(
          topic: "tk/home/in/ha/credentials", payload: Array(#"{"dataset":"0003000099"}"#.utf8)))
        == "bad_value")
    for number in 1...32 {
      #expect(try code(plain(LoopKit.dataset(UInt8(number)), user: "other")) == nil)
    }
    #expect(try code(plain(LoopKit.dataset(33), user: "other")) == "too_many_networks")
    #expect(try code(plain(LoopKit.dataset(32, seconds: 2), user: "other")) == nil)
    #expect(kit.home.alerts[AlertKey(.plaintextCredentials, .user("other"))] != nil)
    let retained = IncomingMessage(
      topic: "tk/home/in/other/credentials", payload: Array("{}".utf8), isRetained: true)
    #expect(try code(retained) == "retained")
  }
}
