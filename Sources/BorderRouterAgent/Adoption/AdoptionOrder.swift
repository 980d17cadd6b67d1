import Broker
import Glibc
import Home
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// What a person has agreed to: the dataset that this router shall use. See docs/reference/mqtt-protocol.md, Adoption.
struct AdoptionOrder: Equatable, Sendable {
  /// The same message may come more than once.
  let id: String
  let agent: BorderAgentID
  /// Complete, and active.
  let dataset: OperationalDataset
  /// Of its envelope, in Unix seconds.
  let issuedAt: Int64
  let expiresAt: Int64

  /// Why a message is not acted upon. Shows nothing of it.
  struct Refusal: Error, Equatable, Sendable, CustomStringConvertible { let description: String }
}

extension AdoptionOrder {
  /// Opens a message on `out/<user>/dataset/set`.
  ///
  /// - Parameter now: Unix seconds.
  /// - Throws: `Refusal`: not sealed, not signed by the daemon that `keys` names, expired, for another topic, or
  ///   without a complete active dataset.
  init(_ message: IncomingMessage, keys: AgentKeys, now: Int64) throws(Refusal) {
    var opened = try OpenedEnvelope(order: message, keys: keys, now: now)
    defer { wipe(&opened.body) }
    try self.init(reading: opened)
  }

  private init(reading opened: OpenedEnvelope) throws(Refusal) {
    guard let order = try? SealedOrder(reading: opened.body), let id = order.id, opened.order == .identifier(id),
      let expiresAt = opened.expiresAt, let agent = order.agent, let bytes = order.dataset?.bytes
    else { throw Refusal(description: "a field is missing or differs from the envelope") }
    do throws(DatasetError) {
      let dataset = try OperationalDataset(bytes: bytes)
      try dataset.requireComplete()
      guard dataset.kind == .complete else {
        throw DatasetError(code: .badValue, type: nil, offset: 0, message: "it is a pending one")
      }
      self.init(id: id, agent: agent, dataset: dataset, issuedAt: opened.issuedAt, expiresAt: expiresAt)
    } catch { throw Refusal(description: "its dataset: \(error.message)") }
  }
}

extension OpenedEnvelope {
  /// What the daemon orders. Wipe the body when it is read.
  ///
  /// - Parameter now: Unix seconds.
  init(order message: IncomingMessage, keys: AgentKeys, now: Int64) throws(AdoptionOrder.Refusal) {
    guard !message.isRetained else { throw .init(description: "it is a retained message") }
    guard message.payload.count <= 2 * Envelope.limit, let payload = try? SealedPayload(reading: message.payload) else {
      throw .init(description: "it is not sealed")
    }
    do throws(EnvelopeRefusal) {
      self = try Envelope.open(payload.sealed, with: keys.own, from: [keys.daemon], topic: message.topic, now: now)
    } catch { throw .init(description: "\(error.rawValue): \(error.message)") }
  }
}

/// How a router whose move has failed gets back to what it was, one request at a time.
enum AdoptionRestoration {
  /// What is to be done next, seen what the router is now; nil: nothing.
  static func step(
    from report: RouterReport, to before: RouterReport, without new: OperationalDataset, isGivenBack: Bool,
    hasEnabled: Bool
  ) -> HTTPRequest? {
    let isStopped = report.state == .disabled
    if !isGivenBack, report.hasNew(new, besides: before) {
      guard isStopped else { return .setThread(enabled: false) }
      return before.active.map { .setActive($0) }
    }
    if before.state == .disabled {
      // Something else may have started it meanwhile.
      return hasEnabled && !isStopped ? .setThread(enabled: false) : nil
    }
    return isStopped ? .setThread(enabled: true) : nil
  }

  /// What a router needs on which an earlier run of this agent has disabled Thread, and has died: with the dataset that
  /// it had, or with the one that a person has agreed to. Nil: nothing; without a dataset it cannot run.
  static func step(afterDeath report: RouterReport) -> HTTPRequest? {
    report.state == .disabled && !report.hasNoNetwork ? .setThread(enabled: true) : nil
  }
}

extension RouterReport {
  /// Whether it has the dataset that it was given, and not the one that it had.
  func hasNew(_ new: OperationalDataset, besides before: RouterReport) -> Bool {
    guard let active, active.essentialDifferences(from: new).isEmpty else { return false }
    return !active.hasSameTLVs(as: before.active)
  }
}

