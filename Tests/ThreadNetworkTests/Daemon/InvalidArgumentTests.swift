import Foundation
import TestKit
import Testing
import ThreadDataset

@Suite("Arguments that are none", .timeLimit(.minutes(30))) struct InvalidArgumentTests {
  private let place: OwnPlace

  init() throws { place = try OwnPlace() }

  @Test("A dataset that is refused: the error names the rule, the TLV and its offset") func dataset() async throws {
    let client = place.client()
    var codes: Set<String> = []
    for vector in try DatasetVectors.all() {
      guard vector.expect != "not_hex" else { continue }
      let bytes = Array(Data(hex: vector.hex))
      let error = await failure {
        try await client.storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: Data(bytes))
      }
      guard let expected = Self.refusal(of: bytes) else {
        #expect(vector.expect != "complete" || error == nil, "\(vector.id)")
        #expect(vector.expect != "pending" || error?.reason == .invalidDataset, "\(vector.id)")
        continue
      }
      codes.insert(expected.code.rawValue)
      #expect(error?.reason == .invalidDataset, "\(vector.id)")
      #expect(error?.answerCode == vector.expect, "\(vector.id)")
      #expect(error?.tlv == expected.tlvName)
      #expect(error?.offset == expected.offset)
      let words = error?.localizedDescription ?? ""
      #expect(words.contains(vector.expect) && words.contains("byte \(expected.offset)"))
    }
    #expect(codes.count >= 6)
  }

  private static func refusal(of bytes: [UInt8]) -> DatasetError? {
    do throws(DatasetError) {
      try OperationalDataset(bytes: bytes).requireComplete()
      return nil
    } catch { return error }
  }

  @Test("No error holds a byte of the dataset's secrets") func secrecy() async throws {
    var bytes = try SampleNetwork.home.bytes()
    bytes.removeLast()
    let error = await failure {
      try await place.client().storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: bytes)
    }
    let words = "\(String(describing: error)) \(String(reflecting: error)) \(error?.userInfo ?? [:])"
    for secret in [SampleNetwork.home.networkKey, SampleNetwork.home.pskc] {
      #expect(!words.lowercased().contains(secret))
    }
    #expect(words.contains("truncated"))
  }

  @Test("Ids of a wrong length are refused, whatever the call; nothing is false for them") func lengths() async throws {
    let client = place.client()
    let dataset = try SampleNetwork.home.bytes()
    for count in [0, 7, 9, 15, 17] {
      let id = Data(count: count)
      let calls: [() async throws -> Void] = [
        { _ = try await client.credentials(forBorderAgentID: id) },
        { try await client.deleteCredentials(forBorderAgent: id) },
        { try await client.storeCredentials(forBorderAgent: id, activeOperationalDataSet: dataset) },
        { _ = try await client.credentials(forExtendedPANID: id) },
        { try await client.enableCredentialSharingMode(forExtendedPANID: id) },
      ]
      for call in calls {
        let error = await failure(call)
        #expect(error?.reason == .invalidArgument)
        #expect(error?.localizedDescription.contains("\(count)") == true)
      }
      #expect(await !client.isPreferred(forActiveOperationalDataset: id))
    }
    #expect(!FileManager.default.fileExists(atPath: place.storePath))
  }
}
