// SPDX-License-Identifier: Apache-2.0

import Broker
import Home
import TestKit
import Testing
import ThreadDataset

@Suite("Where a router is, its Thread state, and why it is offline")
struct InboundThreadReportTests {
  private static let reporting: [InboundEventKind] = [.announce, .dataset, .heartbeat]

  private func decode(_ kind: InboundEventKind, _ fields: [String: Any]) throws -> InboundEvent {
    try InboundEventDecoder().decode(try Samples.payload(kind, fields), as: kind)
  }

  @Test("announce, dataset and heartbeat carry network and Thread state", arguments: reporting)
  func reported(kind: InboundEventKind) throws {
    for state in ThreadState.allCases {
      let event = try decode(
        kind, ["ext_pan_id": "DEAD00BEEF00CAFE", "thread_state": state.word.description])
      #expect(event.currentNetwork?.description == "dead00beef00cafe")
      #expect(event.threadState == state)
    }
    let plain = try decode(kind, [:])
    #expect(plain.currentNetwork == nil && plain.threadState == nil)
  }

  @Test("An Extended PAN ID that is not 16 hex digits is rejected by name", arguments: reporting)
  func badNetwork(kind: InboundEventKind) throws {
    for text in ["", "dead00beef00caf", "dead00beef00cafe0", "dead00beef00cafg"] {
      let payload = try Samples.payload(kind, ["ext_pan_id": text])
      let rejection = try Samples.rejection(of: payload, as: kind)
      #expect(rejection.code == "bad_field" && rejection.field == "ext_pan_id")
      #expect(rejection.message == "expected 16 hex digits (8 bytes)")
    }
  }

  @Test("A Thread state that is none of the five is rejected, and the five are named")
  func badState() throws {
    for text in ["", "Leader", "sleepy", String(repeating: "x", count: 10_000)] {
      let payload = try Samples.payload(.heartbeat, ["thread_state": text])
      let rejection = try Samples.rejection(of: payload, as: .heartbeat)
      #expect(rejection.code == "bad_field" && rejection.field == "thread_state")
      #expect(
        rejection.message == "expected one of disabled, detached, child, router, leader")
    }
  }

  @Test("offline says why: stopped, unreachable, frozen or untrusted, and nothing else")
  func reasons() throws {
    for reason in OfflineReason.reported {
      #expect(try decode(.offline, ["reason": reason.word.description]).offlineReason == reason)
    }
    #expect(try decode(.offline, [:]).offlineReason == nil)
    for text in ["silent", "", "off"] {
      let rejection = try Samples.rejection(
        of: try Samples.payload(.offline, ["reason": text]), as: .offline)
      #expect(rejection.code == "bad_field" && rejection.field == "reason")
      #expect(rejection.message == "expected one of stopped, unreachable, frozen, untrusted")
    }
  }

  @Test("In events that they do not belong to, the fields are ignored")
  func ignored() throws {
    let fields = ["ext_pan_id": "?", "thread_state": "?", "reason": "?"]
    #expect(try decode(.leave, fields).threadState == nil)
    #expect(try decode(.ssid, fields).currentNetwork == nil)
    #expect(try decode(.heartbeat, ["reason": "?"]).offlineReason == nil)
    #expect(try decode(.offline, ["thread_state": "?", "ext_pan_id": "?"]).threadState == nil)
  }
}
