import Broker
import Foundation
import Home
import HomeStore
import KeychainCore
import LocalAPI
import Settings
import TestKit
import Testing
import Wire

@testable import Bridge
@testable import Threadkeeper

@Suite("What status reports of refusals") struct RefusalTests {
  @Test("The longest topic that a client can choose leaves room for the rest of the record") func longTopic() {
    for letter in ["\"", "\\", "😀"] {
      let topic = String(repeating: letter, count: 1_024)
      let refused = Refusal(
        .topic, topic: topic, MosquittoError(.notAuthorized, "the access list does not let `anna` publish to \(topic)"),
        count: 1)
      #expect(refused.json().count < 3_000)
      #expect(refused.remedy.contains("threadkeeper acl"))
    }
    let short = Refusal(.topic, topic: "a/b", MosquittoError(.unreachable, "too large"), count: 1)
    #expect(short.topic == "a/b" && !short.remedy.contains("acl"))
  }

  @Test("Of devices of Home Assistant, status names how to allow them and how to do without") func devices() {
    let topic = "homeassistant/device/a/config"
    let refused = Refusal(.device, topic: topic, MosquittoError(.notAuthorized, "no"), count: 3)
    #expect(refused.count == 3 && refused.topic == topic)
    #expect(refused.remedy.contains("threadkeeper acl"))
    #expect(refused.remedy.contains("home_assistant.discovery: off"))
    let removal = Refusal(.removal, topic: topic, MosquittoError(.notAuthorized, "no"), count: 1)
    #expect(removal.remedy.contains("mosquitto_pub"))
    let large = Refusal(.device, topic: topic, MosquittoError(.unreachable, "too large"), count: 1)
    #expect(!large.remedy.contains("acl"))
  }
}

@Suite("What status says of the homes") struct StatusReportTests {
  private let store: TemporaryStore

  init() throws { store = try TemporaryStore() }

  private func report(_ homes: [(name: String, home: SampleHome)]) -> DaemonStatus {
    var settings = Settings(stateDirectory: store.path)
    settings.homes = homes.map { .init(name: $0.name, base: $0.name) }
    let snapshot = HomeSnapshot(homes: Dictionary(uniqueKeysWithValues: homes.map { ($0.name, $0.home.home) }))
    var status = DaemonStatus(BridgeMonitor().snapshot, snapshot.counts, .init(), waiting: 0, uptime: 0)
    status.add(snapshot, settings, SealedRecords(store.keychain))
    return status
  }

