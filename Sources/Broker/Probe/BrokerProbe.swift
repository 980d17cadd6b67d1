/// Asks a broker what it is and what it allows, beside a daemon that may be running.
///
/// It uses client ids of its own, publishes nothing that is retained, and only on topics on which nobody acts, see
/// `ProbeTopic`.
package struct BrokerProbe: Sendable {
  /// How the daemon reaches the broker. The client id is the beginning of those of the probe.
  package var connection: MosquittoConfiguration
  /// For all of it.
  package var limit: Duration

  package init(_ connection: MosquittoConfiguration, within limit: Duration = .seconds(15)) {
    self.connection = connection
    self.limit = limit
  }

  /// Connects and disconnects.
  ///
  /// - Returns: what the broker said when it let the login in; else in words why it did not.
  package func greeting() async -> Result<MosquittoSession, MosquittoError> {
    let client = ProbeClient(connection, [])
    await client.open(until: .now + limit)
    await client.close()
    let seen = client.seen
    if let session = seen.session { return .success(session) }
    return .failure(seen.error ?? MosquittoError(.noAnswer, "the broker does not answer"))
  }

  /// Connects twice at once with the same login, and two client ids.
  ///
  /// - Returns: whether the broker ends one connection when the other comes: it gives both one client id, as Mosquitto
  ///   with `use_username_as_clientid`.
  package func sharesClientID() async -> Bool {
    let clients = [ProbeClient(connection, []), ProbeClient(connection, [])]
    for client in clients { await client.open(until: .now + limit / 2) }
    // The end of the first is on its way when the second is let in.
    let deadline = ContinuousClock.now + .milliseconds(250)
    await clients[0].end(until: deadline)
    let isEnded = clients.contains { client in
      let seen = client.seen
      return seen.session != nil && [.connectionLost, .sessionTakenOver].contains(seen.error?.reason)
    }
    for client in clients { await client.close() }
    return isEnded
  }

  /// Publishes something, and returns when the broker has taken all of it.
  ///
  /// - Parameter publications: each with a token of its own.
  /// - Returns: why it has not; nil where it has, as far as an MQTT 3.1.1 broker says.
  package func publish(_ publications: [Publication]) async -> MosquittoError? {
    let client = ProbeClient(connection, [])
    let deadline = ContinuousClock.now + limit
    await client.open(until: deadline)
    await client.publish(publications, until: deadline)
    await client.close()
    let seen = client.seen
    for publication in publications {
      switch seen.outcomes[publication.token] {
      case .delivered: continue
      case .refused(let error): return error
      case nil: return seen.error ?? MosquittoError(.noAnswer, "the broker does not answer")
      }
    }
    return nil
  }

  /// Connects twice with one session, which ends with the second connection. For MQTT 5: a connection of 3.1.1 that
  /// ends a session does not get to know whether there was one.
  ///
  /// - Returns: whether the broker has kept it in between.
  package func keepsSession() async -> Result<Bool, MosquittoError> {
    let clientID = ProbeName.clientID(beginning: connection.clientID)
    var isKept = false
    for expiry in [60, 0] as [UInt32] {
      let client = ProbeClient(connection, [], session: (clientID, expiry))
      await client.open(until: .now + limit)
      await client.close()
      guard let session = client.seen.session else {
        return .failure(client.seen.error ?? MosquittoError(.noAnswer, "the broker does not answer"))
      }
      isKept = session.sessionPresent
    }
    return .success(isKept)
  }

  /// Publishes and reads back on the daemon's topics, and tries what others may do there: a client without a login, and
  /// another login where one is given.
  ///
  /// - Parameters:
  ///   - bases: base topics of the homes, at least one.
  ///   - filters: further ones that the daemon reads, such as `homeassistant/status`: whether the broker refuses
  ///     them. Only under MQTT 5, which can do that without the broker sending what it keeps there.
  ///   - other: a login that is not the daemon's.
  ///   - rights: what the other login may do by the settings. Tried are requests of its own, and what it reads of the
  ///     daemon's.
  /// - Returns: fails where the daemon's own login is not let in.
  package func access(
    to bases: [String], filters: [String] = [], other: (name: String, password: String?)? = nil,
    rights: [AccessGap] = []
  ) async -> Result<AccessReport, MosquittoError> {
    let start = ContinuousClock.now
    let deadline = start + limit
    let rounds = bases.map { AccessRound(base: $0, name: other?.name, rights: rights) }
    let further = connection.protocolVersion == .v5 ? filters.map(Self.further) : []
    let daemon = ProbeClient(connection, Self.own(bases) + further, noting: bases)
    let anonymous = ProbeClient(connection.asAnother(nil, nil), Self.others(bases, nil))
    let login = other.map {
      ProbeClient(connection.asAnother($0.name, $0.password), Self.others(bases, $0.name) + rounds.flatMap(\.read))
    }
    var clients: [AccessRound.Role: ProbeClient] = [.daemon: daemon, .anonymous: anonymous]
    clients[.other] = login
    await withTaskGroup(of: Void.self) { group in
      // One that the broker does not answer leaves time for the others.
      for client in clients.values { group.addTask { await client.open(until: start + limit / 2) } }
    }
    if daemon.seen.isSubscribed { await AccessRound.run(rounds, clients, until: deadline) }
    // The broker may end the connection for the large probe.
    let seen = daemon.seen
    var passesLarge: Bool?
    if connection.protocolVersion == .v311, let first = rounds.first, let base = bases.first,
      first.own(seen).contains(where: { $0.topic.group == .outbound && $0.outcome == .delivered })
    {
      passesLarge = await AccessRound.passesLarge(base, daemon, until: deadline)
    }
    await withTaskGroup(of: Void.self) { group in
      for client in clients.values { group.addTask { await client.close() } }
    }
    guard let session = seen.session, seen.isSubscribed else {
      return .failure(seen.error ?? MosquittoError(.noAnswer, "the broker does not answer"))
    }
    return .success(
      AccessReport(
        session: session, own: rounds.flatMap { $0.own(seen) }, passesLarge: passesLarge, refusedFilters: seen.refused,
        retained: seen.retained.sorted(), values: seen.values,
        anonymous: Self.client(rounds, .anonymous, anonymous.seen, daemon: seen),
        other: login.map { Self.client(rounds, .other, $0.seen, daemon: seen) }))
  }

  private static func client(
    _ rounds: [AccessRound], _ role: AccessRound.Role, _ seen: ProbeClient.Seen, daemon: ProbeClient.Seen
  ) -> AccessReport.Client {
    guard seen.session != nil else {
      return .refused(seen.error ?? MosquittoError(.noAnswer, "the broker does not answer"))
    }
    return .admitted(rounds.map { $0.others(role, seen, daemon: daemon) })
  }

  // MARK: What each listens to

  /// Not all below a base: a broker drops what it keeps of thousands of routers when it cannot send it at once, and
  /// counts that. Of the topics that it keeps of a router, the smallest is enough.
  private static func own(_ bases: [String]) -> [MosquittoConfiguration.Subscription] {
    bases.flatMap { base in
      ProbeTopic.Group.allCases.map { .init("\(base)/\($0.rawValue)/+/\(ProbeTopic.name)") } + [
        .init("\(base)/in/#", qos: 0), .init("\(base)/router/+/availability", qos: 0),
      ]
    } + [.init("$SYS/broker/#", qos: 0)]
  }

  private static func further(_ filter: String) -> MosquittoConfiguration.Subscription {
    var subscription = MosquittoConfiguration.Subscription(filter, qos: 0)
    subscription.retained = .asOrdinary
    return subscription
  }

  private static func others(_ bases: [String], _ name: String?) -> [MosquittoConfiguration.Subscription] {
    bases.flatMap { base in
      [ProbeTopic(base: base, group: .outbound), ProbeTopic(base: base, group: .inbound)]
        + (name.map { [ProbeTopic(base: base, group: .outbound, user: $0)] } ?? [])
    }.map { .init($0.text) }
  }
}

extension MosquittoConfiguration {
  /// The same broker with another login, or with none. The daemon's certificate is its own, and can be a login.
  func asAnother(_ username: String?, _ password: String?) -> MosquittoConfiguration {
    var same = self
    same.username = username
    same.password = password
    same.tls?.certificateFile = nil
    same.tls?.keyFile = nil
    return same
  }
}
