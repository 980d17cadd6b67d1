import Home
import ThreadDataset
import ThreadRequests
import ThreadkeeperSupport

extension AnswerFailure {
  package static let noKey = AnswerFailure(
    .notEnrolled, "the answer holds secrets, and this user has no key to seal them to")

  package static let tooLargeToSeal = AnswerFailure(
    .tooLarge, "the answer is too large to be sealed; `network/get` asks for one network")

  /// - Parameters:
  ///   - request: that is refused; nil where it has waited for a person.
  ///   - home: its name, where there are several.
  ///   - name: of a border router, for a sentence.
  package init(
    _ refusal: HomeRefusal, to request: ThreadRequest?, home: String? = nil,
    naming name: (BorderAgentID) -> String = \.description
  ) {
    let command = request?.command
    self =
      switch refusal {
      case .ofAnotherTeam(let agent):
        .init(
          .notAuthorized, field: "border_agent_id",
          command == .deleteCredentials
            ? "this border agent id belongs to another team" : OwnershipAdvice.message(agent, home: home))
      case .mayNotPrefer:
        .init(
          .notAuthorized,
          "only a person may choose the preferred network: with `threadkeeper preferred set`, or over "
            + "MQTT as one of `consent.approvers`")
      case .onlyAdministrator:
        .init(
          .notAuthorized,
          "only the daemon's own user and root may do this, with `threadkeeper "
            + "\(command == .forgetNetwork ? "networks" : "preferred") forget`")
      case .mayNotDecide:
        .init(
          .notAuthorized, "only users in `consent.approvers`, and the one in `home_assistant.login`, decide over MQTT")
      case .onceOnly: .init(.notAuthorized, field: "scope", "through Home Assistant a request is approved once only")
      case .adoptionsOnly(let id):
        .init(
          .notAuthorized, field: "id",
          "Home Assistant decides about adoptions only. Decide with `threadkeeper consent approve "
            + "\(id.questionText)`, or set `home_assistant.consent: all`")
      case .wrongButton:
        .init(
          .notAuthorized, field: "token",
          "this is not the token of the request in `bridge/consent`: press the button that is shown now")
      case .buttonsAltered(let id):
        .init(
          .notAuthorized,
          "another client has altered a device of threadkeeper in Home Assistant (`DiscoveryAltered`): "
            + "decide in a minute, or with `threadkeeper consent approve \(id.questionText)`")
      case .noKey: .noKey
      case .unknownRouter(let agent): .init(.notFound, field: "border_agent_id", "no border router \(agent) is listed")
      case .damaged:
        .init(
          .damagedCredentials, "it is not found, and records of the home are damaged: one of them may be it",
          help: "restore a backup, or let the routers announce themselves again and give the damaged "
            + "records up with `threadkeeper store forget-damaged`")
      case .noCredentials(let agent):
        .init(
          .notFound, field: "border_agent_id",
          "no credentials of \(command == .deleteCredentials ? "\(agent)" : "this border router") are stored")
      case .noPreferred:
        .init(.notFound, command == .forgetPreferred ? "no network is preferred" : "there is no preferred network")
      // 64: nothing that waiting could change.
      case .notPreferred(let network):
        .init(
          .conflict, field: "ext_pan_id",
          "the network \(network) is not the preferred one, whose credentials alone are accepted",
          help: "`threadkeeper preferred set \(network)` makes it the preferred one", exit: 64)
      case .nothingToAccept(let network):
        .init(
          .notFound, field: "ext_pan_id",
          "nobody shares credentials of the preferred network \(network) that it has not got",
          help: "`threadkeeper networks` lists who shares which network")
      case .onlyOlderShared(let network):
        .init(
          .notFound, field: "ext_pan_id",
          "what is shared of the preferred network \(network) is older, or not complete",
          help: "`threadkeeper preferred set @FILE` takes any dataset")
      case .severalShared(let users):
        .init(
          .invalidPayload, field: "ext_pan_id",
          "the logins \(users.prefix(8).map { ShownName.account($0.text) }.joined(separator: ", ")) "
            + "share different keys of the preferred network",
          help: "approve the question about one of them, which `threadkeeper consent list` has; where none waits, "
            + "`threadkeeper preferred set @FILE` takes any dataset")
      case .preferredWithoutCredentials(let network):
        .init(
          .notFound, "the network \(network) is preferred, but its credentials are not here",
          help: "`threadkeeper preferred show` says how they come in")
      case .noCredentialsOfNetwork where command == .setPreferred:
        .init(
          .notFound, field: "ext_pan_id",
          "no credentials of this network are stored, and no listed border router is on it",
          help: "`threadkeeper networks` shows the networks of border routers, `threadkeeper "
            + "credentials list` and `threadkeeper preferred show --history` what is stored")
      case .noCredentialsOfNetwork: .init(.notFound, field: "ext_pan_id", "no credentials of this network are stored")
      case .noCredentialsOfRouterForNetwork:
        .init(
          .notFound, field: "border_agent_id", "no credentials of this border router are stored for this network",
          help: "`threadkeeper credentials list` shows what is stored")
      case .partialCredentials(let agent, let lacks):
        .init(
          .incompleteDataset, field: "border_agent_id",
          "the dataset of \(agent) is not complete, so its network is not preferred with it; it lacks "
            + lacks.map(\.name).joined(separator: ", "),
          help: "set the whole dataset of its network on the router, or name its Extended PAN ID alone")
      case .unknownFormer:
        .init(
          .notFound, field: "id", "no network is kept under this id",
          help: "`threadkeeper preferred show --history` lists what is kept")
      case .noNetworkOfName:
        .init(
          .notFound, field: "network_name", "no network of this name is stored",
          help: "`threadkeeper preferred show --history` lists the names; name a network that was only "
            + "seen by its Extended PAN ID, which `threadkeeper networks` lists")
      case .severalOfName(let networks):
        .init(
          .invalidPayload, field: "network_name",
          "\(networks.count) networks have this name: " + networks.map(\.description).joined(separator: ", "),
          help: "name one by its Extended PAN ID")
      case .severalKeys(let network, let keys):
        .init(
          .invalidPayload, field: "ext_pan_id",
          "different keys of this network are known: \(HomeRefusal.text(of: keys, naming: name)); say whose "
            + "with `border_agent_id`, or with an `id`", help: HomeRefusal.advice(about: keys, of: network, home: home))
      // 64: nothing that waiting could change.
      case .isPreferred:
        .init(
          .conflict, field: "ext_pan_id", "this is the preferred network, which is not deleted",
          help: "choose another one with `threadkeeper preferred set`, or none with "
            + "`threadkeeper preferred forget`; of its earlier keys, name one of "
            + "`threadkeeper preferred show --history` by its id", exit: 64)
      case .notInHistory(let isUsed):
        .init(
          .notFound, field: request?.id == nil ? "ext_pan_id" : "id",
          "nothing of this network is kept in the history"
            + (isUsed ? "; routers use it, and `threadkeeper credentials delete` deletes theirs" : ""),
          help: "`threadkeeper preferred show --history` lists what is kept")
      case .tooFarAhead:
        .init(
          .conflict, field: "dataset", "its active timestamp is more than a year ahead of the clock",
          help: "`threadkeeper preferred set` takes it, if it is the right one")
      case .tooManyRouters(let most):
        .init(
          .tooManyRouters, field: "border_agent_id", "this team has \(most) border agent ids already",
          help: "remove those that are gone with `threadkeeper routers remove`, or raise " + "`limits.routers_per_team`"
        )
      case .homeIsFull(let most):
        .init(
          .tooManyRouters, field: "border_agent_id", "this home has \(most) border agent ids already",
          help: "remove those that are gone with `threadkeeper routers remove`, or raise " + "`limits.routers`")
      case .tooMany where command?.needsConsent == true: .tooLargeToSeal
      case .tooMany(let most): .init(.tooLarge, "there are more than \(most), which no answer can hold")
      case .changed:
        .init(.conflict, "what was agreed to has changed since: repeat the request, and a person is asked again")
      case .keyIsGone: .init(.notEnrolled, ConsentRecord.Obstacle.notEnrolled.message)
      case .nothingToAskAgain(let agent, let state):
        .init(.conflict, field: "border_agent_id", state.obstacle(of: name(agent)))
      case .consent(let refusal): .init(refusal, about: request?.id ?? "")
      case .expired: .init(.consentExpired, "nobody has decided in time")
      case .denied: .init(.consentDenied, "a person has refused it")
      }
  }

