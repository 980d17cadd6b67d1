import ThreadDataset

/// What follows from an input, once it is on disk. Retained states are not in it: they follow from the home itself, and
/// from what has changed of it.
package struct HomeOutput: Equatable, Sendable {
  /// Why a message was not acted upon.
  package var rejection: HomeRejection?
  /// The message repeats an earlier one.
  package var isDuplicate = false
  /// To who asked.
  @Boxed package var answer: HomeAnswer?
  /// To who has waited for a person.
  package var settled: [SettledAnswer] = []
  package var events: [HomeEvent] = []
  /// To routers that are to use the preferred network.
  package var orders: [AdoptionOrder] = []
  /// To agents of stores.
  package var storeOrders: [StoreOrder] = []
  package var audit: [AuditNote] = []
  /// Which secrets are to be written, in order: each reads what was there before the later ones.
  package var secrets: [SecretMove] = []
  /// Border routers that a program sees on its local network; nil: it has reported none.
  @Boxed package var sightings: [Advertisement]?

  package init() {}

  /// Whether nothing follows from the input but that it was received.
  package var isQuiet: Bool {
    events.isEmpty && rejection == nil && _answer.isAbsent && settled.isEmpty && orders.isEmpty && audit.isEmpty
      && secrets.isEmpty && _sightings.isAbsent
  }
}

/// A dataset that is sealed under a record, whose secret it replaces.
package struct SecretMove: Hashable, Sendable {
  package enum Source: Hashable, Sendable {
    /// The dataset that came with the input.
    case input
    case record(RecordKey)
    /// There is none any more.
    case nothing
  }

  package let to: RecordKey
  package let from: Source
}

/// What of a home is written down on its own.
///
/// What needs more room than that of a router lies elsewhere: each router has one.
package enum RecordKey: Hashable, Sendable {
  /// The preferred network, accepted networks, and what else there is one of.
  case home
  case router(BorderAgentID)
  case former(UInt32)
  case alert(AlertKey)
  case question(ConsentID)
  case grant(ConsentID)
  case decision(ConsentID)
  case client(ExactName)
  /// The numbers of a signer's envelopes about something; nil: its mark.
  indirect case signer(SignerKey, RouterMessage.Subject?)
  /// A network's credentials that a user shares.
  case shared(ExactName, ExtendedPANID)
  /// A program of a user, by its name.
  indirect case agent(ExactName, ExactName)

  /// For tables in memory: most are of routers.
  package func _rawHashValue(seed: Int) -> Int {
    if case .router(let agent) = self { return agent._rawHashValue(seed: seed) }
    var hasher = Hasher()
    hash(into: &hasher)
    return TableHash.mix(UInt64(truncatingIfNeeded: hasher.finalize()), 0, seed: seed)
  }
}

/// Records, each once, in the order in which they were noted first.
package struct RecordKeys: Equatable, Sendable, RandomAccessCollection {
  /// So many are compared one by one: most inputs change two or three.
  private static let few = 8

  private var list: [RecordKey] = []
  /// Those of the list, where it is a longer one.
  private var known: Set<RecordKey> = []

  package init() {}

  package mutating func insert(_ key: RecordKey) {
    if list.count < Self.few {
      if list.contains(key) { return }
    } else {
      if known.isEmpty { known = Set(list) }
      if !known.insert(key).inserted { return }
    }
    list.append(key)
  }

  package static func == (a: Self, b: Self) -> Bool { a.list == b.list }

  package var startIndex: Int { 0 }
  package var endIndex: Int { list.count }
  package subscript(index: Int) -> RecordKey { list[index] }
}

