// SPDX-License-Identifier: Apache-2.0

import Broker
import ServiceDiscovery
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

/// A border router as it would advertise itself on the local network, with random ids.
struct AdvertisedRouter {
  let name: String
  /// The name of its Thread network: at most 16 bytes.
  let network: String
  private let id = Self.random(16)

  init(name: String, network: String) {
    self.name = name
    self.network = network
  }

  /// Its border agent id, under which the daemon lists it.
  var agent: String {
    id.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  var record: ServiceRecord {
    // The Thread interface is active, and so is the border agent: bits 3 and 4.
    let state: [UInt8] = [0, 0, 0, 0b1_0001]
    let values: [(String, [UInt8])] = [
      ("id", id), ("xa", Self.random(8)), ("xp", Self.random(8)), ("nn", Array(network.utf8)),
      ("vn", Array("Example".utf8)), ("mn", Array("TV box".utf8)), ("tv", Array("1.3.0".utf8)),
      ("sb", state), ("at", [0, 0, 0, 0, 0, 1, 0, 0]), ("pt", Self.random(4)),
    ]
    return ServiceRecord(
      name: name, host: "simulated.local", port: 49_191,
      text: TXTRecord(entries: values.map { Array("\($0)=".utf8) + $1 }))
  }

  private static func random(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in .random(in: 0 ... .max) }
  }
}
