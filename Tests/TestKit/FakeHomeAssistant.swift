import Foundation
import Synchronization
import ThreadDataset

/// Home Assistant's WebSocket API, as far as its Thread store goes. It answers as a real one was recorded: see
/// Tests/BorderRouterAgentTests/Recorded/home-assistant.txt.
package final class FakeHomeAssistant: Sendable {
  /// An entry of its store.
  private struct Entry {
    let id: String
    var dataset: OperationalDataset
    var borderAgent: String?
    var address: String?
  }

  private final class Store: Sendable { let state = Mutex(State()) }

  private struct State {
    var entries: [Entry] = []
    var preferred: String?
    var commands: [String] = []
    var logins = 0
    /// Error codes by command.
    var errors: [String: String] = [:]
    /// Events about border routers, one after the other; nil: it does not know them.
    var routers: [String]?
    var lastID = 0
  }

  private let store: Store
  private let server: WebSocketServer

  /// - Parameters:
  ///   - token: of its administrator.
  ///   - certificates: with them it speaks TLS.
  package init(token: String = "a-long-lived-token", tls certificates: TestCertificates? = nil, port: UInt16 = 0) throws
  {
    let store = Store()
    self.store = store
    server = try WebSocketServer(tls: certificates, port: port) { peer in
      guard peer.accept() != nil else { return }
      peer.send(#"{"type":"auth_required","ha_version":"2025.4.4"}"#)
      guard let login = peer.receive() else { return }
      store.state.withLock { $0.logins += 1 }
      guard Self.object(login)["access_token"] as? String == token else {
        peer.send(#"{"type":"auth_invalid","message":"Invalid access token or password"}"#)
        return peer.send(frame: [0x03, 0xE8], opcode: 8)
      }
      peer.send(#"{"type":"auth_ok","ha_version":"2025.4.4"}"#)
      while let command = peer.receive() {
        for text in store.state.withLock({ Self.answers(Self.object(command), &$0) }) { peer.send(text) }
      }
    }
  }

  package var port: UInt16 { server.port }
  package var url: String { "http://127.0.0.1:\(port)" }
  /// What was asked, in order: `thread/list_datasets`.
  package var commands: [String] { store.state.withLock { $0.commands } }
  /// Logins that were tried.
  package var logins: Int { store.state.withLock { $0.logins } }

  package var ids: [String] { store.state.withLock { $0.entries.map(\.id) } }

  /// As a phone does.
  ///
  /// - Returns: the id.
  @discardableResult package func add(
    _ dataset: OperationalDataset, isPreferred: Bool = false, borderAgent: String? = nil
  ) -> String {
    store.state.withLock { state in
      let id = Self.add(dataset, &state)
      if let index = state.entries.firstIndex(where: { $0.id == id }) { state.entries[index].borderAgent = borderAgent }
      if isPreferred { state.preferred = id }
      return id
    }
  }

  package func delete(_ id: String) { store.state.withLock { $0.entries.removeAll { $0.id == id } } }

  package func prefer(_ id: String) { store.state.withLock { $0.preferred = id } }

  /// The Extended PAN ID of the preferred network.
  package var preferred: String? {
    store.state.withLock { state in state.entries.first { $0.id == state.preferred }?.dataset.extendedPANID?.description
    }
  }

  /// In hex, by Extended PAN ID.
  package var datasets: [String: String] {
    store.state.withLock { state in
      Dictionary(state.entries.map { ($0.dataset.extendedPANID?.description ?? "", $0.dataset.hex) }) { $1 }
    }
  }

  /// The preferred border agent of a network, and its extended address, by Extended PAN ID.
  package var borderAgents: [String: [String?]] {
    store.state.withLock { state in
      Dictionary(state.entries.map { ($0.dataset.extendedPANID?.description ?? "", [$0.borderAgent, $0.address]) }) {
        $1
      }
    }
  }

  /// From now on, a command is answered with this error; nil: as usual.
  package func refuse(_ command: String, _ code: String?) { store.state.withLock { $0.errors[command] = code } }

  /// Events of `thread/discover_routers` from now on: `router` and `gone`.
  package func see(_ events: [String]) { store.state.withLock { $0.routers = events } }

  /// That a border router was discovered.
  ///
  /// - Parameter fields: more of what its record says.
  package static func router(_ address: String, _ fields: [String: Any] = [:]) -> String {
    let data = ["extended_address": address, "addresses": ["192.0.2.7"], "brand": NSNull()].merging(fields) { $1 }
    let event: [String: Any] = ["type": "router_discovered", "key": address, "data": data]
    let json = try? JSONSerialization.data(withJSONObject: event, options: .sortedKeys)
    return String(decoding: json ?? Data(), as: UTF8.self)
  }

  /// That it has gone.
  package static func gone(_ address: String) -> String { #"{"type":"router_removed","key":"\#(address)"}"# }

  // MARK: Answers

  /// A newer dataset of a network replaces the one that is there; others are ignored.
  private static func add(_ dataset: OperationalDataset, _ state: inout State) -> String {
    let network = dataset.extendedPANID
    if let index = state.entries.firstIndex(where: { $0.dataset.extendedPANID == network }) {
      let old = state.entries[index].dataset.activeTimestamp?.seconds ?? 0
      if (dataset.activeTimestamp?.seconds ?? 0) > old { state.entries[index].dataset = dataset }
      return state.entries[index].id
    }
    state.lastID += 1
    let id = "01M8DM62HR10QSSG5X3EFED\(state.lastID)"
    state.entries.append(Entry(id: id, dataset: dataset))
    return id
  }

  private static func answers(_ command: [String: Any], _ state: inout State) -> [String] {
    guard command["type"] as? String == "thread/discover_routers", let routers = state.routers else {
      return [answer(command, &state)]
    }
    let id = command["id"] as? Int ?? 0
    let events = routers.map { #"{"id":\#(id),"type":"event","event":\#($0)}"# }
    // The first one may come before the result.
    return events.prefix(1) + [#"{"id":\#(id),"type":"result","success":true,"result":null}"#] + events.dropFirst()
  }

  private static func answer(_ command: [String: Any], _ state: inout State) -> String {
    let (type, id) = (command["type"] as? String ?? "", command["id"] as? Int ?? 0)
    if type != "thread/discover_routers" { state.commands.append(type) }
    func result(_ json: String) -> String { #"{"id":\#(id),"type":"result","success":true,"result":\#(json)}"# }
    func error(_ code: String) -> String {
      #"{"id":\#(id),"type":"result","success":false,"error":{"code":"\#(code)","message":"No."}}"#
    }
    if let code = state.errors[type] { return error(code) }
    let index = state.entries.firstIndex { $0.id == command["dataset_id"] as? String }
    let entry = index.map { state.entries[$0] }
    switch type {
    case "thread/list_datasets":
      let list = state.entries.map { listed($0, isPreferred: $0.id == state.preferred) }
      return result(#"{"datasets":[\#(list.joined(separator: ","))]}"#)
    case "thread/get_dataset_tlv": return entry.map { result(#"{"tlv":"\#($0.dataset.hex)"}"#) } ?? error("not_found")
    case "thread/add_dataset_tlv":
      guard let hex = command["tlv"] as? String, let dataset = try? OperationalDataset(hex: hex) else {
        return error("invalid_format")
      }
      let id = add(dataset, &state)
      let isStored = state.entries.contains { $0.id == id && $0.dataset.hex == dataset.hex }
      // As of 2026.11; before that null.
      return result(#"{"result":"\#(isStored ? "stored" : "discarded")"}"#)
    case "thread/set_preferred_dataset":
      guard let entry else { return error("not_found") }
      state.preferred = entry.id
      return result("null")
    case "thread/delete_dataset":
      guard let index, let entry else { return error("not_found") }
      guard entry.id != state.preferred else { return error("not_allowed") }
      state.entries.remove(at: index)
      return result("null")
    case "thread/set_preferred_border_agent":
      guard command.keys.contains("border_agent_id"), let address = command["extended_address"] as? String else {
        return error("invalid_format")
      }
      // A real one does not check that it has the dataset.
      guard let index else { return error("unknown_error") }
      (state.entries[index].borderAgent, state.entries[index].address) = (
        command["border_agent_id"] as? String, address
      )
      return result("null")
    default: return error("unknown_command")
    }
  }

  private static func listed(_ entry: Entry, isPreferred: Bool) -> String {
    let dataset = entry.dataset
    let fields: [String: Any?] = [
      "channel": dataset.channel.map { Int($0.number) }, "created": "2026-11-27T04:28:28.088900+00:00",
      "dataset_id": entry.id, "extended_pan_id": dataset.extendedPANID?.description,
      "network_name": dataset.networkName, "pan_id": dataset.panID.map { String($0, radix: 16) },
      "preferred": isPreferred, "preferred_border_agent_id": entry.borderAgent,
      "preferred_extended_address": entry.address, "source": "iOS-app",
    ]
    let object = fields.mapValues { $0 ?? NSNull() }
    let json = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
    return String(decoding: json ?? Data(), as: UTF8.self)
  }

  private static func object(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
  }
}

/// A server of WebSockets (RFC 6455) on loopback. Each connection is served by a script, one after the other.
package final class WebSocketServer: Sendable {
  package let port: UInt16
  private let listener: FakeListener
  private let isEnding = Atomic(false)

  /// - Parameters:
  ///   - certificates: with them it speaks TLS.
  ///   - serve: on a thread of the server's own. The connection is closed afterwards.
  package init(
    tls certificates: TestCertificates? = nil, port: UInt16 = 0, _ serve: @escaping @Sendable (WebSocketPeer) -> Void
  ) throws {
    listener = if let certificates { try FakeListener(tls: certificates) } else { try FakeListener(port: port) }
    self.port = listener.port
    Thread { [weak self, listener] in
      while self?.isEnding.load(ordering: .relaxed) == false {
        guard let connection = listener.accept(within: 50) else { continue }
        serve(WebSocketPeer(connection))
        connection.finish()
      }
    }.start()
  }

  deinit {
    isEnding.store(true, ordering: .relaxed)
    listener.close()
  }
}

/// The server's side of one WebSocket, for the thread that serves it.
package final class WebSocketPeer {
  private let connection: FakeConnection
  private var bytes: [UInt8] = []

  init(_ connection: FakeConnection) { self.connection = connection }

  /// As Home Assistant's web server answers (aiohttp).
  package static let upgrade = """
    HTTP/1.1 101 Switching Protocols\r
    Upgrade: websocket\r
    Connection: upgrade\r
    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r
    Server: Python/3.13 aiohttp/3.11.16\r
    \r

    """

  /// Reads the head of the request, and answers it.
  ///
  /// - Returns: the head; nil where the client has gone.
  @discardableResult package func accept(_ answer: String = upgrade) -> String? {
    while true {
      if let end = bytes.firstRange(of: "\r\n\r\n".utf8) {
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        bytes.removeSubrange(..<end.upperBound)
        connection.send(Array(answer.utf8))
        return head
      }
      guard readMore() else { return nil }
    }
  }

  package func send(_ text: String) { send(frame: Array(text.utf8)) }

  /// - Parameters:
  ///   - opcode: 1: text.
  ///   - isLast: of the fragments of a message.
  package func send(frame payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true) {
    send(bytes: Self.frame(payload, opcode: opcode, isLast: isLast))
  }

  package func send(bytes: [UInt8]) { connection.send(bytes) }

  /// Not masked: a server's.
  package static func frame(_ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true) -> [UInt8] {
    let count = payload.count
    let length: [UInt8] =
      switch count {
      case 0...125: [UInt8(count)]
      case 126...0xFFFF: [126] + (0..<2).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
      default: [127] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
      }
    return [(isLast ? 0x80 : 0) | opcode] + length + payload
  }

  /// The next text of the client.
  ///
  /// - Returns: nil when it has closed, or gone.
  package func receive() -> String? {
    while let (opcode, payload) = receiveFrame() {
      if opcode == 1 { return String(decoding: payload, as: UTF8.self) }
      if opcode == 8 { return nil }
    }
    return nil
  }

  /// The next frame of the client, which is masked and whole.
  package func receiveFrame() -> (opcode: UInt8, payload: [UInt8])? {
    while true {
      if let frame = takeFrame() { return frame }
      guard readMore() else { return nil }
    }
  }

  private func takeFrame() -> (opcode: UInt8, payload: [UInt8])? {
    guard bytes.count >= 2, bytes[0] & 0x80 != 0, bytes[1] & 0x80 != 0 else { return nil }
    let short = Int(bytes[1] & 0x7F)
    let extra = short == 127 ? 8 : short == 126 ? 2 : 0
    guard bytes.count >= 6 + extra else { return nil }
    let count = extra == 0 ? short : bytes[2..<2 + extra].reduce(0) { $0 << 8 | Int($1) }
    let start = 6 + extra
    guard bytes.count >= start + count else { return nil }
    let mask = Array(bytes[start - 4..<start])
    let payload = bytes[start..<start + count].enumerated().map { $1 ^ mask[$0 % 4] }
    let opcode = bytes[0] & 0x0F
    bytes.removeFirst(start + count)
    return (opcode, payload)
  }

  /// - Returns: false at the end of the connection, or after a minute.
  private func readMore() -> Bool {
    var poller = pollfd(fd: connection.input, events: Int16(POLLIN), revents: 0)
    guard poll(&poller, 1, 60_000) > 0 else { return false }
    let isOpen = connection.receive()
    let more = connection.takeBytes()
    bytes += more
    return isOpen || !more.isEmpty
  }
}
