import ThreadDataset

// The parts of an alert as they are written down: see `Home+records`.

extension AlertSubject: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    switch try coder.byte(value?.rank) {
    case 0: return .home
    case 1: return .router(try coder(value.flatMap { if case .router(let x) = $0 { x } else { nil } }))
    case 2: return .user(try coder(value.flatMap { if case .user(let x) = $0 { x } else { nil } }))
    case 3: return .network(try coder(value.flatMap { if case .network(let x) = $0 { x } else { nil } }))
    default: throw RecordError()
    }
  }
}

extension Alert: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Alert(
      phase: try coder(value?.phase), facts: try coder(value?.facts), heldFacts: try coder.maybe(value?.heldFacts),
      heldSince: try coder(value?.heldSince), startsAt: try coder.maybe(value?.startsAt),
      updatedAt: try coder(value?.updatedAt), endsAt: try coder.maybe(value?.endsAt),
      sequence: try coder(value?.sequence))
  }
}

extension AlertFacts: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    var facts = AlertFacts(try coder(value?.message))
    facts.router = try coder.maybe(value?.router)
    facts.routerName = try coder.maybe(value?.routerName)
    facts.routerNeedsID = try coder(value?.routerNeedsID)
    facts.network = try coder.maybe(value?.network)
    facts.configured = try coder.maybe(value?.configured)
    facts.preferred = try coder.maybe(value?.preferred)
    facts.user = try coder.maybe(value?.user)
    facts.differs = try coder.maybe(value?.differs)
    facts.since = try coder.maybe(value?.since)
    facts.httpStatus = try coder.maybe(value?.httpStatus)
    facts.adoption = try coder.maybe(value?.adoption)
    facts.names = try coder(value?.names)
    facts.otherNames = try coder(value?.otherNames)
    facts.trigger = try coder.maybe(value?.trigger)
    return facts
  }
}

extension AlertFacts.Named: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    var named = Self(try coder(value?.id), try coder(value?.name))
    named.needsID = try coder(value?.needsID)
    return named
  }
}

extension AlertFacts.Names: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(first: try coder(value?.first), count: try coder(value?.count))
  }
}

extension AlertFacts.Message: Recorded {
  /// Messages without values.
  private static let plain: [Self] = [
    .notAttached, .neverMember, .otherNetwork, .otherCredentials, .behind, .reportsOlder, .sameAge, .reportsConflict,
    .noDataset, .recordGone, .detached, .notAdvertised, .wellKnownKey, .joined, .plaintext, .daemon, .otherPreferred,
    .sharedPartial, .sharedOlder, .sharedConflict, .openForCode, .silentWithoutNetwork,
  ]

