// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How far an export or import is and what it names, on the way from the thread that does it to the task that sends
/// it on. The thread never waits for the task.
final class ExchangeNews: Sendable {
  /// From one progress that is sent to the next.
  private static let interval = Duration.milliseconds(100)
  /// UTF-8 of the names in one reply, except where one alone has more. In JSON a byte takes six at most.
  private static let namesLength = 64 << 10

  private struct State {
    var progress: ExchangeStep.Progress?
    var shown = ContinuousClock.now - interval
    var lines: [ImportList.Line] = []
    /// Of `lines`, that were sent.
    var sent = 0
    var isCancelled = false
  }

  private let state = Mutex(State())
  /// A value for one or more of `next`. Ends with `finish`, after which there may be something left.
  let arrivals: AsyncStream<Void>
  private let arrived: AsyncStream<Void>.Continuation

  init() {
    (arrivals, arrived) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func cancel() { state.withLock { $0.isCancelled = true } }

  func show(_ progress: ExchangeStep.Progress) {
    let isDue = state.withLock { state in
      state.progress = progress
      guard state.shown.duration(to: .now) >= Self.interval else { return false }
      state.shown = .now
      return true
    }
    if isDue { arrived.yield() }
  }

  func add(_ line: ImportList.Line) { state.withLock { $0.lines.append(line) } }

  func finish() { arrived.finish() }

  /// What is to be sent next; nil: nothing now.
  func next() -> ExchangeStep? {
    state.withLock { state in
      var step = ExchangeStep()
      (step.progress, state.progress) = (state.progress, nil)
      var length = 0
      let lines = state.lines[state.sent...].prefix {
        length += $0.length
        return length <= Self.namesLength
      }
      if state.sent < state.lines.count {
        let count = max(lines.count, 1)
        step.names = ImportList(lines: Array(state.lines[state.sent..<(state.sent + count)]))
        state.sent += count
      }
      if state.sent == state.lines.count { (state.lines, state.sent) = ([], 0) }
      return step.progress == nil && step.names == nil ? nil : step
    }
  }
}
