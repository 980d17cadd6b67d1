import ThreadDataset

/// How far it is with giving a router the preferred network's credentials.
package enum AdoptionState: UInt8, Hashable, Sendable, CaseIterable {
  /// A person is to be asked, as soon as can be.
  case due = 1
  /// A person is asked.
  case asked
  /// A person has agreed; the message waits for a connection to the broker.
  case agreed
  /// The router was sent the credentials and has not reported yet that it uses them.
  case sent
  // What came of it.
  /// Nothing can be sealed for the login that publishes for the router.
  case notEnrolled
  /// Nothing can be sealed for it, because what is stored of its keys, or of the daemon's, cannot be read.
  case damagedKeys
  case denied
  /// Nobody has decided in time.
  case expired
  /// The router was sent the credentials, and goes on reporting what it reported before.
  case timeout
  /// The router was sent the credentials, and reports that it uses other ones.
  case disagreement
  // The same, as the router's publisher reports it.
  /// Another change was pending on the router for as long as the order lived.
  case pendingChange
  /// The router has refused a step.
  case refused
  /// The router did not answer a step.
  case noAnswer
  /// It was not attached with them in time.
  case notAttached
  /// It was sent nothing: the stored dataset of the preferred network does not open.
  case damagedCredentials

  /// Whether a person was asked about a key, which has to count still.
  var needsKey: Bool {
    switch self {
    case .due, .notEnrolled, .damagedKeys: false
    default: true
    }
  }

  package var hasFailed: Bool {
    switch self {
    case .due, .asked, .agreed, .sent: false
    default: true
    }
  }

  /// Whether the router was sent the credentials, and its report that it uses them may still come.
  var mayBeConfirmed: Bool {
    switch self {
    case .sent, .timeout, .disagreement, .pendingChange, .refused, .noAnswer, .notAttached: true
    default: false
    }
  }

  /// Whether a person can have the question asked again.
  package var canBeAskedAgain: Bool { hasFailed && needsKey }
}

/// That a border router is to be given the preferred network's credentials: how far it is, and what it is about. A pure
/// value; `Home` looks up what an event needs to say, and does what follows.
///
/// "Failed" is `denied`, `expired`, `timeout`, `disagreement`, `damagedCredentials`, or the reason that the router
/// itself gives. "A key obstacle" is `notEnrolled` or `damagedKeys`. "Ends" and "restarts" withdraw a question that
/// waits and note that what was agreed to is not given; then there is no adoption, or one that is `due`. "Needed" is an
/// adoption where there is a mismatch that no alert of the home explains, in a home that has not moved; and where the
/// router is behind on the preferred network, once that is raised.
///
/// | state | event | next state |
/// |---|---|---|
/// | any | checked: no mismatch, or the setting is off | ends |
/// | none | checked: needed, and raised or with another SSID; or the mismatch is raised | `due` |
/// | `due`, a key obstacle, `asked`, `agreed` | checked: not needed | ends |
/// | `asked`, `agreed` | checked: another network, dataset, login or key than asked about | restarts |
/// | `sent` | checked: another preferred network or key, or not awaited | restarts; ends if not needed |
/// | failed | checked: something else than asked about, or another SSID | restarts; ends if not needed |
/// | `asked`, `agreed`, `sent`, failed | checked: nothing can be sealed | the key obstacle; ends if not needed |
/// | any | the router left, or was removed | ends |
/// | failed | a person wants to be asked again | restarts; refused, and the same, if not needed |
/// | `sent`, failed after it | reported: confirmed | none |
/// | `sent`, failed after it | reported: configured | the same; what it reports is kept |
/// | `sent` | reported: with a reason that is final | that reason |
/// | `sent` | reported: what it reported before | the same; what it reports is kept |
/// | `sent` | reported: something else | `disagreement` |
/// | `due` | clock: the router is online, or has no network | `asked`, `agreed` by an earlier grant, a key obstacle, ends where nothing is to be adopted, or `due` |
/// | a key obstacle | clock: another obstacle; none any more | that one; as `due` |
/// | `asked` | clock: the question is gone | `expired` |
/// | `asked` | decided: approved, and the same holds still | `agreed` |
/// | `asked` | decided: approved, and something else holds now | restarts |
/// | `asked` | decided: denied, expired | `denied`, `expired` |
/// | `agreed` | clock: a connection | `sent` |
/// | `agreed` | clock: "always" was taken back | restarts |
/// | `sent` | clock: the connection has not had it, or it is over there | the same; it is sent again |
/// | `sent` | the message cannot be made | `damagedCredentials` |
/// | `sent` | clock: the deadline is over, and all reports are received | `timeout` |
package struct Adoption: Hashable, Sendable {
  package internal(set) var state: AdoptionState
  /// What a person was asked about; nil while nobody was.
  package internal(set) var terms: Terms?
  /// In memory only: another process, or another connection, is sent the message again.
  var delivery: Delivery?

  /// What a person is asked about. The same is asked once.
  package struct Terms: Hashable, Sendable {
    /// The login that it is sent to, its team and the fingerprint of its key: another one is another question.
    package let user: ExactName
    package let team: ExactName
    package let fingerprint: String
    package internal(set) var preferred: DatasetSummary
    /// What the router reports that it uses; nil: it has never had a network.
    package internal(set) var reported: DatasetSummary?
    /// Of the question, or of the grant that made one needless.
    package internal(set) var consent: ConsentID
    /// Names the message, however often it is sent; 0 before it is sent first.
    package internal(set) var message: UInt64 = 0
    /// When the router should have answered.
    package internal(set) var deadline = WireTime(milliseconds: 0)
  }

  struct Delivery: Hashable {
    /// The connection that has the message, and until when it lives there.
    var connection: Int64
    var until: WireTime
    /// Whether the broker has taken it.
    var hasArrived = false
  }

  init(_ state: AdoptionState, _ terms: Terms? = nil) {
    self.state = state
    self.terms = terms
  }

  package static func == (a: Adoption, b: Adoption) -> Bool { a.state == b.state && a.terms == b.terms }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(state)
    hasher.combine(terms)
  }
}

