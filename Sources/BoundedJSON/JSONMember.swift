// SPDX-License-Identifier: Apache-2.0

/// A member of an object. Valid during the call that it is passed to.
package struct JSONMember {
  package enum Value {
    case string(JSONString)
    case number(JSONNumber)
    case bool(Bool)
    case null
    /// An object or an array.
    case nested
  }

  package let name: JSONString
  package let value: Value
  /// The bytes of the value, without white space around them.
  package let source: UnsafeBufferPointer<UInt8>
}
