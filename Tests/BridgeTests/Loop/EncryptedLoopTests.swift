import Broker
import Foundation
import KeychainCore
import TestKit
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home

extension TemporaryStore {
  /// As the daemon opens it.
  fileprivate convenience init(of auditor: String) throws {
    var options = KeychainOptions()
    options.auditor = auditor
    options.passwordHash = .floor
    try self.init(options: options)
  }

  /// Who did what, in the words of the audit.
  fileprivate func auditLines() throws -> [String] {
    var lines: [String] = []
    try keychain.forEachAuditRecord { record in
      lines += record.lines.map { "\(record.actor): \($0.action) \($0.subject)" }
    }
    return lines
  }
}

/// What a login shares that is no border router, from its messages to the disk.
@Suite("Shared credentials in the loop, on an encrypted store") struct SharedLoopTests {
  private let store: TemporaryStore
  private let daemon: Identity
  private let sender: Identity

  init() throws {
    store = try TemporaryStore(of: "threadkeeper")
    daemon = try Identity()
    sender = try Identity()
  }

  private func kit(_ time: LoopKit.Time = .init()) throws -> LoopKit {
    let daemon = daemon
    return try LoopKit(store: SealedRecords(store.keychain), time: time, discovers: true) { $0.identity = { daemon } }
  }

  /// The kit's user `ha` with keys of its own, and network 1 preferred by its Extended PAN ID alone.
  private func begin(_ kit: LoopKit) throws {
    try kit.enroll("ha", sender.keys, trust: .signed)
    var seen = try #require(Advertisement([.agent(7)]))
    seen.network = OperationalDataset.of(1).extendedPANID
    try kit.loop.see(Sightings([seen]))
    try kit.prefer(seen.network)
    #expect(kit.home.preferred?.dataset.hasCredentials == false)
  }

