// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Logging
import Settings
import VarlinkSocket

/// Verification and backups in the running daemon. Others use the store meanwhile.
///
/// A backup is first written into a file in the store's directory, which has no name by the time it is sent. So a client
/// that reads slowly holds up no transaction, and nothing is left when it goes.
struct MaintenanceService: Sendable {
  /// Of a backup that is being written.
  private static let draftName = "backup-draft"

  private let settings: Settings
  private let keychain: Keychain
  private let logger: Logger
  private let reserve: UInt64
  /// One after the other: each reads the whole store.
  private let queue = HandlerQueue("maintenance")
  /// Of pieces that are sent: each is short.
  private let reading = HandlerQueue("maintenance-reading")

  /// - Parameter reserve: bytes that a backup leaves free for the store itself.
  init(
    _ settings: Settings, keychain: Keychain, logger: Logger, reserve: UInt64 = 64 << 20
  ) {
    self.reserve = reserve
    self.settings = settings
    self.keychain = keychain
    self.logger = logger
    // What a daemon left that was killed while it wrote a backup, and the record of earlier versions.
    for name in [Self.draftName, Self.draftName + ".new", "run.json"] {
      unlink(settings.store.path + "/" + name)
    }
  }

  func verify(
    for caller: VarlinkCaller,
    send: @escaping @Sendable (ExchangeStep.Progress) async throws -> Void
  ) async throws -> VerificationOutcome {
    let outcome = try await perform(for: caller, send) { [keychain] progress in
      try VerificationOutcome(verifying: keychain, progress: progress)
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
    ) { [self] progress in
      try write(progress)
    }
    logger.notice(
      "backup written", metadata: ["items": "\(outcome.items)", "user": "\(caller.peer.user)"])
    while let piece = try await reading.run({ try file.read(StoreMethods.pieceLength) }) {
      try Task.checkCancellation()
      try await send(BackupStep(data: piece))
    }
    return BackupStep(made: outcome)
  }

  private func write(
    _ progress: (Int, Int) throws -> Void
  ) throws -> (UnnamedFile, BackupOutcome) {
    try checkSpace()
    let path = settings.store.path + "/" + Self.draftName
    let trailer = try keychain.backup(to: path, replacing: true) {
      try progress(Int(clamping: $0), Int(clamping: $1))
    }
    let file = try UnnamedFile(takingNameOf: path)
    return (file, BackupOutcome(trailer, fileBytes: try file.length()))
  }

  /// - Throws: `CommandFailure` where the copy would take what the store needs to work.
  func checkSpace() throws(CommandFailure) {
    var (store, disk) = (stat(), statvfs())
    guard stat(OpenStore.location(settings).databasePath, &store) == 0,
      statvfs(settings.store.path, &disk) == 0
    else { return }
    let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    let needed = UInt64(clamping: store.st_size) + reserve
    guard free < needed else { return }
    throw CommandFailure(
      .cannotCreate,
      "\(settings.store.path) has \(free >> 20) MiB free, and the daemon needs \(needed >> 20) MiB there for a backup",
      remedy:
        "free some space; or stop the daemon, and run the command again, which then writes the file itself"
    )
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
        do {
          try Self.check(news, caller)
          return try work { done, total in
            try Self.check(news, caller)
            news.show(ExchangeStep.Progress(done: done, total: total))
          }
        } catch let error as KeychainError {
          throw CommandFailure(maintaining: error)
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

  /// Stops work for a client that has disconnected.
  private static func check(_ news: ExchangeNews, _ caller: VarlinkCaller) throws {
    guard news.isCancelled else { return }
    throw KeychainError(
      .userCanceled,
      caller.session.isOver
        ? "the client has disconnected" : "the daemon is stopping; nothing was written")
  }
}
