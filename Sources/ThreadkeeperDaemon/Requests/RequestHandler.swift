// SPDX-License-Identifier: Apache-2.0

import Bridge
import CredentialService
import DaemonSocket
import Dispatch
import Glibc
import Settings
import ThreadRequests

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The daemon's end of requests on the socket: who asks is the user that the kernel names, and speaks
/// for the team that the settings give to that user.
final class RequestHandler: Sendable {
  /// A consent is open for two minutes; then it is settled one way or another.
  private static let patience = Duration.seconds(150)

  private let settings: Settings
  private let requests: RequestService
  /// One after the other: each may wait for the disk.
  private let turns = DispatchQueue(label: "threadkeeper.requests")

  init(_ settings: Settings, requests: RequestService) {
    self.settings = settings
    self.requests = requests
  }

  /// - Parameter door: of a socket where users may ask so often and no more.
  /// - Returns: nil when it is no request of this kind.
  func answer(
    _ bytes: [UInt8], _ connection: DaemonConnection, _ door: ClientAdmission?
  ) async -> [UInt8]? {
    guard let command = Self.command(of: bytes) else { return nil }
    if let refusal = door?.refusal(of: command, by: connection.peer.user) {
      return ThreadAnswer(refusal, transaction: RequestFields.transaction(of: bytes))
        .forCommand.json
    }
    let answer = await answer(command, bytes, connection)
    guard answer.json.count > DaemonConnection.limit else { return answer.json }
    return ThreadAnswer(
      AnswerFailure(.tooLarge, "the answer is larger than a message on the socket may be"),
      transaction: answer.transaction
    ).forCommand.json
  }

  func refused() { requests.countRefusal() }

  func itemCount() -> Int { requests.itemCount() }

  private static func command(of bytes: [UInt8]) -> RequestCommand? {
    struct Only: Decodable {
      var command: String
    }
    return (try? JSONDecoder().decode(Only.self, from: Data(bytes)))
      .flatMap { RequestCommand(rawValue: $0.command) }
  }

  private func answer(
    _ command: RequestCommand, _ bytes: [UInt8], _ connection: DaemonConnection
  ) async -> ThreadAnswer {
    let user = connection.peer.user
    do throws(AnswerFailure) {
      let fields = try RequestFields(json: bytes)
      guard fields.v == ThreadAnswer.version else {
        throw AnswerFailure(
          .unsupported, "the running daemon does not know requests of this version",
          help: "is it of another version? Start it again")
      }
      guard let team = settings.team(ofUID: user) else {
        throw AnswerFailure(
          .notAuthorized, "user \(user) speaks for no team here",
          help: "name the user in `client_users`")
      }
      let asker = Asker(
        user: user, team: team,
        isAdministrator: fields.asKeeper == true && (user == geteuid() || user == 0))
      return await answer(try ThreadRequest(command, fields), of: asker, connection).forCommand
    } catch {
      return ThreadAnswer(error, transaction: RequestFields.transaction(of: bytes)).forCommand
    }
  }

  private struct Asker {
    let user: UInt32
    let team: String
    let isAdministrator: Bool
  }

  private func answer(
    _ request: ThreadRequest, of asker: Asker, _ connection: DaemonConnection
  ) async -> ThreadAnswer {
    let outcome = await withCheckedContinuation { done in
      turns.async { [requests] in
        // Only a person reads it.
        let name = request.command.needsConsent ? SystemAccount.name(ofUser: asker.user) : nil
        done.resume(
          returning: requests.answer(
            request, from: .systemUser(asker.user), team: asker.team, userName: name,
            isAdministrator: asker.isAdministrator, isThere: { !connection.isGone }))
      }
    }
    switch outcome {
    case .answer(let answer): return answer
    case .waiting(let place):
      var answer = await decision(place, connection) ?? ThreadAnswer(undecided)
      // Others may have asked the same.
      answer.transaction = request.transaction
      return answer
    }
  }

  private var undecided: AnswerFailure {
    Task.isCancelled
      ? AnswerFailure(.ending, "the daemon ends; the request waits for when it is back")
      : AnswerFailure(.consentExpired, "nobody has decided in time")
  }

  /// What a person decides while the caller waits. Who has gone holds no place.
  private func decision(
    _ place: WaitingCallers.Place, _ connection: DaemonConnection
  ) async -> ThreadAnswer? {
    await withTaskGroup { [callers = requests.callers] group in
      group.addTask { await callers.answer(at: place) }
      group.addTask {
        let deadline = ContinuousClock.now + Self.patience
        while ContinuousClock.now < deadline, !connection.isGone {
          do { try await Task.sleep(for: .milliseconds(250)) } catch { break }
        }
        return nil
      }
      let first = await group.next() ?? nil
      group.cancelAll()
      return first
    }
  }
}