  /// - Parameter id: of the question that was to be decided, as it was named.
  private init(_ refusal: ConsentRefusal, about id: String) {
    self =
      switch refusal {
      case .rateLimited(let waiting): .init(.rateLimited, "\(waiting) requests wait for consent already")
      case .denied: .init(.consentDenied, "the same request was refused a moment ago")
      case .staleID(let outcome):
        .init(
          .staleID, field: "id",
          outcome.map { "the request \(id) is \($0.wireName) already" } ?? "no request \(id) waits for consent")
      case .notAuthorized: .init(.notAuthorized, "nobody approves a request of his own, or of his own team")
      case .notFound: .init(.notFound, "there is no such grant")
      case .tooManyGrants(let count):
        .init(.conflict, "there are \(count) grants already; revoke some, or approve for once")
      }
  }
}

extension HomeRefusal {
  /// Of so many pairs of keys, and of so many who have them, a sentence says who it is.
  private static let mostKeys = 8
  private static let mostOwners = 4

  /// Who has which keys.
  fileprivate static func text(of keys: [KnownKeys], naming name: (BorderAgentID) -> String) -> String {
    var list = keys.prefix(mostKeys).map { one in
      var owners = one.owners.prefix(mostOwners).map { text(of: $0, naming: name) }
      if one.owners.count > mostOwners { owners.append("\(one.owners.count - mostOwners) more") }
      return "\(one.areCurrent ? "the current ones" : "those") (timestamp \(one.seconds))"
        + (owners.isEmpty ? "" : " of \(owners.joined(separator: ", "))")
    }
    if keys.count > mostKeys { list.append("\(keys.count - mostKeys) more") }
    return list.joined(separator: "; ")
  }

