import BorderAgentDouble
import MeshCoP
import SodiumCrypto
import Testing
import ThreadDataset

/// What a router sends that is invalid or unusual, and what the client does then.
struct InvalidMessageTests {
  typealias Outgoing = BorderAgentDouble.Outgoing

  struct Change: Sendable, CustomTestStringConvertible {
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

    /// What is wrong with the message that `part` names.
    init(
      _ name: String, _ part: Outgoing.Part, invalid flaw: String, _ alter: @escaping @Sendable (inout Outgoing) -> Void
    ) {
      let names: [String] = ["\(part)".prefix(1).uppercased() + "\(part)".dropFirst()]
      self.init(name, part, .protocolError(part: names[0], flaw: flaw), alter)
    }
  }

  private static let offCurve = "a point is not on the curve"
  private static let wrongProof = "a proof is wrong"
  // In a ServerHello: version, random, session, suite, compression, length, point formats, number and length, the keys.
  private static let keys = 2 + 32 + 1 + 2 + 1 + 2 + 6 + 4

  static let changes: [Change] = [
    // The hello.
    Change("a hello of DTLS 1.0", .serverHello, invalid: "it is not DTLS 1.2") { $0.body[1] = 0xFF },
    Change("a session id that is too long", .serverHello, invalid: "its session id is too long") {
      $0.body.replaceSubrange(34..<35, with: [33] + [UInt8](repeating: 0, count: 33))
    },
    Change("a session id of 32 bytes, which the router has not counted", .serverHello, .noAnswer(.finished)) {
      $0.body.replaceSubrange(34..<35, with: [32] + [UInt8](repeating: 0, count: 32))
    },
    Change("another suite", .serverHello, invalid: "it has another cipher suite, or compression") {
      $0.body[36] = 0xA8
    }, Change("compression", .serverHello, invalid: "it has another cipher suite, or compression") { $0.body[37] = 1 },
    Change("a hello that is cut off", .serverHello, invalid: "it is too short") { $0.body.removeLast() },
    Change("a hello with more bytes", .serverHello, invalid: "bytes follow its end") { $0.body.append(0) },
    Change("no keys", .serverHello, invalid: "its keys are missing") { $0.body[46] = 0x7F },
    Change("keys twice", .serverHello, invalid: "an extension is there twice") {
      let again = Array($0.body[46...])
      $0.body += again
      let length = $0.body.count - 40
      ($0.body[38], $0.body[39]) = (UInt8(length >> 8), UInt8(length & 0xFF))
    }, Change("extensions that are cut off", .serverHello, invalid: "its extensions are cut off") { $0.body[49] &+= 1 },
    Change("an empty hello", .serverHello, invalid: "it is too short") { $0.body = [] },
    Change("a hello of 60,000 bytes", .serverHello, .noAnswer(.hello)) {
      // The length is in the header of the message, so one fragment says it.
      $0.instead = [Record.write(.handshake, 9, [2, 0, 0xEA, 0x60, 0, 1, 0, 0, 0, 0, 0, 1, 0])]
    }, Change("a first point off the curve", .serverHello, invalid: offCurve) { $0.body[keys + 65] ^= 1 },
    Change("a first point at infinity", .serverHello, invalid: "a point is not in the uncompressed form of 65 bytes") {
      $0.body[keys + 1] = 0
    }, Change("a wrong first proof", .serverHello, invalid: wrongProof) { $0.body[keys + 140] ^= 1 },
    Change("a wrong second proof", .serverHello, invalid: wrongProof) { $0.body[$0.body.count - 1] ^= 1 },
    Change("another random value", .serverHello, .refused) { $0.body[2] ^= 1 },
    // Its key exchange.
    Change("another curve", .serverKeyExchange, invalid: "it is not on the curve P-256") { $0.body[2] = 0x18 },
    Change("a key off the curve", .serverKeyExchange, invalid: offCurve) { $0.body[3 + 65] ^= 1 },
    Change("a wrong proof of the key", .serverKeyExchange, invalid: wrongProof) { $0.body[$0.body.count - 1] ^= 1 },
    Change("a key with more bytes", .serverKeyExchange, invalid: "bytes follow its end") { $0.body.append(0) },
    Change("an empty key exchange", .serverKeyExchange, invalid: "it is not on the curve P-256") { $0.body = [] },
    Change(
      "a second cookie instead of the key", .serverKeyExchange,
      .protocolError(part: "HelloVerifyRequest", flaw: "it comes out of order")
    ) { ($0.type, $0.body) = (3, [0xFE, 0xFD, 0]) },
    Change(
      "a certificate instead of the key", .serverKeyExchange,
      .protocolError(part: "handshake message 11", flaw: "there is none of this number")
    ) { $0.type = 11 },
    Change(
      "the Finished instead of the key", .serverKeyExchange,
      .protocolError(part: "Finished", flaw: "it comes out of order")
    ) { ($0.type, $0.body) = (20, .init(repeating: 0, count: 12)) },
    Change("a done that is not empty", .serverHelloDone, invalid: "it is not empty") { $0.body = [0] },
    Change("no cookie in the request for one", .helloVerifyRequest, invalid: "it is invalid") { $0.body = [0xFE] },
    Change("a cookie of DTLS 1.0", .helloVerifyRequest, nil) { $0.body[1] = 0xFF },
    // Its end.
    Change("a wrong Finished", .finished, invalid: "its hash is wrong") { $0.body[0] ^= 1 },
    Change("a short Finished", .finished, invalid: "its hash is wrong") { $0.body.removeLast() },
    Change("a Finished in plaintext", .finished, .noAnswer(.finished)) { $0.epoch = 0 },
    Change("no ChangeCipherSpec", .changeCipherSpec, nil) { $0.instead = [] },
    Change(
      "a hello request instead of the Finished", .finished,
      .protocolError(part: "handshake message 0", flaw: "there is none of this number")
    ) { ($0.type, $0.body) = (0, []) },
    // Alerts.
    Change("bad_record_mac instead of the Finished", .finished, .refused) {
      $0.epoch = 0
      Self.alert(&$0, 2, 20)
    }, Change("bad_record_mac with the right keys", .finished, .closed(alert: 20)) { Self.alert(&$0, 2, 20) },
    Change("bad_record_mac before that", .serverHello, .closed(alert: 20)) { Self.alert(&$0, 2, 20) },
    Change("handshake_failure", .serverHello, .closed(alert: 40)) { Self.alert(&$0, 2, 40) },
    Change("a warning", .changeCipherSpec, nil) { Self.alert(&$0, 1, 90) },
    Change("close_notify", .finished, .closed(alert: 0)) { Self.alert(&$0, 1, 0) },
    Change("an alert of one byte", .changeCipherSpec, nil) { ($0.content, $0.body) = (.alert, [2]) },
    Change("an alert in plaintext after the handshake", .answer("c/ag"), .noAnswer(.activeDataset)) {
      $0.epoch = 0
      Self.alert(&$0, 2, 20)
    }, Change("close_notify instead of an answer", .answer("c/pg"), .closed(alert: 0)) { Self.alert(&$0, 1, 0) },
    Change("a fatal alert instead of an answer", .answer("c/ag"), .closed(alert: 80)) { Self.alert(&$0, 2, 80) },
    // Answers.
    Change("an answer in plaintext", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.epoch = 0 },
    Change("an answer of another record type", .answer("c/ag"), .noAnswer(.activeDataset)) {
      $0.content = .changeCipherSpec
    },
    Change("a handshake message instead of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) {
      ($0.content, $0.type, $0.body) = (.handshake, 0, [])
    },
    Change("a refusal", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is refused with 4.04")) {
      $0.body.replaceSubrange(1..., with: [0x84] + $0.body[2..<6])
    },
    Change("a refusal to say what is pending", .answer("c/pg"), nil, without: .pendingDataset) {
      $0.body.replaceSubrange(1..., with: [0x84] + $0.body[2..<6])
    },
    Change("a reset", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it rejects the request")) {
      $0.body = [0x70, 0] + $0.body[2..<4]
    }, Change("another message id", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.body[2] ^= 1 },
    Change("another token", .answer("c/ag"), .noAnswer(.activeDataset)) { $0.body[4] ^= 1 },
    Change(
      "a token of 9 bytes", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is not a CoAP message")
    ) { $0.body[0] = 0x69 },
    Change(
      "another version", .answer("c/ag"), .protocolError(part: "response to c/ag", flaw: "it is not a CoAP message")
    ) { $0.body[0] = 0xA2 }, Change("an answer that comes by itself", .answer("c/ag"), nil) { $0.body[0] = 0x42 },
    Change("an answer that is not to be acknowledged", .answer("c/ag"), nil) { $0.body[0] = 0x52 },
    Change("a promise of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) {
      $0.body = [0x60, 0] + $0.body[2..<4]
    },
    Change("a question instead of an answer", .answer("c/ag"), .noAnswer(.activeDataset)) {
      ($0.body[0], $0.body[1]) = (0x42, 2)
    }, Change("an option that may be skipped", .answer("c/ag"), nil) { $0.body.insert(contentsOf: [0xC1, 42], at: 6) },
    Change(
      "an option that must be known", .answer("c/ag"),
      .protocolError(part: "response to c/ag", flaw: "it has an invalid or an unknown critical option")
    ) { $0.body.insert(contentsOf: [0x91, 42], at: 6) },
    Change(
      "an option that is too long", .answer("c/ag"),
      .protocolError(part: "response to c/ag", flaw: "it has an invalid or an unknown critical option")
    ) { $0.body.insert(contentsOf: [0xCE, 0xFF, 0xFF], at: 6) },
    Change(
      "a dataset that is cut off", .answer("c/ag"),
      .protocolError(
        part: "response to c/ag", flaw: "Security Policy at byte 100 is said to have 4 bytes, but only 3 are left")
    ) { $0.body.removeLast() },
    Change("an active dataset that is empty", .answer("c/ag"), nil, without: .activeDataset) {
      $0.body = Array($0.body[..<6])
    },
  ]

