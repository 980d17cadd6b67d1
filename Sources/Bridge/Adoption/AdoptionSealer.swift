// SPDX-License-Identifier: Apache-2.0

import Broker
import SQLiteDatabase
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// Whose key the preferred credentials are sealed to, and the message on `out/<user>/dataset/set`.
struct AdoptionSealer {
  let configuration: BridgeConfiguration
  /// Seals to the keys of enrolled logins.
  let keys: any AnswerSealer
  let now: WireTime
  let tx: ReadTransaction

  private struct Payload: Encodable {
    var v = 1
    var sealed: SealedText
  }

  /// The login that the credentials are sent to. Several logins of a team may publish for one router, and take turns:
  /// the one that a person was asked about stays, as long as something can be sealed for it. Else it is the last one.
  func addressee(
    of router: RouterRecord, _ adoption: Adoption?, in home: String
  ) throws -> (user: String, key: AdoptionKey) {
    if let adoption, isSameTeam(adoption.user, router.user) {
      let key = try key(of: adoption.user, in: home)
      if key != .notEnrolled { return (adoption.user, key) }
    }
    return (router.user, try key(of: router.user, in: home))
  }

  func key(of user: String, in home: String) throws -> AdoptionKey {
    guard keys.knowsKeys else { return .unknown }
    if let key = try keys.fingerprint(of: user, in: home, tx) { return .enrolled(key) }
    // A fingerprint does not show why there is none.
    do {
      _ = try keys.seal(
        Array("{}".utf8), to: user, in: home,
        AnswerPlace(topic: topic(of: user, in: home), lifetime: 1), now: now, tx)
      return .notEnrolled
    } catch is AnswerFailure {
      return .damaged
    }
  }

  /// Seals the message of an adoption for a connection. It is not retained, and worth nothing when the wait
  /// is over.
  ///
  /// - Returns: nil where nothing can be sealed; the clock finds that out, too.
  func message(_ adoption: Adoption, for connection: Int64) throws -> AdoptionMessage? {
    let left = max(1, (adoption.deadline - now.milliseconds) / 1_000)
    let lifetime = min(left, Envelope.longestLifetime)
    guard let text = try sealed(adoption, lifetime: lifetime) else { return nil }
    return AdoptionMessage(
      id: adoption.id, connection: connection,
      publication: Publication(
        topic: topic(of: adoption.user, in: adoption.home),
        payload: WireJSON().encode(Payload(sealed: text)), contentType: "application/json"),
      expires: now.adding(seconds: Int(lifetime)))
  }

  private func sealed(_ adoption: Adoption, lifetime: Int64) throws -> SealedText? {
    // Nothing in it needs an escape.
    var body = Array(
      #"{"border_agent_id":"\#(adoption.agent)","dataset":"\#(adoption.preferred.hex)","#.utf8)
    body += Array(#""id":"\#(adoption.id)"}"#.utf8)
    defer { wipe(&body) }
    let place = AnswerPlace(
      topic: topic(of: adoption.user, in: adoption.home), transaction: adoption.id,
      lifetime: lifetime)
    do {
      return try keys.seal(
        body, to: adoption.user, in: adoption.home, place, now: now, tx)
    } catch is AnswerFailure {
      return nil
    }
  }

  private func topic(of user: String, in home: String) -> String {
    OutboundTopic(base: configuration.topics.base(of: home)).setDataset(of: user)
  }

  private func isSameTeam(_ a: String, _ b: String) -> Bool {
    BrokerUser.isSame(a, b) || BrokerUser.isSame(configuration.team(a), configuration.team(b))
  }
}
