// SPDX-License-Identifier: Apache-2.0

import ConsentLedger
import Glibc
import KeychainCore
import Settings
import ThreadRequests
import ThreadkeeperDaemon
import VarlinkSocket

/// Has something done about consent: by the daemon that runs, or without one in the store itself.
struct ConsentClient: Sendable {
  private static let timeout = Duration.seconds(30)

  let settings: Settings

  func list() async throws -> ConsentReport.List {
    try await perform(ConsentMethods.list, VarlinkNothing()) {
      try $0.list(namingHome: settings.homes.count > 1)
    }
  }

  func grants() async throws -> ConsentReport.Grants {
    try await perform(ConsentMethods.grants, VarlinkNothing()) { try $0.grants() }
  }

  func history(_ limit: Int) async throws -> ConsentReport.History {
    try await perform(ConsentMethods.history, .init(limit)) { try $0.history(limit) }
  }

  func revoke(_ id: String) async throws -> ConsentReport.Revoked {
    try await perform(
      ConsentMethods.revoke, .init(id: id), open: { try OpenStore.forWriting($0) }
    ) { try $0.revoke(id, by: geteuid()) }
  }

  func approve(_ id: String, _ scope: ConsentScope) async throws -> ConsentReport.Decision {
    try await askDaemon(ConsentMethods.approve, .init(id: id, scope: scope)).decision
  }

  func deny(_ id: String) async throws -> ConsentReport.Decision {
    try await askDaemon(ConsentMethods.deny, .init(id: id)).decision
  }

  func ask(_ router: RouterSelection) async throws {
    _ = try await askDaemon(ConsentMethods.ask, router)
  }

  /// What waits, now and whenever it has changed, until the daemon ends.
  func watch(_ each: (ConsentReport.List) async throws -> Void) async throws {
    _ = try await fromDaemon {
      try await DaemonClient(settings: settings).follow(
        ConsentMethods.watch, VarlinkNothing(), each: each)
    }
  }

  /// As the daemon has it.
  func historyOfDaemon(_ limit: Int) async throws -> [ConsentReport.Decision] {
    try await askDaemon(ConsentMethods.history, .init(limit)).history
  }

  private func askDaemon<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request
  ) async throws -> Reply {
    // What broke off in between may have been decided: to decide it again is refused by its id.
    try await fromDaemon { try await ask(method, request) }
  }

  /// For what only a daemon can do: without one no request waits.
  private func fromDaemon<Reply: Sendable>(
    _ ask: () async throws -> Reply?
  ) async throws -> Reply {
    let none = CommandFailure(
      .unavailable, "no daemon runs, so nothing waits for consent",
      remedy: "`threadkeeper run` starts one; the program has to ask again then")
    return try await DaemonClient(settings: settings).askRunning(orFail: none, ask)
  }

  private func perform<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request,
    open: (Settings) throws -> Keychain = { try OpenStore.forReading($0) },
    here: (ConsentService) throws -> Reply
  ) async throws -> Reply {
    try await DaemonClient.orStore(isRepeatable: true) {
      try await ask(method, request)
    } store: {
      let keychain = try open(settings)
      defer { keychain.close() }
      do {
        return try here(ConsentService(keychain))
      } catch let refusal as ConsentRefusal {
        throw CommandFailure(refusal)
      } catch let error as KeychainError {
        throw CommandFailure(error)
      }
    }
  }

  /// - Returns: nil when no daemon listens.
  private func ask<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request
  ) async throws -> Reply? {
    try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
  }
}
