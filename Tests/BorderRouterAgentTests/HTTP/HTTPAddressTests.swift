// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BorderRouterAgent

@Suite("The address of a REST interface")
struct HTTPAddressTests {
  @Test(
    "Host and port are read, and the port is 8081 unless given",
    arguments: [
      ("http://127.0.0.1:8081", "http://127.0.0.1:8081"),
      ("http://hub.local", "http://hub.local:8081"),
      ("hub.local:80/", "http://hub.local:80"), ("HTTP://[::1]:9000/", "http://[::1]:9000"),
    ])
  func read(_ text: String, _ shown: String) {
    #expect(HTTPAddress(text)?.description == shown)
  }

  @Test("Loopback is 127.0.0.0/8, ::1, localhost and what leads there, and no other name")
  func loopback() {
    for text in [
      "127.0.0.1", "127.9.9.9:80", "[::1]", "localhost", "LOCALHOST:1",
      "[::ffff:127.0.0.1]", "0.0.0.0", "[::]",
    ] {
      #expect(HTTPAddress(text)?.isLoopback == true, "\(text)")
    }
    for text in [
      "hub.local", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
      "[fe80::1]", "[::ffff:10.0.0.1]", "127", "127.1",
    ] {
      #expect(HTTPAddress(text)?.isLoopback == false, "\(text)")
    }
  }

  @Test(
    "What is no plain address is refused",
    arguments: [
      "", "https://hub", "http://user:secret@hub", "http://hub/api", "http://hub:0",
      "http://hub:99999",
      "http://hub?x=1", "http://[::1", "http://hub:-1", "http://hu b", "http://hub\r\nX: y",
      "unix:///run/otbr",
    ])
  func refused(_ text: String) {
    #expect(HTTPAddress(text) == nil)
  }
}

@Suite("Who listens on a port")
struct PortListenersTests {
  private static let head =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
  private static let here: [UInt8] = [127, 0, 0, 1]
  private static let here6: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]

  private func row(_ address: String, _ user: Int, state: String = "0A") -> String {
    "   0: \(address) 00000000:0000 \(state) 00000000:00000000 00:00000000 00000000  \(user)        0 25430 1\n"
  }

  private func users(
    _ ipv4: [String], _ ipv6: [String] = [], at address: [UInt8] = here
  ) -> Set<UInt32> {
    PortListeners(ipv4: Self.head + ipv4.joined(), ipv6: Self.head + ipv6.joined())
      .users(at: address, port: 8081)
  }

  @Test("The socket for the address comes before one for all, and IPv4 before both together")
  func order() {
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

  @Test("A table that cannot be read is a failure, and not one where nobody listens")
  func unreadable() {
    let failure = HTTPFailure.unchecked("cannot read /dev/null/tcp")
    #expect(throws: failure) { try PortListeners.text("/dev/null/tcp") }
    #expect(
      RouterSilence(failure).description
        == "cannot read /dev/null/tcp, so who listens there is unknown: it is not asked")
    #expect(RouterSilence(failure).reason == nil)
  }

  @Test("Other ports, other addresses, connections and lines of another form do not count")
  func others() {
    #expect(
      users([
        row("0100007F:1F92", 1), row("0200007F:1F91", 2), row("0100007F:1F91", 3, state: "01"),
        "\n", "a b c\n", row("0100007F", 4), row("0100007F:zzzz", 5),
      ]) == [])
  }
}
