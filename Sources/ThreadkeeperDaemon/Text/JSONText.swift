// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// JSON for scripts and for people: sorted keys in snake_case, indented, one value.
package enum JSONText {
  /// The text of a value, with an end of line.
  ///
  /// - Throws: `CommandFailure` with status 70: a value of ours that has no JSON is our mistake.
  package static func pretty(_ value: some Encodable) throws(CommandFailure) -> String {
    try text(value, [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
  }

  /// The same on one line, for values that come one after the other.
  package static func line(_ value: some Encodable) throws(CommandFailure) -> String {
    try text(value, [.sortedKeys, .withoutEscapingSlashes])
  }

  private static func text(
    _ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting
  ) throws(CommandFailure) -> String {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = formatting
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
    } catch {
      throw CommandFailure(.software, "no JSON for \(type(of: value))")
    }
  }
}
