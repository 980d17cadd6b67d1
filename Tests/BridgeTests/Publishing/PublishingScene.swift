import Broker
import Synchronization
import TestKit
import ThreadDataset

@testable import Bridge
@testable import Home

/// A home that a test feeds, and what it causes.
struct PublishingScene {
  var home: Home
  var rules: HomeRules
  var now = WireTime(milliseconds: 1_700_000_000_000)
  var output = HomeOutput()

  init(_ change: (inout HomeRules) -> Void = { _ in }) {
    let last = Mutex<UInt64>(0)
    rules = HomeRules(random: {
      last.withLock {
        $0 += 1
        return $0
      }
    })
    (rules.settings.routersPerTeam, rules.settings.routersPerHome) = (10_000, 10_000)
    change(&rules)
    home = Home(rules: rules)
  }

  @discardableResult mutating func handle(_ input: HomeInput) -> HomeOutput {
    output = home.handle(input, at: now, rules: rules)
    return output
  }

  @discardableResult mutating func tick(after seconds: Int = 1) -> HomeOutput {
    now = now.adding(seconds: seconds)
    return handle(.tick(Link(connection: 1, listeningSince: now.adding(seconds: -3_600))))
  }

  @discardableResult mutating func publish(
    _ kind: RouterMessage.Kind, _ agent: UInt64, _ dataset: DatasetSummary? = nil, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(kind, .router(.number(agent)))
    message.dataset = dataset
    change(&message)
    return handle(.message(message, from: user))
  }

  /// What a login shares that is no border router.
  @discardableResult mutating func share(
    _ dataset: DatasetSummary, from user: ExactName = "ha", _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(.credentials, .network(dataset.network))
    message.dataset = dataset
    change(&message)
    return handle(.message(message, from: user))
  }

  /// Makes a network that a router was seen on the preferred one, by its Extended PAN ID alone.
  mutating func prefer(seen network: UInt64) {
    let id = ExtendedPANID(number: network)
    var seen = Advertisement([BorderAgentID(high: 0xAB, low: network)])
    seen?.network = id
    seen?.networkName = "net-\(network)"
    handle(.sightings(Sightings([seen].compactMap(\.self))))
    handle(.request(.setPreferred(.network(id, router: nil)), .administrator))
  }

  /// A login that has a key asks.
  @discardableResult mutating func ask(
    _ request: HomeRequest = .getPreferred, by user: ExactName = "phone", writes: Bool = false
  ) -> HomeOutput {
    var requester = Requester(.login(user), team: user)
    requester.fingerprint = "0123"
    var context = RequestContext(requester, reply: .caller, actor: user.text)
    context.writesPreferred = writes
    return handle(.request(request, context))
  }

  mutating func decide(_ what: ConsentDecision.What, by approver: ConsentApprover = .statusPage) {
    handle(.decision(ConsentDecision(what, by: approver)))
  }

  mutating func enroll(_ user: ExactName, trust: EnrolledClient.Trust = .broker) {
    handle(
      .enroll(
        EnrolledClient(line: "tk1:…", fingerprint: "0123-4567", trust: trust, at: now, by: "uid 0"), user,
        by: .commandLine(user: 0)))
  }

  /// What the last output causes, as it is published after it was stored.
  func messages(base: String = "tk") -> [Publication] {
    let writer = EventWriter(home: "home", base: base, ways: .init(isOnlyHome: true))
    return writer.rows(of: output, at: now).flatMap { writer.publications($0) }
  }

  /// Topics, and payloads as texts.
  func lines() -> [String] { messages().map { "\($0.topic) \($0.text)" } }
}

extension DatasetSummary {
  static func of(_ network: UInt64, key: UInt64 = 1, at seconds: UInt64 = 1, channel: UInt32 = 15, name: String? = nil)
    -> DatasetSummary
  {
    guard let timestamp = Timestamp(seconds: seconds) else { preconditionFailure("48 bits") }
    return DatasetSummary(
      network: ExtendedPANID(number: network), name: name ?? "net-\(network)",
      parameters: Parameters(
        whole: Hash128(high: network << 32 | key << 16 | UInt64(channel), low: seconds),
        networkKey: Hash128(high: 1, low: key), pskc: Hash128(high: 2, low: key), activeTimestamp: timestamp,
        channel: channel, panID: 0x1234, meshLocalPrefix: 0xFD << 56, securityPolicy: 0x1_02A0_F7F8, domainName: nil,
        isKeyWellKnown: false))
  }
}

extension SeededGenerator {
  mutating func maybe<T>(_ value: T) -> T? { Bool.random(using: &self) ? value : nil }

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &self)] }

  /// With all that needs an escape, and some that does not.
  mutating func text() -> String {
    let parts = [
      "a", "Living room", "é", "\u{1}", "\u{1F}", "\"", "\\", "/", "\n", "\u{8}", "\u{C}", "\t", "\r", "😀", "\u{7F}",
      "\u{2028}", "",
    ]
    return (0..<Int.random(in: 0...4, using: &self)).map { _ in pick(parts) }.joined()
  }

  mutating func time() -> WireTime {
    WireTime(milliseconds: Int64.random(in: -62_000_000_000_000...200_000_000_000_000, using: &self))
  }
}

extension EventWriter {
  /// As the publisher makes them of a row.
  func publications(_ row: [UInt8]) -> [Publication] {
    var publications: [Publication] = []
    switch OutboxRow(row) {
    case .message(let topic, let payload): publications = [Publication(topic: topic, payload: payload)]
    case .events(let stored): append(stored, to: &publications)
    case nil: break
    }
    return publications
  }
}
