import Broker
import FoundationEssentials
import Home
import SodiumCrypto
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// Home Assistant's WebSocket API, as far as its Thread store needs it, on the caller's thread.
///
/// ```
/// < {"type":"auth_required","ha_version":"2025.4.4"}
/// > {"type":"auth","access_token":"…"}
/// < {"type":"auth_ok","ha_version":"2025.4.4"}                  or auth_invalid
/// > {"id":1,"type":"thread/list_datasets"}
/// < {"id":1,"type":"result","success":true,"result":{…}}        or {…,"success":false,"error":{"code":"…"}}
/// ```
final class HomeAssistantClient {
  /// More are not read: a home has a few, and threadkeeper takes 32 of a login.
  static let mostDatasets = 256

  private let socket: WebSocket
  private let timeout: Duration
  private var number = 0
  private var version: HomeAssistantVersion?
  /// Events of the last command, which may come before its result.
  private var events: [[UInt8]] = []

  /// Connects and logs in.
  ///
  /// - Parameters:
  ///   - users: whose programs may listen there, where that is on this machine.
  ///   - timeout: for the connection, and for each answer.
  ///   - signal: raised when the agent stops.
  init(
    _ address: HomeAssistantAddress, of users: Set<UInt32>, token: SecretBytes, timeout: Duration, signal: WakeSignal?
  ) throws(HomeAssistantTrouble) {
    self.timeout = timeout
    socket = try WebSocket(address, of: users, until: .now + timeout, signal: signal)
    let first = try receive(until: .now + timeout)
    guard first.type == "auth_required" else { throw .otherForm }
    version = first.version
    // Checked by who has read it: nothing in it is to be escaped.
    var login = Array(#"{"type":"auth","access_token":""#.utf8)
    token.withUnsafeBytes { login += $0 }
    login += Array("\"}".utf8)
    defer { wipe(&login) }
    try socket.send(login, until: .now + timeout)
    switch try receive(until: .now + timeout).type {
    case "auth_ok": break
    case "auth_invalid": throw .wrongToken
    default: throw .otherForm
    }
  }

  /// Connects, and does not log in.
  ///
  /// - Throws: where it is no Home Assistant.
  static func greet(_ address: HomeAssistantAddress, of users: Set<UInt32>, timeout: Duration)
    throws(HomeAssistantTrouble)
  {
    let end = ContinuousClock.now + timeout
    let socket = try WebSocket(address, of: users, until: end, signal: nil)
    defer { socket.close() }
    guard UntrustedJSON.text("type", in: try socket.receive(until: end)) == "auth_required" else { throw .otherForm }
  }

  func close() { socket.close() }

  // MARK: Commands

  /// - Returns: those that can be read. An odd one hides no other.
  func datasets() throws(HomeAssistantTrouble) -> [StoredDataset] {
    struct Entry: Decodable {
      var dataset: StoredDataset?
      init(from decoder: any Decoder) { dataset = try? StoredDataset(from: decoder) }
    }
    struct List: Decodable { var datasets: [Entry] }
    let result = try ask("thread/list_datasets")
    guard let list = try? JSONDecoder().decode(List.self, from: Data(result)).datasets else { throw .otherForm }
    guard list.count <= Self.mostDatasets else { throw .tooMany(list.count) }
    let read = list.compactMap(\.dataset)
    guard list.isEmpty || !read.isEmpty else { throw .otherForm }
    return read
  }

  /// - Returns: `none` where it is no more.
  func dataset(_ id: String) throws(HomeAssistantTrouble) -> RouterReport.Reading {
    var result: [UInt8]
    do throws(HomeAssistantTrouble) { result = try ask("thread/get_dataset_tlv", ("dataset_id", id)) } catch {
      guard error == .refused("not_found") else { throw error }
      return .none
    }
    defer { wipe(&result) }
    guard let hex = UntrustedJSON.text("tlv", in: result) else { throw .otherForm }
    do throws(DatasetError) { return .init(try OperationalDataset(hex: hex)) } catch { return .unusable(error.message) }
  }

  /// What the store has of a network.
  func stored(_ network: ExtendedPANID) throws(HomeAssistantTrouble) -> (
    entry: StoredDataset, reading: RouterReport.Reading
  )? {
    guard let entry = try datasets().first(where: { $0.network == network }) else { return nil }
    return (entry, try dataset(entry.id))
  }

  /// The border routers that Home Assistant sees on its local network. Nothing can be asked afterwards.
  ///
  /// - Parameters:
  ///   - quiet: after so long without news the list counts as complete.
  ///   - limit: for all of it.
  /// - Returns: nil where it does not look for any.
  func routers(quiet: Duration, limit: Duration = .seconds(10)) throws(HomeAssistantTrouble) -> RouterSighting? {
    do throws(HomeAssistantTrouble) { _ = try ask("thread/discover_routers") } catch {
      guard case .unknownCommand = error else {
        if case .refused = error { return nil }
        throw error
      }
      return nil
    }
    let end = ContinuousClock.now + limit
    var sighting = RouterSighting()
    while true {
      for event in events { sighting.take(event) }
      events = []
      do throws(HomeAssistantTrouble) { try note(receive(until: min(end, .now + quiet))) } catch {
        guard error == .timeout else { throw error }
        return sighting
      }
    }
  }

  private func note(_ message: Message) {
    if message.type == "event", message.id == UInt64(number), let event = message.event { events.append(event) }
  }

  /// Does nothing where the store has the network with the same or a later time.
  func add(_ dataset: OperationalDataset) throws(HomeAssistantTrouble) {
    _ = try ask("thread/add_dataset_tlv", ("source", "threadkeeper"), ("tlv", dataset.hex))
  }

  func setPreferred(_ id: String) throws(HomeAssistantTrouble) {
    _ = try ask("thread/set_preferred_dataset", ("dataset_id", id))
  }

  func delete(_ id: String) throws(HomeAssistantTrouble) { _ = try ask("thread/delete_dataset", ("dataset_id", id)) }

  func setBorderAgent(_ agent: BorderAgentID, _ address: WireHex, of id: String) throws(HomeAssistantTrouble) {
    _ = try ask(
      "thread/set_preferred_border_agent", ("dataset_id", id), ("border_agent_id", "\(agent)"),
      ("extended_address", Hexadecimal.encode(withUnsafeBytes(of: address.number.bigEndian) { Array($0) })))
  }

  /// - Returns: the JSON of the result.
  private func ask(_ command: String, _ fields: (name: StaticString, text: String)...) throws(HomeAssistantTrouble)
    -> [UInt8]
  {
    number += 1
    events = []
    var json = JSONWriter()
    defer { wipe(&json.bytes) }
    json.open()
    json.name("id")
    json.number(UInt64(number))
    for field in [("type", command)] + fields {
      json.name(field.name)
      json.text(field.text)
    }
    json.close()
    let deadline = ContinuousClock.now + timeout
    try socket.send(json.bytes, until: deadline)
    while true {
      let answer = try receive(until: deadline)
      note(answer)
      guard answer.type == "result", answer.id == UInt64(number) else { continue }
      if answer.isSuccess, let result = answer.result { return result }
      switch answer.errorCode {
      case "unauthorized": throw .notAdministrator
      case "unknown_command": throw .unknownCommand(version)
      case let code?: throw .refused(code)
      case nil: throw .otherForm
      }
    }
  }

  private struct Message {
    var type: String?
    var id: UInt64?
    var version: HomeAssistantVersion?
    var isSuccess = false
    var result: [UInt8]?
    var event: [UInt8]?
    var errorCode: String?
  }

  private func receive(until deadline: ContinuousClock.Instant) throws(HomeAssistantTrouble) -> Message {
    var bytes = try socket.receive(until: deadline)
    defer { wipe(&bytes) }
    var message = Message()
    let isObject = try? UntrustedJSON.readMembers(of: bytes, depth: Envelope.nesting) { member in
      switch member.name.text {
      case "type": message.type = RESTValue(member.value).text
      case "id": if case .number(let number) = RESTValue(member.value) { message.id = number }
      case "ha_version": message.version = RESTValue(member.value).text.flatMap { HomeAssistantVersion($0) }
      case "success": if case .bool(true) = member.value { message.isSuccess = true }
      case "result": message.result = Array(member.source)
      case "event": message.event = Array(member.source)
      case "error":
        message.errorCode = UntrustedJSON.text("code", in: Array(member.source)).map { code in
          String(code.unicodeScalars.prefix(40).filter { $0 == "_" || ("a"..."z").contains($0) })
        }
      default: break
      }
    }
    guard isObject == true else { throw .notJSON }
    return message
  }
}

/// An entry of `thread/list_datasets`, which has no TLVs. Two that differ mean that something was changed there.
struct StoredDataset: Hashable, Sendable, Decodable {
  /// Stays when the TLVs are replaced by newer ones of the network.
  var id: String
  var networkText: String?
  var name: String?
  var channel: Int?
  var panID: String?
  var created: String?
  var preference: Bool?
  var borderAgentText: String?

