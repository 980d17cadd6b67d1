import Synchronization

/// What the page shows, sent to everybody who has it open. It is read once for all of them, and only while there are
/// some.
final class StateFeed: Sendable {
  /// Share of a processor that reading may take: one part in so many.
  private static let share = 20
  /// After which the state is sent again unchanged, so that a client that has gone is noticed.
  private static let heartbeat = Duration.seconds(15)

  private struct State {
    var viewers: [Int: AsyncStream<[UInt8]>.Continuation] = [:]
    var next = 0
    /// As it was sent last.
    var frame: [UInt8]?
    var reading: Task<Void, Never>?
    /// Until it is read again.
    var pause: Task<Void, Never>?
    /// Something was changed after the last reading began.
    var isDue = false
    var isOver = false
  }

  private let most: Int
  private let shortestPause: Duration
  /// However long reading takes.
  private let longestPause: Duration
  private let read: @Sendable () async -> [UInt8]?
  private let state = Mutex(State())

  /// - Parameter read: gives JSON without a line end; nil where it cannot be read now.
  init(most: Int, shortestPause: Duration, longestPause: Duration, read: @escaping @Sendable () async -> [UInt8]?) {
    self.most = most
    self.shortestPause = shortestPause
    self.longestPause = longestPause
    self.read = read
  }

  var viewers: Int { state.withLock { $0.viewers.count } }

  /// - Returns: nil where there are too many already, or the daemon ends.
  func join() -> Viewer? {
    let (frames, sender) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingNewest(1))
    let number: Int? = state.withLock { state in
      guard !state.isOver, state.viewers.count < most else { return nil }
      state.next += 1
      state.viewers[state.next] = sender
      if state.reading == nil {
        // What was read last is old by now.
        state.frame = nil
        state.reading = Task { [weak self] in await self?.run() }
      } else if let frame = state.frame {
        sender.yield(frame)
      }
      return state.next
    }
    return number.map { number in Viewer(frames: frames) { [weak self] in self?.leave(number) } }
  }

  /// Ends every answer. Clients come back when the daemon does.
  func end() {
    state.withLock { $0.isOver = true }
    endViewers()
  }

  /// Ends every answer. Clients come back if they still may look.
  func endViewers() {
    let (viewers, reading) = state.withLock { state in
      defer {
        state.viewers = [:]
        state.reading = nil
      }
      return (Array(state.viewers.values), state.reading)
    }
    reading?.cancel()
    for viewer in viewers { viewer.finish() }
  }

  /// Reads now: somebody has changed something, and waits to see it.
  func readNow() {
    let pause = state.withLock { state in
      state.isDue = true
      return state.pause
    }
    pause?.cancel()
  }

  private func leave(_ number: Int) {
    let (viewer, reading) = state.withLock { state in
      let viewer = state.viewers.removeValue(forKey: number)
      guard state.viewers.isEmpty else { return (viewer, Task<Void, Never>?.none) }
      defer { state.reading = nil }
      return (viewer, state.reading)
    }
    viewer?.finish()
    reading?.cancel()
  }

  private func run() async {
    var sent = ContinuousClock.now
    while !Task.isCancelled {
      let began = ContinuousClock.now
      state.withLock { $0.isDue = false }
      if let json = await read() {
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
      await pause(for: min(max(shortestPause, took * Self.share), longestPause))
    }
  }

  private func pause(for duration: Duration) async {
    let pause = Task { _ = try? await Task.sleep(for: duration) }
    let isDue = state.withLock { state in
      state.pause = pause
      return state.isDue
    }
    if isDue { pause.cancel() }
    await withTaskCancellationHandler {
      await pause.value
    } onCancel: {
      pause.cancel()
    }
  }
}

/// Somebody who has the page open.
package struct Viewer: Sendable {
  /// Events for a browser; ends with the daemon.
  let frames: AsyncStream<[UInt8]>
  /// Nothing more is wanted. May be called often.
  let leave: @Sendable () -> Void
}
