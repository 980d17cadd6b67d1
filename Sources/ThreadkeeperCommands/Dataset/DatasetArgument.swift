// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset

/// A dataset on the command line, or `-` for one on standard input.
struct DatasetArgument: ExpressibleByArgument {
  /// More characters than any dataset has digits, with room for white space around them.
  private static let longestInput = 4096

  private let text: String

  init?(argument: String) {
    text = argument
  }

  var isStandardInput: Bool { text == "-" }

  /// - Throws: `DatasetError` for a bad dataset, and for an incomplete one unless that is allowed;
  ///   `CommandFailure` when standard input can't be read.
  func read(allowPartial: Bool) throws -> OperationalDataset {
    let dataset = try OperationalDataset(hex: isStandardInput ? Self.standardInput() : text)
    if !allowPartial { try dataset.requireComplete() }
    return dataset
  }

  private static func standardInput() throws -> String {
    guard let octets = try StandardInput.read(limit: longestInput) else {
      throw DatasetError(
        code: .tooLong, type: nil, offset: OperationalDataset.maximumLength,
        message: "more than \(longestInput) characters, expected at most "
          + "\(OperationalDataset.maximumLength) octets of two digits each")
    }
    return String(decoding: octets, as: UTF8.self)
  }
}
