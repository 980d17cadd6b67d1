// SPDX-License-Identifier: Apache-2.0

/// A request for consent and what is to be said of it, read as one and written as one JSON object.
@dynamicMemberLookup
struct ConsentEntry<More: Codable & Sendable>: Codable, Sendable {
  var request: ConsentReport.Request
  var more: More

  init(request: ConsentReport.Request, more: More) {
    self.request = request
    self.more = more
  }

  init(from decoder: any Decoder) throws {
    request = try ConsentReport.Request(from: decoder)
    more = try More(from: decoder)
  }

  func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    try more.encode(to: encoder)
  }

  subscript<Value>(dynamicMember path: KeyPath<ConsentReport.Request, Value>) -> Value {
    request[keyPath: path]
  }

  subscript<Value>(dynamicMember path: KeyPath<More, Value>) -> Value { more[keyPath: path] }
}
