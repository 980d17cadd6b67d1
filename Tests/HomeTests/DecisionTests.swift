import Testing
import ThreadDataset

@testable import Home

/// What a report means for the preferred network, without a home around it.
@Suite struct PreferredDecisionTests {
  private static func member(_ agent: UInt64, _ team: ExactName?, _ dataset: DatasetSummary) -> PreferredDecision.Member
  { .init(agent: .number(agent), team: team, dataset: dataset) }

  private static let named = DatasetSummary(network: 1, name: "net-1")
  private static let preferred = DatasetSummary.of(1, at: 5)
  private static let moved = DatasetSummary.of(1, at: 6, channel: 20)
  private static let rekeyed = DatasetSummary.of(1, key: 2, at: 6)
  private static let current = member(1, "otbr", preferred)
  private static let foreign = member(2, "other", preferred)
  private static let second = member(3, "otbr", rekeyed)
  private static let foreignSecond = member(4, "other", rekeyed)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var preferred: DatasetSummary? = PreferredDecisionTests.preferred
    var incoming = PreferredDecisionTests.rekeyed
    var isMember = true
    /// It was read of a router that nobody owns.
    var isRead = false
    var isForgotten = false
    var isOwner = false
    var change = DatasetDecision.update([])
    var present: [PreferredDecision.Member] = []
    var departed: [PreferredDecision.Member] = []
    var hasDamage = false
    var cause: PreferredCause?

