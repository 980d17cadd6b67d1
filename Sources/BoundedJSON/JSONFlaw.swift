// SPDX-License-Identifier: Apache-2.0

/// Why bytes are not JSON that may be read, and where.
package struct JSONFlaw: Error, Equatable {
  package enum Reason: Sendable {
    /// Not the grammar of RFC 8259.
    case syntax
    /// Objects and arrays are nested deeper than allowed.
    case tooDeep
    /// Not UTF-8 (RFC 8259, section 8.1).
    case notUTF8
  }

  package let reason: Reason
  /// Bytes from the start to the first one that can't be there, or to the end where more has to come.
  package let offset: Int

  package init(reason: Reason, offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}
