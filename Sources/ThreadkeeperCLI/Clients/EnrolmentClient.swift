// SPDX-License-Identifier: Apache-2.0

import ClientEnrolment
import Glibc
import KeychainCore
import Settings
import ThreadkeeperDaemon
import VarlinkSocket

/// Has something done with the enrolments: by the running daemon, or without one in the store itself.
struct EnrolmentClient: Sendable {
  private static let timeout = Duration.seconds(60)

  let settings: Settings

  func enroll(_ request: ClientsMethods.Enrolment) async throws -> EnrolmentReport {
    try await perform(ClientsMethods.enroll, request) { try $0.enroll(request) }
  }

  func list(_ home: String?) async throws -> EnrolmentReport {
    try await perform(ClientsMethods.list, .init(home), open: { try OpenStore.forReading($0) }) {
      try $0.list(home)
    }
  }

  func revoke(_ request: ClientsMethods.Revocation) async throws {
    _ = try await perform(ClientsMethods.revoke, request, isRepeatable: false) {
      try $0.revoke(request)
      return VarlinkNothing()
    }
  }

  /// - Parameter isRepeatable: done twice, it is the same.
  private func perform<Request: Encodable & Sendable, Reply: Decodable & Sendable>(
    _ method: VarlinkMethod<Request, Reply>, _ request: Request, isRepeatable: Bool = true,
    open: (Settings) throws -> Keychain = { try OpenStore.forWriting($0) },
    here: (EnrolmentService) throws -> Reply
  ) async throws -> Reply {
    try await DaemonClient.orStore(isRepeatable: isRepeatable) {
      try await DaemonClient(settings: settings).call(method, request, within: Self.timeout)
    } store: {
      let keychain = try open(settings)
      defer { keychain.close() }
      return try here(
        EnrolmentService(
          settings: settings, enrolments: ClientEnrolmentStore(keychain),
          actor: OpenStore.actor(user: geteuid())))
    }
  }
}
