// SPDX-License-Identifier: Apache-2.0

import Bridge
import CredentialService
import Glibc
import LocalAPI
import Settings
import ThreadRequests

/// Answers one of the interfaces that have the requests of MQTT: who asks is the user that the kernel names, and speaks
/// for the team that the settings give to that user.
struct RequestHandler: LocalAPIHandler {
  /// A consent is open for two minutes; then it is settled one way or another.
  private static let consentTimeout = Duration.seconds(150)

  let interface: VarlinkInterface
  private let settings: Settings
  private let requests: RequestService
  private let queue: HandlerQueue
  private let admission: ClientAdmission?

  /// A handler for each interface; they have one queue.
  ///
  /// - Parameter admission: of a socket where users may ask so often and no more.
  static func all(
    _ settings: Settings, requests: RequestService, queue: HandlerQueue = HandlerQueue("requests"),
    admission: ClientAdmission? = nil
  ) -> [RequestHandler] {
    RequestMethods.interfaces.map {
      RequestHandler(
        interface: $0, settings: settings, requests: requests, queue: queue, admission: admission)
    }
  }

  var endpoints: [VarlinkEndpoint] {
    RequestMethods.methods(of: interface).map { command, method in
      method.answered { parameters, caller in
        do throws(AnswerFailure) {
          if let refusal = admission?.refusal(of: command, by: caller.peer.user) { throw refusal }
          return try await answer(command, parameters, caller).result()
        } catch {
          throw VarlinkError(error.forCommand)
        }
      }
    }
  }

  private func answer(
    _ command: RequestCommand, _ parameters: RequestParameters, _ caller: VarlinkCaller
  ) async throws(AnswerFailure) -> ThreadAnswer {
    let user = caller.peer.user
    let request = try ThreadRequest(command, parameters.fields)
    guard let team = settings.team(ofUID: user) else {
      throw AnswerFailure(
        .notAuthorized, "user \(user) speaks for no team here",
        help: "name the user in `client_users`")
    }
    let isAdministrator = parameters.administrator == true && (user == geteuid() || user == 0)
    let outcome: RequestService.Outcome
    do {
      outcome = try await queue.run { [requests] in
        // Only a person reads it.
        let name = command.needsConsent ? SystemAccount.name(ofUser: user) : nil
        return requests.answer(
          request, from: .systemUser(user), team: team, userName: name,
          isAdministrator: isAdministrator, isThere: { !caller.session.isOver })
      }
    } catch {
      throw AnswerFailure(.store, "an unexpected failure: \(type(of: error))")
    }
    switch outcome {
    case .answer(let answer): return answer
    case .waiting(let place): return await decision(place) ?? ThreadAnswer(undecided)
    }
  }

  private var undecided: AnswerFailure {
    Task.isCancelled
      ? AnswerFailure(.ending, "the daemon ends; the request waits for when it is back")
      : AnswerFailure(.consentExpired, "nobody has decided in time")
  }

  /// What a person decides while the caller waits. Who has gone, which cancels the task, holds no place.
  private func decision(_ place: WaitingCallers.Place) async -> ThreadAnswer? {
    await withTaskGroup { [callers = requests.callers] group in
      group.addTask { await callers.answer(at: place) }
      group.addTask {
        try? await Task.sleep(for: Self.consentTimeout)
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
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
