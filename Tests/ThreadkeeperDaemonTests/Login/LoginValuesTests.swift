// SPDX-License-Identifier: Apache-2.0

import LocalAPI
import Testing

@testable import ThreadkeeperDaemon

@Suite("What a login is made of")
struct LoginValuesTests {
  @Test("Passwords that MQTT cannot carry are refused, and not repeated")
  func refused() throws {
    #expect(try Password.checked([UInt8](repeating: 97, count: 65_535)[...]).count == 65_535)
    for bytes in [[], [97, 0, 98], [0xFF, 97, 98], [UInt8](repeating: 97, count: 65_536)] {
      let failure = #expect(throws: CommandFailure.self) {
        try Password.checked(bytes[...])
      }
      #expect(failure?.status == .badInput)
      #expect(failure?.message.contains("aaa") == false)
    }
  }

  @Test(
    "User names are what `mqtt.username` may be",
    arguments: ["", "a\u{0}b", "a\nb", "\u{85}", "a/b", "a+b", "#a"])
  func names(name: String) throws {
    #expect(throws: CommandFailure.self) { try Username.checked(name) }
    #expect(throws: CommandFailure.self) {
      try Username.checked(String(repeating: "n", count: 257))
    }
    #expect(try Username.checked("über keeper") == "über keeper")
  }

  @Test("A request shows no password but in its message")
  func request() throws {
    let request = StoreLogin(
      broker: "broker.local:1883", username: "keeper", password: "Sesame-9c1d")
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!"\(request)\(dumped)\(String(reflecting: request))".contains("Sesame"))
    let call = try VarlinkCall.encode("io.threadkeeper.Admin.Perform", OperationCall(request))
    #expect(String(decoding: call, as: UTF8.self).contains("Sesame-9c1d"))
  }
}
