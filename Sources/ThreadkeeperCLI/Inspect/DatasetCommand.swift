// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ThreadDataset
import ThreadkeeperDaemon

/// `threadkeeper dataset …`: looks at operational datasets and makes them, without store and broker.
struct DatasetCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dataset",
    abstract: "Decode and make operational datasets.",
    discussion: """
      A dataset holds the secrets of a Thread network. What stands on a command line can be read \
      by other users of the machine in the list of processes, and is kept in the shell's history. \
      So give @FILE, or "-" and pass the dataset on standard input. Otherwise a warning is written to \
      standard error.
      """,
    subcommands: [DatasetDecodeCommand.self, DatasetEncodeCommand.self])
}

/// `threadkeeper dataset decode HEX|-`
struct DatasetDecodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "decode",
    abstract: "Check a dataset and print what is in it.",
    discussion: """
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

  @Argument(help: "The dataset in hexadecimal digits, @FILE, or - for standard input.")
  var dataset: DatasetArgument

  @Flag(help: "Print Network Key, PSKc and the values of unknown TLVs too.")
  var showSecrets = false

  @Flag(help: "Accept a dataset in which something is missing.")
  var partial = false

  @OptionGroup
  var output: OutputOptions

  func run() async throws {
    do {
      let dataset = try dataset.read(allowPartial: partial)
      try output.show(
        DatasetReport(of: dataset, showSecrets: showSecrets),
        text: Table(of: dataset, showSecrets: showSecrets).text())
    } catch let error as DatasetError {
      throw try DatasetErrorReport(error).failure(output, hasPartial: true)
    }
  }
}

/// All that is in a dataset, for scripts. What is not in it, is absent.
struct DatasetReport: Encodable {
  struct Policy: Encodable {
    let rotationTimeHours: UInt16
    let flags: String
  }

  struct Unknown: Encodable {
    let type: UInt8
    let length: Int
    let value: String?
  }

  let kind: String
  let bytes: Int
  let networkName: String?
  let extPanId: String?
  let panId: UInt16?
  let channel: UInt16?
  let channelPage: UInt8?
  let channelMask: [UInt16]?
  let wakeUpChannel: UInt16?
  let wakeUpChannelPage: UInt8?
  let activeTimestamp: UInt64?
  let activeTimestampTicks: UInt16?
  let pendingTimestamp: UInt64?
  let pendingTimestampTicks: UInt16?
  let delayTimerMs: UInt32?
  let meshLocalPrefix: String?
  let securityPolicy: Policy?
  let domainName: String?
  let unknown: [Unknown]
  /// Only where secrets are asked for.
  let networkKey: String?
  /// Only where secrets are asked for.
  let pskc: String?
  /// Whether the Network Key is printed in public documentation.
  let wellKnownKey: Bool?

  init(of dataset: OperationalDataset, showSecrets: Bool) {
    kind = dataset.kind.rawValue
    bytes = dataset.bytes.count
    networkName = dataset.networkName
    extPanId = dataset.extendedPANID?.description
    panId = dataset.panID
    channel = dataset.channel?.number
    channelPage = dataset.channel?.page
    channelMask = dataset.channelMask?.channels
    wakeUpChannel = dataset.wakeUpChannel?.number
    wakeUpChannelPage = dataset.wakeUpChannel?.page
    activeTimestamp = dataset.activeTimestamp?.seconds
    activeTimestampTicks = dataset.activeTimestamp?.ticks
    pendingTimestamp = dataset.pendingTimestamp?.seconds
    pendingTimestampTicks = dataset.pendingTimestamp?.ticks
    delayTimerMs = dataset.delayTimer
    meshLocalPrefix = dataset.meshLocalPrefix?.ipv6Text
    securityPolicy = dataset.securityPolicy.map {
      Policy(rotationTimeHours: $0.rotationTime, flags: Hexadecimal.encode($0.flags))
    }
    domainName = dataset.domainName
    // An unknown value may be a secret that a newer Thread has.
    unknown = dataset.unknown.map {
      Unknown(
        type: $0.type, length: $0.value.count,
        value: showSecrets ? Hexadecimal.encode($0.value) : nil)
    }
    networkKey = showSecrets ? dataset.networkKey?.revealedHex : nil
    pskc = showSecrets ? dataset.pskc?.revealedHex : nil
    wellKnownKey = dataset.networkKey?.isWellKnown
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

    enum CodingKeys: CodingKey {
      case code, tlv, tlvType, offset, message
    }

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

  init(_ error: DatasetError) {
    self.error = Body(
      code: error.code.rawValue, tlv: error.tlvName ?? error.type.map { "TLV \($0)" },
      tlvType: error.type, offset: error.offset, message: error.message)
  }

  /// What the command has to throw. With `--json` the report is printed first, on standard output.
  ///
  /// - Parameter hasPartial: whether the command knows `--partial`.
  func failure(
    _ output: OutputOptions, hasPartial: Bool = false
  ) throws(CommandFailure) -> any Error {
    if output.json {
      try StandardStream.output.write(JSONText.pretty(self))
      return ExitCode(ExitStatus.badInput.rawValue)
    }
    return CommandFailure(
      .badInput, "bad dataset, \(error.code): \(error.message)",
      remedy: hasPartial && error.code == DatasetError.Code.missingTLV.rawValue
        ? "--partial accepts a dataset in which something is missing" : nil)
  }
}

extension Table {
  /// All that is in a dataset, for people. What is not in it, has no row.
  init(of dataset: OperationalDataset, showSecrets: Bool) {
    self.init(columns: "Parameter", "Value")
    add("Kind", "\(dataset.kind.rawValue), \(dataset.bytes.count) bytes")
    add(.networkName, dataset.networkName)
    add(.extendedPANID, dataset.extendedPANID?.description)
    add(.panID, dataset.panID.map { "\(hexadecimal($0)) (\($0))" })
    add(.channel, dataset.channel?.description)
    add(.channelMask, dataset.channelMask.map { ranges(of: $0.channels) })
    add(.wakeUpChannel, dataset.wakeUpChannel?.description)
    add(.activeTimestamp, dataset.activeTimestamp?.description)
    add(.pendingTimestamp, dataset.pendingTimestamp?.description)
    add(.delayTimer, dataset.delayTimer.map { "\($0) ms" })
    add(.meshLocalPrefix, dataset.meshLocalPrefix?.ipv6Text)
    add(
      .securityPolicy,
      dataset.securityPolicy.map {
        "keys rotate every \($0.rotationTime) h, flags \(Hexadecimal.encode($0.flags))"
      })
    add(.domainName, dataset.domainName)
    add(.networkKey, dataset.networkKey.map { shown($0, showSecrets) + warning(about: $0) })
    add(.pskc, dataset.pskc.map { shown($0, showSecrets) })
    for tlv in dataset.unknown {
      // An unknown value may be a secret that a newer Thread has.
      let bytes = tlv.value.count == 1 ? "<1 byte>" : "<\(tlv.value.count) bytes>"
      add("TLV \(tlv.type)", showSecrets ? Hexadecimal.encode(tlv.value) : bytes)
    }
  }

  private mutating func add(_ type: TLVType, _ value: String?) {
    if let value { add(type.name, value) }
  }
}

private func shown(_ secret: some ThreadSecret, _ show: Bool) -> String {
  show ? secret.revealedHex : secret.description
}

private func warning(about key: NetworkKey) -> String {
  key.isWellKnown ? ", printed in public documentation: it keeps nobody out" : ""
}

private func hexadecimal(_ panID: UInt16) -> String {
  "0x" + Hexadecimal.encode([UInt8(panID >> 8), UInt8(panID & 0xFF)])
}

/// Rising numbers as text: `11-14, 20`.
private func ranges(of channels: [UInt16]) -> String {
  var ranges: [ClosedRange<UInt16>] = []
  for channel in channels {
    if let last = ranges.last, last.upperBound + 1 == channel {
      ranges[ranges.count - 1] = last.lowerBound...channel
    } else {
      ranges.append(channel...channel)
    }
  }
  return ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
    .joined(separator: ", ")
}
