// SPDX-License-Identifier: Apache-2.0

import StatusPage
import Testing

struct HostCheckTests {
  private let check = HostCheck(names: ["Keeper.home.arpa"])

  @Test(
    "This machine, an address and a listed name are meant for here",
    arguments: [
      "localhost", "localhost:8423", "LOCALHOST", "localhost.", "127.0.0.1", "127.0.0.1:8423",
      "192.168.1.2:80", "[::1]", "[::1]:8423", "[fe80::1]", "keeper.home.arpa",
      "KEEPER.home.arpa.:8423",
    ])
  func allowed(host: String) { #expect(check.allows(host)) }

  @Test(
    "Any other name is not, nor what is no host",
    arguments: [
      "", "evil.example", "evil.example:8423", "localhost.evil.example", "keeper.home.arpa.evil",
      "127.0.0.1.evil.example", "1.2.3", "localhost:", "localhost:x", "localhost:99999",
      "localhost:1:2", "[::1", "[::1]x", "[evil]", "::1", "localhost@evil.example", " localhost",
    ])
  func refused(host: String) { #expect(!check.allows(host)) }
}