  @Test("Numbers are of all homes, and preferred networks come in the order of the settings") func numbers() throws {
    var (attic, home) = (SampleHome(), SampleHome())
    try home.publish(.announce, 1, on: .home)
    try home.publish(.announce, 2)
    home.tick(after: 31)
    try attic.publish(.announce, 3, on: .guest) { $0.thread.state = .detached }
    try attic.publish(.announce, 4, on: .guest)
    try attic.publish(.offline, 4)
    let report = report([("home", home), ("attic", attic)])
    #expect((report.homes, report.counts.routers.listed, report.counts.networks) == (2, 4, 2))
    #expect((report.counts.routers.offline, report.counts.routers.detached) == (1, 1))
    #expect((report.counts.routers.elsewhere, report.counts.credentials) == (0, 3))
    #expect(report.preferred.map(\.home) == ["home", "attic"])
    #expect(report.preferred.map(\.name) == ["home", "guest-thread"])
    #expect(report.preferred.first?.network == SampleNetwork.home.extendedPANID)
    #expect(report.counts.alertsFiring == 2)
    #expect(
      report.counts.firing.map { "\($0.count) \($0.severity.word) \($0.name.word)" } == [
        "1 warning CredentialsMissing", "1 info PlaintextCredentials",
      ])
    #expect(report.store.condition == "healthy")
  }

  @Test("What is written is read again, and has no field but those of the interface") func wire() throws {
    var home = SampleHome()
    try home.publish(.announce, 1, on: .home)
    try home.publish(.announce, 2)
    var status = report([("home", home)])
    status.refused = Refusal(.topic, topic: "a/b", MosquittoError(.unreachable, "too large"), count: 1)
    (status.page, status.discovery) = (
      .init(.listening), .running(routers: 1, unlisted: [.init(name: "a", reason: "b")])
    )
    status.teams.abandoned = [.init(home: "home", agent: "a1b2c3d4e5f60718", team: "attic")]
    status.login.username = "anna"
    let read = try DaemonStatus(reading: status.json())
    #expect(read.json() == status.json())
    #expect(try JSONDecoder().decode(DaemonStatus.self, from: JSONEncoder().encode(status)).json() == status.json())
    let types: [(String, any WireObject)] = [
      ("Status", DaemonStatus()), ("Alert", HomeCounts.Firing()), ("Preferred", DaemonStatus.Preferred()),
      ("Broker", DaemonStatus.Connection()), ("Refused", Refusal()), ("Discovery", DiscoveryState()),
      ("UnlistedRecord", UnlistedRecord()), ("Page", DaemonStatus.Page()), ("Login", DaemonStatus.Login()),
      ("Intake", DaemonStatus.Intake()), ("Store", DaemonStatus.Store()), ("Teams", DaemonStatus.Teams()),
      ("AbandonedID", DaemonStatus.Teams.AbandonedID()),
    ]
    for (name, message) in types {
      let names = WireDescriber(message).fields.map(\.name)
      #expect(names == names.sorted())
      let text = try #require(VarlinkInterface.status.text.split(separator: "\ntype \(name) (", maxSplits: 1).last)
      let lines = text.prefix(upTo: try #require(text.firstRange(of: "\n)")).lowerBound).split(separator: "\n")
      let fields = lines.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.hasPrefix("#") }
      #expect(fields.map { $0.prefix { $0 != ":" } }.sorted() == names.map { $0[...] }, "\(name)")
    }
  }

  @Test("A store of which records cannot be read is not said to be healthy") func damaged() {
    var home = SampleHome()
    home.damage()
    let condition = report([("home", home), ("attic", SampleHome())]).store.condition
    #expect(condition == "damaged: records of home `home` cannot be read")
  }
}

@Suite("What the log says of approvers at the start") struct ApproverNoticeTests {
  private static let notEnrolled = "an approver is not enrolled, and decides nothing"
  private static let plaintext = "an approver is believed in plaintext"
  private static let assistant = "Home Assistant is believed in plaintext"
  private static let deaf = "Home Assistant's login is enrolled with the trust signed"

  @Test(
    "Who decides in plaintext is named, and who decides nothing",
    arguments: [
      (.signed, nil, false, notEnrolled), (.signed, .broker, false, nil), (.broker, .broker, false, plaintext),
      (.broker, .signed, false, nil), (.signed, nil, true, assistant), (.broker, .broker, true, assistant),
      (.signed, .signed, true, deaf),
    ] as [(Settings.Consent.ApproversTrust, EnrolledClient.Trust?, Bool, String?)]) func notice(
      _ trust: Settings.Consent.ApproversTrust, _ enrolment: EnrolledClient.Trust?, isHomeAssistant: Bool,
      _ words: String?
    )
  {
    var sample = SampleHome()
    if let enrolment {
      let client = EnrolledClient(line: "", fingerprint: "", trust: enrolment, at: sample.now, by: "a test")
      sample.handle(.enroll(client, "anna", by: .commandLine(user: 0)))
    }
    var settings = Settings(stateDirectory: "/dev/null")
    (settings.consent.approvers, settings.consent.approversTrust) = (["anna"], trust)
    if isHomeAssistant { settings.homeAssistant.login = "anna" }
    let log = RecordingLog()
    ApproverNotice(settings: settings, snapshot: HomeSnapshot(homes: ["home": sample.home])).log(to: log.logger)
    #expect(log.lines.count == (words == nil ? 0 : 1))
    #expect(log.lines.allSatisfy { $0.hasPrefix(words ?? "") && $0.contains("user=anna") })
  }
}
