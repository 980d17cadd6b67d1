import Broker
import Testing
import ThreadDataset

@testable import Bridge
@testable import Home
@testable import HomeStore

@Suite("What is published of the daemon") struct BridgeStateTests {
  @Test("Presence is a word, and a clean stop a reason") func presence() {
    #expect(BridgeState.online.text == #"{"state":"online"}"#)
    #expect(BridgeState.offline.text == #"{"state":"offline"}"#)
    #expect(BridgeState.stopped.text == #"{"reason":"stopped","state":"offline"}"#)
    #expect(RouterAvailability.online.text == #"{"state":"online"}"#)
    #expect(RouterAvailability.offline.text == #"{"state":"offline"}"#)
  }

  @Test("Info has the keys and the preferred network once they are there") func info() {
    var settings = PublisherSettings(BaseTopics([.init(name: "ho\"me", base: "tk")]))
    settings.version = "1.2"
    settings.instanceID = "0a"
    func text(_ own: HomeSettings, _ preferred: DatasetSummary?) -> String {
      BridgeInfo(
        settings: settings, own: own, name: "ho\"me", preferred: preferred,
        protection: Home(rules: HomeRules { 1 }).protection, routers: 3, networks: 2
      ).json().text
    }
    #expect(
      text(.init(), nil) == #"{"alerts_hold":30,"home":"ho\"me","instance_id":"0a","networks":2,"offline_after":300,"#
        + #""on_mismatch":"alert","protection":"not_protected","#
        + #""protection_missing":["routers","preferred","key","alerts"],"routers":3,"v":1,"version":"1.2"}"#)
    settings.identity = { ("tk1:x", "0123") }
    var own = HomeSettings()
    own.onMismatch = .adopt
    #expect(
      text(own, .of(1)) == #"{"alerts_hold":30,"enrolment_line":"tk1:x","fingerprint":"0123","home":"ho\"me","#
        + #""instance_id":"0a","networks":2,"offline_after":300,"on_mismatch":"adopt","#
        + #""preferred_network":{"ext_pan_id":"0000000000000001","network_name":"net-1"},"#
        + #""protection":"not_protected","protection_missing":["routers","preferred","key","alerts"],"#
        + #""routers":3,"v":1,"version":"1.2"}"#)
  }

  @Test("Health is flat, and says why intake stands still") func health() {
    var snapshot = BridgeMonitor.Snapshot()
    snapshot.received = 5
    snapshot.rejected = 6
    snapshot.retainedIgnored = 7
    snapshot.duplicatesIgnored = 8
    snapshot.intakeReconnects = 10
    var counts = HomeCounts()
    counts.networks = 3
    let health = BridgeHealth(
      status: DaemonStatus(
        snapshot, counts, RequestService.Figures(answered: 11, refused: 12, dropped: 13), waiting: 9, uptime: 61_999))
    #expect(
      health.json().text == #"{"alerts_active":0,"answers_dropped":13,"duplicates_ignored":8,"events_waiting":9,"#
        + #""intake":"connecting","intake_reconnects":10,"messages_received":5,"#
        + #""messages_rejected":6,"networks":3,"publications_refused":0,"requests_answered":11,"#
        + #""requests_refused":12,"retained_ignored":7,"routers":0,"uptime_seconds":61,"v":1}"#)
    counts.credentialsReadAt = WireTime(milliseconds: 60_000)
    var status = DaemonStatus(snapshot, counts, RequestService.Figures(), waiting: 0, uptime: 0)
    status.lastBackup = WireTime(milliseconds: 0)
    let text = BridgeHealth(status: status).json().text
    #expect(text.contains(#""credentials_read_at":"1970-01-01T00:01:00Z""#))
    #expect(text.contains(#""last_backup_at":"1970-01-01T00:00:00Z""#))
  }

  @Test("The questions are counted, the first one is shown, and those for Home Assistant listed") func consent() {
    #expect(ConsentState(waiting: [], asked: []).json().text == #"{"pending":0,"v":1}"#)
    var requester = Requester(.login("hub"), team: "t")
    requester.fingerprint = "0123"
    func question(_ number: UInt64, _ router: ConsentSubject.Router?, _ networks: [UInt64]) -> ConsentQuestion {
      ConsentQuestion(
        id: ConsentID(number), requester: requester,
        subject: ConsentSubject(
          router == nil ? .nearby : .adopt,
          networks.map {
            ConsentNetwork(id: ExtendedPANID(number: $0), name: ExactName("n\"\($0)"), team: nil, key: nil)
          }, router: router), createdAt: WireTime(milliseconds: 0), expiresAt: WireTime(milliseconds: 120_000),
        replies: [], keyHasChanged: false)
    }
    let router = ConsentSubject.Router(
      agent: BorderAgentID(high: 1, low: 2), name: "Hall", network: .init(ExtendedPANID(number: 9), "old"))
    let asked = ConsentState.Asked(
      id: "c-0000000000000001", message: "why", expiresAt: WireTime(milliseconds: 120_000), token: "abc")
    #expect(
      ConsentState(waiting: [question(1, router, [7]), question(2, nil, [7])], asked: [asked]).json().text
        == #"{"border_agent_id":"00000000000000010000000000000002","command":"dataset/set","#
        + #""expires_at":"1970-01-01T00:02:00Z","ext_pan_id":"0000000000000007","#
        + #""fingerprint":"0123","head":"c-0000000000000001","#
        + #""home_assistant":[{"expires_at":"1970-01-01T00:02:00Z","id":"c-0000000000000001","#
        + #""message":"why","token":"abc"}],"network_name":"n'7","pending":2,"#
        + #""requester":"login hub (team t)","v":1}"#)
    let several = ConsentState(waiting: [question(2, nil, [7, 8])], asked: []).json().text
    #expect(several.contains(#""command":"networks/nearby""#))
    #expect(several.contains(#""network_name":"n'7, n'8","pending":1,"#))
    #expect(!several.contains("ext_pan_id") && !several.contains("home_assistant"))
  }
}
