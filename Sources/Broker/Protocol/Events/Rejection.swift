import ThreadRequests
import ThreadkeeperSupport

/// Why a message was not acted upon. Names the place and the remedy, never a payload.
package typealias Rejection = AnswerFailure

extension AnswerFailure {
  /// Stable names, beside those of `DatasetError` and `EnvelopeRefusal`: they are counted, published and written into
  /// automations.
  package enum Code: String, CaseIterable, Sendable {
    case invalidTopic = "invalid_topic"
    case unknownEvent = "unknown_event"
    case tooLarge = "too_large"
    case tooDeep = "too_deep"
    case invalidUTF8 = "invalid_utf8"
    case invalidJSON = "invalid_json"
    case wrongType = "wrong_type"
    case missingField = "missing_field"
    case badValue = "bad_field"
    case badBorderAgentID = "bad_border_agent_id"
    case badDataset = "bad_dataset"
    case incompleteDataset = "incomplete_dataset"
    case unsupported = "unsupported"
    case notAuthorized = "not_authorized"
    case notFound = "not_found"
    case outOfOrder = "out_of_order"
    case retained
    case tooManyRouters = "too_many_routers"
    case tooManyNetworks = "too_many_networks"
    case cannotApply = "cannot_apply"
    case rateLimited = "rate_limited"
    // Of what is around an envelope.
    case notSealed = "not_sealed"
    case notEnrolled = "not_enrolled"
    case outsideDiffers = "outside_differs"
    case damagedEnrolment = "damaged_enrolment"
  }

  /// - Parameter message: one sentence: what was expected, what was found, how to fix it.
  package init(_ code: Code, field: String? = nil, offset: Int? = nil, message: String) {
    self.init(code: code.rawValue, field: field, offset: offset, message)
  }

  /// The code is that of the envelope's own rules.
  package init(_ refusal: EnvelopeRefusal) { self.init(code: refusal.rawValue, field: "sealed", refusal.message) }
}

extension Rejection {
  init(_ flaw: JSONFlaw) {
    self =
      switch flaw.reason {
      case .syntax: .init(.invalidJSON, offset: flaw.offset, message: "the payload is not a JSON object")
      case .tooDeep:
        .init(.tooDeep, offset: flaw.offset, message: "objects and arrays may be nested \(InboundLimits.nesting) deep")
      case .notUTF8: .init(.invalidUTF8, offset: flaw.offset, message: "the payload is not UTF-8")
      }
  }
}
