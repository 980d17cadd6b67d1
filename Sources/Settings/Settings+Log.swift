// SPDX-License-Identifier: Apache-2.0

extension Settings {
  package struct Log: Sendable, Equatable {
    package var level: Level = .info
    package var format: Format = .text

    package init() {}

    /// The least severe level that is written. The names are swift-log's.
    package enum Level: String, Sendable, Equatable, CaseIterable {
      case trace, debug, info, notice, warning, error, critical
    }

    package enum Format: String, Sendable, Equatable, CaseIterable {
      /// Lines for people.
      case text
      /// One JSON object a line.
      case json
    }
  }
}
