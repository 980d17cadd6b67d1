// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Logging
import Settings
import VarlinkSocket

/// Verification and backups in the running daemon. Others use the store meanwhile.
///
/// A backup is first written into a file in the store's directory, which has no name by the time it is sent. So a client
/// that reads slowly holds up no transaction, and nothing is left when it goes.
struct MaintenanceService: Sendable {
  /// Of a backup that is being written; another one replaces what a daemon has left that was killed.
  private static let draftName = "backup-draft"

  private let settings: Settings
  private let keychain: Keychain
  private let logger: Logger
  /// One after the other: each reads the whole store.
  private let queue = HandlerQueue("maintenance")
  /// Of pieces that are sent: each is short.
  private let reading = HandlerQueue("maintenance-reading")

  init(_ settings: Settings, keychain: Keychain, logger: Logger) {
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
  }

  func verify(
    for caller: VarlinkCaller,
    send: @escaping @Sendable (ExchangeStep.Progress) async throws -> Void
  ) async throws -> VerificationOutcome {
    let outcome = try await perform(for: caller, send) { [keychain] progress in
      do {
        return try VerificationOutcome(verifying: keychain, progress: progress)
      } catch let error as KeychainError {
        throw CommandFailure(maintaining: error)
      }
    }
    if !outcome.isWell {
      logger.error(
        "a verification found damage",
        metadata: ["condition": "\(outcome.condition)", "rows": "\(outcome.damagedRows.count)"])
    }
    return outcome
  }

  /// - Returns: the last reply.
  func backup(
    for caller: VarlinkCaller, send: @escaping @Sendable (BackupStep) async throws -> Void
  ) async throws -> BackupStep {
    let (file, outcome) = try await perform(
      for: caller, { try await send(BackupStep(progress: $0)) }
    ) { [keychain, settings] progress in
      try Self.write(keychain, settings, progress)
    }
    logger.notice(
      "a backup is made", metadata: ["items": "\(outcome.items)", "user": "\(caller.peer.user)"])
    while let piece = try await reading.run({ try file.read(StoreMethods.pieceLength) }) {
      try Task.checkCancellation()
      try await send(BackupStep(data: piece))
    }
    return BackupStep(made: outcome)
  }

  private static func write(
    _ keychain: Keychain, _ settings: Settings, _ progress: (Int, Int) throws -> Void
  ) throws -> (UnnamedFile, BackupOutcome) {
    let path = settings.store.path + "/" + draftName
    do {
      let trailer = try keychain.backup(to: path, replacing: true) {
        try progress(Int(clamping: $0), Int(clamping: $1))
      }
      let file = try UnnamedFile(takingNameOf: path)
      return (file, BackupOutcome(trailer, fileBytes: try file.length()))
    } catch {
      throw CommandFailure(maintaining: error)
    }
  }

  /// Does the work on the queue, and sends meanwhile how far it is.
  private func perform<R: Sendable>(
    for caller: VarlinkCaller, _ send: (ExchangeStep.Progress) async throws -> Void,
    _ work: @escaping @Sendable ((Int, Int) throws -> Void) throws -> R
  ) async throws -> R {
    let news = ExchangeNews()
    async let result = withTaskCancellationHandler {
      defer { news.finish() }
      return try await queue.run {
        try Self.check(news, caller)
        return try work { done, total in
          try Self.check(news, caller)
          news.show(ExchangeStep.Progress(done: done, total: total))
        }
      }
    } onCancel: {
      news.cancel()
    }
    for await _ in news.arrivals {
      while let progress = news.next()?.progress { try await send(progress) }
    }
    return try await result
  }

  /// Nobody works for a client that has gone.
  private static func check(_ news: ExchangeNews, _ caller: VarlinkCaller) throws {
    guard news.isCancelled else { return }
    throw KeychainError(
      .userCanceled,
      caller.session.isOver ? "nobody waits for it" : "the daemon ends: nothing was done")
  }
}
