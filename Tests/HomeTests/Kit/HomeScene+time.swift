// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@testable import Home

extension HomeScene {
  /// Time passes, and a tick comes at its end.
  @discardableResult
  mutating func pass(seconds: Int) -> HomeOutput {
    wait(seconds: seconds - 1)
    return tick()
  }

  /// When something is due by the clock, in seconds from now; on a connection that listens for so long.
  func due(listening seconds: Int? = 3_600) -> Double? {
    let link = Link(connection: 1, listeningSince: seconds.map { now.adding(seconds: -$0) })
    return home.nextDue(link, rules: rules).map {
      Double($0.milliseconds - now.milliseconds) / 1_000
    }
  }

  /// The alerts that fire, but for those about how datasets were sent.
  var alarms: Set<AlertKey> { firing.filter { $0.name != .plaintextCredentials } }

  func verdict(of agent: UInt64) -> PreferredCheck? { router(agent).map(home.verdict(of:)) }

  // MARK: Discovery

  /// What is on the local network now, all of it.
  @discardableResult
  mutating func see(_ list: Advertisement..., isComplete: Bool = true) -> HomeOutput {
    handle(.sightings(Sightings(list, isComplete: isComplete)))
  }

  var looks: [Int] { [home.discoveryCounts.listed, home.discoveryCounts.refused] }
}

extension AlertKey {
  static func of(_ name: AlertName, _ agent: UInt64) -> AlertKey {
    AlertKey(name, .router(.number(agent)))
  }

  static func of(_ name: AlertName) -> AlertKey { AlertKey(name) }

  static func split(_ network: UInt64) -> AlertKey {
    AlertKey(.networkSplit, .network(.number(network)))
  }
}

extension Advertisement {
  static func of(
    _ agents: UInt64..., on network: UInt64? = 1, at seconds: UInt64? = 1,
    partition: UInt32? = 7, _ change: (inout Advertisement) -> Void = { _ in }
  ) -> Advertisement {
    guard var one = Advertisement(agents.map(BorderAgentID.number)) else {
      preconditionFailure("an id")
    }
    one.name = "seen \(agents[0])"
    one.vendor = "Acme"
    one.network = network.map(ExtendedPANID.number)
    one.networkName = network.map { "net-\($0)" }
    one.activeSeconds = seconds
    one.partition = partition
    one.threadVersion = "1.4.0"
    change(&one)
    return one
  }
}

extension HomeOutput {
  /// What has become of alerts, by name.
  var alerts: [AlertName: Alert.News] {
    events.reduce(into: [:]) {
      if case .alert(let key, _, let news, _) = $1, key.name != .plaintextCredentials {
        $0[key.name] = news
      }
    }
  }
}
