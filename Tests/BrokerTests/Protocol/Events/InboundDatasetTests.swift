// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@Suite("Datasets in events")
struct InboundDatasetTests {
  private static let kinds = [InboundEventKind.announce, .dataset, .credentials]

  @Test(
    "A malformed vector is refused with its code and place, and shows nothing", arguments: kinds)
  func malformed(kind: InboundEventKind) throws {
    for vector in try DatasetVectors.all() where !["complete", "pending"].contains(vector.expect) {
      let payload = try Samples.payload(kind, ["dataset": vector.hex])
      let rejection = try Samples.rejection(of: payload, as: kind)
      let error = try #require(datasetError(of: vector.hex))
      #expect(rejection.code == vector.expect, "\(vector.id)")
      #expect(rejection.field == "dataset")
      #expect(rejection.offset == error.offset)
      #expect(rejection.tlv == error.tlvName)
      #expect(!rejection.message.isEmpty)
      expectNothing(of: vector.hex, in: rejection)
    }
  }

  @Test("A pending dataset is refused: it is not in effect yet", arguments: kinds)
  func pending(kind: InboundEventKind) throws {
    let vector = try #require(try DatasetVectors.all().first { $0.expect == "pending" })
    let payload = try Samples.payload(kind, ["dataset": vector.hex])
    let rejection = try Samples.rejection(of: payload, as: kind)
    #expect(rejection.code == "incomplete_dataset")
    #expect(rejection.field == "dataset")
    #expect(rejection.message.contains("pending"))
    expectNothing(of: vector.hex, in: rejection)
  }

  @Test("An empty dataset is an incomplete one")
  func empty() throws {
    let rejection = try Samples.rejection(of: try Samples.payload(.dataset, ["dataset": ""]))
    #expect(rejection.code == "missing_tlv")
    #expect(rejection.offset == 0)
  }

  private func datasetError(of hex: String) -> DatasetError? {
    do {
      try OperationalDataset(hex: hex).requireComplete()
      return nil
    } catch {
      return error
    }
  }

  /// No eight digits of the payload in anything that a rejection shows.
  private func expectNothing(of hex: String, in rejection: Rejection) {
    let shown = Samples.texts(of: rejection).lowercased()
    let digits = Array(hex.lowercased())
    guard digits.count >= 8 else { return }
    for start in 0...digits.count - 8 {
      let part = String(digits[start..<start + 8])
      guard part != "00000000" else { continue }
      if shown.contains(part) { Issue.record("\(part) is shown: \(shown)") }
    }
  }
}
