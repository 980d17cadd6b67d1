import Bridge
import Broker
import Home
import StatusPage
import ThreadDataset
import Wire

/// What monitoring learns of the process, from memory.
package struct DaemonMetrics {
  private let status: DaemonStatus
  private let figures: BridgeFigures

  package init(_ status: DaemonStatus, _ figures: BridgeFigures) { (self.status, self.figures) = (status, figures) }

  var all: [Metric] { [Self.build] + ofBridge }

  package static let build = Metric(
    .gauge, "threadkeeper_build_info", "The version of the daemon, as a label.",
    [.init(1, [("version", threadkeeperVersion)])])

  /// The set differs only by the metrics of discovery.
  package var ofBridge: [Metric] { states + counters + histograms }

  private var states: [Metric] {
    let known = status.monitor
    var states = [
      gauge(
        "broker_connected", "Whether both connections to the broker are up.",
        known.intakeLink.isConnected && known.statusLink.isConnected),
      gauge("intake_running", "Whether events are taken up.", status.intake.state == .running),
      gauge("store_writable", "Whether the store can be written.", status.isStoreWritable),
      Metric(.gauge, "threadkeeper_outbox_events", "Events that wait for the broker.", Double(status.waiting)),
    ]
    if status.discovery.state == .running, let routers = status.discovery.routers {
      states.append(
        Metric(
          .gauge, "threadkeeper_discovered_routers", "Border routers that are advertised on the local network.",
          Double(routers)))
    }
    return states
  }

  private func gauge(_ name: String, _ help: String, _ value: Bool) -> Metric {
    Metric(.gauge, "threadkeeper_\(name)", help, value ? 1 : 0)
  }

  private var counters: [Metric] {
    let (known, requests) = (status.monitor, status.requests)
    let rejected = known.rejectedByCode.sorted { $0.key < $1.key }
    return [
      counter("messages_received", "Messages taken up since the start.", known.received),
      Metric(
        .counter, "threadkeeper_messages_rejected_total", "Messages that were rejected, by code.",
        rejected.map { .init(Double($0.value), [("code", $0.key)]) }),
      counter("messages_retained_ignored", "Retained messages that were ignored.", known.retainedIgnored),
      counter("messages_duplicate_ignored", "Messages that had been taken up before.", known.duplicatesIgnored),
      counter("requests_answered", "Requests that were answered.", Int64(requests.answered)),
      counter("requests_refused", "Requests that were refused.", Int64(requests.refused)),
      counter("answers_dropped", "Answers that nobody took in time.", Int64(requests.dropped)),
      counter("publications_refused", "Publications that the broker refused.", known.publicationsRefused),
      counter("intake_reconnects", "Times that the intake connected again.", known.intakeReconnects),
    ]
  }

  private func counter(_ name: String, _ help: String, _ value: Int64) -> Metric {
    Metric(.counter, "threadkeeper_\(name)_total", help, Double(value))
  }

  private var histograms: [Metric] {
    [
      histogram(
        "commit_duration_seconds", "From the beginning of a transaction to the end of its COMMIT.", figures.commit),
      histogram("batch_messages", "Messages of one transaction of the intake.", figures.batch),
      histogram(
        "publish_latency_seconds", "From an event to the broker's acknowledgement of what is published of it.",
        figures.publish),
      Metric(
        histogram: "threadkeeper_local_call_duration_seconds",
        "From a call of the local API to its answer, by method or operation; without calls with `more`.",
        figures.localCalls.snapshots.map { Metric.Distribution($1, [("method", $0)]) }),
    ]
  }

  private func histogram(_ name: String, _ help: String, _ histogram: Histogram) -> Metric {
    Metric(histogram: "threadkeeper_\(name)", help, [Metric.Distribution(histogram.snapshot)])
  }
}

extension Metric.Distribution {
  fileprivate init(_ snapshot: Histogram.Snapshot, _ labels: [(name: String, value: String)] = []) {
    self.init(labels, bounds: snapshot.bounds, counts: snapshot.counts, sum: snapshot.sum)
  }
}

/// What monitoring learns of the homes.
package struct HomeMetrics {
  /// Routers of a home that have a sample of their own. A login can make many; monitoring keeps each for months.
  static let routersListed = 200

  private var routers: [Metric.Sample] = []
  private var networks: [Metric.Sample] = []
  private var alerts: [Metric.Sample] = []
  private var seen: [Metric.Sample] = []
  private var missing: [Metric.Sample] = []
  /// When a router is seen that is advertised on the local network; nil while the daemon does not look.
  private let now: WireTime?

  /// Of homes together, without their names: a fleet has too many.
  package init(_ counts: HomeCounts) {
    now = nil
    add(nil, counts)
  }

  init(_ homes: [(name: String, home: Home)], now: WireTime?) {
    self.now = now
    for (name, home) in homes {
      add(name, HomeCounts(home))
      add(name, home.routers)
      missing.append(.init(Double(home.protection.missing.count), [("home", name)]))
    }
  }

  package var counts: [Metric] {
    [
      Metric(.gauge, "threadkeeper_routers", "Border routers, by whether they are online.", routers),
      Metric(.gauge, "threadkeeper_networks", "Thread networks that are listed.", networks),
      Metric(.gauge, "threadkeeper_alerts", "Alerts that fire, by name and severity.", alerts),
    ]
  }

  var all: [Metric] {
    counts + [
      Metric(
        .gauge, "threadkeeper_router_last_seen_timestamp_seconds",
        "When a border router was seen last; of at most \(Self.routersListed) a home.", seen),
      Metric(
        .gauge, "threadkeeper_protection_steps_missing", "Steps that are missing until a home is protected.", missing),
    ]
  }

  private mutating func add(_ home: String?, _ counts: HomeCounts) {
    let home = home.map { [(name: "home", value: $0)] } ?? []
    for (state, count) in [("online", counts.routers.online), ("offline", counts.routers.offline)] {
      routers.append(.init(Double(count), home + [("availability", state)]))
    }
    networks.append(.init(Double(counts.networks), home))
    // Not `alertname`, which Prometheus sets itself on what a rule makes of it.
    for kind in counts.firing {
      let labels = [(name: "alert", value: kind.name.word.description), ("severity", kind.severity.word.description)]
      alerts.append(.init(Double(kind.count), home + labels))
    }
  }

  private mutating func add(_ home: String, _ table: RouterTable) {
    for router in table.lazy.filter(\.isPresent).prefix(Self.routersListed) {
      let at = (router.isAdvertised ? now : nil) ?? table.lastSeen(router.agent)
      seen.append(
        .init(Double(at.milliseconds / 1_000), [("home", home), ("border_agent_id", router.agent.description)]))
    }
  }
}
