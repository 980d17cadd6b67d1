// SPDX-License-Identifier: Apache-2.0

import Bridge
import CredentialService
import Glibc
import Settings
import ThreadRequests
import ThreadkeeperDaemon

/// Has a request fulfilled for a command, over every team: by the keeper that holds the store, or
/// without one in the store itself.
struct RequestCounter: Sendable {
  /// Seconds.
  private static let patience = 60

  let settings: Settings

  /// - Parameter isRepeatable: whether to do it twice comes to the same answer.
  func perform(_ request: ThreadRequest, isRepeatable: Bool) async throws -> AnswerData {
    do {
      return try await RunningKeeper.orStore(isRepeatable: isRepeatable) {
        try await askKeeper(request)
      } store: {
        let keychain = try OpenStore.forWriting(settings)
        defer { keychain.close() }
        let service = try RequestService(BridgeConfiguration(settings), keychain: keychain)
        let outcome = service.answer(
          request, from: .systemUser(geteuid()), team: settings.team(ofUID: geteuid()) ?? "",
          isAdministrator: true)
        guard case .answer(let answer) = outcome else { throw KeeperAnswerForm.unreadable }
        return try answer.result()
      }
    } catch let failure as AnswerFailure {
      throw failure.commandFailure
    }
  }

  private func askKeeper(_ request: ThreadRequest) async throws -> AnswerData? {
    var fields = request.fields
    fields.v = ThreadAnswer.version
    fields.command = request.command.rawValue
    fields.asKeeper = true
    guard
      let octets = try await RunningKeeper(settings: settings).ask(
        fields.json, within: Self.patience)
    else { return nil }
    guard let answer = ThreadAnswer(json: Array(octets)) else { throw KeeperAnswerForm.unreadable }
    return try answer.result()
  }
}
