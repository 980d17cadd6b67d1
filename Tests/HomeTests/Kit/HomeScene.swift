// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import ThreadDataset

@testable import Home

/// A home with its rules and a clock that a test turns. Nothing in it waits.
struct HomeScene {
  var home: Home
  var rules: HomeRules
  var now = WireTime(milliseconds: 1_700_000_000_000)
  /// What followed from the last input.
  var output = HomeOutput()

  init(_ change: (inout HomeRules) -> Void = { _ in }) {
    let last = Mutex<UInt64>(0)
    rules = HomeRules(
      random: {
        last.withLock {
          $0 += 1
          return $0
        }
      })
    change(&rules)
    home = Home(rules: rules)
  }

  @discardableResult
  mutating func handle(_ input: HomeInput) -> HomeOutput {
    output = home.handle(input, at: now, rules: rules)
    return output
  }

  mutating func wait(seconds: Int) { now = now.adding(seconds: seconds) }

  /// A second passes, on a connection that has received everything for an hour.
  @discardableResult
  mutating func tick(connection: Int64? = 1) -> HomeOutput {
    wait(seconds: 1)
    return handle(
      .tick(Link(connection: connection, listeningSince: now.adding(seconds: -3_600))))
  }

  // MARK: Routers

  /// Number n is the border agent id of n.
  @discardableResult
  mutating func announce(
    _ agent: UInt64, _ dataset: DatasetSummary? = nil, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    publish(.announce, agent, from: user) {
      $0.dataset = dataset
      change(&$0)
    }
  }

  @discardableResult
  mutating func publish(
    _ kind: RouterMessage.Kind, _ agent: UInt64, from user: ExactName = "otbr",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(kind, .router(.number(agent)))
    change(&message)
    return handle(.message(message, from: user))
  }

  /// A login that is no border router has credentials.
  @discardableResult
  mutating func share(
    _ dataset: DatasetSummary, isPreferred: Bool = false, from user: ExactName = "ha",
    _ change: (inout RouterMessage) -> Void = { _ in }
  ) -> HomeOutput {
    var message = RouterMessage(.credentials, .network(dataset.network))
    message.dataset = dataset
    message.isPreferred = isPreferred
    message.name = "Home Assistant"
    change(&message)
    return handle(.message(message, from: user))
  }

  func router(_ agent: UInt64) -> Router? { home.routers[.number(agent)] }

  // MARK: Alerts

  /// Those that fire, by name and router.
  var firing: Set<AlertKey> {
    Set(home.alerts.filter { $0.value.phase == .firing }.map(\.key))
  }

  func alert(_ name: AlertName, _ agent: UInt64? = nil) -> Alert? {
    home.alerts[AlertKey(name, agent.map { .router(.number($0)) } ?? .home)]
  }

  // MARK: Requests

  /// A program of this machine, or a login of the broker with an enrolled key.
  static func requester(_ name: ExactName, onMachine: Bool = false) -> Requester {
    var requester = Requester(onMachine ? .systemUser(1_000) : .login(name), team: name)
    if !onMachine { requester.fingerprint = "key of \(name.text)" }
    return requester
  }

  @discardableResult
  mutating func ask(
    _ request: HomeRequest, by requester: Requester = HomeScene.requester("phone"),
    _ change: (inout RequestContext) -> Void = { _ in }
  ) -> HomeAnswer? {
    var context = RequestContext(requester, reply: .caller, actor: "somebody")
    context.isSigned = true
    change(&context)
    return handle(.request(request, context)).answer
  }

  /// As the daemon's own user.
  @discardableResult
  mutating func command(_ request: HomeRequest) -> HomeAnswer? {
    ask(request, by: Requester(.systemUser(0), team: "root")) { $0.isAdministrator = true }
  }

  /// What is shared of the preferred network, or of another one.
  @discardableResult
  mutating func accept(
    _ network: UInt64? = nil, by approver: ConsentApprover = .commandLine(user: 0)
  ) -> HomeAnswer? {
    handle(.acceptCredentials(network.map(ExtendedPANID.number), by: approver)).answer
  }

  @discardableResult
  mutating func decide(
    _ what: ConsentDecision.What, by approver: ConsentApprover = .commandLine(user: 0)
  ) -> HomeAnswer? {
    handle(.decision(ConsentDecision(what, by: approver))).answer
  }

  mutating func enroll(
    _ user: ExactName, fingerprint: String? = nil, trust: EnrolledClient.Trust = .broker
  ) {
    handle(
      .enroll(
        EnrolledClient(
          line: "line of \(user.text)", fingerprint: fingerprint ?? "key of \(user.text)",
          trust: trust, at: now, by: "test"), user, by: .commandLine(user: 7)))
  }
}

extension HomeOutput {
  /// What happened to routers, all of it.
  var types: RouterEvent.Types {
    events.reduce(into: []) {
      if case .router(let event) = $1 { $0.formUnion(event.types) }
    }
  }

  func types(of agent: UInt64) -> RouterEvent.Types {
    events.reduce(into: []) {
      if case .router(let event) = $1, event.router == .number(agent) {
        $0.formUnion(event.types)
      }
    }
  }
}

extension BorderAgentID {
  static func number(_ value: UInt64) -> BorderAgentID {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    guard let id = BorderAgentID(bytes: bytes) else { preconditionFailure("8 bytes") }
    return id
  }
}

extension ExtendedPANID {
  static func number(_ value: UInt64) -> ExtendedPANID {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) }
    guard let id = ExtendedPANID(bytes: bytes) else { preconditionFailure("8 bytes") }
    return id
  }
}

extension DatasetSummary {
  /// A dataset of a network: equal numbers stand for equal values.
  static func of(
    _ network: UInt64, key: UInt64 = 1, at seconds: UInt64 = 1, channel: UInt32 = 15,
    name: String? = nil, isWellKnown: Bool = false, other: UInt64 = 0
  ) -> DatasetSummary {
    let name = name ?? "net-\(network)"
    guard let timestamp = Timestamp(seconds: seconds) else { preconditionFailure("48 bits") }
    var hasher = Hasher()
    for value in [network, key, seconds, UInt64(channel), other] { hasher.combine(value) }
    hasher.combine(name)
    return DatasetSummary(
      network: .number(network), name: name,
      parameters: Parameters(
        whole: Hash128(high: UInt64(bitPattern: Int64(hasher.finalize())), low: network),
        networkKey: Hash128(high: 1, low: key), pskc: Hash128(high: 2, low: key),
        activeTimestamp: timestamp, channel: channel, panID: 0x1234, meshLocalPrefix: 0xFD << 56,
        securityPolicy: 0x1_02A0_F7F8, domainName: nil, isKeyWellKnown: isWellKnown))
  }
}
