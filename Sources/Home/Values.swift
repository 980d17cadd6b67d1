import ThreadDataset

/// Milliseconds since 1970-01-01T00:00:00Z. Time comes into a home with each input; it has no clock.
package struct WireTime: Hashable, Comparable, Sendable {
  package let milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  package static func < (a: WireTime, b: WireTime) -> Bool { a.milliseconds < b.milliseconds }

  /// The last or first time there is, where there is no such time.
  package func adding(seconds: Int) -> WireTime {
    let (product, isTooLong) = Int64(seconds).multipliedReportingOverflow(by: 1_000)
    let (sum, isTooFar) = milliseconds.addingReportingOverflow(product)
    guard isTooLong || isTooFar else { return WireTime(milliseconds: sum) }
    return WireTime(milliseconds: seconds < 0 ? .min : .max)
  }

  /// Whole seconds since 1970; 0 before.
  var seconds: UInt64 { UInt64(max(0, milliseconds / 1_000)) }
}

/// A login of the broker, a team, or another name that counts byte by byte. To Swift an accented letter equals its two
/// parts; to the broker they are two users.
package struct ExactName: Sendable {
  package let text: String

  package init(_ text: String) { self.text = text }
}

// Names are compared with each message. Native strings lend their bytes, while `withUTF8` needs a mutable copy; what
// follows `??` is for strings that are not contiguous.
extension ExactName: Hashable, Comparable {
  package static func == (a: ExactName, b: ExactName) -> Bool {
    let isSame = a.text.utf8.withContiguousStorageIfAvailable { a in
      b.text.utf8.withContiguousStorageIfAvailable { b in
        UnsafeRawBufferPointer(a).hasBytes(of: UnsafeRawBufferPointer(b))
      }
    }
    return isSame.flatMap(\.self) ?? a.text.utf8.elementsEqual(b.text.utf8)
  }

  package static func < (a: ExactName, b: ExactName) -> Bool {
    let isBefore = a.text.utf8.withContiguousStorageIfAvailable { a in
      b.text.utf8.withContiguousStorageIfAvailable { a.lexicographicallyPrecedes($0) }
    }
    return isBefore.flatMap(\.self) ?? a.text.utf8.lexicographicallyPrecedes(b.text.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    var copy = text
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  package func _rawHashValue(seed: Int) -> Int {
    text.utf8.withContiguousStorageIfAvailable { TableHash.mix(UnsafeRawBufferPointer($0), seed: seed) }
      ?? Array(text.utf8).withUnsafeBytes { TableHash.mix($0, seed: seed) }
  }
}

extension UnsafeRawBufferPointer {
  /// Eight at a time.
  fileprivate func hasBytes(of other: Self) -> Bool {
    guard count == other.count else { return false }
    var offset = 0
    while offset + 8 <= count {
      let mine = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard mine == other.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
      offset += 8
    }
    while offset < count {
      guard self[offset] == other[offset] else { return false }
      offset += 1
    }
    return true
  }
}

extension ExactName: ExpressibleByStringLiteral { package init(stringLiteral text: String) { self.init(text) } }

extension BorderAgentID: Comparable {
  /// By their bytes.
  public static func < (a: Self, b: Self) -> Bool { a.numbers < b.numbers }
}

extension ExtendedPANID: Comparable {
  /// By their numbers.
  public static func < (a: Self, b: Self) -> Bool { a.number < b.number }
}

/// 16 bytes of a keyed hash: equal ones stand for equal secrets, and say nothing of them.
package struct Hash128: Hashable, Sendable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64 = 0, low: UInt64 = 0) {
    self.high = high
    self.low = low
  }

  package func _rawHashValue(seed: Int) -> Int { TableHash.mix(high, low, seed: seed) }
}

/// Why a border router is offline.
package enum OfflineReason: UInt8, Hashable, Sendable, CaseIterable {
  /// Thread was stopped on it.
  case stopped = 1
  /// Nothing accepts connections where its agent should be.
  case unreachable
  /// Its agent accepts connections and does not answer.
  case frozen
  /// On its own machine, a program of another user than its agent's listens in its place.
  case untrusted
  /// Its agent can be reached; it has no dataset, so it is on no network: it is new, or has lost it.
  case noNetwork = 6
  /// What answers there is an error, or not what a border router answers.
  case failing = 7
  /// Its heartbeats stopped. Found by the home, not reported.
  case silent = 5
}

/// The state of a border router's Thread interface, as `/node/state` of an OpenThread Border Router names it.
package enum ThreadState: UInt8, Hashable, Sendable, CaseIterable {
  case disabled = 1
  /// It looks for its network.
  case detached
  case child
  case router
  case leader

  /// Whether the router takes part in a network.
  package var isAttached: Bool { self != .disabled && self != .detached }
}

