import Foundation
import TestKit
import Testing

@Suite("threadkeeper dataset encode", .timeLimit(.minutes(30))) struct DatasetEncodeTests {
  private func encode(_ arguments: String..., input: ThreadkeeperBinary.Input = .nothing) async throws
    -> ThreadkeeperBinary.Outcome
  { try await ThreadkeeperBinary.run(["dataset", "encode"] + arguments, input: input) }

  private func decoded(_ hex: String) async throws -> [String: any Sendable] {
    let outcome = try await ThreadkeeperBinary.run(
      ["dataset", "decode", "--json", "--show-secrets", "-"], input: .text(hex))
    #expect(outcome.status == 0, "\(outcome.error)")
    return try outcome.object()
  }

  @Test("Without options it is a complete dataset of a new network, another one each time") func random() async throws {
    let (first, second) = (try await encode(), try await encode("--json"))
    #expect(first.status == 0 && second.status == 0)
    #expect(first.error.isEmpty)
    let hex = try #require(try second.object()["dataset"] as? String)
    let networks = [try await decoded(first.output), try await decoded(hex)]
    for network in networks {
      #expect(network["kind"] as? String == "complete")
      #expect(network["well_known_key"] as? Bool == false)
    }
    let keys = networks.compactMap { $0["network_key"] as? String }
    #expect(keys.count == 2 && Set(keys).count == 2)
  }

  @Test("Fields of a network make its dataset, in each form in which others print them") func fields() async throws {
    for (identity, prefix) in [
      ("acc214689bc40bdf", "fd64:db12:25f4:7e0b::/64"), ("0xACC214689BC40BDF", "fd64db1225f47e0b"),
      ("acc214689bc40bdf", "fd64:db12:25f4:7e0b/64"),
    ] {
      let outcome = try await encode(
        "--network-key", "-", "--network-name", "OpenThread-d9a0", "--ext-pan-id", identity, "--pan-id", "0xD9A0",
        "--channel", "19", "--mesh-local-prefix", prefix, "--security-policy", "02a0fff8", "--active-timestamp", "7",
        input: .text("> networkkey\r\n\(DatasetSamples.networkKey)\r\nDone\r\n"))
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(outcome.error.isEmpty, "nobody else can read the key")
      let made = try await decoded(outcome.output)
      for (name, text) in [
        "kind": "complete", "network_name": "OpenThread-d9a0", "ext_pan_id": "acc214689bc40bdf",
        "mesh_local_prefix": "fd64:db12:25f4:7e0b::/64", "network_key": DatasetSamples.networkKey,
      ] { #expect(made[name] as? String == text, "\(name)") }
      for (name, number) in ["pan_id": 0xD9A0, "channel": 19, "active_timestamp": 7] {
        #expect(made[name] as? Int == number, "\(name)")
      }
      let policy = try #require(made["security_policy"] as? [String: any Sendable])
      #expect(policy["flags"] as? String == "fff8")
    }
  }

  @Test("Keys on the command line are warned of, and one that is no secret, too") func warnings() async throws {
    let outcome = try await encode("--network-key", "00112233445566778899aabbccddeeff", "--pskc", DatasetSamples.pskc)
    #expect(outcome.status == 0)
    #expect(outcome.error.contains("can read a Network Key on the command line"))
    #expect(outcome.error.contains("can read a PSKc on the command line"))
    #expect(outcome.error.contains("printed in public documentation"))
    #expect(outcome.output.contains("0410" + DatasetSamples.pskc))
  }

  @Test(
    "A value that can't be used is named, not repeated",
    arguments: [
      (["--ext-pan-id", "12345"], 64, "--ext-pan-id"), (["--pan-id", "55712"], 64, "--pan-id"),
      (["--pan-id", "0x10000"], 64, "--pan-id"), (["--pan-id", "0xffff"], 65, "PAN ID"),
      (["--channel", "27"], 65, "Channel"), (["--network-name", "seventeen letters"], 65, "Network Name"),
      (["--mesh-local-prefix", "2001:db8::/64"], 64, "--mesh-local-prefix"),
      (["--security-policy", "02a0"], 64, "--security-policy"),
      (["--active-timestamp", "281474976710656"], 64, "--active-timestamp"),
      (["--network-key", "7f3a9c"], 64, "--network-key"), (["--pskc", "7f3a9c"], 64, "--pskc"),
      (["--network-key", "-", "--pskc", "-"], 64, "--pskc"),
    ] as [([String], Int32, String)]) func refused(arguments: [String], status: Int32, named: String) async throws
  {
    let outcome = try await ThreadkeeperBinary.run(["dataset", "encode"] + arguments)
    #expect(outcome.status == status)
    #expect(outcome.output.isEmpty)
    #expect(outcome.error.contains(named), "\(outcome.error)")
    #expect(!outcome.error.contains("7f3a9c"))
  }
}
