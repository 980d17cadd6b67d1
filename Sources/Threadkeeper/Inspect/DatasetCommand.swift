import ArgumentParser
import ThreadDataset

/// `threadkeeper dataset …`: looks at operational datasets and makes them, without store and broker.
struct DatasetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "dataset", "Decode and make operational datasets.",
    """
    A dataset holds the secrets of a Thread network. What stands on a command line can be read \
    by other users of the machine in the list of processes, and is kept in the shell's history. \
    So give @FILE, or "-" and pass the dataset on standard input. Otherwise a warning is written to \
    standard error.
    """, subcommands: [DatasetDecodeCommand.self, DatasetEncodeCommand.self])
}

/// `threadkeeper dataset decode HEX|-`
struct DatasetDecodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "decode", "Check a dataset and print what is in it.",
    """
    Secrets are not printed, unless you ask for them. White space, quotes, a "hex:" or "0x" in front, and the prompt \
    and "Done" of OpenThread's command line are dropped.

    Examples:
      sudo ot-ctl dataset active -x | threadkeeper dataset decode -
      curl -s -H 'Accept: text/plain' http://127.0.0.1:8081/node/dataset/active \\
        | threadkeeper dataset decode --json -

    Other users of the machine can read a dataset that stands on the command line. Prefer "-", \
    or a file.

    Exit status: 0 for a sound dataset, 65 for one that is not. With --json a bad one prints \
    {"error":{"code","tlv","tlv_type","offset","message"}}.
    """)

  @Argument(help: "The dataset in hexadecimal digits, @FILE, or - for standard input.") var dataset: DatasetArgument

  @Flag(help: "Print Network Key, PSKc and the values of unknown TLVs too.") var showSecrets = false

  @Flag(help: "Accept a dataset in which something is missing.") var partial = false

  @OptionGroup var output: OutputOptions

  func run() async throws {
    let dataset = try DatasetErrorReport.ending(output, hasPartial: true) {
      try self.dataset.read(allowPartial: partial)
    }
    let report = DatasetReport(of: dataset, showSecrets: showSecrets)
    try output.show(report, text: report.table.text())
  }
}

/// All that is in a dataset, for scripts and for people. What is not in it is absent.
struct DatasetReport: Encodable {
  private struct Policy: Encodable {
    let rotationTimeHours: UInt16
    let flags: String
  }

  private struct Unknown: Encodable {
    let type: UInt8
    let length: Int
    let value: String?
  }

  private struct Value: Encodable {
    let value: any Encodable

    func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  private var fields: [String: Value] = [:]
  private var rows: [[String]] = []

  var table: Table { Table(["Parameter", "Value"], rows) }

  init(of dataset: OperationalDataset, showSecrets: Bool) {
    func shown(_ secret: some ThreadSecret) -> String { showSecrets ? secret.revealedHex : secret.description }
    let (kind, count) = (dataset.kind.rawValue, dataset.bytes.count)
    rows = [["Kind", "\(kind), \(count) bytes"]]
    (fields["kind"], fields["bytes"]) = (Value(value: kind), Value(value: count))
    add(.networkName, dataset.networkName, ["network_name": dataset.networkName])
    let network = dataset.extendedPANID?.description
    add(.extendedPANID, network, ["ext_pan_id": network])
    add(.panID, dataset.panID.map { "\(Self.hexadecimal($0)) (\($0))" }, ["pan_id": dataset.panID])
    let channel = dataset.channel
    add(.channel, channel?.description, ["channel": channel?.number, "channel_page": channel?.page])
    let channels = dataset.channelMask?.channels
    add(.channelMask, channels.map { String(ranges: $0.map(Int.init)) }, ["channel_mask": channels])
    let wakeUp = dataset.wakeUpChannel
    add(.wakeUpChannel, wakeUp?.description, ["wake_up_channel": wakeUp?.number, "wake_up_channel_page": wakeUp?.page])
    let active = dataset.activeTimestamp
    add(
      .activeTimestamp, active?.description,
      ["active_timestamp": active?.seconds, "active_timestamp_ticks": active?.ticks])
    let pending = dataset.pendingTimestamp
    add(
      .pendingTimestamp, pending?.description,
      ["pending_timestamp": pending?.seconds, "pending_timestamp_ticks": pending?.ticks])
    add(.delayTimer, dataset.delayTimer.map { "\($0) ms" }, ["delay_timer_ms": dataset.delayTimer])
    let prefix = dataset.meshLocalPrefix?.ipv6Text
    add(.meshLocalPrefix, prefix, ["mesh_local_prefix": prefix])
    let policy = dataset.securityPolicy.map {
      Policy(rotationTimeHours: $0.rotationTime, flags: Hexadecimal.encode($0.flags))
    }
    add(
      .securityPolicy, policy.map { "keys rotate every \($0.rotationTimeHours) h, flags \($0.flags)" },
      ["security_policy": policy])
    add(.domainName, dataset.domainName, ["domain_name": dataset.domainName])
    add(
      .networkKey,
      dataset.networkKey.map {
        shown($0) + ($0.isWellKnown ? ", printed in public documentation: it keeps nobody out" : "")
      },
      [
        "network_key": showSecrets ? dataset.networkKey?.revealedHex : nil,
        "well_known_key": dataset.networkKey?.isWellKnown,
      ])
    add(.pskc, dataset.pskc.map { shown($0) }, ["pskc": showSecrets ? dataset.pskc?.revealedHex : nil])
    // An unknown value may be a secret that a newer Thread has.
    let unknown = dataset.unknown.map {
      Unknown(type: $0.type, length: $0.value.count, value: showSecrets ? Hexadecimal.encode($0.value) : nil)
    }
    for tlv in unknown {
      rows.append(["TLV \(tlv.type)", tlv.value ?? (tlv.length == 1 ? "<1 byte>" : "<\(tlv.length) bytes>")])
    }
    fields["unknown"] = Value(value: unknown)
  }

