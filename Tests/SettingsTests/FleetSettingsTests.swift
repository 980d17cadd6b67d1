import Settings
import Testing

@Suite("The settings of a node of a fleet") struct FleetSettingsTests {
  private static let node = """
    mqtt: {host: broker}
    store: {url: 'host=/run/postgresql dbname=tk'}
    fleet:
      unseal_command: [kms, decrypt, --key=tk]
    """

  @Test("It has a database, a broker and a way to its keys; all else has a default") func node() throws {
    let node = try settings(Self.node)
    #expect(node.store.url?.revealed == "host=/run/postgresql dbname=tk")
    #expect(node.fleet.unsealCommand == ["kms", "decrypt", "--key=tk"])
    #expect(node.fleet.sealCommand == [])
    #expect((node.fleet.shardsAtMost, node.fleet.connections) == (64, 8))
    #expect(!node.fleet.node.isEmpty && node.fleet.node == node.fleet.address)
    let home = try settings()
    #expect(home.store.url == nil && home.fleet == Settings(stateDirectory: "/").fleet)
  }

  @Test("What a node cannot run with is refused, and what is without effect is said") func rules() throws {
    let (broker, url) = ("mqtt: {host: broker}\n", "store: {url: postgresql://db/tk}\n")
    let kms = "unseal_command: [kms]"
    let rows: [(yaml: String, problems: [String])] = [
      (Self.node, []), (Self.node + "\nhomes: {}", []), ("fleet: {node: a, connections: 2}", []),
      (Self.node + "\ndiscovery: {mdns: 'off', read: 'off'}\nhome_assistant: {discovery: 'off'}", []),
      (broker + url, ["error: store.url: needs `fleet.unseal_command`: without it no key of a shard can be used"]),
      (
        url + "fleet: {\(kms)}",
        ["error: mqtt.host: expected the broker of the fleet: a private one is not reached by other nodes"]
      ),
      (
        Self.node + "\nhomes: {a: {base_topic: b}}",
        ["error: homes: are kept in the database of the fleet: run `threadkeeper fleet homes add`"]
      ),
      (
        Self.node + "\nclients: {socket: /run/x}\nclient_users: {root: a}",
        ["warning: clients.socket: has no effect with `store.url`"]
      ),
      (
        Self.node + "\ndiscovery: {mdns: auto, read: auto}\nhome_assistant: {discovery: 'on'}",
        [
          "warning: discovery.mdns: has no effect with `store.url`",
          "warning: discovery.read: has no effect with `store.url`",
          "warning: home_assistant.discovery: has no effect with `store.url`",
        ]
      ),
      (
        "fleet: {seal_command: [kms], \(kms)}",
        [
          "warning: fleet.seal_command: has no effect without `store.url`",
          "warning: fleet.unseal_command: has no effect without `store.url`",
        ]
      ),
      (
        broker + url + "fleet: {\(kms), node: localhost}",
        ["error: fleet.node: `localhost` does not tell this node from others; set `fleet.node`"]
      ),
    ]
    for row in rows {
      let found = try problems(row.yaml).map { $0.trimmingPrefix(#/.*?: (?=error|warning)/#) }
      #expect(found == row.problems.map { $0[...] })
    }
  }

  @Test("A URL is never shown, whatever is wrong with it") func secret() throws {
    for url in ["db:5432/hunter2", "mysql://a:hunter2@db", "\"host=a\\nhunter2\"", "[hunter2=]"] {
      let found = try problem("store: {url: \(url)}")
      #expect(found.contains("store.url") && !found.contains("hunter2"), "\(found)")
    }
    let settings = try settings(
      "",
      [
        "THREADKEEPER_MQTT_HOST": "broker", "THREADKEEPER_STORE_URL": "postgresql://a:hunter2@db/tk",
        "THREADKEEPER_FLEET_UNSEAL_COMMAND": "[kms]",
      ])
    #expect(!"\(settings)".contains("hunter2"))
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!dumped.contains("hunter2"))
  }

  @Test(
    "Values out of their range are refused",
    arguments: [
      "node: ''", "node: a/b", "node: \"a b\"", "address: 'a:1'", "address: ''", "shards_at_most: 0",
      "shards_at_most: 4097", "connections: 65", "connections: x", "unseal_command: kms", "unseal_command: ['']",
      "seal_command: {a: b}", "unseal_command: [\"a\\0b\"]", "seal_command: [[a]]",
    ]) func unfit(row: String) throws
  {
    let found = try problems("fleet: {\(row)}").filter { $0.contains("error") }
    #expect(found.count == 1 && found[0].contains("fleet."), "\(found)")
  }
}
