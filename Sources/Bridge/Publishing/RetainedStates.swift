import Broker
import Home
import HomeStore
import ThreadDataset
import ThreadkeeperSupport
import Wire

/// A retained topic, by what it is about.
struct RetainedPlace: Hashable {
  enum Subject: Hashable {
    // About the daemon.
    case presence, info, health, alerts, consent
    // About one thing.
    case router(BorderAgentID)
    case availability(BorderAgentID)
    case network(ExtendedPANID)
    case alert(AlertKey)
    // Devices of Home Assistant: of the home, of a router, and the buttons of a question, of a network that can be
    // preferred, and of keys that can be kept.
    case homeDevice
    case routerDevice(BorderAgentID)
    case questionDevice(ConsentID)
    case choiceDevice(ExtendedPANID)
    case disputeDevice(WireTime)
  }

  /// Its place in the settings.
  let home: Int
  let subject: Subject

  /// Most are of routers, and looked up with each change of one.
  func _rawHashValue(seed: Int) -> Int {
    let subject =
      switch subject {
      case .router(let agent): agent._rawHashValue(seed: 1)
      case .availability(let agent): agent._rawHashValue(seed: 2)
      case .routerDevice(let agent): agent._rawHashValue(seed: 3)
      default: subject.hashValue
      }
    return TableHash.mix(UInt64(home), UInt64(truncatingIfNeeded: subject), seed: seed)
  }

  var isDevice: Bool {
    switch subject {
    case .homeDevice, .routerDevice, .questionDevice, .choiceDevice, .disputeDevice: true
    case .presence, .info, .health, .alerts, .consent, .router, .availability, .network, .alert: false
    }
  }

  var isAlert: Bool { if case .alert = subject { true } else { false } }

  /// Whether each connection begins with it.
  var isOfDaemon: Bool {
    switch subject {
    case .presence, .info, .health, .alerts, .consent: true
    default: false
    }
  }

  /// Whether it is the device of buttons alone.
  var isButton: Bool {
    switch subject {
    case .questionDevice, .choiceDevice, .disputeDevice: true
    default: false
    }
  }
}

/// What a publisher has to know of the settings.
package struct PublisherSettings: Sendable {
  package let topics: BaseTopics
  /// Of the program.
  package var version = ""
  /// Where a browser of the home opens the page; nil where none can.
  package var page: String?
  /// 32 hex digits of the store.
  package var instanceID = ""
  /// Of the daemon whose base topics this one takes over.
  package var takesOver: String?
  /// Of each home in order.
  package var homes: [HomeSettings]
  /// The daemon's public keys, once it has any.
  package var identity: @Sendable () -> (line: String, fingerprint: String)? = { nil }
  /// Of Home Assistant's discovery; nil: no devices are announced.
  package var discoveryPrefix: String?
  /// Where Home Assistant says that it has started.
  package var birthTopic = "homeassistant/status"
  /// What is asked there, and with which tokens.
  package var requests = RequestRules()
  /// The team that a user of the broker speaks for.
  package var team: @Sendable (ExactName) -> ExactName = { $0 }
  package var ways: RemedyWays
  /// Base topics and discovery prefixes that were in use before and are not any more: what is kept there is emptied.
  package var formerBases: [String] = []
  package var formerPrefixes: [String] = []

  package init(_ topics: BaseTopics) {
    self.topics = topics
    homes = topics.homes.map { _ in HomeSettings() }
    ways = RemedyWays(isOnlyHome: topics.homes.count == 1)
  }

  /// Each base topic below each prefix, without those that are in use.
  fileprivate var formerDevices: [(base: String, place: HomeAssistantPlace)] {
    let current = topics.homes.map(\.base)
    func places(_ prefix: String, _ bases: [String]) -> [(base: String, place: HomeAssistantPlace)] {
      bases.compactMap { base in
        HomeAssistantPlace(home: "", in: BaseTopics([.init(name: "", base: base)]), prefix: prefix, version: version)
          .map { (base, $0) }
      }
    }
    return formerPrefixes.flatMap { places($0, current + formerBases) }
      + (discoveryPrefix.map { places($0, formerBases) } ?? [])
  }
}

/// What belongs on each retained topic now: a function of the homes.
struct RetainedStates {
  /// Of a topic, after the id of the home's device, at most: others are not repeated anywhere.
  private static let deviceBytes = 100

