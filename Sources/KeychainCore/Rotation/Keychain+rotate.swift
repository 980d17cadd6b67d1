// SPDX-License-Identifier: Apache-2.0

import SQLiteDatabase
import SodiumCrypto

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Rotation: new keys for attributes, index, classes and manifest, beside normal work.
///
/// 1. One transaction makes the new keys (`beginRotation`). From then on all that is written uses
///    them.
/// 2. A walk seals the other items anew, some in each transaction (`renewItems`). Every row names its
///    keys, so who reads needs not know of the walk, and it can be left off at any row.
/// 3. One transaction counts the store for the new manifest and removes the old keys (`retireKeys`).
///
/// After a crash the next rotation goes on where the store shows more than one key for the attributes.
/// The secrets themselves stay as they are: their item keys are wrapped anew.
///
/// New root keys come with new keys of every kind in one transaction (`renewRootKeys`), which may be in
/// the middle of a walk. So there may be three keys of a kind, or more: all of them are asked in a
/// look-up, the newest one is what everything gets, and a walk that finds newer keys than it began with
/// begins again. Step 3 is only for a walk that saw no others. That way nobody waits for a walk under
/// way whose keys are not to be used any more, and a crash leaves nothing but keys to go on from.
extension Keychain {
  /// Gives every item new keys, or goes on with that. Others read and write meanwhile. The root keys
  /// stay: see `renewRootKeys`.
  ///
  /// - Parameters:
  ///   - actor: for whom it is begun, in the audit; nil is the keychain's own auditor.
  ///   - isBeginning: false only finishes what there is to finish: a rotation that was left, and items
  ///     that were locked, or without their device key, when it came to them.
  ///   - goOn: called after each transaction; false stops, and the next rotation goes on.
  /// - Throws: `notAvailable` when a rotation is under way in this process; `readOnly` or `decode`
  ///   when the store is not what its manifest says. The old keys are all there then.
  @discardableResult
  package func rotateKeys(
    for actor: String? = nil, beginning isBeginning: Bool = true,
    _ goOn: (RotationProgress) -> Bool = { _ in true }
  ) throws(KeychainError) -> RotationReport {
    try checkWritable()
    let isAlone = state.withLock { state in
      defer { state.isRotating = true }
      return !state.isRotating
    }
    guard isAlone else {
      throw KeychainError(
        .notAvailable, "the keys are being renewed already", isTemporary: true)
    }
    defer { state.withLock { $0.isRotating = false } }
    return try KeychainError.wrap("renewing the keys") {
      var report = RotationReport()
      if try !isBeginning || rotationIsPending() {
        report.wasPending = try rotationIsPending() && !state.withLock { $0.hasBegunRotation }
        try replaceCarriedKeys()
        try finishRotation(&report, goOn)
        // Damaged items keep their keys: that one was over long ago.
        guard isBeginning, report.isFinished, report.renewed == 0, report.retiredKeys == 0 else {
          return report
        }
        report = RotationReport()
      }
      // What is altered must be seen before it is counted anew.
      try verify()
      try checkWritable()
      try write { tx in
        if let actor { act(as: actor, in: tx) }
        try beginRotation(in: tx)
      }
      try finishRotation(&report, goOn)
      return report
    }
  }

  /// What is renewed at the beginning; the manifest's key comes at the end.
  static var renewable: [KeyPurpose] {
    [.metadata, .blindIndex] + Accessibility.allCases.map(\.keyPurpose)
  }

  /// What a walk brings all items to.
  func newestKeys(in tx: ReadTransaction) throws -> [KeyID] {
    try Self.renewable.compactMap { try newestKey($0, in: tx) }
  }

  private func beginRotation(in tx: WriteTransaction) throws {
    for purpose in Self.renewable {
      guard let newest = try newestKey(purpose, in: tx) else { continue }
      do {
        // Not of a class that is locked: its items could not be wrapped anew.
        _ = try key(newest, in: tx)
        _ = try makeKey(KeyID(purpose, epoch: newest.epoch + 1), in: tx)
      } catch let error as KeychainError where error.isClosedClass {
        continue
      }
    }
    let items = try count(in: tx)
    note(.rotationBegun, "\(items) items", try ledgerForChange(tx))
  }

  /// The next key of every class whose key was carried, and whose device key is back.
  private func replaceCarriedKeys() throws {
    let carried = try read { tx in
      try Accessibility.allCases.compactMap { try carriedKey($0.keyPurpose, in: tx) }
        .filter { (try? key($0, in: tx)) != nil }
    }
    guard !carried.isEmpty else { return }
    try write { tx in
      for id in carried {
        do {
          _ = try currentKey(id.purpose, in: tx)
        } catch let error as KeychainError where error.isClosedClass {
          continue
        }
      }
    }
  }

  private func finishRotation(
    _ report: inout RotationReport, _ goOn: (RotationProgress) -> Bool
  ) throws {
    let items = try read { try count(in: $0) }
    var walk = RotationWalk()
    var retired: Int?
    repeat {
      walk.isOver = false
      while !walk.isOver {
        try renewItems(&walk)
        (report.renewed, report.locked) = (walk.renewed, walk.locked)
        report.damaged = walk.damagedRows.count
        guard goOn(RotationProgress(renewed: walk.renewed, items: items)) else { return }
        usleep(options.rotationPause)
      }
      retired = try write { tx in
        guard try newestKeys(in: tx) == walk.keys else { return nil }
        return try retireKeys(after: walk, in: tx)
      }
    } while retired == nil
    report.retiredKeys = retired ?? 0
    state.withLock { state in
      state.hasBegunRotation = false
      state.rotationLeft = LeftByRotation(keys: walk.keys, damagedRows: walk.damagedRows)
    }
    report.isFinished = true
    // What a reader still holds back, the next tick drives out.
    _ = try eraseDeletedPages()
  }
}

extension KeychainError {
  /// Nothing is wrong with the store; the key is just not here.
  var isClosedClass: Bool { status == .interactionNotAllowed || status == .notAvailable }
}
