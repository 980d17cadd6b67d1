// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import BrokerAccess
import Foundation
import MosquittoClient
import TestKit
import Testing

@testable import BrokerProbe
@testable import ThreadkeeperCLI

@Suite("What setup says of a broker, from a probe and its files")
struct BrokerAdviceTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private let wanted = AccessList(baseTopics: ["threadkeeper"], daemons: ["threadkeeper"])

  private func report(
    own: ProbeOutcome = .delivered, elsewhere: ProbeOutcome = .lost, anonymous: ProbeOutcome? = nil
  ) -> AccessReport {
    let other = anonymous.map { outcome in
      AccessReport.Others(
        base: "threadkeeper", readsAnswers: outcome, readsEvents: outcome,
        writesAnswers: outcome, speaksForOthers: outcome, publishesStates: outcome,
        speaksForItself: nil, readsOwnAnswers: nil)
    }
    return AccessReport(
      session: MosquittoSession(sessionPresent: false, protocolVersion: .v5, publishWindow: 20),
      own: [
        .init(topic: ProbeTopic(base: "threadkeeper", group: .inbound), outcome: own),
        .init(
          topic: ProbeTopic(base: BrokerVerdict.elsewhere, group: .inbound), outcome: elsewhere),
      ],
      refusedFilters: [], retained: [], values: [:],
      anonymous: other.map { .admitted([$0]) } ?? .refused(MosquittoError(.credentials, "no")),
      other: nil)
  }

  private func house(
    list: String?, logins: [String]? = ["threadkeeper", "hub", "nodered"], anonymous: Bool = false
  ) throws -> HouseBroker {
    func write(_ text: String, _ name: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: directory.file(name)))
      return directory.file(name)
    }
    var lines = ["listener 1883", "allow_anonymous \(anonymous)", "persistence true"]
    if let list { lines.append("acl_file \(try write(list, "own.acl"))") }
    if let logins {
      lines.append(
        "password_file \(try write(logins.map { "\($0):x\n" }.joined(), "passwords"))")
    }
    lines += ["max_queued_messages 0", "message_size_limit 65536"]
    let file = try write(lines.joined(separator: "\n") + "\n", "mosquitto.conf")
    return try #require(HouseBroker(host: "127.0.0.1", port: 1883, file: file))
  }

  private func advice(
    _ verdict: BrokerVerdict, _ house: HouseBroker?, kept: [String] = [], routers: [String] = [],
    isAnonymous: Bool = false
  ) throws -> BrokerAdvice {
    var list = wanted
    list.kept = kept
    return try BrokerAdvice(
      .init(
        list: list, options: [], isRoot: false, isLoginRefused: false, isAnonymous: isAnonymous,
        routers: routers), house, verdict)
  }

  private func lines(_ advice: BrokerAdvice) -> [String] { advice.steps.flatMap(\.lines) }

  @Test("All is well only where the list was seen and every own topic came back")
  func whole() throws {
    let house = try house(list: try wanted.text())
    func state(_ report: AccessReport?, _ house: HouseBroker?) -> BrokerVerdict.State {
      BrokerVerdict(report, house, for: wanted, reader: nil).state
    }
    #expect(state(report(), house) == .complete)
    #expect(state(report(own: .notChecked("slow")), house) == .unknown)
    #expect(state(nil, house) == .unknown)
    #expect(state(report(own: .lost), house) == .incomplete)

    let unseen = BrokerVerdict(report(), nil, for: wanted, reader: nil)
    #expect(unseen.state == .unknown)
    #expect(unseen.findings.first?.contains("could not be seen") == true)
    #expect(try advice(unseen, nil).list?.contains("user threadkeeper") == true)
  }

  @Test("What threadkeeper's login may do says nothing of others where the list can be read")
  func wideOwn() throws {
    let list = "user threadkeeper\ntopic readwrite #\n" + (try wanted.text())
    let wide = report(elsewhere: .delivered)
    #expect(
      BrokerVerdict(wide, try house(list: list), for: wanted, reader: nil).state == .complete)
    let alone = BrokerVerdict(wide, nil, for: wanted, reader: nil)
    #expect(alone.reasons.first?.hasPrefix("threadkeeper's own login may do everything") == true)
  }

  @Test("A border router's wide line is to be removed: a denial would take its own topics")
  func router() throws {
    let own = "user hub\ntopic read  threadkeeper/#\ntopic read weather\n"
    let house = try house(list: own + (try wanted.text()))
    let verdict = BrokerVerdict(report(), house, for: wanted, reader: nil)
    #expect(verdict.intruders == ["hub"])
    let advice = try advice(verdict, house, routers: ["hub"])
    #expect(lines(advice) == ["topic read  threadkeeper/#", "sudo systemctl reload mosquitto"])
    #expect(advice.steps.first?.what.contains("hub") == true && advice.list == nil)

    let kept = try self.advice(verdict, house, kept: ["hub"])
    #expect(lines(kept).contains { $0.contains("--keep hub | sudo tee -a") })
    #expect(kept.list?.contains("topic deny threadkeeper/#") == true)
  }

  @Test("Of a pattern for everybody only the pattern is to go")
  func pattern() throws {
    let house = try house(list: "pattern readwrite #\n" + (try wanted.text()))
    let verdict = BrokerVerdict(report(), house, for: wanted, reader: nil)
    #expect(verdict.isOpenToAll && verdict.intruders == [])
    let advice = try advice(verdict, house)
    #expect(!lines(advice).contains { $0.contains("tee -a") } && advice.list == nil)
    #expect(advice.steps.first?.what.contains("pattern") == true)
  }

  @Test("Where threadkeeper has no login, it is to get one, and no list is printed")
  func withoutLogin() throws {
    let verdict = BrokerVerdict(
      report(elsewhere: .delivered, anonymous: .delivered), nil, for: wanted, reader: nil)
    let advice = try advice(verdict, nil, isAnonymous: true)
    #expect(lines(advice) == ["threadkeeper setup --login threadkeeper"] && advice.list == nil)
  }

  @Test(
    "A broker elsewhere: clients without a login are kept, and a list that is there is added to")
  func elsewhere() throws {
    let open = BrokerVerdict(
      report(elsewhere: .delivered, anonymous: .delivered), nil, for: wanted, reader: nil)
    let queues = [
      "persistence true", "max_queued_messages 1000000", "max_queued_bytes 67108864",
      "message_size_limit 1048576",
    ]
    #expect(
      lines(try advice(open, nil)) == [
        "threadkeeper acl --keep-anonymous >threadkeeper.acl",
        "acl_file /etc/mosquitto/threadkeeper.acl",
      ] + queues + ["sudo systemctl restart mosquitto"])
    let closed = BrokerVerdict(report(own: .lost), nil, for: wanted, reader: nil)
    #expect(
      lines(try advice(closed, nil)) == ["threadkeeper acl --append >threadkeeper.lines"] + queues
        + ["sudo systemctl reload mosquitto"])
  }

  @Test("With a list and no password file, the new file is named, and has the kept logins, too")
  func newPasswordFile() throws {
    let house = try house(list: "user nodered\ntopic readwrite #\n", logins: nil)
    let verdict = BrokerVerdict(report(own: .lost), house, for: wanted, reader: nil)
    let lines = lines(try advice(verdict, house, kept: ["nodered"]))
    let file = directory.file("threadkeeper.passwd")
    for line in [
      "sudo mosquitto_passwd -c \(file) threadkeeper", "sudo mosquitto_passwd \(file) nodered",
      "password_file \(file)", "sudo chown mosquitto: \(file)",
    ] { #expect(lines.contains(line), "\(lines)") }
  }

  @Test("Files that say otherwise than the broker does are not its own")
  func contradiction() throws {
    let house = try house(list: nil)
    #expect(!house.contradicts(report(elsewhere: .delivered)))
    #expect(house.contradicts(report(elsewhere: .lost)))
    #expect(house.contradicts(report(elsewhere: .delivered, anonymous: .lost)))
    #expect(try self.house(list: nil, anonymous: true).contradicts(report(elsewhere: .delivered)))
  }
}
