import Foundation
import Synchronization

/// A broker that knows just enough MQTT to accept a client, send it messages and note in which
/// order everything happens.
///
/// Packets are read both by a thread of its own and, in `mark` and `events`, by the caller: what
/// the client had written before the call is then in the list before the call returns.
package final class FakeBroker: Sendable {
  package enum Event: Equatable, Sendable {
    case connected(clientID: String, cleanStart: Bool)
    case subscribed(String)
    case acknowledged(UInt16)
    case published(topic: String, identifier: UInt16)
    case pinged
    case disconnected
    case closed
    /// Put in by the test.
    case mark(String)
  }

  package struct Behaviour: Sendable {
    package var sessionPresent = true
    /// Told to the client (MQTT 5).
    package var receiveMaximum: UInt16?
    /// The answer to CONNECT; nil gives none.
    package var connectCode: UInt8? = 0
    /// Whether publications of the client are acknowledged at once.
    package var acknowledges = true
    /// How many publications are left without an acknowledgement before `acknowledges` counts.
    package var acknowledgementsLost = 0
    /// The code for a subscription; nil gives no answer.
    package var subscribeCode: UInt8? = 1

    package init() {}
  }

  struct State {
    var connection: FakeConnection?
    var events: [Event] = []
    var behaviour: Behaviour
    var nextIdentifier: UInt16 = 1
    var isStopped = false
    var connections = 0
  }

  package let port: UInt16
  let listener: FakeListener
  let state: Mutex<State>

  /// - Parameter certificates: with them the client talks TLS with `openssl s_server`, which hands
  ///   the plain bytes on. It puts up to 16 KiB into one TLS record, many packets at once.
  /// - Parameter port: that it listens on without certificates; 0: one that is free.
  package init(_ behaviour: Behaviour = Behaviour(), certificates: TestCertificates? = nil, port: UInt16 = 0) throws {
    listener = try certificates.map { try FakeListener(tls: $0) } ?? FakeListener(port: port)
    self.port = listener.port
    state = Mutex(State(behaviour: behaviour))
    let thread = Thread { [weak self] in while let self, self.serve() {} }
    thread.start()
  }

  deinit { stop() }

  package func stop() {
    state.withLock {
      $0.isStopped = true
      $0.connection?.close()
      $0.connection = nil
    }
    listener.close()
  }

  // MARK: For the test

  /// All that happened so far.
  package var events: [Event] {
    state.withLock { state in
      drain(&state)
      return state.events
    }
  }

  package var acknowledgements: [UInt16] {
    events.compactMap { if case .acknowledged(let identifier) = $0 { identifier } else { nil } }
  }

  package var connectionCount: Int { state.withLock { $0.connections } }

  /// Notes that something happened on the test's side.
  package func mark(_ text: String) {
    state.withLock { state in
      drain(&state)
      state.events.append(.mark(text))
    }
  }

  package func change(_ change: (inout Behaviour) -> Void) { state.withLock { change(&$0.behaviour) } }

  /// Sends QoS 1 messages in one piece.
  ///
  /// - Returns: their packet identifiers.
  @discardableResult package func publish(_ messages: [(topic: String, payload: [UInt8])]) -> [UInt16] {
    state.withLock { state in
      var bytes: [UInt8] = []
      var identifiers: [UInt16] = []
      for message in messages {
        identifiers.append(state.nextIdentifier)
        bytes += FakePacket.publish(
          message.topic, message.payload, identifier: state.nextIdentifier,
          isVersion5: state.connection?.isVersion5 ?? true)
        state.nextIdentifier = state.nextIdentifier % 65_535 + 1
      }
      state.connection?.send(bytes)
      return identifiers
    }
  }

  /// Sends a packet as it is.
  package func send(_ bytes: [UInt8]) { state.withLock { $0.connection?.send(bytes) } }

  /// Once `event` has happened, sends packets as they are on that connection, with a pause after each. Done on a thread
  /// of its own: a test's task may be suspended for longer than the limits that it tests.
  package func send(_ packets: [[UInt8]], pause: Duration, after event: Event) {
    let thread = Thread { [self] in
      while !events.contains(event) {
        guard state.withLock({ !$0.isStopped }) else { return }
        usleep(5_000)
      }
      let number = connectionCount
      for packet in packets {
        state.withLock { if $0.connections == number { $0.connection?.send(packet) } }
        Thread.sleep(forTimeInterval: pause / .seconds(1))
      }
    }
    thread.start()
  }

  package func dropConnection() {
    state.withLock {
      $0.connection?.close()
      $0.connection = nil
    }
  }

  // MARK: Serving

  /// One look at what the client does.
  private func serve() -> Bool {
    let (isStopped, descriptor) = state.withLock { ($0.isStopped, $0.connection?.input ?? -1) }
    if isStopped { return false }
    guard descriptor >= 0 else {
      if let connection = listener.accept(within: 20) {
        state.withLock {
          $0.connection = connection
          $0.connections += 1
        }
      }
      return true
    }
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    poll(&poller, 1, 20)
    state.withLock { drain(&$0) }
    return true
  }

  /// Reads and answers what has come, without waiting.
  private func drain(_ state: inout State) {
    guard let connection = state.connection else { return }
    let isOpen = connection.receive()
    while let packet = connection.nextPacket() { answer(packet, &state) }
    if !isOpen, state.connection === connection {
      state.events.append(.closed)
      connection.close()
      state.connection = nil
    }
  }

  private func answer(_ packet: FakePacket, _ state: inout State) {
    guard let connection = state.connection else { return }
    switch packet.kind {
    case .connect:
      let connect = packet.connect
      connection.isVersion5 = connect.isVersion5
      state.events.append(.connected(clientID: connect.clientID, cleanStart: connect.cleanStart))
      guard let code = state.behaviour.connectCode else { return }
      connection.send(
        FakePacket.connectAnswer(
          sessionPresent: state.behaviour.sessionPresent, code: code, receiveMaximum: state.behaviour.receiveMaximum,
          isVersion5: connect.isVersion5))
    case .subscribe:
      state.events.append(.subscribed(packet.filter(isVersion5: connection.isVersion5)))
      guard let code = state.behaviour.subscribeCode else { return }
      connection.send(
        FakePacket.subscribeAnswer(identifier: packet.identifier, code: code, isVersion5: connection.isVersion5))
    case .publish:
      let identifier = packet.publishIdentifier
      state.events.append(.published(topic: packet.topic, identifier: identifier))
      if identifier != 0, state.behaviour.acknowledgementsLost > 0 {
        state.behaviour.acknowledgementsLost -= 1
      } else if identifier != 0, state.behaviour.acknowledges {
        connection.send(FakePacket.acknowledgement(identifier))
      }
    case .acknowledgement: state.events.append(.acknowledged(packet.identifier))
    case .ping:
      state.events.append(.pinged)
      connection.send([0xD0, 0])
    case .disconnect: state.events.append(.disconnected)
    case .other: break
    }
  }
}

