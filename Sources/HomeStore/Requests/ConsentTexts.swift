import Home
import SodiumCrypto
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport
import Wire

/// How questions, grants, networks and requesters are written, in commands and in sentences that a person decides by.
/// What was checked comes first; names that others choose are quoted.
extension ConsentID {
  /// `c-` and 16 hex digits.
  package var questionText: String { "c-" + hexadecimal(value) }
  /// `g-` and 16 hex digits.
  package var grantText: String { "g-" + hexadecimal(value) }

  /// - Returns: nil for what cannot be the id of a question.
  package init?(question text: String) { self.init(text, "c-") }

  /// - Returns: nil for what cannot be the id of a grant.
  package init?(grant text: String) { self.init(text, "g-") }

  private init?(_ text: String, _ prefix: String) {
    guard let value: UInt64 = number(text, after: prefix) else { return nil }
    self.init(value)
  }
}

extension FormerNetwork {
  /// `p-` and 8 hex digits.
  package static func text(of id: UInt32) -> String { "p-" + hexadecimal(id) }

  /// - Returns: nil for what cannot be such an id.
  package static func id(of text: String) -> UInt32? { number(text, after: "p-") }
}

extension PreferredNetwork {
  /// Names the preferred network, as it is, where else an id of the history stands.
  package static let currentID = "p-current"
}

extension AdoptionOrder {
  /// `a-` and 16 hex digits.
  package var messageText: String { "a-" + hexadecimal(message) }
}

private func hexadecimal(_ number: some FixedWidthInteger) -> String {
  withUnsafeBytes(of: number.bigEndian) { Hexadecimal.encode($0) }
}

/// In lower case only: one thing has one name.
private func number<N: FixedWidthInteger>(_ text: String, after prefix: String) -> N? {
  guard text.utf8.starts(with: prefix.utf8), text.utf8.count == prefix.utf8.count + N.bitWidth / 4,
    let number = N(Substring(text.utf8.dropFirst(prefix.utf8.count)), radix: 16),
    (prefix + hexadecimal(number)).utf8.elementsEqual(text.utf8)
  else { return nil }
  return number
}

extension Requester {
  /// `login phone (team phones)`, `user bob (uid 1003, team bob), program calls itself "ha"`.
  package var shown: String {
    let team = "team \(ShownName.account(team.text))"
    switch identity {
    case .login(let name): return "login \(ShownName.account(name.text)) (\(team))"
    case .systemUser(let number):
      let user = userName.map { "user \(ShownName.account($0)) (uid \(number), \(team))" } ?? "uid \(number) (\(team))"
      let claim = program.flatMap { ShownName.quoted($0) }.map { ", program calls itself \($0)" }
      return user + (claim ?? "")
    }
  }

  /// In few words: `user bob`, `otbr`.
  var shortName: String {
    switch identity {
    case .login(let name): ShownName.account(name.text)
    case .systemUser(let number): userName.map { "user \(ShownName.account($0))" } ?? "uid \(number)"
    }
  }
}

extension ConsentNetwork {
  /// `"home-thread" (1111111122222222)`, `"attic" (3333333344444444, stored by team hub)`.
  package var shown: String { Self.shown(id: id.description, name: name.text, team: team?.text) }

  package static func shown(id: String, name: String, team: String?) -> String {
    let owner = team.map { ", stored by team \(ShownName.account($0))" } ?? ""
    return "\(ShownName.quoted(name) ?? "a network without a name") (\(id)\(owner))"
  }
}

extension ConsentSubject.Router {
  /// `a1b2c3d4e5f60718 "Living room"`; the id alone where the name shows nothing.
  package var shown: String { Self.shown(agent: agent.description, name: name) }

  package static func shown(agent: String, name: String?) -> String {
    [agent, name.flatMap { ShownName.quoted($0) }].compactMap(\.self).joined(separator: " ")
  }

  /// Where it is, and what is wrong with that: `is on "attic"`, `has other keys of "home"`.
  fileprivate var standing: String {
    guard let network else { return "has no Thread network" }
    let parameters = differs.parameters
    if parameters.isEmpty { return "is on \(network.shown)" }
    if parameters.contains(.extendedPANID) { return "is on \(network.shown) with credentials of another network" }
    if parameters.contains(.networkKey) || parameters.contains(.pskc) { return "has other keys of \(network.shown)" }
    return "has other parameters of \(network.shown) (\(parameters.map(\.rawValue).joined(separator: ", ")))"
  }
}

