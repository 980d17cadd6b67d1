// SPDX-License-Identifier: Apache-2.0

import Broker
import KeychainCore
import SQLiteDatabase
import SodiumCrypto

/// Why a sealed request was not opened, or an answer not sealed.
package enum SealedExchangeError: Error, Equatable, Sendable {
  case notEnrolled
  case refused(EnvelopeRefusal)
  /// This user has too many requests alive.
  case tooMany
  /// The user's enrolment, or the daemon's own keys, cannot be read.
  case damaged

  /// Stable, as it is published.
  package var code: String {
    switch self {
    case .notEnrolled: "not_enrolled"
    case .refused(let refusal): refusal.rawValue
    case .tooMany: "rate_limited"
    case .damaged: "damaged_enrolment"
    }
  }

  package var message: String {
    switch self {
    case .notEnrolled: "nobody is enrolled for this user; `threadkeeper clients enroll` does it"
    case .refused(let refusal): refusal.message
    case .tooMany: "too many sealed requests of this user within a minute"
    case .damaged: "the enrolment of this user, or the daemon's own keys, cannot be read"
    }
  }
}

/// Opens requests and seals answers, for enrolled users only: never to a key that came with a request.
package struct SealedExchange: Sendable {
  private let enrolments: ClientEnrolmentStore
  private let given: Identity?
  private let replays: any ReplayMemory

  /// - Parameter identity: the daemon's own keys; nil: those of the enrolments.
  package init(
    _ enrolments: ClientEnrolmentStore, identity: Identity? = nil, replays: any ReplayMemory
  ) {
    self.enrolments = enrolments
    given = identity
    self.replays = replays
  }

  /// None while nobody has needed any, or when they are damaged.
  private var identity: Identity? { given ?? enrolments.identity }

  /// Of the key that secrets are told to for this user; nil when none can be told. So it is while the
  /// enrolment is damaged.
  package func fingerprint(
    of user: String, in home: String, _ tx: ReadTransaction
  ) -> String? {
    guard identity != nil else { return nil }
    do throws(SealedExchangeError) {
      guard let client = try client(user, in: home, tx), !client.isRevoked else { return nil }
      return client.keys.fingerprint
    } catch {
      return nil
    }
  }

  /// Whether what this user says in plaintext is not believed. So it is while the enrolment is damaged.
  package func requiresSeal(
    of user: String, in home: String, _ tx: ReadTransaction
  ) -> Bool {
    do throws(SealedExchangeError) {
      return try client(user, in: home, tx)?.trust == .signed
    } catch {
      return true
    }
  }

  /// The body of a request, once. It needs an `id`.
  ///
  /// - Throws: `SealedExchangeError`, or what the store says.
  package func open(
    _ envelope: [UInt8], from user: String, in home: String, topic: String, now: Int64,
    _ tx: WriteTransaction
  ) throws -> [UInt8] {
    let opened = try opened(envelope, from: user, in: home, topic: topic, now: now, tx)
    guard case .identifier(let identifier) = opened.order, let expires = opened.expiresAt else {
      throw SealedExchangeError.refused(.notAnEnvelope)
    }
    let name = SealedRequestName(
      issuer: opened.issuer.signingKey, identifier: identifier, ends: expires + Envelope.skew)
    switch try replays.take(name, now: now, tx) {
    case .news: return opened.body
    case .replayed: throw SealedExchangeError.refused(.replayed)
    case .forgotten: throw SealedExchangeError.refused(.expired)
    case .full: throw SealedExchangeError.tooMany
    }
  }

  private func opened(
    _ envelope: [UInt8], from user: String, in home: String, topic: String, now: Int64,
    _ tx: WriteTransaction
  ) throws(SealedExchangeError) -> OpenedEnvelope {
    guard let identity else { throw .damaged }
    guard let client = try client(user, in: home, tx), !client.isRevoked else { throw .notEnrolled }
    do throws(EnvelopeRefusal) {
      return try Envelope.open(
        envelope, with: identity, from: [client.keys], topic: topic, now: now)
    } catch {
      throw .refused(error)
    }
  }

  /// An envelope for the enrolled key of a user.
  ///
  /// - Parameters:
  ///   - body: the text of a JSON object.
  ///   - answer: where the answer belongs. Its `id` is the request's `transaction`, so that the client
  ///     takes no older answer for this one; a text of its own where that cannot be one.
  package func seal(
    _ body: [UInt8], to user: String, in home: String, _ answer: Answer, now: Int64,
    _ tx: ReadTransaction
  ) throws -> [UInt8] {
    guard let client = try client(user, in: home, tx), !client.isRevoked else {
      throw SealedExchangeError.notEnrolled
    }
    guard let identity else { throw SealedExchangeError.damaged }
    return try Envelope.seal(body, to: client.keys, from: identity, at: place(of: answer, now))
  }

  /// Bytes of the largest body that `seal` has room for.
  package func room(for answer: Answer, now: Int64) -> Int {
    Envelope.room(at: place(of: answer, now))
  }

  private func place(of answer: Answer, _ now: Int64) -> Envelope.Place {
    .init(
      topic: answer.topic, order: .identifier(answer.identifier), now: now,
      lifetime: answer.lifetime)
  }

  /// Where an answer belongs.
  package struct Answer: Sendable {
    /// The whole topic that it is published on.
    package var topic: String
    /// That of the request.
    package var transaction: String?
    /// Seconds, at most 300.
    package var lifetime: Int64

    package init(
      topic: String, transaction: String?, lifetime: Int64 = Envelope.requestLifetime
    ) {
      self.topic = topic
      self.transaction = transaction
      self.lifetime = lifetime
    }

    var identifier: String {
      if let transaction, (1...Envelope.identifierLimit).contains(transaction.utf8.count) {
        return transaction
      }
      return Base64.encode(RandomBytes.make(12), .urlSafe)
    }
  }

  private func client(
    _ user: String, in home: String, _ tx: ReadTransaction
  ) throws(SealedExchangeError) -> EnrolledClient? {
    do throws(KeychainError) {
      if let tx = tx as? WriteTransaction {
        return try enrolments.remembered(user, in: home, tx)
      }
      return try enrolments.client(user, in: home, tx)
    } catch {
      // Whatever it is: nobody knows what this user may do.
      throw .damaged
    }
  }
}

/// Remembers which sealed requests have come. In the caller's transaction: what a rollback undoes has not
/// come, and what was committed is remembered after a restart too.
package protocol ReplayMemory: Sendable {
  /// Takes note of a request that was opened, and says what it is.
  ///
  /// - Parameter now: Unix seconds.
  func take(
    _ request: SealedRequestName, now: Int64, _ tx: WriteTransaction
  ) throws -> ReplayVerdict
}

/// What makes a sealed request different from every other one.
package struct SealedRequestName: Sendable {
  /// The signer's public key.
  package let issuer: [UInt8]
  package let identifier: String
  /// Unix seconds from which on the envelope does not open any more.
  package let ends: Int64

  package init(issuer: [UInt8], identifier: String, ends: Int64) {
    self.issuer = issuer
    self.identifier = identifier
    self.ends = ends
  }
}

package enum ReplayVerdict: Hashable, Sendable {
  case news
  case replayed
  /// As old as others of this signer that are forgotten, so nobody knows: a clock was set back.
  case forgotten
  /// This signer has too many alive; nothing is remembered of this one.
  case full
}
