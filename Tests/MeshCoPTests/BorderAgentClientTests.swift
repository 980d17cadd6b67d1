import BorderAgentDouble
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
    #expect(session.isClosed && session.complaints.isEmpty && session.asked == ["c/ag", "c/pg"])
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

  @Test(
    "An address that is none, and one without a way there, are unreachable at once", arguments: ["router.local", ""])
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
