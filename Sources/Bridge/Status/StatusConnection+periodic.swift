// SPDX-License-Identifier: Apache-2.0

import Broker

extension StatusConnection {
  /// What is due by the clock: health, changed info, and the alert that the store cannot hold.
  func periodic(now: WireTime, isFirst: Bool = false) {
    guard state.withLock({ $0.isConnected }) else { return }
    checkReading(now: now)
    restoreDevices()
    let isFirst = isFirst || state.withLock { $0.needsRepublish }
    state.withLock { $0.needsRepublish = false }
    let isBorn = state.withLock { state in
      guard let due = state.birthDue, due <= now else { return false }
      state.birthDue = nil
      return true
    }
    if isBorn { republish(withPresence: true) }
    let snapshot = monitor.snapshot
    let due = state.withLock {
      $0.toldIntake != snapshot.intake || $0.nextHealth.map { $0 <= now } ?? true
    }
    // Asked for before the overviews are made: what changes in between is published the next time.
    let problem = snapshot.storeProblem
    let report = report(isHealthDue: due, isFirst: isFirst, now: now)
    state.withLock { state in
      for (home, info) in report.infos where state.lastInfo[home.name] != info {
        state.lastInfo[home.name] = info
        state.queue.append(
          Publication(
            topic: OutboundTopic(base: home.base).info, payload: encode(info), retain: true))
      }
      if let health = report.health {
        state.lastHealth = health
        state.nextHealth = now.adding(seconds: BridgeHealth.intervalSeconds)
        state.toldIntake = snapshot.intake
        state.queue += publications(of: health)
      }
      state.queue += report.consents
      publish(problem, &state, overviews: report.overviews, isFirst: isFirst, now: now)
    }
  }

  /// What waits for a time by another clock is due now.
  func clockJumped(to now: WireTime) {
    state.withLock {
      $0.nextHealth = nil
      $0.nextRepublish = nil
      $0.birthDue = $0.birthDue.map { _ in now }
    }
  }

  /// What the registry holds; where it cannot be read, health with the previous counts, because that is when people
  /// look at it.
  private func report(isHealthDue: Bool, isFirst: Bool, now: WireTime) -> BridgeReports.Report {
    do {
      let report = try reports.report(isHealthDue: isHealthDue, isFirst: isFirst, now: now)
      monitor.readWorks(.registry)
      return report
    } catch {
      noteFailure(error, of: .registry, "the registry cannot be read")
      guard isHealthDue else { return BridgeReports.Report() }
      let last = state.withLock { $0.lastHealth }
      return BridgeReports.Report(
        health: reports.health(
          routers: last?.routers ?? 0, networks: last?.networks ?? 0,
          active: last?.alertsActive ?? 0, waiting: last?.eventsWaiting ?? 0, now: now))
    }
  }

  private func publications(of health: BridgeHealth) -> [Publication] {
    topics.homes.map {
      Publication(
        topic: OutboundTopic(base: $0.base).health, payload: encode(health), retain: true,
        messageExpiry: BridgeHealth.expirySeconds)
    }
  }

  /// - Parameter isFirst: of this connection. The broker may hold what an earlier connection or an earlier process has
  ///   published.
  private func publish(
    _ problem: BridgeMonitor.StoreProblem?, _ state: inout State,
    overviews: [(BaseTopics.Home, AlertsOverview)], isFirst: Bool, now: WireTime
  ) {
    let published = state.publishedStoreProblem
    let isNews = problem != published
    if isFirst || isNews {
      for (home, overview) in overviews {
        state.queue.append(
          Publication(
            topic: OutboundTopic(base: home.base).alerts, payload: encode(overview), retain: true))
      }
    }
    guard let home = topics.homes.first else { return }
    let topic = OutboundTopic(base: home.base)
    let fingerprint = AlertFingerprint(home: home.name, name: .storeReadOnly, subject: "")
    if isNews, let subject = problem ?? published {
      var alert = AlertsOverviewSource.storeAlert(
        subject, home: home.name, endsAt: problem == nil ? now : nil)
      let retained = Publication(
        topic: topic.alert(fingerprint), payload: encode(alert), retain: true,
        messageExpiry: problem == nil ? UInt32(AlertState.resolvedRetention) : nil)
      state.storeAlert = retained
      alert.eventType =
        problem == nil ? "alert_resolved" : published == nil ? "alert_raised" : "alert_updated"
      state.queue += [retained, Publication(topic: topic.alertEvent, payload: encode(alert))]
      state.publishedStoreProblem = problem
      state.nextHealth = nil
    } else if isFirst {
      // The connection before may have ended with it on the way, or a daemon before us while it fired.
      state.queue.append(
        state.storeAlert
          ?? Publication(topic: topic.alert(fingerprint), payload: [], retain: true))
    }
  }
}
