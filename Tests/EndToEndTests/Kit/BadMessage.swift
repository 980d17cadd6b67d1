// SPDX-License-Identifier: Apache-2.0

/// A message that must be refused, and how.
struct BadMessage: Sendable {
  let name: String
  let payload: [UInt8]
  let code: String
  let kind: String
  let field: String?
  let offset: Int64?

  init(
    _ name: String, _ payload: [UInt8], _ code: String, kind: String = "announce",
    field: String? = nil, offset: Int64? = nil
  ) {
    self.name = name
    self.payload = payload
    self.code = code
    self.kind = kind
    self.field = field
    self.offset = offset
  }

  init(
    _ name: String, _ text: String, _ code: String, kind: String = "announce",
    field: String? = nil, offset: Int64? = nil
  ) {
    self.init(name, Array(text.utf8), code, kind: kind, field: field, offset: offset)
  }

  /// A mark in payloads that no rejection may repeat.
  static let mark = "payload-mark-7f3a"

  static var all: [BadMessage] {
    malformed + wrongTypes + wrongValues + strangeBytes + large + wrongIDs
  }

  private static let id = #""border_agent_id":"a1b2c3d4e5f60718""#

  private static var malformed: [BadMessage] {
    [
      BadMessage("nothing", "", "invalid_json"),
      BadMessage("a brace", "{", "invalid_json"),
      BadMessage("no JSON", mark, "invalid_json"),
      BadMessage("two objects", "{\(id)} {\"x\":\"\(mark)\"}", "invalid_json"),
      BadMessage("a comment", "{\(id)} // \(mark)", "invalid_json"),
      BadMessage("single quotes", "{'border_agent_id':'\(mark)'}", "invalid_json"),
      BadMessage(
        "half a surrogate", #"{"border_agent_id":"a1b2c3d4e5f60718","name":"\ud800"}"#,
        "invalid_json", field: "name"),
    ]
  }

  private static var wrongTypes: [BadMessage] {
    [
      BadMessage("a list", "[\"\(mark)\"]", "wrong_type"),
      BadMessage("a text", "\"\(mark)\"", "wrong_type"),
      BadMessage("a number", "7", "wrong_type"),
      BadMessage("null", "null", "wrong_type"),
      BadMessage(
        "an id that is a number", #"{"border_agent_id":1}"#, "wrong_type", field: "border_agent_id"),
      BadMessage(
        "a name that is a list", "{\(id),\"name\":[\"\(mark)\"]}", "wrong_type", field: "name"),
      BadMessage(
        "a dataset that is an object", "{\(id),\"dataset\":{\"x\":\"\(mark)\"}}", "wrong_type",
        field: "dataset"),
      BadMessage("a seq that is a text", "{\(id),\"seq\":\"\(mark)\"}", "wrong_type", field: "seq"),
      BadMessage("a negative seq", "{\(id),\"seq\":-1}", "wrong_type", field: "seq"),
      BadMessage(
        "a seq that is no whole number", "{\(id),\"seq\":1.5}", "wrong_type", field: "seq"),
      BadMessage(
        "a seq beyond 64 bits", "{\(id),\"seq\":18446744073709551616}", "wrong_type", field: "seq"),
      BadMessage("a seq beyond everything", "{\(id),\"seq\":1e999}", "wrong_type", field: "seq"),
    ]
  }

  private static var wrongValues: [BadMessage] {
    [
      BadMessage("no id", "{}", "missing_field", field: "border_agent_id"),
      BadMessage(
        "an id that is null", #"{"border_agent_id":null}"#, "missing_field",
        field: "border_agent_id"),
      BadMessage(
        "an ssid event without one", "{\(id)}", "missing_field", kind: "ssid", field: "ssid"),
      BadMessage(
        "a dataset event without one", "{\(id)}", "missing_field", kind: "dataset", field: "dataset"
      ),
      BadMessage(
        "a long name", "{\(id),\"name\":\"\(String(repeating: "x", count: 129))\"}", "bad_field",
        field: "name"),
      BadMessage(
        "a long event id", "{\(id),\"id\":\"\(String(repeating: "x", count: 129))\"}", "bad_field",
        field: "id"),
      BadMessage(
        "a sealed event", "{\(id),\"sealed\":\"\(mark)\"}", "not_enrolled", field: "sealed"),
      BadMessage(
        "a heartbeat of nobody", #"{"border_agent_id":"ffffffffffffffff"}"#, "not_found",
        kind: "heartbeat", field: "border_agent_id"),
      BadMessage(
        "an ssid of nobody's access point", "{\"access_point\":\"\(mark)\",\"ssid\":\"x\"}",
        "not_found", kind: "ssid", field: "access_point"),
      BadMessage(
        "a short address", "{\(id),\"ext_address\":\"0011\"}", "bad_field", field: "ext_address"),
    ]
  }

  private static var strangeBytes: [BadMessage] {
    [
      BadMessage(
        "invalid UTF-8", Array("{\(id),\"name\":\"".utf8) + [0xC3, 0x28] + Array("\"}".utf8),
        "invalid_utf8"),
      BadMessage(
        "an overlong form", Array("{\(id),\"name\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8),
        "invalid_utf8"),
      BadMessage(
        "a surrogate in UTF-8",
        Array("{\(id),\"name\":\"".utf8) + [0xED, 0xA0, 0x80] + Array("\"}".utf8), "invalid_utf8"),
      BadMessage("binary", (0...255).map { UInt8($0) }, "invalid_json", offset: 0),
    ]
  }

  private static var large: [BadMessage] {
    [
      BadMessage(
        "60,000 bytes of a text", "{\(id),\"name\":\"\(String(repeating: "x", count: 60_000))\"}",
        "too_large"),
      BadMessage("60,000 blanks", [UInt8](repeating: 0x20, count: 60_000), "too_large"),
      BadMessage("10,000 lists", String(repeating: "[", count: 10_000), "too_deep", offset: 8),
      BadMessage(
        "10,000 objects", String(repeating: "{\"a\":", count: 3_200) + "1", "too_deep", offset: 40),
      BadMessage(
        "nesting below a field", "{\(id),\"x\":" + String(repeating: "[", count: 8_000), "too_deep"),
      BadMessage("60,000 lists", String(repeating: "[", count: 60_000), "too_large"),
    ]
  }

  private static var wrongIDs: [BadMessage] {
    let digits = String(repeating: "a1b2c3d4", count: 9)
    let lengths = [0, 1, 15, 17, 31, 33, 64, 66].map { count in
      BadMessage(
        "an id of \(count) digits", "{\"border_agent_id\":\"\(digits.prefix(count))\"}",
        "bad_border_agent_id", field: "border_agent_id")
    }
    return lengths + [
      BadMessage(
        "an id that is not hex", #"{"border_agent_id":"g1b2c3d4e5f60718"}"#, "bad_border_agent_id",
        field: "border_agent_id"),
      BadMessage(
        "an id with a blank", #"{"border_agent_id":" a1b2c3d4e5f6071"}"#, "bad_border_agent_id",
        field: "border_agent_id"),
      BadMessage(
        "an id in wide digits", #"{"border_agent_id":"１１１１１１１１１１１１１１１１"}"#, "bad_border_agent_id",
        field: "border_agent_id"),
    ]
  }
}
