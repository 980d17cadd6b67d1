import Foundation
import Home
import HomeStore
import KeychainCore
import TestKit
import Testing
import ThreadDataset

@testable import ThreadNetwork

@Suite("Clients with a store of their own", .timeLimit(.minutes(30))) struct OwnStoreTests {
  private let place: OwnPlace

  init() throws { place = try OwnPlace() }

  @Test("Before anything is stored there is nothing, and no store is made by looking") func nothing() async throws {
    let client = place.client()
    #expect(try await client.allCredentials().isEmpty)
    #expect(try await client.allActiveCredentials().isEmpty)
    #expect(try await client.activeCredentialsForNearbyNetworks.isEmpty)
    #expect(await !client.isPreferredAvailable())
    let dataset = try SampleNetwork.home.bytes()
    #expect(await !client.isPreferred(forActiveOperationalDataset: dataset))
    #expect(try await client.preferredMatch(forActiveOperationalDataset: dataset) == .noPreferredNetwork)
    let calls: [() async throws -> Void] = [
      { _ = try await client.credentials(forBorderAgentID: Agents.kitchen) },
      { _ = try await client.credentials(forExtendedPANID: Agents.kitchen) },
      { try await client.deleteCredentials(forBorderAgent: Agents.kitchen) },
    ]
    for call in calls { #expect(await failure(call)?.reason == .notFound) }
    let preferred = await failure { try await client.preferredCredentials() }
    #expect(preferred?.reason == .noPreferredNetwork && preferred?.code == 9)
    #expect(!FileManager.default.fileExists(atPath: place.storePath))
  }

  @Test("What is stored is found with all its values; stored again it is replaced") func values() async throws {
    let client = place.client()
    let start = Date()
    let dataset = try SampleNetwork.home.bytes()
    try await client.store()
    let found = try await client.credentials(forBorderAgentID: Agents.kitchen)
    #expect(found.networkName == "home")
    #expect(found.extendedPANID == SampleNetwork.home.id)
    #expect(found.borderAgentID == Agents.kitchen)
    #expect(found.activeOperationalDataSet == dataset)
    #expect(found.networkKey == Data(hex: SampleNetwork.home.networkKey))
    #expect(found.pskc == Data(hex: SampleNetwork.home.pskc))
    #expect(found.panID == Data([0x12, 0x34]))
    #expect(found.channel == 15)
    let created = try #require(found.creationDate)
    #expect(created >= start - 1 && created <= Date() + 1)
    #expect(found.lastModificationDate == created)
    #expect(try await client.allCredentials() == [found])

    let second = try SampleNetwork.home.with { $0.channel = 20 }.bytes(at: 2)
    try await client.storeCredentials(forBorderAgent: Agents.kitchen, activeOperationalDataSet: second)
    let after = try await client.credentials(forBorderAgentID: Agents.kitchen)
    #expect(after.channel == 20)
    #expect(after != found)
    #expect(after.creationDate == created)
    #expect(try await client.allCredentials() == [after])
  }

  @Test("Two teams cannot read, change or delete each other's credentials, nor learn of them") func teams() async throws
  {
    let one = place.client(team: "one")
    let two = place.client(team: "two") { _ in false }
    let dataset = try SampleNetwork.home.bytes()
    try await one.store()
    let before = try await one.credentials(forBorderAgentID: Agents.kitchen)

    #expect(try await two.allCredentials().isEmpty)
    let read = await failure { try await two.credentials(forBorderAgentID: Agents.kitchen) }
    let none = await failure { try await two.credentials(forBorderAgentID: Agents.attic) }
    #expect(read?.reason == .notFound)
    #expect(read?.localizedDescription == none?.localizedDescription)
    let store = await failure { try await two.store(.guest) }
    #expect(store?.reason == .notAuthorized)
    let delete = await failure { try await two.deleteCredentials(forBorderAgent: Agents.kitchen) }
    #expect(delete?.reason == .notAuthorized || delete?.reason == .notFound)
    #expect(await failure { try await two.preferredCredentials() }?.reason == .refused)
    #expect(try await one.credentials(forBorderAgentID: Agents.kitchen) == before)
    #expect(await two.isPreferred(forActiveOperationalDataset: dataset))
  }

  @Test("Homes are apart from each other") func homes() async throws {
    let house = place.client(home: "house")
    try await house.store()
    #expect(try await place.client(home: "cabin").allCredentials().isEmpty)
    #expect(await !place.client(home: "cabin").isPreferredAvailable())
    #expect(try await house.allCredentials().count == 1)
  }

  @Test("Nothing of it lies readable on the disk, and all of it is this user's alone") func encrypted() async throws {
    try await place.client().store()
    let key = Data(hex: SampleNetwork.home.networkKey)
    let files = try #require(FileManager.default.enumerator(atPath: place.directory.path))
    var seen = 0
    for case let name as String in files {
      guard let bytes = FileManager.default.contents(atPath: place.directory.file(name)) else { continue }
      seen += bytes.count
      #expect(bytes.range(of: key) == nil, "\(name)")
    }
    #expect(seen > 10_000)
  }

  @Test("Many clients at once take turns, and lose nothing") func many() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in UInt8(1)...8 {
        group.addTask {
          try await place.client().storeCredentials(
            forBorderAgent: Data(repeating: number, count: 8), activeOperationalDataSet: SampleNetwork.home.bytes())
        }
      }
      try await group.waitForAll()
    }
    #expect(try await place.client().allCredentials().count == 8)
  }

  @Test("A store that another program holds and nobody listens for is said to be, with who it is") func held()
    async throws
  {
    try await place.client().store()
    let holder = try Keychain.open(
      at: StoreLocation(directory: place.storePath, anchorDirectory: place.storePath + ".anchor"),
      with: .keyFile(path: place.storePath + ".key"))
    let link = DaemonLink(place.configuration(), timeout: .zero)
    let error = await failure { try await link.credentials(.listCredentials) }
    #expect(error?.reason == .storeInUse)
    #expect(error?.localizedDescription.contains("process \(getpid())") == true)
    holder.close()
    #expect(try await link.credentials(.listCredentials).count == 1)
  }

  @Test("A store that was put back to an older state is read, also with consent, and not changed") func rolledBack()
    async throws
  {
    let client = place.client { _ in true }
    let dataset = try SampleNetwork.home.bytes()
    try await client.store()
    let copy = place.directory.file("copy")
    try FileManager.default.copyItem(atPath: place.storePath, toPath: copy)
    try await client.store(for: Agents.attic)
    try FileManager.default.removeItem(atPath: place.storePath)
    try FileManager.default.moveItem(atPath: copy, toPath: place.storePath)

    #expect(try await client.allCredentials().map(\.borderAgentID) == [Agents.kitchen])
    #expect(try await client.preferredCredentials().activeOperationalDataSet == dataset)
    #expect(await failure { try await client.store() }?.reason == .readOnly)
    let delete = await failure { try await client.deleteCredentials(forBorderAgent: Agents.attic) }
    #expect(delete?.reason == .readOnly)
  }

  @Test("Without a daemon no router is active, also one that was online when its daemon ended") func active()
    async throws
  {
    let client = place.client { _ in
      Issue.record("somebody is asked")
      return true
    }
    try await client.store(.guest, for: Agents.attic)
    let agent = try #require(BorderAgentID(bytes: Agents.kitchen))
    try place.withStore { keychain in
      try SealedRecords(keychain).inTransaction { records in
        var stored = try StoredHome("home", rules: HomeRules { .random(in: .min ... .max) }, in: records)
        let dataset = try SampleNetwork.home.dataset(at: 1)
        var message = RouterMessage(.announce, .router(agent))
        message.dataset = DatasetSummary(dataset, key: try records.hashKey())
        _ = stored.handle(
          .message(message, from: "own"), dataset: dataset, actor: nil,
          at: WireTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000)))
        #expect(stored.home.routers[agent]?.isOnline == true)
        try stored.commit(to: records)
      }
    }
    #expect(try await client.allCredentials().count == 2)
    #expect(try await client.allActiveCredentials().isEmpty)
    #expect(try await client.activeCredentialsForNearbyNetworks.isEmpty)
  }
}