    init(_ description: String, _ cause: PreferredCause?, _ change: (inout Row) -> Void = { _ in }) {
      testDescription = description
      self.cause = cause
      change(&self)
    }
  }

  @Test(
    "Whether a report changes the preferred network, and why",
    arguments: [
      Row("the first network", .first) { $0.preferred = nil },
      Row("the first network again, kept", .first) { ($0.preferred, $0.change) = (nil, .keep) },
      Row("the first network, not complete", nil) {
        ($0.preferred, $0.incoming, $0.change) = (nil, .partial(1), .store)
      }, Row("a person has forgotten the last one", nil) { ($0.preferred, $0.isForgotten) = (nil, true) },
      Row("it is not stored: older", nil) { ($0.preferred, $0.change) = (nil, .ignoreOlder) },
      Row("it is not stored: a conflict", nil) { ($0.preferred, $0.change) = (nil, .conflict([])) },
      Row("preferred by its id alone, one report", nil) { $0.preferred = named },
      Row("preferred by its id alone, two of one team", nil) { ($0.preferred, $0.present) = (named, [second]) },
      Row("preferred by its id alone, two of two teams", .confirmed(by: 4)) {
        ($0.preferred, $0.present, $0.isMember) = (named, [second, foreignSecond], false)
      },
      Row("preferred by its id alone, another network", nil) {
        ($0.preferred, $0.incoming, $0.present) = (named, .of(2), [member(4, "other", .of(2))])
      },
      Row("no member, whatever others report", nil) { ($0.isMember, $0.present) = (false, [second, foreignSecond]) },
      Row("no member, the only router", nil) { $0.isMember = false },
      Row("the owner's program, another network", .owner) {
        ($0.isOwner, $0.incoming, $0.present) = (true, .of(2), [foreign])
      }, Row("the owner's program, nothing new", nil) { ($0.isOwner, $0.change) = (true, .keep) },
      Row("another network of the only member", nil) { $0.incoming = .of(2, at: 9) },
      Row("the same age", nil) { $0.incoming = .of(1, key: 2, at: 5) },
      Row("an earlier timestamp", nil) { $0.incoming = .of(1, key: 2, at: 4) },
      Row("the same keys, later", .sameKeys) { ($0.incoming, $0.present) = (moved, [foreign]) },
      Row("the same keys, later, with damage", .sameKeys) { ($0.incoming, $0.hasDamage) = (moved, true) },
      Row("the same keys, later, kept", nil) { ($0.incoming, $0.change) = (moved, .keep) },
      Row("other keys of the only member", .onlyMember),
      Row("other keys of the only member, again", .onlyMember) { $0.change = .keep },
      Row("other keys, and another member has the current ones", nil) { $0.present = [current] },
      Row("other keys of the only member, with damage", nil) { $0.hasDamage = true },
      Row("other keys, and one that left had the current ones", nil) { $0.departed = [current] },
      Row("other keys, confirmed by the own team", .confirmed(by: 3)) { $0.present = [current, second] },
      Row("other keys, confirmed by the own team, with damage", nil) {
        ($0.present, $0.hasDamage) = ([current, second], true)
      },
      Row("other keys, confirmed by the own team where another one has a member", nil) {
        $0.present = [second, foreign]
      },
      Row("other keys, confirmed by the own team where a router of another one left", nil) {
        ($0.present, $0.departed) = ([second], [foreign])
      },
      Row("other keys, confirmed by another team", .confirmed(by: 4)) {
        ($0.present, $0.hasDamage) = ([second, foreignSecond], true)
      },
      Row("other keys, and a second member reports yet other ones", nil) {
        $0.present = [member(3, "otbr", .of(1, key: 3, at: 6))]
      },
      Row("other keys, and a second member has them with another channel", nil) {
        $0.present = [member(3, "otbr", .of(1, key: 2, at: 7, channel: 20))]
      }, Row("the first network, read", nil) { ($0.preferred, $0.isRead) = (nil, true) },
      Row("preferred by its id alone, read, and one of a team", nil) {
        ($0.preferred, $0.isRead, $0.present) = (named, true, [second])
      },
      Row("preferred by its id alone, one report, and one read", nil) {
        ($0.preferred, $0.present) = (named, [member(3, nil, rekeyed)])
      },
      Row("the same keys, later, read", .sameKeys) { ($0.incoming, $0.isRead, $0.present) = (moved, true, [current]) },
      Row("other keys, read", nil) { $0.isRead = true },
      Row("other keys, read, and a second member reports them", nil) { ($0.isRead, $0.present) = (true, [second]) },
      Row("other keys of the only member, read of another one, too", .onlyMember) {
        $0.present = [member(3, nil, rekeyed)]
      },
      Row("other keys, read of another one, too, and one of the team has the current ones", nil) {
        $0.present = [member(3, nil, rekeyed), current]
      },
      Row("other keys, confirmed by the own team, and one that was read has the current ones", .confirmed(by: 3)) {
        $0.present = [member(5, nil, preferred), second]
      },
      Row("other keys, and a second member has them with no later timestamp", nil) {
        $0.present = [member(3, "otbr", .of(1, key: 2, at: 5))]
      },
    ]) func decision(_ row: Row)
  {
    let cause = PreferredDecision.cause(
      preferred: row.preferred, isForgotten: row.isForgotten,
      reporter: Self.member(7, row.isRead ? nil : "otbr", row.incoming), isMember: row.isMember, change: row.change,
      isOwner: row.isOwner
    ) { PreferredDecision.Members(present: row.present, departed: row.departed, hasDamage: row.hasDamage) }
    #expect(cause == row.cause)
  }

  @Test(
    "A member has the keys, or had them and stays on that Extended PAN ID",
    arguments: [
      (false, DatasetSummary.of(1, at: 1, channel: 20), true), (false, .of(1, key: 2), false),
      (true, .of(1, key: 2), true), (true, .of(2), false), (false, .of(2), false),
    ]) func follows(_ wasMember: Bool, _ dataset: DatasetSummary, _ expected: Bool)
  {
    func follows(_ preferred: DatasetSummary?) -> Bool {
      Membership.follows(wasMember: wasMember, dataset, preferred: preferred)
    }
    #expect(follows(.of(1, at: 5)) == expected)
    #expect(!follows(nil) && !follows(Self.named))
  }

  @Test(
    "A member that a person's choice has left behind leads only with the preferred parameters",
    arguments: [
      (DatasetSummary?.none, true), (.of(1, at: 5), true), (.of(1, at: 4, channel: 20), true),
      (.of(1, at: 5, channel: 20), true), (.of(1, key: 2, at: 9), true), (.of(1, at: 9, channel: 20), false),
    ]) func leads(_ stored: DatasetSummary?, _ expected: Bool)
  {
    for incoming in [DatasetSummary.of(1, at: 10, channel: 21), .of(1, key: 2, at: 10)] {
      #expect(Membership.leads(stored: stored, incoming: incoming, preferred: Self.preferred) == expected)
    }
    #expect(Membership.leads(stored: stored, incoming: .of(1, at: 10), preferred: Self.preferred))
    #expect(!Membership.stays(leads: false, .of(1, key: 2), preferred: Self.preferred))
    #expect(Membership.stays(leads: false, .of(1, channel: 20), preferred: Self.preferred))
    #expect(Membership.stays(leads: true, .of(1, key: 2), preferred: Self.preferred))
  }

  @Test(
    "A timestamp is too far ahead after a year, with the preferred keys only",
    arguments: [
      (DatasetSummary.of(1, at: 31_536_100, channel: 20), false), (.of(1, at: 31_536_101, channel: 20), true),
      (.of(1, at: 31_536_101), true), (.of(1, key: 2, at: 99_999_999), false), (.of(2, at: 99_999_999), false),
      (.of(1, at: 0xFFFF_FFFF_FFFF), true),
    ]) func ahead(_ incoming: DatasetSummary, _ expected: Bool)
  {
    let now = WireTime(milliseconds: 100_000)
    #expect(Membership.isTooFarAhead(incoming, preferred: Self.preferred, at: now) == expected)
    // What a person has chosen is not further ahead than itself.
    #expect(!Membership.isTooFarAhead(incoming, preferred: incoming, at: now))
    #expect(!Membership.isTooFarAhead(incoming, preferred: nil, at: now))
  }

  @Test(
    "A router's dataset against the preferred network",
    arguments: [
      (DatasetSummary?.none, ExtendedPANID?.none, PreferredCheck.none), (.of(1, at: 5), nil, .match),
      (.of(1, at: 1), nil, .match), (.of(1, at: 9), nil, .match), (.of(1, at: 4, channel: 20), nil, .stale(.channel)),
      (.of(1, at: 5, channel: 20), nil, .conflict(.channel)), (.of(1, at: 6, channel: 20), nil, .mismatch(.channel)),
      (.of(1, key: 2, at: 6), nil, .mismatch([.networkKey, .pskc])),
      (.of(2, at: 1), nil, .mismatch([.extendedPANID, .networkName])), (.of(1), 1, .match),
      (.of(1), 2, .mismatch(.extendedPANID)), (.of(1, at: 4, channel: 20), 2, .mismatch(.channel)),
      (.of(2), 1, .mismatch([.extendedPANID, .networkName])),
    ]) func check(_ dataset: DatasetSummary?, _ current: ExtendedPANID?, _ expected: PreferredCheck)
  {
    #expect(PreferredCheck(dataset, preferred: Self.preferred, current: current) == expected)
    #expect(PreferredCheck(dataset, preferred: nil, current: current) == .none)
  }

  @Test("Against a network that is preferred by its id alone only the id counts, and vouches for none") func namedOnly()
  {
    #expect(PreferredCheck(.of(1, key: 9), preferred: Self.named) == .match)
    #expect(PreferredCheck(.of(2), preferred: Self.named) == .mismatch(.extendedPANID))
    #expect(PreferredCheck.answer(about: .of(1), preferred: Self.named) == .none)
    #expect(PreferredCheck.answer(about: .of(1), preferred: .of(1)) == .match)
  }
}

