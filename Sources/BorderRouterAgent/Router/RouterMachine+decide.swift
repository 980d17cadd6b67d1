// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadDataset

extension RouterMachine {
  /// What follows from what was found, and from what was published before.
  mutating func decide(at now: Duration) -> [Effect] {
    guard let look = finding.look, let standing = finding.standing else { return [] }
    var effects: [Effect] = []
    if let published, let agent = standing.agent, agent != published.agent {
      // It was reset: the previous id is no more. One look may be wrong.
      guard isConnected, finding.countOfAgent >= Self.looksForLeave else { return [] }
      effects += leave(published.agent)
    }
    switch (standing, look) {
    case (.silent(let silence), _): effects += silent(silence, at: now)
    case (.gone, _): effects += gone()
    case (.stopped, .report(let report)): effects += stopped(report, at: now)
    case (.up, .report(let report)): effects += up(report, at: now)
    default: break
    }
    return effects
  }

  private mutating func leave(_ agent: BorderAgentID) -> [Effect] {
    (published, wantsAnnounce) = (nil, false)
    // Two routers have swapped their addresses: it is there, and another agent publishes for it.
    guard !elsewhere.contains(agent) else { return [.log(.elsewhere(agent))] }
    return effects(of: RouterEvent(.leave, of: agent))
  }

  private mutating func gone() -> [Effect] {
    guard isConnected, let published, finding.count >= Self.looksForLeave else { return [] }
    return leave(published.agent)
  }

  private mutating func silent(_ silence: RouterSilence, at now: Duration) -> [Effect] {
    guard published != nil, now - finding.downSince >= rhythm.hold else { return [] }
    return offline(silence.reason, at: now)
  }

  private mutating func offline(_ reason: OfflineReason?, at now: Duration) -> [Effect] {
    guard isConnected, var known = published else { return [] }
    // The reason is published when it was the same all the time, or twice in a row; it changes when it has held.
    let isOnlyOne = finding.downSince == finding.since
    let reason = isOnlyOne || finding.count >= 2 ? reason : nil
    let isOther = known.reason != reason && now - finding.since >= rhythm.hold
    guard known.isOnline || isOther || needsPublish else { return [] }
    (known.isOnline, known.reason, known.at) = (false, reason, now)
    published = known
    needsPublish = false
    return effects(of: RouterEvent(.offline, of: known.agent, reason: reason))
  }

  private mutating func stopped(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard let published else { return first(report, at: now) }
    guard isConnected else { return [] }
    if wantsAnnounce, now >= quietUntil { return publish(.announce, report, at: now) }
    guard now - finding.downSince >= rhythm.hold else { return [] }
    return hasNews(report, published) && now >= quietUntil
      ? publish(.dataset, report, at: now) : offline(.stopped, at: now)
  }

  private mutating func up(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard let published else { return first(report, at: now) }
    guard isConnected else { return [] }
    if now >= quietUntil {
      if wantsAnnounce || now - published.announcedAt >= rhythm.announce {
        return publish(.announce, report, at: now)
      }
      if hasNews(report, published) { return publish(.dataset, report, at: now) }
    }
    let isSame =
      published.isOnline && published.threadState == report.state
      && published.network == report.network
    guard !isSame || needsPublish || now - published.at >= rhythm.heartbeat else { return [] }
    let effects = publish(.heartbeat, report, at: now)
    return isSame ? effects : effects + [.log(RouterNote(report))]
  }

  /// The first publication of this router, or a connection for it.
  private mutating func first(_ report: RouterReport, at now: Duration) -> [Effect] {
    guard identity == report.agent else {
      identity = report.agent
      isConnected = false
      return [.connect(report.agent)]
    }
    return isConnected && now >= quietUntil ? publish(.announce, report, at: now) : []
  }

  /// Whether its dataset is complete, and not the one that was published. The order of the TLVs changes by itself.
  private func hasNews(_ report: RouterReport, _ published: Published) -> Bool {
    guard !isAdopting, let active = report.active, !active.hasSameTLVs(as: refusedDataset) else {
      return false
    }
    return !active.hasSameTLVs(as: published.dataset)
  }

  mutating func publish(
    _ kind: InboundEventKind, _ report: RouterReport, failure: AdoptionState? = nil,
    at now: Duration
  ) -> [Effect] {
    var dataset = published?.dataset
    if kind != .heartbeat {
      dataset = report.active.flatMap { $0.hasSameTLVs(as: refusedDataset) ? nil : $0 }
      if dataset != nil { refusedDataset = nil }
    }
    let isStopped = report.state == .disabled
    let isAnnounced = kind == .announce
    if isAnnounced { wantsAnnounce = false }
    let announcedAt = isAnnounced ? now : published?.announcedAt ?? now
    published = Published(
      agent: report.agent, dataset: dataset, network: report.network, threadState: report.state,
      isOnline: !isStopped, reason: isStopped ? .stopped : nil, at: now,
      announcedAt: announcedAt)
    needsPublish = false
    var event = RouterEvent(kind, report, dataset: dataset)
    event.adoptionFailure = failure
    return effects(of: event)
  }

  /// With a line for the log, but for heartbeats.
  private func effects(of event: RouterEvent) -> [Effect] {
    let note = Effect.log(RouterNote(event))
    return event.kind == .heartbeat ? [.publish(event)] : [.publish(event), note]
  }
}

extension OperationalDataset {
  /// Whether both have the same TLVs, in any order.
  func hasSameTLVs(as other: OperationalDataset?) -> Bool {
    guard let other, bytes.count == other.bytes.count else { return false }
    return bytes == other.bytes || sortedTLVs == other.sortedTLVs
  }

  private var sortedTLVs: [[UInt8]] {
    var tlvs: [[UInt8]] = []
    var rest = bytes[...]
    while rest.count >= 2 {
      let length = 2 + Int(rest[rest.startIndex + 1])
      tlvs.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return tlvs.sorted { $0.lexicographicallyPrecedes($1) }
  }
}
