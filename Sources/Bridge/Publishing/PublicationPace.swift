/// Lets the intake go first: while full batches come in one after another, publications are given out in small
/// portions, and the rest follows when the burst is over.
struct PublicationPace {
  private static let share = 50

  private let fullBatch: Int
  private let portion: Int
  private var isBurst = false
  private var credit = 0
  private var cameSinceLook = false

  /// - Parameters:
  ///   - fullBatch: messages of a batch that is followed by another at once.
  ///   - portion: publications for each such batch; for a large one, one for each `share` messages.
  init(fullBatch: Int, portion: Int) {
    self.fullBatch = fullBatch
    self.portion = portion
  }

  mutating func batchCommitted(messages: Int) {
    let portion = max(portion, messages / Self.share)
    isBurst = messages >= fullBatch
    cameSinceLook = true
    credit = min(credit + portion, max(credit, 4 * portion))
  }

  /// The burst is over if nothing came since the last look.
  mutating func look() {
    if !cameSinceLook { isBurst = false }
    cameSinceLook = false
  }

  mutating func allowed(_ limit: Int) -> Int {
    guard isBurst else { return limit }
    let allowed = min(limit, credit)
    credit -= allowed
    return allowed
  }
}
