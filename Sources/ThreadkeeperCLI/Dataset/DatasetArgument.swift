// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset

/// A dataset on the command line, `-` for one on standard input, or `@` and the name of a file.
struct DatasetArgument: ExpressibleByArgument {
  /// More characters than any dataset has digits, with room for white space around them.
  private static let longestInput = 4096

  /// Shown for a dataset on the command line, whether it is sound or not.
  private static let warning =
    "warning: other users of this machine can read a dataset on the command line; give @FILE, or - for"
    + " standard input\n"

  private let text: String

  init?(argument: String) {
    text = argument
  }

  /// - Throws: `DatasetError` for a bad dataset, and for an incomplete one unless that is allowed;
  ///   `CommandFailure` when the input can't be read.
  func read(allowPartial: Bool) throws -> OperationalDataset {
    let dataset = try OperationalDataset(hex: digits())
    if !allowPartial { try dataset.requireComplete() }
    return dataset
  }

  private func digits() throws -> String {
    let bytes: [UInt8]?
    if text == "-" {
      bytes = try StandardInput.read(limit: Self.longestInput)
    } else if text.hasPrefix("@") {
      bytes = try InputFile.read(String(text.dropFirst()), limit: Self.longestInput)
    } else {
      try StandardStream.error.write(Self.warning)
      return text
    }
    guard let bytes else {
      throw DatasetError(
        code: .tooLong, type: nil, offset: OperationalDataset.maximumLength,
        message: "more than \(Self.longestInput) characters, expected at most "
          + "\(OperationalDataset.maximumLength) bytes of two digits each")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
