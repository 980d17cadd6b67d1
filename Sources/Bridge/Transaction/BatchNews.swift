// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging

/// What a person who reads the log wants to know of a batch: who came and went, which alerts rose and
/// fell. A fleet that starts all at once fills no disk with it.
struct BatchNews {
  private struct Line {
    let level: Logger.Level
    let text: Logger.Message
    let metadata: Logger.Metadata
    /// The same for people who do not read logs.
    let sentence: String
    let matter: Matter
  }

  /// What a line is about: each has lines of its own.
  enum Matter: CaseIterable {
    case routers
    /// A flood of announcements must not keep what is wrong out of the log.
    case alerts
    /// Somebody who makes many routers must not keep a question from the person who has to decide.
    case consent

    var lines: Int {
      switch self {
      case .routers, .alerts: 10
      // As many as may wait at a time.
      case .consent: 100
      }
    }
  }

  private var kept: [Line] = []
  private var taken: [Matter: Int] = [:]
  private var more: [Matter: Int] = [:]

  private func isFull(_ matter: Matter) -> Bool { taken[matter, default: 0] >= matter.lines }

  mutating func add(
    _ level: Logger.Level, _ text: Logger.Message, _ metadata: Logger.Metadata,
    of matter: Matter = .routers, as sentence: String? = nil
  ) {
    if isFull(matter) {
      more[matter, default: 0] += 1
    } else {
      taken[matter, default: 0] += 1
      kept.append(
        Line(
          level: level, text: text, metadata: metadata,
          sentence: sentence ?? "\(text)".capitalizedFirst, matter: matter))
    }
  }

  /// The same lines for people who look at what happened last.
  func events(at now: WireTime) -> [RecentEvents.Event] {
    kept.suffix(RecentEvents.kept).map {
      .init(
        at: now, severity: $0.level.rawValue, text: $0.sentence)
    }
  }

  /// Called when the batch is committed: before, it is no news.
  ///
  /// - Parameter pace: bounds the lines by time, however many batches there are.
  func log(to logger: Logger, _ pace: inout NewsPace, at now: WireTime) {
    var left: [Matter: Int] = [:]
    var skipped = 0
    for matter in Matter.allCases {
      let more = more[matter, default: 0]
      let count = kept.count { $0.matter == matter }
      let (lines, earlier) = pace.take(count, of: matter, beside: more, at: now)
      left[matter] = lines
      skipped += earlier
    }
    for line in kept where line.level >= .error || left[line.matter, default: 0] > 0 {
      left[line.matter, default: 0] -= 1
      logger.log(level: line.level, line.text, metadata: line.metadata)
    }
    if skipped > 0 { logger.info("and more like this", metadata: ["count": "\(skipped)"]) }
  }

  /// The same without a bound in time.
  func log(to logger: Logger) {
    var pace = NewsPace()
    log(to: logger, &pace, at: WireTime(milliseconds: 0))
  }
}

extension BatchNews {
  private static let words: [(types: OutboundEventTypes, text: Logger.Message)] = [
    (.routerDiscovered, "border router found on the local network"),
    (.routerAnnounced, "border router announced"), (.routerOnline, "border router is back"),
    (.routerLeft, "border router left"),
    (.datasetUpdated, "dataset changed"), (.datasetIgnored, "dataset ignored"),
    (.ssidChanged, "SSID changed"), (.preferredChanged, "preferred network changed"),
    (.datasetSent, "preferred credentials are sent"),
  ]

  private static func sentence(_ type: OutboundEventTypes, _ event: EventRecord) -> String? {
    let router = event.routerName ?? event.router?.description ?? "A border router"
    let network = event.detail.networkName ?? event.network?.description
    let ofNetwork = network.map { " of \($0)" } ?? ""
    switch type {
    case .routerDiscovered:
      return "\(router) is seen on the local network\(network.map { ", on \($0)" } ?? "")"
    case .routerAnnounced: return "\(router) announced itself"
    case .routerOnline: return "\(router) is back"
    case .routerLeft: return "\(router) left"
    case .datasetUpdated: return "\(router) has a new dataset\(ofNetwork)"
    case .datasetIgnored:
      return event.detail.reason == "older"
        ? "An older dataset of \(router) was ignored"
        : "A dataset of \(router) was ignored: it differs from a stored one of the same age"
    case .ssidChanged:
      return "The Wi-Fi of \(router) is \(event.detail.ssid ?? "another one") now"
    case .preferredChanged:
      // The same network with another dataset.
      if let network, event.detail.differs != nil, event.detail.previousExtendedPANID == nil {
        return "The preferred network \(network) has changed"
      }
      return network.map { "\($0) is the preferred network now" }
        ?? "No network is preferred any more"
    case .datasetSent: return "\(router) was sent the credentials\(ofNetwork)"
    default: return nil
    }
  }

  mutating func add(_ event: EventRecord) {
    for (types, text) in Self.words where !event.types.isDisjoint(with: types) {
      guard !isFull(.routers) else {
        more[.routers, default: 0] += 1
        continue
      }
      var metadata: Logger.Metadata = [:]
      metadata["border_agent_id"] = event.router.map { "\($0)" }
      metadata["router_name"] = event.routerName.map { "\($0)" }
      metadata["ext_pan_id"] = event.network.map { "\($0)" }
      metadata["network_name"] = event.detail.networkName.map { "\($0)" }
      metadata["reason"] = event.detail.reason.map { "\($0)" }
      add(.info, text, metadata, as: Self.sentence(types, event))
    }
  }

  mutating func add(_ type: OutboundEventTypes, _ alert: AlertRecord) {
    let isOver = type == .alertResolved
    var metadata: Logger.Metadata = [
      "alertname": "\(alert.name.rawValue)", "summary": "\(alert.facts.summary)",
    ]
    if !isOver { metadata["remedy"] = "\(alert.facts.remedy)" }
    add(
      isOver ? .info : alert.severity.logLevel, isOver ? "alert resolved" : "alert", metadata,
      of: .alerts, as: (isOver ? "Resolved: " : "") + alert.facts.headline)
  }
}

extension AlertName.Severity {
  var logLevel: Logger.Level {
    switch self {
    case .critical: .critical
    case .warning: .warning
    case .info: .info
    }
  }
}
