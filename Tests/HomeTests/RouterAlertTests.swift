import Testing
import ThreadDataset

@testable import Home

/// Alerts of routers, from what brings them up to their end.
@Suite struct RouterAlertTests {
  /// What brings an alert of router 1 up, and what ends it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: AlertName
    let message: AlertFacts.Message
    var differs: DatasetDifferences?
    let begin: @Sendable (inout HomeScene) -> Void
    let end: @Sendable (inout HomeScene) -> Void

    var testDescription: String { "\(name)" }
  }

  private static func announce(_ dataset: DatasetSummary) -> @Sendable (inout HomeScene) -> Void {
    { $0.announce(1, dataset) }
  }

  static let cases: [Case] = [
    Case(
      name: .preferredNetworkMismatch, message: .otherNetwork, differs: [.extendedPANID, .networkName],
      begin: announce(.of(2)), end: announce(.of(1, at: 5))),
    Case(
      name: .datasetConflict, message: .reportsConflict, differs: .channel, begin: announce(.of(1, at: 5, channel: 20)),
      end: announce(.of(1, at: 5))),
    Case(name: .staleDataset, message: .reportsOlder, begin: announce(.of(1, at: 4)), end: announce(.of(1, at: 5))),
    Case(
      name: .credentialsMissing, message: .noDataset,
      begin: {
        $0.publish(.leave, 1)
        $0.announce(1)
      }, end: announce(.of(1, at: 5))),
    Case(
      name: .credentialsMissing, message: .noDataset, begin: { $0.announce(1) { $0.lacks = [.pskc] } },
      end: { $0.announce(1) }),
    Case(
      name: .borderRouterOffline, message: .offline(.frozen),
      begin: { $0.publish(.offline, 1) { $0.offlineReason = .frozen } }, end: { $0.publish(.heartbeat, 1) }),
    Case(
      name: .wellKnownNetworkKey, message: .wellKnownKey, begin: announce(.of(1, at: 6, isWellKnown: true)),
      end: announce(.of(1, at: 7))),
    Case(
      name: .routerDetached, message: .detached, begin: { $0.publish(.heartbeat, 1) { $0.thread.state = .detached } },
      end: { $0.publish(.heartbeat, 1) { $0.thread.state = .router } }),
  ]

  private static func scene() -> HomeScene {
    var scene = HomeScene { $0.settings.offlineAfter = 0 }
    scene.announce(2, .of(1, at: 5))
    scene.announce(1, .of(1, at: 5))
    scene.pass(seconds: 40)
    return scene
  }

  @Test("All alerts of routers are tried here, but for those that have suites of their own") func complete() {
    #expect(
      Set(
        Self.cases.map(\.name) + [
          .adoptionFailed, .unknownRouter, .credentialSharingOpen, .routerNotAdvertised, .reportsDiffer,
        ]) == Set(AlertName.ofRouters))
  }

  @Test("Held for 30 seconds, raised, resolved, and forgotten after a day", arguments: cases) func life(_ one: Case)
    throws
  {
    var scene = Self.scene()
    one.begin(&scene)
    let began = scene.now
    #expect(scene.output.alerts[one.name] == nil)
    scene.pass(seconds: 29)
    #expect(scene.alert(one.name, 1)?.phase == .held && !scene.alarms.contains(.of(one.name, 1)))
    #expect(scene.due().map { $0 <= 1 } == true)
    #expect(scene.pass(seconds: 1).alerts[one.name] == .raised)
    let raised = try #require(scene.alert(one.name, 1))
    #expect(raised.startsAt == began && raised.endsAt == nil && raised.sequence == 1)
    #expect(raised.facts.message == one.message && raised.facts.differs == one.differs)
    #expect(raised.facts.router == 1 && raised.facts.preferred?.id == 1)
    one.end(&scene)
    #expect(scene.output.alerts[one.name] == .resolved)
    let resolved = try #require(scene.alert(one.name, 1))
    #expect(resolved.endsAt == scene.now && resolved.sequence == 2)
    scene.pass(seconds: 86_399)
    #expect(scene.alert(one.name, 1) != nil)
    _ = scene.home.takeChanges()
    scene.pass(seconds: 1)
    #expect(scene.alert(one.name, 1) == nil)
    #expect(scene.home.takeChanges().records.contains(.alert(.of(one.name, 1))))
  }

  @Test("Dropped without a word when it ends within the hold", arguments: cases) func drop(_ one: Case) {
    var scene = Self.scene()
    one.begin(&scene)
    scene.pass(seconds: 29)
    one.end(&scene)
    #expect(scene.alert(one.name, 1) == nil && scene.output.alerts[one.name] == nil)
    #expect(scene.pass(seconds: 60).alerts[one.name] == nil)
  }

  @Test("Resolved or dropped when the router leaves", arguments: cases) func leave(_ one: Case) {
    var scene = Self.scene()
    one.begin(&scene)
    scene.publish(.leave, 1)
    #expect(scene.alert(one.name, 1) == nil)
    scene.announce(1, .of(1, at: 8))
    scene = Self.scene()
    one.begin(&scene)
    scene.pass(seconds: 30)
    #expect(scene.publish(.leave, 1).alerts[one.name] == .resolved)
    #expect(!scene.alarms.contains { $0.subject == .router(1) })
  }

  @Test("Only something new is published: other facts, and not another occasion") func update() {
    var scene = Self.scene()
    scene.announce(1, .of(2))
    scene.pass(seconds: 30)
    scene.announce(1, .of(2))
    scene.publish(.ssid, 1) {
      $0.ssid = "a"
      $0.previousSSID = "b"
    }
    scene.announce(1, .of(2, at: 2))
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.sequence == 1)
    #expect(scene.announce(1) { $0.name = "Attic" }.alerts == [.preferredNetworkMismatch: .updated])
    #expect(scene.announce(1, .of(2, at: 3, name: "x")).alerts == [.preferredNetworkMismatch: .updated])
  }

  @Test("What is found out while it is held is in it when it is raised") func amend() {
    var scene = Self.scene()
    scene.announce(1, .of(2))
    scene.pass(seconds: 20)
    #expect(scene.announce(1) { $0.name = "Attic" }.alerts == [:])
    scene.pass(seconds: 10)
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.routerName == "Attic")
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.sequence == 1)
  }

  @Test("Against the preferred network comes first, and then what a router reported against its own") func both() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1, at: 9))
    scene.announce(1, .of(1, at: 5, channel: 20))
    #expect(scene.alert(.staleDataset, 1)?.facts.message == .behind)
    #expect(scene.alert(.staleDataset, 1)?.facts.differs == .channel)
    scene.announce(1, .of(1, at: 4, channel: 20))
    #expect(scene.alert(.staleDataset, 1)?.facts.message == .behind)
    scene.announce(1, .of(1, at: 5, channel: 21))
    #expect(scene.alarms == [.of(.staleDataset, 1), .of(.datasetConflict, 1)])
    #expect(scene.alert(.datasetConflict, 1)?.facts.message == .reportsConflict)
    scene.announce(2, .of(1, at: 9, channel: 20))
    #expect(scene.alert(.datasetConflict, 2)?.facts.message == .sameAge)
  }

  @Test("What a dataset lacks is named, and what is stored stays") func lacks() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    for lacks in [[TLVType.pskc], [.channelMask, .networkName, .pskc, .securityPolicy]] {
      scene.announce(1) { $0.lacks = lacks }
      let facts = try #require(scene.alert(.credentialsMissing, 1)?.facts)
      #expect(facts.otherNames.first == lacks.map(\.name))
      #expect(scene.router(1)?.dataset == .of(1) && scene.preferred == .of(1))
    }
    scene.announce(1, .of(1))
    #expect(!scene.alarms.contains(.of(.credentialsMissing, 1)))
  }

  @Test("An error of a router's REST interface is kept until it is online, or offline for another reason")
  func httpStatus() throws {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(1, .of(1))
    for status in [UInt16?.some(500), nil] {
      scene.publish(.offline, 1) { ($0.offlineReason, $0.httpStatus) = (.failing, status) }
      let facts = try #require(scene.alert(.borderRouterOffline, 1)?.facts)
      #expect(facts.message == .offline(.failing) && facts.httpStatus == status)
    }
    scene.publish(.offline, 1) { ($0.offlineReason, $0.httpStatus) = (.frozen, 500) }
    #expect(scene.router(1)?.httpStatus == nil)
    scene.publish(.offline, 1) { ($0.offlineReason, $0.httpStatus) = (.failing, 408) }
    scene.publish(.heartbeat, 1)
    #expect(scene.router(1)?.httpStatus == nil && scene.router(1)?.isOnline == true)
  }

  @Test("An alert is written before it fires, and what it is about is published again when it does") func written() {
    var scene = Self.scene()
    _ = scene.home.takeChanges()
    scene.publish(.offline, 1)
    let key = RecordKey.alert(.of(.borderRouterOffline, 1))
    #expect(Set(scene.home.takeChanges().records) == [key, .router(1)])
    scene.pass(seconds: 120)
    #expect(Array(scene.home.takeChanges().records) == [key])
  }

  @Test("Severity that changes is said with the update") func severity() {
    var scene = HomeScene { $0.settings.alertsHold = 0 }
    scene.announce(9, .of(1))
    scene.see(.of(1, on: 2))
    #expect(scene.alert(.preferredNetworkMismatch, 1)?.facts.message == .neverMember)
    func previous(_ output: HomeOutput) -> [AlertSeverity?] {
      output.events.compactMap {
        if case .alert(.of(.preferredNetworkMismatch, 1), _, .updated, let before) = $0 { before } else { nil }
      }
    }
    #expect(previous(scene.announce(1, .of(2))) == [.info])
    let again = scene.announce(1, .of(2)) { $0.name = "Attic" }
    #expect(again.alerts == [.preferredNetworkMismatch: .updated] && previous(again) == [nil])
  }
}
