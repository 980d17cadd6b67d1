// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadDataset

@Suite("Border Agent ID")
struct BorderAgentIDTests {
  @Test("8 and 16 bytes are identities; the long form with zeros is the short one")
  func lengths() throws {
    let short = try #require(BorderAgentID(hex: "A1B2C3D4E5F60718"))
    #expect(short.description == "a1b2c3d4e5f60718")
    #expect(BorderAgentID(hex: "a1b2c3d4e5f607180000000000000000") == short)
    let long = try #require(BorderAgentID(hex: "8facafc7a82f06fcc1c5920216206f30"))
    #expect(long.bytes.count == 16)
    #expect(long.description == "8facafc7a82f06fcc1c5920216206f30")
    #expect(BorderAgentID(hex: "00000000000000000000000000000001")?.bytes.count == 16)
    #expect(BorderAgentID(bytes: long.bytes[..<8])?.bytes.count == 8)
  }

  @Test(
    "Anything else is none",
    arguments: [
      "", "a1", "a1b2c3d4e5f607", "a1b2c3d4e5f60718a1", "x1b2c3d4e5f60718", " a1b2c3d4e5f6071",
    ])
  func refused(hex: String) {
    #expect(BorderAgentID(hex: hex) == nil)
  }
}
