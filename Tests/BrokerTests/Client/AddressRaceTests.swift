import Glibc
import TestKit
import Testing

@testable import Broker

@Suite("Addresses of one name", .timeLimit(.minutes(30))) struct AddressRaceTests {
  private static func address(_ host: String, _ port: UInt16) throws -> SocketAddress {
    try #require(SocketAddress.all(of: host, port: port).first)
  }

  /// What the library does: a socket that connects to the first address.
  private static func begin(_ address: SocketAddress) -> Int32 {
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    _ = address.withPointer { connect(descriptor, $0, $1) }
    return descriptor
  }

  private struct Ended {
    /// The port at the other end of the connection.
    var port: UInt16?
    var isLibrarys = false
    var failures: [Int32] = []
    var time = Duration.zero
  }

  private static func race(_ addresses: [SocketAddress], limit: Duration = .milliseconds(300)) -> Ended {
    let library = begin(addresses[0])
    defer { close(library) }
    let start = ContinuousClock.now
    var race = AddressRace(addresses, library: library, pause: .milliseconds(50), limit: limit)
    var ended = Ended()
    switch race.run() {
    case .library:
      ended.isLibrarys = true
      ended.port = SocketAddress.end(library, getpeername)?.port
    case .other(let socket):
      ended.port = SocketAddress.end(socket, getpeername)?.port
      close(socket)
    case .failed(let failures): ended.failures = failures.map(\.code)
    }
    ended.time = start.duration(to: .now)
    return ended
  }

  @Test("The first one that answers is used; the library's own socket where it is that one") func firstAnswers() throws
  {
    let live = try FakeBroker()
    let ended = Self.race([try Self.address("127.0.0.1", live.port), try Self.address("127.0.0.1", 1)])
    #expect(ended.isLibrarys && ended.port == live.port)
  }

  @Test("One that swallows packets delays the next one by the pause, not by its limit") func silentFirst() throws {
    let (silent, live) = (try BlackHole(), try FakeBroker())
    let ended = Self.race(
      [try Self.address("127.0.0.1", silent.port), try Self.address("127.0.0.1", live.port)], limit: .seconds(600))
    #expect(!ended.isLibrarys && ended.port == live.port)
    #expect(ended.time >= .milliseconds(50))
  }

  @Test("One that refuses is not waited for at all, and what can't be reached is passed over") func refusingFirst()
    throws
  {
    let live = try FakeBroker()
    // 192.0.2.0/24 is for documents; where there is no route to it, it fails at once.
    let ended = Self.race(
      [try Self.address("127.0.0.1", 1), try Self.address("::1", 1), try Self.address("127.0.0.1", live.port)],
      limit: .seconds(600))
    #expect(ended.port == live.port)
  }

  @Test("Without an answer each ends at its limit, and each is named with its reason") func noneAnswers() throws {
    let silent = try BlackHole()
    let only = Self.race([try Self.address("127.0.0.1", silent.port)])
    #expect(only.failures == [ETIMEDOUT] && only.time >= .milliseconds(300))
    let both = Self.race([try Self.address("127.0.0.1", silent.port), try Self.address("127.0.0.1", 1)])
    #expect(both.failures == [ETIMEDOUT, ECONNREFUSED])
  }

  @Test("A client whose broker swallows packets fails within seconds, with settings that exist") func words()
    async throws
  {
    let silent = try BlackHole()
    let error = try await ConnectionWordsTests.failure(
      MosquittoConfiguration(host: "127.0.0.1", port: silent.port, clientID: "a"))
    #expect(error.reason == .noAnswer)
    #expect(error.message.contains("does not answer") && error.message.contains("`mqtt.host`"))
  }

  @Test("An address of IPv6 stands in brackets before its port") func brackets() {
    let configuration = MosquittoConfiguration(host: "fd00::1", port: 1883, clientID: "a")
    #expect(configuration.address == "[fd00::1]:1883")
    #expect(configuration.description == "mqtt://[fd00::1]:1883 as a")
  }
}
