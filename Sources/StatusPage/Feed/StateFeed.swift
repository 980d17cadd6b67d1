// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// What the page shows, sent to everybody who has it open. It is looked at once for all of them, and only while there
/// are some.
final class StateFeed: Sendable {
  /// Between two looks, where a look is quick: at most two changes a second are sent.
  private static let interval = Duration.milliseconds(500)
  /// Share of a processor that looking may take: one part in so many.
  private static let share = 20
  /// After which the state is sent again unchanged, so that a client that has gone is noticed.
  private static let heartbeat = Duration.seconds(15)

  private struct State {
    var viewers: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    var next = 0
    /// As it was sent last.
    var frame: [UInt8]?
    var looking: Task<Void, Never>?
    var isOver = false
  }

  private let most: Int
  private let look: @Sendable () async -> [UInt8]?
  private let state = Mutex(State())

  /// - Parameter look: JSON without a line end; nil where it cannot be read now.
  init(most: Int, look: @escaping @Sendable () async -> [UInt8]?) {
    self.most = most
    self.look = look
  }

  var viewers: Int { state.withLock { $0.viewers.count } }

  /// - Returns: nil where there are too many already, or the daemon ends.
  func join() -> Viewer? {
    let (frames, sender) = AsyncStream.makeStream(
      of: [UInt8].self, bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      guard !state.isOver, state.viewers.count < most else { return nil }
      state.next += 1
      state.viewers[state.next] = sender
      if state.looking == nil {
        // What was seen last is old by now.
        state.frame = nil
        state.looking = Task { [weak self] in await self?.run() }
      } else if let frame = state.frame {
        sender.yield(frame)
      }
      return state.next
    }
    return number.map { number in
      Viewer(frames: frames) { [weak self] in self?.leave(number) }
    }
  }

  /// Ends every answer. Clients come back when the daemon does.
  func end() {
    let (viewers, looking) = state.withLock { state in
      state.isOver = true
      return (Array(state.viewers.values), state.looking)
    }
    looking?.cancel()
    for viewer in viewers { viewer.finish() }
  }

  private func leave(_ number: Int) {
    let (viewer, looking) = state.withLock { state in
      let viewer = state.viewers.removeValue(forKey: number)
      guard state.viewers.isEmpty else { return (viewer, Task<Void, Never>?.none) }
      defer { state.looking = nil }
      return (viewer, state.looking)
    }
    viewer?.finish()
    looking?.cancel()
  }

  private func run() async {
    var sent = ContinuousClock.now
    while !Task.isCancelled {
      let began = ContinuousClock.now
      if let json = await look() {
        let frame = Array("event: state\ndata: ".utf8) + json + Array("\n\n".utf8)
        let isDue = sent.duration(to: .now) >= Self.heartbeat
        let viewers = state.withLock { state in
          let isNews = state.frame != frame
          state.frame = frame
          return isNews || isDue ? Array(state.viewers.values) : []
        }
        if !viewers.isEmpty { sent = .now }
        for viewer in viewers { viewer.yield(frame) }
      }
      let took = began.duration(to: .now)
      try? await Task.sleep(for: max(Self.interval, took * Self.share))
    }
  }
}
