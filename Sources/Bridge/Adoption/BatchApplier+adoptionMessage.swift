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
  private struct Payload: Encodable {
    var v = 1
    var sealed: SealedText
  }

  /// Seals the message of an adoption for a connection. It is not retained, and worth nothing when the wait
  /// is over.
  ///
  /// - Returns: whether something could be sealed; else nothing is written, and the clock says so.
  @discardableResult
  func write(_ adoption: Adoption, for connection: Int64) throws -> Bool {
    let left = max(1, (adoption.deadline - now.milliseconds) / 1_000)
    let lifetime = min(left, Envelope.longestLifetime)
    guard let text = try sealed(adoption, lifetime: lifetime) else { return false }
    let publication = Publication(
      topic: topic(of: adoption), payload: WireJSON().encode(Payload(sealed: text)),
      contentType: "application/json")
    outcome.adoptionMessages.append(
      AdoptionMessage(
        id: adoption.id, connection: connection, publication: publication,
        expires: now.adding(seconds: Int(lifetime))))
    return true
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