/// What shared credentials mean for the preferred network, without a home around it.
@Suite struct SharedDecisionTests {
  private static let now = WireTime(milliseconds: 1_000_000)
  private static let year: UInt64 = 365 * 86_400
  private static let named = DatasetSummary(network: 1, name: "net-1")
  private static let preferred = DatasetSummary.of(1, at: 5)
  private static let moved = DatasetSummary.of(1, at: 6, channel: 20)

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let expected: SharedDecision
    var preferred: DatasetSummary? = SharedDecisionTests.preferred
    var dataset = SharedDecisionTests.moved
    var follows = false
    var isPreferredThere = false
    var needsChoice = false
    var isTrusted = false

    init(_ description: String, _ expected: SharedDecision, _ change: (inout Row) -> Void = { _ in }) {
      testDescription = description
      self.expected = expected
      change(&self)
    }
  }

  @Test(
    "What follows from shared credentials",
    arguments: [
      Row("the first network, preferred there", .becomes(.first)) { ($0.preferred, $0.isPreferredThere) = (nil, true) },
      Row("the first network, not preferred there", .nothing) { $0.preferred = nil },
      Row("none is preferred, and a person has to choose", .nothing) {
        ($0.preferred, $0.isPreferredThere, $0.needsChoice) = (nil, true, true)
      },
      Row("the first network, preferred there, and not complete", .becomes(.first)) {
        ($0.preferred, $0.dataset, $0.isPreferredThere) = (nil, named, true)
      },
      Row("not complete, and a person has to choose", .partial) {
        ($0.preferred, $0.dataset, $0.isPreferredThere, $0.needsChoice) = (nil, named, true, true)
      }, Row("not complete", .partial) { $0.dataset = named },
      Row("not complete, with a key", .partial) { $0.dataset = .partial(1, at: 6) },
      Row("not complete, and ours by its id alone, of a trusted user", .partial) {
        ($0.preferred, $0.dataset, $0.isTrusted) = (named, named, true)
      },
      Row("another network, preferred there", .otherPreferred) { ($0.dataset, $0.isPreferredThere) = (.of(2), true) },
      Row("another network, preferred there, and ours by its id alone", .otherPreferred) {
        ($0.preferred, $0.dataset, $0.isPreferredThere, $0.isTrusted) = (named, .of(2), true, true)
      }, Row("another network, not preferred there", .nothing) { $0.dataset = .of(2) },
      Row("preferred by its id alone, of a trusted user", .becomes(.shared)) {
        ($0.preferred, $0.isTrusted) = (named, true)
      }, Row("preferred by its id alone, of any other user", .asks) { $0.preferred = named },
      Row("preferred by its id alone, too far ahead", .conflict([])) {
        ($0.preferred, $0.dataset) = (named, .of(1, at: 1_001 + year))
      },
      Row("preferred by its id alone, too far ahead, of a trusted user", .conflict([])) {
        ($0.preferred, $0.dataset, $0.isTrusted) = (named, .of(1, at: 1_001 + year), true)
      }, Row("the same", .nothing) { ($0.dataset, $0.isPreferredThere) = (preferred, true) },
      Row("the same parameters, later", .nothing) { $0.dataset = .of(1, at: 9) },
      Row("the same parameters, earlier", .nothing) { $0.dataset = .of(1, at: 1) },
      Row("older", .older(.channel)) { $0.dataset = .of(1, at: 4, channel: 20) },
      Row("older, with other keys", .older([.networkKey, .pskc])) {
        ($0.dataset, $0.isTrusted) = (.of(1, key: 2, at: 4), true)
      }, Row("of the same age", .conflict(.channel)) { $0.dataset = .of(1, at: 5, channel: 20) },
      Row("too far ahead", .conflict(.channel)) {
        ($0.dataset, $0.follows) = (.of(1, at: 1_001 + year, channel: 20), true)
      },
      Row("too far ahead, with other keys", .conflict([.networkKey, .pskc])) {
        $0.dataset = .of(1, key: 2, at: 1_001 + year)
      },
      Row("a year ahead", .becomes(.sameKeys)) {
        ($0.dataset, $0.follows) = (.of(1, at: 1_000 + year, channel: 20), true)
      }, Row("newer, and it was the preferred one before", .becomes(.sameKeys)) { $0.follows = true },
      Row("newer, and it was not", .asks),
      Row("newer, of a trusted user, and it was not", .asks) { $0.isTrusted = true },
      Row("newer, with other keys", .asks) {
        ($0.dataset, $0.follows, $0.isTrusted) = (.of(1, key: 2, at: 6), true, true)
      },
    ]) func decision(_ row: Row)
  {
    let shared = SharedCredentials(
      user: "ha", dataset: row.dataset, isPreferredThere: row.isPreferredThere, createdAt: Self.now,
      changedAt: Self.now, reportedAt: Self.now, follows: row.follows)
    let decision = SharedDecision(
      shared, preferred: row.preferred, needsChoice: row.needsChoice, isTrusted: row.isTrusted, at: Self.now)
    #expect(decision == row.expected)
  }
}