  let settings: PublisherSettings
  private let places: [HomeAssistantPlace]
  /// What all topics of devices begin with, and those of devices that are announced no more.
  private let devicesStart: [UInt8]
  private let formerDevices: [ExactName: String]
  /// Base topics that were given up.
  private let formerBases: BaseTopics
  /// Homes by name, and by what the topics of their devices begin with.
  private let homes: [ExactName: Int]
  private let deviceHomes: [ExactName: Int]
  /// What is made once: base topics, the ids of the homes' devices, and the topics of devices up to their own ids.
  private let bases: [[UInt8]]
  private let bridges: [String]
  private let devicesAt: [[UInt8]]
  /// Home Assistant's login, where it decides about something.
  let login: String?
  private var devices: RouterDevices
  /// The last `bridge/health`; empty: none was published yet.
  var health: [UInt8] = []

  init(_ settings: PublisherSettings) {
    self.settings = settings
    let topics = settings.topics
    places = topics.homes.compactMap { home in
      settings.discoveryPrefix.map { prefix in
        var place = HomeAssistantPlace(home, in: topics, prefix: prefix, version: settings.version)
        place.page = settings.page
        return place
      }
    }
    devicesStart = Array((settings.discoveryPrefix.map { "\(HomeAssistantPlace.devices($0))/" } ?? "").utf8)
    formerDevices = Dictionary(
      settings.formerDevices.map { (ExactName($0.place.start), $0.base) }, uniquingKeysWith: { first, _ in first })
    formerBases = BaseTopics(settings.formerBases.map { .init(name: "", base: $0) })
    func indices(_ names: [String]) -> [ExactName: Int] {
      Dictionary(names.enumerated().map { (ExactName($0.element), $0.offset) }, uniquingKeysWith: { first, _ in first })
    }
    homes = indices(topics.homes.map(\.name))
    deviceHomes = indices(places.map(\.start))
    bases = topics.homes.map { Array($0.base.utf8) }
    bridges = places.map(\.bridgeID)
    devicesAt = places.map { Array($0.start.utf8) }
    login = settings.requests.homeAssistant.flatMap { _ in settings.requests.homeAssistantLogin?.text }
    devices = RouterDevices(
      firstBase: topics.homes.first?.base ?? "", prefix: settings.discoveryPrefix ?? "", version: settings.version,
      page: settings.page, login: login)
  }

  var announcesDevices: Bool { !places.isEmpty }

  func base(_ home: Int) -> String { settings.topics.homes[home].base }
  func name(_ home: Int) -> String { settings.topics.homes[home].name }
  func fingerprint(_ key: AlertKey, home: Int) -> String { key.fingerprint(in: name(home)) }
  func index(of home: String) -> Int? { homes[ExactName(home)] }

  // MARK: Topics

  func topic(_ place: RetainedPlace) -> String {
    let topic = OutboundTopic(base: base(place.home))
    switch place.subject {
    case .presence: return topic.state
    case .info: return topic.info
    // Once for a shard.
    case .health: return OutboundTopic(base: settings.topics.parent ?? topic.base).health
    case .alerts: return topic.alerts
    case .consent: return topic.consent
    case .router(let agent): return routerTopic(bases[place.home], "/router/", agent, "")
    case .availability(let agent): return routerTopic(bases[place.home], "/router/", agent, "/availability")
    case .network(let network): return topic.network(network)
    case .alert(let key): return "\(topic.base)/alert/\(fingerprint(key, home: place.home))"
    case .homeDevice: return places[place.home].bridgeTopic
    case .routerDevice(let agent): return routerTopic(devicesAt[place.home], "_", agent, "/config")
    case .questionDevice(let id): return places[place.home].questionTopic(id.questionText)
    case .choiceDevice(let id): return places[place.home].choiceTopic(id.description)
    case .disputeDevice(let since): return places[place.home].disputeTopic(since)
    }
  }

  /// Where a device is announced; nil for another program's.
  func devicePlace(of topic: String) -> RetainedPlace? {
    guard let home = deviceHome(of: topic) else { return nil }
    let id = topic.utf8.dropFirst(devicesAt[home].count)
    guard id.count >= 7, id.suffix(7).elementsEqual("/config".utf8) else { return nil }
    let rest = String(Substring(id.dropLast(7)))
    if rest.isEmpty { return RetainedPlace(home: home, subject: .homeDevice) }
    let name = String(rest.dropFirst())
    let found: RetainedPlace.Subject? =
      if let id = ConsentID(question: name) { .questionDevice(id) } else if name.hasPrefix("n-") {
        ExtendedPANID(hex: name.dropFirst(2)).map { .choiceDevice($0) }
      } else if name.hasPrefix("p-") {
        Int64(name.dropFirst(2)).map { .disputeDevice(WireTime(milliseconds: $0)) }
      } else { BorderAgentID(hex: name).map { .routerDevice($0) } }
    guard let found else { return nil }
    let result = RetainedPlace(home: home, subject: found)
    return self.topic(result).hasBytes(of: topic) ? result : nil
  }

