// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol

/// The payload of one message, for all rules that read it: each form of it is made once, when it is needed.
struct IngestPayload {
  /// Levels of objects and arrays within each other.
  static let depth = InboundLimits.nesting

  let bytes: [UInt8]
  private var tree: Result<JSONTree, IngestFlaw>?

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isTooLarge: Bool { bytes.count > InboundLimits.payloadBytes }

  /// The payload as it is.
  func text() throws(IngestFlaw) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw IngestFlaw("the payload is not UTF-8 text")
    }
    return text
  }

  /// The payload as JSON.
  mutating func json() throws(IngestFlaw) -> JSONTree {
    let tree = tree ?? Self.read(bytes)
    self.tree = tree
    return try tree.get()
  }

  private static func read(_ bytes: [UInt8]) -> Result<JSONTree, IngestFlaw> {
    do throws(JSONFlaw) {
      return .success(
        try UntrustedJSON.tree(of: bytes, depth: InboundLimits.nesting, skipsByteOrderMark: true))
    } catch {
      let what =
        switch error.reason {
        case .syntax: "the payload is not JSON"
        case .tooDeep: "the payload is nested more than \(InboundLimits.nesting) deep"
        case .notUTF8: "the payload is not UTF-8 text"
        }
      return .failure(
        IngestFlaw("\(what), from byte \(error.offset) on", offset: error.offset))
    }
  }
}
