// SPDX-License-Identifier: Apache-2.0

import ServiceDiscovery
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

/// A record as a border router of a test advertises it.
struct Advert {
  var name = "Kitchen"
  var id: String? = Agent.garage
  var address: String?
  var network: SampleNetwork? = .home
  var networkName: String?
  var at: UInt64? = 1
  var partition: UInt32? = 7
  var state: UInt32?
  var more: [String] = []

  var service: ServiceRecord {
    var entries: [[UInt8]] = [Array("rv=1".utf8), Array("vn=Acme".utf8), Array("mn=BR-2".utf8)]
    func add(_ key: String, _ bytes: [UInt8]?) {
      if let bytes { entries.append(Array("\(key)=".utf8) + bytes) }
    }
    add("id", id.flatMap { Hexadecimal.decode($0) })
    add("xa", address.flatMap { Hexadecimal.decode($0) })
    add("xp", network.flatMap { Hexadecimal.decode($0.extendedPANID) })
    add("nn", network.map { Array((networkName ?? $0.name).utf8) })
    add("at", at.map { Self.bytes($0 << 16, 8) })
    add("pt", partition.map { Self.bytes(UInt64($0), 4) })
    add("sb", state.map { Self.bytes(UInt64($0), 4) })
    add("tv", Array("1.4.0".utf8))
    entries += more.map { Array($0.utf8) }
    return ServiceRecord(
      name: name, host: "kitchen.local", port: 49_152, text: TXTRecord(entries: entries))
  }

  func with(_ change: (inout Advert) -> Void) -> Advert {
    var advert = self
    change(&advert)
    return advert
  }

  private static func bytes(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (count - 1 - $0))) }
  }
}

extension TestBridge {
  /// What is on the local network now, all of it.
  @discardableResult
  func discover(
    _ adverts: Advert..., isComplete: Bool = true, room: Int = 200
  ) throws -> (listed: Int, refused: Int) {
    try discover(adverts, isComplete: isComplete, room: room)
  }

  @discardableResult
  func discover(
    _ adverts: [Advert], isComplete: Bool = true, room: Int = 200
  ) throws -> (listed: Int, refused: Int) {
    let list = adverts.compactMap { BorderRouterAdvertisement($0.service) }
    #expect(list.count == adverts.count)
    var memory = DiscoveryMemory(room: room)
    let result = try transaction { transaction in
      try DiscoveryApplier(transaction: transaction, home: transaction.context.home(named: "home"))
        .apply(list, isComplete: isComplete, memory: &memory)
    }.result
    try Recount(bridge: self, comment: "after a round").check()
    return result
  }

  /// The alerts that fire, but for those about how datasets are sent.
  func alarms() throws -> [String] {
    try firing().filter { !$0.hasPrefix("PlaintextCredentials") }
  }

  /// The first look is over.
  func passFirstLook() throws {
    clock.advance(seconds: DiscoveredRouters.firstLook + 1)
    try pass()
  }

  /// As after a repair of the registry: credentials are stored under the id of a router that never announced itself here.
  func forgetRouter(_ agent: String) throws {
    try database.write { tx in
      let row = try #require(try RouterLedger.find(BridgeTests.agent(agent), home: 1, tx))
      var absent = RouterRecord(
        absent: row.agent, home: 1, user: "", team: row.team, credential: .stored,
        since: clock.now())
      absent.id = row.id
      try RouterLedger.update(absent, tx)
      try tx.execute("UPDATE home SET routers = routers - 1")
      try tx.execute("UPDATE network SET routers = routers - 1, online = online - 1")
    }
  }

  var acceptance: AcceptanceService { AcceptanceService(runner()) }

  func accept(_ network: SampleNetwork, isAccepted: Bool = true) throws -> (
    isChange: Bool, isKnown: Bool
  ) {
    try acceptance.accept(
      network: try #require(ExtendedPANID(hex: network.extendedPANID)), in: "home",
      isAccepted: isAccepted, by: "test")
  }
}
