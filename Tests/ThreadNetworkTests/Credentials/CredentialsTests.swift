import Foundation
import TestKit
import Testing

@testable import ThreadNetwork

struct CredentialsTests {
  private func sample(_ change: (inout CredentialValues) -> Void = { _ in }) throws -> THCredentials {
    var values = CredentialValues(
      networkName: "home", extendedPANID: SampleNetwork.home.id, borderAgentID: Agents.kitchen,
      activeOperationalDataSet: try SampleNetwork.home.bytes(), networkKey: Data(hex: SampleNetwork.home.networkKey),
      pskc: Data(hex: SampleNetwork.home.pskc), panID: Data([0x12, 0x34]), channel: 15,
      creationDate: Date(timeIntervalSince1970: 1), lastModificationDate: nil)
    change(&values)
    return THCredentials(values)
  }

  @Test("Equal values are equal objects, in sets too; every other value makes another") func equality() throws {
    #expect(try sample() == sample())
    #expect(try Set([sample(), sample()]).count == 1)
    #expect(try sample().hash == sample().hash)
    let changes: [(inout CredentialValues) -> Void] = [
      { $0.networkName = nil }, { $0.extendedPANID = Data() }, { $0.borderAgentID = nil },
      { $0.activeOperationalDataSet = nil }, { $0.networkKey = Data(count: 16) }, { $0.pskc = nil },
      { $0.panID = Data([0, 0]) }, { $0.channel = 16 }, { $0.creationDate = nil }, { $0.lastModificationDate = Date() },
    ]
    for (index, change) in changes.enumerated() { #expect(try sample() != sample(change), "\(index)") }
    #expect(try !sample().isEqual("home"))
    #expect(try !sample().isEqual(nil))
  }

  @Test("A channel that is changed in a set does not lose the object") func channel() throws {
    let credentials = try sample()
    let set: Set = [credentials]
    credentials.channel = 26
    #expect(set.contains(credentials))
    #expect(try !set.contains(sample()))
    #expect(set.first?.channel == 26)
  }

  @Test("Nothing that prints it shows a secret") func secrecy() throws {
    let credentials = try sample()
    var dumped = ""
    dump(credentials, to: &dumped)
    let printed = "\(credentials) \(String(reflecting: credentials)) \(dumped) \([credentials])"
    #expect(printed.contains("0000000000000001"))
    for secret in [SampleNetwork.home.networkKey, SampleNetwork.home.pskc] {
      #expect(!printed.contains(secret))
      #expect(!printed.contains(Data(hex: secret).base64EncodedString()))
      #expect(!printed.contains("\(Array(Data(hex: secret)))"))
    }
  }

  @Test("An archive brings back all values, and what is none gives nothing") func archive() throws {
    for credentials in [try sample(), THCredentials(CredentialValues())] {
      let archive = try NSKeyedArchiver.archivedData(withRootObject: credentials, requiringSecureCoding: true)
      let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: THCredentials.self, from: archive)
      #expect(read == credentials)
    }
  }
}
