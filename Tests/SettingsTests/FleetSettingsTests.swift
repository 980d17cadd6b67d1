// SPDX-License-Identifier: Apache-2.0

import Settings
import Testing

@Suite("The settings of a node of a fleet")
struct FleetSettingsTests {
  private static let node = """
    mqtt: {host: broker}
    store: {url: 'host=/run/postgresql dbname=tk'}
    fleet:
      unseal_command: [kms, decrypt, --key=tk]
    """

  @Test("It has a database, a broker and a way to its keys; all else has a default")
  func node() throws {
    let settings = try #require(try load(Self.node).settings)
    #expect(settings.store.url?.revealed == "host=/run/postgresql dbname=tk")
    #expect(settings.fleet.unsealCommand == ["kms", "decrypt", "--key=tk"])
    #expect(settings.fleet.sealCommand == [])
    #expect((settings.fleet.shardsAtMost, settings.fleet.connections) == (64, 8))
    #expect(!settings.fleet.node.isEmpty && settings.fleet.node == settings.fleet.address)
    let home = try #require(try load("").settings)
    #expect(home.store.url == nil && home.fleet == Settings(stateDirectory: "/").fleet)
  }

  @Test("What a node cannot run with is refused, and what is without effect is said")
  func rules() throws {
    func found(_ yaml: String, _ more: String = "") throws -> [String] {
      try problems(yaml + "\n" + more).map {
        $0.split(separator: ": ").dropFirst().joined(separator: ": ")
      }
    }
    #expect(try found(Self.node) == [])
    let url = "store: {url: postgresql://db/tk}\n"
    #expect(
      try found("mqtt: {host: broker}\n" + url) == [
        "error: store.url: needs `fleet.unseal_command`: without it no key of a shard can be used"
      ])
    #expect(
      try found(url, "fleet: {unseal_command: [kms]}") == [
        "error: mqtt.host: expected the broker of the fleet: a private one is not reached by other nodes"
      ])
    #expect(
      try found(Self.node, "homes: {a: {base_topic: b}}") == [
        "error: homes: are kept in the database of the fleet: run `threadkeeper fleet homes add`"
      ])
    #expect(try found(Self.node, "homes: {}") == [])
    #expect(try found("fleet: {node: a, connections: 2}") == [])
    #expect(
      try found(Self.node, "clients: {socket: /run/x}\nclient_users: {root: a}") == [
        "warning: clients.socket: has no effect with `store.url`"
      ])
    let others = "discovery: {mdns: %1}\nhome_assistant: {discovery: %2}"
    func with(_ mdns: String, _ devices: String) -> String {
      others.replacing("%1", with: mdns).replacing("%2", with: devices)
    }
    #expect(try found(Self.node, with("'off'", "'off'")) == [])
    #expect(
      try found(Self.node, with("auto", "'on'")) == [
        "warning: discovery.mdns: has no effect with `store.url`",
        "warning: home_assistant.discovery: has no effect with `store.url`",
      ])
    #expect(
      try found("fleet: {seal_command: [kms], unseal_command: [kms]}") == [
        "warning: fleet.seal_command: has no effect without `store.url`",
        "warning: fleet.unseal_command: has no effect without `store.url`",
      ])
    #expect(
      try found("mqtt: {host: broker}\n" + url, "fleet: {unseal_command: [kms], node: localhost}")
        == [
          "error: fleet.node: `localhost` does not tell this node from others; set `fleet.node`"
        ])
  }

  @Test("A URL is never shown, whatever is wrong with it")
  func secret() throws {
    for url in ["db:5432/hunter2", "mysql://a:hunter2@db", "\"host=a\\nhunter2\"", "[hunter2=]"] {
      let found = try problems("store: {url: \(url)}")
      #expect(found.count == 1 && found[0].contains("store.url"), "\(found)")
      #expect(!found.contains { $0.contains("hunter2") })
    }
    let settings = try #require(
      try load(
        "",
        [
          "THREADKEEPER_MQTT_HOST": "broker",
          "THREADKEEPER_STORE_URL": "postgresql://a:hunter2@db/tk",
          "THREADKEEPER_FLEET_UNSEAL_COMMAND": "[kms]",
        ]
      ).settings)
    #expect(!"\(settings)".contains("hunter2"))
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!dumped.contains("hunter2"))
  }

  @Test(
    "Values out of their range are refused",
    arguments: [
      "node: ''", "node: a/b", "node: \"a b\"", "address: 'a:1'", "address: ''",
      "shards_at_most: 0", "shards_at_most: 4097", "connections: 65", "connections: x",
      "unseal_command: kms", "unseal_command: ['']", "seal_command: {a: b}",
      "unseal_command: [\"a\\0b\"]", "seal_command: [[a]]",
    ])
  func unfit(row: String) throws {
    let found = try problems("fleet: {\(row)}").filter { $0.contains("error") }
    #expect(found.count == 1 && found[0].contains("fleet."), "\(found)")
  }
}
