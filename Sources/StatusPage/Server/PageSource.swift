// SPDX-License-Identifier: Apache-2.0

/// What the daemon has to say.
package protocol PageSource: Sendable {
  /// From memory: it is asked for often, and also when the disk hangs.
  var readiness: Readiness { get }

  /// Reads the disk, so it takes a thread of its own. What cannot be read is left out.
  func metrics() async -> [Metric]

  /// What the page shows, as JSON without a line end and without secrets; nil where it cannot be read now. Equal for as
  /// long as there is nothing new to show.
  func state() async -> [UInt8]?

  /// - Returns: one sentence that says what is done.
  /// - Throws: `PageRefusal`.
  func make(_ change: PageChange) async throws -> String
}
