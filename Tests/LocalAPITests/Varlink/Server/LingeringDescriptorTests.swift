// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TestKit
import Testing

@testable import LocalAPI

/// What is left to the daemon where the kernel cannot refuse open files.
@Suite("Open files whose close takes long", .timeLimit(.minutes(30)))
struct LingeringDescriptorTests {
  @Test(
    "They hold up nobody but their sender, whether that is served or sent away",
    arguments: [(isAdmitted: true, count: 6), (isAdmitted: false, count: 40)])
  func lingering(isAdmitted: Bool, count: Int) async throws {
    let ready = try TemporaryDirectory()
    let judged = Mutex(0)
    var limits = VarlinkLimits.owner
    limits.silence = .seconds(600)
    limits.refusesDescriptors = false
    let server = try SampleServer(limits) { [process = getpid()] peer in
      guard peer.processID != process else { return .admitted(.owner) }
      let number = judged.withLock {
        $0 += 1
        return $0
      }
      LingeringPeer.wait(for: number, in: ready)
      return isAdmitted ? .admitted(.owner) : .refused(.permissionDenied)
    }
    let peer = try LingeringPeer(server.path, count: count, ready)
    try await eventually("all connections") { judged.withLock { $0 } == count }
    for _ in 0..<20 { #expect(try await server.answers()) }
    withExtendedLifetime(peer) {}
  }
}
