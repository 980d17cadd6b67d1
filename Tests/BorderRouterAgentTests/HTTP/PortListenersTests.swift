import Glibc
import TestKit
import Testing
import ThreadkeeperSupport

@testable import BorderRouterAgent

@Suite("Who listens on a port") struct PortListenersTests {
  private static let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
  private static let here: [UInt8] = [127, 0, 0, 1]
  private static let here6: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

  private func row(_ address: String, _ user: Int, state: String = "0A") -> String {
    "   0: \(address) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  \(user)        0 25430 1\n"
  }

  private func users(_ ipv4: [String], _ ipv6: [String] = [], at address: [UInt8] = here) -> Set<UInt32> {
    PortListeners(ipv4: Self.head + ipv4.joined(), ipv6: Self.head + ipv6.joined()).users(at: address, port: 8081)
  }

  @Test("The socket for the address comes before one for all, and IPv4 before both together") func order() {
    let own = row("0100007F:1F91", 1)
    let any = row("00000000:1F91", 2)
    let mapped = row("0000000000000000FFFF00000100007F:1F91", 3)
    let any6 = row("00000000000000000000000000000000:1F91", 4)
    let own6 = row("00000000000000000000000001000000:1F91", 5)
    #expect(users([any, own], [any6]) == [1])
    #expect(users([any], [mapped, any6]) == [2])
    #expect(users([], [any6, mapped]) == [3])
    #expect(users([], [any6, own6]) == [4])
    #expect(users([own], [any6, own6], at: Self.here6) == [5])
    #expect(users([own], [any6], at: Self.here6) == [4])
    #expect(users([own, any], at: Self.here6) == [])
  }

  @Test("A table that cannot be read is a failure, and not one where nobody listens") func unreadable() {
    let failure = HTTPFailure.unchecked("cannot read /dev/null/tcp")
    #expect(throws: failure) { try PortListeners.text("/dev/null/tcp") }
    #expect(
      RouterSilence(failure).description
        == "cannot read /dev/null/tcp, so who listens there is unknown: it is not asked")
    #expect(RouterSilence(failure).reason == nil)
  }

  @Test("Other ports, other addresses, connections and lines of another form do not count") func others() {
    #expect(
      users([
        row("0100007F:1F92", 1), row("0200007F:1F91", 2), row("0100007F:1F91", 3, state: "01"), "\n", "a b c\n",
        row("0100007F", 4), row("0100007F:zzzz", 5),
      ]) == [])
  }

  @Test("The kernel names the listener of a port, and nobody where there is none") func kernel() throws {
    let server = try ScriptedServer("")
    #expect(ListenerQuery.answer(at: Self.here, port: server.port) == .user(getuid()))
    // Bound to 127.0.0.1 alone.
    #expect(ListenerQuery.answer(at: [127, 0, 0, 2], port: server.port) == .nobody)
    #expect(ListenerQuery.answer(at: Self.here6, port: server.port) == .nobody)
    #expect(try ListenerQuery.answer(at: Self.here, port: UnusedPort.next()) == .nobody)
    let list = try PortListeners.current()
    #expect(list.users(at: Self.here, port: server.port) == [getuid()])
  }

  @Test("No table is read once the kernel has named a listener, also where nobody listens") func readsNoTable() throws {
    let server = try ScriptedServer("")
    #expect(try PortListeners.areThere(at: "127.0.0.1", port: server.port, of: [getuid()]))
    let before = try Self.bytesRead()
    let own = try Self.bytesRead() - before
    for _ in 0..<10 {
      // As for `localhost`.
      #expect(try !PortListeners.areThere(at: "::1", port: server.port, of: [getuid()]))
      #expect(try PortListeners.areThere(at: "127.0.0.1", port: server.port, of: [getuid()]))
    }
    // A table's first line alone has more.
    #expect(try Self.bytesRead() - before - own < own + Self.head.utf8.count)
  }

  /// By this thread, from files: proc_pid_io(5).
  private static func bytesRead() throws -> Int {
    let text = try #require(KernelFile.text("/proc/thread-self/io"))
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
    return try #require(Int(line.dropFirst("rchar: ".count)))
  }

  @Test("The request has port and address in the order of the network") func request() {
    for (address, family) in [(Self.here, AF_INET), (Self.here6, AF_INET6)] {
      let request = ListenerQuery.request(address, 0x1F91)
      #expect(request.count == 72)
      #expect(request[16...17] == [UInt8(family), UInt8(IPPROTO_TCP)])
      #expect(request[24..<28] == [0x1F, 0x91, 0, 0])
      #expect(request[28..<60] == (address + [UInt8](repeating: 0, count: 32 - address.count))[...])
    }
  }

  @Test("Of the kernel's answers only that of a listener on this port names a user") func answers() {
    func user(_ change: (inout [UInt8]) -> Void = { _ in }) -> ListenerQuery.Answer? {
      var answer = [UInt8](repeating: 0, count: 124)
      withUnsafeBytes(of: UInt16(20)) { answer.replaceSubrange(4..<6, with: $0) }
      withUnsafeBytes(of: UInt32(1)) { answer.replaceSubrange(8..<12, with: $0) }
      answer[17] = 10
      answer.replaceSubrange(20..<22, with: [0x1F, 0x91])
      withUnsafeBytes(of: UInt32(61_042)) { answer.replaceSubrange(80..<84, with: $0) }
      change(&answer)
      return ListenerQuery.answer(in: answer, port: 0x1F91)
    }
    #expect(user() == .user(61_042))
    #expect(user { $0.removeLast(124 - 88) } == .user(61_042))
    for count in [0, 15, 16, 19, 20, 87] { #expect(user { $0.removeLast(124 - count) } == nil, "\(count) bytes") }
    // Another type, another sequence, a connection, another port.
    for offset in [4, 8, 17, 21] { #expect(user { $0[offset] += 1 } == nil, "byte \(offset)") }
    func refusal(_ error: Int32, of size: Int = 36) -> ListenerQuery.Answer? {
      var answer = [UInt8](repeating: 0, count: 36)
      withUnsafeBytes(of: UInt16(2)) { answer.replaceSubrange(4..<6, with: $0) }
      withUnsafeBytes(of: UInt32(1)) { answer.replaceSubrange(8..<12, with: $0) }
      withUnsafeBytes(of: -error) { answer.replaceSubrange(16..<20, with: $0) }
      return ListenerQuery.answer(in: Array(answer.prefix(size)), port: 0x1F91)
    }
    #expect(refusal(ENOENT) == .nobody)
    #expect(refusal(ENOENT, of: 19) == nil)
    #expect(refusal(EPERM) == nil)
  }
}
