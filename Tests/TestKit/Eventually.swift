// SPDX-License-Identifier: Apache-2.0

/// A condition that did not come true in time.
package struct TimedOut: Error, CustomStringConvertible {
  package var description: String
}

/// Waits until a condition holds.
///
/// - Throws: `TimedOut` with `what` and the time, when it does not within the limit.
package func eventually(
  within limit: Duration = .seconds(60), _ what: String = "the condition",
  _ condition: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while try await !condition() {
    guard ContinuousClock.now < deadline else {
      throw TimedOut(description: "\(what) did not hold within \(limit)")
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}
