// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation

/// Ends what the benchmark started, and removes its files, when a signal ends the benchmark: what Foundation starts is
/// not in its process group, so that Ctrl-C does not reach it.
final class Interruption {
  private let sources: [any DispatchSourceSignal]

  /// - Parameter path: what is removed.
  init(removing path: String) {
    // A program that is started gets these as they were, which it would not if they were ignored here.
    signal(SIGPIPE) { _ in }
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number) { _ in }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        ChildProcess.killAll()
        try? FileManager.default.removeItem(atPath: path)
        _exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  deinit { sources.forEach { $0.cancel() } }
}
