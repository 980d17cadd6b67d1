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

  /// What devices of one form share.
  private struct Template {
    let parts: [Part]
    /// Of all that is shared, so that a device is hashed without it: it has eight kilobytes.
    let hash: [UInt8]
  }

  private let place: HomeAssistantPlace
  private var templates: [Form: Template] = [:]

  /// - Parameter login: of Home Assistant, where it decides about adoptions.
  package init(_ place: HomeAssistantPlace, login: String? = nil) {
    self.place = place
    for isOnlySeen in [false, true] {
      for name in [Self.name, "\u{E9}"] {
        let form = Form(isOnlySeen: isOnlySeen, hasEntityIDs: name == Self.name)
        let device = HomeAssistantDevice.router(
          .init(agent: Self.agent, name: name, isOnlySeen: isOnlySeen), place, login: login)
        templates[form] = Template(
          parts: Self.parts(of: device),
          hash: HomeAssistantForm(of: WireJSON().encode(device)).bytes)
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
    let (template, device, slug) = filled(router)
    var json: [UInt8] = []
    json.reserveCapacity(8_192)
    for part in template?.parts ?? [] {
      switch part {
      case .shared(let bytes): json += bytes
      case .agent: json += router.agent.utf8
      case .device: json += device
      case .slug: json += slug
      }
    }
    return json
  }

  /// What tells a device from one that looks different, without its payload.
  package func form(of router: HomeAssistantDevice.Router) -> HomeAssistantForm {
    let (template, device, slug) = filled(router)
    // Neither ids nor JSON have a zero.
    return HomeAssistantForm(
      of: (template?.hash ?? []) + router.agent.utf8 + [0] + device + [0] + slug)
  }

  private func filled(
    _ router: HomeAssistantDevice.Router
  ) -> (template: Template?, device: [UInt8], slug: [UInt8]) {
    let device = HomeAssistantDevice.device(of: router, place)
    let entityID = HomeAssistantPlace.slug("\(device.name) x")
    let form = Form(isOnlySeen: router.isOnlySeen, hasEntityIDs: entityID != nil)
    return (templates[form], WireJSON().encode(device), Array((entityID ?? "").utf8.dropLast()))
  }
}
