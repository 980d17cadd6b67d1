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
