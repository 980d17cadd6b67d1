import SodiumCrypto
import Testing

@testable import KeychainCore

/// Values of requests that are stored or handed out, and must read the same for ever.
@Suite struct RequestValueTests {
  @Test func aPersistentReferenceHasTwentyEightBytes() throws {
    let id = ItemID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10)
    let reference = ItemReference(.stored(.internetPassword), rowID: 258, id: id)
    let bytes: [UInt8] = Array("inet".utf8) + [0, 0, 0, 0, 0, 0, 1, 2] + (1...16)
    #expect(reference.bytes == bytes)
    #expect(try ItemReference(decoding: bytes) == reference)
    let identity = ItemReference(.identity, rowID: -1, id: id)
    #expect(try ItemReference(decoding: identity.bytes) == identity)
  }

  @Test(arguments: [
    [], Array("genp".utf8), Array("zzzz".utf8) + Array(repeating: 0, count: 24),
    Array("genp".utf8) + Array(repeating: 0, count: 25),
  ]) func whatIsNoReferenceIsRefused(_ bytes: [UInt8]) {
    #expect(throws: KeychainError.self) { try ItemReference(decoding: bytes) }
  }

  @Test func anAccessControlHasNineBytes() {
    let control = AccessControl([.userPresence, .privateKeyUsage])
    #expect(control.attribute == .data([1, 0, 0, 0, 0, 0x40, 0, 0, 1]))
    #expect(AccessControl(control.attribute) == control)
  }

  @Test func anAccessControlOfALaterVersionNeedsAPerson() {
    for bytes in [[], [2, 0, 0, 0, 0, 0, 0, 0, 0], [1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
      #expect(AccessControl(.data(bytes)).needsPresence)
    }
    #expect(!AccessControl(.data([1, 0, 0, 0, 0, 0, 0, 0, 0])).needsPresence)
  }

  @Test func everyClassHasItsPrimaryKeyAndItsCode() throws {
    for itemClass in ItemClass.allCases {
      for attribute in itemClass.primaryKey { #expect(itemClass.has(attribute)) }
      #expect(RequestClass(code: itemClass.code) == .stored(itemClass))
    }
    #expect(RequestClass(code: "idnt") == .identity)
    #expect(RequestClass(code: "appl") == nil)
  }

  @Test func aCodeMeansAnAttributeOfTheClassOrNothing() throws {
    let password = RequestClass.stored(.genericPassword)
    let key = RequestClass.stored(.key)
    #expect(try password.attribute(code: "crtr") == .creator)
    #expect(try key.attribute(code: "crtr") == .keyCreator)
    #expect(try key.attribute(code: "type") == .keyType)
    #expect(try RequestClass.identity.attribute(code: "issr") == .issuer)
    #expect(try RequestClass.identity.attribute(code: "klbl") == .applicationLabel)
    for (itemClass, code) in [
      (password, "srvr"), (password, "klbl"), (key, "acct"), (.identity, "acct"), (.stored(.internetPassword), "svce"),
      (.stored(.certificate), "acct"), (password, "zzzz"),
    ] { #expect(throws: KeychainError.self) { try itemClass.attribute(code: code) } }
  }

  @Test func groupsAreTakenOnceAndNeverTheInternalOne() {
    let groups = AccessGroups(["a", "", "threadkeeper.internal", "b", "a"])
    #expect(groups.names == ["a", "b"])
    #expect(AccessGroups(["threadkeeper.internal"]).names.isEmpty)
  }

  @Test func aDescriptionTellsNamesAndNoValues() {
    var request = ItemRequest(.stored(.genericPassword))
    request.attributes = [.account: .string("anna"), .service: .string("mail")]
    request.secret = SecretBytes(copying: Array("hunter2".utf8))
    #expect("\(request)" == "request for genp by [acct svce]")
  }
}
