import Broker
import Foundation
import Home
import HomeStore
import KeychainCore
import Settings
import TestKit
import Testing

@testable import Bridge
@testable import Threadkeeper

@Suite("What status reports of refusals") struct DaemonStateTests {
  @Test("The longest topic that a client can choose leaves room for the rest of the record") func longTopic() throws {
    for letter in ["\"", "\\", "😀"] {
      let topic = String(repeating: letter, count: 1_024)
      let refused = DaemonState.Refused(
        Refusal(
          .topic, topic: topic,
          MosquittoError(.notAuthorized, "the access list does not let `anna` publish to \(topic)"), count: 1))
      #expect(try JSONEncoder().encode(refused).count < 3_000)
      #expect(refused.remedy.contains("threadkeeper acl"))
    }
    let short = DaemonState.Refused(Refusal(.topic, topic: "a/b", MosquittoError(.unreachable, "too large"), count: 1))
    #expect(short.lastTopic == "a/b" && !short.remedy.contains("acl"))
  }

  @Test("Of devices of Home Assistant, status names how to allow them and how to do without") func devices() {
    let topic = "homeassistant/device/a/config"
    let refused = DaemonState.Refused(Refusal(.device, topic: topic, MosquittoError(.notAuthorized, "no"), count: 3))
    #expect(refused.topics == 3 && refused.lastTopic == topic)
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

  private func report(_ homes: [(name: String, home: SampleHome)]) -> StatusReport {
    var settings = Settings(stateDirectory: store.path)
    settings.homes = homes.map { .init(name: $0.name, base: $0.name) }
    let state = DaemonStateReader(
      settings: settings, port: 1883, monitor: BridgeMonitor(), discovery: { .off }, server: nil,
      login: { LoginInUse(username: nil, password: nil, source: .none) })
    let snapshot = HomeSnapshot(homes: Dictionary(uniqueKeysWithValues: homes.map { ($0.name, $0.home.home) }))
    return StatusReport(snapshot, settings, SealedRecords(store.keychain), runtime: state.current)
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
    #expect((report.homes, report.routers, report.networks) == (2, 4, 2))
    #expect((report.routersOffline, report.routersDetached) == (1, 1))
    #expect((report.routersElsewhere, report.credentials) == (0, 3))
    #expect(report.preferredNetworks.map(\.home) == ["home", "attic"])
    #expect(report.preferredNetworks.map(\.networkName) == ["home", "guest-thread"])
    #expect(report.preferredNetworks.first?.extPanId == SampleNetwork.home.extendedPANID)
    #expect(report.alerts == 2)
    #expect(
      report.alertsFiring.map { "\($0.count) \($0.severity) \($0.alertname)" } == [
        "1 warning CredentialsMissing", "1 info PlaintextCredentials",
      ])
    #expect(report.store.condition == "healthy")
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
