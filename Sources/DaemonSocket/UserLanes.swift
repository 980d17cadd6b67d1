// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Work that may take as long as a caller likes, done for its user and in that user's own threads: no other
/// user waits for it, and who hands it in does not either.
final class UserLanes: Sendable {
  /// Threads of one user at a time.
  static let width = 2
  /// What may wait for them. What is more gets threads all the same: the process's open files are the
  /// limit of both.
  static let mostWaiting = 64

  private struct Lane {
    var threads = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let lanes = Mutex<[UInt32: Lane]>([:])

  /// Returns at once.
  func run(for user: UInt32, _ work: @escaping @Sendable () -> Void) {
    let isNow = lanes.withLock { lanes in
      var lane = lanes[user] ?? Lane()
      defer { lanes[user] = lane }
      guard lane.threads >= Self.width, lane.waiting.count < Self.mostWaiting else {
        lane.threads += 1
        return true
      }
      lane.waiting.append(work)
      return false
    }
    guard isNow else { return }
    OwnThread.start { [self] in
      var next = Optional(work)
      while let work = next {
        work()
        next = following(user)
      }
    }
  }

  /// What a thread does next; nil when it may end.
  private func following(_ user: UInt32) -> (@Sendable () -> Void)? {
    lanes.withLock {
      guard var lane = $0[user] else { return nil }
      if !lane.waiting.isEmpty {
        let work = lane.waiting.removeFirst()
        $0[user] = lane
        return work
      }
      lane.threads -= 1
      $0[user] = lane.threads == 0 ? nil : lane
      return nil
    }
  }
}
