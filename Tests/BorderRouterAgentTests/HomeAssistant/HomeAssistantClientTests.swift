import Broker
import Foundation
import SodiumCrypto
import Synchronization
import TestKit
import Testing
import ThreadDataset
import ThreadkeeperSupport

@testable import BorderRouterAgent

@Suite("Home Assistant's WebSocket API", .timeLimit(.minutes(10))) struct HomeAssistantClientTests {
  private typealias Trouble = HomeAssistantTrouble

  private static func client(
    _ url: String, _ timeout: Duration = .seconds(60), signal: WakeSignal? = nil, of users: Set<UInt32> = [getuid()]
  ) throws(Trouble) -> HomeAssistantClient {
    guard let address = HomeAssistantAddress(url) else { throw .otherForm }
    return try HomeAssistantClient(
      address, of: users, token: SecretBytes(copying: "a-long-lived-token".utf8), timeout: timeout, signal: signal)
  }

  /// What becomes of a connection and a list. On a thread of its own: it waits in system calls.
  private func trouble(_ url: String, _ timeout: Duration = .seconds(60), signal: WakeSignal? = nil) async throws
    -> Trouble?
  {
    try await SystemThread.result {
      do throws(Trouble) {
        _ = try Self.client(url, timeout, signal: signal).datasets()
        return nil
      } catch { return error }
    }
  }

  private func trouble(_ timeout: Duration = .seconds(60), _ serve: @escaping @Sendable (WebSocketPeer) -> Void)
    async throws -> Trouble?
  {
    let server = try WebSocketServer(serve)
    return try await trouble("http://127.0.0.1:\(server.port)", timeout)
  }

  /// What becomes of a list that is answered so.
  private func trouble(answering texts: String..., from version: String = "2025.4.4") async throws -> Trouble? {
    try await trouble { peer in
      Self.login(peer, version)
      _ = peer.receive()
      for text in texts { peer.send(text) }
      while peer.receive() != nil {}
    }
  }

  /// Logs the client in.
  private static func login(_ peer: WebSocketPeer, _ version: String = "2025.4.4") {
    peer.accept()
    peer.send(#"{"type":"auth_required","ha_version":"\#(version)"}"#)
    _ = peer.receive()
    peer.send(#"{"type":"auth_ok","ha_version":"\#(version)"}"#)
  }

  private func reading(_ id: String = "a", from url: String) async throws -> RouterReport.Reading {
    try await SystemThread.result { try Self.client(url).dataset(id) }
  }

  // MARK: As recorded

  /// What a real one has sent, by connection: `<` lines, and by what it was sent.
  private struct Recording: Sendable {
    private let greeting: String
    private let login: String
    /// The last answer by type and id of a dataset.
    private var answers: [String: String] = [:]

    init(_ name: String) throws {
      let file = try #require(
        Bundle.module.url(forResource: "home-assistant", withExtension: "txt", subdirectory: "Recorded"))
      let text = try String(contentsOf: file, encoding: .utf8)
      let section = try #require(text.components(separatedBy: "=== ").first { $0.hasPrefix(name + "\n") })
      let lines = section.split(separator: "\n").filter { "<>".contains($0.first ?? " ") }
      greeting = String(lines[0].dropFirst(2))
      login = String(lines[2].dropFirst(2))
      for (asked, answered) in zip(lines.dropFirst(3), lines.dropFirst(4)) where asked.first == ">" {
        answers[Self.key(String(asked.dropFirst(2)))] = String(answered.dropFirst(2))
      }
    }

    private static func object(_ json: String) -> [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(json.utf8))) as? [String: Any] ?? [:]
    }

    private static func key(_ command: String) -> String {
      let fields = object(command)
      return "\(fields["type"] ?? "") \(fields["dataset_id"] ?? "")"
    }

    func serve(_ peer: WebSocketPeer) {
      peer.accept()
      peer.send(greeting)
      _ = peer.receive()
      peer.send(login)
      while let command = peer.receive() {
        // The numbers of its commands are others than those of the recording.
        let id = Self.object(command)["id"] ?? 0
        let answer = answers[Self.key(command)] ?? "null"
        peer.send(answer.replacing(/^{"id":\d+/, with: "{\"id\":\(id)"))
      }
    }
  }

  private func recorded(_ name: String) throws -> WebSocketServer {
    let recording = try Recording(name)
    return try WebSocketServer { recording.serve($0) }
  }

  private func url(_ server: WebSocketServer) -> String { "http://127.0.0.1:\(server.port)" }

  @Test("A list and its datasets are read as they were recorded") func recordedList() async throws {
    let server = try recorded("three-datasets")
    let (list, readings) = try await SystemThread.result {
      let client = try Self.client("http://127.0.0.1:\(server.port)")
      let list = try client.datasets()
      return (list, try list.map { try client.dataset($0.id) })
    }
    #expect(list.map(\.name) == ["OpenThreadDemo", "MyHome1234", "NEST-PAN-ABCD"])
    #expect(list.map(\.isPreferred) == [true, false, false])
    #expect(list.map(\.channel) == [15, 25, 20] && list.map(\.panID) == ["1234", "2345", "abcd"])
    #expect(list.allSatisfy { $0.borderAgent == nil && $0.created != nil })
    for (entry, reading) in zip(list, readings) {
      guard case .complete(let dataset) = reading else {
        Issue.record("\(entry.title) is complete")
        continue
      }
      #expect(dataset.extendedPANID == entry.network && dataset.networkName == entry.name)
    }
  }

  private func routers(_ events: [String]?) async throws -> RouterSighting? {
    let fake = try FakeHomeAssistant()
    if let events { fake.see(events) }
    return try await SystemThread.result { try Self.client(fake.url).routers(quiet: .milliseconds(200)) }
  }

  @Test("Border routers are read with what their records say, but for what is odd; who has gone is none") func routers()
    async throws
  {
    let whole: [String: Any] = [
      "border_agent_id": "230c6a1ac57f6f4be262acf32e5ef52c", "extended_pan_id": "1111111122222222",
      "instance_name": "Attic._meshcop._udp.local.", "model_name": "M1", "network_name": "home",
      "thread_version": "1.4.0", "vendor_name": "Maker",
    ]
    let sighting = try #require(
      try await routers([
        FakeHomeAssistant.router("0011223344556677", whole), FakeHomeAssistant.router("0000000000000008"),
        #"{"type":"router_discovered"}"#, FakeHomeAssistant.gone("0000000000000008"),
        FakeHomeAssistant.router(
          "0000000000000009", ["extended_pan_id": "1111111122222222", "server": "hub.local.", "unconfigured": true]),
        FakeHomeAssistant.router("000000000000000a", ["network_name": "longer than 16 bytes", "model_name": ""]),
      ]))
    #expect(sighting.gone == ["0000000000000008"])
    #expect(sighting.routers.keys.sorted() == ["0000000000000009", "000000000000000a", "0011223344556677"])
    let read = try #require(sighting.routers["0011223344556677"])
    #expect(read.agent?.description == "230c6a1ac57f6f4be262acf32e5ef52c")
    #expect(read.address?.number == 0x0011_2233_4455_6677 && read.network?.description == "1111111122222222")
    #expect([read.name, read.model, read.networkName, read.vendor] == ["Attic", "M1", "home", "Maker"])
    let unconfigured = try #require(sighting.routers["0000000000000009"])
    #expect(unconfigured.network == nil && unconfigured.name == "hub")
    #expect(sighting.routers["000000000000000a"]?.networkName == nil)
  }

  @Test("Where Home Assistant does not look for border routers there is no list; with none it is empty")
  func noRouters() async throws {
    #expect(try await routers(nil) == nil)
    #expect(try await routers([]) == RouterSighting())
  }

  @Test("No more border routers are read than an event may have") func tooManyRouters() async throws {
    let events = (1...InboundLimits.routers + 1).map { FakeHomeAssistant.router(String(format: "%016x", $0)) }
    #expect(try await routers(events)?.routers.count == InboundLimits.routers)
  }

  @Test("One odd entry, or an odd field, hides no other entry of the list") func oddEntries() async throws {
    let server = try WebSocketServer { peer in
      Self.login(peer)
      _ = peer.receive()
      peer.send(
        #"{"id":1,"type":"result","success":true,"result":{"datasets":[7,{"network_name":"x"},{"dataset_id":"a","#
          + #""channel":"15","preferred":1,"network_name":[],"extended_pan_id":"1111111122222222"}]}}"#)
    }
    let list = try await SystemThread.result { try Self.client("http://127.0.0.1:\(server.port)").datasets() }
    #expect(list.map(\.id) == ["a"] && list.first?.network?.description == "1111111122222222")
    #expect(list.first?.isPreferred == false && list.first?.name == nil)
  }

  @Test("Border agents are read, also where there is an extended address alone") func recordedBorderAgent() async throws
  {
    let server = try recorded("border-agent")
    let list = try await SystemThread.result { try Self.client("http://127.0.0.1:\(server.port)").datasets() }
    #expect(list.first?.borderAgent?.description == "230c6a1ac57f6f4be262acf32e5ef52c")
    #expect(list.dropFirst().allSatisfy { $0.borderAgent == nil })
  }

  @Test(
    "Other recorded answers have their troubles",
    arguments: [("auth-ok-empty-store", nil), ("auth-invalid", .wrongToken), ("not-administrator", .notAdministrator)]
      as [(String, HomeAssistantTrouble?)]) func recordedTroubles(name: String, expected: HomeAssistantTrouble?)
    async throws
  {
    let server = try recorded(name)
    #expect(try await trouble(url(server)) == expected)
  }

  @Test("A dataset that is no more is none") func notFound() async throws {
    let server = try recorded("not-allowed-not-found")
    #expect(try await reading("missing", from: url(server)) == .none)
  }

  @Test(
    "What is no complete dataset is named",
    arguments: [
      (
        #"{"tlv":"0e0800000000000100000208ccccccccdddddddd03044e6f4b65"}"#,
        "it lacks Channel, Channel Mask, Mesh-Local Prefix, Network Key, PAN ID, PSKc, Security Policy"
      ), (#"{"tlv":"nonsense"}"#, "character 1 is not a hexadecimal digit"),
      (#"{"tlv":"0e08"}"#, "Active Timestamp at byte 0 is said to have 8 bytes, but only 0 are left"),
    ]) func unusable(result: String, flaw: String) async throws
  {
    let server = try WebSocketServer { peer in
      Self.login(peer)
      _ = peer.receive()
      peer.send(#"{"id":1,"type":"result","success":true,"result":\#(result)}"#)
    }
    #expect(try await reading(from: url(server)).flaw == flaw)
  }

  @Test(
    "An error that says nothing about the dataset is trouble", arguments: ["unknown_error", "home_assistant_error"])
  func notOfTheDataset(code: String) async throws {
    let fake = try FakeHomeAssistant()
    fake.add(try SampleNetwork.home.dataset(at: 1))
    fake.refuse("thread/get_dataset_tlv", code)
    await #expect(throws: Trouble.refused(code)) { try await reading(from: fake.url) }
  }

  // MARK: The connection

  @Test("A program of another user on this machine gets no token") func untrusted() async throws {
    let heads = Mutex(0)
    let server = try WebSocketServer { peer in if peer.accept() != nil { heads.withLock { $0 += 1 } } }
    let url = "http://127.0.0.1:\(server.port)"
    let other = getuid() + 1
    await #expect(throws: Trouble.untrusted("a program of user \(getuid()) listens on port \(server.port)")) {
      try await SystemThread.result { _ = try Self.client(url, of: [other]) }
    }
    // The next one is served after it.
    await #expect(throws: Trouble.closed) { try await SystemThread.result { _ = try Self.client(url) } }
    #expect(heads.withLock { $0 } == 1)
  }

  @Test("The upgrade names host and version, and the token and commands are masked texts") func upgrade() async throws {
    let received = Mutex<[String]>([])
    let isOver = WakeSignal()
    let server = try WebSocketServer { peer in
      var texts = [peer.accept() ?? ""]
      peer.send(#"{"type":"auth_required","ha_version":"2025.4.4"}"#)
      texts.append(peer.receive() ?? "")
      // A ping before the answer, and one within it.
      peer.send(frame: [1, 2, 3], opcode: 9)
      peer.send(#"{"type":"auth_ok","ha_version":"2025.4.4"}"#)
      if let (opcode, payload) = peer.receiveFrame() { texts.append("\(opcode) \(payload)") }
      texts.append(peer.receive() ?? "")
      peer.send(frame: Array(#"{"id":1,"type":"result","success":true,"#.utf8), isLast: false)
      peer.send(frame: [], opcode: 9)
      peer.send(frame: Array(#""result":{"datasets":[]}}"#.utf8), opcode: 0)
      if let (opcode, payload) = peer.receiveFrame() { texts.append("\(opcode) \(payload)") }
      if let (opcode, payload) = peer.receiveFrame() { texts.append("\(opcode) \(payload)") }
      received.withLock { $0 = texts }
      isOver.raise()
    }
    try await SystemThread.result {
      let client = try Self.client("ws://127.0.0.1:\(server.port)/core/websocket")
      #expect(try client.datasets().isEmpty)
      client.close()
    }
    try await eventually { isOver.isRaised }
    let texts = received.withLock { $0 }
    let head = texts[0]
    #expect(head.hasPrefix("GET /core/websocket HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
    #expect(head.contains("\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"))
    #expect(head.contains("\r\nSec-WebSocket-Version: 13") && !head.contains("Extensions"))
    #expect(head.firstMatch(of: /Sec-WebSocket-Key: [A-Za-z0-9+\/]{22}==\r\n/) != nil)
    #expect(
      Array(texts.dropFirst()) == [
        #"{"type":"auth","access_token":"a-long-lived-token"}"#, "10 [1, 2, 3]",
        #"{"id":1,"type":"thread/list_datasets"}"#, "10 []", "8 [3, 232]",
      ])
  }

  @Test(
    "What is no upgrade is named by its status",
    arguments: [
      ("HTTP/1.1 302 Found\r\nLocation: https://x/\r\n\r\n", 302, "the address that a browser ends at"),
      ("HTTP/1.1 400 Bad Request\r\n\r\n", 400, "trusted_proxies"),
      ("HTTP/1.1 403 Forbidden\r\n\r\n", 403, "ip_bans.yaml"),
      ("HTTP/1.1 404 Not Found\r\n\r\n", 404, "not Home Assistant"),
      ("HTTP/1.0 502 Bad Gateway\r\n\r\n", 502, "starting, or stopped"),
      ("HTTP/1.1 200 OK\r\nUpgrade: websocket\r\n\r\n", 200, "not Home Assistant"),
      ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", 101, "not Home Assistant"),
      ("SSH-2.0-x\r\n\r\n", 0, "is it https://"), ("", 0, "is it https://"),
      (String(repeating: "a", count: 20_000), 0, "is it https://"),
    ]) func status(answer: String, status: Int, remedy: String) async throws
  {
    #expect(try await trouble { $0.accept(answer) } == .status(status))
    #expect(Trouble.status(status).description.contains(remedy))
  }

  @Test("Refused, not found, silent and never accepted") func unreachable() async throws {
    #expect(try await trouble("http://127.0.0.1:\(UnusedPort.next())") == .unreachable("Connection refused"))
    // RFC 6761, section 6.4: never found, also where there is a network.
    #expect(try await trouble("http://none.invalid:8123") == .unreachable("no address is found for none.invalid"))
    let hole = try BlackHole()
    #expect(try await trouble("http://127.0.0.1:\(hole.port)", .milliseconds(200)) == .timeout)
    #expect(
      try await trouble(.milliseconds(200)) {
        _ = $0.accept("");
        _ = $0.receive()
      } == .timeout)
    #expect(
      try await trouble(.milliseconds(200)) {
        Self.login($0);
        while $0.receive() != nil {}
      } == .timeout)
  }

  @Test("Pings without end are not waited for") func pings() async throws {
    let found = try await trouble(.milliseconds(500)) { peer in
      Self.login(peer)
      // Until the client has gone.
      while peer.receiveFrame() != nil { peer.send(frame: [], opcode: 9) }
    }
    #expect(found == .timeout)
  }

  @Test("A connection that ends is closed, or cut within a frame") func ends() async throws {
    #expect(
      try await trouble {
        Self.login($0);
        _ = $0.receive()
      } == .closed)
    #expect(
      try await trouble {
        Self.login($0);
        $0.send(frame: [0x03, 0xE8], opcode: 8)
      } == .closed)
    #expect(
      try await trouble {
        Self.login($0)
        _ = $0.receive()
        $0.send(bytes: Array(WebSocketPeer.frame(Array("{}".utf8)).dropLast()))
      } == .cut)
    #expect(
      try await trouble { peer in
        Self.login(peer)
        _ = peer.receive()
        peer.send(frame: Array("{".utf8), isLast: false)
      } == .cut)
  }

  @Test(
    "Answers that can't be read",
    arguments: [
      ("nonsense", .notJSON), ("[]", .notJSON), (#"{"id":1,"type":"result","success":true,"result":{}}"#, .otherForm),
      (#"{"id":1,"type":"result","success":true,"result":{"datasets":[{}]}}"#, .otherForm),
      (#"{"id":1,"type":"result","success":true}"#, .otherForm),
      (#"{"id":1,"type":"result","success":false,"error":{"code":"Ab_c\u0007d"}}"#, .refused("b_cd")),
    ] as [(String, HomeAssistantTrouble)]) func unreadable(answer: String, expected: HomeAssistantTrouble) async throws
  { #expect(try await trouble(answering: answer) == expected) }

  @Test("Answers to other commands, and events, are not taken for its own") func others() async throws {
    let found = try await trouble(
      answering: #"{"id":7,"type":"result","success":false,"error":{"code":"x"}}"#,
      #"{"id":1,"type":"event","event":{}}"#, #"{"id":1,"type":"result","success":true,"result":{"datasets":[]}}"#)
    #expect(found == nil)
  }

  @Test("Lists that are too long are named by what they have") func tooLarge() async throws {
    func entries(_ count: Int, _ name: String) -> String {
      let list = (0..<count).map { #"{"dataset_id":"\#($0)","network_name":"\#(name)"}"# }
      return #"{"id":1,"type":"result","success":true,"result":{"datasets":[\#(list.joined(separator: ","))]}}"#
    }
    for (text, expected) in [
      (entries(257, "a"), .tooMany(257)), (entries(5_000, String(repeating: "a", count: 300)), .tooLarge),
      (entries(256, "a"), nil),
    ] as [(String, Trouble?)] { #expect(try await trouble(answering: text) == expected) }
  }

  @Test("A command that is unknown: too old, starting, or Thread is not set up") func unknownCommand() async throws {
    for (version, words) in [
      ("2023.2.5", "too old"), ("2023.3.0", "not set up"), ("2025.12.1", "it is starting"), ("soon", "not set up"),
    ] {
      let found = try await trouble(
        answering: #"{"id":1,"type":"result","success":false,"error":{"code":"unknown_command"}}"#, from: version)
      #expect(found == .unknownCommand(HomeAssistantVersion(version)))
      #expect(found?.description.contains(words) == true)
    }
  }

  @Test("Something that is no Home Assistant gets no token") func noGreeting() async throws {
    let received = Mutex<String?>("")
    let found = try await trouble { peer in
      peer.accept()
      peer.send(#"{"type":"hello"}"#)
      received.withLock { $0 = peer.receive() }
    }
    #expect(found == .otherForm)
    try await eventually { received.withLock { $0 == nil } }
  }

  @Test("A certificate that nobody knows, of another name, and no TLS at all") func tls() async throws {
    let certificates = try TestCertificates.shared()
    let fake = try FakeHomeAssistant(tls: certificates)
    var found: Trouble?
    // Its server needs a moment to be there.
    try await eventually {
      found = try await trouble("https://127.0.0.1:\(fake.port)")
      if case .unreachable = found { return false }
      return true
    }
    guard case .certificate(let words) = found else {
      Issue.record("the certificate does not verify: \(String(describing: found))")
      return
    }
    #expect(words.contains("certificate"))
    #expect(fake.logins == 0)
    let plain = try WebSocketServer { $0.send(bytes: Array("HTTP/1.1 400 Bad\r\n\r\n".utf8)) }
    let other = try await trouble("https://127.0.0.1:\(plain.port)")
    guard case .noTLS = other else {
      Issue.record("that is no TLS: \(String(describing: other))")
      return
    }
  }

  @Test("A stop ends an answer that is waited for, and a connection that is not accepted") func stopped() async throws {
    let signal = WakeSignal()
    let hole = try BlackHole()
    let isWaiting = WakeSignal()
    let server = try WebSocketServer { peer in
      Self.login(peer)
      _ = peer.receive()
      isWaiting.raise()
      while peer.receive() != nil {}
    }
    async let first = trouble("http://127.0.0.1:\(server.port)", .seconds(600), signal: signal)
    async let second = trouble("http://127.0.0.1:\(hole.port)", .seconds(600), signal: signal)
    try await eventually { isWaiting.isRaised && hole.isBeingCalled }
    signal.raise()
    #expect(try await first == .stopped)
    #expect(try await second == .stopped)
  }

  @Test("Every trouble has words of its own") func words() {
    let all: [Trouble] =
      [
        .unreachable("x"), .untrusted("x"), .timeout, .certificate("x"), .noTLS("x"), .noToken("x"), .wrongToken,
        .notAdministrator, .unknownCommand(nil), .tooLarge, .tooMany(300), .notJSON, .otherForm, .noFrame, .cut,
        .closed, .refused("x"), .stopped,
      ] + [0, 301, 400, 403, 404, 500, 502].map { .status($0) }
    #expect(Set(all.map(\.description)).count == all.count)
  }
}
