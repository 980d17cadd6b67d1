/// What monitoring draws as distributions, since the start.
package struct BridgeFigures: Sendable {
  /// Of a transaction, from its beginning to the end of its COMMIT, in seconds.
  package let commit = Histogram([0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5])
  /// Messages of one transaction of the intake.
  package let batch = Histogram([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000])
  /// From an event to the broker's acknowledgement of all that is published of it, in seconds.
  package let publish = Histogram([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300])
  /// Of a call of the local API, by its method, in seconds. What asks a person takes as long as that person.
  package let localCalls = HistogramFamily([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60])

  init() {}
}