/// Which of the orders that a router is sent is carried out, and when. Pure.
///
/// The daemon sends the same order again: when it has started, when it has a new connection, and when the envelope has
/// expired. A broker, or whoever records its messages, may do so at any time. So each id is remembered until the last
/// envelope that named it has expired, nothing older than what was begun last is begun, and an order that does not
/// work is tried `tries` times. One that comes during another waits; of several the newest one.
struct OrderBook: Sendable {
  enum Verdict: Equatable, Sendable {
    /// It waits for the router, or for the end of another one.
    case waits
    /// It is being carried out, or waits already.
    case isKnown
    /// It has been carried out; its answer may have been lost.
    case isDone
    case refused(String)
  }

  enum Next: Equatable, Sendable {
    case nothing
    case order(AdoptionOrder)
    /// Not begun any more, and why.
    case dropped(AdoptionOrder, String)
  }

  private struct Entry {
    var expiresAt: Int64
    var tries = 0
    var isDone = false
  }

  /// How often one order is begun.
  static let tries = 3
  private static let late = "it has expired"

  private var entries: [String: Entry] = [:]
  /// Of the order that was begun last.
  private var lastIssued = Int64.min
  /// And since when, by the caller's monotonic clock.
  private var waiting: (order: AdoptionOrder, since: Duration)?
  private(set) var current: AdoptionOrder?
  /// The one that is begun next, where it may be.
  var next: AdoptionOrder? { current == nil ? waiting?.order : nil }

  /// - Parameters:
  ///   - time: Unix seconds.
  ///   - now: from any origin, never falling.
  mutating func take(_ order: AdoptionOrder, time: Int64, at now: Duration) -> Verdict {
    entries = entries.filter { $0.value.expiresAt >= time }
    guard order.expiresAt > time else { return .refused(Self.late) }
    guard order.issuedAt >= lastIssued else { return .refused("it is older than the one that was begun last") }
    if let waiting, order.issuedAt < waiting.order.issuedAt { return .refused("it is older than the one that waits") }
    var entry = entries[order.id] ?? Entry(expiresAt: order.expiresAt)
    entry.expiresAt = max(entry.expiresAt, order.expiresAt)
    entries[order.id] = entry
    guard !entry.isDone else { return .isDone }
    guard current?.id != order.id, waiting?.order != order else { return .isKnown }
    guard entry.tries < Self.tries else { return .refused("it has been tried \(Self.tries) times") }
    waiting = (order, now)
    return .waits
  }

  /// What is begun now, if anything. Right before the first request, because an order lives for minutes.
  mutating func next(time: Int64, at now: Duration) -> Next {
    guard current == nil, let (order, since) = waiting else { return .nothing }
    waiting = nil
    // The second one where the clock was set back.
    guard order.expiresAt > time, now - since < .seconds(Envelope.longestLifetime) else {
      return .dropped(order, Self.late)
    }
    guard order.issuedAt >= lastIssued else { return .dropped(order, "a newer one was begun") }
    lastIssued = order.issuedAt
    entries[order.id, default: Entry(expiresAt: order.expiresAt)].tries += 1
    current = order
    return .order(order)
  }

  /// The one that waits is not begun.
  mutating func dropNext() { waiting = nil }

  /// The current one has ended.
  mutating func end(isDone: Bool) {
    guard let order = current else { return }
    current = nil
    entries[order.id]?.isDone = isDone
  }
}

/// On which routers this agent has disabled Thread for an adoption. When it dies before it has enabled Thread again,
/// its next run does that.
///
/// A file without content for each: it is there whole, or not at all.
package struct AdoptionNotes: Sendable {
  private let path: String

  /// - Parameter path: with which the paths of the files begin; the id of a router follows.
  package init(path: String) { self.path = path }

  func contains(_ agent: BorderAgentID) -> Bool { access(file(agent), F_OK) == 0 }

  /// - Returns: nil when it is on the disk; else why not.
  func add(_ agent: BorderAgentID) -> String? {
    let descriptor = open(file(agent), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return String(cString: strerror(errno)) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { return String(cString: strerror(errno)) }
    FilePath.syncDirectory(FilePath.directory(of: path))
    return nil
  }

  func remove(_ agent: BorderAgentID) {
    if unlink(file(agent)) == 0 { FilePath.syncDirectory(FilePath.directory(of: path)) }
  }

  private func file(_ agent: BorderAgentID) -> String { "\(path)-\(agent)" }
}
