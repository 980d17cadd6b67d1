// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import TestKit
import Testing

@testable import DaemonSocket

@Suite("Work in a user's own threads", .timeLimit(.minutes(30)))
struct UserLanesTests {
  private let lanes = UserLanes()

  /// Work that waits for a gate.
  private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let counts = Mutex((begun: 0, done: 0, most: 0))

    var begun: Int { counts.withLock { $0.begun } }
    var done: Int { counts.withLock { $0.done } }
    /// How many were under way at a time.
    var most: Int { counts.withLock { $0.most } }

    func pass() {
      counts.withLock {
        $0.begun += 1
        $0.most = max($0.most, $0.begun - $0.done)
      }
      semaphore.wait()
      semaphore.signal()
      counts.withLock { $0.done += 1 }
    }

    func open() { semaphore.signal() }
  }

  @Test(
    "One user has two threads at a time, whose work keeps no other user's waiting; all of it is done"
  )
  func users() async throws {
    let gate = Gate()
    let count = UserLanes.width + UserLanes.mostWaiting
    for _ in 0..<count { lanes.run(for: 1) { gate.pass() } }
    let isDone = Mutex(false)
    lanes.run(for: 2) { isDone.withLock { $0 = true } }
    try await eventually("the other user's") { isDone.withLock { $0 } }
    try await eventually("the first ones") { gate.begun == UserLanes.width }
    gate.open()
    try await eventually("all of them") { gate.done == count }
    #expect(gate.most == UserLanes.width)
    lanes.run(for: 1) { isDone.withLock { $0 = false } }
    try await eventually("one more") { !isDone.withLock { $0 } }
  }

  @Test("More than may wait do not wait")
  func more() async throws {
    let gate = Gate()
    for _ in 0..<(UserLanes.width + UserLanes.mostWaiting + 3) { lanes.run(for: 1) { gate.pass() } }
    try await eventually("those") { gate.begun == UserLanes.width + 3 }
    gate.open()
    try await eventually("all") { gate.done == UserLanes.width + UserLanes.mostWaiting + 3 }
    #expect(gate.most == UserLanes.width + 3)
  }
}
