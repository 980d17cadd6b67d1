import Broker
import Home
import HomeStore
import KeychainCore
import ThreadDataset

// MARK: - Messages

extension LoopState {
  /// Handles messages until there are no more, or it is time to commit.
  ///
  /// - Parameter first: the first one.
  /// - Returns: which one is next.
  mutating func receive(_ messages: [IncomingMessage], from first: Int) throws -> Int {
    let started = ContinuousClock.now
    let most = trials > 0 ? 1 : messages.count
    if trials > 0, try isFatal(messages[first]) {
      if let topic = reader.topic(of: messages[first]) { reject(.ended(MessageTrial.limit), messages[first], topic) }
      batch.outcome.received += 1
      try commit()
      trials -= 1
      return first + 1
    }
    var next = first
    while next < messages.count, next - first < most, batch.bytes < HomeLoop.batchBytes {
      take(messages[next])
      batch.bytes += messages[next].payload.count
      next += 1
      // Each look at the clock costs a tenth of a heartbeat.
      if next & 7 == 0, started.duration(to: .now) > HomeLoop.batchTime { break }
    }
    batch.outcome.received += next - first
    if trials == 1 { records.notes.trial = MessageTrial() }
    try commit()
    if trials > 0 {
      trials -= 1
      isTried = true
    }
    return next
  }

  private mutating func take(_ message: IncomingMessage) {
    switch reader.read(message, &limits, at: now) {
    case .skipped: return
    case .dropped: batch.outcome.dropped += 1
    case .misplaced where message.isRetained: batch.outcome.misplacedRetained += 1
    case .misplaced: batch.outcome.misplaced.noteMisplaced(message)
    case .rejected(let rejection, let topic): reject(rejection, message, topic)
    case .event(let event, let dataset, let topic):
      handle(event, in: topic.home, dataset: dataset, from: MessageArrival(message: message, topic: topic))
    case .sealed(let sealed, let topic):
      let client = homes[topic.home].home.clients[topic.user]
      do throws(Rejection) {
        let (event, dataset) = try reader.open(sealed, message, topic.user, client, at: now)
        handle(event, in: topic.home, dataset: dataset, from: MessageArrival(message: message, topic: topic))
      } catch { reject(error, message, topic) }
    case .request(let command, let topic):
      let place = topic.home
      let request = ArrivedRequest(
        message: message, command: command, user: topic.user, home: homes[place].settings, state: homes[place].home,
        time: now)
      switch readRequest(request, &records.sealed) {
      case .input(let input, let dataset, let asked):
        var arrival = MessageArrival(message: message, topic: topic)
        arrival.asked = asked
        handle(input, in: place, dataset: dataset?.bytes, from: arrival)
      case .other(let follow): batch.following.append(follow)
      // Counted by who reads them.
      case .ignored: break
      }
    }
  }

  private mutating func reject(_ rejection: Rejection, _ message: IncomingMessage, _ topic: IntakeTopic) {
    let settings = homes[topic.home].settings
    let arrival = MessageArrival(message: message, topic: topic)
    add(LoopOutcome(home: settings.name, origin: arrival.origin(below: settings.base), rejection: rejection))
  }

  /// Notes on disk which message is tried.
  ///
  /// - Returns: whether too many processes have ended while they handled it.
  private mutating func isFatal(_ message: IncomingMessage) throws -> Bool {
    var trial = records.notes.trial
    let ends = trial.begin(message.topic, message.payload, message.correlationData)
    // A connection that was lost, a commit that failed, or a heartbeat that is as the last one, is no crash.
    guard tried != trial.hash else { return false }
    guard ends < MessageTrial.limit else { return true }
    records.notes.trial = trial
    try commit()
    (tried, isTried) = (trial.hash, false)
    return false
  }
}

// MARK: - Start, time and end

extension LoopState {
  /// Notes where devices are announced to Home Assistant from now on.
  ///
  /// - Returns: prefixes of before.
  mutating func announceDevices(below prefix: ExactName?) -> [ExactName] {
    let former = records.notes.prefixes.filter { $0 != prefix }
    records.notes.prefixes = former + (prefix.map { [$0] } ?? [])
    return former
  }

