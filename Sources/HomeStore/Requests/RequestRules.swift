import Home
import ThreadDataset
import ThreadRequests

/// What the settings decide for requests, and from a request to what a home handles.
package struct RequestRules: Sendable {
  /// Answers over MQTT have at most so many entries: states are retained on topics of their own, and no answer should
  /// take the batch's time.
  package static let mostEntries = 512

  /// The users of the broker who may decide about what others ask for.
  package var approvers: Set<ExactName> = []
  /// Whether a decision over MQTT counts only when it is sealed and signed. Else all rests on the broker's access list.
  package var approversMustSign = true
  /// How far Home Assistant decides without a signature; nil: it decides nothing.
  package var homeAssistant: ConsentDecision.Extent?
  /// Its login at the broker.
  package var homeAssistantLogin: ExactName?
  /// What a test alert says.
  package var testAlert = AlertFacts(.daemon)
  /// Of this process: what a button of Home Assistant has to publish.
  package let tokens: ButtonTokens

  package init(tokens: ButtonTokens = ButtonTokens()) { self.tokens = tokens }

  package func isHomeAssistant(_ user: ExactName) -> Bool { homeAssistant != nil && homeAssistantLogin == user }
}

/// Who answers a request.
package enum RequestRoute: Sendable {
  /// A home.
  ///
  /// - dataset: what came with it, of which the input has the summary.
  case home(HomeInput, dataset: OperationalDataset?)
  /// `ping`.
  case ping
  /// `routers/list`, `networks/list` and `alerts/list`: a snapshot answers them.
  case states(RequestCommand)
}

extension RequestRules {
  /// - Parameters:
  ///   - buttonsAltered: another client has altered a device with buttons a moment ago.
  ///   - summarize: of a dataset that is complete.
  /// - Throws: `AnswerFailure`; then nothing has happened.
  package func route(
    of request: ThreadRequest, _ context: RequestContext, buttonsAltered: Bool,
    summarize: (OperationalDataset) -> DatasetSummary?
  ) throws(AnswerFailure) -> RequestRoute {
    switch request.command {
    case .ping: return .ping
    case .listRouters, .listNetworks, .listAlerts: return .states(request.command)
    case .approveConsent, .denyConsent, .askConsent:
      let decision = try decision(request, context, buttonsAltered: buttonsAltered)
      return .home(.decision(decision), dataset: nil)
    case .testAlerts, .confirmAlerts:
      _ = try approver(context)
      return .home(request.command == .testAlerts ? .testAlert(testAlert) : .confirmAlerts(true), dataset: nil)
    default: break
    }
    var summary: DatasetSummary?
    if let dataset = request.dataset {
      summary = summarize(dataset)
      guard summary != nil else { throw AnswerFailure(.badDataset, field: "dataset", "the dataset is not complete") }
    }
    let input = try HomeRequest(request, summary)
    return .home(.request(input, context), dataset: request.dataset)
  }

  /// What a person decides; whether it may is found out before anything is looked up, so that no other user learns which
  /// ids there are.
  private func decision(_ request: ThreadRequest, _ context: RequestContext, buttonsAltered: Bool) throws(AnswerFailure)
    -> ConsentDecision
  {
    let (approver, extent) = try approver(context)
    if request.command == .askConsent, let agent = request.agent {
      // Whoever may deny may have the question asked again.
      return ConsentDecision(.askAgain(agent), by: approver)
    }
    guard let id = request.id.flatMap(ConsentID.init(question:)) else {
      throw AnswerFailure(.staleID, field: "id", "no request has such an id: expected c- and 16 hexadecimal digits")
    }
    let isApproval = request.command == .approveConsent
    var decision = ConsentDecision(
      isApproval ? .approve(id, request.scope == .always ? .always : .once) : .deny(id), by: approver)
    decision.extent = extent
    if case .login(let user) = context.requester.identity, isHomeAssistant(user), !context.isSigned {
      decision.button = .init(hasToken: tokens.isValid(request.token, for: id), isAltered: buttonsAltered)
    }
    return decision
  }

  private func approver(_ context: RequestContext) throws(AnswerFailure) -> (ConsentApprover, ConsentDecision.Extent?) {
    switch context.requester.identity {
    case .login(let user):
      guard approvers.contains(user) || isHomeAssistant(user) else {
        throw AnswerFailure(HomeRefusal.mayNotDecide, to: nil)
      }
      guard context.isApprover || isHomeAssistant(user) else {
        throw AnswerFailure(
          .notAuthorized, field: "sealed",
          "decisions must be sealed and signed with an enrolled key, unless "
            + "`consent.approvers_trust` says otherwise")
      }
      return (.login(user, team: context.requester.team), context.isApprover ? nil : homeAssistant)
    case .systemUser(let number):
      guard context.isAdministrator else {
        throw AnswerFailure(.notAuthorized, "only the daemon's own user and root decide here")
      }
      return (.commandLine(user: number), nil)
    }
  }
}

