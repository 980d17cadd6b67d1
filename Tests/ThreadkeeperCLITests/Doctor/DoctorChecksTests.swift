// SPDX-License-Identifier: Apache-2.0

import BridgeProtocol
import MosquittoClient
import Settings
import Testing

@testable import BrokerProbe
@testable import ThreadkeeperCLI
@testable import ThreadkeeperDaemon

@Suite("What doctor makes of what it finds")
struct DoctorChecksTests {
  private func results(_ findings: [Finding]) -> [Finding.Result] { findings.map(\.result) }

  @Test("A secret that others may read is a problem of the settings; other warnings stay warnings")
  func settings() {
    func problem(_ severity: SettingsProblem.Severity, _ message: String) -> SettingsProblem {
      SettingsProblem(
        place: .file("/etc/t.yaml"), severity: severity, key: "mqtt.password", message: message)
    }
    let result = SettingsResult(
      settings: nil,
      problems: [
        problem(.warning, "stands in a file that every user of this machine may read"),
        problem(.warning, "is not known"), problem(.error, "is missing"),
      ], file: "/etc/t.yaml")
    let findings = SettingsCheck.findings(result)
    #expect(results(findings) == [.problem, .warning, .problem])
    #expect(findings.map(\.status.rawValue) == [77, 78, 78])
    #expect(
      results(SettingsCheck.findings(SettingsResult(settings: nil, problems: [], file: nil)))
        == [.ok])
    #expect(results(SettingsCheck.findings(file: "/etc/t.yaml", mode: 0o644)) == [.ok])
    #expect(results(SettingsCheck.findings(file: "/etc/t.yaml", mode: 0o646)) == [.problem])
  }

  @Test("Without a daemon that is a warning; one that has the store and is silent is a problem")
  func noDaemon() {
    #expect(results(DaemonCheck.findings(nil, holder: nil)) == [.warning])
  }

  @Test(
    "Why the broker is not reached decides how the command ends",
    arguments: [
      (MosquittoError.Reason.nothingListens, Int32(69)), (.unknownHost, 69), (.credentials, 77),
      (.tlsFiles, 78), (.clientIdentifier, 78),
    ])
  func notReached(reason: MosquittoError.Reason, status: Int32) throws {
    let finding = try #require(
      BrokerCheck.findings(
        refused: MosquittoError(reason, "it is so"), loginRemedy: nil
      ).first)
    #expect(finding.result == .problem && finding.status.rawValue == status)
    #expect(finding.text == "It is so." && finding.remedy?.isEmpty == false)
  }

  @Test("What a broker lacks is named with the line that gives it")
  func offers() {
    var session = MosquittoSession(
      sessionPresent: false, protocolVersion: .v5, publishWindow: 20)
    var mqtt = Settings.MQTT()
    mqtt.host = .named("localhost")
    #expect(results(BrokerCheck.findings(session, mqtt, values: [:])) == [.ok, .ok])
    session.isRetainAvailable = false
    session.maximumQoS = 0
    session.areWildcardsAvailable = false
    session.serverReceiveMaximum = 20
    session.maximumPacketSize = 1000
    let findings = BrokerCheck.findings(
      session, mqtt, values: ["$SYS/broker/version": "mosquitto version 1.6.9"])
    #expect(findings.count { $0.result == .problem } == 3)
    #expect(findings.count { $0.result == .warning } == 2)
    #expect(findings.contains { $0.remedy?.contains("max_inflight_messages 1000") == true })
    mqtt.host = .named("broker.local")
    #expect(
      BrokerCheck.findings(session, mqtt, values: [:]).contains { $0.check == "tls" })
  }

  private func access(
    anonymous: AccessReport.Client, other: AccessReport.Client? = nil,
    own: ProbeOutcome = .delivered, daemonPublishes: Bool = false
  ) -> [Finding] {
    let session = MosquittoSession(
      sessionPresent: false, protocolVersion: .v5, publishWindow: 20)
    let topics = ProbeTopic.Group.allCases.map {
      AccessReport.Own(topic: ProbeTopic(base: "threadkeeper", group: $0), outcome: own)
    }
    return AccessCheck.findings(
      AccessReport(
        session: session, own: topics, refusedFilters: [], retained: [], values: [:],
        anonymous: anonymous, other: other), other: "hub", prefix: "homeassistant",
      daemonPublishes: daemonPublishes)
  }

  private func results(_ findings: [Finding], of check: String) -> [Finding.Result] {
    results(findings.filter { $0.check == check })
  }

  @Test("Only a refusal of the broker proves that nobody gets in without a login")
  func anonymousRefused() {
    func result(_ reason: MosquittoError.Reason) -> [Finding.Result] {
      results(access(anonymous: .refused(MosquittoError(reason, "no"))), of: "anonymous")
    }
    #expect(result(.credentials) == [.ok] && result(.tlsClientCertificate) == [.ok])
    #expect(result(.noAnswer) == [.notChecked] && result(.connectionLost) == [.notChecked])
  }

  @Test("What is not known of a client is said, and does not make it harmless")
  func unknown() {
    let unknown = AccessReport.Others(
      base: "threadkeeper", readsAnswers: .notChecked("lost"), readsEvents: .lost,
      speaksForOthers: .refused(MosquittoError(.notAuthorized, "no")),
      publishesStates: .lost, speaksForItself: .delivered, isAnswered: .lost)
    let findings = access(
      anonymous: .refused(MosquittoError(.credentials, "no")), other: .admitted([unknown]))
    #expect(results(findings, of: "other_login") == [.notChecked, .note])
  }

  @Test("A list that names each topic refuses probes, but not the daemon that runs")
  func exactTopics() {
    let refused = MosquittoError(.notAuthorized, "no")
    let running = access(
      anonymous: .refused(refused), own: .refused(refused), daemonPublishes: true)
    #expect(
      results(running, of: "topics")
        == [.problem, .problem, .notChecked, .notChecked, .notChecked, .notChecked])
    let stopped = access(anonymous: .refused(refused), own: .refused(refused))
    #expect(results(stopped, of: "topics") == .init(repeating: .problem, count: 6))
  }

  @Test(
    "Retained events and routers that are not listed are leftovers; without a list nobody knows")
  func retained() {
    func findings(_ topics: [String], _ routers: Set<String>?) -> [Finding] {
      RetainedCheck.findings(topics, bases: ["threadkeeper"], routers: routers)
    }
    let state = "threadkeeper/router/a1b2c3d4e5f60718/availability"
    #expect(results(findings([], [])) == [.ok])
    #expect(results(findings([state], ["threadkeeper/router/a1b2c3d4e5f60718"])) == [.ok])
    #expect(results(findings([state], [])) == [.warning])
    #expect(results(findings([state], nil)) == [.notChecked])
    let events = (1...5).map { "threadkeeper/in/hub\($0)/announce" }
    let many = findings(events, [])
    #expect(results(many) == [.warning])
    #expect(many[0].text.contains("`threadkeeper/in/hub1/announce`"))
    #expect(many[0].text.contains("and 2 more"))
  }

  @Test("The broker's own file says whether what waits for the daemon is kept")
  func queue() {
    #expect(results(QueueCheck.findings(nil)) == [.notChecked])
    var file = BrokerFile()
    file.add("# persistence true\nlistener 1884 127.0.0.1\n")
    #expect(file.listens(on: 1884) && !file.listens(on: 1883))
    #expect(results(QueueCheck.findings(file)) == [.warning, .warning])
    file.add("persistence true\nmax_queued_messages\t1000000\n")
    #expect(results(QueueCheck.findings(file)) == [.ok, .ok])
    let dropped = "$SYS/broker/publish/messages/dropped"
    #expect(results(QueueCheck.dropped([:])) == [.notChecked])
    #expect(results(QueueCheck.dropped([dropped: "0"])) == [.ok])
    #expect(results(QueueCheck.dropped([dropped: "7"])) == [.note])
  }

  @Test("Files that others can open, a full disk and an old backup have their remedies")
  func store() {
    let open = StoreCheck.permissions([("/s/store.key", 0o644, "400"), ("/s/store", 0o700, "700")])
    #expect(results(open) == [.problem])
    #expect(open[0].remedy == "Run `chmod 400 /s/store.key`.")
    #expect(results(StoreCheck.permissions([("/s/store", 0o700, "700")])) == [.ok])
    for (free, result) in [(10, Finding.Result.problem), (100, .warning), (5_000, .ok)] {
      #expect(
        results(StoreCheck.disk("/s", freeMiB: UInt64(free), isReadOnly: false)) == [result])
    }
    #expect(results(StoreCheck.disk("/s", freeMiB: 9_999, isReadOnly: true)) == [.problem])
    let now: Int64 = 1_800_000_000
    #expect(results(StoreCheck.backup(last: nil, now: now)) == [.warning])
    #expect(results(StoreCheck.backup(last: now - 3_600, now: now)) == [.ok])
    #expect(results(StoreCheck.backup(last: now - 31 * 86_400, now: now)) == [.warning])
    #expect(results(StoreCheck.keySlots([.keyFile])) == [.note])
    #expect(results(StoreCheck.keySlots([.keyFile, .recoveryCode])) == [.ok])
    #expect(results(StoreCheck.keySlots(nil)) == [.notChecked])
  }

  @Test("A clock that is wrong is a problem, one that nothing sets a warning")
  func clock() {
    let now: Int64 = 1_800_000_000
    #expect(results(SystemCheck.clock(isSynchronized: true, now: now)) == [.ok])
    #expect(results(SystemCheck.clock(isSynchronized: false, now: now)) == [.warning])
    #expect(results(SystemCheck.clock(isSynchronized: nil, now: now)) == [.notChecked])
    #expect(results(SystemCheck.clock(isSynchronized: true, now: 86_400)) == [.problem])
  }
}
