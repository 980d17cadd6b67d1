import Settings
import Testing

@testable import Broker
@testable import KeychainCore
@testable import ServiceDiscovery
@testable import Threadkeeper

@Suite("What doctor makes of what it finds") struct DoctorChecksTests {
  private func results(_ findings: [Finding]) -> [Finding.Result] { findings.map(\.result) }

  @Test("A secret that others may read is a problem of the settings; other warnings stay warnings") func settings() {
    func problem(_ severity: SettingsProblem.Severity, _ message: String) -> SettingsProblem {
      SettingsProblem(place: .file("/etc/t.yaml"), severity: severity, key: "mqtt.password", message: message)
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
    #expect(findings[0].remedy?.contains("run `threadkeeper setup`") == true)
    #expect(results(SettingsCheck.findings(SettingsResult(settings: nil, problems: [], file: nil))) == [.ok])
    #expect(results(SettingsCheck.findings(file: "/etc/t.yaml", mode: 0o644)) == [.ok])
    #expect(results(SettingsCheck.findings(file: "/etc/t.yaml", mode: 0o646)) == [.problem])
  }

  @Test("Without a daemon that is a warning; one that has the store and is silent is a problem") func noDaemon() {
    #expect(results(DaemonCheck.findings(nil, holder: nil)) == [.warning])
    let silent = DaemonCheck.findings(nil, holder: LockHolder(processID: 7, program: "threadkeeper"))
    #expect(results(silent) == [.problem] && silent[0].status == .unavailable)
    #expect(silent[0].text.contains("threadkeeper, process 7"))
  }

  @Test("A user who may not look knows nothing of the daemon, but whose it is") func anothersDaemon() {
    let refusal = CommandFailure(
      .notPermitted, "it is theirs", remedy: "run it as that user: `sudo -u keeper threadkeeper …`")
    let unknown = DaemonCheck.findings(nil, holder: nil, access: refusal)
    #expect(results(unknown) == [.notChecked])
    #expect(unknown[0].remedy?.contains("sudo -u keeper") == true)
    let silent = DaemonCheck.findings(nil, holder: LockHolder(processID: 7, program: "threadkeeper"), access: refusal)
    #expect(silent[0].remedy?.contains("sudo -u keeper") == true)
  }

  @Test(
    "Why the broker is not reached decides how the command ends",
    arguments: [
      (MosquittoError.Reason.nothingListens, Int32(69)), (.unknownHost, 69), (.credentials, 77), (.tlsFiles, 78),
      (.clientIdentifier, 78),
    ]) func notReached(reason: MosquittoError.Reason, status: Int32) throws
  {
    let finding = try #require(
      BrokerCheck.findings(refused: MosquittoError(reason, "it is so"), loginRemedy: nil).first)
    #expect(finding.result == .problem && finding.status.rawValue == status)
    #expect(finding.text == "It is so." && finding.remedy?.isEmpty == false)
    // `login` works beside a daemon alone.
    #expect((finding.remedy?.contains("Run `threadkeeper setup`") == true) == (status == 77))
  }

  @Test("A password that goes over the network in plaintext is noted") func plaintext() {
    let session = MosquittoSession(sessionPresent: false, protocolVersion: .v5, publishWindow: 20)
    var mqtt = Settings.MQTT()
    mqtt.host = .named("localhost")
    #expect(results(BrokerCheck.findings(session, mqtt, values: [:])) == [.ok, .ok])
    mqtt.host = .named("broker.local")
    #expect(BrokerCheck.findings(session, mqtt, values: [:]).contains { $0.check == "tls" })
  }

  private func access(anonymous: AccessReport.Client, other: AccessReport.Client? = nil, own: ProbeOutcome = .delivered)
    -> [Finding]
  {
    AccessCheck.findings(
      report(anonymous: anonymous, other: other) { _ in own }, login: "keeper", other: "hub", prefix: "homeassistant")
  }

  private func report(
    anonymous: AccessReport.Client = .admitted([]), other: AccessReport.Client? = nil, retained: [String] = [],
    own: (ProbeTopic.Group) -> ProbeOutcome = { _ in .delivered }
  ) -> AccessReport {
    let session = MosquittoSession(sessionPresent: false, protocolVersion: .v5, publishWindow: 20)
    let topics = ProbeTopic.Group.allCases.map {
      AccessReport.Own(topic: ProbeTopic(base: "threadkeeper", group: $0), outcome: own($0))
    }
    return AccessReport(
      session: session, own: topics, refusedFilters: [], retained: retained, values: [:], anonymous: anonymous,
      other: other)
  }

  private func results(_ findings: [Finding], of check: String) -> [Finding.Result] {
    results(findings.filter { $0.check == check })
  }

  @Test("Only a refusal of the broker proves that nobody gets in without a login") func anonymousRefused() {
    func result(_ reason: MosquittoError.Reason) -> [Finding.Result] {
      results(access(anonymous: .refused(MosquittoError(reason, "no"))), of: "anonymous")
    }
    for reason in MosquittoError.Reason.allCases {
      let isDecision = [.credentials, .notAuthorized, .tlsClientCertificate].contains(reason)
      #expect(result(reason) == [isDecision ? .ok : .notChecked], "\(reason)")
    }
  }

