// SPDX-License-Identifier: Apache-2.0

import CLibAvahi

/// libavahi's event loop. One thread runs it; any other may end it.
// @unchecked: the thread that runs it is the only one that touches it, except by avahi_simple_poll_quit, which sets
// a flag and writes to a pipe.
final class PollLoop: @unchecked Sendable {
  private let loop: OpaquePointer
  private var hasQuit = false

  /// - Throws: `DiscoveryObstacle`: no memory or no descriptors.
  init() throws(DiscoveryObstacle) {
    guard let loop = avahi_simple_poll_new() else { throw .noResources }
    self.loop = loop
  }

  deinit { avahi_simple_poll_free(loop) }

  /// What libavahi-client wants to know of it. Valid as long as this object.
  var interface: UnsafePointer<AvahiPoll>? { avahi_simple_poll_get(loop) }

  /// Waits for something to happen, at most until `deadline`, and calls libavahi's callbacks.
  ///
  /// - Returns: false when the loop does not work or was ended.
  func iterate(until deadline: ContinuousClock.Instant?) -> Bool {
    // libavahi stops the process if it is used after it has quit.
    guard !hasQuit else { return false }
    let result = avahi_simple_poll_iterate(loop, Self.milliseconds(until: deadline))
    if result > 0 { hasQuit = true }
    return result == 0
  }

  /// Ends the loop for good. From any thread.
  func quit() { avahi_simple_poll_quit(loop) }

  /// Rounded up, so that the deadline has passed afterwards; -1 without a deadline.
  private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
    guard let deadline else { return -1 }
    let left = ContinuousClock.now.duration(to: deadline)
    guard left > .zero else { return 0 }
    return Int32(min(left / .milliseconds(1), 60_000).rounded(.up))
  }
}
