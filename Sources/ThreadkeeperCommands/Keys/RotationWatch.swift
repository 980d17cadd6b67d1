// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How far a rotation is, and who does it: on the terminal, and for the words when it is stopped.
final class RotationWatch: Sendable {
  enum Worker: Sendable {
    case keeper, command
  }

  private struct State {
    var rotation = StoreReport.Rotation()
    /// Whether a keeper was asked to begin.
    var isAskedFor = false
    /// Nil before it has begun.
    var worker: Worker?
  }

  private let state = Mutex(State())
  private let isOn = StandardStream.error.isTerminal

  var rotation: StoreReport.Rotation { state.withLock { $0.rotation } }

  func askFor() { state.withLock { $0.isAskedFor = true } }

  func show(_ rotation: StoreReport.Rotation, by worker: Worker) {
    state.withLock { $0 = State(rotation: rotation, isAskedFor: true, worker: worker) }
    guard isOn, rotation.running, rotation.items > 0 else { return }
    try? StandardStream.error.write("\r\(rotation.renewed) of \(rotation.items) items")
  }

  func end() {
    guard isOn else { return }
    try? StandardStream.error.write("\r\u{1B}[K")
  }

  var words: String {
    let rotation = rotation
    guard rotation.queued != true else { return "it waits for one that is not over" }
    return "\(rotation.renewed) of \(rotation.items) items have new keys so far"
  }

  /// After a signal.
  var wordsOfStop: String {
    let (isAskedFor, worker) = state.withLock { ($0.isAskedFor, $0.worker) }
    switch worker {
    case nil where !isAskedFor: return "Nothing is rotated."
    case nil: return "A running keeper may rotate all the same: `threadkeeper status` tells."
    case .keeper: return "The keeper goes on with the rotation: \(words)."
    case .command:
      return
        "The keeper goes on with the rotation when it starts, or the next `keys rotate`: \(words)."
    }
  }
}
