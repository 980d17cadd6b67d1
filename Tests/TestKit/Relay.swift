import Foundation
import Synchronization

/// Stands between clients and a broker or a PostgreSQL, and does to what they send each other what networks do.
package final class Relay: Sendable {
  package enum Fault: Hashable, Sendable {
    /// What the daemon's intake sends is lost: the broker goes on delivering, and gets no acknowledgement.
    case lostAcknowledgements
    /// So many bytes more pass, in both directions together. Then all connections end, most likely inside a packet.
    case cut(after: Int)
    /// Nothing passes, and nobody learns of it; also new connections are taken. What was sent meanwhile comes when
    /// the fault is over.
    case blackHole
    /// Messages of the broker come twice, on connections that begin while the fault lasts.
    case duplicates
    /// A few bytes at a time.
    case slow
  }

  /// Where the connection of a commit to PostgreSQL ends.
  package enum CommitCut: CaseIterable, Sendable {
    /// It is sent whole; then both sides are cut, and nobody knows whether it was committed.
    case afterSending
    /// The server has answered, so it is committed; its answer is lost.
    case afterAnswer
    /// Its end is lost: it is not committed.
    case beforeEnd
  }

  package var port: UInt16 { listener.port }
  private let listener: FakeListener
  private let connect: @Sendable () -> Int32?
  private let isOfPostgres: Bool
  private let state = Mutex(State())

  private struct State {
    var fault: Fault?
    var descriptors: Set<Int32> = []
    var commitCut: CommitCut?
    var commitCuts = 0
    /// How many bytes of clients reach the server; nil: all.
    var clientBytesLeft: Int?
    var traffic = (turns: 0, bytes: 0)
    var isOfServer = true
  }

  /// - Parameter broker: its port.
  package convenience init(to broker: UInt16) throws {
    try self.init(isOfPostgres: false) { FakeListener.connect(to: broker) }
  }

  /// - Parameter socketPath: where PostgreSQL listens: `…/.s.PGSQL.5432`.
  package convenience init(toPostgres socketPath: String) throws {
    try self.init(isOfPostgres: true) { FakeListener.connect(to: socketPath) }
  }

  private init(isOfPostgres: Bool, _ connect: @escaping @Sendable () -> Int32?) throws {
    (self.isOfPostgres, self.connect) = (isOfPostgres, connect)
    listener = try FakeListener(backlog: 64)
    Thread.detachNewThread { [weak self, listener] in
      while let client = listener.accept(), let self { self.serve(client) }
    }
  }

  deinit {
    listener.close()
    hangUp()
  }

  /// From now on; nil: all works again.
  package func begin(_ fault: Fault?) { state.withLock { $0.fault = fault } }

  /// Nil while all works, and after a cut.
  package var fault: Fault? { state.withLock { $0.fault } }

  /// Ends all connections, and what was wrong with them; what is wrong with those that come afterwards is up to the caller.
  package func hangUp(then fault: Fault? = nil) {
    state.withLock { state in
      for descriptor in state.descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
      state.descriptors.removeAll()
      state.fault = fault
    }
  }

  /// Cuts the connection of the next commit.
  package func cutNextCommit(_ cut: CommitCut) { state.withLock { $0.commitCut = cut } }

  /// Commits that were cut so far.
  package var commitCuts: Int { state.withLock { $0.commitCuts } }

  /// From now on only so many bytes of clients reach the server. The connections stay, as if clients had lost power.
  package func stopClients(after bytes: Int) { state.withLock { $0.clientBytesLeft = bytes } }

  /// How often clients have sent something after an answer, and how many bytes.
  package func traffic(of body: () throws -> Void) rethrows -> (turns: Int, bytes: Int) {
    state.withLock { ($0.traffic, $0.isOfServer) = ((0, 0), true) }
    try body()
    return state.withLock { $0.traffic }
  }

  // MARK: Connections

  private final class Pair: Sendable {
    let client: Int32
    let server: Int32
    let doubler: PacketDoubler?
    /// Directions that are done, and whether the next answer is lost.
    let state = Mutex((done: 0, losesAnswer: false))

    init(_ client: Int32, _ server: Int32, _ doubler: PacketDoubler?) {
      (self.client, self.server, self.doubler) = (client, server, doubler)
    }
  }

  private func serve(_ client: Int32) {
    guard let server = connect() else {
      close(client)
      return
    }
    let pair = Pair(client, server, fault == .duplicates ? PacketDoubler() : nil)
    state.withLock { $0.descriptors.formUnion([client, server]) }
    Thread.detachNewThread { [self] in
      pumpFromServer(pair)
      finish(pair)
    }
    Thread.detachNewThread { [self] in
      pumpFromClient(pair)
      finish(pair)
    }
  }

  /// Both directions have to be done before the descriptors may go to somebody else.
  private func finish(_ pair: Pair) {
    // The server keeps what was stopped.
    if state.withLock({ $0.clientBytesLeft == nil }) {
      for descriptor in [pair.client, pair.server] { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    let isLast = pair.state.withLock { state in
      state.done += 1
      return state.done == 2
    }
    guard isLast else { return }
    for descriptor in [pair.client, pair.server] {
      state.withLock { _ = $0.descriptors.remove(descriptor) }
      close(descriptor)
    }
  }

  private func pumpFromServer(_ pair: Pair) {
    pump(from: pair.server, to: pair.client) { bytes in
      state.withLock { $0.isOfServer = true }
      // Its answer to a whole commit comes when all of it is done.
      if pair.state.withLock({ $0.losesAnswer }) { return ([], isLast: true) }
      return (pair.doubler?.fromBroker(bytes) ?? bytes, isLast: false)
    }
  }

  private func pumpFromClient(_ pair: Pair) {
    var isIntake: Bool?
    var commits = isOfPostgres ? CommitReader() : nil
    pump(from: pair.client, to: pair.server) { bytes in
      // The first bytes of a daemon name it.
      if isIntake == nil { isIntake = Data(bytes).range(of: Data("-intake".utf8)) != nil }
      if isIntake == true, fault == .lostAcknowledgements { return ([], isLast: false) }
      if let doubler = pair.doubler { return (doubler.fromDaemon(bytes), isLast: false) }
      let passing = bytes.prefix(passesOfClient(bytes.count))
      guard commits?.endsCommit(with: bytes) == true, let cut = takeCommitCut() else {
        return (Array(passing), isLast: false)
      }
      switch cut {
      case .afterSending: return (bytes, isLast: true)
      case .afterAnswer:
        pair.state.withLock { $0.losesAnswer = true }
        return (bytes, isLast: false)
      // A Sync has five bytes; what is before it, COMMIT too, is lost with it.
      case .beforeEnd: return (Array(bytes.prefix(bytes.count / 2)), isLast: true)
      }
    }
  }

  /// - Parameter change: what is sent in the place of what came, and whether the connection ends then.
  private func pump(from source: Int32, to sink: Int32, change: ([UInt8]) -> ([UInt8], isLast: Bool)) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      // Whoever sends meanwhile finds the way full after a while.
      while fault == .blackHole { usleep(2_000) }
      let count = read(source, &buffer, fault == .slow ? 64 : buffer.count)
      guard count > 0 else { return }
      while fault == .blackHole { usleep(2_000) }
      if fault == .slow { usleep(1_000) }
      let (bytes, isLast) = change(Array(buffer[..<count]))
      let passing = passes(bytes.count)
      guard Self.send(bytes[..<passing], to: sink), !isLast else { return }
      if passing < bytes.count { return hangUp() }
    }
  }

  /// How many of so many bytes pass before a cut.
  private func passes(_ count: Int) -> Int {
    state.withLock { state in
      guard case .cut(let left) = state.fault else { return count }
      state.fault = .cut(after: max(0, left - count))
      return min(left, count)
    }
  }

  private func passesOfClient(_ count: Int) -> Int {
    state.withLock { state in
      if state.isOfServer { state.traffic.turns += 1 }
      state.isOfServer = false
      state.traffic.bytes += count
      guard let left = state.clientBytesLeft else { return count }
      state.clientBytesLeft = max(0, left - count)
      return min(left, count)
    }
  }

  private func takeCommitCut() -> CommitCut? {
    state.withLock { state in
      guard let cut = state.commitCut else { return nil }
      state.commitCut = nil
      state.commitCuts += 1
      return cut
    }
  }

  private static func send(_ bytes: ArraySlice<UInt8>, to sink: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Foundation.send(sink, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return true
  }
}

/// Has each message with QoS 1 come twice on one connection, the second time marked as a duplicate, as after a lost
/// acknowledgement. The broker knows of one only, so it gets one acknowledgement.
private final class PacketDoubler: Sendable {
  private struct State {
    var fromBroker: [UInt8] = []
    var fromDaemon: [UInt8] = []
    /// Acknowledgements that are to be kept back, by packet identifier. The first one passes, the second one does not,
    /// and the broker may use the identifier again in between.
    var isSecond: Set<UInt16> = []
  }

  private let state = Mutex(State())

  func fromBroker(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { state in
      state.fromBroker += bytes
      var result: [UInt8] = []
      while let packet = FakePacket.take(from: &state.fromBroker) {
        result += packet.bytes()
        if packet.kind == .publish, packet.publishIdentifier != 0 { result += packet.bytes(isDuplicate: true) }
      }
      return result
    }
  }

  func fromDaemon(_ bytes: [UInt8]) -> [UInt8] {
    state.withLock { state in
      state.fromDaemon += bytes
      var result: [UInt8] = []
      while let packet = FakePacket.take(from: &state.fromDaemon) {
        guard packet.kind == .acknowledgement, state.isSecond.remove(packet.identifier) != nil else {
          if packet.kind == .acknowledgement { state.isSecond.insert(packet.identifier) }
          result += packet.bytes()
          continue
        }
      }
      return result
    }
  }
}

/// Reads what a client sends to PostgreSQL by messages: `type 1 | length 4 | …`, but for the first ones, which have no
/// type. A commit is one pipeline: several messages `Bind` before the `Sync` that ends it.
private struct CommitReader {
  private var bytes: [UInt8] = []
  private var hasStarted = false
  private var binds = 0

  /// Whether what is taken now ends a commit.
  mutating func endsCommit(with new: [UInt8]) -> Bool {
    var endsCommit = false
    bytes += new
    var start = 0
    while true {
      let head = hasStarted ? 1 : 0
      guard let length = number(at: start + head), length >= 4, bytes.count - start >= head + length else { break }
      if hasStarted {
        switch bytes[start] {
        case UInt8(ascii: "B"): binds += 1
        case UInt8(ascii: "S"):
          endsCommit = binds >= 3
          binds = 0
        default: break
        }
      } else {
        // A request for encryption (80877103, 80877104) is followed by another first message.
        hasStarted = ![80_877_103, 80_877_104].contains(number(at: start + 4))
      }
      start += head + length
    }
    bytes.removeFirst(start)
    return endsCommit
  }

  private func number(at place: Int) -> Int? {
    guard bytes.count >= place + 4 else { return nil }
    return bytes[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) }
  }
}
