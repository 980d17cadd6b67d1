import ThreadDataset

/// A network's credentials that a login shares which is no border router, as Home Assistant's Thread store. They mirror
/// what it reported last. A border agent is named by them, and not owned.
package struct SharedCredentials: Hashable, Sendable {
  /// Networks that a user may share.
  static let most = 32

  package let user: ExactName
  package internal(set) var dataset: DatasetSummary
  /// What it lacks to be complete.
  package internal(set) var lacks: [TLVType] = []
  package internal(set) var agent: BorderAgentID?
  /// What people call the sender.
  package internal(set) var name: String?
  /// Whether the sender prefers this network. Of one user's networks, at most one.
  var isPreferredThere = false
  package internal(set) var createdAt: WireTime
  package internal(set) var changedAt: WireTime
  /// The last report. It is saved with the next change, as numbers are.
  package internal(set) var reportedAt: WireTime
  /// Whether the last report was signed. Whoever can publish as a login can send the others.
  var isSigned = false
  /// Whether a newer dataset with its keys is followed: it was just the preferred one, and no person has chosen since.
  var follows = false
  /// Network Keys of it that a person has refused: the last eight.
  var denied: [Hash128] = []
  /// Whether the store has the network, as far as is reported.
  var isThere = true
  /// Whether the sender changes its store where a person has agreed.
  var writes = false
  /// Since when no border router is online on the network; nil: one is, or it was not looked at.
  var offAirSince: WireTime?
  /// Since when the border agent is not online on it.
  var agentGoneSince: WireTime?
  /// Changes of the store that a person has refused, until what they are about is there again.
  var refused: [ConsentSubject.Command] = []
  @Boxed var agreed: AgreedChange? = nil
  var order = SequenceWindow()

  package var network: ExtendedPANID { dataset.network }
  var seenName: SeenName? { SeenName(dataset.name, network) }
  var isDenied: Bool { dataset.parameters.map { denied.contains($0.networkKey) } ?? false }
}

/// What credentials that a login shares mean for the preferred network of the home.
///
/// | the preferred network | what is shared | what follows |
/// |---|---|---|
/// | none, and nobody has to choose one | preferred there, and a router is online on it, or none is listed on another | becomes it: `first`; by its Extended PAN ID alone, where it is not complete |
/// | none otherwise | | nothing |
/// | the same, or none otherwise | preferred there, or the same, and not complete | alert: what it lacks |
/// | another one | preferred there | alert: the sender prefers another one |
/// | another one | not preferred there | nothing |
/// | the same, by its Extended PAN ID alone | too far ahead | alert: conflict |
/// | the same, by its Extended PAN ID alone | signed by a user whom the settings trust | becomes it: `shared` |
/// | the same, by its Extended PAN ID alone | of any other user | a person is asked |
/// | the same | the same parameters | nothing |
/// | the same | older | alert: stale |
/// | the same | of the same age, or too far ahead | alert: conflict |
/// | the same | newer, with its keys, after it was just the preferred one | becomes it: `sameKeys` |
/// | the same | newer otherwise | a person is asked |
enum SharedDecision: Hashable {
  case nothing
  case becomes(PreferredCause)
  case asks
  case older(DatasetDifferences)
  case conflict(DatasetDifferences)
  case otherPreferred
  case partial

  /// - Parameters:
  ///   - needsChoice: no first network becomes the preferred one by itself.
  ///   - isTrusted: it is signed, and the settings trust the user.
  init(_ shared: SharedCredentials, preferred: DatasetSummary?, needsChoice: Bool, isTrusted: Bool, at now: WireTime) {
    let dataset = shared.dataset
    guard let preferred else {
      self =
        !shared.isPreferredThere ? .nothing : !needsChoice ? .becomes(.first) : dataset.isComplete ? .nothing : .partial
      return
    }
    guard dataset.network == preferred.network else {
      self = shared.isPreferredThere ? .otherPreferred : .nothing
      return
    }
    guard dataset.isComplete else {
      self = .partial
      return
    }
    let isTooFarAhead = (dataset.activeSeconds ?? 0) > now.seconds + Membership.mostAhead
    guard preferred.hasCredentials else {
      self = isTooFarAhead ? .conflict([]) : isTrusted ? .becomes(.shared) : .asks
      return
    }
    let differs = dataset.differences(from: preferred)
    if differs.isEmpty {
      self = .nothing
      return
    }
    switch dataset.relation(to: preferred) {
    case .older: self = .older(differs)
    case .newer where !isTooFarAhead:
      self = shared.follows && dataset.hasKeys(of: preferred) ? .becomes(.sameKeys) : .asks
    case .newer, .match, .conflict, .mismatch: self = .conflict(differs)
    }
  }
}
