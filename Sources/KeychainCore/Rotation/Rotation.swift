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
/// 1. One transaction makes the new keys (`begin`). From then on all that is written uses
///    them.
/// 2. A walk seals the other items again, some in each transaction (`renewItems`). Every row names its
///    keys, so who reads needs not know of the walk, and it can be left off at any row.
/// 3. One transaction counts the store for the new manifest and removes the old keys (`retireKeys`).
///
/// After a crash the next rotation goes on where the store shows more than one key for the attributes.
/// The secrets themselves stay as they are: their item keys are re-wrapped.
///
/// New root keys come with new keys of every kind in one transaction (`RootRenewal`), and the walk after it. They
/// do not come during a walk, and after one that was interrupted when that is finished.
final class Rotation: Sendable {
  private struct State {
    var isRunning = false
    /// Whether one was begun in this process, together with new root keys, and is to go on.
    var hasBegun = false
    /// Of the last one that came to its end in this process.
    var left: LeftByRotation?
  }

  let items: ItemTable
  let keys: KeyRing
  let health: StoreHealth
  let manifest: ManifestStore
  let changes: StoreChanges
  let transactions: StoreTransactions
  let verifier: StoreVerifier
  let erasure: LogErasure
  let options: KeychainOptions
  private let state = Locked(State())

  init(
    items: ItemTable, transactions: StoreTransactions, verifier: StoreVerifier,
    options: KeychainOptions
  ) {
    self.items = items
    self.transactions = transactions
    self.verifier = verifier
    self.options = options
    keys = items.keys
    health = items.health
    changes = items.changes
    manifest = changes.manifest
    erasure = changes.erasure
  }

  /// Of the last one that came to its end in this process.
  var left: LeftByRotation? { state.withLock { $0.left } }

  /// New root keys have come, and with them new keys of every kind.
  func wasBegun() { state.withLock { $0.hasBegun = true } }

  /// Gives every item new keys, or goes on with that. Others read and write meanwhile. The root keys
  /// stay: see `RootRenewal`.
  ///
  /// - Parameters:
  ///   - actor: for whom it is begun, in the audit; nil is the keychain's own auditor.
  ///   - isBeginning: false only finishes what there is to finish: a rotation that was left, and items
  ///     that were locked, or without their device key, when it came to them.
  ///   - goOn: called after each transaction; false stops, and the next rotation goes on.
  /// - Throws: `notAvailable` when a rotation is under way in this process; `readOnly` or `decode`
  ///   when the store is not what its manifest says. The old keys are all there then.
  func run(
    for actor: String?, beginning isBeginning: Bool, _ goOn: (RotationProgress) -> Bool
  ) throws(KeychainError) -> RotationReport {
    try health.checkWritable()
    return try alone {
      var report = RotationReport()
      if try !isBeginning || isPending() {
        report.wasPending = try isPending() && !state.withLock { $0.hasBegun }
        try replaceCarriedKeys()
        try finish(&report, goOn)
        // Damaged items keep their keys: that one was over long ago.
        guard isBeginning, report.isFinished, report.renewed == 0, report.retiredKeys == 0 else {
          return report
        }
        report = RotationReport()
      }
      // What is altered must be seen before it is counted again.
      try verifier.verify(.manifest)
      try health.checkWritable()
      try transactions.write { tx in
        if let actor { ChangeLedger.of(tx).audit.actor = actor }
        try begin(in: tx)
      }
      try finish(&report, goOn)
      return report
    }
  }

  /// Keys are renewed by one caller at a time.
  ///
  /// - Throws: `notAvailable` for another one.
  func alone<R>(_ body: () throws -> R) throws(KeychainError) -> R {
    let isAlone = state.withLock { state in
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard isAlone else {
      throw KeychainError(
        .notAvailable, "the keys are being renewed already: try again when that is over",
        isTemporary: true)
    }
    defer { state.withLock { $0.isRunning = false } }
    return try KeychainError.wrap("renewing the keys", body)
  }

  /// Comes to the end of a rotation that was interrupted, if there is one.
  func finishInterrupted() throws {
    guard try isPending() else { return }
    var report = RotationReport()
    try finish(&report) { _ in true }
  }

  /// What is renewed at the beginning; the manifest's key comes at the end.
  static var renewable: [KeyPurpose] {
    [.metadata, .blindIndex] + Accessibility.allCases.map(\.keyPurpose)
  }

  /// What a walk brings all items to.
  func newestKeys(in tx: ReadTransaction) throws -> [KeyID] {
    try Self.renewable.compactMap { try KeyTable.newest($0, in: tx) }
  }

  func begin(in tx: WriteTransaction) throws {
    let ledger = try changes.ledger(tx)
    for purpose in Self.renewable {
      guard let newest = try KeyTable.newest(purpose, in: tx) else { continue }
      do {
        // Not of a class that is locked: its items could not be re-wrapped.
        _ = try keys.key(newest, in: tx)
        try keys.make(KeyID(purpose, epoch: newest.epoch + 1), ledger, in: tx)
      } catch let error as KeychainError where error.isClosedClass {
        continue
      }
    }
    let count = try items.search.count(of: nil, in: tx)
    changes.audit.note(.rotationBegun, "\(count) items", ledger)
  }

  /// The next key of every class whose key was carried, and whose device key is back.
  private func replaceCarriedKeys() throws {
    let carried = try transactions.read { tx in
      try Accessibility.allCases.compactMap { try KeyTable.carried($0.keyPurpose, in: tx) }
        .filter { (try? keys.key($0, in: tx)) != nil }
    }
    guard !carried.isEmpty else { return }
    try transactions.write { tx in
      for id in carried {
        do {
          _ = try keys.current(id.purpose, in: tx) { try changes.ledger(tx) }
        } catch let error as KeychainError where error.isClosedClass {
          continue
        }
      }
    }
  }

  private func finish(
    _ report: inout RotationReport, _ goOn: (RotationProgress) -> Bool
  ) throws {
    let count = try transactions.read { try items.search.count(of: nil, in: $0) }
    var walk = RotationWalk()
    while !walk.isOver {
      try renewItems(&walk)
      (report.renewed, report.locked) = (walk.renewed, walk.locked)
      report.damaged = walk.damagedRows.count
      guard goOn(RotationProgress(renewed: walk.renewed, items: count)) else { return }
      usleep(options.rotationPause)
    }
    let (newest, retired) = try transactions.write { tx in
      (try newestKeys(in: tx), try retireKeys(after: walk, in: tx))
    }
    report.retiredKeys = retired
    state.withLock { state in
      state.hasBegun = false
      state.left = LeftByRotation(keys: newest, damagedRows: walk.damagedRows)
    }
    report.isFinished = true
    // What a reader still holds back, the next tick drives out.
    _ = try erasure.run()
  }
}

extension KeychainError {
  /// Nothing is wrong with the store; the key is just not here.
  var isClosedClass: Bool { status == .interactionNotAllowed || status == .notAvailable }
}
