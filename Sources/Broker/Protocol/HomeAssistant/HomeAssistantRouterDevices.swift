// SPDX-License-Identifier: Apache-2.0

/// The devices of a place's border routers, as they are published: the bytes of `HomeAssistantDevice.router`. What all
/// of them share is encoded once; to build and to encode a device for each router took a third of the time of the
/// thread that publishes.
package struct HomeAssistantRouterDevices: Sendable {
  private struct Form: Hashable {
    let isOnlySeen: Bool
    let hasEntityIDs: Bool
  }

  private enum Part {
    case shared([UInt8])
    case agent
    /// The object `device`, which has the texts of a router.
    case device
    /// What the name begins an entity's id with.
    case slug
  }

  /// Stand for the id and the name of a router: random, so that they are in no setting.
  private static let agent = "5d1e0c9a7b3f48e2a6c4d8f0b29e7135"
  private static let name = "c83f6a1d94e7b052"

  private let place: HomeAssistantPlace
  private var forms: [Form: [Part]] = [:]

  /// - Parameter login: of Home Assistant, where it decides about adoptions.
  package init(_ place: HomeAssistantPlace, login: String? = nil) {
    self.place = place
    for isOnlySeen in [false, true] {
      for name in [Self.name, "\u{E9}"] {
        let form = Form(isOnlySeen: isOnlySeen, hasEntityIDs: name == Self.name)
        forms[form] = Self.parts(
          of: .router(
            .init(agent: Self.agent, name: name, isOnlySeen: isOnlySeen), place, login: login))
      }
    }
  }

  private static func parts(of device: HomeAssistantDevice) -> [Part] {
    let json = WireJSON()
    let marks: [(bytes: [UInt8], part: Part)] = [
      (json.encode(device.device), .device), (Array(agent.utf8), .agent),
      (Array("\(name)_".utf8), .slug),
    ]
    return marks.reduce([Part.shared(json.encode(device))]) { parts, mark in
      parts.flatMap { part -> [Part] in
        guard case .shared(let bytes) = part else { return [part] }
        return split(bytes, at: mark.bytes, mark.part)
      }
    }
  }

  /// Not by the library's `split`, which is not specialized and takes milliseconds for each device.
  private static func split(_ bytes: [UInt8], at mark: [UInt8], _ part: Part) -> [Part] {
    var parts: [Part] = []
    var (start, index) = (0, 0)
    while index + mark.count <= bytes.count {
      let end = index + mark.count
      guard bytes[index] == mark[0], bytes[index..<end].elementsEqual(mark) else {
        index += 1
        continue
      }
      parts += [.shared(Array(bytes[start..<index])), part]
      (start, index) = (end, end)
    }
    return parts + [.shared(Array(bytes[start...]))]
  }

  package func json(of router: HomeAssistantDevice.Router) -> [UInt8] {
    let device = HomeAssistantDevice.device(of: router, place)
    let entityID = HomeAssistantPlace.slug("\(device.name) x")
    let form = Form(isOnlySeen: router.isOnlySeen, hasEntityIDs: entityID != nil)
    var json: [UInt8] = []
    json.reserveCapacity(8_192)
    for part in forms[form] ?? [] {
      switch part {
      case .shared(let bytes): json += bytes
      case .agent: json += router.agent.utf8
      case .device: json += WireJSON().encode(device)
      case .slug: json += (entityID ?? "").utf8.dropLast()
      }
    }
    return json
  }
}
