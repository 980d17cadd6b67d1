// SPDX-License-Identifier: Apache-2.0

import Logging

extension LogEvent {
  typealias Field = (key: String, value: Logger.MetadataValue)

  /// What is said beside the message, in the order of the keys: the logger's own, what the
  /// task provides, and the event's, the later winning. An error comes as `error`.
  func fields(
    logger: Logger.Metadata, provider: Logger.MetadataProvider?
  ) -> [Field] {
    var merged = logger
    if let provided = provider?.get() {
      merged.merge(provided) { _, new in new }
    }
    if let error, merged["error"] == nil {
      merged["error"] = "\(error)"
    }
    if let metadata {
      merged.merge(metadata) { _, new in new }
    }
    return merged.sorted { $0.key < $1.key }
  }
}