  @Test("What is not known of a client is said, and does not make it harmless") func unknown() {
    func others(
      _ outcome: ProbeOutcome, states: ProbeOutcome = .lost, writes: ProbeOutcome = .lost,
      itself: ProbeOutcome = .delivered, answers: ProbeOutcome = .delivered
    ) -> [Finding] {
      let home = AccessReport.Others(
        base: "threadkeeper", readsAnswers: outcome, readsEvents: .lost, writesAnswers: writes,
        speaksForOthers: .refused(MosquittoError(.notAuthorized, "no")), publishesStates: states,
        speaksForItself: itself, readsOwnAnswers: answers)
      return access(anonymous: .refused(MosquittoError(.credentials, "no")), other: .admitted([home])).filter {
        $0.check == "other_login"
      }
    }
    let unknown = ProbeOutcome.notChecked("the connection ended")
    #expect(results(others(.lost)) == [.ok, .ok])
    #expect(others(.lost)[0].text.contains("One topic of each was tried: `threadkeeper/in/"))
    #expect(results(others(unknown, answers: .lost)) == [.notChecked, .note])
    #expect(results(others(.lost, states: unknown)) == [.notChecked, .ok])
    #expect(results(others(.lost, writes: .delivered)) == [.problem, .ok])
    #expect(results(others(.lost, itself: .lost, answers: unknown)) == [.ok, .note])
    #expect(results(others(.lost, itself: unknown)) == [.ok, .notChecked])
    #expect(results(others(.lost, answers: unknown)) == [.ok, .notChecked])
  }

  @Test("What the daemon's login may not do is one problem, with all topics and the broker's words") func lacking() {
    func topics(_ outcome: ProbeOutcome) -> [Finding] {
      access(anonymous: .admitted([]), own: outcome).filter { $0.check == "topics" }
    }
    let error = MosquittoError(.notAuthorized, "the broker says no")
    let refused = topics(.refused(error))
    #expect(results(refused) == [.problem])
    #expect(
      refused[0].text.hasPrefix("The login `keeper` may not write `threadkeeper/alert/…`, ")
        && refused[0].text.hasSuffix(": the broker says no."), "\(refused[0].text)")

