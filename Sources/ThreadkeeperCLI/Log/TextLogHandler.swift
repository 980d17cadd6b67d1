// SPDX-License-Identifier: Apache-2.0

import Logging

/// One line for each event, for people to read:
///
///     2026-11-21T04:36:00.123Z warning  router is on another network  router=a1b2 name="Living room"
///
/// The level has colour on a terminal only, and not with `NO_COLOR`.
package struct TextLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?
  package var logLevel: Logger.Level

  private let output: LogOutput

  /// - Parameter level: what is less severe is not written.
  package init(level: Logger.Level = .info, output: LogOutput = .standardError) {
    self.logLevel = level
    self.output = output
  }

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    var line: [UInt8] = []
    line.reserveCapacity(256)
    LogTimestamp.now().append(to: &line)
    append(level: event.level, to: &line)
    EscapedText(event.message.description).append(to: &line, quoted: false)
    var separator = "  "
    for (key, value) in event.fields(logger: metadata, provider: metadataProvider) {
      line.append(contentsOf: separator.utf8)
      separator = " "
      append(word: key, to: &line)
      line.append(UInt8(ascii: "="))
      append(word: value.description, to: &line)
    }
    line.append(UInt8(ascii: "\n"))
    output.write(line: line)
  }

  /// The level fills eight columns, so that messages stand in one.
  private func append(level: Logger.Level, to line: inout [UInt8]) {
    let name = level.rawValue
    line.append(UInt8(ascii: " "))
    if output.allowsColor {
      line.append(contentsOf: "\u{1B}[\(color(of: level))m\(name)\u{1B}[0m".utf8)
    } else {
      line.append(contentsOf: name.utf8)
    }
    line.append(contentsOf: repeatElement(UInt8(ascii: " "), count: max(1, 9 - name.utf8.count)))
  }

  /// A word of its own: quoted as soon as it could be taken for more than one.
  private func append(word: String, to line: inout [UInt8]) {
    let text = EscapedText(word)
    if !word.isEmpty, text.isPlain, !word.utf8.contains(where: { $0 == 0x20 || $0 == 0x3D }) {
      text.append(to: &line, quoted: false)
    } else {
      line.append(UInt8(ascii: "\""))
      text.append(to: &line, quoted: true)
      line.append(UInt8(ascii: "\""))
    }
  }

  /// Parameters of the terminal's "select graphic rendition" (ECMA-48, 8.3.117).
  private func color(of level: Logger.Level) -> String {
    switch level {
    case .trace, .debug: "2"
    case .info: "32"
    case .notice: "36"
    case .warning: "33"
    case .error: "31"
    case .critical: "1;31"
    }
  }
}

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
