import Testing
import ThreadNetwork

// No other import: as on Apple's systems Foundation comes with ThreadNetwork.

@Test("A file that imports ThreadNetwork has Data, Date and NSError") func soleImport() {
  let credentials: Set<THCredentials> = []
  #expect(!credentials.contains { $0.creationDate.map { $0 >= Date() } ?? false })
  #expect(Data("a".utf8) == Data([0x61]))
  let error: any Error = NSError(domain: THErrorDomain, code: 9)
  #expect((error as NSError).code == 9)
}
