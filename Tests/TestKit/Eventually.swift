// SPDX-License-Identifier: Apache-2.0

/// A condition that did not come true in time.
package struct TimedOut: Error, CustomStringConvertible {
  package var description: String
}

/// Waits until a condition holds.
///
/// Time in which nobody looked does not count: where a thousand tests share two threads, a test may be
/// held up between two looks for longer than the limit. The longer it takes, the less often it looks: a look may run a
/// program, and what is waited for needs the processor, too.
///
/// - Throws: `TimedOut` with `what` and the time, when it does not within the limit.
package func eventually(
  within limit: Duration = .seconds(60), _ what: String = "the condition",
  _ condition: () async throws -> Bool
) async throws {
  let longestPause = Duration.milliseconds(250)
  var waited = Duration.zero
  var looked = ContinuousClock.now
  while try await !condition() {
    guard waited < limit else {
      throw TimedOut(description: "\(what) did not hold within \(limit)")
    }
    try await Task.sleep(for: max(.milliseconds(2), min(waited / 8, .milliseconds(25))))
    let now = ContinuousClock.now
    waited += min(now - looked, longestPause)
    looked = now
  }
}
