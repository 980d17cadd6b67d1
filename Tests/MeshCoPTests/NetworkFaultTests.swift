import BorderAgentDouble
import MeshCoP
import Testing
import ThreadDataset

/// What the network does to a conversation with a router that is honest.
struct NetworkFaultTests {
  /// In the order of a conversation: two hellos, the keys, two questions, close_notify; and their answers.
  enum Fault: String, CaseIterable, Sendable {
    case lost, doubled, late, overtaken, cut, altered, prefixed, replayed

    /// What arrives instead of one datagram.
    fileprivate func apply(_ datagram: [UInt8], earlier: [[UInt8]]) -> [(Duration, [UInt8])] {
      let latency = Simulation.latency
      switch self {
      case .lost: return []
      case .doubled: return [(latency, datagram), (latency, datagram), (latency * 3, datagram)]
      case .late: return [(.seconds(3), datagram)]
      case .overtaken: return [(.milliseconds(1_100), datagram)]
      case .cut: return [(latency, Array(datagram.dropLast())), (latency, Array(datagram.prefix(13)))]
      case .altered:
        let forged = datagram.enumerated().map { $0.offset == datagram.count - 1 ? $0.element ^ 1 : $0.element }
        // In plaintext anybody can say anything: the last byte there is one of a message with a checked proof.
        return datagram[4] == 1 ? [(latency, forged), (latency, datagram)] : [(latency, datagram), (latency, forged)]
      case .prefixed: return [(latency, [0] + datagram), (latency, datagram)]
      case .replayed: return earlier.map { (latency, $0) } + [(latency, datagram)] + earlier.map { (latency, $0) }
      }
    }
  }

  @Test("The datasets are read although a datagram is", arguments: Fault.allCases, Simulation.Direction.allCases)
  func disturbed(_ fault: Fault, _ direction: Simulation.Direction) throws {
    for number in 0..<5 {
      var simulation = try Simulation()
      nonisolated(unsafe) var earlier: [[UInt8]] = []
      simulation.disturb = { way, count, datagram in
        guard way == direction else { return [(Simulation.latency, datagram)] }
        defer { earlier.append(datagram) }
        return count == number ? fault.apply(datagram, earlier: earlier) : [(Simulation.latency, datagram)]
      }
      let outcome = try simulation.run()
      try Self.checkRead(outcome, "\(fault), \(direction), \(number)")
      #expect(outcome.elapsed < .seconds(fault == .late ? 8 : 3), "\(fault), \(direction), \(number)")
    }
  }

  static func checkRead(_ outcome: Simulation.Outcome, _ name: String) throws {
    guard case .success(let reading)? = outcome.result else {
      Issue.record("\(name): \(String(describing: outcome.result))")
      return
    }
    #expect(reading.active?.bytes == Simulation.active && reading.pending?.bytes == Simulation.pending, "\(name)")
    #expect(outcome.router.asked == ["c/ag", "c/pg"], "\(name)")
    #expect(outcome.router.clientErrors.isEmpty, "\(name): \(outcome.router.clientErrors)")
    #expect(outcome.sent.allSatisfy { $0.count <= 1_500 }, "\(name)")
    // A nonce is a record's number: what is sent again has another one.
    let numbers = outcome.sent.flatMap(Record.split).map(\.number)
    #expect(Set(numbers).count == numbers.count, "\(name)")
  }

  @Test("What the client sends comes back to it, and changes nothing") func reflected() throws {
    var simulation = try Simulation()
    nonisolated(unsafe) var own: [[UInt8]] = []
    simulation.disturb = { way, _, datagram in
      if way == .toRouter { own.append(datagram) }
      return way == .toRouter
        ? [(Simulation.latency, datagram)]
        : own.filter { $0[4] == 1 }.map { (.zero, $0) } + [(Simulation.latency, datagram)]
    }
    try Self.checkRead(try simulation.run(), "reflected")
  }

  @Test("A Finished that is forged in plaintext is dropped, before and after the keys are there") func forgedFinished()
    throws
  {
    var simulation = try Simulation()
    let forged = HandshakeMessage(HandshakeType.finished.rawValue, 4, .init(repeating: 7, count: 12)).bytes
    simulation.disturb = { way, count, datagram in
      guard way == .fromRouter, count == 1 else { return [(.zero, datagram)] }
      return [Record.write(.handshake, 98, forged), datagram, Record.write(.handshake, 99, forged)].map { (.zero, $0) }
    }
    try Self.checkRead(try simulation.run(), "forged")
  }

  @Test("A flight is taken in any datagrams, fragments and order", arguments: [1, 7, 100, 1_000], [false, true])
  func fragments(_ length: Int, _ isReversed: Bool) throws {
    var simulation = try Simulation()
    simulation.router.hasOwnDatagrams = length > 1
    simulation.router.fragmentLength = length == 1 ? 60 : length
    simulation.disturb = { way, count, datagram in
      [(isReversed && way == .fromRouter ? .milliseconds(500 - count) : Simulation.latency, datagram)]
    }
    try Self.checkRead(try simulation.run(), "\(length), reversed: \(isReversed)")
  }

