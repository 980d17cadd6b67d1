/// What has happened in a home by one input, as it lies in the store until it is published: a sixth of the bytes of the
/// messages that are made of it then. Its form is that of records.
package struct StoredEvents: Equatable, Sendable {
  /// The name of the home.
  package let home: String
  package let time: WireTime
  package let events: [HomeEvent]

  package init(_ events: [HomeEvent], in home: String, at time: WireTime) {
    (self.home, self.time, self.events) = (home, time, events)
  }

  /// - Parameter first: a byte in front of them, which says what they are.
  package func bytes(after first: UInt8) -> [UInt8] {
    var coder = RecordCoder()
    coder.write(byte: first)
    home.write(to: &coder)
    time.write(to: &coder)
    events.write(to: &coder)
    return coder.bytes
  }

  /// - Parameter bytes: with the one in front.
  /// - Throws: for what this version cannot have written.
  package init(_ bytes: [UInt8]) throws(RecordError) {
    var coder = RecordCoder(bytes)
    _ = try coder.readByte()
    // One by one: how parts are read together is found out by their types each time.
    home = try coder(nil)
    time = try coder(nil)
    events = try coder(nil)
    try coder.end()
  }
}

extension HomeEvent: RecordedByForm {
  private static let router: UInt8 = 1

  // Most are of routers, and are written and read without a look at the other cases.

  func write(to coder: inout RecordCoder) {
    guard case .router(let event) = self else {
      _ = try? Self.form(&coder, self)
      return
    }
    coder.write(byte: Self.router)
    event.write(to: &coder)
  }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self {
    coder.reads(router) ? .router(try .read(from: &coder)) : try form(&coder, nil)
  }

  static let form = choice(
    .init(router, Self.router) { if case .router(let event) = $0 { event } else { nil } },
    .init(2, { Self.alert($0, $1, $2, previousSeverity: $3) }) {
      if case .alert(let key, let alert, let news, let severity) = $0 { (key, alert, news, severity) } else { nil }
    }, .init(3, Self.asked) { if case .asked(let question) = $0 { question } else { nil } },
    .init(4, Self.decided) { if case .decided(let record) = $0 { record } else { nil } },
    .init(5, Self.notGiven) { if case .notGiven(let record) = $0 { record } else { nil } },
    .init(6, Self.adoptionChanged) { if case .adoptionChanged(let agent) = $0 { agent } else { nil } },
    .init(7, Self.forgotten) { if case .forgotten(let agent) = $0 { agent } else { nil } })
}

extension Alert.News: Recorded {}
extension AlertSeverity: Recorded {}

extension RouterEvent: RecordedByFields {
  static var blank: Self { Self() }

  mutating func fields(_ coder: inout RecordCoder) throws(RecordError) {
    try coder(&types)
    try coder(&router)
    try coder(&routerName)
    try coder(&routerNeedsID)
    try coder(&user)
    try coder(&network)
    try coder(&differs)
    try coder(&previousNetwork)
    try coder(&isConflict)
    try coder(&ssid)
    try coder(&previousSSID)
    try coder(&check)
    try coder(&consent)
    try coder(&isByGrant)
    try coder(&isLastOfPreferred)
    try coder(&isRemoved)
    try coder(&isFirstNetwork)
  }
}

extension RouterEvent.Types: Recorded {
  func write(to coder: inout RecordCoder) { rawValue.write(to: &coder) }

  static func read(from coder: inout RecordCoder) throws(RecordError) -> Self { try Self(rawValue: coder(nil)) }
}

extension PreferredCheck: RecordedByForm {
  static let form = choice(
    plain: [0: .none, 1: .match], .init(2, Self.mismatch) { if case .mismatch(let found) = $0 { found } else { nil } },
    .init(3, Self.stale) { if case .stale(let found) = $0 { found } else { nil } },
    .init(4, Self.conflict) { if case .conflict(let found) = $0 { found } else { nil } })
}