  private static func text(of owner: RecordKey, naming name: (BorderAgentID) -> String) -> String {
    guard case .router(let agent) = owner else { return owner.keyOwner ?? "" }
    let (id, shown) = (agent.description, name(agent))
    return shown.contains(id) ? shown : "\(id) \(shown)"
  }

  /// How to choose between them.
  fileprivate static func advice(about keys: [KnownKeys], of network: ExtendedPANID, home: String?) -> String {
    let option = OwnershipAdvice.option(home)
    let owners = keys.flatMap(\.owners)
    let hasCurrent = keys.contains(where: \.areCurrent)
    var ways: [String] = []
    if hasCurrent {
      ways.append("`threadkeeper preferred set \(PreferredNetwork.currentID)\(option)` keeps the current ones")
    }
    if owners.contains(where: { if case .router = $0 { true } else { false } }) {
      ways.append("`threadkeeper preferred set \(network) --router ID\(option)` takes those of a border router")
    }
    let former = owners.first(where: { if case .former = $0 { true } else { false } })
    if let former = former?.keyOwner {
      ways.append("`threadkeeper preferred set \(former)\(option)` takes earlier ones by their id")
    }
    if owners.contains(where: { if case .shared = $0 { true } else { false } }) {
      ways.append(
        hasCurrent
          ? "`threadkeeper networks accept-credentials \(network)\(option)` takes those that a login shares"
          : "`threadkeeper preferred set @FILE\(option)` takes any others")
    }
    return ways.joined(separator: "; ")
  }
}

extension RecordKey {
  /// Whose keys lie there: the id of a border router or of the history, or a login; nil for the home's own.
  var keyOwner: String? {
    switch self {
    case .router(let agent): agent.description
    case .former(let id): FormerNetwork.text(of: id)
    case .shared(let user, _): "login \(ShownName.account(user.text))"
    default: nil
    }
  }
}

extension AdoptionState? {
  /// Why nobody can be asked again whether a router gets the preferred credentials.
  fileprivate func obstacle(of router: String) -> String {
    switch self {
    case .due, .asked: "a person is asked about \(router) already"
    case .agreed, .sent: "\(router) is being given the credentials already"
    case .notEnrolled, .damagedKeys: "nothing can be sealed for the login of \(router)"
    default: "there is nothing to ask about \(router)"
    }
  }
}

/// The message to a login that publishes for another team's border agent id.
package enum OwnershipAdvice {
  /// - Parameter home: nil where there is only one.
  package static func message(_ agent: BorderAgentID, home: String?) -> String {
    "this border agent id belongs to another team; "
      + "`threadkeeper routers remove \(agent)\(option(home))` gives it to the next login that announces it"
  }

  /// For a command.
  static func option(_ home: String?) -> String { home.map { " --home \(isPlain($0) ? $0 : "HOME")" } ?? "" }

  /// Whether a shell takes it as one plain word: the command is meant to be pasted.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.first != "-"
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "-_./@".utf8.contains(byte)
        }
      }
  }
}
