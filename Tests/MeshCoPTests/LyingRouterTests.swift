import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import Testing
import ThreadDataset

/// What a router says that is wrong, and what the client does then.
struct LyingRouterTests {
  typealias Outgoing = BorderAgentDouble.Outgoing

  struct Lie: Sendable, CustomTestStringConvertible {
    let name: String
    /// Nil where the datasets are read all the same.
    let error: BorderAgentError?
    let alter: @Sendable (inout Outgoing) -> Void
    /// What is not read then.
    var missing: BorderAgentError.Step?

    var testDescription: String { name }

    init(
      _ name: String, _ part: Outgoing.Part, _ error: BorderAgentError?, without missing: BorderAgentError.Step? = nil,
      _ alter: @escaping @Sendable (inout Outgoing) -> Void
    ) {
      (self.name, self.error, self.missing) = (name, error, missing)
      self.alter = { if $0.part == part { alter(&$0) } }
    }

    /// What the message that `part` names is said to be.
    init(
      _ name: String, _ part: Outgoing.Part, says flaw: String, _ alter: @escaping @Sendable (inout Outgoing) -> Void
    ) {
      let names: [String] = ["\(part)".prefix(1).uppercased() + "\(part)".dropFirst()]
      self.init(name, part, .protocolError(part: names[0], flaw: flaw), alter)
    }
  }

  private static let offCurve = "a point is not on the curve"
  private static let wrongProof = "a proof is wrong"
  // In a ServerHello: version, random, session, suite, compression, length, point formats, number and length, the keys.
  private static let keys = 2 + 32 + 1 + 2 + 1 + 2 + 6 + 4

