/// The messages of one probe in one home, and what became of each.
struct AccessRound: Sendable {
  enum Role: Sendable, Hashable { case daemon, anonymous, other }

  /// One message; its payload is its name.
  private struct Probe: Sendable {
    let from: Role
    let topic: String
    let publication: Publication

    var payload: String { String(decoding: publication.payload, as: UTF8.self) }
  }

  private let base: String
  private let name: String?
  /// Of the other login.
  private let rights: [AccessGap]
  private let probes: [Probe]

  /// Time for what the broker has taken and not yet sent, after it has answered all that came later. Mosquitto has sent
  /// it by then.
  private static let settling = Duration.milliseconds(250)
  /// The same for what is meant to come.
  private static let arrival = Duration.seconds(2)

  /// - Parameters:
  ///   - name: of the other login, where there is one.
  ///   - rights: what it may do by the settings, in all homes.
  init(base: String, name: String?, rights: [AccessGap]) {
    self.base = base
    self.name = name
    let states = [ProbeTopic.Group.bridge, .router, .network, .alert].map { ProbeTopic(base: base, group: $0).text }
    let requests = name.map { "\(base)/in/\($0)/request/" }
    self.rights = rights.filter { right in
      switch right.access {
      case .read: states.contains(right.topic)
      case .write: requests.map { right.topic.hasPrefix($0) } == true
      }
    }
    let nonce = String(UInt64.random(in: 0 ... .max), radix: 16)
    var probes: [Probe] = []
    func add(_ from: Role, _ group: ProbeTopic.Group, _ user: String = ProbeTopic.nobody) {
      add(from, ProbeTopic(base: base, group: group, user: user).text)
    }
    func add(_ from: Role, _ topic: String) {
      probes.append(
        Probe(from: from, topic: topic, publication: Self.publication(topic, name: "\(nonce)-\(probes.count)")))
    }
    for group in ProbeTopic.Group.allCases { add(.daemon, group) }
    for role in [Role.anonymous, .other] {
      for group in [ProbeTopic.Group.inbound, .outbound, .bridge] { add(role, group) }
    }
    if let name {
      add(.other, .inbound, name)
      add(.daemon, .outbound, name)
    }
    for right in self.rights where right.access == .write { add(.other, right.topic) }
    self.probes = probes
  }

  /// What the other login listens to.
  var read: [MosquittoConfiguration.Subscription] { rights.filter { $0.access == .read }.map { .init($0.topic) } }

  private static func publication(_ topic: String, name: String) -> Publication {
    Publication(
      topic: topic, payload: ProbeTopic.payload(name), messageExpiry: 10, token: UInt64.random(in: 0 ... .max))
  }

  // MARK: The round

  /// Publishes all probes. Returns when what is to come has come.
  static func run(_ rounds: [AccessRound], _ clients: [Role: ProbeClient], until deadline: ContinuousClock.Instant)
    async
  {
    let admitted = clients.filter { $0.value.seen.isSubscribed }
    await withTaskGroup(of: Void.self) { group in
      for (role, client) in admitted {
        let own = rounds.flatMap(\.probes).filter { $0.from == role }.map(\.publication)
        group.addTask { await client.publish(own, until: deadline) }
      }
    }
    // What a connection gets now comes after all that the broker had for it before.
    await withTaskGroup(of: Void.self) { group in
      for client in admitted.values {
        let last = rounds.prefix(1).map { publication(ProbeTopic(base: $0.base, group: .inbound).text, name: "end") }
        group.addTask { await client.publish(last, until: deadline) }
      }
    }
    let own = rounds.flatMap(\.probes).filter { $0.from == .daemon && $0.topic.contains("/\(ProbeTopic.nobody)/") }
    await clients[.daemon]?.receive(Set(own.map(\.payload)), until: min(deadline, .now + Self.arrival))
    try? await Task.sleep(for: Self.settling)
  }

  /// Of the probe that finds out whether the broker has a limit: with MQTT 3.1.1 a client can have none.
  static let largeBytes = 1_048_577

  /// Whether the broker passes on a message of more than a megabyte; nil where it does not answer in time.
  static func passesLarge(_ base: String, _ daemon: ProbeClient, until deadline: ContinuousClock.Instant) async -> Bool?
  {
    // The daemon does not listen there.
    let probe = Publication(
      topic: ProbeTopic(base: base, group: .outbound).text, payload: [UInt8](repeating: 0x20, count: largeBytes),
      messageExpiry: 10, token: UInt64.random(in: 0 ... .max))
    await daemon.publish([probe], until: deadline)
    await daemon.receiveLarge(until: min(deadline, .now + arrival))
    let seen = daemon.seen
    if seen.hasLarge { return true }
    return seen.error != nil || seen.outcomes[probe.token] != nil ? false : nil
  }

  // MARK: What became of it

  func own(_ daemon: ProbeClient.Seen) -> [AccessReport.Own] {
    ProbeTopic.Group.allCases.map { group in
      AccessReport.Own(topic: ProbeTopic(base: base, group: group), outcome: own(group, daemon))
    }
  }

