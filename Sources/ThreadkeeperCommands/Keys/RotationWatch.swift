// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// How far a rotation is, and who does it: on the terminal, and for the words when it is stopped.
final class RotationWatch: Sendable {
  enum Worker: Sendable {
    case keeper, command
  }

  private struct State {
    var rotation = StoreReport.Rotation()
    /// Nil before it has begun.
    var worker: Worker?
  }

  private let state = Mutex(State())
  private let isOn = StandardStream.error.isTerminal

  var rotation: StoreReport.Rotation { state.withLock { $0.rotation } }

  func show(_ rotation: StoreReport.Rotation, by worker: Worker) {
    state.withLock { $0 = State(rotation: rotation, worker: worker) }
    guard isOn, rotation.running, rotation.items > 0 else { return }
    try? StandardStream.error.write("\r\(rotation.renewed) of \(rotation.items) items")
  }

  func end() {
    guard isOn else { return }
    try? StandardStream.error.write("\r\u{1B}[K")
  }

  var words: String {
    let rotation = rotation
    return "\(rotation.renewed) of \(rotation.items) items have new keys so far"
  }

  /// After a signal.
  var wordsOfStop: String {
    switch state.withLock({ $0.worker }) {
    case nil: "A running keeper may rotate all the same: `threadkeeper status` tells."
    case .keeper: "The keeper goes on with the rotation: \(words)."
    case .command:
      "The keeper goes on with the rotation when it starts, or the next `keys rotate`: \(words)."
    }
  }
}
