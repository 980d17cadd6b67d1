// SPDX-License-Identifier: Apache-2.0

import SystemThreads

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
  private var follower: HostapdFollower?

  /// - Parameter signal: ends a look at once.
  init(
    _ source: SSIDSource, timeout: Duration, signal: WakeSignal? = nil, showsErrors: Bool = false
  ) {
    self.source = source
    self.timeout = timeout
    self.signal = signal
    self.showsErrors = showsErrors
    if case .hostapd(let file, let bss) = source {
      follower = HostapdFollower(path: file, bss: bss)
    }
  }

  /// - Returns: nil when the agent stops.
  mutating func look() -> SSIDReading? {
    do {
      return try reading()
    } catch let trouble as SSIDTrouble {
      return .trouble(trouble)
    } catch {
      return nil
    }
  }

  private mutating func reading() throws -> SSIDReading {
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
    case .hostapd:
      return try follower?.look() ?? .none
    }
  }

  private func run(_ tool: String, _ command: [String], _ mostOutput: Int) throws -> [UInt8] {
    // A command of the user's own gets the variables as they are; a tool speaks the language that is read here.
    var variables: [String: String] = [:]
    if source.tool != nil { variables = ["LC_ALL": "C.UTF-8", "LANGUAGE": ""] }
    return try ToolProcess(
      tool: tool, command: command, variables: variables, mostOutput: mostOutput, timeout: timeout,
      showsErrors: showsErrors
    ).output(until: signal)
  }
}
