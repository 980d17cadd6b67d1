// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Why a request was not fulfilled, as it is answered.
package struct AnswerFailure: Error, Codable, Hashable, Sendable {
  /// One of `AnswerCode`, or of `DatasetError.Code`.
  package var code: String
  /// One sentence: what was expected, what was found. Never a byte of a value.
  package var message: String
  /// The field of the request that is to blame.
  package var field: String?
  /// The name of the TLV that is to blame.
  package var tlv: String?
  /// Bytes from the beginning of the dataset, or of the payload.
  package var offset: Int?
  /// On the socket: what a person can do.
  package var help: String?
  /// On the socket: the exit status that a command should end with.
  package var exit: Int32?

  package init(
    _ code: AnswerCode, field: String? = nil, offset: Int? = nil, _ message: String,
    help: String? = nil
  ) {
    self.code = code.rawValue
    self.message = message
    self.field = field
    self.offset = offset
    self.help = help
  }

  package init(_ error: DatasetError, field: String = "dataset") {
    self.code = error.code.rawValue
    self.message = error.message
    self.field = field
    self.tlv = error.tlvName
    self.offset = error.offset
  }

  /// Nil for the code of a dataset's rule, and for one that this version does not know.
  package var known: AnswerCode? { AnswerCode(rawValue: code) }

  /// Nil unless a dataset was refused by one of its rules.
  package var ofDataset: DatasetError.Code? { DatasetError.Code(rawValue: code) }
}
