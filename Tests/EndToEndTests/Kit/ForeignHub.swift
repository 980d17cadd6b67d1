// SPDX-License-Identifier: Apache-2.0

/// A publisher that is none of threadkeeper's, with topics and JSON of its own, and the rules for it.
enum ForeignHub {
  static let agent = "a1b2c3d4e5f60718"
  static let rules = """
    ingest:
      status:
        topic: otbr/{box}/status
        event: announce
        user: otbr
        fields:
          border_agent_id: /thread/agent
          dataset: /thread/activeDataset
          name: Box {box}
      wifi:
        topic: otbr/{box}/status
        event: ssid
        user: otbr
        when: {/wifi/ssid: '*'}
        fields: {border_agent_id: /thread/agent, ssid: /wifi/ssid}
      will:
        topic: otbr/kitchen/LWT
        event: offline
        user: otbr
        when: {payload: Offline}
        fields: {border_agent_id: \(agent)}
    """

  static func status(_ network: ThreadNetwork, ssid: String, at time: UInt64 = 1) throws -> String {
    """
    {"thread":{"agent":"\(agent)","activeDataset":"\(try network.hex(at: time))"},
     "wifi":{"ssid":"\(ssid)"},"uptime":17}
    """
  }
}
