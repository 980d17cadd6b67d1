import Broker
import FoundationEssentials
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport

/// What a Matter server says of itself.
struct MatterServer: Equatable, Sendable {
  /// Of its API: python-matter-server ends with 11; the Matter server in JavaScript has 12 and newer.
  var schema: UInt64
  /// Whether it has Thread credentials by default, whichever they are.
  var hasCredentials: Bool
  /// Of these; nil: it does not say, as before schema 12.
  var network: ExtendedPANID?

  /// Whether they are named, and can be taken back.
  var namesCredentials: Bool { schema >= 12 }
}

/// The WebSocket API of a Matter server, as far as its Thread credentials need it, on the caller's thread. Whoever
/// reaches it may use it: there is no login.
///
/// ```
/// < {"schema_version":11,"min_supported_schema_version":9,"thread_credentials_set":false,…}
/// > {"message_id":"1","command":"set_thread_dataset","args":{"dataset":"…"}}
/// < {"message_id":"1","result":null}                           or {…,"error_code":9,"details":"…"}
/// ```
/// A server before schema 12 takes a named dataset for its default one, so none is named. Its answers don't show the
/// credentials, and an older one forgets them when it ends.
final class MatterClient {
  /// The newest that is known: a server that takes no client of it is not understood.
  private static let newestSchema = 13

  private let socket: WebSocket
  private let timeout: Duration
  private var number = 0
  private var greeting: [UInt8] = []

  /// - Parameters:
  ///   - users: whose programs may listen there, where that is on this machine and without TLS.
  ///   - timeout: for the connection, and for each answer.
  ///   - signal: raised when the agent stops.
  init(_ address: HomeAssistantAddress, of users: Set<UInt32>, timeout: Duration, signal: WakeSignal?)
    throws(HomeAssistantTrouble)
  {
    self.timeout = timeout
    let end = ContinuousClock.now + timeout
    socket = try WebSocket(address, of: users, until: end, signal: signal)
    greeting = try socket.receive(until: end)
  }

  func close() { socket.close() }

  /// - Throws: also where it is no Matter server, or one that takes newer clients only.
  func server() throws(HomeAssistantTrouble) -> MatterServer {
    var (schema, least): (UInt64?, UInt64) = (nil, 0)
    var hasCredentials = false
    let isObject = try? UntrustedJSON.readMembers(of: greeting, depth: Envelope.nesting) { member in
      switch (member.name.text, RESTValue(member.value)) {
      case ("schema_version", .number(let number)): schema = number
      case ("min_supported_schema_version", .number(let number)): least = number
      case ("thread_credentials_set", _): if case .bool(true) = member.value { hasCredentials = true }
      default: break
      }
    }
    guard isObject == true else { throw .notJSON }
    guard let schema else { throw .otherForm }
    guard least <= Self.newestSchema else { throw .newerSchema(least) }
    var server = MatterServer(schema: schema, hasCredentials: hasCredentials)
    if server.namesCredentials { server.network = try network() }
    return server
  }

  /// Of the default credentials.
  private func network() throws(HomeAssistantTrouble) -> ExtendedPANID? {
    struct Credentials: Decodable {
      struct Entry: Decodable {
        var id: String
        var extPanId: String?
      }
      var thread: [Entry]
    }
    let result = try ask("get_all_credentials")
    guard let all = try? JSONDecoder().decode(Credentials.self, from: Data(result)).thread else { throw .otherForm }
    return all.first { $0.id == "default" }?.extPanId.flatMap { ExtendedPANID(hex: $0) }
  }

  /// Replaces its default credentials.
  func set(_ dataset: OperationalDataset) throws(HomeAssistantTrouble) {
    _ = try ask("set_thread_dataset", ("dataset", dataset.hex))
  }

  func remove() throws(HomeAssistantTrouble) { _ = try ask("remove_thread_dataset") }

  /// - Returns: the JSON of the result.
  private func ask(_ command: String, _ arguments: (name: StaticString, text: String)...) throws(HomeAssistantTrouble)
    -> [UInt8]
  {
    number += 1
    var json = JSONWriter()
    defer { wipe(&json.bytes) }
    json.open()
    json.name("message_id")
    json.text("\(number)")
    json.name("command")
    json.text(command)
    json.name("args")
    json.open()
    for argument in arguments {
      json.name(argument.name)
      json.text(argument.text)
    }
    json.close()
    json.close()
    let deadline = ContinuousClock.now + timeout
    try socket.send(json.bytes, until: deadline)
    while true {
      let answer = try socket.receive(until: deadline)
      var (id, code): (String?, UInt64?) = (nil, nil)
      var result: [UInt8]?
      let isObject = try? UntrustedJSON.readMembers(of: answer, depth: Envelope.nesting) { member in
        switch (member.name.text, RESTValue(member.value)) {
        case ("message_id", .text(let text)): id = text
        case ("error_code", .number(let number)): code = number
        case ("result", _): result = Array(member.source)
        default: break
        }
      }
      guard isObject == true else { throw .notJSON }
      // Events come in between.
      guard id == "\(number)" else { continue }
      if let code { throw .refused("error \(code)") }
      guard let result else { throw .otherForm }
      return result
    }
  }
}

extension HomeAssistantTrouble {
  /// The same of a Matter server.
  package var ofMatterServer: String {
    switch self {
    case .untrusted(let words):
      "\(words), so nothing is sent there; where that is the Matter server's, name its user with --server-user"
    case .status(let status):
      "what answers is no WebSocket of a Matter server (\(status)); that of most is at ws://HOST:5580/ws"
    case .noTLS(let words): "TLS does not begin (\(words)); is it ws:// at this port?"
    case .tooLarge: "its answer has more than \(Frames.limit) bytes"
    case .closed: "it has closed the connection; it may be stopping or starting"
    default: "\(self)".replacing("Home Assistant", with: "the Matter server")
    }
  }
}
