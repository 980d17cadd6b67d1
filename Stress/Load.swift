/// Work that many threads do on one thing.
protocol Load: Sendable {
  /// One operation, or a few that belong together.
  func step(thread: Int, _ random: inout SystemRandomNumberGenerator, _ journal: Journal)

  /// Looks whether all is well in the end.
  func finish(_ journal: Journal)
}
