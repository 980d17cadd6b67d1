// SPDX-License-Identifier: Apache-2.0

import ConsentLedger

/// What a command asks of the running daemon about consent. See docs/reference/daemon-socket.md.
package struct ConsentMessage: DaemonRequest {
  package typealias Report = ConsentReport

  package enum Command: String, Codable, CaseIterable, Sendable {
    case list = "consents/list"
    case approve = "consents/approve"
    case deny = "consents/deny"
    case grants = "consents/grants"
    case revoke = "consents/revoke"
    case history = "consents/history"
  }

  package var v = DaemonRequestVersion.current
  package var command: Command
  /// Of a request or a grant.
  package var id: String?
  package var scope: ConsentScope?
  /// Of the history: how many lines.
  package var limit: Int?

  package init(_ command: Command, id: String? = nil, scope: ConsentScope? = nil, limit: Int? = nil)
  {
    self.command = command
    self.id = id
    self.scope = scope
    self.limit = limit
  }
}

extension CommandFailure {
  package init(_ refusal: ConsentRefusal) {
    switch refusal.code {
    case .staleID:
      self.init(
        .noInput, refusal.message, remedy: "`threadkeeper consent list` shows what waits")
    case .notFound:
      self.init(
        .noInput, refusal.message, remedy: "`threadkeeper consent grants` shows what there is")
    case .notAuthorized, .denied: self.init(.notPermitted, refusal.message)
    case .conflict: self.init(.usage, refusal.message)
    case .rateLimited: self.init(.temporary, refusal.message)
    }
  }
}