  @Test("Both datasets are requested, also where the random message ids are the same") func requests() throws {
    var (simulation, bytes) = (try Simulation(), [UInt8](repeating: 7, count: 200))
    bytes.withUnsafeMutableBytes { KnownRandom(seed: 1).fill(UnsafeMutableRawBufferPointer(rebasing: $0[..<192])) }
    simulation.random = KnownRandom(bytes)
    #expect(try simulation.run().router.asked == ["c/ag", "c/pg"])
  }

  @Test("A router that asks for no cookie is read too") func noCookie() throws {
    var simulation = try Simulation()
    simulation.router.asksForCookie = false
    let outcome = try simulation.run()
    try Self.checkRead(outcome, "no cookie")
    #expect(outcome.sent.count == 5)
  }

  @Test("A third of all datagrams is lost, and each conversation is read or gives up within 20 s") func lossy() throws {
    var read = 0
    for seed in 0..<60 {
      var simulation = try Simulation()
      let random = KnownRandom(seed: UInt64(seed))
      simulation.disturb = { _, _, datagram in
        var bytes: [UInt8] = [0, 0]
        bytes.withUnsafeMutableBytes { random.fill($0) }
        let copies = [0, 0, 1, 1, 1, 2][Int(bytes[0]) % 6]
        return (0..<copies).map { _ in (.milliseconds(Int(bytes[1]) * 4), datagram) }
      }
      let outcome = try simulation.run()
      #expect(outcome.elapsed <= .seconds(20))
      switch outcome.result {
      case .success?:
        read += 1
        try Self.checkRead(outcome, "seed \(seed)")
      case .failure(.noAnswer)?, .failure(.tooSlow)?: #expect(outcome.router.clientErrors.isEmpty)
      default: Issue.record("\(seed): \(String(describing: outcome.result))")
      }
    }
    #expect(read > 20)
  }

  /// The router answers so many datagrams, and is silent then.
  @Test(
    "A router that falls silent is asked for 8 s, after 1, 2 and 4 s again",
    arguments: [
      (0, BorderAgentError.Step.hello), (1, .hello), (2, .finished), (3, .activeDataset), (4, .pendingDataset),
    ]) func silent(_ answered: Int, _ step: BorderAgentError.Step) throws
  {
    var simulation = try Simulation()
    simulation.disturb = { way, count, datagram in way == .fromRouter && count >= answered ? [] : [(.zero, datagram)] }
    let outcome = try simulation.run()
    #expect(outcome.result?.error == .noAnswer(step))
    let times = outcome.sentAt.drop { $0 == .zero }.map { $0 / .seconds(1) }
    // With close_notify at the end, where the router may have a session.
    #expect(times == (step == .hello ? [1, 3, 7] : [1, 3, 7, 8]))
    #expect(outcome.elapsed == .seconds(8))
    #expect(outcome.router.isClosed == (step != .hello))
  }

  @Test("A router that sends its flight without the last message is asked again") func incomplete() throws {
    var simulation = try Simulation()
    simulation.router.alter = { if $0.part == .serverHelloDone { $0.instead = [] } }
    #expect(try simulation.run().result?.error == .noAnswer(.keyExchange))
  }

  @Test(
    "Each question has 8 s of its own",
    arguments: [
      // What is answered after 6 s is sent again after 1 s and 3 s, and that is lost.
      ([0, 0, 0, 6, 6], [4, 5, 7, 8]), ([0, 0, 6, 6, 0], [3, 4, 6, 7]),
    ]) func slowAnswers(_ seconds: [Int], _ lost: [Int]) throws
  {
    var simulation = try Simulation()
    simulation.disturb = { way, count, datagram in
      if way == .toRouter { return lost.contains(count) ? [] : [(.zero, datagram)] }
      return [(.seconds(seconds[count]), datagram)]
    }
    let outcome = try simulation.run()
    try Self.checkRead(outcome, "\(seconds)")
    #expect(outcome.elapsed == .seconds(12))
  }

  @Test("Each message of a flight has 8 s of its own") func slowFlight() throws {
    var simulation = try Simulation()
    simulation.router.hasOwnDatagrams = true
    simulation.disturb = { way, count, datagram in
      // ServerHello, ServerKeyExchange, ServerHelloDone; the hello that is sent again is lost.
      if way == .fromRouter { return [(.seconds((1...3).contains(count) ? 5 * count : 0), datagram)] }
      return count > 1 && datagram[13] == HandshakeType.clientHello.rawValue ? [] : [(.zero, datagram)]
    }
    let outcome = try simulation.run()
    try Self.checkRead(outcome, "slow")
    #expect(outcome.elapsed == .seconds(15))
  }

  @Test("A router that always answers a little before it is given up has 20 s") func slow() throws {
    var simulation = try Simulation()
    simulation.disturb = { way, _, datagram in [(way == .fromRouter ? .milliseconds(7_900) : .zero, datagram)] }
    let outcome = try simulation.run()
    #expect(outcome.result?.error == .tooSlow(.finished))
    #expect(outcome.elapsed == .seconds(20))
  }
}
