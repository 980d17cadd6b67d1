// SPDX-License-Identifier: Apache-2.0

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

  @Test("A request shows no password but in its bytes")
  func request() throws {
    let request = LoginRequest(
      command: .login, broker: "broker.local:1883", username: "keeper", password: "Sesame-9c1d",
      validate: true)
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!"\(request)\(dumped)\(String(reflecting: request))".contains("Sesame"))
    #expect(String(decoding: try request.bytes, as: UTF8.self).contains("Sesame-9c1d"))
  }

  @Test("What a daemon answers comes out as it went in, with its exit status")
  func answer() throws {
    let failure = CommandFailure(.notPermitted, "refused", remedy: "try again")
    #expect(throws: failure) { try LoginRequest.Answer(failure).result() }
    let result = try LoginRequest.Answer(.init(stored: "added", inUse: true)).result()
    #expect(result.stored == "added")
    #expect(result.inUse)
  }

  @Test("Another version of the form is not guessed at, on neither side")
  func version() throws {
    try DaemonRequestVersion.check(1)
    #expect(throws: CommandFailure.self) { try DaemonRequestVersion.check(2) }
    var answer = LoginRequest.Answer(.init(stored: "added", inUse: true))
    answer.v = 2
    #expect(throws: DaemonAnswerForm.unreadable) { try answer.result() }
    var report = StoreAnswer(StoreReport())
    report.v = 2
    #expect(throws: DaemonAnswerForm.unreadable) { try report.result() }
  }
}
