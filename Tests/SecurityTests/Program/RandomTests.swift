// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

@Suite struct RandomTests {
  @Test(arguments: [0, 1, 7, 32, 100_000])
  func asManyBytesAsAskedForAreFilled(_ count: Int) {
    var bytes = [UInt8](repeating: 0, count: count + 16)
    let status = bytes.withUnsafeMutableBytes {
      SecRandomCopyBytes(kSecRandomDefault, count, $0.baseAddress!)
    }
    #expect(status == errSecSuccess)
    #expect(bytes[count...].allSatisfy { $0 == 0 }, "not one more")
    // 32 zeros at once come once in 2^256 calls.
    if count >= 32 { #expect(bytes[..<count].contains { $0 != 0 }) }
  }

  @Test func twoCallsDiffer() {
    func random() -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: 32)
      SecRandomCopyBytes(kSecRandomDefault, bytes.count, &bytes)
      return bytes
    }
    let (one, other) = (random(), random())
    #expect(one != other)
  }

  @Test func aNegativeCountIsRefused() {
    var byte: UInt8 = 7
    #expect(SecRandomCopyBytes(nil, -1, &byte) == errSecParam)
    #expect(byte == 7)
  }
}
