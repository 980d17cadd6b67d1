import Bridge
import Glibc
import Home
import HomeStore
import LocalAPI
import Settings
import ThreadRequests
import ThreadkeeperSupport

/// Answers one of the interfaces that have the requests of MQTT: who asks is the user that the kernel names, and speaks
/// for the team that the settings give to that user.
struct RequestHandler: LocalAPIHandler {
  /// A consent is open for two minutes; then it is settled one way or another.
  private static let consentTimeout = Duration.seconds(150)

  let interface: VarlinkInterface
  private let settings: Settings
  private let bridge: Bridge
  private let admission: ClientAdmission?

  /// A handler for each interface.
  ///
  /// - Parameter admission: of a socket where users may ask so often and no more.
  static func all(_ settings: Settings, bridge: Bridge, admission: ClientAdmission? = nil) -> [RequestHandler] {
    RequestMethods.interfaces.map {
      RequestHandler(interface: $0, settings: settings, bridge: bridge, admission: admission)
    }
  }

  var endpoints: [VarlinkEndpoint] {
    RequestMethods.methods(of: interface).map { command, method in
      method.answered { fields, caller in
        do throws(AnswerFailure) {
          let refusal = admission?.refusal(of: command, by: caller.peer.user) { routers(in: fields.home) }
          if let refusal { throw refusal }
          return try answer(command, fields, caller).result()
        } catch { throw VarlinkError(error.forCommand) }
      }
    }
  }

  /// How many a request may look at.
  private func routers(in home: String?) -> Int {
    (home ?? bridge.homes.first?.name).flatMap { bridge.loop.homes.home($0)?.routers.count } ?? 0
  }

  private func answer(_ command: RequestCommand, _ fields: RequestFields, _ caller: VarlinkCaller) throws(AnswerFailure)
    -> ThreadAnswer
  {
    let user = caller.peer.user
    let request = try ThreadRequest(command, fields)
    guard let team = settings.team(ofUID: user) else {
      throw AnswerFailure(
        .notAuthorized, "user \(user) speaks for no team here", help: "name the user in `client_users`")
    }
    let isOwnUser = user == geteuid() || user == 0
    var local = LocalRequest(request, user: user, team: ExactName(team))
    local.isAdministrator = fields.asAdministrator == true && isOwnUser
    // Only a person reads it.
    if command.needsConsent { local.userName = SystemAccount.name(ofUser: user) }
    let outcome = bridge.requests.answer(
      local, by: bridge.loop, isOwnUser: isOwnUser, at: SystemClock().now(), isThere: { caller.isThere },
      wake: { caller.wake() })
    switch outcome {
    case .answer(let answer): return answer
    case .waiting(let place): return decision(place, caller)
    }
  }

  /// What a person decides while the caller waits.
  private func decision(_ place: WaitingCallers.Place, _ caller: VarlinkCaller) -> ThreadAnswer {
    let callers = bridge.requests.callers
    defer { callers.forget(place) }
    let end = ContinuousClock.now + Self.consentTimeout
    do throws(CancellationError) {
      while end > .now {
        if let answer = callers.answer(at: place) { return answer }
        try caller.wait(until: end)
      }
    } catch { return ThreadAnswer(AnswerFailure(.ending, "the daemon ends; the request waits for when it is back")) }
    return ThreadAnswer(AnswerFailure(.consentExpired, "nobody has decided in time"))
  }
}

extension AnswerFailure {
  /// What a command ends with.
  var commandFailure: CommandFailure {
    CommandFailure(exit.flatMap { ExitStatus(rawValue: $0) } ?? exitStatus, message, remedy: help)
  }

  private var exitStatus: ExitStatus {
    guard let known else { return ofDataset == nil ? .software : .badInput }
    switch known {
    case .invalidPayload: return .usage
    case .incompleteDataset, .badDataset, .damagedCredentials: return .badInput
    case .notFound, .staleID: return .noInput
    case .tooManyRouters, .notAuthorized, .notEnrolled, .consentRequired, .consentDenied, .consentExpired:
      return .notPermitted
    case .rateLimited, .expired, .ending, .conflict: return .temporary
    case .readOnly, .store, .tooLarge: return .inputOutput
    case .unsupported: return .unavailable
    }
  }
}

extension AnswerFailure {
  /// With the exit status that a command should end with.
  var forCommand: AnswerFailure {
    var failure = self
    failure.exit = commandFailure.status.rawValue
    return failure
  }
}
