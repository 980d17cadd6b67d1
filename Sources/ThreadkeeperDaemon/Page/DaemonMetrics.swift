// SPDX-License-Identifier: Apache-2.0

import Bridge
import StatusPage

/// What monitoring learns of the process, from memory.
struct DaemonMetrics {
  let snapshot: BridgeMonitor.Snapshot
  let figures: BridgeFigures
  let discovery: DiscoveryState
  let isStoreWritable: Bool

  var all: [Metric] { states + counters + histograms }

  private var states: [Metric] {
    var states = [
      Metric(
        .gauge, "threadkeeper_build_info", "The version of the daemon, as a label.",
        [.init(1, [("version", threadkeeperVersion)])]),
      gauge(
        "broker_connected", "Whether both connections to the broker are up.",
        snapshot.isIntakeConnected && snapshot.isStatusConnected),
      gauge("intake_running", "Whether events are taken up.", snapshot.intake == .running),
      gauge("store_writable", "Whether the store can be written.", isStoreWritable),
    ]
    if case .running(let routers, _) = discovery {
      states.append(
        Metric(
          .gauge, "threadkeeper_discovered_routers",
          "Border routers that are advertised on the local network.", Double(routers)))
    }
    return states
  }

  private func gauge(_ name: String, _ help: String, _ value: Bool) -> Metric {
    Metric(.gauge, "threadkeeper_\(name)", help, value ? 1 : 0)
  }

  private var counters: [Metric] {
    let rejected = snapshot.rejectedByCode.sorted { $0.key < $1.key }
    return [
      counter("messages_received", "Messages taken up since the start.", snapshot.received),
      Metric(
        .counter, "threadkeeper_messages_rejected_total", "Messages that were rejected, by code.",
        rejected.map { .init(Double($0.value), [("code", $0.key)]) }),
      counter(
        "messages_retained_ignored", "Retained messages that were ignored.",
        snapshot.retainedIgnored),
      counter(
        "messages_duplicate_ignored", "Messages that had been taken up before.",
        snapshot.duplicatesIgnored),
      counter("requests_answered", "Requests that were answered.", snapshot.requestsAnswered),
      counter("requests_refused", "Requests that were refused.", snapshot.requestsRefused),
      counter("answers_dropped", "Answers that nobody took in time.", snapshot.answersDropped),
      counter(
        "publications_refused", "Publications that the broker refused.",
        snapshot.publicationsRefused),
      counter(
        "intake_reconnects", "Times that the intake connected again.", snapshot.intakeReconnects),
    ]
  }

  private func counter(_ name: String, _ help: String, _ value: Int64) -> Metric {
    Metric(.counter, "threadkeeper_\(name)_total", help, Double(value))
  }

  private var histograms: [Metric] {
    [
      histogram(
        "commit_duration_seconds", "From the beginning of a transaction to the end of its COMMIT.",
        figures.commit),
      histogram("batch_messages", "Messages of one transaction of the intake.", figures.batch),
      histogram(
        "publish_latency_seconds",
        "From an event to the broker's acknowledgement of what is published of it.",
        figures.publish),
      Metric(
        histogram: "threadkeeper_local_call_duration_seconds",
        "From a call of the local API to its answer, by method; without those that follow something.",
        figures.localCalls.snapshots.map { Metric.Distribution($1, [("method", $0)]) }),
    ]
  }

  private func histogram(_ name: String, _ help: String, _ histogram: Histogram) -> Metric {
    Metric(
      histogram: "threadkeeper_\(name)", help, [Metric.Distribution(histogram.snapshot)])
  }
}

extension Metric.Distribution {
  fileprivate init(
    _ snapshot: Histogram.Snapshot, _ labels: [(name: String, value: String)] = []
  ) {
    self.init(
      labels, bounds: snapshot.bounds, counts: snapshot.counts, sum: snapshot.sum)
  }
}
