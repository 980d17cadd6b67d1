// SPDX-License-Identifier: Apache-2.0

import Broker
import Testing
import ThreadDataset

@Suite("Rejections")
struct RejectionTests {
  @Test("The codes stay as they are: automations are written for them")
  func codes() {
    #expect(
      Rejection.Code.allCases.map(\.rawValue) == [
        "invalid_topic", "unknown_event", "too_large", "too_deep", "invalid_utf8", "invalid_json",
        "wrong_type", "missing_field", "bad_field", "bad_border_agent_id", "bad_dataset",
        "incomplete_dataset", "unsupported", "not_authorized", "not_found", "out_of_order",
        "retained", "too_many_routers", "too_many_networks", "cannot_apply", "rate_limited",
        "not_sealed", "not_enrolled", "outside_differs", "damaged_enrolment",
      ])
    #expect(
      EnvelopeRefusal.allCases.map(\.rawValue) == [
        "too_large", "not_an_envelope", "unsupported_version", "unsupported_algorithm",
        "unknown_kid", "cannot_open", "unknown_issuer", "bad_signature", "wrong_audience",
        "wrong_topic", "expired", "not_yet_valid", "replayed",
      ])
  }

  @Test("No code of ours is one of the dataset's own")
  func disjoint() {
    let own = Set(Rejection.Code.allCases.map(\.rawValue))
    #expect(own.isDisjoint(with: DatasetError.Code.allCases.map(\.rawValue)))
  }

  @Test("A refused dataset keeps its code, TLV, place and words")
  func dataset() {
    let rejection = Rejection(
      DatasetError(code: .badLength, type: 5, offset: 50, message: "words"), field: "dataset")
    #expect(rejection.code == "bad_length")
    #expect(rejection.tlv == "Network Key")
    #expect(rejection.offset == 50)
    #expect(rejection.field == "dataset")
    #expect(rejection.message == "words")
  }
}
