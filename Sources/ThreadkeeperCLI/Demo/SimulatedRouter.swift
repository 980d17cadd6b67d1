// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import ThreadDataset

/// A border router that publishes what it would if it could.
final class SimulatedRouter: Sendable {
  let user: String
  let name: String
  let agent: String
  let client: DemoClient
  private let timeline: Timeline

  init(_ user: String, _ name: String, agent: String, _ stage: DemoStage) {
    self.user = user
    self.name = name
    self.agent = agent
    timeline = stage.timeline
    client = DemoClient(stage.connection(user: user))
  }

  func announce(_ dataset: OperationalDataset, ssid: String) {
    timeline.action(user, "announces itself on \(dataset.networkName ?? "")")
    publish(kind: .announce, dataset: dataset)
    publish(kind: .ssid, ssid: ssid)
  }

  func change(_ dataset: OperationalDataset, _ words: String) {
    timeline.action(user, words)
    publish(kind: .dataset, dataset: dataset)
  }

  func changeSSID(from old: String, to new: String) {
    timeline.action(user, "changes its SSID from \(old) to \(new)")
    publish(kind: .ssid, ssid: new, previous: old)
  }

  func leave() {
    timeline.action(user, "leaves")
    publish(kind: .leave)
  }

  private struct Body: Encodable {
    let borderAgentID: String
    let name: String
    let dataset: String?
    let ssid: String?
    let previousSSID: String?

    enum CodingKeys: String, CodingKey {
      case borderAgentID = "border_agent_id"
      case name, dataset, ssid
      case previousSSID = "previous_ssid"
    }
  }

  private func publish(
    kind: InboundEventKind, dataset: OperationalDataset? = nil,
    ssid: String? = nil, previous: String? = nil
  ) {
    let body = Body(
      borderAgentID: agent, name: name, dataset: dataset?.hex, ssid: ssid,
      previousSSID: previous)
    client.publish(
      "threadkeeper/in/\(user)/\(kind.rawValue)",
      String(decoding: WireJSON().encode(body), as: UTF8.self))
  }
}
