import BorderAgentDouble
import SodiumCrypto
import TestKit
import ThreadDataset

/// Border routers whose border agents are on this machine, and whose records come from the far side of a local network.
final class ReadableRouters {
  private struct Router {
    let record: AdvertisedRouter
    let agent: BorderAgentServer
    /// Takes a code.
    var codes: BorderAgentServer?
  }

  private let sender: PacketSender
  private var routers: [String: Router] = [:]

  /// Ends the avahi-daemon of the far side.
  init(_ network: LocalNetwork) throws {
    try network.stop(.avahi, .far)
    sender = try PacketSender(network)
  }

  deinit { for router in routers.values { for server in [router.agent, router.codes] { server?.stop() } } }

  /// Has a router answer so from now on.
  ///
  /// - Parameters:
  ///   - active: in hex.
  ///   - pskc: nil: that of its network.
  @discardableResult func start(
    _ name: String, _ record: AdvertisedRouter, _ active: String, pending: [UInt8] = [], pskc: [UInt8]? = nil
  ) throws -> BorderAgentServer {
    let former = routers[name]
    former?.agent.stop()
    let agent = try server(pskc ?? record.network.pskc, active, pending, port: former?.agent.port ?? 0)
    routers[name] = Router(record: record, agent: agent, codes: former?.codes)
    return agent
  }

  /// Has a router show a code.
  @discardableResult func show(_ code: String, of name: String, _ active: String) throws -> BorderAgentServer {
    let server = try server(Array(code.utf8), active, [], port: 0)
    routers[name]?.codes = server
    return server
  }

  /// Sends all records, which last longer than a test.
  func announce() throws {
    for (name, router) in routers {
      func send(_ service: String, _ text: [UInt8], _ port: UInt16) throws {
        let name = Array(name.utf8)
        var packet = MulticastPacket(
          name: name, text: text, host: name, port: port, address: [127, 0, 0, 1], lifetime: 4_500, hostLifetime: 4_500)
        packet.service = service
        try sender.send(packet)
      }
      try send("_meshcop", MulticastPacket.strings(router.record.text), router.agent.port)
      if let codes = router.codes { try send("_meshcop-e", [0], codes.port) }
    }
  }

  private func server(_ secret: [UInt8], _ active: String, _ pending: [UInt8], port: UInt16) throws -> BorderAgentServer
  {
    try BorderAgentServer(
      BorderAgentDouble(
        secret: SecretBytes(copying: secret), active: Hexadecimal.decode(active) ?? [], pending: pending,
        random: RandomBytes.fill), port: port)
  }
}
