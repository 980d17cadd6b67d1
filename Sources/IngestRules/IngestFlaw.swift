// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a rule, in words that follow the key's name, or with a payload.
package struct IngestFlaw: Error, Equatable {
  package let message: String
  /// Bytes from the start of the payload.
  package let offset: Int?

  package init(_ message: String, offset: Int? = nil) {
    self.message = message
    self.offset = offset
  }
}
