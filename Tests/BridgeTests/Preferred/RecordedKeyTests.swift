// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadCredentialStore
import ThreadDataset

@testable import Bridge

/// What three OpenThread Border Routers reported, one after the other, when a partial dataset was set on the
/// leader alone: it kept the name and the Extended PAN ID, and got keys that nobody else has.
@Suite("A leader that is alone on invented keys of its network")
struct RecordedKeyTests {
  private static let leader = "cd3a5fcf67989ca18a04a04e244a117e"
  private static let second = "13235eaae6bc379fe14159887ec03848"
  private static let third = "1457280a6f73a9c410038b8ae15f3c50"
  /// Of all three: timestamp 2, channel 25.
  private static let home =
    "4A0300000E35060004001FFFE0020846F884013203DCDF0708FDA9EF2C4732784E0510DE53830F56"
    + "15AE6E606020997A87B24F0304686F6D650102400D04103AE69A9C6D5FBB694E2B6791CBF703510C"
    + "0402A0F7F800030000190E08000000000002F5F0"
  /// Of the leader: timestamp 12, another Network Key and PSKc.
  private static let invented =
    "0E0800000000000C000000030000124A0300000C35060004001FFFE0020846F884013203DCDF0708"
    + "FDC86EED9E1CDC94051098162D709F499D11F20F06AF116C93A10304686F6D650102715504101BFC"
    + "ECC152F62B43590612CCFCDF48BB0C0402A0F7F8"

  let bridge: TestBridge

  init() throws {
    bridge = try TestBridge()
    for router in [Self.leader, Self.second, Self.third] { try report(router, Self.home) }
  }

  private func report(_ router: String, _ dataset: String) throws {
    try bridge.say(.dataset, router, user: "otbr-\(router.prefix(4))", ["dataset": dataset])
  }

  @Test("The others stay right, and one alert names both sides")
  func island() throws {
    let before = try bridge.preferred()
    try report(Self.leader, Self.invented)
    try bridge.pass(30)
    #expect(try bridge.preferred() == before)
    for router in [Self.second, Self.third] {
      #expect(try bridge.router(router)?.preferred == "match")
      try report(router, Self.home)
    }
    let alerts = try bridge.firing().filter { !$0.hasPrefix("Plaintext") }
    #expect(alerts == ["PreferredKeyDisputed"])
    let facts = try #require(try bridge.alert(.preferredKeyDisputed)).facts
    for router in [Self.leader, Self.second, Self.third] { #expect(facts.summary.contains(router)) }
    #expect(facts.differs?.prefix(1) == ["network_key"])
    #expect(facts.summary.contains("timestamp 12") && facts.summary.contains("timestamp 2"))

    // Disabled, given the current dataset, enabled again.
    try report(Self.leader, Self.home)
    #expect(try bridge.alert(.preferredKeyDisputed)?.phase == .resolved)
    #expect(try bridge.router(Self.leader)?.preferred == "match")
    #expect(try bridge.preferred() == before)
  }

  @Test("When a second router of another login has the invented keys, the network has them")
  func rotation() throws {
    try report(Self.leader, Self.invented)
    try report(Self.second, Self.invented)
    #expect(try bridge.preferred() == OperationalDataset(hex: Self.invented))
    try bridge.pass(30)
    #expect(try bridge.router(Self.third)?.preferred == "mismatch")
    #expect(try bridge.firing().contains("StaleDataset \(Self.third)"))
  }
}
