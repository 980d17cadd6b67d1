// SPDX-License-Identifier: Apache-2.0

import CredentialService
import Foundation
import KeychainCore
import SQLiteDatabase
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Border agent ids that tests use.
enum Agent {
  static let living = "a1b2c3d4e5f60718"
  static let attic = "deadbeefcafe0042"
  static let garage = "b0b0b0b0c1c1c1c1d2d2d2d2e3e3e3e3"
}

/// The service on a real store, with a registry that takes note of what it hears.
final class Service {
  let temporary: TemporaryStore
  var gate: any ConsentGate = NoConsentGate()
  /// Border agent ids that can be reached.
  var active: Set<String> = []
  private(set) var heard: [String] = []
  /// Whether requests come from a program on this machine, and not over the broker.
  var isOnThisMachine = false
  /// Whether a person asks, at the command line.
  var isAdministrator = false

  init() throws {
    temporary = try TemporaryStore()
  }

  var store: ThreadCredentialStore { ThreadCredentialStore(temporary.keychain) }
  var database: SQLiteDatabase { temporary.keychain.database }

  func context(team: String = "anna", home: String = "home") -> RequestContext {
    var context = RequestContext(
      requester: isOnThisMachine ? .systemUser(1000) : .mqttUser(team), team: team, home: home,
      reply: .caller, now: Date())
    context.isAdministrator = isAdministrator
    context.listsSecrets = true
    context.version = "test"
    return context
  }

  /// One request, one transaction.
  func reply(_ request: ThreadRequest, _ context: RequestContext) throws -> CredentialService.Reply
  {
    let registry = Registry(active: active)
    defer { heard += registry.heard }
    return try database.write { tx in
      try CredentialService(
        store: store, gate: gate, registry: registry, context: context, tx
      ).answer(request)
    }
  }

  func ask(
    _ command: RequestCommand, team: String = "anna", home: String = "home",
    _ change: (inout ThreadRequest) throws -> Void = { _ in }
  ) throws -> AnswerData {
    var request = ThreadRequest(command)
    try change(&request)
    guard case .data(let data) = try reply(request, context(team: team, home: home)) else {
      throw Unanswered()
    }
    return data
  }

  /// The code of the refusal; nil when there is none.
  func refusal(
    _ command: RequestCommand, team: String = "anna",
    _ change: (inout ThreadRequest) throws -> Void = { _ in }
  ) throws -> AnswerFailure? {
    do {
      _ = try ask(command, team: team, change)
      return nil
    } catch let failure as AnswerFailure {
      return failure
    }
  }

  @discardableResult
  func keep(
    _ agent: String, _ network: SampleNetwork, at seconds: UInt64, team: String = "anna",
    home: String = "home"
  ) throws -> AnswerData {
    try ask(.storeCredentials, team: team, home: home) {
      $0.agent = BorderAgentID(hex: agent)
      $0.dataset = try network.dataset(at: seconds)
    }
  }

  func stored(_ agent: String, home: String = "home") throws -> ThreadCredential? {
    try database.read {
      try store.credential(of: try #require(BorderAgentID(hex: agent)), in: home, $0)
    }
  }

  func preferred(_ home: String = "home") throws -> OperationalDataset? {
    try database.read { try store.preferredNetwork(of: home, $0) }
  }

  func answer(_ settled: SettledConsent) throws -> AnswerData {
    try database.write { tx in
      try CredentialService(
        store: store, gate: gate, registry: Registry(active: active),
        context: settled.question.context, tx
      ).answer(to: settled)
    }
  }

  /// Alters a byte of what is stored for a router.
  func damage(_ agent: String) throws {
    try damageRow { tx in
      _ = try self.store.credential(of: try #require(BorderAgentID(hex: agent)), in: "home", tx)
    }
  }

  func damagePreferred() throws {
    try damageRow { tx in _ = try self.store.preferredNetwork(of: "home", tx) }
  }

  private func damageRow(_ open: (ReadTransaction) throws -> Void) throws {
    for row in try database.read({ try $0.all("SELECT id FROM items") { $0.integer(0) } }) {
      try flip(row)
      do {
        try database.read(open)
      } catch let error as KeychainError where error.status == .decode {
        return
      }
      try flip(row)
    }
    Issue.record("there is no row to damage")
  }

  private func flip(_ row: Int64) throws {
    try database.write { tx in
      var bytes = try #require(
        try tx.first("SELECT secret FROM items WHERE id = ?", .integer(row)) { $0.blob(0) })
      bytes[bytes.count / 2] ^= 1
      try tx.execute("UPDATE items SET secret = ? WHERE id = ?", .blob(bytes), .integer(row))
    }
  }

  func takeHeard() -> [String] {
    defer { heard = [] }
    return heard
  }

  struct Unanswered: Error {}
}

final class Registry: CredentialRegistry {
  let active: Set<String>
  private(set) var heard: [String] = []

  init(active: Set<String>) { self.active = active }

  func isActive(_ agent: BorderAgentID, in home: String) -> Bool {
    active.contains(agent.description)
  }

  func makeRoom(for agent: BorderAgentID, context: RequestContext) {}

  func stored(
    _ dataset: OperationalDataset, _ change: DatasetDecision, of agent: BorderAgentID,
    preferred: PreferredChange?, context: RequestContext
  ) {
    let kind =
      switch change {
      case .store: "stored"
      case .keep: "kept"
      case .update: "updated"
      case .move: "moved"
      case .conflict, .ignoreOlder: "ignored"
      }
    heard.append("\(kind) \(agent)\(preferred == nil ? "" : ", preferred")")
  }

  func deleted(_ agent: BorderAgentID, context: RequestContext) { heard.append("deleted \(agent)") }

  func preferredSet(_ change: PreferredChange, context: RequestContext) {
    guard change.from != change.to else { return }
    heard.append("preferred \(change.to?.networkName ?? "none")")
  }

  func seenName(of network: ExtendedPANID, in home: String) -> String? { nil }

  func states(_ command: RequestCommand, context: RequestContext) throws -> AnswerData {
    AnswerData()
  }
}
