/// What was handed out and the broker has not acknowledged, by tokens, which are given one after the other. Mostly they
/// come back in that order.
struct UnderWay {
  enum Item {
    case state(RetainedPlace)
    /// A message of a stored row.
    case message(row: Int64)
  }

  /// So many that came back are forgotten together.
  private static let piece = 256

  /// Without those that came back.
  private var items: [Item?] = []
  /// All before it came back.
  private var head = 0
  /// The token of the first item.
  private var first: UInt64 = 1

  /// The token of the next one.
  var next: UInt64 { first + UInt64(items.count) }

  /// - Returns: its token.
  mutating func add(_ item: Item) -> UInt64 {
    defer { items.append(item) }
    return next
  }

  /// - Returns: nil for a token that is none of these, or came back before.
  mutating func remove(_ token: UInt64) -> Item? {
    guard first <= token, token < next else { return nil }
    let place = Int(token - first)
    guard let item = items[place] else { return nil }
    items[place] = nil
    while head < items.count, items[head] == nil { head += 1 }
    if head == items.count || head >= Self.piece { forget(head) }
    return item
  }

  /// Nothing more comes back.
  ///
  /// - Returns: the states that have not, in their order.
  mutating func removeAll() -> [RetainedPlace] {
    let places = items.compactMap { if case .state(let place)? = $0 { place } else { nil } }
    forget(items.count)
    return places
  }

  private mutating func forget(_ count: Int) {
    items.removeFirst(count)
    first += UInt64(count)
    head = 0
  }
}
