// SPDX-License-Identifier: Apache-2.0

import Broker
import TestKit
import Testing
import ThreadDataset

@testable import Bridge

@Suite("Border routers on the local network")
struct DiscoveredRouterTests {
  let bridge: TestBridge

  init() throws { bridge = try TestBridge { $0.discoversRouters = true } }

  private var router: RouterRecord {
    get throws { try #require(try bridge.router(Agent.garage)) }
  }

  @Test("A router that is seen is listed with what its record says, and no login")
  func found() throws {
    try bridge.discover(Advert())
    let router = try router
    #expect(router.source == .mdns)
    #expect(router.isPresent && router.isOnline && router.isAdvertised)
    #expect(router.name == "Kitchen")
    #expect(router.vendor == "Acme")
    #expect(router.threadVersion == "1.4.0")
    #expect(router.partition == 7)
    #expect(router.network?.description == SampleNetwork.home.extendedPANID)
    #expect(router.networkName == "home")
    #expect(router.activeSeconds == 1)
    #expect(router.credential == .missing)
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.network(.home)?.name == "home")
    #expect(try bridge.network(.home)?.routers == 1)
    let state = router.state(home: "home")
    #expect(state.user == nil)
    #expect(state.source == "mdns")
    #expect(state.partitionID == 7)
    #expect(try bridge.takeNames() == ["router_discovered"])
  }

