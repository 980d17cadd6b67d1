// SPDX-License-Identifier: Apache-2.0

import DaemonSocket
import Foundation
import KeychainCore
import Testing
import ThreadRequests

@testable import ConsentLedger
@testable import ThreadkeeperDaemon

@Suite("What commands and the daemon say to each other")
struct KeeperAnswerTests {
  private func object(_ bytes: [UInt8]) throws -> NSDictionary {
    try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }

  @Test("Each kind of request is read as its own and as no other")
  func kinds() throws {
    let requests: [[UInt8]] = [
      try LoginRequest(command: .logout, broker: "mqtt://broker.local").bytes,
      try EnrolmentRequest(command: .list).bytes, try ConsentMessage(.list).bytes,
      try StoreRequest(command: .listKeys).bytes,
    ]
    for (number, bytes) in requests.enumerated() {
      let isRead = [
        LoginRequest(bytes: bytes) != nil, EnrolmentRequest(bytes: bytes) != nil,
        ConsentMessage(bytes: bytes) != nil, StoreRequest(bytes: bytes) != nil,
      ]
      #expect(isRead == requests.indices.map { $0 == number })
    }
  }

  @Test("No command is of two kinds, nor of those that programs and MQTT have")
  func commands() {
    let commands =
      LoginRequest.Command.allCases.map(\.rawValue)
      + EnrolmentRequest.Command.allCases.map(\.rawValue)
      + ConsentMessage.Command.allCases.map(\.rawValue)
      + StoreRequest.Command.allCases.map(\.rawValue)
      + RequestCommand.allCases.map(\.rawValue)
    #expect(Set(commands).count == commands.count)
  }

  @Test("An answer that no message can hold is a failure with words, and not silence")
  func tooLarge() throws {
    let bytes = EnrolmentRequest(command: .list).answer {
      EnrolmentReport(change: String(repeating: "a", count: DaemonConnection.limit))
    }
    let error = try #require(try object(bytes)["error"] as? NSDictionary)
    #expect(error["code"] as? String == "too_large")
    #expect(throws: CommandFailure.self) { try EnrolmentRequest.Answer.result(Data(bytes)) }
  }

  @Test("A report is told in the form that docs/reference/daemon-socket.md has, and read again")
  func report() throws {
    let bytes = EnrolmentRequest(command: .list).answer { EnrolmentReport(change: "enrolled") }
    #expect(try object(bytes) == ["v": 1, "status": "ok", "data": ["change": "enrolled"]])
    #expect(try EnrolmentRequest.Answer.result(Data(bytes)).change == "enrolled")
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
      let bytes = StoreRequest(command: .lock).answer { throw failure }
      let error = try #require(try object(bytes)["error"] as? NSDictionary)
      #expect(error["code"] as? String == code)
      #expect(error["exit"] as? Int == exit)
      #expect(throws: CommandFailure.self) { try StoreAnswer.result(Data(bytes)) }
    }
  }

  @Test("A request of another version is not done, and an answer that is none not believed")
  func versions() throws {
    var request = ConsentMessage(.list)
    request.v = 2
    let bytes = request.answer {
      Issue.record("it is done")
      return ConsentReport()
    }
    #expect(try object(bytes)["status"] as? String == "error")
    for answer in [
      "", "{}", "{\"v\":1,\"status\":\"ok\"}", "{\"v\":2,\"status\":\"ok\",\"data\":{}}",
    ] {
      #expect(throws: DaemonAnswerForm.unreadable) {
        try ConsentMessage.Answer.result(Data(answer.utf8))
      }
    }
  }

  @Test("An entry about consent is one JSON object, with the fields of both parts")
  func entry() throws {
    let request = ConsentReport.Request(
      id: "c-1", requester: "uid 1000", team: "a", home: "home", command: "preferred/get",
      networks: [], createdAt: "2026-01-02T03:04:05Z")
    let decision = ConsentReport.Decision(
      request: request, more: .init(outcome: "approved", decidedAt: "then", given: false))
    let bytes = try JSONEncoder().encode(decision)
    #expect(
      try object(Array(bytes)) == [
        "id": "c-1", "requester": "uid 1000", "team": "a", "home": "home",
        "command": "preferred/get", "networks": [], "created_at": "2026-01-02T03:04:05Z",
        "outcome": "approved", "decided_at": "then", "given": false,
      ])
    let read = try JSONDecoder().decode(ConsentReport.Decision.self, from: bytes)
    #expect(read.requester == "uid 1000" && read.given == false)
  }
}