extension HomeRequest {
  /// - Parameter summary: of the request's dataset.
  fileprivate init(_ request: ThreadRequest, _ summary: DatasetSummary?) throws(AnswerFailure) {
    switch (request.command, request.agent, request.network, summary) {
    case (.storeCredentials, let agent?, _, let summary?): self = .storeCredentials(agent, summary)
    case (.deleteCredentials, let agent?, _, _): self = .deleteCredentials(agent)
    case (.getCredentials, let agent?, _, _): self = .getCredentials(agent)
    case (.listCredentials, _, _, _): self = .listCredentials(onlyActive: false)
    case (.listActiveCredentials, _, _, _): self = .listCredentials(onlyActive: true)
    case (.isPreferredAvailable, _, _, _): self = .isPreferredAvailable
    case (.checkPreferred, _, _, let summary?): self = .checkPreferred(summary)
    case (.setPreferred, _, _, let summary?): self = .setPreferred(.dataset(summary))
    case (.setPreferred, let agent, let network?, _): self = .setPreferred(.network(network, router: agent))
    case (.setPreferred, _, _, _):
      if let name = request.networkName {
        self = .setPreferred(.name(ExactName(name)))
      } else if request.id == PreferredNetwork.currentID {
        self = .setPreferred(.current)
      } else {
        guard let id = request.id.flatMap(FormerNetwork.id(of:)) else {
          throw AnswerFailure(.unknownFormer, to: request)
        }
        self = .setPreferred(.former(id: id))
      }
    case (.forgetPreferred, _, _, _): self = .forgetPreferred
    case (.forgetNetwork, _, let network?, _): self = .forgetNetwork(.network(network))
    case (.forgetNetwork, _, _, _):
      guard let id = request.id.flatMap(FormerNetwork.id(of:)) else {
        throw AnswerFailure(.notInHistory(isUsed: false), to: request)
      }
      self = .forgetNetwork(.former(id: id))
    case (.getPreferred, _, _, _): self = .getPreferred
    case (.getNetwork, _, let network?, _): self = .getNetwork(network)
    case (.nearbyNetworks, _, _, _): self = .nearbyNetworks
    case (.pendingConsents, _, _, _): self = .pendingQuestions
    case (.shareCredentials, _, _, _): throw AnswerFailure.codesAreForPeople
    default: throw AnswerFailure(.unsupported, "\(request.command.rawValue) is not in this version")
    }
  }
}

extension AnswerFailure {
  /// Of `credentials/share`.
  package static let codesAreForPeople = AnswerFailure(
    .unsupported, "a code is shown to people, and to no program",
    help: "run `threadkeeper networks share` as the daemon's user, or press \"Share by code\" on its page")
}

// MARK: - On the socket

/// A request of a program on this machine.
package struct LocalRequest: Sendable {
  package var request: ThreadRequest
  /// As the kernel names it.
  package var user: UInt32
  package var team: ExactName
  /// The name that the system has for the user; only a person reads it.
  package var userName: String?
  /// The daemon's own user or root, by a command that asks for more than its team may.
  package var isAdministrator = false
  /// What an administrator asks with; nil: a command.
  package var administrator: String?

  package init(_ request: ThreadRequest, user: UInt32, team: ExactName) {
    self.request = request
    self.user = user
    self.team = team
  }

  package var context: RequestContext {
    var requester = Requester(.systemUser(user), team: team)
    requester.userName = userName
    requester.program = request.program
    let command = administrator ?? "command of user \(user)"
    var context = RequestContext(requester, reply: .caller, actor: isAdministrator ? command : requester.shortActor)
    context.isAdministrator = isAdministrator
    return context
  }

  /// The home that it is about: the one that it names, that of the question that it decides, or the first one.
  ///
  /// - Parameters:
  ///   - names: of all homes, in the order of the settings.
  ///   - home: of a name, as it is on disk; nil: there is none.
  package func home(of names: [String], in home: (String) -> Home?) throws(AnswerFailure) -> String {
    if let named = request.home {
      guard home(named) != nil else {
        throw AnswerFailure(
          .invalidPayload, field: "home", "there is no such home", help: "homes: \(names.joined(separator: ", "))")
      }
      return named
    }
    let first = names.first ?? ""
    switch request.command {
    case .approveConsent, .denyConsent:
      guard let id = request.id.flatMap(ConsentID.init(question:)) else { return first }
      return names.first { name in home(name)?.knows(id) == true } ?? first
    default: return first
    }
  }
}

extension Home {
  /// Whether it has asked the question, as far as it is remembered.
  package func knows(_ question: ConsentID) -> Bool {
    questions.contains { $0.id == question } || decisions.contains { $0.id == question }
  }
}

extension Requester {
  /// For a sentence about what it has done, and the audit.
  package var shortActor: String {
    switch identity {
    case .login: "mqtt user \(shortName)"
    case .systemUser(let number): "uid \(number)"
    }
  }
}
