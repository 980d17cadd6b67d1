// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestKit
import Testing

/// What docs/guides/ingest.md has people write, as it stands there.
@Suite("The guide about other publishers", .inTurns, .timeLimit(.minutes(30)))
struct IngestGuideTests {
  private let guide: Handbook

  init() throws { guide = try Handbook("docs/guides/ingest.md") }

  private func test(_ heading: String, _ topic: String, _ payload: String) async throws
    -> ThreadkeeperBinary.Outcome
  {
    let rules = try guide.block(below: heading, with: "ingest:")
    return try await Installation(port: 1883, more: rules.trimmingCharacters(in: .newlines))
      .command("ingest", "test", topic, payload)
  }

  @Test("The rules for a hub make the events that the guide shows")
  func hub() async throws {
    let heading = "From a message to a rule"
    let dataset = try ThreadNetwork("home").hex()
    let payload =
      #"{"thread":{"agent":"a1b2c3d4e5f60718","activeDataset":"\#(dataset)"},"wifi":{"ssid":"Home"}}"#
    let status = try await test(heading, "otbr/kitchen/status", payload)
    #expect(status.status == 0, "\(status.error)")
    let shown = try guide.block(below: heading, with: "hub-status: announce")
    for line in shown.split(separator: "\n") where !line.contains("dataset:") {
      #expect(status.output.contains("\(line)\n"), "\(status.output)")
    }
    let will = try await test(heading, "otbr/kitchen/LWT", "Offline")
    #expect(will.status == 0 && will.output.hasPrefix("kitchen-will: offline "))
  }

  /// What Tasmota 14 publishes on `tele/<device>/STATE`, shortened.
  private static let tasmota =
    #"{"Time":"2025-03-01T12:00:00","Uptime":"0T01:00:13","POWER":"ON","#
    + #""Wifi":{"AP":1,"SSId":"Home","BSSId":"00:11:22:33:44:55","Channel":6,"RSSI":74,"Signal":-63}}"#

  @Test("The rules for a Tasmota device and a sensor of Home Assistant make ssid events")
  func ssid() async throws {
    let plug = try await test(
      "The SSID that a Tasmota device sees", "tele/hall-plug/STATE", Self.tasmota)
    #expect(plug.status == 0, "\(plug.error)")
    #expect(plug.output.contains("  access_point: hall\n  ssid: Home\n"))
    let sensor = try await test(
      "The SSID of a sensor in Home Assistant", "ha-states/sensor/hall_ssid/state", "Home 5G")
    #expect(sensor.status == 0, "\(sensor.error)")
    #expect(sensor.output.contains("  ssid: Home 5G\n"))
  }
}
