// SPDX-License-Identifier: Apache-2.0

/// Questions to the person at the daemon's terminal, where there is one. Whoever starts the daemon has it.
package protocol LoginPrompt: Sendable {
  /// Whether there is a person to ask now.
  var isPossible: Bool { get }

  /// Asks for one line. Cancellation ends the question.
  ///
  /// - Parameter isHidden: what is typed is not shown.
  /// - Returns: nil at the end of the input.
  func ask(_ question: String, isHidden: Bool) async throws -> String?

  func say(_ text: String)
}
