import Broker
import SodiumCrypto
import Testing

@Suite struct IdentityTests {
  @Test func anIdentityComesBackFromItsSecrets() throws {
    let identity = try Identity()
    let again = try Identity(secrets: identity.secrets)
    #expect(again.keys == identity.keys)
    #expect(try Identity().keys != identity.keys)
    #expect(throws: SodiumError.wrongLength(expected: 64, found: 63)) {
      _ = try Identity(secrets: SecretBytes(random: 63))
    }
  }

  @Test func aLineComesBack() throws {
    let keys = try Identity().keys
    #expect(keys.line.hasPrefix("tk1:"))
    #expect(keys.line.utf8.count == 4 + 86 + 1 + 8)
    let again = try PublicIdentity(line: "  \(keys.line)\n")
    #expect(again == keys)
    #expect(again.fingerprint == keys.fingerprint)
  }

  // From the keys of Python's cryptography and the BLAKE2b of its hashlib.
  @Test func theFormsAreTheDocumentedOnes() throws {
    let identity = try Identity(secrets: SecretBytes(copying: Array(0..<64)))
    #expect(
      identity.keys.line == "tk1:j0DFrbaPJWJK5bIU6nZ6bslNgp09e14a0bpvPiE4KF8"
        + "prLrhQbzK8LIuGpTTTQvHNh5SbQv-EsiXlLyTIpZt1w:eb599c63")
    #expect(identity.keys.fingerprint == "eb59-9c63-2893-2fda-e487-4523-e835-a644")
  }

  @Test func everyMistypedCharacterShows() throws {
    let line = Array(try Identity().keys.line.utf8)
    for position in line.indices {
      var altered = line
      altered[position] = altered[position] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
      #expect(throws: EnrolmentLineError.self) {
        _ = try PublicIdentity(line: String(decoding: altered, as: UTF8.self))
      }
    }
  }

  @Test func otherTextsAreRefusedByName() throws {
    let line = try Identity().keys.line
    func refusal(_ text: String) -> EnrolmentLineError? {
      do throws(EnrolmentLineError) {
        _ = try PublicIdentity(line: text)
        return nil
      } catch { return error }
    }
    #expect(refusal("") == .notALine)
    #expect(refusal("ssh-ed25519 AAAA") == .notALine)
    #expect(refusal("\(line) \(line)") == .notALine)
    #expect(refusal("tk2" + line.dropFirst(3)) == .unsupportedVersion)
    #expect(refusal(String(line.dropLast())) == .wrongCheck)
    let zeros = Base64.encode([UInt8](repeating: 0, count: 64), .urlSafe)
    #expect(refusal("tk1:\(zeros):00000000") == .unusableKey)
  }
}
