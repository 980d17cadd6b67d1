// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import KeychainCore
import SQLiteDatabase
import SodiumCrypto

/// Events in envelopes within one transaction, and users of whom only those count.
final class SealedEvents {
  /// What an envelope holds.
  enum Opened {
    case event(InboundEvent)
    /// It was opened before.
    case duplicate
  }

  private let configuration: BridgeConfiguration
  private let now: WireTime
  private let tx: WriteTransaction
  /// Most batches have no envelope.
  private lazy var decoder = InboundEventDecoder()
  /// The last login: no client is enrolled or revoked within one transaction.
  private var lastSpeaker: (home: Int64, user: String, client: EnrolledClient?)?

  init(_ configuration: BridgeConfiguration, now: WireTime, _ tx: WriteTransaction) {
    self.configuration = configuration
    self.now = now
    self.tx = tx
  }

  /// An event in plaintext. The user is known from the broker only.
  func requireTrust(in user: String, home: HomeRecord, _ intake: SealedIntake) throws {
    guard try isSigned(user, home: home, intake) else { return }
    throw Rejection(
      .notSealed,
      message: "this user is enrolled with the trust `signed`: its events have to be sealed; "
        + "`threadkeeper client seal` does it")
  }

  /// What an envelope holds, of the user on whose topic it came.
  func open(
    _ message: InboundMessage.Sealed, user: String, home: HomeRecord, _ intake: SealedIntake
  ) throws -> Opened {
    guard let client = try enrolled(user, home: home, intake), !client.isRevoked else {
      throw Rejection(
        .notEnrolled, field: "sealed",
        message: "nobody is enrolled for this user; `threadkeeper clients enroll` does it")
    }
    guard let identity = intake.identity else {
      throw Rejection(
        .unsupported, field: "sealed",
        message: "the daemon has no keys of its own: they are damaged, or the store is read-only")
    }
    let opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(
        message.envelope, with: identity, from: [client.keys], topic: message.topic,
        now: now.milliseconds / 1000)
    } catch {
      throw Rejection(error)
    }
    guard case .sequence(let sequence) = opened.order else {
      throw Rejection(
        .missingField, field: "seq",
        message: "a sealed event needs a `seq` in its envelope, because it has no end")
    }
    var body = opened.body
    defer { wipe(&body) }
    let event = try decoder.decode(body, inside: message.event, sequence: sequence)
    return try isNews(event, sequence, issuer: client.keys, user: user, home: home)
      ? .event(event) : .duplicate
  }

  /// The number of an envelope counts for its signer, whichever login publishes for the router meanwhile: else
  /// an old one could be sent again after that.
  private func isNews(
    _ event: InboundEvent, _ sequence: UInt64, issuer: PublicIdentity, user: String,
    home: HomeRecord
  ) throws -> Bool {
    let key = SealedOrderLedger.Key(
      home: home.id, user: user, issuer: issuer.signingKey, subject: event.subject)
    // Routers, and access points beside them.
    let most = 2 * configuration.routersPerTeam
    switch try SealedOrderLedger.take(sequence, of: key, most: most, tx) {
    case .news: return true
    case .duplicate: return false
    case .outOfOrder:
      throw Rejection(
        .outOfOrder, field: "seq",
        message: "a later envelope of this user for this router was opened already; `seq` must rise"
      )
    }
  }

  /// Whether only signed events of a user count: then there is nothing left that could come as plaintext.
  func isSigned(_ user: String, home: HomeRecord, _ intake: SealedIntake) throws -> Bool {
    try enrolled(user, home: home, intake)?.trust == .signed
  }

  private func enrolled(_ user: String, home: HomeRecord, _ intake: SealedIntake) throws
    -> EnrolledClient?
  {
    if let last = lastSpeaker, last.home == home.id, BrokerUser.isSame(last.user, user) {
      return last.client
    }
    do throws(KeychainError) {
      let client = try intake.enrolments.remembered(user, in: home.name, tx)
      lastSpeaker = (home.id, user, client)
      return client
    } catch {
      guard error.isItemDamaged else { throw error }
      throw Rejection(
        .damagedEnrolment,
        message: "the enrolment of this user is damaged; "
          + "`threadkeeper clients enroll` replaces it")
    }
  }
}
