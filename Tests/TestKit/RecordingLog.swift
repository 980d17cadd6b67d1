// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// What was logged, a line for each: the message, and the metadata in the order of their keys.
package final class RecordingLog: Sendable {
  private let kept = Mutex<[String]>([])
  private let keptLevels = Mutex<[Logger.Level]>([])

  package init() {}

  package var lines: [String] { kept.withLock { $0 } }

  /// The level of each line.
  package var levels: [Logger.Level] { keptLevels.withLock { $0 } }

  package var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

  private struct Handler: LogHandler {
    let log: RecordingLog
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map {
        "\($0.key)=\($0.value)"
      }
      log.keptLevels.withLock { $0.append(event.level) }
      log.kept.withLock { $0.append(([event.message.description] + fields).joined(separator: " ")) }
    }
  }
}
