// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol
import MosquittoClient

/// threadkeeper's answer to an event, as `EventAnswer` writes it.
package struct EventOutcome: Equatable, Sendable {
  /// Bytes of an answer, and levels of its JSON; threadkeeper's have hundreds, and two.
  private static let limit = 64 << 10
  private static let nesting = 8

  let kind: InboundEventKind
  /// The event's own.
  let token: UInt64
  /// Of a rejection; nil when it was acted upon.
  var code: String?
  var field: String?
  var message: String?

  /// - Returns: nil for what is no answer to an event.
  init?(_ answer: IncomingMessage) {
    let words = String(decoding: answer.correlationData ?? [], as: UTF8.self).split(separator: " ")
    guard answer.payload.count <= Self.limit, words.count == 2,
      let kind = InboundEventKind(rawValue: String(words[0])), let token = UInt64(words[1]),
      let status = Self.text("status", in: answer.payload)
    else { return nil }
    self.kind = kind
    self.token = token
    guard status != "ok" else { return }
    let error = UntrustedJSON.value(of: "error", in: answer.payload, depth: Self.nesting) ?? []
    code = Self.text("code", in: error) ?? "unknown"
    field = Self.text("field", in: error)
    message = Self.text("message", in: error)
  }

  private static func text(_ name: String, in object: [UInt8]) -> String? {
    UntrustedJSON.value(of: name, in: object, depth: Self.nesting)
      .flatMap { RESTValue(reading: $0).text }
  }
}
