#if Fleet
import SodiumCrypto
import TestKit
import Testing

@testable import Fleet
@testable import Home
@testable import Threadkeeper

@Suite("What fleet commands take") struct FleetValueTests {
  @Test(
    "A home is named by its shard and its name",
    arguments: [
      ("17/smith", true), ("1/a", true), ("65535/a-b_c9", true), ("0/smith", false), ("65536/smith", false),
      ("+1/smith", false), ("17/", false), ("17", false), ("17/Smith", false), ("17/a/b", false), ("x/smith", false),
      ("17/smith ", false), ("17/" + String(repeating: "a", count: 33), false), ("-1/smith", false),
    ]) func address(_ text: String, _ isOne: Bool)
  { #expect(((try? HomeAddress(text))?.description == text) == isOne) }

  @Test("Settings of a home are checked as those of a node are") func settings() throws {
    var node = HomeSettings()
    (node.alertsHold, node.offlineAfter, node.routersPerTeam) = (12, 14, 16)
    let own = try HomeOverrides(["alerts.hold": "60", "presence.offline_after": "0", "preferred.on_mismatch": "adopt"])
      .over(node)
    #expect((own.alertsHold, own.offlineAfter, own.routersPerTeam) == (60, 0, 16))
    #expect(own.onMismatch == .adopt)
    node.onMismatch = .adopt
    #expect(try HomeOverrides().over(node) == node)
    let calm = try HomeOverrides(["preferred.on_mismatch": "alert"]).over(node)
    #expect(calm.onMismatch == .alert && calm.alertsHold == 12 && calm.offlineAfter == 14)
    for wrong in [["alerts.hold": "soon"], ["mqtt.port": "1"], ["preferred.on_mismatch": "x"]] {
      let error = #expect(throws: CommandFailure.self) { try HomeOverrides(wrong) }
      #expect(error?.status == .usage)
    }
  }

  @Test("A key command turns its input into its output, and its shard is in a variable") func keyCommand() throws {
    let command = KeyCommand("fleet.seal_command", ["sh", "-c", "printf %s- $THREADKEEPER_SHARD; cat"])
    let output = try command.run(SecretBytes(copying: Array("root".utf8)), shard: 17)
    #expect(output == SecretBytes(copying: Array("17-root".utf8)))
  }

  @Test(
    "A key command that does not work says why, and nothing of its input",
    arguments: [
      (["sh", "-c", "exit 3"], "sh ended with 3"), (["sh", "-c", "kill -9 $$"], "ended by signal 9"),
      (["true"], "true prints nothing"), (["yes"], "prints too much"), (["sleep", "60"], "has not ended within 1 s"),
      (["/dev/null/seal"], "is not installed"), ([], "is not set"),
    ]) func keyCommandFails(_ command: [String], _ words: String)
  {
    let limit: Duration = command.first == "sleep" ? .seconds(1) : .seconds(60)
    let error = #expect(throws: CommandFailure.self) {
      try KeyCommand("fleet.seal_command", command, within: limit).run(
        SecretBytes(copying: Array("geheim".utf8)), shard: 1)
    }
    #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("geheim") == false)
  }

  @Test("Hashes in a record are those of the new shard, and all else stays") func hashes() throws {
    let (old, new) = (SecretBytes(random: 32), SecretBytes(random: 32))
    let dataset = try SampleNetwork.home.dataset(at: 1)
    func records(_ key: SecretBytes) throws -> [UInt8]? {
      var home = Home(rules: HomeRules { 1 })
      home.preferred = PreferredNetwork(
        dataset: try #require(DatasetSummary(dataset, key: key)), createdAt: WireTime(milliseconds: 1),
        changedAt: WireTime(milliseconds: 2))
      return home.record(.home)
    }
    let change = try HashChange(from: old, to: new, [SecretBytes(copying: dataset.bytes)], signers: [])
    let before = try #require(try records(old))
    let after = try records(new)
    #expect(before != after)
    #expect(change.applied(to: before) == after)
    #expect(change.applied(to: [1, 2, 3]) == [1, 2, 3])
  }
}
#endif
