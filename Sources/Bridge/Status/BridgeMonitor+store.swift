// SPDX-License-Identifier: Apache-2.0

import Broker

extension BridgeMonitor {
  /// Who reads the store beside the transactions that write.
  enum StoreReader: Sendable { case outbox, registry }

  /// Seconds between two checks of the whole file.
  private static let checkInterval = 10

  /// Notes a failure of the store. Damage is looked into first, in the next tick: it may be fixed.
  ///
  /// - Returns: the reason, where it is news for the log.
  func storeFailed(
    _ error: any Error, path: String, at now: WireTime, inBatch: Bool
  ) -> String? {
    if StoreFailure.isDamage(error), requestCheck(at: now) { return nil }
    let reason = StoreFailure.reason(error, path: path)
    return storeFailed(reason, at: now, inBatch: inBatch) ? reason : nil
  }

  /// As `storeFailed`; until `readWorks` no write that succeeds ends the problem.
  func readFailed(
    _ error: any Error, by reader: StoreReader, path: String, at now: WireTime
  ) -> String? {
    update { $0.failingReaders.insert(reader) }
    return storeFailed(error, path: path, at: now, inBatch: false)
  }

  func readWorks(_ reader: StoreReader) {
    update { $0.failingReaders.remove(reader) }
  }

  /// - Returns: whether the store is about to be checked, so that nothing is published yet.
  @discardableResult
  func requestCheck(at now: WireTime) -> Bool {
    var isDue = false
    update {
      isDue =
        $0.unrepairable == nil
        && $0.storeCheckedAt.map { $0.adding(seconds: Self.checkInterval) <= now } ?? true
      if isDue { $0.isStoreCheckDue = true }
    }
    return isDue
  }

  /// - Returns: whether the store is to be checked now.
  func takeCheck(at now: WireTime) -> Bool {
    var isDue = false
    update {
      isDue = $0.isStoreCheckDue
      $0.isStoreCheckDue = false
      if isDue { $0.storeCheckedAt = now }
    }
    return isDue
  }

  /// What was damaged is created again. Whatever fails now is another problem.
  func storeIsRepaired(at now: WireTime) {
    update {
      $0.storeProblem = nil
      $0.failingReaders = []
      if $0.isIntakeConnected { $0.listeningSince = $0.listeningSince ?? now }
    }
  }

  /// The store stays as it is until another process opens it.
  func storeIsUnrepairable(_ reason: String, at now: WireTime) {
    update { $0.unrepairable = reason }
    storeFailed(reason, at: now, inBatch: true)
  }

  /// The routers are listened to since now: no silence was noticed by another clock. A check of the store may be due at
  /// once, and it is quiet since now.
  func clockJumped(to now: WireTime) {
    update {
      $0.listeningSince = $0.listeningSince.map { _ in now }
      $0.storeCheckedAt = nil
      $0.storeProblem?.seen = now
      $0.alteredDevice?.at = now
      $0.alteredButtonAt = $0.alteredButtonAt.map { _ in now }
    }
  }
}
