import BorderAgentDouble
import CLibCrypto
import MeshCoP
import SodiumCrypto
import Testing
import ThreadkeeperSupport

/// Over real sockets.
struct BorderAgentClientTests {
  @Test("The datasets are read over UDP", arguments: ["127.0.0.1", "::1"]) func read(_ address: String) async throws {
    let router = try BorderAgentDouble(
      secret: Simulation.code, active: Simulation.active, pending: Simulation.pending, random: RandomBytes.fill)
    // Not every machine has IPv6.
    guard let server = try? BorderAgentServer(router, address: address) else { return #expect(address == "::1") }
    defer { server.stop() }
    let reading = try await SystemThread.result {
      try BorderAgentClient.read(address, port: server.port, with: Simulation.code)
    }
    #expect(reading.active?.bytes == Simulation.active && reading.pending?.bytes == Simulation.pending)
    server.stop()
    let session = server.router
    #expect(session.isClosed && session.clientErrors.isEmpty && session.asked == ["c/ag", "c/pg"])
  }

  @Test("A wrong code is refused over UDP") func refused() async throws {
    let server = try BorderAgentServer(
      BorderAgentDouble(secret: Simulation.code, active: Simulation.active, random: RandomBytes.fill))
    defer { server.stop() }
    await #expect(throws: BorderAgentError.refused) {
      try await SystemThread.result {
        try BorderAgentClient.read("127.0.0.1", port: server.port, with: SecretBytes(copying: Array("111111111".utf8)))
      }
    }
  }

  @Test("A point off the curve leaves no error of libcrypto on the thread") func errorQueue() async throws {
    var router = try BorderAgentDouble(secret: Simulation.code, active: Simulation.active, random: RandomBytes.fill)
    router.alter = { if $0.part == .serverKeyExchange { $0.body[3 + 65] ^= 1 } }
    let server = try BorderAgentServer(router)
    defer { server.stop() }
    let (error, left) = try await SystemThread.result {
      ERR_clear_error()
      let reading = Result { try BorderAgentClient.read("127.0.0.1", port: server.port, with: Simulation.code) }
      return (reading.error, ERR_peek_error())
    }
    #expect(error == .protocolError(part: "ServerKeyExchange", flaw: "a point is not on the curve"))
    #expect(left == 0)
  }

  @Test("What is not an address of IPv4 or IPv6 is unreachable at once", arguments: ["router.local", ""])
  func unreachable(_ address: String) {
    #expect(throws: BorderAgentError.unreachable(99)) {
      try BorderAgentClient.read(address, port: 49_152, with: Simulation.code)
    }
  }

  @Test("A reading is stopped at once") func stopped() async throws {
    let server = try BorderAgentServer(
      BorderAgentDouble(secret: Simulation.code, active: Simulation.active, random: RandomBytes.fill), isSilent: true)
    defer { server.stop() }
    let signal = WakeSignal()
    let reading = Task {
      try await SystemThread.result {
        try BorderAgentClient.read("127.0.0.1", port: server.port, with: Simulation.code, until: signal)
      }
    }
    await server.waitForDatagram()
    signal.raise()
    await #expect(throws: BorderAgentError.stopped) { try await reading.value }
  }

  @Test("Where nobody listens, that is the reason after the second datagram") func nobody() async throws {
    let server = try BorderAgentServer(
      BorderAgentDouble(secret: Simulation.code, active: Simulation.active, random: RandomBytes.fill))
    server.stop()
    await #expect(throws: BorderAgentError.unreachable(111)) {
      try await SystemThread.result {
        try BorderAgentClient.read("127.0.0.1", port: server.port, with: Simulation.code)
      }
    }
  }
}
