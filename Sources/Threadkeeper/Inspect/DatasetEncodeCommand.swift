import ArgumentParser
import Glibc
import ThreadDataset

/// `threadkeeper dataset encode`
struct DatasetEncodeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    "encode", "Make a dataset of its values, and print it.",
    """
    What you do not give is made at random, but for the Active Timestamp (1), the Channel Mask (all channels) and \
    the Security Policy (OpenThread's own). So without options it is the dataset of a new network. To join a network \
    that is there, give at least its key, its Extended PAN ID, its name, its PAN ID and its channel.

    Examples:
      (umask 077; threadkeeper dataset encode --network-name Home --channel 15 > dataset.hex)
      threadkeeper dataset encode --network-key @key.hex --ext-pan-id 1111111122222222 \\
        --network-name Home --pan-id 0x1234 --channel 15 | threadkeeper dataset decode -

    It is printed with its secrets. Other users of the machine can read a key that stands on the command line. \
    Prefer @FILE, or "-".
    """)

  @Option(help: "The key: 32 hex digits, @FILE, or - for standard input.") var networkKey: PastedDigits?

  @Option(help: "The network's name: 1 to 16 bytes.") var networkName: String?

  @Option(help: "The Extended PAN ID: 16 hex digits.") var extPanId: String?

  @Option(help: "The PAN ID: 0x0000 to 0xFFFE.") var panId: String?

  @Option(help: "The channel: 11 to 26.") var channel: UInt16?

  @Option(help: "The commissioner's key: 32 hex digits, @FILE, or - for standard input.") var pskc: PastedDigits?

  @Option(help: "Such as fd64:db12:25f4:7e0b::/64, or 16 hex digits.") var meshLocalPrefix: String?

  @Option(help: "Hours between two rotations of the keys, and flags: as 02a0f7f8.") var securityPolicy: String?

  @Option(help: "A network takes the dataset with the greatest one.") var activeTimestamp: UInt64?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard networkKey?.isStandardInput != true || pskc?.isStandardInput != true else {
      throw ValidationError("Only one of --network-key and --pskc can be - for standard input.")
    }
  }

  func run() async throws {
    let dataset = try DatasetErrorReport.ending(output) {
      var random = SystemRandomNumberGenerator()
      return try OperationalDataset(completing: components(), from: &random)
    }
    if dataset.networkKey?.isWellKnown == true {
      try StandardStream.error.write(
        "warning: the Network Key is printed in public documentation: it keeps nobody out\n")
    }
    try output.show(["dataset": dataset.hex], text: dataset.hex + "\n")
  }

  private func components() throws -> [DatasetComponent] {
    [
      try Self.value(activeTimestamp, of: "--active-timestamp", "at most 281474976710655") {
        Timestamp(seconds: $0).map { .activeTimestamp($0) }
      }, channel.map { .channel(Channel(number: $0)) },
      try Self.value(extPanId, of: "--ext-pan-id", "16 hex digits") {
        ExtendedPANID(hex: PastedDigits.digits(in: $0)).map { .extendedPANID($0) }
      },
      try Self.value(meshLocalPrefix, of: "--mesh-local-prefix", "such as fd64:db12:25f4:7e0b::/64") {
        Self.prefix(of: $0).map { .meshLocalPrefix($0) }
      },
      try Self.value(networkKey, of: "--network-key", "32 hex digits") {
        try $0.read(as: "a Network Key").flatMap { NetworkKey(hex: $0) }.map { .networkKey($0) }
      }, networkName.map { .networkName($0) },
      try Self.value(panId, of: "--pan-id", "0x0000 to 0xFFFE") {
        // Only with 0x: routers print the number in hex, JSON has it in decimal.
        guard $0.lowercased().hasPrefix("0x") else { return nil }
        return UInt16($0.dropFirst(2), radix: 16).map { .panID($0) }
      },
      try Self.value(pskc, of: "--pskc", "32 hex digits") {
        try $0.read(as: "a PSKc").flatMap { PSKc(hex: $0) }.map { .pskc($0) }
      },
      try Self.value(securityPolicy, of: "--security-policy", "6 or 8 hex digits, as 02a0f7f8") {
        guard let bytes = Hexadecimal.decode(PastedDigits.digits(in: $0)), bytes.count >= 3 else { return nil }
        return SecurityPolicy(rotationTime: UInt16(bytes[0]) << 8 | UInt16(bytes[1]), flags: Array(bytes.dropFirst(2)))
          .map { .securityPolicy($0) }
      },
    ].compactMap(\.self)
  }

  /// Nil where the option is not given. The failure never has the value: it may be a key that stands in the wrong place.
  private static func value<Given>(
    _ given: Given?, of option: String, _ expected: String, _ read: (Given) throws -> DatasetComponent?
  ) throws -> DatasetComponent? {
    guard let given else { return nil }
    guard let value = try read(given) else {
      throw CommandFailure(.usage, "the value of \(option) can't be used", remedy: "expected \(expected)")
    }
    return value
  }

  /// Hex digits, or an IPv6 prefix of 64 bits; older versions of OpenThread leave out the `::`.
  private static func prefix(of text: String) -> MeshLocalPrefix? {
    if let prefix = MeshLocalPrefix(hex: PastedDigits.digits(in: text)) { return prefix }
    let address = text.hasSuffix("/64") ? String(text.dropLast(3)) : text
    var bytes = in6_addr()
    guard inet_pton(AF_INET6, address, &bytes) == 1 || inet_pton(AF_INET6, address + "::", &bytes) == 1 else {
      return nil
    }
    return withUnsafeBytes(of: bytes) { MeshLocalPrefix(bytes: $0.prefix(8)) }
  }
}

