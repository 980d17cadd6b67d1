// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Synchronization
import ThreadkeeperDaemon

/// How far a rotation is, and who does it: on the terminal, and for the words when it is stopped.
final class RotationWatch: Sendable {
  enum Worker: Sendable {
    case daemon, command
  }

  private struct State {
    var rotation = StoreReport.Rotation()
    /// Whether a daemon was asked to begin.
    var isAskedFor = false
    /// Whether it was asked for new roots, too.
    var isForRoots = false
    /// What came with new roots, as soon as they are there: nothing takes that back.
    var roots: StoreReport?
    /// Nil before it has begun.
    var worker: Worker?
  }

  private let state = Mutex(State())
  private let isOn = StandardStream.error.isTerminal

  var rotation: StoreReport.Rotation { state.withLock { $0.rotation } }

  func askFor(newRoots isForRoots: Bool = false) {
    state.withLock { ($0.isAskedFor, $0.isForRoots) = (true, isForRoots) }
  }

  func note(newRoots report: StoreReport) { state.withLock { $0.roots = report } }

  func show(_ rotation: StoreReport.Rotation, by worker: Worker) {
    state.withLock { ($0.rotation, $0.isAskedFor, $0.worker) = (rotation, true, worker) }
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

  /// What came with new roots; lines, or nothing while there are none.
  var wordsOfRoots: String {
    guard let roots = state.withLock({ $0.roots }) else { return "" }
    return "The root keys of the store are new.\n" + roots.textOfRoots
  }

  /// Before a failure is printed: what has been done all the same. A signal has words of its own.
  ///
  /// - Returns: the failure, with what is to be done now.
  func tellRoots(before error: any Error) -> any Error {
    let words = wordsOfRoots
    let failure = error as? CommandFailure ?? (error as? KeychainError).map { CommandFailure($0) }
    guard !words.isEmpty, let failure else { return error }
    try? StandardStream.error.write(words)
    return CommandFailure(
      failure.status, failure.message,
      remedy: failure.remedy
        ?? "items that were not reached keep older keys: `threadkeeper keys rotate` goes on with them"
    )
  }

  /// After a signal.
  var wordsOfStop: String {
    let state = state.withLock { $0 }
    switch state.worker {
    case nil where !state.isAskedFor: return "Nothing is rotated."
    case nil where state.isForRoots:
      return "A running daemon may renew the root keys all the same: `threadkeeper audit` tells."
    case nil: return "A running daemon may rotate all the same: `threadkeeper status` tells."
    case .daemon: return wordsOfRoots + "The daemon goes on with the rotation: \(words)."
    case .command:
      return wordsOfRoots
        + "The daemon goes on with the rotation when it starts, or the next `keys rotate`: \(words)."
    }
  }
}
