// SPDX-License-Identifier: Apache-2.0

import Testing
import ThreadNetwork

@Suite("What `import ThreadNetwork` brings")
struct SoleImportTests {
  @Test("A file with no other import has Data, Date and NSError")
  func foundation() {
    #expect(SoleImport.bytes("a") == Data([0x61]))
    #expect(SoleImport.names(of: [], since: Date()) == [])
    #expect(SoleImport.code(of: NSError(domain: THErrorDomain, code: 9)) == 9)
  }
}
