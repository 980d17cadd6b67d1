// SPDX-License-Identifier: Apache-2.0

import ThreadDataset

/// Why a request was not fulfilled. The raw values are stable: programs and automations are written
/// against them. A dataset that was refused has the code of its own rule, see `DatasetError.Code`.
package enum AnswerCode: String, CaseIterable, Sendable {
  /// Not a JSON object, or a field that is missing, of another type, or out of range.
  case invalidPayload = "invalid_payload"
  /// A pending dataset, where the active one is asked for.
  case incompleteDataset = "incomplete_dataset"
  /// The dataset cannot be read for another reason than its rules.
  case badDataset = "bad_dataset"
  /// It belongs to another team, or the requester may not do that.
  case notAuthorized = "not_authorized"
  /// The answer holds secrets, and the requester has no key to seal them to.
  case notEnrolled = "not_enrolled"
  case consentRequired = "consent_required"
  case consentDenied = "consent_denied"
  case consentExpired = "consent_expired"
  /// The consent that was to be decided is not, or no more, waiting.
  case staleID = "stale_id"
  case notFound = "not_found"
  case conflict
  /// The requester asks more often than it may.
  case rateLimited = "rate_limited"
  /// The requester's team has as many border agent ids as it may.
  case tooManyRouters = "too_many_routers"
  /// The request had waited for too long when it was read.
  case expired
  /// The store takes no changes.
  case readOnly = "read_only"
  /// An unknown command, or one that this version does not fulfil.
  case unsupported
  /// What is stored cannot be opened.
  case damagedCredentials = "damaged_credentials"
  /// The answer would be larger than a message may be.
  case tooLarge = "too_large"
  /// The daemon ends before it has done what it was asked for.
  case ending
  /// The store fails.
  case store
}

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
