// SPDX-License-Identifier: Apache-2.0

import Home
import ThreadDataset

/// What a login reports of a border router, an access point or itself: `in/<user>/<event>`. Which of the fields an event
/// has, and must have, is in `mqtt-protocol.md`.
package struct InboundEventBody: WireMessage {
  package var accessPoint: String?
  /// A name of an agent, which has no router.
  package var agent: String?
  package var borderAgentID: BorderAgentID?
  /// In hexadecimal digits.
  package var dataset: String?
  package var extendedAddress: String?
  package var network: ExtendedPANID?
  package var httpStatus: Int?
  package var model: String?
  package var name: String?
  package var partition: UInt32?
  package var isPreferred: Bool?
  package var previousSSID: String?
  package var reason: String?
  package var sequence: UInt64?
  package var ssid: String?
  package var threadState: ThreadState?
  package var vendor: String?

  package init() {}

  package mutating func fields<Coder: WireCoder>(_ c: inout Coder) {
    c.field("access_point", &accessPoint, .label)
    c.field("agent", &agent, "Of an agent that speaks of itself.")
    c.field("border_agent_id", &borderAgentID)
    c.field("dataset", &dataset, WireForm("Active Operational Dataset.", isSecret: true))
    c.field("ext_address", &extendedAddress, .extendedAddress)
    c.field("ext_pan_id", &network)
    c.field("http_status", &httpStatus, "What the router's REST interface answers.")
    c.field("model", &model, .label)
    c.field("name", &name, .label)
    c.field("partition_id", &partition, "Of the mesh.")
    c.field("preferred", &isPreferred, "Whether a program prefers the network.")
    c.field("previous_ssid", &previousSSID, .label)
    c.field("reason", &reason, "Why it is offline, or an order was not followed.")
    c.field("seq", &sequence, "Rises with each message.")
    c.field("ssid", &ssid, .label)
    c.field("thread_state", &threadState)
    c.field("vendor", &vendor, .label)
  }
}