  /// Each home decides what follows from the settings.
  ///
  /// - Parameters:
  ///   - consent: that Home Assistant decides about everything, where it does.
  ///   - hasRecoveryCode: whether one opens the store; nil where none can.
  mutating func start(_ loaded: LoadedStore, discovers: Bool, consent: AlertFacts?, hasRecoveryCode: Bool?) throws {
    let last = WireTime(milliseconds: Int64(records.notes.ranIn) * 3_600_000)
    (isStarted, records.notes.isRunning, records.notes.ranIn) = (true, true, now.hour)
    for home in loaded.served {
      batch.others += home.replacedRecords.map { .init(id: $0, home: home.number, state: nil) }
    }
    for place in homes.indices {
      handle(.started, in: place)
      if last.hour > 0 { handle(.unwatched(since: last), in: place) }
      if !discovers || place > 0 {
        handle(.discoveryEnded, in: place)
        handle(.condition(.threadPathBroken, nil), in: place)
      }
      // The first home of the settings has them now.
      if place > 0 { for name in Self.ofDaemon { handle(.condition(name, nil), in: place) } }
      handle(.condition(.consentByHomeAssistant, consent), in: place)
      handle(.recoveryCode(hasRecoveryCode), in: place)
    }
    noteDamage(loaded)
    try commit()
  }

  /// The alerts about the daemon and its broker.
  private static let ofDaemon: [AlertName] = [
    .sessionLost, .messagesDropped, .brokerAuthenticationFailed, .sessionTakenOver, .zigbeeSharesChannel,
  ]

  /// Takes what routers advertise, which is the first home's unless another one has them.
  mutating func see(_ sightings: Sightings) {
    guard !homes.isEmpty else { return }
    let elsewhere = Set(sightings.list.flatMap(\.agents)).filter { agent in
      homes.indices.dropFirst().contains { other in
        homes[other].home.routers[agent].map { $0.isPresent && $0.source == .mqtt } ?? false
      }
    }
    homes[0].rules.isAnnouncedElsewhere = { elsewhere.contains($0) }
    handle(.sightings(sightings), in: 0)
  }

  /// - Parameter first: the place of the first home to look at.
  /// - Returns: that of the next one; nil when all had their time.
  mutating func tick(_ link: Link, from first: Int) throws -> Int? {
    let started = ContinuousClock.now
    if link != self.link {
      self.link = link
      for place in due.indices { due[place] = .min }
    }
    var next: Int?
    for place in first..<homes.count where due[place] <= now.milliseconds {
      if started.duration(to: .now) > HomeLoop.batchTime {
        next = place
        break
      }
      if due[place] == .min { findDue(place) }
      guard due[place] <= now.milliseconds else { continue }
      handle(.tick(link), in: place)
      findDue(place)
    }
    if signs.isDue(at: now) { signs.collect(&homes, at: now) }
    let seen = signs.next
    save(seen)
    if isStarted { records.notes.ranIn = now.hour }
    // So that several power cuts are not counted for the same heartbeat.
    if isTried { records.notes.trial = MessageTrial() }
    try commit(savesPublished: !hasWritten)
    if next == nil { hasWritten = false }
    signs.remove(seen)
    isTried = false
    return next
  }

  private mutating func findDue(_ place: Int) {
    let next = homes[place].home.nextDue(link, rules: homes[place].rules)
    due[place] = next?.milliseconds ?? .max
  }

  mutating func stop() throws {
    if isStarted { records.notes.ranIn = now.hour }
    records.notes.isRunning = false
    records.notes.trial = MessageTrial()
    signs.collect(&homes, at: now)
    var seen: [SignsOfLife.Sign]
    repeat {
      seen = signs.next
      save(seen)
      try commit(savesPublished: true)
      signs.remove(seen)
    } while !seen.isEmpty
  }
}
