import Foundation
import TestKit
import Testing

@Suite("threadkeeper dataset decode", .timeLimit(.minutes(30))) struct DatasetDecodeTests {
  private func decode(_ arguments: String..., input: ThreadkeeperBinary.Input = .nothing, output: String? = nil)
    async throws -> ThreadkeeperBinary.Outcome
  { try await ThreadkeeperBinary.run(["dataset", "decode"] + arguments, input: input, output: output) }

  @Test("A table has every value but the secrets") func table() async throws {
    let outcome = try await decode(DatasetSamples.home)
    #expect(outcome.status == 0)
    #expect(outcome.error == DatasetSamples.warning)
    let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    #expect(
      lines == [
        "Parameter Value", "Kind complete, 113 bytes", "Network Name OpenThread-d9a0",
        "Extended PAN ID acc214689bc40bdf", "PAN ID 0xd9a0 (55712)", "Channel 19", "Channel Mask 11-26",
        "Active Timestamp 1", "Mesh-Local Prefix fd64:db12:25f4:7e0b::/64",
        "Security Policy keys rotate every 672 h, flags fff8", "Network Key <16 bytes>", "PSKc <16 bytes>",
        "TLV 170 <1 byte>", "TLV 187 <2 bytes>",
      ])
    expectNoSecret(in: outcome)
  }

  @Test("A dataset on standard input is the same; white space around it does not matter") func standardInput()
    async throws
  {
    let direct = try await decode(DatasetSamples.home)
    let piped = try await decode("-", input: .text("\r\n " + DatasetSamples.home.uppercased() + "\r\n"))
    #expect(piped.status == 0)
    #expect(piped.output == direct.output)
    #expect(piped.error.isEmpty, "nobody else can read it")
  }

  @Test("JSON has numbers where scripts count, and no secret") func json() async throws {
    let outcome = try await decode("--json", DatasetSamples.homeWithWakeUpChannel)
    #expect(outcome.status == 0)
    let object = try outcome.object()
    let texts = [
      "kind": "complete", "network_name": "OpenThread-d9a0", "ext_pan_id": "acc214689bc40bdf",
      "mesh_local_prefix": "fd64:db12:25f4:7e0b::/64",
    ]
    let numbers = [
      "bytes": 118, "pan_id": 0xD9A0, "channel": 19, "channel_page": 0, "wake_up_channel": 24, "active_timestamp": 1,
      "active_timestamp_ticks": 0,
    ]
    for (name, text) in texts { #expect(object[name] as? String == text, "\(name)") }
    for (name, number) in numbers { #expect(object[name] as? Int == number, "\(name)") }
    #expect(object["channel_mask"] as? [Int] == Array(11...26))
    #expect(object["well_known_key"] as? Bool == false)
    let policy = try #require(object["security_policy"] as? [String: any Sendable])
    #expect(policy["rotation_time_hours"] as? Int == 672)
    #expect(policy["flags"] as? String == "fff8")
    let unknown = try #require(object["unknown"] as? [[String: any Sendable]])
    #expect(unknown.map { $0["type"] as? Int } == [170, 187])
    #expect(unknown.map { $0["length"] as? Int } == [1, 2])
    #expect(unknown.allSatisfy { $0["value"] == nil })
    for absent in ["network_key", "pskc", "pending_timestamp", "delay_timer_ms", "domain_name"] {
      #expect(object[absent] == nil, "\(absent)")
    }
    expectNoSecret(in: outcome)
  }

  @Test("Secrets are there for who asks for them") func secrets() async throws {
    let outcome = try await decode("--json", "--show-secrets", "-", input: .text(DatasetSamples.home))
    let object = try outcome.object()
    #expect(object["network_key"] as? String == DatasetSamples.networkKey)
    #expect(object["pskc"] as? String == DatasetSamples.pskc)
    let unknown = try #require(object["unknown"] as? [[String: any Sendable]])
    #expect(unknown.map { $0["value"] as? String } == ["ff", "0102"])
    let table = try await decode("--show-secrets", DatasetSamples.home)
    #expect(table.output.contains(DatasetSamples.networkKey))
    #expect(table.output.contains(DatasetSamples.pskc))
  }

  @Test("A pending dataset says so, with its delay") func pending() async throws {
    let outcome = try await decode("--json", DatasetSamples.pending)
    let object = try outcome.object()
    #expect(object["kind"] as? String == "pending")
    #expect(object["pending_timestamp"] as? Int == 2)
    #expect(object["delay_timer_ms"] as? Int == 46354)
  }

  @Test("A key from public documentation is pointed at") func wellKnownKey() async throws {
    let dataset = DatasetSamples.home.replacingOccurrences(
      of: DatasetSamples.networkKey, with: "00112233445566778899aabbccddeeff")
    let outcome = try await decode(dataset)
    #expect(outcome.output.contains("printed in public documentation"))
    let json = try await decode("--json", dataset)
    #expect(try json.object()["well_known_key"] as? Bool == true)
  }

  @Test("A partial dataset is refused, unless partial ones are asked for") func partial() async throws {
    let refused = try await decode(DatasetSamples.partial)
    #expect(refused.status == 65)
    #expect(refused.output.isEmpty)
    #expect(refused.error.contains("missing_tlv: Network Key is missing"))
    #expect(refused.error.contains("--partial"))
    let accepted = try await decode("--json", "--partial", DatasetSamples.partial)
    #expect(accepted.status == 0)
    #expect(try accepted.object()["kind"] as? String == "partial")
  }

  @Test("Commands without --partial do not advise it", arguments: ["check", "set"]) func noPartial(command: String)
    async throws
  {
    let refused = try await ThreadkeeperBinary.run(
      "preferred", command, "-", input: .text(DatasetSamples.partial), environment: ["HOME": "/dev/null"])
    #expect(refused.status == 65, "\(refused.error)")
    #expect(refused.error.contains("missing_tlv: Network Key is missing"))
    #expect(!refused.error.contains("--partial"))
  }

  @Test(
    "A bad dataset ends with 65 and says its code, TLV and offset",
    arguments: [("killevippen", "not_hex", nil, nil, 0), ("000300001a", "missing_tlv", "Active Timestamp", 14, 5)]
      as [(String, String, String?, Int?, Int)]) func bad(
      hex: String, code: String, tlv: String?, type: Int?, offset: Int
    ) async throws
  {
    let outcome = try await decode("--json", hex)
    #expect(outcome.status == 65)
    #expect(outcome.error == DatasetSamples.warning)
    let error = try #require(try outcome.object()["error"] as? [String: any Sendable])
    #expect(Set(error.keys) == ["code", "tlv", "tlv_type", "offset", "message"])
    #expect(error["code"] as? String == code)
    #expect(error["tlv"] as? String == tlv)
    #expect(error["tlv_type"] as? Int == type)
    #expect(error["offset"] as? Int == offset)
    #expect((error["message"] as? String)?.isEmpty == false)

    let plain = try await decode(hex)
    #expect(plain.status == 65)
    #expect(plain.output.isEmpty)
    #expect(plain.error.contains("error: bad dataset, \(code): "))
  }

  @Test("Endless input is refused without reading it to its end", arguments: ["/dev/zero", "/dev/urandom"])
  func endless(path: String) async throws {
    let outcome = try await decode("--json", "-", input: .file(path))
    #expect(outcome.status == 65)
    let error = try #require(try outcome.object()["error"] as? [String: any Sendable])
    #expect(error["code"] as? String == "too_long")
  }

  @Test("Input that can't be read ends with 66, output that can't be written with 74") func streams() async throws {
    let unreadable = try await decode("-", input: .file("/"))
    #expect(unreadable.status == 66)
    #expect(unreadable.error.hasPrefix("error: can't read standard input"))
    let full = try await decode(DatasetSamples.home, output: "/dev/full")
    #expect(full.status == 74)
    #expect(full.error.contains("error: can't write"))
  }

  @Test("A network name can't command the terminal") func controlCharacters() async throws {
    let dataset = DatasetSamples.home.replacingOccurrences(
      of: "030f4f70656e5468726561642d64396130", with: "03061b5b324a0a41")
    let outcome = try await decode(dataset)
    #expect(outcome.status == 65 && outcome.output.isEmpty)
    #expect(!outcome.error.contains("\u{1B}"))
    #expect(outcome.error.contains("Network Name"), "\(outcome.error)")
  }

  private func expectNoSecret(in outcome: ThreadkeeperBinary.Outcome) {
    for secret in [DatasetSamples.networkKey, DatasetSamples.pskc] {
      for start in stride(from: 0, through: 24, by: 2) {
        #expect(!outcome.output.lowercased().contains(secret.dropFirst(start).prefix(8)))
      }
    }
  }
}

/// Datasets for the commands, and the secrets in them.
enum DatasetSamples {
  /// A complete one with two unknown TLVs.
  static let home =
    "0e080000000000010000000300001335060004001fffe00208acc214689bc40bdf0708fd64db1225f47e0b"
    + "0510\(networkKey)030f4f70656e5468726561642d643961300102d9a00410\(pskc)0c0402a0fff8" + "aa01ffbb020102"

  static let networkKey = "5b1fd2a7c94e3360f18a7be20c56d94f"
  static let pskc = "9d03c6e8a1574bfa62e07d18b43f95c0"

  /// The same network with another wake-up channel.
  static let homeWithWakeUpChannel = home + "4a03000018"

  /// On standard error, for a dataset on the command line.
  static let warning =
    "warning: other users of this machine can read a dataset on the command line; give @FILE, or - for"
    + " standard input\n"

  static let pending = home + "33080000000000020000" + "34040000b512"
  /// Without Network Key.
  static let partial = home.replacingOccurrences(of: "0510\(networkKey)", with: "")
}
