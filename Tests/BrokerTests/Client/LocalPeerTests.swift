import Glibc
import TestKit
import Testing

@testable import Broker

@Suite("Who listens on this machine", .timeLimit(.minutes(30))) struct LocalPeerTests {
  typealias Finding = LocalPeer.Finding

  private static let header =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

  /// A line as the kernel writes it on a machine of little-endian words.
  private static func line(_ local: String, _ remote: String, _ state: String = "01", user: UInt32 = 0, inode: Int = 7)
    -> String
  { "   1: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000 \(user)        0 \(inode) 1 0 20\n" }

  private static func find(_ four: String, _ six: String = "", host: String = "127.0.0.1") throws -> Finding {
    try LocalPeer.find(
      own: #require(SocketAddress.all(of: host, port: 0xABCD).first),
      peer: #require(SocketAddress.all(of: host, port: 1883).first), in: [header + four, header + six])
  }

  private static let (server, client) = ("0100007F:075B", "0100007F:ABCD")

  @Test("The user of the other end is that of the process that took the connection") func user() throws {
    let own = Self.line(Self.client, Self.server, user: 1000)
    #expect(try Self.find(own + Self.line(Self.server, Self.client, user: 61_042)) == .user(61_042))
    // The listener is not asked: others may share it, and it may be gone.
    let listener = Self.line("0100007F:075B", "00000000:0000", "0A", user: 0)
    #expect(try Self.find(listener + own) == .elsewhere)
    // As long as nobody has taken it the kernel says root, or who listens.
    #expect(try Self.find(own + Self.line(Self.server, Self.client, user: 0, inode: 0)) == .notTaken)
  }

  @Test("An end that was closed reads nothing any more, and one that only sends no more does") func closed() throws {
    let own = Self.line(Self.client, Self.server)
    let (closed, halfClosed) = (
      Self.line(Self.server, Self.client, "05", inode: 0), Self.line(Self.server, Self.client, "05", user: 61_042)
    )
    #expect(try Self.find(own + closed) == .elsewhere)
    #expect(try Self.find(own + halfClosed) == .user(61_042))
  }

  @Test("A listener for both versions of IP has its end of an IPv4 connection in the other list") func dualStack()
    throws
  {
    let mapped = "0000000000000000FFFF00000100007F"
    let found = try Self.find(
      Self.line(Self.client, Self.server), Self.line("\(mapped):075B", "\(mapped):ABCD", user: 1883))
    #expect(found == .user(1883))
    let six = "00000000000000000000000001000000"
    #expect(
      try Self.find(
        "", Self.line("\(six):ABCD", "\(six):075B") + Self.line("\(six):075B", "\(six):ABCD", user: 5), host: "::1")
        == .user(5))
  }

  @Test("Without the own end the list is not believed") func notWhole() throws {
    #expect(try Self.find("") == .unknown)
    #expect(try Self.find(Self.line(Self.client, "0100007F:075C")) == .unknown)
  }

  @Test("A real connection: its taker's user, and nobody as long as it waits in the queue") func real() async throws {
    let fake = try FakeBroker()
    let (taken, waiting) = (Self.connect(fake.port), Self.connect(fake.port))
    defer {
      close(taken)
      close(waiting)
    }
    #expect(LocalPeer.find(taken, until: .now + .seconds(60)) == .user(geteuid()))
    #expect(LocalPeer.find(waiting, until: .now + .milliseconds(50)) == .notTaken)
  }

  private static func connect(_ port: UInt16) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if let address = try? SocketAddress.all(of: "127.0.0.1", port: port).first {
      _ = address.withPointer { Glibc.connect(descriptor, $0, $1) }
    }
    return descriptor
  }

  @Test("root, the own user and those of the setting are the broker's; whom a container does not know is nobody")
  func brokers() {
    var configuration = MosquittoConfiguration(host: "127.0.0.1", clientID: "a")
    #expect(LocalPeer.isBroker(0, configuration))
    #expect(LocalPeer.isBroker(geteuid(), configuration))
    for user: UInt32 in [61_042, 65_534] {
      #expect(!LocalPeer.isBroker(user, configuration))
      configuration.brokerUsers = [user]
      #expect(LocalPeer.isBroker(user, configuration))
    }
  }
}
