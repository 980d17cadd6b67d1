// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import Testing

@Suite struct RandomTests {
  @Test(arguments: [0, 1, 7, 32, 100_000])
  func asManyOctetsAsAskedForAreFilled(_ count: Int) {
    var octets = [UInt8](repeating: 0, count: count + 16)
    let status = octets.withUnsafeMutableBytes {
      SecRandomCopyBytes(kSecRandomDefault, count, $0.baseAddress!)
    }
    #expect(status == errSecSuccess)
    #expect(octets[count...].allSatisfy { $0 == 0 }, "not one more")
    // 32 zeros at once come once in 2^256 calls.
    if count >= 32 { #expect(octets[..<count].contains { $0 != 0 }) }
  }

  @Test func twoCallsDiffer() {
    func random() -> [UInt8] {
      var octets = [UInt8](repeating: 0, count: 32)
      SecRandomCopyBytes(kSecRandomDefault, octets.count, &octets)
      return octets
    }
    let (one, other) = (random(), random())
    #expect(one != other)
  }

  @Test func aNegativeCountIsRefused() {
    var octet: UInt8 = 7
    #expect(SecRandomCopyBytes(nil, -1, &octet) == errSecParam)
    #expect(octet == 7)
  }
}
