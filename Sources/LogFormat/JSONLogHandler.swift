// SPDX-License-Identifier: Apache-2.0

import Logging

/// One JSON object a line, for machines to read:
///
///     {"time":"2026-11-21T04:36:00.123Z","level":"info","label":"bridge","message":"…","router":"a1b2"}
///
/// Metadata stand beside the message. A key that the line itself uses, or that begins with
/// `metadata.`, gets `metadata.` before it, so no two fields ever share a name. Whole numbers
/// and truth values stay what they are; everything else is text.
package struct JSONLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  package var logLevel: Logger.Level

  private let label: String
  private let output: LogOutput

  /// - Parameter level: what is less severe is not written.
  package init(label: String, level: Logger.Level = .info, output: LogOutput = .standardError) {
    self.label = label
    self.logLevel = level
    self.output = output
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var line: [UInt8] = []
    line.reserveCapacity(384)
    line.append(contentsOf: #"{"time":""#.utf8)
    LogTimestamp.now().append(to: &line)
    line.append(contentsOf: #"","level":""#.utf8)
    line.append(contentsOf: event.level.rawValue.utf8)
    line.append(contentsOf: #"","label":"#.utf8)
    append(text: label, to: &line)
    line.append(contentsOf: #","message":"#.utf8)
    append(text: event.message.description, to: &line)
    for (key, value) in event.fields(logger: metadata, provider: metadataProvider) {
      line.append(UInt8(ascii: ","))
      append(text: fieldName(of: key), to: &line)
      line.append(UInt8(ascii: ":"))
      append(value: value, to: &line)
    }
    line.append(contentsOf: "}\n".utf8)
    output.write(line: line)
  }

  private func fieldName(of key: String) -> String {
    switch key {
    case "time", "level", "label", "message": "metadata.\(key)"
    default: key.hasPrefix("metadata.") ? "metadata.\(key)" : key
    }
  }

  private func append(text: String, to line: inout [UInt8]) {
    line.append(UInt8(ascii: "\""))
    EscapedText(text).append(to: &line, quoted: true)
    line.append(UInt8(ascii: "\""))
  }

  private func append(value: Logger.MetadataValue, to line: inout [UInt8]) {
    switch value {
    case .string(let text):
      append(text: text, to: &line)
    case .stringConvertible(let number as any FixedWidthInteger):
      line.append(contentsOf: number.description.utf8)
    case .stringConvertible(let truth as Bool):
      line.append(contentsOf: truth.description.utf8)
    case .stringConvertible(let other):
      append(text: other.description, to: &line)
    case .array(let values):
      line.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        append(value: value, to: &line)
      }
      line.append(UInt8(ascii: "]"))
    case .dictionary(let fields):
      line.append(UInt8(ascii: "{"))
      for (index, field) in fields.sorted(by: { $0.key < $1.key }).enumerated() {
        if index > 0 { line.append(UInt8(ascii: ",")) }
        append(text: field.key, to: &line)
        line.append(UInt8(ascii: ":"))
        append(value: field.value, to: &line)
      }
      line.append(UInt8(ascii: "}"))
    }
  }
}
