// SPDX-License-Identifier: Apache-2.0

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The JSON object of an event as it is on the wire. Fields that are not listed are ignored, so that
/// a publisher may add its own.
struct InboundEventFields: Decodable, Equatable {
  var borderAgentID: String?
  var name: String?
  var vendor: String?
  var model: String?
  var extendedAddress: String?
  var accessPoint: String?
  var dataset: String?
  var ssid: String?
  var previousSSID: String?
  var currentNetwork: String?
  var threadState: String?
  var reason: String?
  var sequence: UInt64?
  var identifier: String?
  var isSealed = false

  enum CodingKeys: String, CodingKey {
    case borderAgentID = "border_agent_id"
    case name, vendor, model
    case extendedAddress = "ext_address"
    case accessPoint = "access_point"
    case dataset, ssid
    case previousSSID = "previous_ssid"
    case currentNetwork = "ext_pan_id"
    case threadState = "thread_state"
    case reason
    case sequence = "seq"
    case identifier = "id"
    case sealed
  }

  init() {}

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    borderAgentID = try fields.decodeIfPresent(String.self, forKey: .borderAgentID)
    name = try fields.decodeIfPresent(String.self, forKey: .name)
    vendor = try fields.decodeIfPresent(String.self, forKey: .vendor)
    model = try fields.decodeIfPresent(String.self, forKey: .model)
    extendedAddress = try fields.decodeIfPresent(String.self, forKey: .extendedAddress)
    accessPoint = try fields.decodeIfPresent(String.self, forKey: .accessPoint)
    dataset = try fields.decodeIfPresent(String.self, forKey: .dataset)
    ssid = try fields.decodeIfPresent(String.self, forKey: .ssid)
    previousSSID = try fields.decodeIfPresent(String.self, forKey: .previousSSID)
    currentNetwork = try fields.decodeIfPresent(String.self, forKey: .currentNetwork)
    threadState = try fields.decodeIfPresent(String.self, forKey: .threadState)
    reason = try fields.decodeIfPresent(String.self, forKey: .reason)
    do {
      sequence = try fields.decodeIfPresent(UInt64.self, forKey: .sequence)
    } catch let error as DecodingError {
      throw error
    } catch {
      // For a number that does not fit, the parser throws an error of its own that names no field.
      throw DecodingError.dataCorruptedError(
        forKey: .sequence, in: fields, debugDescription: "out of range")
    }
    identifier = try fields.decodeIfPresent(String.self, forKey: .identifier)
    isSealed = fields.contains(.sealed)
  }
}

extension Rejection {
  /// Words for what the JSON parser found. The parser's own text is not used: it may quote a value.
  init(_ error: DecodingError, in payload: [UInt8]) {
    let context =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .keyNotFound(_, let context), .dataCorrupted(let context):
        context
      @unknown default: DecodingError.Context(codingPath: [], debugDescription: "")
      }
    if let field = context.codingPath.last?.stringValue {
      let isNumber = field == InboundEventFields.CodingKeys.sequence.stringValue
      self.init(
        .wrongType, field: field,
        message: "expected \(isNumber ? "a whole number from 0 to 2^64-1" : "a text")")
    } else if case .dataCorrupted = error {
      self = .notJSON(payload)
    } else {
      self.init(.wrongType, message: "expected a JSON object")
    }
  }

  static func notJSON(_ payload: [UInt8]) -> Rejection {
    Rejection(
      .invalidJSON, offset: JSONSyntax.firstFlaw(in: payload),
      message: "the payload is not a JSON object")
  }
}
