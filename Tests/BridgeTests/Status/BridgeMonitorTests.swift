// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing

@testable import Bridge

@Suite("How the bridge is")
struct BridgeMonitorTests {
  private let monitor = BridgeMonitor()
  private let now = WireTime(milliseconds: 0)

  @Test("A failure is news once, and keeps its beginning")
  func failure() {
    #expect(monitor.storeFailed("full", at: now, inBatch: true))
    #expect(!monitor.storeFailed("full", at: now.adding(seconds: 5), inBatch: true))
    #expect(monitor.storeFailed("read-only", at: now.adding(seconds: 9), inBatch: true))
    #expect(monitor.snapshot.storeProblem?.since == now)
    #expect(monitor.snapshot.intake == .backingOff("read-only"))
  }

  @Test("A batch that is written ends it; that is news once")
  func batchWorks() {
    #expect(!monitor.storeWorks(at: now, inBatch: true))
    monitor.storeFailed("full", at: now, inBatch: true)
    #expect(monitor.storeWorks(at: now, inBatch: true))
    #expect(!monitor.storeWorks(at: now, inBatch: true))
    #expect(monitor.snapshot.intake == .connecting)
  }

  @Test("A tick that is written ends what a tick began, and what a batch began after a quiet time")
  func tickWorks() {
    monitor.storeFailed("full", at: now, inBatch: false)
    #expect(monitor.storeWorks(at: now, inBatch: false))
    monitor.storeFailed("full", at: now, inBatch: true)
    let later = now.adding(seconds: BridgeMonitor.quietSeconds)
    #expect(!monitor.storeWorks(at: later, inBatch: false))
    monitor.update { $0.isIntakeConnected = true }
    #expect(!monitor.storeWorks(at: later.adding(seconds: -1), inBatch: false))
    #expect(monitor.storeWorks(at: later, inBatch: false))
    #expect(monitor.snapshot.intake == .running)
  }

  @Test("When the clock jumps, the store is checked when it is asked for, and quiet since then")
  func clockJump() {
    #expect(monitor.requestCheck(at: now.adding(seconds: 100)))
    #expect(monitor.takeCheck(at: now.adding(seconds: 100)))
    monitor.storeFailed("full", at: now.adding(seconds: 100), inBatch: true)
    monitor.update { $0.isIntakeConnected = true }
    #expect(!monitor.requestCheck(at: now))
    monitor.clockJumped(to: now)
    #expect(monitor.requestCheck(at: now))
    #expect(!monitor.storeWorks(at: now.adding(seconds: 1), inBatch: false))
    #expect(monitor.storeWorks(at: now.adding(seconds: BridgeMonitor.quietSeconds), inBatch: false))
  }

  @Test("When the clock jumps, the routers are listened to since then, if they are at all")
  func listening() {
    monitor.clockJumped(to: now)
    #expect(monitor.snapshot.listeningSince == nil)
    monitor.update { $0.listeningSince = now }
    monitor.clockJumped(to: now.adding(seconds: 86_400))
    #expect(monitor.snapshot.listeningSince == now.adding(seconds: 86_400))
  }

  @Test("Batches add up")
  func counts() {
    var counts = BatchCounts()
    counts.received = 5
    counts.retained = 1
    counts.duplicates = 2
    counts.rejected = ["not_hex": 3, "too_deep": 1]
    for _ in 0..<2 { monitor.count(counts) }
    let snapshot = monitor.snapshot
    #expect(snapshot.received == 10)
    #expect(snapshot.retainedIgnored == 2)
    #expect(snapshot.duplicatesIgnored == 4)
    #expect(snapshot.rejected == 8)
  }

  private func refusal(
    _ words: String = "refused", reason: MosquittoError.Reason = .credentials,
    wasConnected: Bool = false
  ) -> MosquittoDisconnection {
    MosquittoDisconnection(
      error: MosquittoError(reason, words), wasConnected: wasConnected, failures: 1,
      retryDelay: .seconds(1))
  }

  @Test("A login that is refused again for the same reason is no news")
  func refusedLogin() {
    #expect(monitor.noteRefusal(refusal(), at: \.intakeLogin))
    #expect(!monitor.noteRefusal(refusal(), at: \.intakeLogin))
    #expect(monitor.noteRefusal(refusal(), at: \.statusLogin))
    #expect(monitor.noteRefusal(refusal("other words"), at: \.intakeLogin))
    #expect(monitor.snapshot.login == .refused("other words"))
    monitor.loginChanged()
    #expect(monitor.snapshot.login == .unknown)
    #expect(monitor.noteRefusal(refusal("other words"), at: \.intakeLogin))
  }

  @Test("Only a connection that was not made for the login's sake counts as refused")
  func otherEnds() {
    #expect(monitor.noteRefusal(refusal(reason: .nothingListens), at: \.intakeLogin))
    #expect(monitor.noteRefusal(refusal(wasConnected: true), at: \.intakeLogin))
    #expect(monitor.snapshot.login == .unknown)
    monitor.update {
      $0.intakeLogin = .accepted
      $0.statusLogin = .accepted
    }
    #expect(monitor.snapshot.login == .accepted)
    _ = monitor.noteRefusal(refusal(reason: .nothingListens), at: \.intakeLogin)
    #expect(monitor.snapshot.login == .accepted)
  }
}