  enum CodingKeys: String, CodingKey {
    case id = "dataset_id"
    case networkText = "extended_pan_id"
    case name = "network_name"
    case panID = "pan_id"
    case preference = "preferred"
    case borderAgentText = "preferred_border_agent_id"
    case channel, created
  }

  var network: ExtendedPANID? { networkText.flatMap { ExtendedPANID(hex: $0) } }
  var isPreferred: Bool { preference ?? false }
  /// The border agent that the store names for it. The iOS app gives an extended address alone.
  var borderAgent: BorderAgentID? { borderAgentText.flatMap { BorderAgentID(hex: $0) } }

  /// For the log: name and network.
  var title: String {
    let name = name.flatMap { ShownName.quoted($0) }
    let words = [name, network.map { "\($0)" }].compactMap(\.self)
    return words.isEmpty ? "a network without a name" : words.joined(separator: " ")
  }
}

extension StoredDataset {
  /// - Throws: without an id. Any other field that is odd is absent.
  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(String.self, forKey: .id)
    func text(_ key: CodingKeys) -> String? { try? fields.decode(String.self, forKey: key) }
    (networkText, name, panID) = (text(.networkText), text(.name), text(.panID))
    (created, borderAgentText) = (text(.created), text(.borderAgentText))
    channel = try? fields.decode(Int.self, forKey: .channel)
    preference = try? fields.decode(Bool.self, forKey: .preference)
  }
}

