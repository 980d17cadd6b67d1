// SPDX-License-Identifier: Apache-2.0

import Bridge
import CredentialService
import Glibc
import LocalAPI
import Settings
import SodiumCrypto
import ThreadRequests

/// Answers one of the interfaces that have the requests of MQTT: who asks is the user that the kernel names, and speaks
/// for the team that the settings give to that user.
struct RequestHandler: LocalAPIHandler {
  /// A consent is open for two minutes; then it is settled one way or another.
  private static let consentTimeout = Duration.seconds(150)

  let interface: VarlinkInterface
  private let settings: Settings
  private let requests: RequestService
  private let turn: Locked<Void>
  private let admission: ClientAdmission?

  /// A handler for each interface. They fulfil one request after the other, so that the intake gets its turn.
  ///
  /// - Parameter admission: of a socket where users may ask so often and no more.
  static func all(
    _ settings: Settings, requests: RequestService, admission: ClientAdmission? = nil
  ) -> [RequestHandler] {
    let turn = Locked(())
    return RequestMethods.interfaces.map {
      RequestHandler(
        interface: $0, settings: settings, requests: requests, turn: turn, admission: admission)
    }
  }

  var endpoints: [VarlinkEndpoint] {
    RequestMethods.methods(of: interface).map { command, method in
      method.answered { parameters, caller in
        do throws(AnswerFailure) {
          if let refusal = admission?.refusal(of: command, by: caller.peer.user) { throw refusal }
          return try answer(command, parameters, caller).result()
        } catch {
          throw VarlinkError(error.forCommand)
        }
      }
    }
  }

  private func answer(
    _ command: RequestCommand, _ parameters: RequestParameters, _ caller: VarlinkCaller
  ) throws(AnswerFailure) -> ThreadAnswer {
    let user = caller.peer.user
    let request = try ThreadRequest(command, parameters.fields)
    guard let team = settings.team(ofUID: user) else {
      throw AnswerFailure(
        .notAuthorized, "user \(user) speaks for no team here",
        help: "name the user in `client_users`")
    }
    let isAdministrator = parameters.administrator == true && (user == geteuid() || user == 0)
    // Only a person reads it.
    let name = command.needsConsent ? SystemAccount.name(ofUser: user) : nil
    let outcome = turn.withLock { _ in
      requests.answer(
        request, from: .systemUser(user), team: team, userName: name,
        isAdministrator: isAdministrator, isThere: { caller.isThere }, wake: { caller.wake() })
    }
    switch outcome {
    case .answer(let answer): return answer
    case .waiting(let place): return decision(place, caller)
    }
  }

  /// What a person decides while the caller waits.
  private func decision(
    _ place: WaitingCallers.Place, _ caller: VarlinkCaller
  ) -> ThreadAnswer {
    defer { requests.callers.forget(place) }
    let end = ContinuousClock.now + Self.consentTimeout
    do throws(CancellationError) {
      while end > .now {
        if let answer = requests.callers.answer(at: place) { return answer }
        try caller.wait(until: end)
      }
    } catch {
      return ThreadAnswer(
        AnswerFailure(.ending, "the daemon ends; the request waits for when it is back"))
    }
    return ThreadAnswer(AnswerFailure(.consentExpired, "nobody has decided in time"))
  }
}

extension AnswerFailure {
  /// What a command ends with.
  package var commandFailure: CommandFailure {
    let status = exit.flatMap { ExitStatus(rawValue: $0) } ?? exitStatus
    return CommandFailure(status, message, remedy: help)
  }

  private var exitStatus: ExitStatus {
    guard let known else { return ofDataset == nil ? .software : .badInput }
    switch known {
    case .invalidPayload: return .usage
    case .incompleteDataset, .badDataset, .damagedCredentials: return .badInput
    case .notFound, .staleID: return .noInput
    case .tooManyRouters, .notAuthorized, .notEnrolled, .consentRequired, .consentDenied,
      .consentExpired:
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
