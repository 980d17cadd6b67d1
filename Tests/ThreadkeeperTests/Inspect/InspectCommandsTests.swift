import TestKit
import Testing
import ThreadDataset

@testable import Threadkeeper

@Suite("What commands print of homes, and how they end") struct InspectCommandsTests {
  private static let hub = "a1b2c3d4e5f60701"
  private static let stray = "a1b2c3d4e5f60702"
  private static let unknown = "00000000000000ff"
  private static let lists = [
    "routers", "networks", "alerts", "alerts --all", "credentials list", "preferred show", "preferred show --history",
    "clients list", "consent list", "consent list --grants", "consent list --history",
  ]

  /// A router on the preferred network, one on another, and one that is away.
  private func home() throws -> CommandScene {
    let scene = try CommandScene()
    try scene.announce(Self.hub, "Hub", on: .home)
    scene.clock.advance(seconds: 1)
    try scene.announce(Self.stray, "Str\\u001b[2Jay", on: .guest, by: "other")
    scene.clock.advance(seconds: 1)
    try scene.announce("a1b2c3d4e5f60703", "Attic", on: .home)
    try scene.publish("offline", #""border_agent_id":"a1b2c3d4e5f60703""#, by: "hub")
    return scene
  }

  @Test("Of an empty home each says that there is nothing, and how something gets there") func empty() async throws {
    try await CommandScene().check("empty.txt", Self.lists)
  }

  @Test("Lists show what is published, moved into tables; without a word of a secret") func lists() async throws {
    try await home().check(
      "lists.txt",
      ["status", "status --json"] + Self.lists + [
        "routers --json", "networks --json", "alerts --json", "credentials list --json",
      ])
  }

  @Test("Of several homes a command has to know which one is meant") func homes() async throws {
    let scene = try CommandScene("homes: {house: {base_topic: tk/house}, cabin: {base_topic: tk/cabin}}")
    try scene.announce(Self.hub, "Hub", on: .home, base: "tk/house")
    scene.clock.advance(seconds: 1)
    try scene.announce(Self.hub, "Hub", on: .guest, base: "tk/cabin")
    try await scene.check(
      "homes.txt",
      [
        "status", "credentials list", "credentials get \(Self.hub)",
        "credentials get \(Self.hub) --home cabin --show-secrets", "preferred show", "preferred show --home cabin",
        "preferred show --home elsewhere",
      ])
  }

  @Test("The preferred network is checked, chosen, forgotten and kept") func preferred() async throws {
    let scene = try home()
    let files = try [("home", SampleNetwork.home), ("guest", .guest)].map {
      try "@" + scene.put($1.dataset(at: 9).hex, "\($0).hex")
    }
    try scene.put("0e", "short.hex")
    let (first, guest) = (SampleNetwork.home.extendedPANID, SampleNetwork.guest.extendedPANID)
    try await scene.check(
      "preferred.txt",
      [
        "preferred show --json", "preferred show --show-secrets", "preferred check \(files[0])",
        "preferred check \(files[1])", "preferred check @\(scene.store.path)/short.hex",
        "networks accept-credentials \(guest)", "preferred set \(guest) --json", "routers", "preferred set \(guest)",
        "preferred set \(Self.unknown)", "preferred set nowhere", "preferred show --history", "preferred set home",
        "networks forget \(first)", "networks forget \(guest)", "networks forget \(guest)", "networks forget guest",
        "preferred show --history", "preferred forget", "preferred show", "preferred forget",
        "preferred check \(files[0])", "preferred set \(files[1])", "preferred show --show-secrets --history",
      ])
  }

  @Test("Networks and routers are accepted and removed, credentials shown and deleted") func changes() async throws {
    let scene = try home()
    let guest = SampleNetwork.guest.extendedPANID
    try await scene.check(
      "changes.txt",
      [
        "networks accept \(guest)", "networks accept \(guest)", "networks", "networks accept \(guest) --undo --json",
        "networks accept \(guest) --undo", "networks accept \(Self.unknown)", "networks accept xyz",
        "routers show \(Self.unknown)", "routers accept \(Self.hub)", "routers rename \(Self.hub)",
        "routers rename \(Self.hub) Hall", "routers rename \(Self.hub) Hall", "routers rename \(Self.hub) --undo",
        "routers accept \(Self.unknown)", "routers remove \(Self.stray)", "routers remove \(Self.stray) --json",
        "routers remove xyz", "routers remove", "routers remove \(Self.hub) --home elsewhere",
        "credentials get \(Self.hub)", "credentials get \(Self.hub) --show-secrets --json", "credentials get xyz",
        "credentials delete \(Self.hub)", "credentials delete \(Self.hub)", "credentials get \(Self.hub)",
        "credentials list", "audit --last 4", "audit --verify --json", "audit --last=-1", "audit --last=0",
        "audit --verify --follow",
      ])
  }

  @Test("Without a daemon each says so and ends with 69") func nobody() async throws {
    let directory = try TemporaryDirectory()
    let others = [
      "status", "audit", "audit --follow", "audit --verify", "consent list --follow",
      "consent approve c-0123456789abcdef", "consent revoke g-0123456789abcdef", "credentials delete \(Self.hub)",
      "routers remove \(Self.hub)", "preferred forget", "networks accept \(SampleNetwork.guest.extendedPANID)",
      "clients revoke hub",
    ]
    for line in Self.lists + others {
      let words = line.split(separator: " ").map(String.init)
      let outcome = await CommandScene.run(words + ["--state-directory", directory.path])
      #expect(outcome.status == 69 && outcome.output.isEmpty, "\(line): \(outcome)")
      #expect(outcome.error.hasPrefix("error: no daemon runs on the store \(directory.path)/store"))
      #expect(outcome.error.contains("--state-directory"), "\(line): \(outcome)")
    }
  }
}