/// What the credentials for a login would be sealed to.
enum AdoptionKey: Hashable {
  /// The fingerprint of its enrolled key.
  case enrolled(String)
  case notEnrolled
  case damaged

  var obstacle: AdoptionState? {
    switch self {
    case .enrolled: nil
    case .notEnrolled: .notEnrolled
    case .damaged: .damagedKeys
    }
  }
}

extension Adoption {
  /// What holds now of a router that is checked against the preferred network.
  struct Situation {
    let preferred: DatasetSummary
    let reported: DatasetSummary?
    let user: ExactName
    let team: ExactName
    let key: AdoptionKey

    /// Whether the same would be sent, sealed to the same key.
    func isSameToSend(as terms: Terms) -> Bool {
      preferred.isSame(as: terms.preferred) && user == terms.user && team == terms.team
        && key == .enrolled(terms.fingerprint)
    }

    /// Timestamps make no other network.
    func isSame(as terms: Terms) -> Bool {
      guard isSameToSend(as: terms) else { return false }
      guard let reported, let before = terms.reported else { return reported == terms.reported }
      return reported.isSame(as: before)
    }
  }

  /// What becomes of an adoption when its router is checked.
  enum Decision: Hashable {
    /// It continues; where there is none, none begins.
    case keep
    /// A person is to be asked, again if one was asked already.
    case begin
    /// There is nothing to adopt any more.
    case end
    case fail(AdoptionState)
  }

  /// - Parameters:
  ///   - adoption: nil where there is none.
  ///   - isEnabled: whether the setting asks for adoption.
  ///   - isAwaited: whether the router's report is waited for, and what it reported is what is stored.
  ///   - isToStay: whether an alert of the home says why the router differs, or the home has moved. Then it is not
  ///     asked about.
  ///   - isRaised: whether the mismatch has lasted as long as its alert is held: a migration asks no person.
  ///   - isSSIDNew: the Wi-Fi has got another name. That asks at once, and again, unless a question waits: any login
  ///     may report it, and must not have people asked again and again.
  static func decide(
    _ adoption: Adoption?, _ check: PreferredCheck, _ now: Situation?, isEnabled: Bool, isAwaited: Bool, isToStay: Bool,
    isRaised: Bool, isSSIDNew: Bool
  ) -> Decision {
    guard isEnabled, let now, check.isMismatch else { return adoption == nil ? .keep : .end }
    // One that is behind on the preferred network mostly follows by itself, before that is an alert. Of two that differ
    // at the same age a person must choose one.
    let needsAdoption =
      switch check {
      case .mismatch: !isToStay
      case .stale: !isToStay && isRaised
      case .none, .match, .conflict: false
      }
    guard let adoption else { return needsAdoption && (isRaised || isSSIDNew) ? .begin : .keep }
    if adoption.state.needsKey, let obstacle = now.key.obstacle { return needsAdoption ? .fail(obstacle) : .end }
    let isSame = adoption.terms.map(now.isSame(as:)) == true
    switch adoption.state {
    // The clock continues these, with what holds then.
    case .due, .notEnrolled, .damagedKeys: return needsAdoption ? .keep : .end
    // Its Wi-Fi does not matter while its report is waited for.
    case .sent:
      if isAwaited, let terms = adoption.terms, now.isSameToSend(as: terms) { return .keep }
      return needsAdoption ? .begin : .end
    case .asked, .agreed: return !needsAdoption ? .end : isSame ? .keep : .begin
    default:
      if isSame, !(isSSIDNew && needsAdoption) { return .keep }
      return needsAdoption ? .begin : .end
    }
  }

  /// Whether a router confirms that it uses the preferred credentials that it was sent.
  enum Confirmation: Hashable {
    /// It uses them, and is attached with them where it reports that.
    case confirmed
    /// It is configured with them, and reports that it is still elsewhere or not attached.
    case configured
    /// What it reported before: that may have been on its way already, or is repeated.
    case notYet
    /// Something else.
    case disagreement
  }

  /// - Parameters:
  ///   - incoming: nil: it has none.
  ///   - isAwaited: as for `decide`.
  /// - Returns: nil where the report does not count. One that comes after the time to wait is over counts as it would
  ///   have in time, where the router uses what it was sent.
  func report(_ incoming: DatasetSummary?, isAttached: Bool, isAwaited: Bool) -> Confirmation? {
    guard state.mayBeConfirmed, let terms else { return nil }
    var report = Confirmation.disagreement
    if incoming?.isSame(as: terms.preferred) == true {
      report = isAttached ? .confirmed : .configured
    } else if incoming.map(isKnown) ?? true {
      report = .notYet
    }
    /// What it reported before; where the preferred dataset is stored for it, that was an older one.
    func isKnown(_ incoming: DatasetSummary) -> Bool {
      terms.reported?.isSame(as: incoming) == true
        || terms.reported?.isSame(as: terms.preferred) == true && incoming.relation(to: terms.preferred) == .older
    }
    if state == .sent { return isAwaited ? report : nil }
    return report == .confirmed || report == .configured ? report : nil
  }
}
