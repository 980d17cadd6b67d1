// SPDX-License-Identifier: Apache-2.0

import BoundedJSON
import BridgeProtocol
import ThreadDataset

/// A single JSON value: a text, a whole number, or something else.
enum RESTValue: Equatable {
  case text(String)
  case number(UInt64)
  case other

  init(_ value: JSONMember.Value) {
    switch value {
    case .string(let string): self = string.text.map { .text($0) } ?? .other
    case .number(let number): self = number.unsigned.map { .number($0) } ?? .other
    default: self = .other
    }
  }

  /// - Parameter body: a JSON text such as `"leader"`, with white space around it.
  init(reading body: [UInt8]) {
    var result = Self.other
    // As a member, since only those are handed out.
    let wrapped = Array(#"{"v":"#.utf8) + body + Array("}".utf8)
    var count = 0
    let isObject = try? UntrustedJSON.readMembers(of: wrapped, depth: OTBRNode.nesting) {
      count += 1
      result = Self($0.value)
    }
    self = isObject == true && count == 1 ? result : .other
  }

  var text: String? { if case .text(let text) = self { text } else { nil } }

  /// 16 hex digits, in lower case.
  var extendedAddress: String? {
    guard let text, text.utf8.count == 16, let id = BorderAgentID(hex: text) else { return nil }
    return id.description
  }

  /// Old versions have its number.
  var threadState: ThreadState? {
    switch self {
    case .text(let text): ThreadState(rawValue: text.lowercased())
    case .number(let number) where number < ThreadState.allCases.count:
      ThreadState.allCases[Int(number)]
    default: nil
    }
  }
}
