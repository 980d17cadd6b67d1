// SPDX-License-Identifier: Apache-2.0

import Bridge
import Home
import HomeStore
import SodiumCrypto
import TestKit
import Testing
import ThreadDataset

/// A home that a test feeds.
struct SampleHome {
  private static let key = SecretBytes(copying: [UInt8](repeating: 1, count: 32))

  private(set) var home: Home
  private let rules: HomeRules
  var now = WireTime(milliseconds: 1_700_000_000_000)

  init() {
    rules = HomeRules { .random(in: .min ... .max) }
    home = Home(rules: rules)
  }

  /// Records of it that cannot be read.
  mutating func damage() { home.hasDamage = true }

  @discardableResult
  mutating func handle(_ input: HomeInput) -> HomeOutput {
    home.handle(input, at: now, rules: rules)
  }

  mutating func tick(after seconds: Int) {
    now = now.adding(seconds: seconds)
    handle(.tick(Link(connection: 1, listeningSince: now.adding(seconds: -3_600))))
  }

  mutating func publish(
    _ kind: RouterMessage.Kind, _ agent: UInt64, on network: SampleNetwork? = nil,
    from user: ExactName = "otbr", _ change: (inout RouterMessage) -> Void = { _ in }
  ) throws {
    var message = RouterMessage(kind, .router(Self.agent(agent)))
    message.dataset = try network.map {
      try #require(DatasetSummary($0.dataset(at: 1), key: Self.key))
    }
    change(&message)
    handle(.message(message, from: user))
  }

  /// What a login shares that is no border router.
  mutating func share(_ network: SampleNetwork, from user: ExactName = "ha") throws {
    let dataset = try #require(DatasetSummary(network.dataset(at: 1), key: Self.key))
    var message = RouterMessage(.credentials, .network(dataset.network))
    message.dataset = dataset
    handle(.message(message, from: user))
  }

  /// All that is on the local network is one router.
  mutating func see(_ agent: UInt64, on network: SampleNetwork) throws {
    var seen = try #require(Advertisement([Self.agent(agent)]))
    seen.network = try #require(ExtendedPANID(hex: network.extendedPANID))
    seen.networkName = network.name
    handle(.sightings(Sightings([seen])))
  }

  /// As an administrator.
  mutating func request(_ request: HomeRequest) {
    var context = RequestContext(
      Requester(.systemUser(0), team: "root"), reply: .caller, actor: "root")
    context.isAdministrator = true
    handle(.request(request, context))
  }

  static func agent(_ number: UInt64) -> BorderAgentID { BorderAgentID(high: number, low: 0) }
}
