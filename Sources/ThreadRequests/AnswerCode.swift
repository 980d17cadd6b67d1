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