  static let lies: [Lie] = [
    // The hello.
    Lie("a hello of DTLS 1.0", .serverHello, says: "it is not DTLS 1.2") { $0.body[1] = 0xFF },
    Lie("a session id that is too long", .serverHello, says: "its session id is too long") {
      $0.body.replaceSubrange(34..<35, with: [33] + [UInt8](repeating: 0, count: 33))
    },
    Lie("a session id of 32 bytes, which the router has not counted", .serverHello, .noAnswer(.finished)) {
      $0.body.replaceSubrange(34..<35, with: [32] + [UInt8](repeating: 0, count: 32))
    }, Lie("another suite", .serverHello, says: "it has another cipher suite, or compression") { $0.body[36] = 0xA8 },
    Lie("compression", .serverHello, says: "it has another cipher suite, or compression") { $0.body[37] = 1 },
    Lie("a hello that is cut off", .serverHello, says: "it is too short") { $0.body.removeLast() },
    Lie("a hello with more bytes", .serverHello, says: "bytes follow its end") { $0.body.append(0) },
    Lie("no keys", .serverHello, says: "its keys are missing") { $0.body[46] = 0x7F },
    Lie("keys twice", .serverHello, says: "an extension is there twice") {
      let again = Array($0.body[46...])
      $0.body += again
      let length = $0.body.count - 40
      ($0.body[38], $0.body[39]) = (UInt8(length >> 8), UInt8(length & 0xFF))
    }, Lie("extensions that are cut off", .serverHello, says: "its extensions are cut off") { $0.body[49] &+= 1 },
    Lie("an empty hello", .serverHello, says: "it is too short") { $0.body = [] },
    Lie("a hello of 60,000 bytes", .serverHello, .noAnswer(.hello)) {
      // The length is in the header of the message, so one fragment says it.
      $0.instead = [Record.write(.handshake, 9, [2, 0, 0xEA, 0x60, 0, 1, 0, 0, 0, 0, 0, 1, 0])]
    }, Lie("a first point off the curve", .serverHello, says: offCurve) { $0.body[keys + 65] ^= 1 },
    Lie("a first point at infinity", .serverHello, says: "a point is not in the uncompressed form of 65 bytes") {
      $0.body[keys + 1] = 0
    }, Lie("a wrong first proof", .serverHello, says: wrongProof) { $0.body[keys + 140] ^= 1 },
    Lie("a wrong second proof", .serverHello, says: wrongProof) { $0.body[$0.body.count - 1] ^= 1 },
    Lie("another random value", .serverHello, .refused) { $0.body[2] ^= 1 },
    // Its key exchange.
    Lie("another curve", .serverKeyExchange, says: "it is not on the curve P-256") { $0.body[2] = 0x18 },
    Lie("a key off the curve", .serverKeyExchange, says: offCurve) { $0.body[3 + 65] ^= 1 },
    Lie("a wrong proof of the key", .serverKeyExchange, says: wrongProof) { $0.body[$0.body.count - 1] ^= 1 },
    Lie("a key with more bytes", .serverKeyExchange, says: "bytes follow its end") { $0.body.append(0) },
    Lie("an empty key exchange", .serverKeyExchange, says: "it is not on the curve P-256") { $0.body = [] },
    Lie(
      "a second cookie instead of the key", .serverKeyExchange,
      .protocolError(part: "HelloVerifyRequest", flaw: "it comes out of order")
    ) { ($0.type, $0.body) = (3, [0xFE, 0xFD, 0]) },
    Lie(
      "a certificate instead of the key", .serverKeyExchange,
      .protocolError(part: "handshake message 11", flaw: "there is none of this number")
    ) { $0.type = 11 },
    Lie(
      "the Finished instead of the key", .serverKeyExchange,
      .protocolError(part: "Finished", flaw: "it is in the wrong epoch")
    ) { ($0.type, $0.body) = (20, .init(repeating: 0, count: 12)) },
    Lie("a done that is not empty", .serverHelloDone, says: "it is not empty") { $0.body = [0] },
    Lie("no cookie in the request for one", .helloVerifyRequest, says: "it is invalid") { $0.body = [0xFE] },
    Lie("a cookie of DTLS 1.0", .helloVerifyRequest, nil) { $0.body[1] = 0xFF },
    // Its end.
    Lie("a wrong Finished", .finished, says: "its hash is wrong") { $0.body[0] ^= 1 },
    Lie("a short Finished", .finished, says: "its hash is wrong") { $0.body.removeLast() },
    Lie("a Finished in plaintext", .finished, says: "it is in the wrong epoch") { $0.epoch = 0 },
    Lie("no ChangeCipherSpec", .changeCipherSpec, nil) { $0.instead = [] },
    Lie(
      "a hello request instead of the Finished", .finished,
      .protocolError(part: "handshake message 0", flaw: "there is none of this number")
    ) { ($0.type, $0.body) = (0, []) },
    // Alerts.
    Lie("bad_record_mac instead of the Finished", .finished, .refused) {
      $0.epoch = 0
      Self.alert(&$0, 2, 20)
    }, Lie("bad_record_mac with the right keys", .finished, .closed(alert: 20)) { Self.alert(&$0, 2, 20) },
    Lie("bad_record_mac before that", .serverHello, .closed(alert: 20)) { Self.alert(&$0, 2, 20) },
    Lie("handshake_failure", .serverHello, .closed(alert: 40)) { Self.alert(&$0, 2, 40) },
    Lie("a warning", .changeCipherSpec, nil) { Self.alert(&$0, 1, 90) },
    Lie("close_notify", .finished, .closed(alert: 0)) { Self.alert(&$0, 1, 0) },
    Lie("an alert of one byte", .changeCipherSpec, nil) { ($0.content, $0.body) = (.alert, [2]) },
    Lie("an alert in plaintext after the handshake", .answer("c/ag"), .noAnswer(.activeDataset)) {
      $0.epoch = 0
      Self.alert(&$0, 2, 20)
    }, Lie("close_notify instead of an answer", .answer("c/pg"), .closed(alert: 0)) { Self.alert(&$0, 1, 0) },
    Lie("a fatal alert instead of an answer", .answer("c/ag"), .closed(alert: 80)) { Self.alert(&$0, 2, 80) },
    // Answers.
    Lie("an answer in plaintext", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.epoch = 0 },
    Lie("an answer of another record type", .answer("c/ag"), .noAnswer(.activeDataset)) {
      $0.content = .changeCipherSpec
    },
    Lie("a handshake message instead of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) {
      ($0.content, $0.type, $0.body) = (.handshake, 0, [])
    },
    Lie("a refusal", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is refused with 4.04")) {
      $0.body.replaceSubrange(1..., with: [0x84] + $0.body[2..<6])
    },
    Lie("a refusal to say what is pending", .answer("c/pg"), nil, without: .pendingDataset) {
      $0.body.replaceSubrange(1..., with: [0x84] + $0.body[2..<6])
    },
    Lie("a reset", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it rejects the request")) {
      $0.body = [0x70, 0] + $0.body[2..<4]
    }, Lie("another message id", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.body[2] ^= 1 },
    Lie("another token", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.body[4] ^= 1 },
    Lie(
      "a token of 9 bytes", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is not a CoAP message")
    ) { $0.body[0] = 0x69 },
    Lie("another version", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is not a CoAP message"))
    { $0.body[0] = 0xA2 }, Lie("an answer that comes by itself", .answer("c/ag"), nil) { $0.body[0] = 0x42 },
    Lie("an answer that is not to be acknowledged", .answer("c/ag"), nil) { $0.body[0] = 0x52 },
    Lie("a promise of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.body = [0x60, 0] + $0.body[2..<4] },
    Lie("a question instead of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) {
      ($0.body[0], $0.body[1]) = (0x42, 2)
    }, Lie("an option that may be skipped", .answer("c/ag"), nil) { $0.body.insert(contentsOf: [0xC1, 42], at: 6) },
    Lie(
      "an option that must be known", .answer("c/ag"),
      .protocolError(part: "response to c/ag", flaw: "it has an invalid or an unknown critical option")
    ) { $0.body.insert(contentsOf: [0x91, 42], at: 6) },
    Lie(
      "an option that is too long", .answer("c/ag"),
      .protocolError(part: "response to c/ag", flaw: "it has an invalid or an unknown critical option")
    ) { $0.body.insert(contentsOf: [0xCE, 0xFF, 0xFF], at: 6) },
    Lie(
      "a dataset that is cut off", .answer("c/ag"),
      .protocolError(
        part: "response to c/ag", flaw: "Security Policy at byte 100 is said to have 4 bytes, but only 3 are left")
    ) { $0.body.removeLast() },
    Lie("an active dataset that is empty", .answer("c/ag"), nil, without: .activeDataset) {
      $0.body = Array($0.body[..<6])
    },
  ]

  private static func alert(_ outgoing: inout Outgoing, _ level: UInt8, _ number: UInt8) {
    (outgoing.content, outgoing.body) = (.alert, [level, number])
  }

  @Test("A router is not believed that sends", arguments: lies) func lie(_ lie: Lie) throws {
    var simulation = try Simulation()
    simulation.router.alter = lie.alter
    let outcome = try simulation.run()
    #expect(outcome.result?.error == lie.error)
    switch lie.error {
    case nil:
      let reading = try #require(outcome.result).get()
      #expect(reading.active?.bytes == (lie.missing == .activeDataset ? nil : Simulation.active))
      #expect(reading.pending?.bytes == (lie.missing == .pendingDataset ? nil : Simulation.pending))
      #expect(outcome.router.complaints.isEmpty && outcome.router.isClosed)
    // The router learns which side was wrong, and a session that is open is closed.
    case .protocolError(let part, _) where part.hasPrefix("response"): #expect(outcome.router.isClosed)
    case .protocolError: #expect(outcome.router.complaints.contains("alert [2, 47]"))
    default: break
    }
  }

  @Test("A router with another secret refuses, and nothing is asked") func otherSecret() throws {
    var simulation = try Simulation()
    simulation.secret = SecretBytes(copying: Array("916371367".utf8))
    let outcome = try simulation.run()
    #expect(outcome.result?.error == .refused)
    #expect(!outcome.router.isOpen && outcome.router.asked.isEmpty && outcome.sent.count == 3)
    #expect(outcome.elapsed < .seconds(1))
  }

  @Test("A router that has the secret no more than it seems gets no question") func impostor() throws {
    // It says that all is well, by what it has recorded of another conversation.
    var recorded: [UInt8] = []
    var simulation = try Simulation(seed: 3)
    nonisolated(unsafe) var last: [UInt8] = []
    simulation.disturb = { way, count, datagram in
      if way == .fromRouter, count == 2 { last = datagram }
      return [(.zero, datagram)]
    }
    _ = try simulation.run()
    recorded = last
    var other = try Simulation(seed: 2)
    other.secret = SecretBytes(copying: Array("916371367".utf8))
    other.disturb = { way, count, datagram in [(.zero, way == .fromRouter && count >= 2 ? recorded : datagram)] }
    let outcome = try other.run()
    #expect(outcome.result?.error == .noAnswer(.finished))
  }

  @Test("A router that asks for cookies without end is left after three") func cookies() throws {
    var simulation = try Simulation()
    simulation.router.alter = { if $0.part == .helloVerifyRequest { $0.body = [0xFE, 0xFD, 1, 7] } }
    let outcome = try simulation.run()
    // Four hellos, an alert.
    #expect(outcome.sent.count == 5)
    #expect(outcome.result?.error == .protocolError(part: "HelloVerifyRequest", flaw: "it comes again and again"))
  }

  @Test("Each error says what is wrong in a sentence without a secret") func sentences() {
    let errors: [BorderAgentError] =
      BorderAgentError.Step.allCases.flatMap { [.noAnswer($0), .tooSlow($0)] } + [
        .refused, .protocolError(part: "ServerHello", flaw: "it is too short"), .closed(alert: 0), .closed(alert: 40),
        .unreachable(111), .stopped, .cannotStart(.unusableSecret),
      ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    for error in errors { #expect(error.description.hasSuffix(".") && error.description.first?.isUppercase == true) }
  }
}