  private func shares(_ dataset: OperationalDataset, _ number: UInt64, _ kit: LoopKit, more: String = "") throws
    -> IncomingMessage
  {
    let topic = "tk/home/in/ha/credentials"
    let envelope = try Envelope.seal(
      Array(#"{"dataset":"\#(dataset.hex)","name":"Home Assistant"\#(more)}"#.utf8), to: daemon.keys, from: sender,
      at: .init(topic: topic, order: .sequence(number), now: kit.time.now.unixSeconds)
    ).json()
    return .of(topic, #"{"sealed":\#(envelope.text)}"#)
  }

  @Test("What is shared is sealed, asked about, used after a yes, and followed; on disk is no key") func life() throws {
    let kit = try kit()
    try begin(kit)
    let first = OperationalDataset.of(1)
    let network = try #require(first.extendedPANID)
    let shared = RecordKey.shared("ha", network)
    try kit.receive(try shares(first, 1, kit, more: #","border_agent_id":"00000000000000cd""#))
    #expect(kit.rejected.isEmpty)
    let stored = try #require(kit.home.shared[network]?["ha"])
    #expect(stored.name == "Home Assistant" && !stored.isPreferredThere)
    #expect(stored.agent == .number(0xCD))
    #expect(try kit.dataset(shared) == first)
    #expect(kit.home.preferred?.dataset.hasCredentials == false)
    #expect(kit.home.questions.map(\.subject.command) == [.accept])

    let answer = try kit.loop.perform(.acceptCredentials(nil, by: .commandLine(user: 0)), in: "home", actor: "uid 0")
      .answer
    #expect(answer == .preferredSet(isChanged: true, hasCredentials: true))
    #expect(try kit.dataset(.home) == first)
    #expect(kit.home.questions.isEmpty)

    let second = OperationalDataset.of(1, at: 2, channel: 20)
    try kit.receive(try shares(second, 2, kit))
    #expect(try kit.dataset(.home) == second && kit.dataset(shared) == second)
    try kit.loop.stop()
    try store.reopen()

    let later = try self.kit(kit.time)
    #expect(later.home.equals(kit.home))
    #expect(try later.dataset(.home) == second && later.dataset(shared) == second)
    let lines = try store.auditLines()
    #expect(lines.contains("mqtt user ha: added genp thread-shared/home \(network) (ha)"), "\(lines)")
    #expect(lines.contains("mqtt user ha: secretChanged genp thread-shared/home \(network) (ha)"))
    try expectNoKey(of: first, later)

    try later.receive(try shares(.of(2), 3, kit))
    let other = try #require(OperationalDataset.of(2).extendedPANID)
    let forgotten = try later.loop.perform(.request(.forgetNetwork(.network(other)), .administrator), in: "home").answer
    #expect(forgotten == .forgotten([], remaining: [], sharedBy: ["ha"]))
    #expect(try later.dataset(.shared("ha", other)) == nil)
  }

  /// Neither in the store's files nor in what waits for the broker.
  private func expectNoKey(of dataset: OperationalDataset, _ kit: LoopKit) throws {
    let key = try #require(dataset.networkKey?.withUnsafeBytes { Array($0) })
    var texts = [Data(key), Data(Hexadecimal.encode(key).utf8)]
    texts += texts.map { $0.base64EncodedData() }
    let files = try #require(
      FileManager.default.enumerator(at: URL(filePath: store.path), includingPropertiesForKeys: nil))
    var found = try files.compactMap { $0 as? URL }.filter { !$0.hasDirectoryPath }.map { try Data(contentsOf: $0) }
    #expect(found.count > 1)
    found += try kit.store.messages(after: 0, limit: 1_000).map { Data($0.bytes) }
    for text in texts { #expect(!found.contains { $0.range(of: text) != nil }) }
  }

  @Test("What a login may not share is rejected by name, and changes nothing") func rejections() throws {
    let kit = try kit()
    try begin(kit)
    func code(_ message: IncomingMessage) throws -> String? {
      let before = kit.rejected.count
      try kit.receive(message)
      return kit.rejected.dropFirst(before).first
    }
    let topic = "tk/home/in/ha/credentials"
    func plain(_ json: String, isRetained: Bool = false) -> IncomingMessage { .of(topic, json, isRetained: isRetained) }
    let dataset = OperationalDataset.of(1)
    // Its trust is `signed`.
    #expect(try code(plain(#"{"dataset":"\#(dataset.hex)"}"#)) == "not_sealed")
    #expect(try code(shares(dataset, 5, kit)) == nil)
    let before = kit.home
    #expect(try code(shares(.of(1, at: 9), 4, kit)) == "out_of_order")
    #expect(try code(shares(dataset, 5, kit)) == nil && kit.home.shared == before.shared)
    #expect(try code(plain(#"{"dataset":"0003000099"}"#)) == "bad_value")
    #expect(try code(plain("{}", isRetained: true)) == "retained")
  }
}

/// The same loop over a store on disk.
@Suite("The loop on an encrypted store") struct SealedLoopTests {
  @Test("Homes, secrets, messages and the audit are there again when the store is opened again") func restart() throws {
    let store = try TemporaryStore(of: "threadkeeper")
    let kit = try LoopKit(store: SealedRecords(store.keychain))
    try kit.loop.received((1...20).map { .announce($0, .of(UInt8($0 % 2 + 1))) })
    try kit.receive(.announce(1, .of(3)), .message("leave", 2), .message("heartbeat", 3))
    let messages = try kit.store.messages(after: 0, limit: 1_000)
    #expect(messages.count >= 20)
    try kit.loop.stop()
    try store.reopen()

    let later = try LoopKit(store: SealedRecords(store.keychain), time: kit.time)
    #expect(later.home.equals(kit.home))
    #expect(try later.dataset(.router(.agent(1))) == .of(3))
    #expect(try later.dataset(.home) == .of(2))
    #expect(try later.dataset(.router(.agent(2))) == nil)
    #expect(try later.store.messages(after: 0, limit: 1_000).prefix(messages.count) == messages[...])
    let lines = try store.auditLines()
    #expect(lines.contains("mqtt user otbr: added genp thread-network/home a000000000000001 (otbr)"))
    #expect(lines.contains("mqtt user otbr: deleted genp thread-network/home a000000000000002 (otbr)"))
    try later.receive(.announce(30))
    #expect(later.home.routers.count == kit.home.routers.count + 1)
  }
}
