// SPDX-License-Identifier: Apache-2.0

import Broker
import ClientEnrolment
import FoundationEssentials
import SQLiteDatabase
import ThreadRequests

/// Seals answers to enrolled clients, and opens what they ask.
struct EnrolledExchange: AnswerSealer, RequestOpener {
  private let exchange: SealedExchange

  init(_ enrolments: ClientEnrolmentStore) {
    exchange = SealedExchange(enrolments, replays: SealedRequestLedger())
  }

  func fingerprint(of user: String, in home: String, _ tx: ReadTransaction) -> String? {
    exchange.fingerprint(of: user, in: home, tx)
  }

  func requiresSeal(of user: String, in home: String, _ tx: ReadTransaction) -> Bool {
    exchange.requiresSeal(of: user, in: home, tx)
  }

  func room(at place: AnswerPlace, now: WireTime) -> Int? {
    exchange.room(for: .init(place), now: now.seconds)
  }

  func seal(
    _ body: [UInt8], to user: String, in home: String, _ place: AnswerPlace, now: WireTime,
    _ tx: ReadTransaction
  ) throws -> SealedText? {
    do {
      let envelope = try exchange.seal(
        body, to: user, in: home, .init(place), now: now.seconds, tx)
      return try JSONDecoder().decode(SealedText.self, from: Data(envelope))
    } catch let error as SealedExchangeError {
      guard error != .notEnrolled else { return nil }
      throw AnswerFailure(error)
    } catch let error as SealingError where error == .tooLarge {
      throw AnswerFailure.tooLargeToSeal
    }
  }

  func open(
    _ sealed: SealedText, from user: String, in home: String, topic: String, now: WireTime,
    _ tx: WriteTransaction
  ) throws -> [UInt8] {
    let envelope = try JSONEncoder().encode(sealed)
    do {
      return try exchange.open(
        Array(envelope), from: user, in: home, topic: topic, now: now.seconds, tx)
    } catch let error as SealedExchangeError {
      throw AnswerFailure(error)
    }
  }
}

extension AnswerFailure {
  /// The code is that of the envelope's own rules, see docs/reference/mqtt-protocol.md.
  init(_ error: SealedExchangeError) {
    self.init(.notEnrolled, field: "sealed", error.message)
    code = error.code
  }
}

extension SealedExchange.Answer {
  fileprivate init(_ place: AnswerPlace) {
    self.init(
      topic: place.topic, transaction: place.transaction,
      lifetime: place.lifetime ?? Envelope.requestLifetime)
  }
}

extension WireTime {
  /// Whole seconds since 1970.
  fileprivate var seconds: Int64 { milliseconds / 1_000 }
}
