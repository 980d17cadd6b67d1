import Broker
import Home
import HomeStore
import SodiumCrypto
import Synchronization
import ThreadRequests

/// Opens requests and seals answers, for enrolled users only: never to a key that came with a request.
package struct SealedExchange: Sendable {
  /// The daemon's own keys. Nil while nobody has needed any, or when they are damaged.
  package let identity: Identity?
  private let keys: EnrolledKeys

  package init(_ identity: Identity?) { self.init(identity, EnrolledKeys()) }

  private init(_ identity: Identity?, _ keys: EnrolledKeys) {
    self.identity = identity
    self.keys = keys
  }

  /// With other keys of the daemon; what was read of clients stays known.
  package func with(_ identity: Identity?) -> SealedExchange { SealedExchange(identity, keys) }

  /// Where an answer belongs: its envelope is bound to it.
  package struct Place: Sendable {
    /// The whole topic that it is published on.
    package var topic: String
    /// That of the request.
    package var transaction: String?
    /// Seconds, at most 300.
    package var lifetime = Envelope.requestLifetime

    func place(at now: WireTime) -> Envelope.Place {
      // The request's transaction, so that the client takes no older answer for this one.
      let isIdentifier = (1...Envelope.identifierLimit).contains(transaction?.utf8.count ?? 0)
      let identifier = isIdentifier ? transaction : nil
      return Envelope.Place(
        topic: topic, order: .identifier(identifier ?? Base64.encode(RandomBytes.make(12), .urlSafe)),
        now: now.unixSeconds, lifetime: lifetime)
    }
  }

  /// Of the key that secrets are sealed to for this user; nil where none can be sent.
  package func fingerprint(of user: ExactName, in home: Home) -> String? {
    guard identity != nil, let client = home.clients[user], !client.isRevoked else { return nil }
    return client.fingerprint
  }

  /// Whether what this user sends in plaintext does not count.
  package func requiresSeal(of user: ExactName, in home: Home) -> Bool { home.clients[user]?.trust == .signed }

  /// The public keys of a client.
  ///
  /// - Throws: `not_enrolled`, `damaged_enrolment`.
  package func keys(of user: ExactName, in home: Home) throws(AnswerFailure) -> PublicIdentity {
    guard let client = home.clients[user], !client.isRevoked else { throw .clientNotEnrolled }
    return try keys.read(client.line)
  }

  /// The body of a request, once. It needs an `id`.
  ///
  /// - Throws: `AnswerFailure` with the code of the envelope's own rules, see docs/reference/mqtt-protocol.md.
  package func open(
    _ sealed: SealedText, from user: ExactName, in home: Home, topic: String, _ requests: inout SealedRequests,
    at now: WireTime
  ) throws(AnswerFailure) -> [UInt8] {
    guard let identity else { throw .noKeys }
    let keys = try keys(of: user, in: home)
    let opened: OpenedEnvelope
    do throws(EnvelopeRefusal) {
      opened = try Envelope.open(sealed, with: identity, from: [keys], topic: topic, now: now.unixSeconds)
    } catch { throw AnswerFailure(error) }
    guard case .identifier(let identifier) = opened.order, let expires = opened.expiresAt else {
      throw AnswerFailure(EnvelopeRefusal.notAnEnvelope)
    }
    switch requests.take(identifier, of: opened.issuer, ends: expires + Envelope.skew, now: now.unixSeconds) {
    case .news: return opened.body
    case .replayed: throw AnswerFailure(EnvelopeRefusal.replayed)
    case .forgotten: throw AnswerFailure(EnvelopeRefusal.expired)
    case .full:
      throw AnswerFailure(.rateLimited, field: "sealed", "too many sealed requests of this user within a minute")
    }
  }

  /// An envelope for the enrolled key of a user.
  ///
  /// - Parameter body: the text of a JSON object.
  package func seal(_ body: [UInt8], to user: ExactName, in home: Home, at place: Place, now: WireTime)
    throws(AnswerFailure) -> SealedText
  {
    guard let client = home.clients[user], !client.isRevoked else { throw .noKey }
    guard let identity else { throw .noKeys }
    let keys = try keys.read(client.line)
    do throws(SealingError) { return try Envelope.seal(body, to: keys, from: identity, at: place.place(at: now)) } catch
    {
      if error == .tooLarge { throw .tooLargeToSeal }
      throw AnswerFailure(.store, error.message)
    }
  }

  /// The most credentials that could fit into an envelope.
  ///
  /// How long each dataset is stands in no summary. The shortest are counted, so that a person is asked about nothing
  /// that cannot be sent then; the exact size counts when the answer is sealed.
  package static func mostCredentials(at place: Place, now: WireTime) -> Int {
    Envelope.room(at: place.place(at: now)) / 400
  }
}

/// The keys of enrolment lines, each read once: reading one takes arithmetic on curves.
private final class EnrolledKeys: Sendable {
  /// More than any home has.
  private static let most = 10_000

  private let known = Mutex<[String: PublicIdentity]>([:])

  func read(_ line: String) throws(AnswerFailure) -> PublicIdentity {
    if let keys = known.withLock({ $0[line] }) { return keys }
    guard let keys = try? PublicIdentity(line: line) else { throw .damagedEnrolment }
    known.withLock {
      if $0.count >= Self.most { $0.removeAll() }
      $0[line] = keys
    }
    return keys
  }
}

extension AnswerFailure {
  static let clientNotEnrolled = AnswerFailure(
    .notEnrolled, field: "sealed", "nobody is enrolled for this user; `threadkeeper clients enroll` does it")
}

extension WireTime {
  /// Whole seconds since 1970.
  var unixSeconds: Int64 { milliseconds / 1_000 }
}
