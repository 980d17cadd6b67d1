// SPDX-License-Identifier: Apache-2.0

import ThreadDataset
import ThreadkeeperSupport

/// Asks a source for the SSID.
struct SSIDReader {
  private enum Limit {
    static let commandOutput = 4_096
    /// Hundreds of access points.
    static let toolOutput = 1 << 18
  }

  private let source: SSIDSource
  private let timeout: Duration
  private let signal: WakeSignal?
  private let showsErrors: Bool

  /// - Parameter signal: ends a look at once.
  init(
    _ source: SSIDSource, timeout: Duration, signal: WakeSignal? = nil, showsErrors: Bool = false
  ) {
    self.source = source
    self.timeout = timeout
    self.signal = signal
    self.showsErrors = showsErrors
  }

  /// - Returns: nil when the agent stops.
  func look() -> SSIDReading? {
    do {
      return try reading()
    } catch let trouble as SSIDTrouble {
      return .trouble(trouble)
    } catch {
      return nil
    }
  }

  private func reading() throws -> SSIDReading {
    switch source {
    case .command(let command):
      return try CommandOutput.reading(
        run("the command", ["/bin/sh", "-c", command], Limit.commandOutput))
    case .networkManager(let interface):
      return try NMCLIOutput.reading(
        run("nmcli", ["nmcli"] + NMCLIOutput.arguments(interface), Limit.toolOutput),
        interface: interface)
    case .iw(let interface):
      for kind in IWOutput.Kind.allCases {
        let output = try run("iw", ["iw"] + IWOutput.arguments(kind, interface), Limit.toolOutput)
        if let ssid = try IWOutput.ssid(in: output, of: kind) { return .ssid(ssid) }
      }
      return .none
    case .hostapd(let file, let bss):
      return try HostapdFile(path: file).reading(bss, of: file)
    }
  }

  private func run(_ tool: String, _ command: [String], _ mostOutput: Int) throws -> [UInt8] {
    // A command of the user's own gets the variables as they are; a tool speaks the language that is read here.
    var variables: [String: String] = [:]
    if source.tool != nil { variables = ["LC_ALL": "C.UTF-8", "LANGUAGE": ""] }
    let process = ToolProcess(
      command, variables: variables, mostOutput: mostOutput, timeout: timeout,
      showsErrors: showsErrors)
    do {
      return try process.output(until: signal)
    } catch let failure as ToolProcess.Failure {
      throw SSIDTrouble.tool(tool, failure)
    }
  }
}

/// What `iw dev INTERFACE info` and `link` print: a fact on each line, behind a tab. An SSID is the rest of its line;
/// all but visible ASCII and inner blanks is `\xNN` there, and so is a backslash.
enum IWOutput {
  enum Kind: String, CaseIterable {
    /// `ssid NAME`: of an access point, and with newer kernels of a station.
    case info
    /// `SSID: NAME`, of a station; `Not connected.`
    case link

    var field: String { self == .info ? "ssid " : "SSID: " }
  }

  static func arguments(_ kind: Kind, _ interface: String) -> [String] {
    ["dev", interface, kind.rawValue]
  }

  /// - Returns: nil when no line has an SSID.
  static func ssid(in output: [UInt8], of kind: Kind) throws(SSIDTrouble) -> SSID? {
    let field = Array(kind.field.utf8)
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let fact = line.drop { $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ") }
      guard fact.starts(with: field) else { continue }
      return try SSID(try unescaped(fact.dropFirst(field.count)))
    }
    return nil
  }

  static func unescaped(_ text: ArraySlice<UInt8>) throws(SSIDTrouble) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        bytes.append(byte)
        continue
      }
      guard rest.first == UInt8(ascii: "x"), let high = digit(rest.dropFirst().first),
        let low = digit(rest.dropFirst(2).first)
      else { throw .malformed(tool: "iw") }
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(3)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8?) -> UInt8? {
    byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
  }
}

/// What `nmcli --terse --fields ACTIVE,SSID-HEX,DEVICE device wifi list` prints: a line for each access point.
///
/// The field SSID-HEX has the bytes: SSID is cut and converted for terminals. The name of a connection, which
/// GENERAL.CONNECTION has, can be anything. Separators in a value come with a backslash (nmcli(1), `--escape`).
enum NMCLIOutput {
  static func arguments(_ interface: String?) -> [String] {
    let list = [
      "--terse", "--escape", "yes", "--colors", "no", "--fields", "ACTIVE,SSID-HEX,DEVICE",
      "device", "wifi", "list",
      // Without a scan, which takes seconds and disturbs the Wi-Fi.
      "--rescan", "no",
    ]
    return list + (interface.map { ["ifname", $0] } ?? [])
  }

  static func reading(_ output: [UInt8], interface: String?) throws(SSIDTrouble) -> SSIDReading {
    var hasOddLine = false
    for line in output.split(separator: UInt8(ascii: "\n")) {
      let fields = fields(of: line)
      guard fields.count == 3 else {
        hasOddLine = true
        continue
      }
      guard fields[0] == Array("yes".utf8) else { continue }
      if let interface, fields[2] != Array(interface.utf8) { continue }
      // A hidden network.
      if fields[1].isEmpty || fields[1] == Array("--".utf8) { continue }
      guard let bytes = Hexadecimal.decode(String(decoding: fields[1], as: UTF8.self)) else {
        throw .malformed(tool: "nmcli")
      }
      if let ssid = try SSID(bytes) { return .ssid(ssid) }
    }
    // It may be of a neighbour's access point, so it hides no other one.
    if hasOddLine { throw .malformed(tool: "nmcli") }
    return .none
  }

  /// Parted at each colon that has no backslash before it.
  static func fields(of line: some Sequence<UInt8>) -> [[UInt8]] {
    var fields: [[UInt8]] = [[]]
    var isEscaped = false
    for byte in line {
      if isEscaped {
        fields[fields.count - 1].append(byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: ":") {
        fields.append([])
      } else {
        fields[fields.count - 1].append(byte)
      }
    }
    return fields
  }
}

/// What the command of `--command` prints.
enum CommandOutput {
  /// The first line, byte for byte, without its end. Blanks count: an SSID may begin or end with them.
  static func reading(_ output: [UInt8]) throws(SSIDTrouble) -> SSIDReading {
    var line = output.prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return try SSID(line).map { .ssid($0) } ?? .none
  }
}
