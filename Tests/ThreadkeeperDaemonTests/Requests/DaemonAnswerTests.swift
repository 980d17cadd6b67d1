// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Foundation
import KeychainCore
import Testing
import ThreadRequests

@testable import ConsentLedger
@testable import ThreadkeeperDaemon

@Suite("What commands and the daemon say to each other")
struct DaemonAnswerFormTests {
  private func object(_ bytes: [UInt8]) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }

  @Test("No command is of two kinds, nor of those that programs and MQTT have")
  func commands() {
    let commands =
      StoreRequest.Command.allCases.map(\.rawValue)
      + RequestCommand.allCases.map(\.rawValue)
    #expect(Set(commands).count == commands.count)
  }

  @Test("An answer that no message can hold is a failure with words, and not silence")
  func tooLarge() throws {
    let bytes = StoreRequest(command: .progress).answer {
      StoreReport(keyFileMade: String(repeating: "a", count: DaemonConnection.limit))
    }
    let error = try #require(try object(bytes)["error"] as? NSDictionary)
    #expect(error["code"] as? String == "too_large")
    #expect(throws: CommandFailure.self) { try StoreAnswer.result(Data(bytes)) }
  }

  @Test("A report is told in the form that docs/reference/daemon-socket.md has, and read again")
  func report() throws {
    let bytes = StoreRequest(command: .progress).answer { StoreReport(keyFileMade: "/key") }
    #expect(try object(bytes) == ["v": 1, "status": "ok", "data": ["keyFileMade": "/key"]])
    #expect(try StoreAnswer.result(Data(bytes)).keyFileMade == "/key")
  }

  @Test("What goes wrong has its code and its exit status, whatever it is")
  func failures() throws {
    struct Other: Error {}
    let failures: [(any Error, String, Int)] = [
      (CommandFailure(.usage, "no"), "invalid_payload", 64),
      (CommandFailure(.temporary, "no"), "ending", 75),
      (KeychainError(.authFailed, "no"), "refused", 77),
      (ConsentRefusal(.staleID, "no"), "stale_id", 66), (Other(), "store", 74),
    ]
    for (failure, code, exit) in failures {
      let bytes = StoreRequest(command: .progress).answer { throw failure }
      let error = try #require(try object(bytes)["error"] as? NSDictionary)
      #expect(error["code"] as? String == code)
      #expect(error["exit"] as? Int == exit)
      #expect(throws: CommandFailure.self) { try StoreAnswer.result(Data(bytes)) }
    }
  }

  @Test("A request of another version is not done, and an answer that is none not believed")
  func versions() throws {
    var request = StoreRequest(command: .progress)
    request.v = 2
    let bytes = request.answer {
      Issue.record("it is done")
      return StoreReport()
    }
    #expect(try object(bytes)["status"] as? String == "error")
    for answer in [
      "", "{}", "{\"v\":1,\"status\":\"ok\"}", "{\"v\":2,\"status\":\"ok\",\"data\":{}}",
    ] {
      #expect(throws: DaemonAnswerForm.unreadable) {
        try StoreAnswer.result(Data(answer.utf8))
      }
    }
  }
}
