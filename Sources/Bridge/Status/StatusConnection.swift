// SPDX-License-Identifier: Apache-2.0

import Broker
import Logging
import SQLiteDatabase
import Synchronization

/// The connection that publishes: it holds the last will and publishes all that the daemon has. It needs
/// no write to the store, so it can publish why the intake has stopped.
final class StatusConnection: MosquittoHandler {
  static let droppedMessages = "$SYS/broker/publish/messages/dropped"

  struct State {
    var isConnected = false
    var queue: [Publication] = []
    var lastInfo: [String: BridgeInfo] = [:]
    var nextHealth: WireTime?
    /// With the counts of when the registry was read last.
    var lastHealth: BridgeHealth?
    var toldIntake: BridgeMonitor.Intake?
    var publishedStoreProblem: BridgeMonitor.StoreProblem?
    /// What the broker should hold of it. No walk brings it, because no row has it.
    var storeAlert: Publication?
    var nextRepublish: WireTime?
    /// When everything is published for Home Assistant, which has started.
    var birthDue: WireTime?
    var dropped: Int64?
    /// States of routers on the list that the broker keeps, on this connection; and until when their number is awaited.
    var keptRouters = 0
    var reading: (due: WireTime, missing: Int)?
    /// Everything is published on this connection anyway, so that none is missing.
    var publishesAll = false
    /// Hashes of what was published to Home Assistant last: with MQTT 3.1.1 it comes back.
    var ownDevices = RecentHashes()
    /// Topics of devices that another client has altered: published again with the next tick.
    var alteredDevices: Set<String> = []
    /// The broker kept what was not true on this connection.
    var correctsTopics = false
    /// What no walk brings is published as on a new connection.
    var needsRepublish = false
    var warnedReasons: Set<String> = []
    var refused = RefusedTopics()
    /// Remedies that the log has named since devices of Home Assistant are refused.
    var warnedOfDevices: Set<DeviceWarning> = []
  }

  let outbox: Outbox
  private let pace: PublicationPace
  private let answers: AnswerQueue
  let monitor: BridgeMonitor
  let reports: BridgeReports
  let topics: BaseTopics
  let retained: RetainedTopics?
  let clock: any Clock
  let logger: Logger
  let state = Mutex(State())
  /// What the topics of devices begin with.
  private let devices: String
  var birthTopic: String { reports.configuration.homeAssistant.birthTopic }

  init(
    outbox: Outbox, pace: PublicationPace, answers: AnswerQueue = AnswerQueue(),
    monitor: BridgeMonitor, reports: BridgeReports, topics: BaseTopics,
    retained: RetainedTopics? = nil, clock: any Clock, logger: Logger
  ) {
    self.outbox = outbox
    self.pace = pace
    self.answers = answers
    self.monitor = monitor
    self.reports = reports
    self.topics = topics
    self.retained = retained
    devices = HomeAssistantPlace.devices(reports.configuration.homeAssistant.prefix) + "/"
    self.clock = clock
    self.logger = logger
  }

  func connected(_ session: MosquittoSession) {
    logger.info("status connected", metadata: ["session_present": "\(session.sessionPresent)"])
    outbox.restart()
    // A broker that has forgotten us has forgotten what it retained, too: that does not wait.
    if !session.sessionPresent { republish() }
    monitor.update {
      $0.isStatusConnected = true
      $0.statusConnections += 1
      $0.statusLogin = .accepted
      $0.refusals = nil
      $0.refusedDevices = nil
    }
    let publishesAll = outbox.isRepublishing
    state.withLock { state in
      state.isConnected = true
      state.refused.restart()
      state.queue = presence
      state.lastInfo.removeAll()
      state.nextHealth = nil
      state.keptRouters = 0
      state.reading = nil
      state.publishesAll = publishesAll
      state.correctsTopics = false
    }
    periodic(now: clock.now(), isFirst: true)
  }

  /// That the daemon is there.
  private var presence: [Publication] {
    let online = encode(BridgeState.online)
    return topics.homes.map {
      Publication(topic: OutboundTopic(base: $0.base).state, payload: online, retain: true)
    }
  }

  /// Home Assistant's birth, the broker's own count of what it dropped, and what it keeps of our own.
  func received(_ batch: [IncomingMessage]) throws {
    correct(batch.filter(\.isRetained))
    for message in batch {
      guard !isDevice(message.topic) else {
        checkDevice(message)
        continue
      }
      let text = String(decoding: message.payload, as: UTF8.self)
      if message.topic == birthTopic, text == "online", !message.isRetained {
        // What is being published reaches it, too.
        guard !outbox.isRepublishing else { continue }
        // A random delay spares the broker when many devices answer one birth.
        let due = clock.now().adding(seconds: Int.random(in: 1...10))
        state.withLock { $0.birthDue = $0.birthDue ?? max(due, $0.nextRepublish ?? due) }
      } else if message.topic == Self.droppedMessages, let count = Int64(text) {
        state.withLock { $0.dropped = count }
      }
    }
  }

