import Home

/// Goes through all that is retained, of the homes as they were when it began: what changes meanwhile is published
/// because it has changed. Home Assistant wants to know devices first, then which of them can be reached.
struct StateWalk {
  private enum Stage: Int { case devices, availability, states }

  private let homes: [Publisher.ShownHome]
  private let saysPresence: Bool
  private let announcesDevices: Bool
  private let publishesAlerts: Bool
  private var stage: Stage
  private var home = 0
  private var routers: RouterTable.Iterator?
  /// What else there is of the home in this stage.
  private var others: [RetainedPlace.Subject] = []

  /// - Parameters:
  ///   - homes: in the order of the settings.
  ///   - saysPresence: whether to publish as well that the daemon is there, which each connection begins with.
  init(_ homes: [Publisher.ShownHome], announcesDevices: Bool, publishesAlerts: Bool = true, saysPresence: Bool) {
    self.homes = homes
    self.announcesDevices = announcesDevices
    self.publishesAlerts = publishesAlerts
    self.saysPresence = saysPresence
    stage = announcesDevices ? .devices : .availability
    begin()
  }

  /// Buttons are not among them: each connection begins with them.
  private mutating func begin() {
    guard home < homes.count else { return }
    let current = homes[home].value
    routers = current.routers.makeIterator()
    switch stage {
    case .devices: others = [.homeDevice]
    case .availability: others = saysPresence ? [.presence] : []
    case .states:
      others = current.networks.map { .network($0.id) }
      for (key, alert) in current.alerts where publishesAlerts && alert.wasPublished { others.append(.alert(key)) }
    }
  }

  mutating func next() -> RetainedPlace? {
    while home < homes.count {
      // Its own device and presence come before its routers, networks and alerts after them.
      let subject = stage == .states ? nextRouter() ?? others.popLast() : others.popLast() ?? nextRouter()
      if let subject { return RetainedPlace(home: home, subject: subject) }
      home += 1
      if home == homes.count, let following = Stage(rawValue: stage.rawValue + 1) {
        stage = following
        home = 0
      }
      begin()
    }
    return nil
  }

  private mutating func nextRouter() -> RetainedPlace.Subject? {
    while let router = routers?.next() {
      guard router.isPresent else { continue }
      return switch stage {
      case .devices: .routerDevice(router.agent)
      case .availability: .availability(router.agent)
      case .states: .router(router.agent)
      }
    }
    return nil
  }
}
