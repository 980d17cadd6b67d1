// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import Logging
import Settings
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Verification and backups in the running daemon. Others use the store meanwhile.
///
/// A backup is first written into a file in the store's directory, which has no name by the time it is sent. So a client
/// that reads slowly holds up no transaction, and nothing is left when it goes.
struct MaintenanceService: Sendable {
  /// Of a backup that is being written.
  private static let draftName = "backup"
  /// The most bytes of a piece, before base64: a message is at most 512 KiB.
  private static let pieceLength = 192 << 10

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
    // What a daemon left that was killed while it wrote a backup.
    let directory = settings.store.path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names where name.hasPrefix(Self.draftName + BackupDraft.suffix) {
      unlink(directory + "/" + name)
    }
  }

  func verify(
    send: @escaping @Sendable (WorkProgress) async throws -> Void
  ) async throws -> VerificationOutcome {
    let outcome = try await perform(send) { [keychain] progress in
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
    for actor: String, send: @escaping @Sendable (BackupStep) async throws -> Void
  ) async throws -> BackupStep {
    let (file, outcome) = try await perform({ try await send(BackupStep(progress: $0)) }) {
      try write($0)
    }
    logger.notice(
      "backup written", metadata: ["items": "\(outcome.items)", "by": "\(actor)"])
    let length = outcome.fileBytes ?? 0
    for offset in stride(from: 0, to: length, by: Self.pieceLength) {
      let piece = try await reading.run {
        Data(try file.read(at: offset, count: min(Self.pieceLength, length - offset)))
      }
      try Task.checkCancellation()
      try await send(BackupStep(data: piece))
    }
    return BackupStep(made: outcome)
  }

  private func write(
    _ progress: (Int, Int) throws -> Void
  ) throws -> (FileBytes, BackupOutcome) {
    try checkSpace()
    // Without its name when this returns.
    let draft = try BackupDraft(settings.store.path + "/" + Self.draftName, replacing: true)
    let trailer = try keychain.backup(into: draft) {
      try progress(Int(clamping: $0), Int(clamping: $1))
    }
    return (draft.file, BackupOutcome(trailer, fileBytes: try draft.file.length()))
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
      remedy: "free some space")
  }

  /// Does the work on the queue, and sends meanwhile how far it is.
  private func perform<R: Sendable>(
    _ send: (WorkProgress) async throws -> Void,
    _ work: @escaping @Sendable ((Int, Int) throws -> Void) throws -> R
  ) async throws -> R {
    let relay = ProgressRelay()
    async let result = withTaskCancellationHandler {
      defer { relay.finish() }
      return try await queue.run {
        do {
          try Self.check(relay)
          return try work { done, total in
            try Self.check(relay)
            relay.show(WorkProgress(done: done, total: total))
          }
        } catch let error as KeychainError {
          throw CommandFailure(maintaining: error)
        }
      }
    } onCancel: {
      relay.cancel()
    }
    for await progress in relay.arrivals { try await send(progress) }
    return try await result
  }

  /// Stops work for a client that has disconnected, and when the daemon ends.
  private static func check(_ relay: ProgressRelay) throws {
    guard relay.isCancelled else { return }
    throw KeychainError(.userCanceled, "the daemon is stopping; nothing was written")
  }
}

/// How far work is, on the way from the thread that does it to the task that sends it on. The thread never waits for the
/// task, which gets the newest.
private final class ProgressRelay: Sendable {
  /// From one that is sent to the next.
  private static let interval = Duration.milliseconds(100)

  private struct State {
    var shown = ContinuousClock.now - interval
    var isCancelled = false
  }

  private let state = Mutex(State())
  let arrivals: AsyncStream<WorkProgress>
  private let arrived: AsyncStream<WorkProgress>.Continuation

  init() {
    (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func cancel() { state.withLock { $0.isCancelled = true } }

  func show(_ progress: WorkProgress) {
    let isDue = state.withLock { state in
      guard state.shown.duration(to: .now) >= Self.interval else { return false }
      state.shown = .now
      return true
    }
    if isDue { arrived.yield(progress) }
  }

  func finish() { arrived.finish() }
}
