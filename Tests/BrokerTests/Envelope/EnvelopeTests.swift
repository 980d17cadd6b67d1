import Foundation
import SodiumCrypto
import TestKit
import Testing

@testable import Broker

@Suite struct EnvelopeTests {
  private let daemon: Identity
  private let router: Identity
  private let topic = "threadkeeper/in/router/announce"
  private let body = Array(#"{"border_agent_id":"a1b2c3d4e5f60718","dataset":"0e08aa"}"#.utf8)
  private let now: Int64 = 1_800_000_000

  init() throws {
    daemon = try Identity()
    router = try Identity()
  }

  private func seal(
    _ body: [UInt8]? = nil, to recipient: Identity? = nil, from sender: Identity? = nil, topic: String? = nil,
    order: Envelope.Order = .sequence(7), now: Int64? = nil, lifetime: Int64? = nil
  ) throws -> [UInt8] {
    try Envelope.seal(
      body ?? self.body, to: (recipient ?? daemon).keys, from: sender ?? router,
      at: Envelope.Place(topic: topic ?? self.topic, order: order, now: now ?? self.now, lifetime: lifetime)
    ).json()
  }

  private func open(_ bytes: [UInt8], with reader: Identity? = nil, now: Int64? = nil) throws -> OpenedEnvelope {
    try Envelope.open(bytes, with: reader ?? daemon, from: [router.keys], topic: topic, now: now ?? self.now)
  }

  private func refusal(_ bytes: [UInt8], now: Int64? = nil) -> EnvelopeRefusal? {
    do {
      _ = try open(bytes, now: now)
      return nil
    } catch { return error as? EnvelopeRefusal }
  }

  /// An envelope of the router's around what it claims to have signed.
  private func resealed(_ signed: [UInt8], _ signature: String) throws -> [UInt8] {
    try Envelope.seal(
      inside: Array(#"{"signed":"\#(Base64.encode(signed))","sig":"\#(signature)"}"#.utf8), to: daemon.keys
    ).json()
  }

  /// An envelope around claims of the test's own.
  private func sealed(claims: String, signer: Identity? = nil) throws -> [UInt8] {
    try Envelope.seal(signed: Array(claims.utf8), to: daemon.keys, from: signer ?? router).json()
  }

  private func claims(aud: String? = nil, iss: String? = nil, rest: String = #""seq":1,"#, body: String = "{}")
    -> String
  {
    #"{"aud":"\#(aud ?? daemon.keys.sealingHash)","iss":"\#(iss ?? router.keys.signingHash)","#
      + #""topic":"\#(topic)",\#(rest)"iat":\#(now),"body":\#(body)}"#
  }

  @Test func whatIsSealedOpensAsItWas() throws {
    let opened = try open(seal(order: .sequence(.max)))
    #expect(opened.body == body)
    #expect(opened.issuer == router.keys)
    #expect(opened.order == .sequence(.max))
    #expect(opened.issuedAt == now)
    #expect(opened.expiresAt == nil)
    let answer = try open(seal(order: .identifier("r-17"), lifetime: 30))
    #expect(answer.order == .identifier("r-17"))
    #expect(answer.expiresAt == now + 30)
  }

  @Test func theFormIsTheOneThatIsDocumented() throws {
    let object = try #require(try JSONSerialization.jsonObject(with: Data(seal())) as? [String: Any])
    #expect(Set(object.keys) == ["v", "typ", "alg", "kid", "ct"])
    #expect(object["v"] as? Int == 1 && object["typ"] as? String == "sealed")
    #expect(object["alg"] as? String == "x25519-xsalsa20-poly1305-seal")
    let hash = try BLAKE2b.hash256(daemon.keys.sealingKey)
    #expect(object["kid"] as? String == hash.prefix(8).map { String(format: "%02x", $0) }.joined())
  }

  @Test func everyAlteredByteIsRefused() throws {
    let bytes = try seal()
    for position in bytes.indices {
      for flip: UInt8 in [0x01, 0x20, 0x80] {
        var altered = bytes
        altered[position] ^= flip
        #expect(refusal(altered) != nil, "byte \(position) flipped by \(flip)")
      }
      #expect(refusal(Array(bytes.prefix(position))) != nil)
    }
  }

  @Test func everyAlteredByteOfWhatIsSignedIsRefused() throws {
    let signed = Array(claims(body: String(decoding: body, as: UTF8.self)).utf8)
    let signature = Base64.encode(try router.signing.sign(Envelope.domain + signed))
    #expect(try open(resealed(signed, signature)).body == body)
    for position in signed.indices {
      var altered = signed
      altered[position] ^= 1
      #expect(refusal(try resealed(altered, signature)) != nil)
    }
  }

  @Test(arguments: [
    "", "{}", "[]", "null", "sealed", "\u{0}", #"{"v":1}"#, #"{"typ":"sealed"}"#,
    #"{"v":1,"typ":"open","alg":"x25519-xsalsa20-poly1305-seal","kid":"","ct":""}"#,
    #"{"v":1,"typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal"}"#,
    #"{"v":"1","typ":"sealed","alg":"x25519-xsalsa20-poly1305-seal","kid":"","ct":""}"#,
    String(repeating: "[", count: 16_000),
  ]) func garbageIsNoEnvelope(_ text: String) { #expect(refusal(Array(text.utf8)) == .notAnEnvelope) }

  private func altered(_ name: String, _ value: Any) throws -> [UInt8] {
    var object = try #require(try JSONSerialization.jsonObject(with: Data(seal())) as? [String: Any])
    object[name] = value
    return try Array(JSONSerialization.data(withJSONObject: object))
  }

  @Test func theOutsideIsRefusedByName() throws {
    #expect(refusal(try altered("v", 2)) == .unsupportedVersion)
    #expect(refusal(try altered("alg", "none")) == .unsupportedAlgorithm)
    #expect(refusal(try altered("kid", "0123456789abcdef")) == .unknownKeyID)
    #expect(refusal(try altered("kid", daemon.keys.keyID.uppercased())) == .unknownKeyID)
    #expect(refusal(try altered("ct", "AAAA")) == .cannotOpen)
    #expect(refusal(try altered("ct", "no base64")) == .notAnEnvelope)
    #expect(refusal([UInt8](repeating: 0x20, count: Envelope.limit + 1)) == .tooLarge)
  }

  @Test func anotherKeyDoesNotOpen() throws {
    let untrusted = try Identity()
    let bytes = try seal(to: untrusted)
    #expect(refusal(bytes) == .unknownKeyID)
    // The same, but says that it is for the daemon.
    let text = String(decoding: bytes, as: UTF8.self).replacingOccurrences(
      of: untrusted.keys.keyID, with: daemon.keys.keyID)
    #expect(refusal(Array(text.utf8)) == .cannotOpen)
  }

  @Test func onlyTheEnrolledAreBelieved() throws {
    let untrusted = try Identity()
    #expect(refusal(try seal(from: untrusted)) == .unknownIssuer)
    // Signed with a key that is not enrolled, in the router's name.
    #expect(refusal(try sealed(claims: claims(), signer: untrusted)) == .badSignature)
  }

  @Test func aSignatureServesForNothingElse() throws {
    let signed = Array(claims().utf8)
    let signature = Base64.encode(try router.signing.sign(signed))
    #expect(refusal(try resealed(signed, signature)) == .badSignature)
  }

  @Test func whoOpensAnEnvelopeCannotPassItOn() throws {
    let reader = try Identity()
    #expect(refusal(try sealed(claims: claims(aud: reader.keys.sealingHash))) == .wrongAudience)
  }

  @Test func anEnvelopeStaysOnItsTopic() throws {
    #expect(refusal(try seal(topic: "threadkeeper/in/other/announce")) == .wrongTopic)
    #expect(refusal(try seal(topic: topic + "/")) == .wrongTopic)
  }

  @Test func timeIsJudgedWithTheAllowance() throws {
    let bytes = try seal(order: .identifier("a"), lifetime: 30)
    #expect(refusal(bytes, now: now + 30 + Envelope.skew - 1) == nil)
    #expect(refusal(bytes, now: now + 30 + Envelope.skew) == .expired)
    #expect(refusal(bytes, now: now - Envelope.skew) == nil)
    #expect(refusal(bytes, now: now - Envelope.skew - 1) == .notYetValid)
    // Events wait for as long as need be.
    #expect(refusal(try seal(), now: now + 10_000_000) == nil)
    #expect(refusal(try seal(), now: now - Envelope.skew - 1) == .notYetValid)
  }

  @Test(arguments: [
    "", #""seq":1,"id":"a","exp":1800000030,"#, #""id":"a","#, #""seq":-1,"#, #""seq":1.5,"#,
    #""id":"","exp":1800000030,"#, #""id":"a","exp":1800000301,"#, #""id":"a","exp":1800000000,"#,
    #""seq":1,"exp":-9223372036854775808,"#, #""seq":1,"body":{},"#,
  ]) func claimsThatAreNotSoundAreRefused(_ rest: String) throws {
    #expect(refusal(try sealed(claims: claims(rest: rest))) == .notAnEnvelope)
  }

  @Test(arguments: ["[]", "1", #""text""#, "null", "{", "{}}"]) func aBodyIsAnObject(_ text: String) throws {
    #expect(refusal(try sealed(claims: claims(body: text))) == .notAnEnvelope)
    #expect(throws: SealingError.notAnObject) { try seal(Array(text.utf8)) }
  }

  @Test func lengthsTellLittle() throws {
    func length(_ digits: Int) throws -> Int {
      try seal(
        Array(
          (#"{"border_agent_id":"a1b2c3d4e5f60718","dataset":""# + String(repeating: "0e", count: digits) + #""}"#).utf8
        )
      ).count
    }
    #expect(try length(0) == length(254))
    #expect(try seal(Array("{}".utf8)).count == seal(Array(#"{"name":"A longer one"}"#.utf8)).count)
  }

  @Test func whatDoesNotFitIsNotSealed() throws {
    let long = Array((#"{"name":""# + String(repeating: "a", count: 16_000) + #""}"#).utf8)
    #expect(throws: SealingError.tooLarge) { try seal(long) }
    #expect(throws: SealingError.badOrder) { try seal(order: .identifier("a")) }
    #expect(throws: SealingError.badOrder) {
      try seal(order: .identifier(String(repeating: "a", count: 129)), lifetime: 30)
    }
    #expect(throws: SealingError.badOrder) { try seal(order: .identifier("a"), lifetime: 301) }
    #expect(throws: SealingError.badOrder) { try seal(lifetime: 0) }
  }

  @Test func nothingSecretIsPrinted() throws {
    let opened = try open(seal())
    #expect(!"\(opened)".contains("dataset"))
    var dumped = ""
    dump(opened, to: &dumped)
    dump(router, to: &dumped)
    // As bytes are dumped; three digits alone may be of a public key.
    let first = "- \(body[0])\n"
    #expect(!dumped.contains("0e08aa") && !dumped.contains(first))
    dump(body, to: &dumped)
    #expect(dumped.contains(first))
  }

  @Test func anyBodyOnAnyTopicComesBack() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<(Soak.triesAll ? 200 : 50) {
      let characters = Array("aä/\"\\{}[],: \u{1F600}0\n")
      func text() -> String { String((0..<Int.random(in: 0...20)).map { _ in characters.randomElement() ?? "a" }) }
      let body = try JSONSerialization.data(withJSONObject: [
        "body": text(), text(): [text(), ["body": text()]], "n": UInt64.random(in: 0...(.max)),
      ])
      let topic = text()
      let order: Envelope.Order = Bool.random() ? .sequence(generator.next()) : .identifier("x" + text())
      let bytes = try Envelope.seal(
        Array(body), to: daemon.keys, from: router, at: .init(topic: topic, order: order, now: now, lifetime: 30)
      ).json()
      let opened = try Envelope.open(bytes, with: daemon, from: [daemon.keys, router.keys], topic: topic, now: now)
      #expect(opened.body == Array(body))
      #expect(opened.order == order)
    }
  }

  @Test func roomIsWhatCanBeSealedAndNotOneByteMore() throws {
    let places: [(String, Envelope.Order, Int64?)] = [
      (topic, .sequence(7), nil), ("t/é/\"/x", .identifier("a/b\"\u{1}"), 30),
      (String(repeating: "t", count: 1_024), .identifier(String(repeating: "i", count: 128)), 300),
    ]
    for (topic, order, lifetime) in places {
      let room = Envelope.room(at: .init(topic: topic, order: order, now: now, lifetime: lifetime))
      #expect(room > 4_096)
      let frame = #"{"a":""}"#.utf8.count
      func text(_ count: Int) -> [UInt8] {
        Array((#"{"a":""# + String(repeating: "x", count: count - frame) + #""}"#).utf8)
      }
      let fits = try seal(text(room), topic: topic, order: order, lifetime: lifetime)
      #expect(fits.count <= Envelope.limit)
      #expect(throws: SealingError.tooLarge) {
        try seal(text(room + 1), topic: topic, order: order, lifetime: lifetime)
      }
    }
  }
}
