// SPDX-License-Identifier: Apache-2.0

import TestKit
import Testing
import ThreadDataset

@testable import ThreadCredentialStore

@Suite("Fingerprint of a network key")
struct NetworkKeyFingerprintTests {
  private let home = SampleNetwork.home
  private let other = SampleNetwork.home.with { $0.networkKey = "00000000000000000000000000000001" }

  @Test("A fingerprint depends only on the network key and the Extended PAN ID")
  func dependsOnKey() throws {
    let fingerprint = try #require(NetworkKeyFingerprint.make(of: home.dataset(at: 1)))
    #expect(fingerprint.count == 32 && fingerprint.allSatisfy(\.isHexDigit))
    let changed = home.with { $0.channel = 20 }
    #expect(try NetworkKeyFingerprint.make(of: changed.dataset(at: 9)) == fingerprint)
    #expect(try NetworkKeyFingerprint.make(of: other.dataset(at: 1)) != fingerprint)
    let elsewhere = home.with { $0.extendedPANID = "3333333344444444" }
    #expect(try NetworkKeyFingerprint.make(of: elsewhere.dataset(at: 1)) != fingerprint)
  }

  @Test("A fingerprint contains no part of the network key")
  func hidesKey() throws {
    let fingerprint = try #require(NetworkKeyFingerprint.make(of: home.dataset(at: 1)))
    #expect(!fingerprint.contains(home.networkKey.prefix(8)))
    #expect(!home.networkKey.contains(fingerprint.prefix(8)))
  }
}
