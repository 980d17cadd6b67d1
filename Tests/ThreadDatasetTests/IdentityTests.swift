// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Identities and prefixes")
struct IdentityTests {
  @Test("An Extended PAN ID has 8 bytes")
  func extendedPANID() {
    #expect(ExtendedPANID(hex: "00000000DEADBEEF")?.description == "00000000deadbeef")
    #expect(ExtendedPANID(hex: "deadbeef") == nil)
    #expect(ExtendedPANID(bytes: [1, 2, 3, 4, 5, 6, 7, 8])?.bytes == [1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test(
    "A Mesh-Local Prefix reads as an IPv6 prefix",
    arguments: [
      ("fdad70bfe5aa15dd", "fdad:70bf:e5aa:15dd::/64"), ("fd00000000000000", "fd00::/64"),
      ("fd00000000000001", "fd00:0:0:1::/64"), ("fd0000a000010000", "fd00:a0:1::/64"),
    ])
  func meshLocalPrefix(hex: String, text: String) {
    #expect(MeshLocalPrefix(hex: hex)?.ipv6Text == text)
    #expect(MeshLocalPrefix(hex: hex)?.description == hex)
    #expect(MeshLocalPrefix(hex: "fe" + hex.dropFirst(2)) == nil)
  }
}
