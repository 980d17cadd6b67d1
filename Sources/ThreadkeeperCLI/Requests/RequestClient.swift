// SPDX-License-Identifier: Apache-2.0

import Bridge
import CredentialService
import Glibc
import LocalRequests
import Settings
import ThreadRequests
import ThreadkeeperDaemon

/// Has a request fulfilled for a command, over every team: by the daemon that holds the store, or
/// without one in the store itself.
struct RequestClient: Sendable {
  private static let timeout = Duration.seconds(60)

  let settings: Settings

  /// - Parameter isRepeatable: whether to do it twice comes to the same answer.
  func perform(_ request: ThreadRequest, isRepeatable: Bool) async throws -> AnswerData {
    do {
      return try await DaemonClient.orStore(isRepeatable: isRepeatable) {
        try await askDaemon(request)
      } store: {
        let keychain = try OpenStore.forWriting(settings)
        defer { keychain.close() }
        let service = try RequestService(BridgeConfiguration(settings), keychain: keychain)
        let outcome = service.answer(
          request, from: .systemUser(geteuid()), team: settings.team(ofUID: geteuid()) ?? "",
          isAdministrator: true)
        guard case .answer(let answer) = outcome else { throw DaemonClient.unreadable }
        return try answer.result()
      }
    } catch let failure as AnswerFailure {
      throw failure.commandFailure
    }
  }

  private func askDaemon(_ request: ThreadRequest) async throws -> AnswerData? {
    guard let method = RequestMethods.method(request.command) else {
      throw DaemonClient.unreadable
    }
    return try await DaemonClient(settings: settings).call(
      method, RequestParameters(request, administrator: true), within: Self.timeout)
  }
}