  func publications(upTo limit: Int) -> [Publication] {
    let publications = next(limit)
    return state.withLock { state in
      for publication in publications where isDevice(publication.topic) {
        state.ownDevices.add(publication.topic, publication.payload)
      }
      return state.refused.send(publications)
    }
  }

  private func next(_ limit: Int) -> [Publication] {
    var urgent = state.withLock { state in
      let taken = Array(state.queue.prefix(limit))
      state.queue.removeFirst(taken.count)
      return taken
    }
    // Somebody waits for them.
    urgent += answers.next(
      limit - urgent.count, connection: monitor.snapshot.statusConnections, now: clock.now())
    let room = pace.allowed(limit - urgent.count)
    guard room > 0 else { return urgent }
    do {
      urgent += try outbox.next(room)
      monitor.readWorks(.outbox)
    } catch {
      noteFailure(error, of: .outbox, "the outbox cannot be read")
    }
    return urgent
  }

  func noteFailure(
    _ error: any Error, of reader: BridgeMonitor.StoreReader, _ text: Logger.Message
  ) {
    // The directory: whoever writes names it so as well, and one reason is published once.
    let file = reports.database.path
    let path = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? file
    if let reason = monitor.readFailed(error, by: reader, path: path, at: clock.now()) {
      logger.error(text, metadata: ["reason": "\(reason)"])
    }
  }

  func acknowledged(_ token: UInt64, _ outcome: PublicationOutcome) {
    if let device = outbox.acknowledge(token, outcome) {
      state.withLock { $0.refused.forget(token) }
      return note(outcome, of: device)
    }
    if case .refused(let error) = outcome {
      monitor.update { $0.publicationsRefused += 1 }
      let isNews = state.withLock { $0.warnedReasons.insert(error.message).inserted }
      if isNews {
        logger.error("the broker refuses publications", metadata: ["reason": "\(error.message)"])
      }
    }
    note(outcome, of: token)
    if outcome == .delivered { answers.deliveries.acknowledge(token) }
  }

  /// Once the broker's access list is corrected, all that the daemon has is published there.
  private func note(_ outcome: PublicationOutcome, of token: UInt64) {
    let (isRegained, refusals) = state.withLock {
      ($0.refused.acknowledge(token, outcome), $0.refused.report)
    }
    monitor.update { $0.refusals = refusals }
    guard isRegained else { return }
    logger.notice("the broker takes again what it has refused")
    answers.deliveries.becomeDue()
    let presence = presence
    let now = clock.now()
    state.withLock { state in
      state.queue += presence
      state.lastInfo.removeAll()
      state.needsRepublish = true
      state.nextHealth = nil
      state.warnedReasons.removeAll()
      state.birthDue = state.birthDue ?? max(now, state.nextRepublish ?? now)
    }
  }

  func sessionRegained() {
    monitor.update { $0.statusTakeover = nil }
    logger.notice("the status session is no longer contested")
  }

  func disconnected(_ event: MosquittoDisconnection) {
    let isRefusalNews = monitor.noteRefusal(event, at: \.statusLogin)
    let isTakeoverNews = monitor.noteTakeover(event, of: \.statusTakeover)
    monitor.update {
      $0.isStatusConnected = false
      $0.lastConnectionProblem = event.error.message
      $0.refusals = nil
      $0.refusedDevices = nil
    }
    state.withLock {
      $0.isConnected = false
      $0.refused.restart()
    }
    logger.log(
      level: isRefusalNews && isTakeoverNews ? .warning : .debug, "status disconnected",
      metadata: ["reason": "\(event.error.message)"])
  }

  /// Whether a device of the daemon's can be announced there to Home Assistant.
  func isDevice(_ topic: String) -> Bool { topic.utf8.starts(with: devices.utf8) }

  /// The broker's count of messages that it has dropped since it started.
  var droppedMessages: Int64? { state.withLock { $0.dropped } }

  /// Home Assistant is answered at most once a minute; an earlier request has to wait.
  func republish(withPresence: Bool = false) {
    let next = clock.now().adding(seconds: 60)
    state.withLock { $0.nextRepublish = next }
    outbox.republishAll(withPresence: withPresence)
  }

  func encode(_ value: some Encodable) -> [UInt8] { WireJSON().encode(value) }
}
