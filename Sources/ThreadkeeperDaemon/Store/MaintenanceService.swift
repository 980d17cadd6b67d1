// SPDX-License-Identifier: Apache-2.0

import Glibc
import KeychainCore
import LocalAPI
import Logging
import Settings
import SodiumCrypto

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
  /// From one report of how far it is to the next.
  private static let interval = Duration.milliseconds(100)

  private let settings: Settings
  private let keychain: Keychain
  private let logger: Logger
  private let reserve: UInt64
  /// One after the other: each reads the whole store.
  private let turn = Locked(())

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

  func verify(_ replies: VarlinkReplies<VerificationStep>) throws -> VerificationOutcome {
    let outcome = try perform(replies.map { VerificationStep(progress: $0) }) {
      try VerificationOutcome(verifying: keychain, progress: $0)
    }
    if !outcome.isWell {
      logger.error(
        "a verification found damage",
        metadata: ["condition": "\(outcome.condition)", "rows": "\(outcome.damagedRows.count)"])
    }
    return outcome
  }

  func backup(
    for actor: String, _ replies: VarlinkReplies<BackupStep>
  ) throws -> BackupOutcome {
    let (file, outcome) = try perform(replies.map { BackupStep(progress: $0) }) { try write($0) }
    logger.notice(
      "backup written", metadata: ["items": "\(outcome.items)", "by": "\(actor)"])
    let length = outcome.fileBytes ?? 0
    for offset in stride(from: 0, to: length, by: Self.pieceLength) {
      let piece = try file.read(at: offset, count: min(Self.pieceLength, length - offset))
      try replies.send(BackupStep(data: Data(piece)))
    }
    return outcome
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

  /// Does the work when it is its turn, and sends meanwhile how far it is. It never waits for the client, because others
  /// may wait for the store, and stops for one that has disconnected, and when the daemon ends.
  private func perform<R>(
    _ replies: VarlinkReplies<WorkProgress>, _ work: ((Int, Int) throws -> Void) throws -> R
  ) throws -> R {
    try turn.withLock { _ in
      do {
        var next = ContinuousClock.now
        return try work { done, total in
          guard next <= .now else { return }
          next = .now + Self.interval
          do {
            try replies.offer(WorkProgress(done: done, total: total))
          } catch {
            throw KeychainError(.userCanceled, "the daemon is stopping; nothing was written")
          }
        }
      } catch let error as KeychainError {
        throw CommandFailure(maintaining: error)
      }
    }
  }
}
