import Broker
import KeychainCore
import TestKit
import Testing

@testable import Bridge

@Suite("What the broker has taken") struct StatusConnectionTests {
  private let activity = Activity()
  private let store: TemporaryStore
  private let connection: StatusConnection
  private let byAccess = PublicationOutcome.refused(MosquittoError(.notAuthorized, "not allowed"))

  init() throws {
    let scene = try RequestScene()
    let (loop, clock, monitor) = (scene.kit.loop, SystemClock(), BridgeMonitor())
    let publisher = Publisher(.home(), loop.homes.snapshot, scene.kit.store, stored: 1..<1, now: { clock.now() })
    let health = HealthReports(loop, publisher, scene.service, monitor, lastBackup: { nil }, clock: clock)
    store = try TemporaryStore()
    connection = StatusConnection(
      publisher, health: health, requests: scene.service, loop: loop, store: SealedRecords(store.keychain),
      monitor: monitor, clock: clock, activity: activity, logger: scene.log.logger)
  }

  /// - Returns: whether a tick is to follow within a second.
  private func isNews(_ outcome: PublicationOutcome, token: UInt64 = 0) -> Bool {
    let health = Publication(topic: "tk/bridge/health", payload: [1], retain: true, token: token)
    connection.acknowledged(SentPublication(health), outcome)
    return activity.take()
  }

  @Test("The daemon's health, each minute, is no news, unless it is refused or taken again; other states are")
  func health() {
    #expect(!isNews(.delivered))
    #expect(isNews(byAccess))
    #expect(isNews(.delivered))
    #expect(!isNews(.delivered))
    #expect(isNews(.delivered, token: 1))
  }
}
