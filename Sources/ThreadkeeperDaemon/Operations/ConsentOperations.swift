// SPDX-License-Identifier: Apache-2.0

import Bridge
import ConsentLedger
import LocalAPI
import ThreadDataset
import ThreadRequests

/// What waits for consent.
package struct ListConsents: Operation {
  package var access: VarlinkAccess { .reader }

  package init() {}

  package func perform(_ context: OperationContext) throws -> ConsentReport.List {
    try ConsentReport.List(context.keychain, namingHome: context.bridge.consents.hasSeveralHomes)
  }
}

/// The same now, and whenever it has changed.
package struct WatchConsents: StreamOperation {
  package typealias Reply = ConsentReport.List

  /// From one look to the next.
  private static let interval = Duration.milliseconds(300)

  package var access: VarlinkAccess { .reader }

  package init() {}

  package func perform(
    _ context: OperationContext, _ replies: VarlinkReplies<Reply>
  ) throws -> Reply {
    try sendChanges(every: Self.interval, to: replies) {
      try context.read { try ListConsents().perform(context) }
    }
  }
}

/// Gives a program the credentials that it asks for.
package struct ApproveConsent: Operation {
  /// A second decision finds nothing that waits.
  package static let isRepeatable = false

  package var id: String
  package var scope: ConsentScope

  package init(id: String, scope: ConsentScope) {
    self.id = id
    self.scope = scope
  }

  package func perform(_ context: OperationContext) throws -> ConsentReport.Decision {
    .init(try context.bridge.consents.approve(id, scope, by: context.caller))
  }
}

/// Refuses a program the credentials that it asks for.
package struct DenyConsent: Operation {
  /// As of `ApproveConsent`.
  package static let isRepeatable = false

  package var id: String

  package init(id: String) { self.id = id }

  package func perform(_ context: OperationContext) throws -> ConsentReport.Decision {
    .init(try context.bridge.consents.deny(id, by: context.caller))
  }
}

/// Has a person asked again whether a border router gets the preferred credentials.
package struct AskConsent: Operation {
  package var home: String
  /// 16 or 32 hexadecimal digits.
  package var borderAgentId: String

  package init(home: String, borderAgentId: String) {
    self.home = home
    self.borderAgentId = borderAgentId
  }

  package struct Reply: Codable, Sendable {
    package var home: String
    package var borderAgentId: String
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let agent = try BorderAgentID(parameter: borderAgentId)
    do {
      try context.bridge.consents.askAgain(about: agent, in: home, by: context.caller)
    } catch let refusal as ConsentRefusal where refusal.code == .notFound {
      throw CommandFailure(
        .noInput, refusal.message, remedy: "`threadkeeper routers` shows the ids")
    }
    return Reply(home: home, borderAgentId: agent.description)
  }
}

/// Who is given credentials without a question.
package struct ListGrants: Operation {
  package var access: VarlinkAccess { .reader }

  package init() {}

  package struct Reply: Codable, Sendable, VarlinkFieldNames {
    package var grants: [ConsentReport.Grant]
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let (registry, ledger) = (context.registry, ConsentLedger(context.keychain))
    return Reply(
      grants: try context.keychain.database.read { tx in
        try ledger.grants(tx).map { grant in
          // A preferred network that cannot be read says nothing about the grant.
          .init(
            grant,
            preferred: try? registry.credentials.preferredNetwork(of: grant.subject.home, tx))
        }
      })
  }
}

/// Takes an "always" back.
package struct RevokeGrant: Operation {
  /// A second revocation finds nothing.
  package static let isRepeatable = false

  package var id: String

  package init(id: String) { self.id = id }

  package func perform(_ context: OperationContext) throws -> ConsentReport.Grant {
    .init(try context.bridge.consents.revoke(id, by: context.caller))
  }
}

/// What was decided, the newest first.
package struct ListDecisions: Operation {
  /// The most decisions; nil is all that are kept.
  package var limit: Int?
  package var access: VarlinkAccess { .reader }

  package init(limit: Int? = nil) { self.limit = limit }

  package struct Reply: Codable, Sendable, VarlinkFieldNames {
    package var history: [ConsentReport.Decision]
  }

  package func perform(_ context: OperationContext) throws -> Reply {
    let past = try context.keychain.database.read {
      try ConsentLedger(context.keychain).history(limit: limit ?? .max, $0)
    }
    return Reply(history: past.map(ConsentReport.Decision.init))
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
        .noInput, refusal.message,
        remedy: "`threadkeeper consent list --grants` shows what there is")
    case .notAuthorized, .denied: self.init(.notPermitted, refusal.message)
    case .conflict: self.init(.usage, refusal.message)
    case .rateLimited: self.init(.temporary, refusal.message)
    }
  }
}