/// Why a message was not acted upon.
package enum HomeRejection: Hashable, Sendable, Error {
  /// The border agent id belongs to another team.
  case notAuthorized(BorderAgentID)
  /// The border router belongs to another team, and the settings do not name the user.
  case mayNotReportSSID
  /// What a login sees of border routers counts signed only.
  case sightingsNotSealed
  /// A team that has border routers reports these alone.
  case mayNotReportSightings
  /// The border router has not announced itself.
  case unknownRouter
  /// No border router that the user may report has announced the access point.
  case unknownAccessPoint
  /// More than so many of one team have.
  case tooManyBehindAccessPoint(Int)
  /// A later event of this router or network was acted upon already.
  case outOfOrder
  /// A later envelope of this user for this router or network was opened already.
  case envelopeOutOfOrder
  /// The team has so many border agent ids already.
  case tooManyRouters(Int)
  /// All teams together have so many.
  case homeIsFull(Int)
  /// All users together share the credentials of so many networks already.
  case tooManyShared(Int)
  /// The user shares the credentials of so many networks already.
  case tooManyNetworks(Int)
  /// Only signed events of this user count.
  case notSealed
  /// Nobody is enrolled for the user of an envelope.
  case notEnrolled
}

/// Something that happened, for automations and the log. No secret.
package enum HomeEvent: Hashable, Sendable {
  case router(RouterEvent)
  case alert(AlertKey, Alert, Alert.News, previousSeverity: AlertSeverity?)
  case asked(ConsentQuestion)
  case decided(ConsentRecord)
  /// What a person has agreed to is not given.
  case notGiven(ConsentRecord)
  /// A router is not given the credentials, because what was asked for has changed.
  case adoptionChanged(BorderAgentID)
  /// A router that left long ago is forgotten.
  case forgotten(BorderAgentID)
}

/// What happened to a router, or to the preferred network: one thing can have several outcomes.
package struct RouterEvent: Hashable, Sendable {
  package struct Types: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let announced = Types(rawValue: 1 << 0)
    package static let left = Types(rawValue: 1 << 1)
    package static let datasetStored = Types(rawValue: 1 << 2)
    package static let datasetUpdated = Types(rawValue: 1 << 3)
    package static let datasetIgnored = Types(rawValue: 1 << 4)
    package static let ssidChanged = Types(rawValue: 1 << 5)
    package static let preferredChanged = Types(rawValue: 1 << 6)
    package static let datasetSent = Types(rawValue: 1 << 7)
    package static let discovered = Types(rawValue: 1 << 8)
    /// A router that was offline is back, or is on its first network.
    package static let online = Types(rawValue: 1 << 9)
  }

  package var types: Types
  package var router: BorderAgentID?
  package var routerName: String?
  /// Others look so named.
  package var routerNeedsID = false
  package var user: ExactName?
  package var network: AlertFacts.Named?
  package var differs: DatasetDifferences?
  package var previousNetwork: ExtendedPANID?
  /// Of a dataset that was ignored: an older one, or one of the same age.
  package var isConflict = false
  package var ssid: String?
  package var previousSSID: String?
  /// The check that an SSID change asks for.
  package var check: PreferredCheck?
  /// By which credentials are sent.
  package var consent: ConsentID?
  /// Whether that is an earlier "always", which has an id of its own.
  package var isByGrant = false
  /// The last border router of the preferred network left.
  package var isLastOfPreferred = false
  /// A person has removed it.
  package var isRemoved = false
  /// It is online, on `network`, and was on none before, as far as is known.
  package var isFirstNetwork = false

  init(_ types: Types = [], _ router: BorderAgentID? = nil) {
    self.types = types
    self.router = router
  }

  /// What has become of a dataset that was reported or stored.
  mutating func note(_ change: DatasetDecision, of dataset: DatasetSummary) {
    switch change {
    case .keep: return
    case .store: types.insert(.datasetStored)
    case .update(let found):
      types.insert(.datasetUpdated)
      differs = found
    case .move(let previous, let found):
      types.insert(.datasetUpdated)
      differs = found
      previousNetwork = previous
    case .ignoreOlder: types.insert(.datasetIgnored)
    case .conflict(let found):
      types.insert(.datasetIgnored)
      isConflict = true
      differs = found
    }
    if change.isStored { network = .init(dataset) }
  }
}