/// What is stored for a border router.
package enum CredentialState: UInt8, Hashable, Sendable, CaseIterable {
  /// The dataset that it reported last.
  case stored = 1
  /// None: it announced itself without a dataset, or was only seen.
  case missing = 0
  /// A dataset that is newer than the one that it reported last.
  case stale = 2
  /// A dataset of the same age that differs from the one that it reported last.
  case conflict
  /// None of its own. It was only seen, on the preferred network, whose credentials came from somebody else.
  case shared
  /// The dataset that it reported last, which is not complete.
  case partial

  /// Of what is stored as it was reported.
  init(_ dataset: DatasetSummary?) { self = dataset.map { $0.isComplete ? .stored : .partial } ?? .missing }
}

/// Who describes a border router.
package enum RouterSource: UInt8, Hashable, Sendable, CaseIterable {
  /// A login of the broker has announced it. What it says wins over its record on the local network.
  case mqtt
  /// Its record on the local network alone, which anybody there can publish.
  case mdns
}

/// Recognizes repetitions by the sequence numbers or ids of one user and router: a high-water mark and the 64
/// numbers below it, or the last eight ids.
package struct SequenceWindow: Hashable, Sendable {
  /// How a repetition is recognized. Without it nothing is deduplicated.
  package enum Order: Hashable, Sendable {
    case none
    /// Rises for this user and router.
    case number(UInt64)
    /// Any text, unique among the last eight of this user and router.
    case identifier(ExactName)
  }

  package enum Verdict: Hashable, Sendable {
    case news
    /// Came before. Brokers and routers repeat themselves; that is no fault.
    case duplicate
    /// Overtaken by a later one: acting upon it would turn time back.
    case outOfOrder
  }

  static let identifiersKept = 8

  package internal(set) var high: UInt64?
  /// Bit n: the number `high - n` has come.
  package internal(set) var seen: UInt64 = 0
  package internal(set) var identifiers: [ExactName] = []

  var isEmpty: Bool { high == nil && identifiers.isEmpty }

  /// Whether a message has no number, or a higher one than all before.
  func rises(with order: Order) -> Bool {
    switch order {
    case .none: true
    case .number(let number): high.map { number > $0 } ?? true
    case .identifier: false
    }
  }

  /// Notes the number or id.
  mutating func take(_ order: Order) -> Verdict {
    switch order {
    case .none: return .news
    case .number(let number): return take(number)
    case .identifier(let identifier):
      if identifiers.contains(identifier) { return .duplicate }
      if identifiers.count == Self.identifiersKept { identifiers.removeFirst() }
      identifiers.append(identifier)
      return .news
    }
  }

  private mutating func take(_ number: UInt64) -> Verdict {
    guard let mark = high else {
      (high, seen) = (number, 1)
      return .news
    }
    if number > mark {
      let step = number - mark
      seen = step < 64 ? seen << step | 1 : 1
      high = number
      return .news
    }
    let distance = mark - number
    guard distance < 64 else { return .outOfOrder }
    if seen & (1 << distance) != 0 { return .duplicate }
    seen |= 1 << distance
    return .outOfOrder
  }
}

/// A large value that lies apart: what holds it is copied without it, and several may share it.
@propertyWrapper package struct Apart<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var box: Box

  package init(wrappedValue: Value) { box = Box(wrappedValue) }

  package var wrappedValue: Value {
    get { box.value }
    set { box = Box(newValue) }
  }
}

extension Apart: Equatable where Value: Equatable {
  package static func == (a: Self, b: Self) -> Bool { a.box === b.box || a.box.value == b.box.value }
}

extension Apart: Hashable where Value: Hashable {
  package func hash(into hasher: inout Hasher) { hasher.combine(box.value) }
}

/// The same for a value that is mostly absent.
@propertyWrapper package struct Boxed<Value: Sendable>: Sendable {
  private var box: Apart<Value>?

  package init() {}

  package init(wrappedValue: Value?) { box = wrappedValue.map { Apart(wrappedValue: $0) } }

  /// Without a copy of the value.
  package var isAbsent: Bool { box == nil }

  package var wrappedValue: Value? {
    get { box?.wrappedValue }
    set { box = newValue.map { Apart(wrappedValue: $0) } }
  }

  /// The box as it is, for who only passes it on.
  package var projectedValue: Self {
    get { self }
    set { self = newValue }
  }
}

extension Boxed: Equatable where Value: Equatable {}

extension Boxed: Hashable where Value: Hashable {}
