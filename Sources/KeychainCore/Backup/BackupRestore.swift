// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

/// Puts the store of a backup in place of another one.
enum BackupRestore {
  /// Generations that a restore leaves out. The anchor is written once a second: what was committed after it must be left
  /// behind as well.
  static let margin: UInt64 = 100_000

  /// Puts the store of a backup in place of the one at `location`, or where there is none. Nobody may
  /// have that open for writing.
  ///
  /// Everything is verified first, with the key: each byte of the file, and that each item opens.
  /// Killed at any moment, the store is the old one or the new one. The new one counts on from the
  /// anchor, so that it is not taken for a store that was rolled back.
  ///
  /// - Parameters:
  ///   - secrets: the first that opens the backup is used.
  ///   - further: asked one after the other when none does; they get the refusal and the slots of the
  ///     backup, which nobody has verified yet.
  ///   - isReplacing: whether an existing store may go.
  /// - Throws: `duplicateKeychain` when there is a store and `isReplacing` is not set; `decode` for a
  ///   backup that was altered; `authFailed` when nothing opens it; `notAvailable` with `lockHolder`
  ///   when the store is in use. After any error the store is as it was.
  static func run(
    _ path: String, to location: StoreLocation, with secrets: [KeySlotSecret],
    further: [(KeychainError, [KeySlot]) throws -> [KeySlotSecret]],
    replacing isReplacing: Bool, options: KeychainOptions,
    progress: (_ done: UInt64, _ total: UInt64) -> Void
  ) throws(KeychainError) -> RestoreReport {
    try KeychainError.wrap("restoring the backup") {
      try Sodium.initialize()
      let file = try BackupFile(path)
      for directory in [location.directory, location.anchorDirectory] {
        try StoreLocation.makeDirectory(directory)
        try StoreLocation.checkDirectory(directory)
      }
      let lock = try StoreLock(location.lockPath)
      let replaced = location.hasStore
      guard isReplacing || !replaced else {
        throw KeychainError(
          .duplicateKeychain, "there is a store at \(location.databasePath) already")
      }
      let staging = try StagingDirectory(beside: location)
      // After the exchange this removes the old store.
      defer { staging.remove() }
      try file.copy(to: staging.location.databasePath, progress: progress)

      let anchor = Anchor(path: location.anchorPath(file.trailer.store))
      var report = RestoreReport(
        backup: file.trailer, replaced: replaced, behindBy: nil, locked: 0)
      let generation: UInt64
      do {
        let staged = try openFirst(secrets, further, at: staging.location, options)
        defer { staged.close() }
        report.locked = try file.verify(with: staged)
        if case .generation(let anchored) = anchor.read() {
          report.behindBy = max(anchored, file.trailer.generation) - file.trailer.generation
        }
        generation = try goBeyond(report, staged)
        guard try staged.database.checkpointTruncate() else {
          throw KeychainError(
            .notAvailable, "somebody reads the store while it is made", isTemporary: true)
        }
      } catch {
        throw file.refusal(error)
      }
      try FileBytes(staging.location.databasePath).sync()
      // Whoever opens it must wait until the anchor is written.
      let newLock = try StoreLock(staging.location.lockPath)
      try staging.exchange()
      // The store is in its place now, and ahead of its anchor, which the next opening can fix.
      withExtendedLifetime((lock, newLock)) {
        do throws(KeychainError) {
          try anchor.write(generation)
        } catch {
          report.anchorProblem = error.message
        }
      }
      return report
    }
  }

  private static func openFirst(
    _ secrets: [KeySlotSecret], _ further: [(KeychainError, [KeySlot]) throws -> [KeySlotSecret]],
    at location: StoreLocation, _ options: KeychainOptions
  ) throws -> Keychain {
    var refusal = KeychainError(.authFailed, "there is nothing to open it with")
    for position in 0...further.count {
      let group =
        try position == 0
        ? secrets : further[position - 1](refusal, StoreOpener.slots(at: location))
      for (number, secret) in group.enumerated() {
        do {
          return try Keychain.open(at: location, with: secret, options: options)
        } catch {
          guard error.status == .authFailed else { throw error }
          // Of what was tried last, what was likeliest.
          if number == 0 { refusal = error }
        }
      }
    }
    throw refusal
  }

  /// Counts on, beyond all that was ever committed in the store that is replaced. Returns where it is.
  private static func goBeyond(
    _ report: RestoreReport, _ staged: Keychain
  ) throws -> UInt64 {
    try staged.database.write { tx in
      let ledger = try staged.changes.ledger(tx)
      guard ledger.manifest?.advance(by: report.behindBy ?? 0) == true,
        ledger.manifest?.advance(by: margin) == true, let manifest = ledger.manifest
      else { throw ManifestStore.noGenerationLeft() }
      let lost = report.changesLost.map { "\($0) changes" } ?? "all changes"
      staged.auditLog.note(.restored, "a backup; \(lost) since then are lost", ledger)
      // The commit itself is one more.
      return manifest.generation + 1
    }
  }
}