extension ConsentSubject.Command {
  /// As the protocol has it.
  package var wireName: String {
    switch self {
    case .preferred: "preferred/get"
    case .write: "preferred/write"
    case .network: "network/get"
    case .nearby: "networks/nearby"
    case .adopt: "dataset/set"
    case .accept: "credentials/accept"
    case .deleteThere: "dataset/delete"
    case .agentThere: "border_agent/prefer"
    }
  }
}

extension ConsentSubject {
  private static let named = 5

  /// Where one network is asked for.
  package var onlyNetwork: ExtendedPANID? { networks.count == 1 ? networks[0].id : nil }

  /// The networks for people: `"home-thread" (1111111122222222)`. Of many, the first ones.
  package var networkNames: String {
    let more = networks.count - Self.named
    return networks.prefix(Self.named).map(\.shown).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
  }

  /// The network whose credentials somebody has: `"home-thread" (1111111122222222)`.
  private var offered: String {
    networks.map { ConsentNetwork.shown(id: $0.id.description, name: $0.name.text, team: nil) }.joined(separator: ", ")
  }

  /// The names alone, for templates: `home-thread`.
  package var names: String { listed { ShownName.cleaned($0.name.text) } }

  private func listed(_ name: (ConsentNetwork) -> String) -> String {
    let shown = networks.prefix(Self.named).map(name).joined(separator: ", ")
    return networks.count > Self.named ? shown + ", …" : shown
  }

  /// Why a request matters, in one sentence for the person who decides.
  fileprivate func reason(_ requester: Requester, home: String?, keyHasChanged: Bool, _ keyChange: KeyChange?) -> String
  {
    let place = home.map { ", home \(ShownName.account($0))" } ?? ""
    if command.changesStore { return change(of: requester, place) }
    guard command != .accept else {
      let claim = requester.program.flatMap { ShownName.quoted($0) }
      let change =
        keyHasChanged
        ? "The home has other keys for this network: they are replaced, and border routers that still use them "
          + "no longer match. " : ""
      return "\(requester.shown)\(claim.map { ", which calls itself \($0)," } ?? "") has the "
        + "credentials of the preferred network \(offered)\(place). Use them? \(change)From then on border "
        + "routers are checked against them, and whoever you agree to is given them"
    }
    let what =
      networks.count == 1
      ? "the network key of \(networkNames)" : "the network keys of \(networks.count) networks: \(networkNames)"
    let change =
      (keyHasChanged ? "; the network key has changed since \"always\" was approved for this" : "")
      + (keyChange.flatMap { warning(of: $0, home) }.map { "; \($0)" } ?? "")
    let why =
      "\(requester.shown) would get \(what)\(place)"
      + (command == .write ? ", and write it to its Home Assistant or Matter server" : "")
      + ": with it, devices can be put onto the network and"
      + " what is said on it can be read, also after the consent is taken back\(change)"
    guard let router else { return why }
    let needsID = router.network?.needsID == true
    let names = listed { ShownName.named($0.name.text, $0.id, needsID: needsID) }
    let wanted = router.differs.isEmpty ? "the credentials of \(names)" : "the preferred ones"
    return "\(router.shown) \(router.standing); give it \(wanted)? \(why)"
  }

  /// What would be changed in the store of who shares credentials.
  private func change(of requester: Requester, _ place: String) -> String {
    let claim = requester.program.flatMap { ShownName.quoted($0) }.map { ", which calls itself \($0)" } ?? ""
    let store = "the store of \(requester.shown)\(claim)"
    let since = since.map { " since \($0)" } ?? ""
    guard let router else {
      let isKept = networks.contains { $0.key != nil }
      return "Delete the network \(offered)\(place) from \(store)? No border router has been seen on it\(since); "
        + "those behind other local networks are not seen" + (isKept ? ". Its credentials are kept here" : "")
    }
    return
      "Make \(router.shown) the preferred border router of \(offered)\(place) in \(store)? The one that is preferred "
      + "there has not been seen on the network\(since)"
  }

  /// That no person has decided on the keys that the home prefers now.
  private func warning(of change: KeyChange, _ home: String?) -> String? {
    guard let preferred = networks.first(where: { $0.team == nil }) else { return nil }
    return "caution: the keys of \(preferred.shown) were changed at "
      + "\(change.at) by \(change.shownReporters), and no person has confirmed "
      + "that. If they are right, run `threadkeeper preferred set "
      + "\(PreferredNetwork.currentID)\(OwnershipAdvice.option(home))` first"
  }
}

