/// Notices that the store has come to rest after some work: then the memory that the work needed is given
/// back, once.
///
///     more than `few` rows changed since the last tick   -> wait again
///     `ticks` ticks with few changes                     -> rests, once
struct RestWatch {
  /// Of one second each. A pause between two bursts is mostly shorter, or much longer.
  static let ticks = 3
  /// Rows: the signs of life of a home, and what the daemon notes about its own publications, are no work.
  static let few = 100

  private var changes: Int?
  private var quiet = 0

  /// - Parameter changes: rows that were changed since the store was opened.
  /// - Returns: whether this is the tick at which the memory is given back.
  mutating func tick(changes: Int) -> Bool {
    let isBusy = self.changes.map { changes - $0 > Self.few } ?? true
    self.changes = changes
    guard !isBusy else {
      quiet = 0
      return false
    }
    guard quiet < Self.ticks else { return false }
    quiet += 1
    return quiet == Self.ticks
  }
}
