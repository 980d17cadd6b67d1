// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Synchronization

/// How far an export or import is and what it names, on the way from the thread that does it to the task that sends
/// it on. The thread never waits for the task.
final class ExchangeNews: Sendable {
  /// From one progress that is sent to the next.
  private static let interval = Duration.milliseconds(100)
  /// UTF-8 of the names in one reply, except where one alone has more.
  private static let namesLength = 64 << 10
  /// UTF-8 of one name. In JSON a byte takes six at most, and a message has at most 512 KiB.
  private static let nameLength = 80 << 10

  private struct State {
    var progress: ExchangeStep.Progress?
    var shown = ContinuousClock.now - interval
    var names: [ImportedName] = []
    /// Of `names`, that were sent.
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

  /// - Parameter name: its texts are cut where they do not fit into a reply.
  func add(_ name: ImportedName) {
    let name = name.length <= Self.nameLength ? name : name.cut(to: Self.nameLength / 4)
    state.withLock { $0.names.append(name) }
  }

  func finish() { arrived.finish() }

  /// What is to be sent next; nil: nothing now.
  func next() -> ExchangeStep? {
    state.withLock { state in
      var step = ExchangeStep()
      (step.progress, state.progress) = (state.progress, nil)
      var length = 0
      let names = state.names[state.sent...].prefix {
        length += $0.length
        return length <= Self.namesLength
      }
      if state.sent < state.names.count {
        let count = max(names.count, 1)
        step.names = Array(state.names[state.sent..<(state.sent + count)])
        state.sent += count
      }
      if state.sent == state.names.count { (state.names, state.sent) = ([], 0) }
      return step.progress == nil && step.names == nil ? nil : step
    }
  }
}

extension ImportedName {
  /// The same with texts of at most so many bytes of UTF-8 each, with a mark where one was cut. What differs is short.
  fileprivate func cut(to length: Int) -> Self {
    Self(
      conflict: conflict.map {
        ImportConflict(
          item: $0.item.cut(to: length), differs: $0.differs,
          removes: $0.removes.map { $0.cut(to: length) })
      }, client: client?.cut(to: length), consent: consent?.cut(to: length))
  }
}

extension String {
  fileprivate func cut(to length: Int) -> String {
    guard utf8.count > length else { return self }
    var text = ""
    for scalar in unicodeScalars {
      guard text.utf8.count + UTF8.width(scalar) <= length - 8 else { break }
      text.unicodeScalars.append(scalar)
    }
    return text + "…"
  }
}