  func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }

  /// - Parameters:
  ///   - text: for people; nil: there is no such parameter.
  ///   - values: for scripts, by their fields.
  private mutating func add(_ type: TLVType, _ text: String?, _ values: KeyValuePairs<String, (any Encodable)?>) {
    if let text { rows.append([type.name, text]) }
    for (field, value) in values { fields[field] = value.map(Value.init) }
  }

  private static func hexadecimal(_ panID: UInt16) -> String {
    "0x" + Hexadecimal.encode([UInt8(panID >> 8), UInt8(panID & 0xFF)])
  }
}

/// A bad dataset as JSON: `{"error":{"code","tlv","tlv_type","offset","message"}}`.
struct DatasetErrorReport: Encodable {
  struct Body: Encodable {
    let code: String
    let tlv: String?
    let tlvType: UInt8?
    let offset: Int
    let message: String

    enum CodingKeys: CodingKey { case code, tlv, tlvType, offset, message }

    /// Null says that there is no TLV to blame: the key is always there.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(code, forKey: .code)
      try container.encode(tlv, forKey: .tlv)
      try container.encode(tlvType, forKey: .tlvType)
      try container.encode(offset, forKey: .offset)
      try container.encode(message, forKey: .message)
    }
  }

  let error: Body

  private init(_ error: DatasetError) {
    self.error = Body(
      code: error.code.rawValue, tlv: error.tlvName ?? error.type.map { "TLV \($0)" }, tlvType: error.type,
      offset: error.offset, message: error.message)
  }

  /// A `DatasetError` of the body ends the command. With `--json` the report is printed first, on standard output.
  ///
  /// - Parameter hasPartial: whether the command knows `--partial`.
  static func ending(_ output: OutputOptions, hasPartial: Bool = false, _ body: () throws -> OperationalDataset) throws
    -> OperationalDataset
  {
    do { return try body() } catch let error as DatasetError {
      if output.json {
        try StandardStream.output.write(JSONText.pretty(Self(error)))
        throw ExitCode(ExitStatus.badInput.rawValue)
      }
      throw CommandFailure(
        .badInput, "bad dataset, \(error.code.rawValue): \(error.message)",
        remedy: hasPartial && error.code == .missingTLV
          ? "--partial accepts a dataset in which something is missing" : nil)
    }
  }
}

extension String {
  /// Rising numbers: `11-14, 20`.
  package init(ranges numbers: [Int]) {
    var ranges: [ClosedRange<Int>] = []
    for number in numbers {
      let isNext = ranges.last?.upperBound == number - 1
      let first = isNext ? ranges.removeLast().lowerBound : number
      ranges.append(first...number)
    }
    self = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.listed
  }
}
