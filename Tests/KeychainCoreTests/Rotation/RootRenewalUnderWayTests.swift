// SPDX-License-Identifier: Apache-2.0

import Foundation
import SQLiteDatabase
import SodiumCrypto
import TestKit
import Testing

@testable import KeychainCore

/// New root keys, a rotation that is under way, was interrupted, or follows them, and kills in between.
@Suite struct RootRenewalUnderWayTests {
  private func expectNothingOpens(
    _ leaked: LeakedKeys, _ rotated: RotatedStore, _ comment: Comment? = nil
  ) throws {
    #expect(try leaked.opens(rotated.keychain).isEmpty, comment)
    #expect(rotated.keychain.condition == .healthy, comment)
    #expect(try !rotated.keychain.rotationIsPending(), comment)
  }

  @Test func fromTheCommitOnNothingIsWrittenUnderKeysThatTheOldRootsReach() throws {
    var options = RotatedStore.options
    options.auditor = "tester"
    let rotated = try RotatedStore(options: options)
    let keychain = rotated.keychain
    let leaked = LeakedKeys(keychain)
    let before = try keychain.lastAuditRecord()
    try keychain.renewRootKeys([rotated.store.keyFile])
    #expect(try keychain.rotationIsPending())
    // No walk has begun.
    let old = try leaked.opens(keychain, after: before)
    for number in 18..<24 { try keychain.add(RotatedStore.item(number)) }
    let changed = try #require(
      try keychain.items(ItemQuery(.genericPassword, RotatedStore.item(4).attributes)).first)
    try keychain.update(changed, secret: Sample.secret("secret 4"))
    #expect(
      try leaked.opens(keychain, after: before)
        == old.filter { !$0.hasSuffix("row \(changed.rowID)") })
    #expect(old.count == 3 * 18, "\(old)")
    try rotated.store.reopen()
    let report = try rotated.keychain.rotateKeys()
    #expect(report.isFinished && report.wasPending && report.renewed == 17)
    #expect(try leaked.opens(rotated.keychain, after: before).isEmpty)
    #expect(try rotated.contents() == RotatedStore.expected(0..<24))
    #expect(try rotated.keychain.auditProblem() == nil)
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 24))
  }

  @Test func whatIsBegunWithTheRootsIsNoInterruptedRotation() throws {
    let rotated = try RotatedStore()
    try rotated.keychain.renewRootKeys([rotated.store.keyFile])
    let report = try rotated.keychain.rotateKeys()
    #expect(report.isFinished && !report.wasPending && report.renewed == 18)
    #expect(try rotated.newestEpochs() == [2, 3])
  }

  @Test(arguments: 0..<5)
  func aWalkUnderWayRefusesNewRootsAtEachStep(_ step: Int) throws {
    let rotated = try RotatedStore()
    let keychain = rotated.keychain
    let slots = try keychain.slots()
    var steps = 0
    let report = try keychain.rotateKeys { _ in
      if steps == step {
        refuses(.notAvailable) { try keychain.renewRootKeys([rotated.store.keyFile]) }
      }
      steps += 1
      return true
    }
    #expect(report.isFinished && !report.wasPending && report.renewed == 18)
    #expect(try keychain.slots() == slots)
    let leaked = LeakedKeys(keychain)
    try keychain.renewRootKeys([rotated.store.keyFile])
    #expect(try keychain.rotateKeys().isFinished)
    try expectNothingOpens(leaked, rotated)
  }

  /// As an earlier version left it, which began a second one in the middle of the first.
  @Test(arguments: [false, true])
  func aStoreWithKeysOfThreeRotationsOpensAndIsFinished(_ hasNewRoots: Bool) throws {
    let rotated = try RotatedStore()
    var steps = 0
    for limit in 1...2 {
      try rotated.keychain.database.write { [rotation = rotated.keychain.rotation] in
        try rotation.begin(in: $0)
      }
      steps = 0
      try rotated.keychain.rotateKeys {
        _ in
        steps += 1
        return steps < limit
      }
    }
    #expect(try rotated.keyRecords().filter { $0.hasPrefix("9.") } == ["9.1", "9.2", "9.3"])
    try rotated.store.reopen()
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    for number in 0..<18 {
      refuses(.duplicateItem) { try rotated.keychain.add(RotatedStore.item(number)) }
    }
    if hasNewRoots { try rotated.keychain.renewRootKeys([rotated.store.keyFile]) }
    #expect(try rotated.keychain.rotateKeys().isFinished)
    #expect(try !rotated.keychain.rotationIsPending())
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 18))
  }

  /// One that was left at a step, in a process before.
  @Test(arguments: 1..<5)
  func aRotationThatWasInterruptedIsFinishedBeforeTheNewRoots(_ steps: Int) throws {
    let rotated = try RotatedStore()
    var leaked = [LeakedKeys(rotated.keychain)]
    var left = steps
    try rotated.keychain.rotateKeys { _ in
      left -= 1
      return left > 0
    }
    leaked.append(LeakedKeys(rotated.keychain))
    try rotated.store.reopen()
    try rotated.keychain.renewRootKeys([rotated.store.keyFile])
    #expect(try rotated.keyRecords().filter { $0.hasPrefix("9.") } == ["9.2", "9.3"])
    for _ in 0..<2 {
      #expect(try rotated.contents() == RotatedStore.expected(0..<18))
      for number in 0..<18 {
        refuses(.duplicateItem) { try rotated.keychain.add(RotatedStore.item(number)) }
      }
      try rotated.store.reopen()
    }
    #expect(try rotated.keychain.rotateKeys().isFinished)
    for each in leaked { try expectNothingOpens(each, rotated) }
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
  }

  /// A kill after the root keys, and at every step of the walk after it.
  @Test(arguments: 0..<7)
  func aKillAfterTheRootsLeavesAStoreThatGoesOn(_ step: Int) async throws {
    let rotated = try RotatedStore()
    let leaked = LeakedKeys(rotated.keychain)
    rotated.keychain.close()
    let (directory, key) = (rotated.store.location.directory, rotated.store.keyFilePath)
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [directory = directory as String, key = key as String, step = step as Int] in
      let keychain = try Keychain.open(
        at: StoreLocation(directory: directory), with: .keyFile(path: key),
        options: RotatedStore.options)
      try keychain.renewRootKeys([.keyFile(path: key)])
      if step == 0 { kill(getpid(), SIGKILL) }
      var steps = 1
      try keychain.rotateKeys { _ in
        if steps == step { kill(getpid(), SIGKILL) }
        steps += 1
        return true
      }
      kill(getpid(), SIGKILL)
    }
    try rotated.store.reopen()
    #expect(try rotated.contents() == RotatedStore.expected(0..<18))
    // As the daemon does when it starts.
    if try rotated.keychain.rotationIsPending() {
      #expect(try rotated.keychain.rotateKeys().isFinished)
    }
    try expectNothingOpens(leaked, rotated, "step \(step)")
    #expect(try rotated.newestEpochs() == [2, 3])
    #expect(try rotated.keychain.verify(.everything) == VerificationReport(items: 18))
  }

  @Test func anAlteredStoreGetsNoNewRoots() throws {
    let rotated = try RotatedStore()
    let raw = try RawStore(rotated.store.location.databasePath)
    try raw.run("DELETE FROM items WHERE id = 18")
    raw.close()
    refuses(.decode) { try rotated.keychain.renewRootKeys([rotated.store.keyFile]) }
    #expect(rotated.keychain.condition == .readOnly(.manifestMismatch))
    #expect(try rotated.newestEpochs() == [1])
  }

  /// The whole of it with a fault at any call, then as the daemon does when it starts.
  @Test func aFaultAtAnyCallLeavesAStoreThatFinishesIt() throws {
    var fired = 0
    for number in 1...800 {
      let disk = FaultyDisk()
      var options = RotatedStore.options
      options.vfs = disk.name
      options.anchorInterval = 0
      let rotated = try RotatedStore(items: 9, options: options)
      let leaked = LeakedKeys(rotated.keychain)
      disk.arm(.ioError(at: number))
      do {
        try rotated.keychain.rotateKeys { $0.renewed < 4 }
        try rotated.keychain.renewRootKeys([rotated.store.keyFile])
        try rotated.keychain.rotateKeys()
      } catch {}
      let hasFired = disk.hasFired
      disk.repair()
      try rotated.store.reopen()
      if try rotated.keychain.rotationIsPending() {
        #expect(try rotated.keychain.rotateKeys().isFinished, "call \(number)")
      }
      if try rotated.session() == 2 {
        try expectNothingOpens(leaked, rotated, "call \(number)")
      } else {
        #expect(hasFired, "call \(number)")
      }
      #expect(try rotated.contents() == RotatedStore.expected(0..<9), "call \(number)")
      #expect(
        try rotated.keychain.verify(.everything) == VerificationReport(items: 9), "call \(number)")
      guard hasFired else { break }
      fired += 1
    }
    #expect((20..<800).contains(fired), "the fault came \(fired) times")
  }

  @Test func manyThreadsWorkWhileTheRootsAreRenewedTimeAndAgain() async throws {
    let rotated = try RotatedStore(items: 60)
    let keychain = rotated.keychain
    let (location, keyFile) = (rotated.store.location, rotated.store.keyFile)
    let isOver = Locked(false)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { isOver.withLock { $0 = true } }
        for _ in 0..<12 {
          try keychain.renewRootKeys([keyFile])
          try keychain.rotateKeys(beginning: false)
        }
      }
      group.addTask {
        var number = 0
        while !isOver.withLock({ $0 }) {
          let item = try keychain.add(Sample.password("new \(number)", accessible: .whenUnlocked))
          #expect(try keychain.secret(of: item) == Sample.secret("secret"))
          try keychain.delete(item)
          number += 1
        }
      }
      group.addTask {
        while !isOver.withLock({ $0 }) {
          for number in stride(from: 0, to: 60, by: 7) {
            try keychain.database.read { try RotatedStore.expectFound(number, keychain, in: $0) }
          }
        }
      }
      group.addTask {
        while !isOver.withLock({ $0 }) {
          let beside = try Keychain.open(
            at: location, with: keyFile, access: .readOnly)
          #expect(beside.condition == .healthy)
          beside.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(try rotated.contents() == RotatedStore.expected(0..<60))
    #expect(try keychain.verify(.everything) == VerificationReport(items: 60))
    #expect(keychain.quarantine.isEmpty)
  }

  /// Between the commit and the publication of the keys, a reader of the process finds the new store, and
  /// in memory the old keys with the roots that were prepared.
  @Test func thePreparedRootsAreEnoughToReadWhatIsCommitted() throws {
    let rotated = try RotatedStore()
    let beside = try rotated.store.openBeside()
    try rotated.keychain.renewRootKeys([rotated.store.keyFile])
    let roots = RootKeys(
      master: try rotated.keychain.keys.root(.master),
      session: try rotated.keychain.keys.root(.session))
    refuses(.notAvailable) { _ = try beside.items(ItemQuery()) }
    beside.keys.loaded.withLock { $0.prepare(roots) }
    let contents = try beside.database.read { try RotatedStore.contents(beside, in: $0) }
    #expect(contents == RotatedStore.expected(0..<18))
    #expect(try beside.verify().matchesManifest && beside.quarantine.isEmpty)
  }

  @Test func theRootsArePreparedBeforeTheCommit() throws {
    let rotated = try RotatedStore()
    let raw = try RawStore(rotated.store.location.databasePath)
    try raw.run("DELETE FROM items WHERE id = 18")
    raw.close()
    // It ends with the count of the store, the last thing before the commit.
    refuses(.decode) { try rotated.keychain.renewRootKeys([rotated.store.keyFile]) }
    rotated.keychain.keys.loaded.withLock { loaded in
      #expect(loaded.keys[KeyID(.master, epoch: 2)] != nil)
      #expect(loaded.keys[KeyID(.session, epoch: 2)] != nil)
      #expect(loaded.current[.master]?.epoch == 1)
    }
    // Not where the session key is out of reach.
    rotated.keychain.keys.lock()
    rotated.keychain.keys.loaded.withLock { loaded in
      #expect(loaded.keys[KeyID(.session, epoch: 2)] == nil)
    }
  }

  @Test func whoOpensTheStoreWhileTheRootsAreRenewedIsToldToTryAgain() throws {
    let rotated = try RotatedStore()
    let (location, arena) = (rotated.store.location, KeyArena())
    let bytes = try rotated.store.keyFile.bytes()
    do {
      _ = try StoreOpener.open(
        location, lock: nil, access: .readOnly, options: RotatedStore.options, arena: arena
      ) { tx, store in
        let roots = try KeySlots.open(
          rotated.store.keyFile, bytes, store: store, arena: arena, in: tx)
        try rotated.keychain.renewRootKeys([rotated.store.keyFile])
        return roots
      }
      Issue.record("it was opened with the old roots")
    } catch let error as KeychainError {
      #expect(error.asksForReopening && error.status == .notAvailable, "\(error)")
    }
    #expect(try rotated.store.openBeside().condition == .healthy)
  }
}
