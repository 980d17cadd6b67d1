// SPDX-License-Identifier: Apache-2.0

/// A request for consent and what is to be said of it, read as one and written as one JSON object.
@dynamicMemberLookup
package struct ConsentEntry<More: Codable & Sendable>: Codable, Sendable {
  package var request: ConsentReport.Request
  package var more: More

  package init(request: ConsentReport.Request, more: More) {
    self.request = request
    self.more = more
  }

  package init(from decoder: any Decoder) throws {
    request = try ConsentReport.Request(from: decoder)
    more = try More(from: decoder)
  }

  package func encode(to encoder: any Encoder) throws {
    try request.encode(to: encoder)
    try more.encode(to: encoder)
  }

  package subscript<Value>(dynamicMember path: KeyPath<ConsentReport.Request, Value>) -> Value {
    request[keyPath: path]
  }

  package subscript<Value>(dynamicMember path: KeyPath<More, Value>) -> Value {
    more[keyPath: path]
  }
}