    // Of what it only publishes, nothing has to come back.
    let unreadable = topics(.unreadable(error))
    #expect(results(unreadable) == [.problem, .notChecked])
    #expect(
      unreadable[0].text
        == "The login `keeper` may not read `threadkeeper/in/…`, `threadkeeper/out/…`: the broker says no.")
    let lost = topics(.lost)
    #expect(results(lost) == [.problem, .notChecked])
    #expect(
      lost[0].text.contains("`threadkeeper/in/threadkeeper-probe/probe`, `threadkeeper/out/")
        && lost[0].text.contains("does not come back: it may not write or not read there"), "\(lost[0].text)")
    for group in ["bridge", "router", "network", "alert"] {
      #expect(lost[1].text.contains("`threadkeeper/\(group)/"), "\(lost[1].text)")
      #expect(!lost[0].text.contains("`threadkeeper/\(group)/"), "\(lost[0].text)")
    }
    #expect(results(topics(.notChecked("slow"))) == .init(repeating: .notChecked, count: 6))
  }

  @Test("Retained events and routers that are not listed are leftovers; without a list nobody knows") func retained() {
    func findings(_ topics: [String], _ routers: Set<String>?) -> [Finding] {
      RetainedCheck.findings(report(retained: topics), bases: ["threadkeeper"], routers: routers)
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
    // Neither another program's, nor one of them twice.
    #expect(results(findings(["zigbee2mqtt/lamp/availability"], [])) == [.ok])
    #expect(results(findings(["threadkeeper/in/hub/availability"], [])) == [.warning])
  }

  @Test("What the daemon's login may not read can hold leftovers that nobody sees") func retainedUnread() {
    for group in [ProbeTopic.Group.inbound, .router] {
      let report = report { $0 == group ? .lost : .delivered }
      let findings = RetainedCheck.findings(report, bases: ["threadkeeper"], routers: [])
      #expect(results(findings) == [.notChecked])
    }
    let report = report { $0 == .network ? .lost : .delivered }
    #expect(results(RetainedCheck.findings(report, bases: ["threadkeeper"], routers: [])) == [.ok])
  }

  @Test("A store that nothing at hand opens is a problem, unless something else may open it") func unopened() {
    func isDefect(_ status: Threadkeeper.ExitStatus, _ slots: [KeySlot.Kind]?, hasPassphrase: Bool = false) -> Bool {
      StoreCheck.isDefect(CommandFailure(status, "no"), slots: slots, hasPassphrase: hasPassphrase)
    }
    #expect(isDefect(.notPermitted, [.keyFile]) && isDefect(.notPermitted, nil))
    #expect(isDefect(.notPermitted, [.keyFile, .recoveryCode]))
    #expect(isDefect(.badInput, [.passphrase]) && isDefect(.inputOutput, nil))
    #expect(!isDefect(.temporary, [.keyFile]))
    #expect(!isDefect(.notPermitted, [.keyFile, .passphrase]))
    #expect(isDefect(.notPermitted, [.passphrase], hasPassphrase: true))
    #expect(!isDefect(.notPermitted, [.systemdCredential, .recoveryCode]))

    func findings(_ status: Threadkeeper.ExitStatus, isDefect: Bool, condition: String? = nil) -> [Finding] {
      StoreCheck.findings(
        failure: CommandFailure(status, "there is no key file"), isDefect: isDefect, condition: condition,
        path: "/s/store")
    }
    #expect(results(findings(.notPermitted, isDefect: false)) == [.notChecked])
    #expect(results(findings(.notPermitted, isDefect: false, condition: "healthy")) == [.ok])
    #expect(findings(.notPermitted, isDefect: true).map(\.status) == [.notPermitted])
    #expect(findings(.badInput, isDefect: true).map(\.status) == [.inputOutput])
    let later = findings(.notPermitted, isDefect: true, condition: "healthy")
    #expect(results(later) == [.problem] && later[0].text.contains("will not start again"))
  }

  @Test("The broker's own file says whether what waits for the daemon is kept") func queue() {
    #expect(results(QueueCheck.findings(nil)) == [.notChecked])
    var options = MosquittoOptions()
    options.read("# persistence true\nlistener 1884 127.0.0.1\n")
    #expect(results(QueueCheck.findings(options)) == [.warning, .warning])
    #expect(options.missing == [MosquittoOptions.persistence] + MosquittoOptions.queue + [MosquittoOptions.messageSize])
    options.read("persistence true\nmax_queued_messages\t1000000\n")
    #expect(results(QueueCheck.findings(options)) == [.ok, .ok])
    #expect(options.missing == [MosquittoOptions.messageSize])
    let dropped = "$SYS/broker/publish/messages/dropped"
    #expect(results(QueueCheck.dropped([:])) == [.notChecked])
    #expect(results(QueueCheck.dropped([dropped: "0"])) == [.ok])
    #expect(results(QueueCheck.dropped([dropped: "7"])) == [.note])
  }

  @Test("Files that others can open, a full disk and an old backup have their remedies") func store() {
    let open = StoreCheck.permissions([("/s/store.key", 0o644, "400"), ("/s/store", 0o700, "700")])
    #expect(results(open) == [.problem])
    #expect(open[0].remedy == "Run `chmod 400 /s/store.key`.")
    #expect(results(StoreCheck.permissions([("/s/store", 0o700, "700")])) == [.ok])
    #expect(results(StoreCheck.permissions([("/s/store", 0o700, "700")], unseen: ["/k/store.key"])) == [.notChecked])
    for (free, result) in [(10, Finding.Result.problem), (100, .warning), (5_000, .ok)] {
      #expect(results(StoreCheck.disk("/s", freeMiB: UInt64(free), isReadOnly: false)) == [result])
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

  @Test("A clock that is wrong is a problem, one that nothing sets a warning") func clock() {
    let now: Int64 = 1_800_000_000
    #expect(results(SystemCheck.clock(isSynchronized: true, now: now)) == [.ok])
    #expect(results(SystemCheck.clock(isSynchronized: false, now: now)) == [.warning])
    #expect(results(SystemCheck.clock(isSynchronized: nil, now: now)) == [.notChecked])
    #expect(results(SystemCheck.clock(isSynchronized: true, now: 86_400)) == [.problem])
  }

  @Test("Devices are looked for where the Matter controller is here, and a route to them is well") func devices() throws
  {
    var sample = SampleHome()
    var settings = Settings(stateDirectory: "/s")
    settings.matterController = .here
    let (none, route) = (
      MachineNetwork(),
      MachineNetwork.Route(prefix: 0xFD97 << 48, length: 16, hops: [.init(interface: "eth0", gateway: "fe80::1")])
    )
    #expect(SystemCheck.devices(settings, sample.home) { none }.isEmpty)
    try sample.publish(.announce, 1, on: .home)
    try sample.see(2, on: .home)
    let lost = SystemCheck.devices(settings, sample.home) { none }
    #expect(results(lost) == [.problem] && lost[0].status == .system)
    #expect(lost[0].text.contains("cannot be reached from here") && lost[0].remedy?.hasSuffix(".") == true)
    #expect(results(SystemCheck.devices(settings, sample.home) { .init(routes: [route]) }) == [.ok])
    #expect(results(SystemCheck.devices(settings, sample.home) { nil }) == [.notChecked])
    #expect(SystemCheck.devices(settings, nil) { none }.isEmpty)
    settings.matterController = .elsewhere
    #expect(SystemCheck.devices(settings, sample.home) { none }.isEmpty)
    (settings.matterController, settings.discovery) = (.here, .off)
    #expect(SystemCheck.devices(settings, sample.home) { none }.isEmpty)
  }
}
