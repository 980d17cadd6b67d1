// SPDX-License-Identifier: Apache-2.0

import FuzzTargets
import Security
import Testing

extension OwnKeychain {
  @Suite struct FuzzSeedTests {
    @Test("The fuzz target of Keychain Services takes its seeds whole, cut and changed")
    func seeds() throws {
      try SecItemFuzz.bootstrap()
      defer { LinuxKeychain.close() }
      for (name, bytes) in try Seeds.variants(of: .secitem) {
        #expect(throws: Never.self, "\(name)") { try FuzzTarget.secitem.check(bytes) }
      }
    }
  }
}