/// An answer that a settled question owes.
package struct SettledAnswer: Hashable, Sendable {
  package let id: ConsentID
  package let requester: Requester
  package let to: ReplyAddress
  package let answer: HomeAnswer
}

/// The preferred network's credentials for a router, sealed to the enrolled key of its login.
package struct AdoptionOrder: Hashable, Sendable {
  package let agent: BorderAgentID
  package let user: ExactName
  package let message: UInt64
  package let connection: Int64
  package let deadline: WireTime
  /// Whose dataset it is: another one that lies there when the message is made is not sent.
  package let dataset: DatasetSummary
}

/// What a request comes to.
package enum HomeAnswer: Hashable, Sendable {
  /// - change: `store`, `keep`, `update` or `move`.
  case stored(DatasetDecision, preferred: PreferredCheck)
  case deleted
  case credentials([StoredCredentials])
  case available(Bool)
  case checked(PreferredCheck)
  /// - keysOf: whose keys were taken, where they have changed and did not come with the request.
  case preferredSet(isChanged: Bool, hasCredentials: Bool, keysOf: RecordKey? = nil)
  /// - sharedBy: users whose shared credentials were deleted, too. They come back where they are reported again.
  case forgotten([FormerNetwork], remaining: [BorderAgentID], sharedBy: [ExactName])
  case questions([ConsentQuestion])
  /// A person is asked first.
  case waiting(ConsentID)
  /// A decision is taken.
  case decided(ConsentRecord)
  case revoked(ConsentGrant)
  /// A person will be asked again.
  case asksAgain
  /// An id was removed: whose it was, and whether it had credentials.
  case removed(team: ExactName?, hadCredentials: Bool)
  /// - isKnown: whether the router or network is listed.
  case accepted(isChange: Bool, isKnown: Bool)
  /// A network came by a code.
  case joined(JoinedNetwork)
  case enrolled(isUpdate: Bool)
  case revokedClient(Bool)
  case refused(HomeRefusal)
}

/// Credentials in an answer. Their dataset is opened when the answer is made.
package struct StoredCredentials: Hashable, Sendable {
  /// Nil for a preferred network that no stored router is on, and where who shares them names none.
  package var agent: BorderAgentID?
  package let dataset: DatasetSummary
  /// Whether its border router is there and can be reached now.
  package let isActive: Bool
  package var createdAt: WireTime?
  package var changedAt: WireTime?
  /// Where its secrets lie.
  package let secret: RecordKey
  /// Nil: the dataset is that of the home's preferred network.
  package var team: ExactName?

  /// As a person is asked about it.
  var network: ConsentNetwork { ConsentNetwork(dataset, of: team) }
}

