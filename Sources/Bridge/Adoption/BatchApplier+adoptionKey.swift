// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Whose key the credentials are sealed to.
extension BatchApplier {
  /// Several logins of a team may speak for one router, and take turns: whoever was asked about stays the
  /// one that is told, as long as something can be sealed for it. Else it is who spoke last.
  func addressee(
    of router: RouterRecord, _ adoption: Adoption?, home: HomeContext
  ) throws -> (user: String, key: AdoptionKey) {
    if let adoption, isSameTeam(adoption.user, router.user) {
      let key = try adoptionKey(of: adoption.user, home: home)
      if key != .notEnrolled { return (adoption.user, key) }
    }
    return (router.user, try adoptionKey(of: router.user, home: home))
  }

  func adoptionKey(of user: String, home: HomeContext) throws -> AdoptionKey {
    let sealer = configuration.requests.sealer
    guard sealer.knowsKeys else { return .unknown }
    if let key = try sealer.fingerprint(of: user, in: home.record.name, tx) {
      return .enrolled(key)
    }
    // It does not say why there is none.
    let topic = OutboundTopic(base: configuration.topics.base(of: home.record.name))
    do {
      _ = try sealer.seal(
        Array("{}".utf8), to: user, in: home.record.name,
        AnswerPlace(topic: topic.setDataset(of: user), lifetime: 1), now: now, tx)
      return .notEnrolled
    } catch is AnswerFailure {
      return .damaged
    }
  }

  /// Whether a person was asked about something else than holds now.
  func isOutdated(
    _ adoption: Adoption, of router: RouterRecord, home: HomeContext
  ) throws -> Bool {
    let (user, key) = try addressee(of: router, adoption, home: home)
    guard BrokerUser.isSame(user, adoption.user), key.isSame(as: .enrolled(adoption.key)),
      let preferred = try preferredNetwork(of: home)
    else { return true }
    return !preferred.essentialDifferences(from: adoption.preferred).isEmpty
  }

  /// Who was to be told, for the words of an alert.
  func addressee(ofFailed router: RouterRecord, home: HomeContext) throws -> String? {
    guard router.adoption?.hasFailed == true else { return nil }
    return try adoption(of: router.agent, home: home)?.user
  }

  private func isSameTeam(_ a: String, _ b: String) -> Bool {
    BrokerUser.isSame(a, b) || BrokerUser.isSame(configuration.team(a), configuration.team(b))
  }
}