  /// Its number in records. That of one that is removed is not used again.
  private var tag: UInt8 {
    switch self {
    case .notAttached: 1
    case .neverMember: 2
    case .otherNetwork: 3
    case .otherCredentials: 4
    case .behind: 5
    case .reportsOlder: 6
    case .sameAge: 7
    case .reportsConflict: 8
    case .noDataset: 9
    case .recordGone: 10
    case .detached: 11
    case .wellKnownKey: 12
    case .joined: 13
    case .plaintext: 14
    case .daemon: 15
    case .otherPreferred: 16
    case .sharedOlder: 17
    case .sharedConflict: 18
    case .openForCode: 20
    case .notAdvertised: 30
    case .sharedPartial: 31
    case .elsewhere: 32
    case .offline: 33
    case .notSeen: 34
    case .agentSilent: 35
    case .adoptionFailed: 36
    case .noPreferred: 37
    case .keysDisputed: 38
    case .preferredChanged: 39
    case .movedTo: 40
    case .split: 41
    case .wasReset: 42
    case .lostNetwork: 43
    case .preferredEmpty: 44
    case .awayTogether: 45
    case .agentNotWorking: 46
    case .silentWithoutNetwork: 47
    }
  }

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let tag = try coder.byte(value?.tag)
    switch (tag, value) {
    case (32, .elsewhere(let isConfigured)): return .elsewhere(isConfiguredForPreferred: try coder(isConfigured))
    case (32, nil): return .elsewhere(isConfiguredForPreferred: try coder(nil))
    case (33, .offline(let reason)): return .offline(try coder.maybe(reason))
    case (33, nil): return .offline(try coder.maybe(nil))
    case (34, .notSeen(let isStopped)): return .notSeen(isStopped: try coder(isStopped))
    case (34, nil): return .notSeen(isStopped: try coder(nil))
    case (35, .agentSilent(let reason)): return .agentSilent(try coder.maybe(reason))
    case (35, nil): return .agentSilent(try coder.maybe(nil))
    case (36, .adoptionFailed(let state, let isConfigured)):
      return .adoptionFailed(try coder(state), isConfiguredForPreferred: try coder(isConfigured))
    case (36, nil): return .adoptionFailed(try coder(nil), isConfiguredForPreferred: try coder(nil))
    case (37, .noPreferred(let isForgotten, let networks, let more)):
      return .noPreferred(isForgotten: try coder(isForgotten), networks: try coder(networks), more: try coder(more))
    case (37, nil): return .noPreferred(isForgotten: try coder(nil), networks: try coder(nil), more: try coder(nil))
    case (38, .keysDisputed(let claimed, let current, let departed, let hasDamage)):
      return .keysDisputed(
        claimed: try coder.maybe(claimed), current: try coder.maybe(current), departed: try coder(departed),
        hasDamage: try coder(hasDamage))
    case (38, nil):
      return .keysDisputed(
        claimed: try coder.maybe(nil), current: try coder.maybe(nil), departed: try coder(nil),
        hasDamage: try coder(nil))
    case (39, .preferredChanged(let change, let disagrees)):
      return .preferredChanged(try coder(change), disagrees: try coder(disagrees))
    case (39, nil): return .preferredChanged(try coder(nil), disagrees: try coder(nil))
    case (40, .movedTo(let routers, let all, let lost)):
      return .movedTo(routers: try coder(routers), of: try coder(all), lost: try coder(lost))
    case (40, nil): return .movedTo(routers: try coder(nil), of: try coder(nil), lost: try coder(nil))
    case (41, .split(let named, let parts)): return .split(try coder(named), parts: try coder(parts))
    case (41, nil): return .split(try coder(nil), parts: try coder(nil))
    case (42, .wasReset(let isOnPreferred)): return .wasReset(isOnPreferred: try coder(isOnPreferred))
    case (42, nil): return .wasReset(isOnPreferred: try coder(nil))
    case (43, .lostNetwork(let isLast)): return .lostNetwork(isLast: try coder(isLast))
    case (43, nil): return .lostNetwork(isLast: try coder(nil))
    case (44, .preferredEmpty(let routers, let elsewhere)):
      return .preferredEmpty(routers: try coder(routers), elsewhere: try coder(elsewhere))
    case (44, nil): return .preferredEmpty(routers: try coder(nil), elsewhere: try coder(nil))
    case (46, .agentNotWorking(let trouble)): return .agentNotWorking(try coder.maybe(trouble))
    case (46, nil): return .agentNotWorking(try coder.maybe(nil))
    case (45, .awayTogether(let routers, let all)):
      return .awayTogether(routers: try coder(routers), of: try coder(all))
    case (45, nil): return .awayTogether(routers: try coder(nil), of: try coder(nil))
    default:
      guard let message = Self.plain.first(where: { $0.tag == tag }) else { throw RecordError() }
      return message
    }
  }
}

extension PreferredChange: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(
      from: try coder(value?.from), to: try coder(value?.to), differs: try coder(value?.differs),
      bringsCredentials: try coder(value?.bringsCredentials), cause: try coder(value?.cause),
      who: try coder.maybe(value?.who), second: try coder.maybe(value?.second),
      formerID: try coder.maybe(value?.formerID), fromRadio: try coder.maybe(value?.fromRadio),
      toRadio: try coder.maybe(value?.toRadio))
  }
}

extension PreferredChange.Radio: Recorded {
  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    Self(channel: try coder(value?.channel), panID: try coder(value?.panID))
  }
}

extension PreferredCause: Recorded {
  private static let plain: [Self] = [.first, .sameKeys, .onlyMember, .owner, .person, .shared]

  private var tag: UInt8 {
    switch self {
    case .first: 1
    case .sameKeys: 2
    case .onlyMember: 3
    case .owner: 4
    case .person: 5
    case .confirmed: 6
    case .shared: 7
    }
  }

  static func coded(_ coder: inout RecordCoder, _ value: Self?) throws(RecordError) -> Self {
    let tag = try coder.byte(value?.tag)
    switch (tag, value) {
    case (6, .confirmed(let agent)): return .confirmed(by: try coder(agent))
    case (6, nil): return .confirmed(by: try coder(nil))
    default:
      guard let cause = plain.first(where: { $0.tag == tag }) else { throw RecordError() }
      return cause
    }
  }
}