  private static func alert(_ outgoing: inout Outgoing, _ level: UInt8, _ number: UInt8) {
    (outgoing.content, outgoing.body) = (.alert, [level, number])
  }

  @Test("An invalid message of a router is reported, a harmless change is not:", arguments: changes) func change(
    _ change: Change
  ) throws {
    var simulation = try Simulation()
    simulation.router.alter = change.alter
    let outcome = try simulation.run()
    #expect(outcome.result?.error == change.error)
    switch change.error {
    case nil:
      let reading = try #require(outcome.result).get()
      #expect(reading.active?.bytes == (change.missing == .activeDataset ? nil : Simulation.active))
      #expect(reading.pending?.bytes == (change.missing == .pendingDataset ? nil : Simulation.pending))
      #expect(outcome.router.clientErrors.isEmpty && outcome.router.isClosed)
    // The router learns which side was wrong, and a session that is open is closed.
    case .protocolError(let part, _) where part.hasPrefix("response"): #expect(outcome.router.isClosed)
    case .protocolError: #expect(outcome.router.clientErrors.contains("alert [2, 47]"))
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

  @Test("A router that repeats the Finished of another conversation gets no request") func repeatedFinished() throws {
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
    simulation.router.alter = {
      if $0.part == .helloVerifyRequest { $0.body = [0xFE, 0xFD, 255] + [UInt8](repeating: 7, count: 255) }
    }
    let outcome = try simulation.run()
    // Four hellos, an alert. A cookie has 255 bytes at most.
    #expect(outcome.sent.map(\.count) == [417, 672, 672, 672, 15])
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
