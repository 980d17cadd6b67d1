// SPDX-License-Identifier: Apache-2.0

import BoundedJSON

/// The JSON object of an event as it is on the wire. Fields that are not listed are ignored, so that
/// a publisher may add its own.
struct InboundEventFields: Equatable {
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

  init() {}

  /// - Throws: `Rejection` that names the field or the offset: invalid JSON, nested too deep, not UTF-8, no object, a
  ///   field of another type. Of a field that comes twice, the first that is not null counts.
  init(reading payload: [UInt8]) throws(Rejection) {
    self.init()
    var wrong: Rejection?
    let isObject: Bool
    do throws(JSONFlaw) {
      isObject = try UntrustedJSON.readMembers(
        of: payload, depth: InboundLimits.nesting, skipsByteOrderMark: true
      ) { member in
        do throws(Rejection) {
          try take(member)
        } catch {
          if wrong == nil { wrong = error }
        }
      }
    } catch {
      throw Rejection(error)
    }
    guard isObject else { throw Rejection(.wrongType, message: "expected a JSON object") }
    if let wrong { throw wrong }
  }

  private mutating func take(_ member: JSONMember) throws(Rejection) {
    switch member.name {
    case "border_agent_id": try Self.read(member, "border_agent_id", into: &borderAgentID)
    case "dataset": try Self.read(member, "dataset", into: &dataset)
    case "name": try Self.read(member, "name", into: &name)
    case "vendor": try Self.read(member, "vendor", into: &vendor)
    case "model": try Self.read(member, "model", into: &model)
    case "ext_address": try Self.read(member, "ext_address", into: &extendedAddress)
    case "access_point": try Self.read(member, "access_point", into: &accessPoint)
    case "ssid": try Self.read(member, "ssid", into: &ssid)
    case "previous_ssid": try Self.read(member, "previous_ssid", into: &previousSSID)
    case "ext_pan_id": try Self.read(member, "ext_pan_id", into: &currentNetwork)
    case "thread_state": try Self.read(member, "thread_state", into: &threadState)
    case "reason": try Self.read(member, "reason", into: &reason)
    case "id": try Self.read(member, "id", into: &identifier)
    case "sealed": isSealed = true
    case "seq": try readSequence(member)
    default: break
    }
  }

  private static func read(
    _ member: JSONMember, _ name: String, into field: inout String?
  ) throws(Rejection) {
    guard field == nil else { return }
    switch member.value {
    case .null: break
    case .string(let string):
      guard let text = string.text else {
        throw Rejection(
          .invalidJSON, field: name,
          message:
            "the text has an unpaired surrogate; send both `\\u` escapes, or the character itself")
      }
      field = text
    case .number, .bool, .nested:
      throw Rejection(.wrongType, field: name, message: "expected a text")
    }
  }

  private mutating func readSequence(_ member: JSONMember) throws(Rejection) {
    guard sequence == nil else { return }
    if case .null = member.value { return }
    guard case .number(let number) = member.value, let value = number.unsigned else {
      throw Rejection(
        .wrongType, field: "seq", message: "expected a whole number from 0 to 2^64-1")
    }
    sequence = value
  }
}
