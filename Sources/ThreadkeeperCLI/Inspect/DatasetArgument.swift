// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset
import ThreadkeeperDaemon

/// A dataset on the command line, `-` for one on standard input, or `@` and the name of a file.
struct DatasetArgument: ExpressibleByArgument {
  private let digits: PastedDigits

  init?(argument: String) {
    digits = PastedDigits(argument)
  }

  /// - Throws: `DatasetError` for a bad dataset, and for an incomplete one unless that is allowed;
  ///   `CommandFailure` when the input can't be read.
  func read(allowPartial: Bool) throws -> OperationalDataset {
    guard let digits = try digits.read(as: "a dataset") else {
      throw DatasetError(
        code: .tooLong, type: nil, offset: OperationalDataset.maximumLength,
        message: "more than \(PastedDigits.longestInput) characters, expected at most "
          + "\(OperationalDataset.maximumLength) bytes of two digits each")
    }
    let dataset = try OperationalDataset(hex: digits)
    if !allowPartial { try dataset.requireComplete() }
    return dataset
  }

  /// The same of a whole one, where a bad one ends the command.
  func readWhole(_ output: OutputOptions) throws -> OperationalDataset {
    try DatasetErrorReport.ending(output) { try read(allowPartial: false) }
  }
}

/// Hexadecimal digits of a secret, as people paste them: on the command line, `-` for standard input, or `@` and the
/// name of a file.
struct PastedDigits: ExpressibleByArgument {
  /// More characters than any dataset has digits, with room for what comes with them.
  static let longestInput = 4096

  private let text: String

  init(_ text: String) {
    self.text = text
  }

  init?(argument: String) {
    self.init(argument)
  }

  var isStandardInput: Bool { text == "-" }

  /// Warns where other users can read it.
  ///
  /// - Parameter kind: what it is: `a dataset`.
  /// - Returns: what `digits(in:)` leaves; nil where the input has more than 4096 bytes.
  /// - Throws: `CommandFailure` when the input can't be read.
  func read(as kind: String) throws(CommandFailure) -> String? {
    let bytes: [UInt8]?
    if isStandardInput {
      bytes = try StandardInput.read(limit: Self.longestInput)
    } else if text.hasPrefix("@") {
      bytes = try InputFile.read(String(text.dropFirst()), limit: Self.longestInput)
    } else {
      try StandardStream.error.write(
        "warning: other users of this machine can read \(kind) on the command line; give @FILE, or"
          + " - for standard input\n")
      return Self.digits(in: text)
    }
    return bytes.map { Self.digits(in: String(decoding: $0, as: UTF8.self)) }
  }

  /// Text without what comes along where people copy digits: white space and line breaks, quotes, one `hex:` or `0x`
  /// in front, and what the command line of OpenThread prints around them (`> dataset active -x`, `Done`). The rest is
  /// left for who checks the digits.
  static func digits(in text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline).map { line -> String in
      String(line).filter { !$0.isWhitespace && !ignored.contains($0) }
    }
    let digits: String = lines.map(withoutPrompt).joined()
    let prefix = ["hex:", "0x"].first { digits.lowercased().hasPrefix($0) }
    return String(digits.dropFirst(prefix?.count ?? 0))
  }

  /// Quotes, also those of word processors, the NUL of a text in C, and the byte order mark of an editor.
  private static let ignored: Set<Character> = [
    "\"", "'", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\0", "\u{FEFF}",
  ]

  private static func withoutPrompt(_ line: String) -> Substring {
    if line == "Done" { return "" }
    let rest = line.drop { $0 == ">" }
    // Behind the prompt, letters that are no digits are a command.
    let isCommand = line.hasPrefix(">") && rest.first?.isLetter == true
    return isCommand && !rest.allSatisfy(\.isHexDigit) ? "" : rest
  }
}
