// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Why a message was not acted upon. Names the place and the remedy, never a payload.
package struct Rejection: Error, Hashable, Sendable {
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

  package let code: String
  /// The field of the JSON object, where one is to blame.
  package let field: String?
  /// The name of the TLV, where one is to blame.
  package let tlv: String?
  /// Bytes from the start of the dataset, or of the payload.
  package let offset: Int?
  /// One sentence: what was expected, what was found, how to fix it.
  package let message: String

  package init(_ code: Code, field: String? = nil, offset: Int? = nil, message: String) {
    self.code = code.rawValue
    self.field = field
    self.tlv = nil
    self.offset = offset
    self.message = message
  }

  /// A dataset was refused: the code is that of the dataset's own rules.
  package init(_ error: DatasetError, field: String) {
    self.code = error.code.rawValue
    self.field = field
    self.tlv = error.tlvName
    self.offset = error.offset
    self.message = error.message
  }

  /// An envelope was refused: the code is that of the envelope's own rules.
  package init(_ refusal: EnvelopeRefusal) {
    self.code = refusal.rawValue
    self.field = "sealed"
    self.tlv = nil
    self.offset = nil
    self.message = refusal.message
  }
}

extension Rejection {
  init(_ flaw: JSONFlaw) {
    switch flaw.reason {
    case .syntax:
      self.init(
        .invalidJSON, offset: flaw.offset, message: "the payload is not a JSON object")
    case .tooDeep:
      self.init(
        .tooDeep, offset: flaw.offset,
        message: "objects and arrays may be nested \(InboundLimits.nesting) deep")
    case .notUTF8:
      self.init(.invalidUTF8, offset: flaw.offset, message: "the payload is not UTF-8")
    }
  }
}

/// What became of an event, for a publisher that asked by a Response Topic. The form is that of the answer to
/// a request:
///
///     {"status":"ok","v":1}
///     {"error":{"code":"not_found","field":"border_agent_id","message":"…"},"status":"error","v":1}
package struct EventAnswer: WireObject {
  private struct Failure: WirePart {
    let rejection: Rejection

    static let sample = Failure(rejection: Rejection(.badValue, message: ""))

    func fields<Coder: WireCoder>(_ c: inout Coder) {
      c.needed("code", rejection.code)
      c.field("field", rejection.field, .filled("The field to blame."))
      c.needed("message", rejection.message, .filled("For people."))
      c.field("offset", rejection.offset)
      c.field("tlv", rejection.tlv, .filled("The TLV to blame."))
    }
  }

  private enum Status: String, WireName { case ok, error }

  private let error: Failure?

  /// - Parameter rejection: nil when the event was acted upon, or had come before.
  package init(_ rejection: Rejection?) { error = rejection.map(Failure.init) }

  package func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("error", error)
    c.needed("status", error == nil ? Status.ok : .error)
    c.version()
  }
}
