// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Network keys")
struct NetworkKeyTests {
  @Test("Keys of public vectors are well known", arguments: Samples.soundVectors)
  func publicVectors(vector: Samples.Vector) throws {
    #expect(try OperationalDataset(hex: vector.hex).networkKey?.isWellKnown == true)
  }

  @Test("Trivial keys are well known, a made one is not")
  func others() throws {
    #expect(NetworkKey(bytes: Array(repeating: 0, count: 16))?.isWellKnown == true)
    #expect(NetworkKey(bytes: Array(repeating: 0xFF, count: 16))?.isWellKnown == true)
    #expect(NetworkKey(hex: "00112233445566778899aabbccddeefe")?.isWellKnown == false)
    #expect(try OperationalDataset(hex: Samples.realRouterHex).networkKey?.isWellKnown == false)
    #expect(NetworkKey(hex: "0011") == nil)
    #expect(PSKc(bytes: Array(repeating: 0, count: 17)) == nil)
  }
}
