import Dispatch
import Foundation

/// When a signal ends the benchmark, ends what it started and removes its files. Ctrl-C alone would not: Foundation
/// starts programs in process groups of their own.
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
        ChildProcess.killAll {
          try? FileManager.default.removeItem(atPath: path)
          _exit(128 + number)
        }
      }
      source.resume()
      return source
    }
  }

  deinit { sources.forEach { $0.cancel() } }
}