/// A control packet as a client sends it, and the answers of a broker (MQTT 5.0 and 3.1.1, chapter
/// 3). Only what the tests need.
package struct FakePacket {
  package enum Kind { case connect, subscribe, publish, acknowledgement, ping, disconnect, other }

  let header: UInt8
  let body: [UInt8]

  package var kind: Kind {
    switch header >> 4 {
    case 1: .connect
    case 3: .publish
    case 4: .acknowledgement
    case 8: .subscribe
    case 12: .ping
    case 14: .disconnect
    default: .other
    }
  }

  /// The packet identifier at the start of the body.
  package var identifier: UInt16 { number(at: 0) }

  /// As it was sent.
  ///
  /// - Parameter isDuplicate: whether the flag DUP is set beside those that it has (section 3.3.1.1).
  package func bytes(isDuplicate: Bool = false) -> [UInt8] { Self.packet(isDuplicate ? header | 8 : header, body) }

  /// Takes the first whole packet from the front.
  package static func take(from bytes: inout [UInt8]) -> FakePacket? {
    guard let header = bytes.first else { return nil }
    var length = 0
    var index = 1
    repeat {
      guard index < bytes.count else { return nil }
      length |= Int(bytes[index] & 0x7F) << (7 * (index - 1))
      index += 1
    } while bytes[index - 1] & 0x80 != 0
    guard bytes.count >= index + length else { return nil }
    let packet = FakePacket(header: header, body: Array(bytes[index..<(index + length)]))
    bytes.removeFirst(index + length)
    return packet
  }

  var connect: (isVersion5: Bool, clientID: String, cleanStart: Bool) {
    let isVersion5 = body[6] == 5
    let properties = isVersion5 ? 1 + Int(body[10]) : 0
    return (isVersion5, string(at: 10 + properties), body[7] & 2 != 0)
  }

  /// The first filter of a SUBSCRIBE.
  func filter(isVersion5: Bool) -> String { string(at: isVersion5 ? 3 : 2) }

  var topic: String { string(at: 0) }

  /// 0 for QoS 0.
  package var publishIdentifier: UInt16 { header & 6 == 0 ? 0 : number(at: 2 + Int(number(at: 0))) }

  private func number(at index: Int) -> UInt16 { UInt16(body[index]) << 8 | UInt16(body[index + 1]) }

  private func string(at index: Int) -> String {
    String(decoding: body[(index + 2)..<(index + 2 + Int(number(at: index)))], as: UTF8.self)
  }

  // MARK: What the broker sends

  static func publish(_ topic: String, _ payload: [UInt8], identifier: UInt16, isVersion5: Bool) -> [UInt8] {
    let name = Array(topic.utf8)
    return packet(0x32, bytes(UInt16(name.count)) + name + bytes(identifier) + (isVersion5 ? [0] : []) + payload)
  }

  static func connectAnswer(sessionPresent: Bool, code: UInt8, receiveMaximum: UInt16?, isVersion5: Bool) -> [UInt8] {
    let properties = receiveMaximum.map { [0x21] + bytes($0) } ?? []
    return packet(
      0x20, [sessionPresent && code == 0 ? 1 : 0, code] + (isVersion5 ? [UInt8(properties.count)] + properties : []))
  }

  static func subscribeAnswer(identifier: UInt16, code: UInt8, isVersion5: Bool) -> [UInt8] {
    packet(0x90, bytes(identifier) + (isVersion5 ? [0] : []) + [code])
  }

  static func acknowledgement(_ identifier: UInt16) -> [UInt8] { packet(0x40, bytes(identifier)) }

  private static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

  private static func packet(_ header: UInt8, _ body: [UInt8]) -> [UInt8] {
    var length = body.count
    var lengthBytes: [UInt8] = []
    repeat {
      lengthBytes.append(UInt8(length & 0x7F) | (length > 0x7F ? 0x80 : 0))
      length >>= 7
    } while length > 0
    return [header] + lengthBytes + body
  }
}