/// Why a request was not fulfilled.
package enum HomeRefusal: Hashable, Sendable, Error {
  /// The border agent id belongs to another team.
  case ofAnotherTeam(BorderAgentID)
  /// Only a person may choose the preferred network.
  case mayNotPrefer
  /// Only the daemon's own user and root may do this.
  case onlyAdministrator
  /// Only these decide over MQTT.
  case mayNotDecide
  /// Home Assistant approves once only.
  case onceOnly
  /// Home Assistant decides about adoptions only.
  case adoptionsOnly(ConsentID)
  /// The button is not the one that is shown now.
  case wrongButton
  /// Buttons were altered a moment ago.
  case buttonsAltered(ConsentID)
  /// The answer holds secrets, and the requester has no key to seal them to.
  case noKey
  case unknownRouter(BorderAgentID)
  /// Nothing is found, and records of the home cannot be read: one of them may be it.
  case damaged
  case noCredentials(BorderAgentID)
  case noPreferred
  /// What is shared of another network than the preferred one is not accepted.
  case notPreferred(ExtendedPANID)
  /// No login shares other credentials of the preferred network.
  case nothingToAccept(ExtendedPANID)
  /// Only older ones are shared.
  case onlyOlderShared(ExtendedPANID)
  /// These logins share different keys of the preferred network: a person approves the question about one.
  case severalShared([ExactName])
  /// The network is preferred, and its credentials are not here.
  case preferredWithoutCredentials(ExtendedPANID)
  /// Nothing of this network is stored.
  case noCredentialsOfNetwork
  case noCredentialsOfRouterForNetwork
  /// The router's dataset lacks this, and a network is preferred with a complete one only.
  case partialCredentials(BorderAgentID, [TLVType])
  case unknownFormer
  case noNetworkOfName
  case severalOfName([ExtendedPANID])
  /// The network has different keys: which, and who has them.
  case severalKeys(ExtendedPANID, [KnownKeys])
  /// The preferred network is not deleted.
  case isPreferred
  /// Nothing of it is kept in the history; whether routers use it.
  case notInHistory(isUsed: Bool)
  /// The timestamp is more than a year ahead of the clock.
  case tooFarAhead
  case tooManyRouters(Int)
  case homeIsFull(Int)
  case tooMany(Int)
  /// What was agreed to has changed since.
  case changed
  /// The key that the answer was to be sealed to is not enrolled any more.
  case keyIsGone
  case nothingToAskAgain(BorderAgentID, AdoptionState?)
  case consent(ConsentRefusal)
  /// Nobody has decided in time, or a person has refused it.
  case expired
  case denied

  /// Keys of a network, and who has them.
  package struct KnownKeys: Hashable, Sendable {
    /// Whose dataset it is; `home`: the preferred network's own.
    typealias Known = (owner: RecordKey, dataset: DatasetSummary)

    /// Whether the home prefers them now.
    package let areCurrent: Bool
    /// Of the newest dataset with them.
    package internal(set) var seconds: UInt64
    /// Routers, former networks and logins.
    package internal(set) var owners: [RecordKey]

    /// Each pair of keys once, the first one first.
    static func list(_ known: [Known]) -> [KnownKeys] {
      var indices: [[Hash128?]: Int] = [:]
      var list: [KnownKeys] = []
      for one in known {
        let keys = [one.dataset.parameters?.networkKey, one.dataset.parameters?.pskc]
        let index = indices[keys] ?? list.count
        if index == list.count {
          indices[keys] = index
          list.append(KnownKeys(areCurrent: one.owner == .home, seconds: 0, owners: []))
        }
        list[index].seconds = max(list[index].seconds, one.dataset.activeSeconds ?? 0)
        if one.owner != .home { list[index].owners.append(one.owner) }
      }
      return list
    }
  }
}

/// What is written into the audit.
package enum AuditNote: Hashable, Sendable {
  case credentialsStored(BorderAgentID, DatasetDecision)
  case credentialsDeleted(BorderAgentID)
  /// Credentials that a login shares.
  case sharedStored(by: ExactName, ExtendedPANID, isNew: Bool)
  case sharedDeleted(of: ExactName, ExtendedPANID)
  case preferredChanged(from: ExtendedPANID?, to: ExtendedPANID?)
  /// A person has said that its keys are right, which were changed or are disputed.
  case preferredConfirmed
  /// A network came by the code that this router showed.
  case joined(ExtendedPANID, by: BorderAgentID)
  /// What the history had of a network.
  case formerDeleted(ExtendedPANID)
  case routerRemoved(BorderAgentID, team: ExactName?, RemovalReason)
  case consent(ConsentRecord)
  case granted(ConsentGrant)
  /// It is decided and will be sent. What cannot be sent then is `notGiven`.
  case given(ConsentSubject, to: Requester, by: ConsentID)
  case notGiven(ConsentSubject, to: Requester, by: ConsentID, ConsentRecord.Obstacle)
  case enrolled(ExactName)
  case enrolledAgain(ExactName, hasNewKeys: Bool)
  /// - isKept: that nothing of its keys counts stays known.
  case revoked(ExactName, isKept: Bool)

  package enum RemovalReason: Hashable, Sendable {
    case byPerson
    case leftLongAgo
    /// For another id of its team.
    case forRoom
    /// For another id of the home.
    case forHome
  }
}