  @Test("A record changes neither credentials nor owner nor the preferred network")
  func nothingSecret() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.discover(
      Advert(id: nil, address: Agent.living, network: .guest, at: 99),
      Advert(name: "b", network: .guest, at: 99))
    #expect(try bridge.preferred() == SampleNetwork.home.dataset(at: 1))
    #expect(try bridge.credential(Agent.living)?.dataset == SampleNetwork.home.dataset(at: 1))
    #expect(try bridge.owner(Agent.living) == "anna")
    #expect(try bridge.owner(Agent.garage) == nil)
    #expect(try bridge.credential(Agent.garage) == nil)
  }

  @Test("The same records again write nothing")
  func unchanged() throws {
    try bridge.discover(Advert())
    _ = try bridge.takeEvents()
    bridge.clock.advance(seconds: 60)
    try bridge.discover(Advert())
    #expect(try bridge.takeEvents().isEmpty)
  }

  @Test("A record that has gone makes its router offline, and it stays listed")
  func gone() throws {
    try bridge.discover(Advert())
    try bridge.discover()
    #expect(try router.isPresent)
    #expect(try !router.isOnline)
    #expect(try router.partition == nil)
    try bridge.discover(Advert())
    #expect(try router.isOnline)
  }

  @Test("While the list is not complete, nothing has gone")
  func incomplete() throws {
    try bridge.discover(Advert())
    try bridge.discover(isComplete: false)
    #expect(try router.isOnline)
  }

  @Test("A router whose Thread interface is not active is offline because Thread is stopped")
  func stopped() throws {
    try bridge.discover(Advert(state: 0b10_000))
    #expect(try router.isOnline)
    try bridge.discover(Advert(state: 0b01_000))
    #expect(try !router.isOnline)
    #expect(try router.offlineReason == .stopped)
    try bridge.discover(Advert(state: 0b10_000))
    #expect(try router.isOnline)
    #expect(try router.threadState == nil)
  }

  @Test(
    "A router of MQTT and its record are one router, whichever id the record names",
    arguments: [
      (Agent.living, Advert(id: Agent.living + "0000000000000001")),
      (Agent.living, Advert(address: Agent.living)),
      (Agent.garage, Advert()),
    ])
  func sameRouter(_ agent: String, _ advert: Advert) throws {
    try bridge.announce(agent, .home, at: 1, ["name": "Mine"])
    try bridge.discover(advert)
    #expect(try bridge.home().routers == 1)
    let router = try #require(try bridge.router(agent))
    #expect(router.source == .mqtt)
    #expect(router.isAdvertised)
    #expect(router.name == "Mine")
    #expect(router.vendor == "Acme")
    #expect(router.partition == 7)
  }

  @Test("A record does not change what a router with a login is called")
  func noName() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.discover(Advert())
    #expect(try router.name == nil)
    #expect(try router.vendor == "Acme")
  }

  @Test("A record that names the address of another router takes neither its place nor its name")
  func foreignAddress() throws {
    let address = "0011223344556677"
    try bridge.announce(Agent.living, .home, at: 1)
    let real = [
      Advert(name: "b", address: address), Advert(name: "c", id: nil, address: Agent.living),
    ]
    try bridge.discover(real)
    let false1 = Advert(name: "a", id: nil, address: address, network: .guest)
    let false2 = Advert(
      name: "a", id: Agent.living + Agent.attic, address: address, network: .guest)
    for advert in [false1, false2] {
      try bridge.discover([advert] + real)
      #expect(try router.name == "b")
      #expect(try router.network?.description == SampleNetwork.home.extendedPANID)
      #expect(try router.isOnline)
      #expect(try bridge.router(Agent.living)?.partition == 7)
    }
    #expect(try bridge.router(address)?.name == "a")
  }

  @Test("The extended address that a router has announced makes it the same one")
  func sameAddress() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["ext_address": "0011223344556677"])
    try bridge.discover(Advert(address: "0011223344556677"))
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.router(Agent.living)?.isAdvertised == true)
  }

  @Test("What a router says over MQTT wins over its record")
  func mqttWins() throws {
    try bridge.announce(Agent.living, .home, at: 1, ["name": "Mine", "vendor": "Me"])
    try bridge.discover(
      Advert(name: "Other", id: nil, address: Agent.living, network: .guest, at: 9))
    let router = try #require(try bridge.router(Agent.living))
    #expect(router.network?.description == SampleNetwork.home.extendedPANID)
    #expect(router.currentNetwork == nil)
    #expect(router.vendor == "Me")
    #expect(router.partition == nil)
    #expect(try bridge.alarms() == [])
  }

  @Test("A router that is seen first and then announced is one router, of its login")
  func announcedLater() throws {
    try bridge.discover(Advert())
    _ = try bridge.takeEvents()
    try bridge.announce(Agent.garage, .home, at: 2)
    let router = try router
    #expect(router.source == .mqtt)
    #expect(router.user == "anna")
    #expect(router.credential == .stored)
    #expect(router.channel == 15)
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.takeNames() == ["router_announced", "dataset_stored", "preferred_changed"])
    try Recount(bridge: bridge, comment: "announced later").check()
  }

  @Test("A heartbeat of a router that was only seen is refused: nobody has announced it")
  func heartbeat() throws {
    try bridge.discover(Advert())
    let counts = try bridge.say(.heartbeat, Agent.garage)
    #expect(counts.rejected == ["not_found": 1])
    #expect(try router.user == "")
  }

  @Test("A router of MQTT is neither offline nor online because of its record")
  func presence() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.say(.heartbeat, Agent.garage)
    let seen = try router.lastSeen
    try bridge.discover(Advert())
    bridge.clock.advance(seconds: 60)
    try bridge.discover()
    #expect(try router.isOnline)
    #expect(try !router.isAdvertised)
    #expect(try router.lastSeen == seen)
    try bridge.say(.offline, Agent.garage)
    try bridge.discover(Advert())
    #expect(try !router.isOnline)
  }

  @Test("A router of MQTT without credentials is on no network because of its record")
  func noDataset() throws {
    try bridge.discover(Advert())
    try bridge.say(.announce, Agent.garage)
    try bridge.discover(Advert())
    #expect(try router.source == .mqtt)
    #expect(try router.network == nil)
    #expect(try router.credential == .missing)
    try Recount(bridge: bridge, comment: "without a dataset").check()
  }

  @Test(
    "A router that was seen under one of its ids and is announced under another is one router",
    arguments: [("b0b0b0b0c1c1c1c1", nil), (Agent.living, "address"), (Agent.attic, "reported")])
  func otherID(_ agent: String, _ link: String?) throws {
    let advert = Advert(
      address: link == "address" ? agent : link == "reported" ? "0011223344556677" : nil)
    try bridge.discover(advert)
    let fields = link == "reported" ? ["ext_address": "0011223344556677"] : [:]
    try bridge.announce(agent, .home, at: 1, fields)
    try bridge.discover(advert)
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.router(agent)?.isAdvertised == true)
    #expect(try bridge.router(Agent.garage) == nil)
    try Recount(bridge: bridge, comment: "\(agent)").check()
  }

  @Test("A leave of a router that was only seen changes nothing")
  func leaveOfSeen() throws {
    try bridge.discover(Advert())
    let counts = try bridge.say(.leave, Agent.garage, user: "lamp", ["seq": 1])
    #expect(counts.duplicates == 1)
    #expect(try router.isPresent)
    #expect(try router.user == "")
    #expect(try bridge.discover(Advert()) == (1, 0))
  }

  @Test("A router that is announced in another home is not listed in this one, too")
  func otherHome() throws {
    let bridge = try TestBridge(homes: [
      .init(name: "home", base: "threadkeeper"), .init(name: "lab", base: "lab"),
    ]) { $0.discoversRouters = true }
    try bridge.announce(Agent.garage, .home, at: 1, base: "lab")
    #expect(try bridge.discover(Advert()) == (0, 1))
    #expect(try bridge.home().routers == 0)
  }

  @Test("When another home is the first one, routers that were only seen leave the former one")
  func homesReordered() throws {
    let homes: [BaseTopics.Home] = [
      .init(name: "home", base: "threadkeeper"), .init(name: "lab", base: "lab"),
    ]
    let bridge = try TestBridge(homes: homes) { $0.discoversRouters = true }
    try bridge.discover(Advert())
    bridge.configuration.topics = BaseTopics(homes.reversed())
    try bridge.start()
    #expect(try bridge.router(Agent.garage) == nil)
    #expect(try bridge.home().routers == 0)
  }

  @Test("With a damaged preferred network and discovery off the bridge starts")
  func damagedPreferred() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.discover(Advert())
    try bridge.damageSecrets()
    bridge.configuration.discoversRouters = false
    try bridge.start()
    #expect(try router.isPresent)
  }

  @Test("A router of which credentials were deleted is where its record says")
  func currentNetwork() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.forgetRouter(Agent.garage)
    try bridge.discover(Advert())
    #expect(try router.currentNetwork?.description == SampleNetwork.home.extendedPANID)
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.garage]).code == nil)
    try bridge.discover(Advert(network: .guest))
    #expect(try router.currentNetwork == nil)
    #expect(try router.network?.description == SampleNetwork.guest.extendedPANID)
  }

  @Test("A network that is called otherwise, or gets its name later, is shown so")
  func renamed() throws {
    try bridge.discover(Advert(networkName: ""))
    #expect(try router.networkName == nil)
    try bridge.discover(Advert(networkName: "first"))
    #expect(try bridge.network(.home)?.name == "first")
    try bridge.discover(Advert(networkName: "second"))
    #expect(try bridge.network(.home)?.name == "second")
  }

  @Test("A router that left over MQTT stays off the list although it can be seen")
  func left() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.say(.leave, Agent.garage)
    let (listed, refused) = try bridge.discover(Advert())
    #expect((listed, refused) == (0, 1))
    #expect(try bridge.home().routers == 0)
  }

  @Test("A router that was only seen does not adopt, and credentials are not missed from it")
  func noAdoption() throws {
    let bridge = try TestBridge {
      $0.discoversRouters = true
      $0.adoptTimeout = 60
    }
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.discover(Advert())
    try bridge.discover(Advert(network: .guest))
    try bridge.pass(31)
    try bridge.pass(1)
    #expect(try bridge.router(Agent.garage)?.adoption == nil)
    #expect(try bridge.alarms() == ["PreferredNetworkMismatch \(Agent.garage)"])
  }

  @Test("Two records of one router count once")
  func twice() throws {
    let (listed, refused) = try bridge.discover(Advert(name: "a"), Advert(name: "b"))
    #expect((listed, refused) == (1, 1))
    #expect(try bridge.home().routers == 1)
  }

  @Test(
    "A record of which only the network's name changes changes no other name of a known network")
  func foreignName() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.discover(Advert(networkName: "evil"))
    #expect(try bridge.network(.home)?.name == "home")
    try bridge.announce(Agent.attic, .guest, at: 1)
    try bridge.discover(Advert(network: .guest, networkName: "evil"))
    #expect(try bridge.network(.guest)?.name == "guest-thread")
  }

  @Test("A full list does not forget routers that were on the preferred network")
  func membersStay() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    let many = (0..<DiscoveryApplier.mostRouters).map { number in
      Advert(
        name: "r\(number)", id: nil, address: "000000000\(1_000_000 + number)", network: .guest)
    }
    try bridge.discover([Advert()] + many.dropFirst())
    try bridge.discover(many)
    #expect(try router.isPresent)
  }

  @Test("The most routers that a network may bring is kept, and those that are gone make room")
  func most() throws {
    let many = (0..<DiscoveryApplier.mostRouters + 5).map { number in
      let id = "0" + String(1_000_000 + number)
      return Advert(name: "r\(number)", id: nil, address: "00000000" + id)
    }
    let (listed, refused) = try bridge.discover(many, room: 1_000)
    #expect((listed, refused) == (DiscoveryApplier.mostRouters, 5))
    bridge.clock.advance(seconds: 60)
    try bridge.discover(Array(many.prefix(DiscoveryApplier.mostRouters - 1)))
    bridge.clock.advance(seconds: 60)
    let again = try bridge.discover(
      Array(many.prefix(DiscoveryApplier.mostRouters - 1)) + [many[DiscoveryApplier.mostRouters]])
    #expect(again == (DiscoveryApplier.mostRouters, 0))
    #expect(try bridge.home().routers == DiscoveryApplier.mostRouters)
  }

  @Test("No more are new than there is room for")
  func room() throws {
    let (listed, refused) = try bridge.discover(
      Advert(name: "a"), Advert(name: "b", id: Agent.living + Agent.living), room: 1)
    #expect((listed, refused) == (1, 1))
  }

  @Test("A router that was not there for 30 days is forgotten")
  func forgotten() throws {
    try bridge.discover(Advert())
    try bridge.discover()
    bridge.clock.advance(seconds: 30 * 86_400 - 1)
    try bridge.discover()
    #expect(try bridge.home().routers == 1)
    _ = try bridge.takeEvents()
    bridge.clock.advance(seconds: 2)
    try bridge.discover()
    #expect(try bridge.router(Agent.garage) == nil)
    #expect(try bridge.home().routers == 0)
    #expect(try bridge.takeNames().contains("router_left"))
  }

  @Test(
    "With discovery off, routers that were only seen go at the start, and others keep their rows")
  func off() throws {
    try bridge.announce(Agent.living, .home, at: 1)
    try bridge.discover(Advert(), Advert(name: "b", id: nil, address: Agent.living))
    bridge.configuration.discoversRouters = false
    try bridge.start()
    #expect(try bridge.router(Agent.garage) == nil)
    let living = try #require(try bridge.router(Agent.living))
    #expect(living.isOnline && !living.isAdvertised)
    #expect(try bridge.home().routers == 1)
    #expect(try bridge.home().discoveredSince == nil)
    try Recount(bridge: bridge, comment: "off").check()
  }

  @Test(
    "A router whose credentials alone are stored is listed when it is seen, and where it is counts")
  func unlisted() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.forgetRouter(Agent.garage)
    try bridge.discover(Advert())
    let router = try router
    #expect(router.isPresent && router.isOnline)
    #expect(router.credential == .stored)
    #expect(router.team == "anna")
    #expect(router.channel == 15)
    #expect(router.preferred == "match")
    try bridge.discover(Advert(network: .guest))
    #expect(try self.router.isElsewhere)
    #expect(try self.router.preferred == "mismatch")
    try bridge.discover(Advert(), isComplete: true)
    #expect(try self.router.preferred == "match")
  }

  @Test("A deletion of credentials leaves the router on the network that its record names")
  func deleted() throws {
    try bridge.announce(Agent.garage, .home, at: 1)
    try bridge.forgetRouter(Agent.garage)
    try bridge.discover(Advert())
    #expect(try bridge.ask(.deleteCredentials, ["border_agent_id": Agent.garage]).code == nil)
    try bridge.discover(Advert())
    #expect(try router.network?.description == SampleNetwork.home.extendedPANID)
    #expect(try router.credential == .missing)
    // The checks after a start do not take it away.
    try bridge.start()
    try bridge.pass(1)
    #expect(try router.network?.description == SampleNetwork.home.extendedPANID)
  }
}