  func others(_ role: Role, _ seen: ProbeClient.Seen, daemon: ProbeClient.Seen) -> AccessReport.Others {
    /// Without a message that does come, one that does not proves nothing.
    func proven(_ group: ProbeTopic.Group, _ outcome: ProbeOutcome) -> ProbeOutcome {
      if own(group, daemon) == .delivered || outcome == .delivered { return outcome }
      return .notChecked("the daemon's login does not read back what it publishes there")
    }
    func said(_ group: ProbeTopic.Group, as user: String = ProbeTopic.nobody) -> ProbeOutcome {
      proven(group, outcome(role, group, user, of: seen, to: daemon))
    }
    func read(_ group: ProbeTopic.Group, of user: String = ProbeTopic.nobody) -> ProbeOutcome {
      proven(group, outcome(.daemon, group, user, of: daemon, to: seen))
    }
    let name = role == .other ? name : nil
    return AccessReport.Others(
      base: base, readsAnswers: read(.outbound), readsEvents: read(.inbound), writesAnswers: said(.outbound),
      speaksForOthers: said(.inbound), publishesStates: said(.bridge),
      speaksForItself: name.map { said(.inbound, as: $0) }, readsOwnAnswers: name.map { read(.outbound, of: $0) },
      rights: (role == .other ? rights : []).map { right in
        switch right.access {
        case .write: (right, proven(.inbound, outcome(role, right.topic, ["\(base)/in/#"], of: seen, to: daemon)))
        case .read: (right, outcome(.daemon, right.topic, [right.topic], of: daemon, to: seen))
        }
      })
  }

  private func own(_ group: ProbeTopic.Group, _ daemon: ProbeClient.Seen) -> ProbeOutcome {
    outcome(.daemon, group, ProbeTopic.nobody, of: daemon, to: daemon)
  }

  private func outcome(
    _ from: Role, _ group: ProbeTopic.Group, _ user: String, of publisher: ProbeClient.Seen, to reader: ProbeClient.Seen
  ) -> ProbeOutcome {
    let topic = ProbeTopic(base: base, group: group, user: user).text
    return outcome(from, topic, [topic, "\(base)/\(group.rawValue)/+/\(ProbeTopic.name)"], of: publisher, to: reader)
  }

  /// - Parameter filters: one of them brings it to the reader.
  private func outcome(
    _ from: Role, _ topic: String, _ filters: [String], of publisher: ProbeClient.Seen, to reader: ProbeClient.Seen
  ) -> ProbeOutcome {
    guard let probe = probes.first(where: { $0.from == from && $0.topic == topic }) else {
      return .notChecked("it was not asked for")
    }
    if reader.arrived.contains(probe.payload) { return .delivered }
    switch publisher.outcomes[probe.publication.token] {
    case .refused(let error): return .refused(error)
    case nil: return .notChecked(publisher.error?.message ?? "the broker did not acknowledge it in time")
    case .delivered: break
    }
    if let refusal = reader.refused.first(where: { filters.contains($0.filter) }) { return .unreadable(refusal.error) }
    if let error = reader.error { return .notChecked(error.message) }
    return .lost
  }
}

/// What a broker lets the daemon's login do, and what it lets others do.
package struct AccessReport: Sendable {
  /// One of the daemon's topics: its login publishes there and reads it back.
  package struct Own: Sendable {
    package let topic: ProbeTopic
    package let outcome: ProbeOutcome
  }

  /// What a client can do that is not the daemon, in one home.
  package struct Others: Sendable {
    package let base: String
    /// The daemon answers another user, and this client reads it: secrets leak.
    package let readsAnswers: ProbeOutcome
    /// Another user's event comes to this client: network keys leak.
    package let readsEvents: ProbeOutcome
    /// This client answers another user in the daemon's place.
    package let writesAnswers: ProbeOutcome
    /// This client speaks as another user.
    package let speaksForOthers: ProbeOutcome
    /// This client publishes below `bridge/`: false states.
    package let publishesStates: ProbeOutcome
    /// An event under its own name comes to the daemon; nil without a login.
    package let speaksForItself: ProbeOutcome?
    /// An answer to it comes; nil without a login.
    package let readsOwnAnswers: ProbeOutcome?
    /// What the login may do by the settings.
    package var rights: [(gap: AccessGap, outcome: ProbeOutcome)] = []
  }

  /// A client that is not the daemon.
  package enum Client: Sendable {
    /// The broker does not let it in.
    case refused(MosquittoError)
    /// By home, in the order of the base topics.
    case admitted([Others])
  }

  /// What the broker said when it let the daemon's login in.
  package let session: MosquittoSession
  /// By home, each with every group.
  package let own: [Own]
  /// Whether a message of more than a megabyte came back. Nil with MQTT 5, where each client has a limit of its own,
  /// and where nothing comes back.
  package var passesLarge: Bool?
  /// Filters of the daemon that the broker refused. That it grants one proves nothing.
  package let refusedFilters: [SubscriptionRefusal]
  /// Topics `<base>/in/…` and `<base>/router/<id>/availability` of which the broker keeps a message, and no others.
  package let retained: [String]
  /// `$SYS/broker/…`, as far as the broker has it and lets the login read it.
  package let values: [String: String]
  /// A client without a login and without a certificate.
  package let anonymous: Client
  /// The other login, where one was given.
  package let other: Client?
}

/// What became of a message from one login to another, or to the same one.
package enum ProbeOutcome: Sendable, Equatable {
  /// It came: the one may publish there, and the other read there. Nothing else proves either.
  case delivered
  /// The broker refused the message. Only MQTT 5 can say so.
  case refused(MosquittoError)
  /// The broker refused the subscription. Mosquitto 2.0 never does: it grants every filter, and drops what the login
  /// may not read.
  case unreadable(MosquittoError)
  /// The broker took the message and it did not come: one of the two is not allowed there.
  case lost
  /// Nothing is known, and why.
  case notChecked(String)

  /// Whether it came; nil when that is not known.
  package var isDelivered: Bool? {
    switch self {
    case .delivered: true
    case .refused, .unreadable, .lost: false
    case .notChecked: nil
    }
  }
}
