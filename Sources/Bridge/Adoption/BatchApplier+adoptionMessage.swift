// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import SealedEnvelope
import SodiumCrypto
import ThreadCredentialStore
import ThreadDataset
import ThreadRequests

/// What a router is told: `out/<user>/dataset/set`.
extension BatchApplier {
  private struct Message: Encodable {
    var v = 1
    var sealed: SealedText
  }

  var adoptTimeout: Int { configuration.adoptTimeout ?? 300 }

  /// Hands the message of an adoption out. It is not retained, and worth nothing when the wait is over.
  ///
  /// - Returns: when it ends; nil when nothing is sent, because the key that was asked about counts no
  ///   more. Time will say so, unless it counts again.
  func send(_ adoption: Adoption) throws -> WireTime? {
    let left = max(1, (adoption.deadline - now.milliseconds) / 1_000)
    let lifetime = min(left, Envelope.longestLifetime)
    let expires = now.adding(seconds: Int(lifetime))
    guard try key(for: adoption) == adoption.key,
      let text = try sealed(adoption, lifetime: lifetime)
    else { return nil }
    answers.append(
      .publication(
        Publication(
          topic: topic(of: adoption), payload: WireJSON().encode(Message(sealed: text)),
          contentType: "application/json"),
        expires: expires))
    return expires
  }

  /// The fingerprint of the key that it would be sealed to now.
  ///
  /// - Returns: nil where nothing can be sealed for the user.
  func key(for adoption: Adoption) throws -> String? {
    guard try sealed(adoption, lifetime: 30) != nil else { return nil }
    return try configuration.requests.sealer.fingerprint(of: adoption.user, in: adoption.home, tx)
  }

  /// - Returns: nil where nothing can be sealed for the user.
  private func sealed(_ adoption: Adoption, lifetime: Int64) throws -> SealedText? {
    // Nothing in it needs an escape.
    var body = Array(
      #"{"border_agent_id":"\#(adoption.agent)","dataset":"\#(adoption.preferred.hex)","#.utf8)
    body += Array(#""id":"\#(adoption.id)"}"#.utf8)
    defer { wipe(&body) }
    do {
      return try configuration.requests.sealer.seal(
        body, to: adoption.user, in: adoption.home,
        AnswerPlace(topic: topic(of: adoption), transaction: adoption.id, lifetime: lifetime),
        now: now, tx)
    } catch is AnswerFailure {
      return nil
    }
  }

  private func topic(of adoption: Adoption) -> String {
    OutboundTopic(base: configuration.topics.base(of: adoption.home)).setDataset(of: adoption.user)
  }
}
