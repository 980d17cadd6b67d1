// SPDX-License-Identifier: Apache-2.0

/// An answer that says nothing: another status than expected, or another form.
package struct RESTFlaw: Error, Equatable, Sendable, CustomStringConvertible {
  /// One sentence that repeats nothing of the answer.
  package let description: String

  package init(_ description: String) { self.description = description }
}
