import Testing

@testable import Home

/// The life of one alert, whatever it is about. How much each matters: the golden file `alerts.txt` of the Bridge.
@Suite struct AlertTests {
  private static let start = WireTime(milliseconds: 1_000_000)
  private static let first = AlertFacts(.detached)
  private static let other = AlertFacts(.noDataset)

  private static func alert(_ phase: Alert.Phase) -> Alert {
    var (alert, _) = Alert.began(first, hold: phase == .held ? 30 : 0, at: start)
    if phase == .resolved { _ = alert.set(nil, hold: 0, at: start) }
    return alert
  }

  @Test(
    "What becomes of an alert",
    arguments: [
      (Alert.Phase.held, 29, Optional(first), Alert.Phase.held, Alert.News?.none), (.held, 29, other, .held, nil),
      (.held, 30, first, .firing, .raised), (.held, 29, nil, .resolved, nil), (.firing, 29, first, .firing, nil),
      (.firing, 29, other, .firing, .updated), (.firing, 29, nil, .resolved, .resolved),
      (.resolved, 29, nil, .resolved, nil), (.resolved, 29, first, .held, nil),
    ]) func transition(
      _ phase: Alert.Phase, _ seconds: Int, _ wanted: AlertFacts?, _ after: Alert.Phase, _ news: Alert.News?
    )
  {
    var alert = Self.alert(phase)
    let sequence = alert.sequence
    let now = Self.start.adding(seconds: seconds)
    let result = alert.set(wanted, hold: 30, at: now)
    #expect(result.news == news && alert.phase == after)
    #expect(alert.sequence == sequence + (news == nil ? 0 : 1))
    if news != nil { #expect(alert.updatedAt == now) }
    if let wanted, news != nil { #expect(alert.facts == wanted) }
  }

  @Test("Without a hold it is raised at once, also when it was resolved") func noHold() {
    let (alert, news) = Alert.began(Self.first, hold: 0, at: Self.start)
    #expect(news == .raised && alert.phase == .firing && alert.startsAt == Self.start)
    var resolved = Self.alert(.resolved)
    let later = Self.start.adding(seconds: 5)
    #expect(resolved.set(Self.other, hold: 0, at: later).news == .raised)
    #expect(resolved.facts == Self.other && resolved.startsAt == later && resolved.endsAt == nil)
  }

  @Test("One that comes back says what it said until it is raised, and counts on") func again() {
    var alert = Self.alert(.resolved)
    let (sequence, end) = (alert.sequence, alert.endsAt)
    let later = Self.start.adding(seconds: 60)
    _ = alert.set(Self.other, hold: 30, at: later)
    #expect(alert.facts == Self.first && alert.wasPublished && alert.heldSince == later)
    var back = alert
    _ = back.set(nil, hold: 30, at: later.adding(seconds: 5))
    #expect(back.phase == .resolved && back.endsAt == end && back.sequence == sequence)
    #expect(alert.raise(at: later.adding(seconds: 30)) == .raised)
    #expect(alert.facts == Self.other && alert.startsAt == later && alert.endsAt == nil)
    #expect(alert.sequence == sequence + 1)
  }

  @Test("What brought it up is no news") func trigger() {
    var alert = Self.alert(.firing)
    var again = Self.first
    again.trigger = .ssid
    #expect(alert.set(again, hold: 30, at: Self.start).isChanged == false)
  }

  @Test("The raw values of names are those that are stored, and five are notices for a day") func names() {
    #expect(AlertName.allCases.count == 39 && AlertName.matterServerDiffers.rawValue == 41)
    #expect(
      AlertName.allCases.filter { $0.traits.noticeDuration == 86_400 } == [
        .preferredNetworkChanged, .storeDamaged, .discoveryAltered, .stateAltered, .anchorAltered,
      ])
  }

  @Test("What is not held is raised at once", arguments: AlertName.allCases, [false, true]) func held(
    _ name: AlertName, _ disagrees: Bool
  ) {
    let change = PreferredChange(
      from: .init(.of(1)), to: .init(.of(1)), differs: [], bringsCredentials: false, cause: .sameKeys, who: nil,
      second: nil, formerID: nil)
    let atOnce: Set<AlertName> = [
      .adoptionFailed, .preferredNetworkChanged, .consentByHomeAssistant, .discoveryAltered, .messagesDropped,
      .sessionLost, .storeReadOnly, .brokerAuthenticationFailed, .sessionTakenOver, .storeDamaged, .stateAltered,
      .anotherDaemon, .anchorAltered, .networkChanges, .testAlert, .ghostNetwork,
    ]
    let isHeld = name.isHeld(.preferredChanged(change, disagrees: disagrees))
    #expect(isHeld == (!atOnce.contains(name) || name == .preferredNetworkChanged && disagrees))
  }
}