extension KeyChange {
  /// `a1b2c3d4e5f60718 "Attic" (login otbr) and …`.
  fileprivate var shownReporters: String {
    reporters.map { reporter in
      guard let agent = reporter.agent else {
        return "a program of this machine (\(ShownName.quoted(reporter.name ?? "") ?? "without a name"))"
      }
      let router = ConsentSubject.Router.shown(agent: agent.description, name: reporter.name)
      let user = reporter.user.map { "login \(ShownName.account($0.text))" }
      return "\(router) (\(user ?? "a program of this machine"))"
    }.joined(separator: " and ")
  }
}

extension ConsentQuestion {
  /// One sentence for the person who decides.
  ///
  /// - Parameter home: named where there are several.
  package func reason(home: String?) -> String {
    subject.reason(requester, home: home, keyHasChanged: keyHasChanged, keyChange)
  }

  /// Who asks, in few words, what was checked of it first: `user bob`, `otbr "Attic"` for a login.
  package var shortRequester: String {
    guard let router = subject.router, router.name != nil else { return requester.shortName }
    return "\(requester.shortName) " + ShownName.named(router.name, router.agent, needsID: router.needsID)
  }
}

extension ConsentRecord {
  /// Of the question, or of the grant that was revoked.
  package var idText: String { outcome == .revoked ? id.grantText : id.questionText }
}

extension ConsentRecord.Outcome {
  package var wireName: String {
    switch self {
    case .approved: "approved"
    case .denied: "denied"
    case .expired: "expired"
    case .revoked: "revoked"
    }
  }
}

extension ConsentRecord.Obstacle {
  /// Why an answer that was to give credentials could not be made.
  package init(_ failure: AnswerFailure) {
    self =
      switch failure.known {
      case .damagedCredentials: .damaged
      case .tooLarge: .tooLarge
      case .conflict: .changed
      case .notEnrolled: .notEnrolled
      default: .store
      }
  }

  /// For programs.
  package var code: String {
    switch self {
    case .hungUp: "hung_up"
    case .changed: "changed"
    case .notEnrolled: "not_enrolled"
    case .damaged: "damaged_credentials"
    case .tooLarge: "too_large"
    case .store: "store"
    }
  }

  /// A sentence without a full stop.
  package var message: String {
    switch self {
    case .hungUp: "who asked has hung up"
    case .changed: "what was asked for has changed"
    case .notEnrolled: "the key that the answer was to be sealed to is not enrolled any more"
    case .damaged: "what is stored is damaged"
    case .tooLarge: "it is too large for an answer"
    case .store: "the store cannot be read"
    }
  }
}

/// What is published when a button of Home Assistant is pressed holds a token for what the button decides about. So who
/// knows the id of a request, as its requester does, cannot make a button for it. It is no protection against who may
/// write below Home Assistant's discovery prefix: an entity with a template can read the token in `bridge/consent`.
///
/// A token is a keyed hash (BLAKE2b) of the subject. The key is random and of this process: buttons are announced again
/// with new tokens when the daemon starts. A request is decided about once, and its token is of no use then.
package struct ButtonTokens: Sendable {
  private let key = RandomBytes.make(32)

  package init() {}

  /// Of a decision about a question.
  package func token(for question: ConsentID) -> String { token(question.questionText) }

  /// Of the choice of a preferred network.
  package func token(forPreferring network: ExtendedPANID) -> String { token("prefer/\(network)") }

  /// Of the keys that are preferred since then.
  package func token(forKeepingKeysSince time: WireTime) -> String { token("keep/\(time.milliseconds)") }

  private func token(_ subject: String) -> String {
    // Where hashing fails these stay: a token that is valid for nothing.
    var hash = RandomBytes.make(16)
    Array(subject.utf8).withUnsafeBytes { input in
      key.withUnsafeBytes { key in
        // The lengths are constants that the function allows.
        hash.withUnsafeMutableBytes { try? BLAKE2b.hash(input, key: key, into: $0) }
      }
    }
    return Hexadecimal.encode(hash)
  }

  package func isValid(_ token: String?, for question: ConsentID) -> Bool { isSame(token, self.token(for: question)) }

  package func isValid(_ token: String?, forPreferring network: ExtendedPANID) -> Bool {
    isSame(token, self.token(forPreferring: network))
  }

  package func isValid(_ token: String?, forKeepingKeysSince time: WireTime) -> Bool {
    isSame(token, self.token(forKeepingKeysSince: time))
  }

  /// Both are hashed: how long the comparison takes shows nothing of the token.
  private func isSame(_ given: String?, _ token: String) -> Bool {
    given.map { self.token("=" + $0) == self.token("=" + token) } ?? false
  }
}