/// A dataset on the command line, `-` for one on standard input, or `@` and the name of a file.
struct DatasetArgument: ExpressibleByArgument {
  private let digits: PastedDigits

  init?(argument: String) { digits = PastedDigits(argument) }

  /// - Throws: `DatasetError` for a bad dataset, and for an incomplete one unless that is allowed;
  ///   `CommandFailure` when the input can't be read.
  func read(allowPartial: Bool) throws -> OperationalDataset {
    guard let digits = try digits.read(as: "a dataset") else {
      throw DatasetError(
        code: .tooLong, type: nil, offset: OperationalDataset.maximumLength,
        message: "more than \(PastedDigits.longestInput) characters, expected at most "
          + "\(OperationalDataset.maximumLength) bytes of two digits each")
    }
    let dataset = try OperationalDataset(hex: digits)
    if !allowPartial { try dataset.requireComplete() }
    return dataset
  }

  /// The same of a whole one, where a bad one ends the command.
  func readWhole(_ output: OutputOptions) throws -> OperationalDataset {
    try DatasetErrorReport.ending(output) { try read(allowPartial: false) }
  }
}

/// Hexadecimal digits of a secret, as people paste them: on the command line, `-` for standard input, or `@` and the
/// name of a file.
struct PastedDigits: ExpressibleByArgument {
  /// More characters than any dataset has digits, with room for what comes with them.
  static let longestInput = 4096

  private let text: String

  init(_ text: String) { self.text = text }

  init?(argument: String) { self.init(argument) }

  var isStandardInput: Bool { text == "-" }

  /// Warns where other users can read it.
  ///
  /// - Parameter kind: what it is: `a dataset`.
  /// - Returns: what `digits(in:)` leaves; nil where the input has more than 4096 bytes.
  /// - Throws: `CommandFailure` when the input can't be read.
  func read(as kind: String) throws(CommandFailure) -> String? {
    let bytes: [UInt8]?
    if isStandardInput {
      bytes = try StandardInput.read(limit: Self.longestInput)
    } else if text.hasPrefix("@") {
      bytes = try InputFile.read(String(text.dropFirst()), limit: Self.longestInput)
    } else {
      try StandardStream.error.write(
        "warning: other users of this machine can read \(kind) on the command line; give @FILE, or"
          + " - for standard input\n")
      return Self.digits(in: text)
    }
    return bytes.map { Self.digits(in: String(decoding: $0, as: UTF8.self)) }
  }

  /// Text without what comes along where people copy digits: white space and line breaks, quotes, one `hex:` or `0x`
  /// in front, and what the command line of OpenThread prints around them (`> dataset active -x`, `Done`). The rest is
  /// left for who checks the digits.
  static func digits(in text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline).map { line -> String in
      String(line).filter { !$0.isWhitespace && !ignored.contains($0) }
    }
    let digits: String = lines.map(withoutPrompt).joined()
    let prefix = ["hex:", "0x"].first { digits.lowercased().hasPrefix($0) }
    return String(digits.dropFirst(prefix?.count ?? 0))
  }

  /// Quotes, also those of word processors, the NUL of a text in C, and the byte order mark of an editor.
  private static let ignored: Set<Character> = [
    "\"", "'", "\u{2018}", "\u{2019}", "\u{201C}", "\u{201D}", "\0", "\u{FEFF}",
  ]

  private static func withoutPrompt(_ line: String) -> Substring {
    if line == "Done" { return "" }
    let rest = line.drop { $0 == ">" }
    // Behind the prompt, letters that are no digits are a command.
    let isCommand = line.hasPrefix(">") && rest.first?.isLetter == true
    return isCommand && !rest.allSatisfy(\.isHexDigit) ? "" : rest
  }
}
