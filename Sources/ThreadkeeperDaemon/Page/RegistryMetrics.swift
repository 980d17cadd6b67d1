// SPDX-License-Identifier: Apache-2.0

import Bridge
import BridgeProtocol
import StatusPage

/// What monitoring learns of the homes, from the registry.
struct RegistryMetrics {
  /// Routers of a home that have a sample of their own. A login can make many; monitoring keeps each for months.
  static let routersListed = 200

  private var routers: [Metric.Sample] = []
  private var networks: [Metric.Sample] = []
  private var alerts: [Metric.Sample] = []
  private var seen: [Metric.Sample] = []
  private let waiting: Int64
  /// When a router is seen that is advertised on the local network; nil while the daemon does not look.
  private let now: WireTime?

  init(_ registry: Registry, now: WireTime?) throws {
    self.now = now
    waiting = try registry.registry.waitingEvents()
    for home in try registry.registry.homes() {
      add(home.name, try registry.registry.routers(in: home))
      networks.append(
        .init(Double(try registry.registry.networks(in: home).count), [("home", home.name)]))
      add(home.name, try registry.registry.alerts(in: home, all: false))
    }
  }

  var all: [Metric] {
    [
      Metric(
        .gauge, "threadkeeper_outbox_events", "Events that wait for the broker.", Double(waiting)),
      Metric(
        .gauge, "threadkeeper_routers", "Border routers, by whether they are online.", routers),
      Metric(.gauge, "threadkeeper_networks", "Thread networks that have routers.", networks),
      Metric(.gauge, "threadkeeper_alerts", "Alerts that fire, by name and severity.", alerts),
      Metric(
        .gauge, "threadkeeper_router_last_seen_timestamp_seconds",
        "When a border router was seen last; of at most \(Self.routersListed) a home.", seen),
    ]
  }

  private mutating func add(_ home: String, _ records: [RouterRecord]) {
    let online = records.count(where: \.isOnline)
    for (state, count) in [("online", online), ("offline", records.count - online)] {
      routers.append(.init(Double(count), [("home", home), ("availability", state)]))
    }
    for router in records.prefix(Self.routersListed) {
      seen.append(
        .init(
          Double(
            ((router.isAdvertised ? now : nil) ?? router.lastSeen).milliseconds / 1_000),
          [("home", home), ("border_agent_id", router.agent.description)]))
    }
  }

  private mutating func add(_ home: String, _ records: [AlertRecord]) {
    // Not `alertname`, which Prometheus sets itself on what a rule makes of it.
    for kind in StatusReport.Alert.list(records) {
      alerts.append(
        .init(
          Double(kind.count),
          [
            ("home", home), ("alert", kind.alertname.rawValue),
            ("severity", kind.severity.rawValue),
          ]))
    }
  }
}