  /// The home whose devices alone are announced there; nil for another program's topics, and for those that are too
  /// long for a device.
  func deviceHome(of topic: String) -> Int? {
    guard !places.isEmpty, topic.utf8.starts(with: devicesStart), let start = Self.deviceStart(of: topic),
      let home = deviceHomes[start], topic.utf8.count <= devicesAt[home].count + Self.deviceBytes
    else { return nil }
    return home
  }

  /// What the topic of a device begins with, up to its own id: the level before the last one is `threadkeeper_`, an
  /// escaped base topic, in which is no `_`, and perhaps `_` and that id.
  private static func deviceStart(of topic: String) -> ExactName? {
    let (bytes, slash, mark) = (topic.utf8, UInt8(ascii: "/"), UInt8(ascii: "_"))
    guard let end = bytes.lastIndex(of: slash), let start = bytes[..<end].lastIndex(of: slash),
      let first = bytes[start..<end].firstIndex(of: mark)
    else { return nil }
    let second = bytes[bytes.index(after: first)..<end].firstIndex(of: mark)
    return ExactName(String(topic[..<(second ?? end)]))
  }

  /// The base topic, of before or with a discovery prefix of before, for which this daemon has published something
  /// there; nil: it has not.
  func formerBase(of topic: String) -> String? {
    formerBases.split(topic)?.home.base ?? Self.deviceStart(of: topic).flatMap { formerDevices[$0] }
  }

  /// The home that a topic belongs to, whatever it is, and what follows the base topic. Of a shard, what is published
  /// once belongs to the first one, and to none while it has none.
  func home(of topic: String) -> (home: Int, levels: [Substring])? {
    if let home = deviceHome(of: topic) { return (home, []) }
    var rest: Substring?
    var index: Int?
    if let (home, below) = settings.topics.split(topic) {
      (index, rest) = (self.index(of: home.name), below)
    } else if let parent = settings.topics.parent, !settings.topics.homes.isEmpty,
      topic.utf8.starts(with: "\(parent)/bridge/".utf8)
    {
      (index, rest) = (0, Substring(topic.utf8.dropFirst(parent.utf8.count + 1)))
    }
    guard let index, let rest else { return nil }
    let levels = rest.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return (index, levels.map { Substring($0) })
  }

  // MARK: Payloads

  /// - Returns: without a payload where nothing belongs.
  mutating func publication(_ place: RetainedPlace, _ home: Home, at now: WireTime, storeAlert: Alert? = nil)
    -> Publication
  {
    let (payload, expiry) = self.payload(place, home, at: now, storeAlert)
    return Publication(topic: topic(place), payload: payload, retain: true, messageExpiry: expiry)
  }

