// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@Suite("Datasets in events")
struct InboundDatasetTests {
  private static let kinds = [InboundEventKind.announce, .dataset]

  @Test("The vectors are there")
  func vectors() throws {
    #expect(try DatasetVectors.all().count == 24)
  }

  @Test("A sound vector is taken byte for byte", arguments: kinds)
  func sound(kind: InboundEventKind) throws {
    for vector in try DatasetVectors.all() where vector.expect == "complete" {
      let payload = try Samples.payload(kind, ["dataset": vector.hex])
      let event = try InboundEventDecoder().decode(payload, as: kind)
      #expect(event.dataset?.hex == vector.hex, "\(vector.id)")
    }
  }

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

  @Test("Every byte of a dataset changed, and every length: taken or refused, never shown")
  func mutations() throws {
    let hex = try SampleNetwork.home.dataset(at: 1).hex
    let digits = Array(hex.utf8)
    for index in digits.indices {
      for digit in "0fg\u{0}".utf8 {
        var changed = digits
        changed[index] = digit
        try expectSafe(String(decoding: changed, as: UTF8.self))
      }
      try expectSafe(String(hex.prefix(index)))
    }
  }

  private func expectSafe(_ hex: String) throws {
    let payload = try Samples.payload(.dataset, ["dataset": hex])
    do {
      _ = try InboundEventDecoder().decode(payload, as: .dataset)
    } catch {
      #expect(error.field == "dataset")
      expectNothing(of: hex, in: error)
    }
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
