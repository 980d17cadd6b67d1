// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import HomeStore
import ThreadDataset

/// The retained states of one home as JSON, byte for byte what `docs/reference/mqtt-protocol.md` says. An allow-list: a
/// field that is not named here is not published.
struct StateWriter: Sendable {
  /// Its name.
  let home: String
  /// For commands in sentences: ` --home NAME`, or nothing where there is one home.
  let homeOption: String

  init(home: String, isOnlyHome: Bool) {
    self.home = home
    homeOption = isOnlyHome ? "" : " --home \(home)"
  }

  // MARK: Presence

  static let online = Array(#"{"state":"online"}"#.utf8)
  static let offline = Array(#"{"state":"offline"}"#.utf8)
  static let stopped = Array(#"{"reason":"stopped","state":"offline"}"#.utf8)

  // MARK: Routers and networks

  /// `router/<border_agent_id>`.
  ///
  /// - Parameter verdict: see `Home.verdict`.
  func router(_ router: Router, _ verdict: PreferredCheck) -> [UInt8] {
    var json = JSONBytes()
    let parameters = router.dataset?.parameters
    let name = router.networkName
    json.open()
    json.member(#""access_point":"#, router.accessPoint)
    json.member(#""active_timestamp":"#, router.activeSeconds)
    json.member(#""adoption":"#, word: router.adoption?.state.published)
    json.member(#""availability":"#, word: router.isOnline ? "online" : "offline")
    json.member(#""border_agent_id":"#, router.agent)
    json.member(#""channel":"#, parameters.map { UInt64($0.channelNumber) })
    json.member(#""credentials":"#, word: router.credential.word)
    json.member(#""current_ext_pan_id":"#, router.currentNetwork)
    json.member(#""dataset_changed_at":"#, router.datasetChangedAt)
    json.member(#""ext_address":"#, hex: router.extendedAddress)
    json.member(#""ext_pan_id":"#, router.network)
    json.member(#""first_seen":"#, router.firstSeenAt)
    json.member(#""home":"#, home)
    json.member(#""model":"#, router.model)
    json.member(#""name":"#, router.name)
    json.member(#""network_name":"#, name?.isEmpty == true ? nil : name)
    json.member(#""offline_reason":"#, word: router.offlineReason?.word)
    json.member(#""pan_id":"#, parameters.map { UInt64($0.panID) })
    json.member(#""partition_id":"#, router.shownPartition.map(UInt64.init))
    json.member(#""preferred":"#, word: verdict.word)
    json.member(#""source":"#, word: router.source.word)
    json.member(#""ssid":"#, router.ssid)
    json.member(#""thread_state":"#, word: router.shownThreadState?.word)
    json.member(#""thread_state_since":"#, router.shownThreadStateSince)
    json.member(#""thread_version":"#, router.threadVersion)
    json.member(#""user":"#, router.user?.text)
    json.member(#""v":"#, 1)
    json.member(#""vendor":"#, router.vendor)
    json.close()
    return json.bytes
  }

  /// `network/<ext_pan_id>`.
  func network(_ network: NetworkView) -> [UInt8] {
    var json = JSONBytes(capacity: 256)
    let parameters = network.dataset?.parameters
    json.open()
    json.member(#""accepted":"#, network.isAccepted)
    json.member(#""active_timestamp":"#, network.dataset?.activeSeconds)
    json.member(#""channel":"#, parameters.map { UInt64($0.channelNumber) })
    json.member(#""ext_pan_id":"#, network.id)
    json.member(#""home":"#, home)
    json.member(#""network_name":"#, network.name)
    json.member(#""pan_id":"#, parameters.map { UInt64($0.panID) })
    json.member(#""preferred":"#, network.isPreferred)
    json.member(#""routers":"#, UInt64(network.routers))
    json.member(#""routers_online":"#, UInt64(network.online))
    json.member(
      #""shared_by":"#,
      list: network.sharedBy.isEmpty ? nil : network.sharedBy.map(\.text))
    json.member(#""v":"#, 1)
    json.close()
    return json.bytes
  }

  // MARK: Alerts

  /// What is published about an alert.
  struct AlertNews {
    let type: Alert.News
    let previousSeverity: AlertSeverity?
  }

  /// `alert/<fingerprint>`, and, with news, `bridge/event/alert`.
  func alert(_ key: AlertKey, _ alert: Alert, news: AlertNews? = nil) -> [UInt8] {
    var json = JSONBytes(capacity: 1_536)
    append(key, alert, news, to: &json)
    return json.bytes
  }

  private func append(
    _ key: AlertKey, _ alert: Alert, _ news: AlertNews?, to json: inout JSONBytes
  ) {
    let facts = alert.facts
    let text = AlertText(facts, homeOption: homeOption)
    var networkName = facts.network?.name ?? ""
    // The place where all routers are.
    if key.name == .homeMoved, networkName.isEmpty {
      networkName = facts.network?.id.description ?? ""
    }
    json.open()
    json.member(#""alertname":"#, word: key.name.word)
    json.member(#""differs":"#, list: facts.differs?.words)
    json.key(#""ends_at":"#)
    json.orNull(alert.endsAt)
    json.member(#""event_type":"#, word: news?.type.eventType)
    json.member(#""ext_pan_id":"#, facts.network?.id)
    json.member(#""fingerprint":"#, fingerprint(key))
    json.member(#""home":"#, home)
    json.member(#""network_name":"#, networkName.isEmpty ? nil : networkName)
    json.member(#""preferred_ext_pan_id":"#, facts.preferred?.id)
    json.member(
      #""preferred_network_name":"#,
      facts.preferred?.name.isEmpty == true ? nil : facts.preferred?.name
    )
    json.member(#""previous_severity":"#, word: news?.previousSeverity?.word)
    json.member(#""reason":"#, word: facts.reason)
    json.member(#""remedy":"#, text.remedy)
    json.member(#""router":"#, facts.router)
    json.member(#""router_name":"#, facts.routerName)
    json.member(#""seq":"#, UInt64(alert.sequence))
    json.member(#""severity":"#, word: key.severity(facts).word)
    json.member(#""starts_at":"#, alert.startsAt ?? alert.heldSince)
    json.member(#""status":"#, word: alert.phase == .firing ? "firing" : "resolved")
    json.member(#""summary":"#, text.summary)
    json.member(#""trigger":"#, word: facts.trigger?.word)
    json.member(#""updated_at":"#, alert.updatedAt)
    json.member(#""user":"#, facts.user?.text)
    json.member(#""v":"#, 1)
    json.close()
  }

  func fingerprint(_ key: AlertKey) -> String {
    AlertFingerprint(home: home, name: key.name, subject: key.subject.text)
      .description
  }

  /// Alerts that `bridge/alerts` lists at most.
  static let listed = 20

  /// `bridge/alerts`.
  ///
  /// - Parameter first: an alert that no home has, as it is published; critical.
  func overview(_ alerts: [AlertKey: Alert], first: [UInt8]? = nil) -> [UInt8] {
    var counts: [AlertSeverity: UInt64] = [:]
    var firing: [(key: AlertKey, alert: Alert)] = []
    for (key, alert) in alerts where alert.phase == .firing {
      counts[key.severity(alert.facts), default: 0] += 1
      firing.append((key, alert))
    }
    firing.sort {
      if $0.alert.updatedAt != $1.alert.updatedAt { return $0.alert.updatedAt > $1.alert.updatedAt }
      if $0.key.name != $1.key.name { return $0.key.name.rawValue > $1.key.name.rawValue }
      return $0.key.subject.text > $1.key.subject.text
    }
    if first != nil { counts[.critical, default: 0] += 1 }
    var json = JSONBytes(capacity: 512 + 1_024 * min(firing.count, Self.listed))
    json.open()
    json.member(#""active":"#, counts.values.reduce(0, +))
    json.key(#""alerts":"#)
    json.open("[")
    if let first { json.raw(first) }
    for (key, alert) in firing.prefix(first == nil ? Self.listed : Self.listed - 1) {
      json.separate()
      append(key, alert, nil, to: &json)
    }
    json.close("]")
    json.member(#""critical":"#, counts[.critical] ?? 0)
    json.member(#""info":"#, counts[.info] ?? 0)
    json.member(#""v":"#, 1)
    json.member(#""warning":"#, counts[.warning] ?? 0)
    json.close()
    return json.bytes
  }

  // MARK: Questions

  /// A question that Home Assistant decides about, and what a decision has to repeat.
  struct Asked {
    let question: ConsentQuestion
    let token: String
  }

  /// `bridge/consent`.
  ///
  /// - Parameter waiting: what ends first comes first.
  func consent(_ waiting: [ConsentQuestion], asked: [Asked]) -> [UInt8] {
    var json = JSONBytes()
    let head = waiting.first
    json.open()
    if let head {
      let subject = head.subject
      json.member(#""border_agent_id":"#, subject.router?.agent)
      json.member(#""command":"#, subject.command.wireName)
      json.member(#""expires_at":"#, head.expiresAt)
      json.member(#""ext_pan_id":"#, subject.onlyNetwork)
      json.member(#""fingerprint":"#, head.requester.fingerprint)
      json.member(#""head":"#, head.id.questionText)
      if !asked.isEmpty {
        json.key(#""home_assistant":"#)
        json.open("[")
        for one in asked {
          json.separate()
          json.open()
          json.member(#""expires_at":"#, one.question.expiresAt)
          json.member(#""id":"#, one.question.id.questionText)
          json.member(#""message":"#, one.question.reason(home: homeOption.isEmpty ? nil : home))
          json.member(#""token":"#, one.token)
          json.close()
        }
        json.close("]")
      }
      json.member(#""network_name":"#, subject.names)
    }
    json.member(#""pending":"#, UInt64(waiting.count))
    json.member(#""requester":"#, head?.requester.shown)
    json.member(#""v":"#, 1)
    json.close()
    return json.bytes
  }

  // MARK: The daemon

  /// `bridge/info`.
  ///
  /// - Parameter own: of the home.
  func info(
    _ settings: PublisherSettings, _ own: HomeSettings, preferred: DatasetSummary?, routers: Int,
    networks: Int
  ) -> [UInt8] {
    let identity = settings.identity()
    var json = JSONBytes(capacity: 512)
    json.open()
    json.member(#""alerts_hold":"#, UInt64(own.alertsHold))
    json.member(#""enrolment_line":"#, identity?.line)
    json.member(#""fingerprint":"#, identity?.fingerprint)
    json.member(#""home":"#, home)
    json.member(#""instance_id":"#, settings.instanceID)
    json.member(#""networks":"#, UInt64(networks))
    json.member(#""offline_after":"#, UInt64(own.offlineAfter))
    json.member(#""on_mismatch":"#, word: own.adoptTimeout == nil ? "alert" : "adopt")
    if let preferred {
      json.key(#""preferred_network":"#)
      json.open()
      json.member(#""ext_pan_id":"#, preferred.network)
      json.member(#""network_name":"#, preferred.name)
      json.close()
    }
    json.member(#""routers":"#, UInt64(routers))
    json.member(#""v":"#, 1)
    json.member(#""version":"#, settings.version)
    json.close()
    return json.bytes
  }
}
