// SPDX-License-Identifier: Apache-2.0

import BoundedJSON

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
