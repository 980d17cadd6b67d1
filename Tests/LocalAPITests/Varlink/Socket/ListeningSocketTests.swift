import Foundation
import TestKit
import Testing

@testable import LocalAPI

@Suite("The name of a socket", .timeLimit(.minutes(30))) struct ListeningSocketTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.file("run/client.sock") }

  init() throws { directory = try TemporaryDirectory() }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test("It is open to whom it is for, whatever the mask, in a directory that is not") func modes() throws {
    close(try ListeningSocket.make(path, .everybody))
    #expect(try mode(path) == 0o666)
    #expect(try mode(directory.file("run")) == 0o755)
    close(try ListeningSocket.make(path, .group(getegid())))
    #expect(try mode(path) == 0o660)
    close(try ListeningSocket.make(path, .owner))
    #expect(try mode(path) == 0o600)
  }

  @Test("What a killed process has left is replaced; what is another's is not") func taken() throws {
    close(try ListeningSocket.make(path, .everybody))
    let listener = try ListeningSocket.make(path, .everybody)
    let second = #expect(throws: SocketError.self) { try ListeningSocket.make(path, .everybody) }
    #expect(second?.reason == .taken)
    close(listener)
    unlink(path)
    try Data("dear".utf8).write(to: URL(fileURLWithPath: path))
    let file = #expect(throws: SocketError.self) { try ListeningSocket.make(path, .everybody) }
    #expect(file?.reason == .taken)
    #expect(FileManager.default.contents(atPath: path) == Data("dear".utf8))
  }

  @Test("A path that is longer than an address works") func longPath() throws {
    let deep = directory.file(String(repeating: "d", count: 200))
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    let listener = try ListeningSocket.make("\(deep)/varlink.sock", .owner)
    defer { close(listener) }
    let found = try TrustedConnection.open("\(deep)/varlink.sock", by: .now + .seconds(240))
    close(try #require(found))
  }

  @Test("A daemon that takes no connections at all is not waited for") func noRoom() async throws {
    let path = directory.file("varlink.sock")
    let address = try SocketAddress(path)
    let listener = try SocketAddress.makeSocket(path)
    defer { close(listener) }
    #expect(address.withAddress { bind(listener, $0, $1) } == 0 && Glibc.listen(listener, 0) == 0)
    let first = try RawCaller(path)
    let error = await #expect(throws: SocketError.self) {
      try await VarlinkClient.connect(to: path, within: .milliseconds(100))
    }
    #expect(error?.reason == .timedOut)
    // Nor by who has given up meanwhile.
    let call = Task { try await VarlinkClient.connect(to: path, within: .seconds(100_000)) }
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    withExtendedLifetime(first) {}
  }
}

@Suite("Who may be given a password") struct ListenerTrustTests {
  @Test(
    "This user and root, in a directory of this user or root; never where others can write",
    arguments: [
      (1000, 1000, 1000, 0o700, true), (1000, 0, 1000, 0o700, true), (1000, 0, 0, 0o755, true), (0, 0, 0, 0o700, true),
      // Root, and another user's directory.
      (0, 1000, 1000, 0o700, false), (0, 0, 1000, 0o700, false),
      // Somebody's own directory, with somebody's own socket.
      (1000, 1001, 1001, 0o755, false), (1000, 1001, 1000, 0o700, false), (1000, 1000, 1001, 0o755, false),
      (1000, 0, 1001, 0o755, false), (0, 1001, 1000, 0o700, false), (0, 1001, 0, 0o700, false),
      (1000, 1000, 1000, 0o770, false), (1000, 1000, 1000, 0o702, false), (1000, 1000, 1000, 0o1777, false),
      (0, 0, 0, 0o777, false),
    ] as [(UInt32, UInt32, UInt32, UInt32, Bool)]) func trust(
      caller: UInt32, listener: UInt32, owner: UInt32, mode: UInt32, isTrusted: Bool
    )
  {
    for others in [[], [SocketDirectory(owner: 0, mode: 0o755)]] {
      let trust = ListenerTrust(
        caller: caller, listener: listener, directories: [SocketDirectory(owner: owner, mode: mode)] + others)
      #expect((trust.rejectionReason == nil) == isTrusted, "\(trust)")
    }
  }

  @Test(
    "A command that root starts means the owner of the directory, and nobody else; other users gain nothing",
    arguments: [
      (0, 1000, 1000, 0o700, true), (0, 0, 1000, 0o700, true), (0, 1001, 1000, 0o700, false),
      (0, 1000, 0, 0o755, false), (0, 1000, 1000, 0o770, false), (1000, 1001, 1001, 0o700, false),
      (1000, 0, 1001, 0o700, false),
    ] as [(UInt32, UInt32, UInt32, UInt32, Bool)]) func commandOfRoot(
      caller: UInt32, listener: UInt32, owner: UInt32, mode: UInt32, isTrusted: Bool
    )
  {
    let trust = ListenerTrust(
      caller: caller, listener: listener, directories: [SocketDirectory(owner: owner, mode: mode)], actsForOwner: true)
    #expect((trust.rejectionReason == nil) == isTrusted, "\(trust)")
  }

  @Test(
    "A daemon of another user is believed in a place that only root, or the caller, can have given it",
    arguments: [
      // /run/threadkeeper of the service's user, or of root.
      (998, [(998, 0o755), (0, 0o755), (0, 0o755)], true), (998, [(0, 0o755), (0, 0o755), (0, 0o755)], true),
      (0, [(0, 0o755), (0, 0o755)], true), (998, [(998, 0o755), (1000, 0o755), (0, 0o755)], true),
      (1000, [(1000, 0o700), (0, 0o1777), (0, 0o755)], true),
      // Made in /tmp, or below another user's home.
      (998, [(998, 0o755), (0, 0o1777), (0, 0o755)], false), (998, [(998, 0o755), (998, 0o755), (0, 0o755)], false),
      (998, [(998, 0o775), (0, 0o755)], false), (998, [(998, 0o1777), (0, 0o755)], false),
      // Of a third user; or of the caller's own, who has not made the socket.
      (998, [(999, 0o755), (0, 0o755)], false), (998, [(1000, 0o755), (0, 0o755)], false),
      (0, [(999, 0o755), (0, 0o755)], false), (1000, [(999, 0o755), (0, 0o755)], false), (998, [], false),
    ] as [(UInt32, [(UInt32, UInt32)], Bool)]) func others(
      listener: UInt32, directories: [(UInt32, UInt32)], isTrusted: Bool
    )
  {
    let trust = ListenerTrust(
      caller: 1000, listener: listener, directories: directories.map { SocketDirectory(owner: $0.0, mode: $0.1) },
      admitsOthers: true)
    #expect((trust.rejectionReason == nil) == isTrusted, "\(trust)")
  }

  @Test("The directories above a socket are found through links, up to the root") func above() throws {
    let directory = try TemporaryDirectory()
    let link = directory.file("link")
    let deep = directory.file("deep")
    try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
    chmod(deep, 0o711)
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: deep)
    let found = try SocketDirectory.above(link + "/a.sock")
    #expect(found == (try SocketDirectory.above(deep + "/a.sock")))
    #expect(found.first?.mode == UInt32(S_IFDIR) | 0o711)
    #expect(found.first?.owner == geteuid())
    #expect(found.count >= 3)
    #expect(throws: SocketError.self) { try SocketDirectory.above(deep + "/no/a.sock") }
  }
}