  private mutating func payload(_ place: RetainedPlace, _ home: Home, at now: WireTime, _ storeAlert: Alert?) -> (
    [UInt8], expiry: UInt32?
  ) {
    let name = name(place.home)
    var (payload, expiry): ([UInt8], UInt32?) = ([], nil)
    switch place.subject {
    case .presence: payload = BridgeState.online
    case .info:
      payload = BridgeInfo(
        settings: settings, own: settings.homes[place.home], name: name, preferred: home.preferred?.dataset,
        protection: home.protection, routers: home.routers.totals.listed, networks: home.networkCount
      ).json(capacity: 512)
    case .health: (payload, expiry) = (health, BridgeHealth.expirySeconds)
    case .alerts:
      payload = AlertsState(
        home.alerts, in: name, ways: settings.ways,
        store: place.home == 0 ? storeAlert.map { (AlertKey(.storeReadOnly), $0) } : nil
      ).json()
    case .consent:
      payload = ConsentState(
        waiting: home.waitingQuestions(at: now),
        asked: asked(in: home, at: now).map {
          ConsentState.Asked(
            id: $0.id.questionText, message: $0.reason(home: settings.ways.isOnlyHome ? nil : name),
            expiresAt: $0.expiresAt, token: settings.requests.tokens.token(for: $0.id))
        }
      ).json()
    case .router(let agent):
      home.routers.lend(agent) { router, _ in
        guard router.isPresent else { return }
        payload = RouterState(router, home.verdict(of: router), in: name).json()
      }
    case .availability(let agent):
      home.routers.lend(agent) { router, _ in
        guard router.isPresent else { return }
        payload = router.isOnline ? RouterAvailability.online : RouterAvailability.offline
      }
    case .network(let network):
      if let view = home.network(network) { payload = NetworkState(view, in: name).json(capacity: 256) }
    case .alert(let key):
      if let alert = home.alerts[key], alert.wasPublished {
        payload = AlertState(key, alert, in: name, ways: settings.ways).json(capacity: 1_536)
        if alert.phase != .firing { expiry = UInt32(Alert.resolvedRetention) }
      }
    case .homeDevice: payload = HomeAssistantDevice.bridge(places[place.home], login: login).json()
    case .routerDevice(let agent):
      home.routers.lend(agent) { router, _ in
        guard router.isPresent else { return }
        payload = devices.json(
          router, base: base(place.home), bridge: bridges[place.home], needsID: home.hasNamesake(agent, router.name))
      }
    case .questionDevice, .choiceDevice, .disputeDevice: payload = button(place, home, at: now)
    }
    return (payload, expiry)
  }

  // MARK: Questions and buttons

  func asked(in home: Home, at now: WireTime) -> [ConsentQuestion] {
    settings.requests.asked(in: home, team: settings.team, at: now)
  }

  /// What has buttons.
  func buttons(in home: Home, at now: WireTime) -> Set<RetainedPlace.Subject> {
    let requests = settings.requests
    return Set(
      asked(in: home, at: now).map { .questionDevice($0.id) } + requests.choices(in: home).map { .choiceDevice($0.id) }
        + [requests.disputedKeys(in: home)].compactMap { $0.map { .disputeDevice($0) } })
  }

  private func button(_ place: RetainedPlace, _ home: Home, at now: WireTime) -> [UInt8] {
    let (login, tokens, own) = (login ?? "", settings.requests.tokens, places[place.home])
    switch place.subject {
    case .questionDevice(let id):
      guard let question = asked(in: home, at: now).first(where: { $0.id == id }) else { return [] }
      return HomeAssistantDevice.question(
        id.questionText, by: question.shortRequester, (login, tokens.token(for: id)), own
      ).json()
    case .choiceDevice(let id):
      guard let network = settings.requests.choices(in: home).first(where: { $0.id == id }) else { return [] }
      return HomeAssistantDevice.choice(
        id.description, named: ShownName.cleaned(network.name), (login, tokens.token(forPreferring: id)), own
      ).json()
    case .disputeDevice(let since):
      guard settings.requests.disputedKeys(in: home) == since else { return [] }
      let alert = RetainedPlace(home: place.home, subject: .alert(AlertKey(.preferredKeyDisputed)))
      return HomeAssistantDevice.dispute(
        PreferredNetwork.currentID, since: since, alert: topic(alert),
        (login, tokens.token(forKeepingKeysSince: since)), own
      ).json()
    default: return []
    }
  }
}

/// Where something about a router is published. Interpolation takes several times as long.
func routerTopic(_ start: [UInt8], _ middle: StaticString, _ agent: BorderAgentID, _ end: StaticString) -> String {
  var topic = JSONWriter(capacity: 128)
  topic.raw(start)
  topic.raw(middle)
  topic.hex(agent)
  topic.raw(end)
  return String(decoding: topic.bytes, as: UTF8.self)
}

extension HomeAssistantPlace {
  /// The topic of its devices, up to their own ids.
  fileprivate var start: String { String(bridgeTopic.dropLast("/config".count)) }
}

/// What the device of a router is made of.
struct RouterDeviceParts: Equatable {
  let isPresent: Bool
  let name: String?
  private let vendor: String?
  private let model: String?
  private let hasOnlyRecord: Bool

  init(_ router: borrowing Router) {
    (isPresent, name, vendor, model) = (router.isPresent, router.name, router.vendor, router.model)
    hasOnlyRecord = router.source == .mdns && router.dataset == nil
  }

  /// Whether a change makes another device of it.
  func needsAnnouncement(after before: Self?) -> Bool { isPresent ? self != before : before?.isPresent == true }
}
