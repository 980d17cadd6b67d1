import Testing
import ThreadDataset

@testable import Home

@Suite("How far a home is protected") struct ProtectionTests {
  typealias Step = Protection.Step

  @Test("Each step is missing until it is taken, and comes back when it is lost") func steps() {
    var scene = HomeScene()
    func expect(_ missing: [Step], _ state: Protection.State) {
      #expect(scene.home.protection.missing == missing && scene.home.protection.state == state)
    }
    scene.handle(.recoveryCode(false))
    expect(Step.allCases, .notProtected)
    scene.see(.of(1))
    expect([.preferred, .key, .alerts, .recoveryCode], .notProtected)
    scene.prefer(network: 1)
    expect([.key, .alerts, .recoveryCode], .watching)
    scene.announce(1, .of(1))
    scene.prefer(.of(1))
    expect([.alerts, .recoveryCode], .watching)
    scene.handle(.confirmAlerts(true))
    scene.handle(.recoveryCode(true))
    expect([], .protected)
    scene.handle(.confirmAlerts(false))
    expect([.alerts], .watching)
  }

  @Test("Preferring a network reads no key: what has it says when, and only without that the choice does")
  func keyReadBefore() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    let reported = scene.now
    for _ in 1...2 {
      scene.pass(seconds: 3_600)
      scene.prefer(.of(2))
      #expect(scene.home.preferred?.dataset.network == 2)
      scene.pass(seconds: 3_600)
      scene.prefer(network: 1)
      #expect(scene.home.preferred?.changedAt == scene.now)
      #expect(scene.home.keyReadAt == reported, "its router has not been there since")
    }
    scene.command(.storeCredentials(3, .of(3)))
    let stored = scene.now
    scene.pass(seconds: 60)
    scene.prefer(.of(3))
    #expect(scene.home.keyReadAt == stored, "they came before")
    scene.prefer(.of(2))
    #expect(scene.home.keyReadAt == scene.now, "nothing else has it")
  }

  @Test("Of a router that is advertised, too, each report of its agent counts, and its record does not")
  func keyOfAdvertised() {
    var scene = HomeScene()
    scene.announce(1, .of(1))
    scene.prefer(.of(1))
    scene.publish(.heartbeat, 1)
    scene.pass(seconds: 60)
    scene.see(.of(1))
    #expect(scene.router(1)?.isAdvertised == true && scene.home.keyReadAt == scene.now.adding(seconds: -60))
    scene.publish(.heartbeat, 1)
    let reported = scene.now
    #expect(scene.home.keyReadAt == reported)
    for version in ["1.4.1", "1.4.2"] {
      scene.pass(seconds: 60)
      scene.see(.of(1) { $0.threadVersion = version })
      #expect(scene.home.keyReadAt == reported)
    }
    scene.see()
    #expect(scene.router(1)?.isAdvertised == false && scene.home.keyReadAt == reported)
  }

  @Test("The key was read when it came, when a router or a store showed it, and when its agent reported last")
  func keyReadAt() throws {
    var scene = HomeScene()
    #expect(scene.home.keyReadAt == nil)
    scene.see(.of(1))
    scene.prefer(network: 1)
    #expect(scene.home.keyReadAt == nil, "its key is not here")
    scene.wait(seconds: 60)
    scene.share(.of(1))
    scene.prefer(.of(1))
    let came = scene.now
    #expect(scene.home.keyReadAt == came)
    scene.pass(seconds: 60)
    #expect(scene.home.keyReadAt == came)
    scene.share(.of(1))
    #expect(scene.home.keyReadAt == scene.now)
    scene.pass(seconds: 60)
    scene.announce(2, .of(1))
    scene.pass(seconds: 60)
    scene.publish(.heartbeat, 2)
    #expect(scene.home.keyReadAt == scene.now)
    scene.pass(seconds: 60)
    scene.announce(2, .of(3))
    #expect(scene.home.keyReadAt != scene.now, "it has another key now")
  }

  @Test("Where no recovery code can open the store, none is missing") func fleet() {
    let scene = HomeScene()
    #expect(scene.home.protection.steps == [.routers, .preferred, .key, .alerts])
  }

  @Test("What a person has said, and the recovery code, are written down once") func records() throws {
    var scene = HomeScene()
    for (input, isWritten) in [
      (HomeInput.confirmAlerts(true), true), (.confirmAlerts(true), false), (.recoveryCode(true), true),
      (.recoveryCode(true), false),
    ] {
      scene.handle(input)
      #expect(scene.home.takeChanges().records.contains(.home) == isWritten)
    }
    var read = Home(rules: scene.rules)
    _ = try read.load(try #require(scene.home.record(.home)))
    #expect(read == scene.home && read.areAlertsConfirmed && read.hasRecoveryCode == true)
  }

  @Test("A test alert fires at once, and ends when it has arrived, or by itself") func testAlert() {
    var scene = HomeScene()
    let key = AlertKey(.testAlert)
    scene.handle(.condition(.testAlert, AlertFacts(.daemon)))
    #expect(scene.alert(.testAlert)?.phase == .firing && key.severity(AlertFacts(.daemon)) == .warning)
    #expect(scene.handle(.confirmAlerts(true)).answer == .accepted(isChange: true, isKnown: true))
    #expect(scene.alert(.testAlert)?.phase == .resolved)
    for _ in 0..<2 {
      #expect(scene.handle(.testAlert(AlertFacts(.daemon))).answer == .accepted(isChange: true, isKnown: true))
      #expect(scene.alert(.testAlert)?.phase == .firing, "also where one fires already")
    }
    scene.pass(seconds: 600)
    #expect(scene.alert(.testAlert)?.phase == .resolved)
  }
}
