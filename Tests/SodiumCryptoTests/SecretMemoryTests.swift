import Foundation
import SodiumCrypto
import Testing

@Suite struct SecretMemoryTests {
  @Test func aSecretIsPrintedByItsLengthOnly() {
    let secret = SecretBytes(copying: Array("swordfish".utf8))
    #expect("\(secret)" == "<9 bytes>")
    #expect(String(reflecting: secret) == "<9 bytes>")
    #expect("\([secret])" == "[<9 bytes>]")
    var dumped = ""
    dump(secret, to: &dumped)
    #expect(!dumped.contains("115") && !dumped.contains("swordfish"))
  }

  @Test func secretsAreEqualByTheirBytes() {
    #expect(SecretBytes(copying: [1, 2, 3]) == SecretBytes(copying: [1, 2, 3]))
    #expect(SecretBytes(copying: [1, 2, 3]) != SecretBytes(copying: [1, 2, 4]))
    #expect(SecretBytes(copying: [1, 2, 3]) != SecretBytes(copying: [1, 2]))
    #expect(SecretBytes(copying: []) == SecretBytes(copying: []))
    #expect(SecretBytes(random: 32) != SecretBytes(random: 32))
  }

  @Test func aSecretKeepsOnlyWhatWasFilled() {
    let secret = SecretBytes(capacity: 64) { memory in
      memory[0] = 7
      memory[1] = 8
      return 2
    }
    #expect(secret.count == 2)
    #expect(secret.withUnsafeBytes { Array($0) } == [7, 8])
  }

  @Test func keysOfAnArenaAreApart() throws {
    let arena = KeyArena()
    // More than one region holds.
    let keys = try (0..<300).map { number in
      try arena.key { memory in for position in memory.indices { memory[position] = UInt8(number % 251) } }
    }
    for (number, key) in keys.enumerated() {
      let bytes = key.withUnsafeBytes { Array($0) }
      #expect(bytes == Array(repeating: UInt8(number % 251), count: 32))
    }
  }

  @Test func aReleasedKeyIsZeroedAndItsPlaceUsedAgain() throws {
    let arena = KeyArena()
    var address: UnsafeRawPointer?
    do {
      let key = try arena.randomKey()
      address = key.withUnsafeBytes { $0.baseAddress }
    }
    let place = try #require(address)
    #expect(UnsafeRawBufferPointer(start: place, count: 32).allSatisfy { $0 == 0 })
    let next = try arena.randomKey()
    #expect(next.withUnsafeBytes { $0.baseAddress } == place)
    #expect("\(next)" == "<32 bytes>")
  }

  @Test func anArenaServesManyThreads() async throws {
    let arena = KeyArena()
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          (0..<500).allSatisfy { _ in
            guard
              let key = try? arena.key(initializing: {
                _ = $0.initializeMemory(as: UInt8.self, repeating: UInt8(number))
              })
            else { return false }
            return key.withUnsafeBytes { $0.allSatisfy { $0 == UInt8(number) } }
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }

  @Test(arguments: [0, 1, 62, 63, 64, 65, 127, 128, 200]) func paddingComesOffAgain(_ count: Int) throws {
    let padded = Padding.paddedCount(count, block: 64)
    #expect(padded % 64 == 0 && padded > count && padded - count <= 64)
    var bytes = [UInt8](repeating: 0xAA, count: padded)
    bytes.withUnsafeMutableBytes { Padding.pad($0, count: count) }
    #expect(try bytes.withUnsafeBytes { try Padding.unpaddedCount($0, block: 64) } == count)
    #expect(bytes[count...].dropFirst().allSatisfy { $0 == 0 })
  }

  @Test func damagedPaddingIsRefused() {
    let bytes = [UInt8](repeating: 0, count: 64)
    #expect(throws: SodiumError.badPadding) { try bytes.withUnsafeBytes { try Padding.unpaddedCount($0, block: 64) } }
  }

  @Test func scratchMemoryIsWiped() {
    var bytes = Array("secret".utf8)
    wipe(&bytes)
    #expect(bytes == Array(repeating: 0, count: 6))
  }
}

@Suite struct ProcessHardeningTests {
  // In a process of its own: the tests beside it should still leave a trace when they crash.
  @Test func noCoreIsDumpedAfterwards() async {
    await #expect(processExitsWith: .exitCode(3)) {
      try ProcessHardening.forbidCoreDumps()
      exit(ProcessHardening.areCoreDumpsForbidden ? 3 : 4)
    }
  }

  @Test func coreDumpsAreAllowedBefore() { #expect(!ProcessHardening.areCoreDumpsForbidden) }
}

@Suite struct Base64Tests {
  // RFC 4648, section 10.
  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]) func agreesWithTheStandard(_ plain: String, _ text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(Base64.decode(text) == Array(plain.utf8))
    let unpadded = String(text.prefix { $0 != "=" })
    #expect(Base64.encode(Array(plain.utf8), .urlSafe) == unpadded)
    #expect(Base64.decode(unpadded, .urlSafe) == Array(plain.utf8))
  }

  @Test func theAlphabetsDiffer() {
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
    #expect(Base64.encode([0xFB, 0xFF], .urlSafe) == "-_8")
    #expect(Base64.decode("-_8=") == nil)
    #expect(Base64.decode("+/8", .urlSafe) == nil)
  }

  @Test(arguments: ["Zg", "Zg=", "Zh==", "Zg==\n", " Zg==", "Zg==Zg==", "Z===", "Zm9=", "ä"])
  func anyOtherTextIsRefused(_ text: String) { #expect(Base64.decode(text) == nil) }
}
