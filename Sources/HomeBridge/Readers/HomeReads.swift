// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset
import ThreadRequests

/// Answers requests that change nothing, from a home as it is on disk: without the loop, and without the disk but for
/// the secrets that the writer opens.
package struct HomeReader {
  /// Entries of a list on this machine: no more than a person or a script will read at once.
  package static let mostEntries = 100_000

  package var home: Home
  package var rules: HomeRules
  package var writer: AnswerWriter
  /// Of the program.
  package var version: String
  package var mostEntries = Self.mostEntries

  package init(_ home: Home, _ rules: HomeRules, _ writer: AnswerWriter, version: String) {
    self.home = home
    self.rules = rules
    self.writer = writer
    self.version = version
  }

  /// - Returns: nil for what may change something, or needs a person: the loop is asked.
  package func answer(
    _ step: AskedRequest.Step, at now: WireTime
  ) throws(AnswerFailure) -> AnswerData? {
    switch step.by {
    case .ping: return .pong(version, at: now)
    case .states(let command):
      return try home.states(
        command, in: writer.home, isOnlyHome: !writer.namesHome, most: mostEntries)
    case .home(.request(let request, let context), _):
      guard let answer = home.answer(reading: request, context, at: now, rules: rules) else {
        return nil
      }
      return try writer.data(of: answer, to: step.request, context)
    case .home: return nil
    }
  }
}

extension Home {
  /// What comes of a request that changes nothing: a copy of the home answers it, by the same rules as the home itself.
  ///
  /// - Returns: nil for a request that may change something, or needs a person: the loop is asked.
  package func answer(
    reading request: HomeRequest, _ context: RequestContext, at now: WireTime, rules: HomeRules
  ) -> HomeAnswer? {
    guard request.isRead(in: context) else { return nil }
    var copy = self
    return copy.handle(.request(request, context), at: now, rules: rules).answer
  }

  /// Border agent ids that belong to a team, and the login that spoke for each last.
  package var owners: [(agent: BorderAgentID, team: String, user: String?)] {
    routers.compactMap { router in
      router.owner.map { (router.agent, $0.text, router.user?.text) }
    }
  }

  /// Logins that spoke for border routers last, also for those that left.
  package var users: Set<ExactName> { Set(routers.compactMap(\.user)) }

  /// Routers that have credentials of a network that is preferred by its Extended PAN ID alone: nobody has vouched for
  /// them.
  package var unconfirmedReporters: [BorderAgentID] {
    guard let preferred = preferred?.dataset, !preferred.hasCredentials else { return [] }
    return routers.filter { $0.dataset?.network == preferred.network }.map(\.agent)
  }
}

extension HomeRequest {
  fileprivate func isRead(in context: RequestContext) -> Bool {
    switch self {
    case .getCredentials, .listCredentials, .isPreferredAvailable, .pendingQuestions: return true
    case .checkPreferred:
      // Over the broker, a dataset in plaintext is an alert.
      if case .systemUser = context.requester.identity { return true }
      return context.isSigned
    case .storeCredentials, .deleteCredentials, .setPreferred, .forgetPreferred, .forgetNetwork,
      .getPreferred, .getNetwork, .nearbyNetworks:
      return false
    }
  }
}