/// What events of `thread/discover_routers` say, by the extended addresses of the routers.
///
/// ```
/// {"type":"router_discovered","key":"…","data":{"border_agent_id":"…","extended_address":"…",…}}
/// {"type":"router_removed","key":"…"}
/// ```
struct RouterSighting: Equatable, Sendable {
  private(set) var routers: [String: SightedRouter] = [:]
  /// Those that have gone meanwhile.
  private(set) var gone: Set<String> = []

  init(_ routers: [String: SightedRouter] = [:], gone: Set<String> = []) { (self.routers, self.gone) = (routers, gone) }

  private struct Event: Decodable {
    var type: String
    var key: String
    var data: DiscoveredRouter?
  }

  fileprivate struct DiscoveredRouter: Decodable {
    var borderAgentId: String?
    var extendedAddress: String?
    var extendedPanId: String?
    var instanceName: String?
    var modelName: String?
    var networkName: String?
    var server: String?
    var threadVersion: String?
    var unconfigured: Bool?
    var vendorName: String?
  }

  /// One that cannot be read, and one too many, is not taken.
  mutating func take(_ event: [UInt8]) {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    guard let event = try? decoder.decode(Event.self, from: Data(event)) else { return }
    switch (event.type, event.data) {
    case ("router_removed", _):
      routers[event.key] = nil
      if gone.count < InboundLimits.routers { gone.insert(event.key) }
    case ("router_discovered", let data?) where routers[event.key] != nil || routers.count < InboundLimits.routers:
      gone.remove(event.key)
      routers[event.key] = SightedRouter(data)
    default: break
    }
  }
}

extension SightedRouter {
  fileprivate init(_ data: RouterSighting.DiscoveredRouter) {
    self.init()
    func text(_ text: String?, _ most: Int) -> String? { Advertisement.text(text.map { Array($0.utf8) }, most: most) }
    // Without the type of the service, and older versions have the name of the host alone.
    let name = data.instanceName?.replacing("._meshcop._udp.local.", with: "")
    self.name = text(name ?? data.server?.replacing(".local.", with: ""), 63)
    agent = data.borderAgentId.flatMap { BorderAgentID(hex: $0) }
    address = data.extendedAddress.flatMap { $0.count == 16 ? UInt64($0, radix: 16) : nil }.map { WireHex($0) }
    (vendor, model) = (text(data.vendorName, 64), text(data.modelName, 64))
    threadVersion = text(data.threadVersion, 16)
    guard data.unconfigured != true else { return }
    network = data.extendedPanId.flatMap { ExtendedPANID(hex: $0) }
    networkName = text(data.networkName, 16)
  }
}

extension UntrustedJSON {
  /// A member of what Home Assistant has sent.
  fileprivate static func text(_ name: String, in object: [UInt8]) -> String? {
    value(of: name, in: object, depth: Envelope.nesting).flatMap { RESTValue(reading: $0).text }
  }
}
