// SPDX-License-Identifier: Apache-2.0

import Broker
import Foundation
import TestKit
import Testing
import ThreadDataset

/// Events as JSON, and how a refused one is looked at.
enum Samples {
  static let agent = "a1b2c3d4e5f60718"

  static func payload(_ fields: [String: Any]) throws -> [UInt8] {
    Array(try JSONSerialization.data(withJSONObject: fields))
  }

  /// A sound payload of a kind with some fields set otherwise.
  static func payload(_ kind: InboundEventKind, _ changes: [String: Any] = [:]) throws -> [UInt8] {
    var fields: [String: Any] = ["border_agent_id": agent]
    if kind == .dataset || kind == .credentials {
      fields["dataset"] = try SampleNetwork.home.dataset(at: 1).hex
    }
    if kind == .ssid { fields["ssid"] = "attic" }
    return try payload(fields.merging(changes) { $1 })
  }

  static func decode(_ text: String, as kind: InboundEventKind = .announce) throws(Rejection)
    -> InboundEvent
  {
    try InboundEventDecoder().decode(Array(text.utf8), as: kind)
  }

  /// The rejection of a payload that must be refused.
  static func rejection(
    of payload: [UInt8], as kind: InboundEventKind = .announce,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Rejection {
    try #require(
      #expect(throws: Rejection.self, sourceLocation: sourceLocation) {
        try InboundEventDecoder().decode(payload, as: kind)
      }, sourceLocation: sourceLocation)
  }

  static func rejection(
    of text: String, as kind: InboundEventKind = .announce,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Rejection {
    try rejection(of: Array(text.utf8), as: kind, sourceLocation: sourceLocation)
  }

  /// Everything that a rejection can show to anybody.
  static func texts(of rejection: Rejection) -> String {
    var dumped = ""
    dump(rejection, to: &dumped)
    return "\(rejection) \(String(reflecting: rejection)) \(dumped)"
  }
}
