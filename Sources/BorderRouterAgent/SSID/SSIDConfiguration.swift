// SPDX-License-Identifier: Apache-2.0

import Broker
import ThreadDataset
import ThreadkeeperSupport

/// What an agent of an SSID works with.
package struct SSIDConfiguration: AgentConfiguration {
  package var login: AgentLogin
  package var source: SSIDSource
  package var subject: SSIDSubject
  /// Between two looks. A change of the Wi-Fi's name is rare, and a program may be run for each look.
  package var interval = Duration.seconds(10)
  /// For a program that is run.
  package var timeout = Duration.seconds(5)
  /// Of this agent: a login may have several.
  private let instance = String(UInt64.random(in: 0 ... .max), radix: 16)

  package init(_ login: AgentLogin, source: SSIDSource, subject: SSIDSubject) {
    self.login = login
    self.source = source
    self.subject = subject
  }

  package var label: (key: String, value: String) { ("ssid", "\(subject)") }

  /// An SSID that waits may be wrong by the time it arrives.
  package var offersAgain: Bool { false }

  package func check() throws(MosquittoError) { try connection.check() }

  package func task(in context: AgentContext) -> any AgentTask { SSIDTask(self, context) }

  /// Looks once, and publishes nothing. What a program writes to standard error is shown.
  package func look() async throws -> SSIDReading {
    try await SystemThread.result {
      SSIDReader(source, timeout: timeout, showsErrors: true).look() ?? .none
    }
  }

  /// What it would publish.
  package func summary(of ssid: SSID) -> String { writer.summary(of: ssid) }

  var writer: SSIDWriter {
    SSIDWriter(
      base: login.base, user: login.user, subject: subject, keys: login.keys, instance: instance)
  }

  var connection: MosquittoConfiguration {
    login.connection("ssid \(instance)", answers: "ssid-\(instance)")
  }
}

/// The name of a Wi-Fi network: 1 to 32 bytes of anything (IEEE 802.11, 9.4.2.2). As text: UTF-8, in which U+FFFD stands
/// for what is no UTF-8 and for control characters, so that it can stand in JSON, in a log and on a terminal.
package struct SSID: Equatable, Sendable, CustomStringConvertible {
  package static let mostBytes = 32

  package let description: String

  /// - Returns: nil for a hidden network: no bytes, or zeros only.
  /// - Throws: `SSIDTrouble.tooLong`.
  package init?(_ bytes: some Collection<UInt8>) throws(SSIDTrouble) {
    guard bytes.contains(where: { $0 != 0 }) else { return nil }
    guard bytes.count <= Self.mostBytes else { throw .tooLong(bytes.count) }
    var text = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      text.append(Self.isPlain(scalar) ? scalar : "\u{FFFD}")
    }
    description = String(text)
  }

  /// Neither a control character nor one that changes the direction or the line of what follows. The joiner of emoji
  /// is plain.
  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .format: scalar == "\u{200D}"
    case .control, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}

/// What one look at a source has found.
package enum SSIDReading: Equatable, Sendable {
  case ssid(SSID)
  /// Not connected, switched off, or a hidden network.
  case none
  case trouble(SSIDTrouble)
}

/// Where an SSID comes from.
package enum SSIDSource: Equatable, Sendable {
  /// The first line that this command of `/bin/sh` prints.
  case command(String)
  /// What NetworkManager is connected to, or offers, on this interface; nil: on the first that is.
  case networkManager(interface: String?)
  /// What the kernel's Wi-Fi knows of this interface.
  case iw(interface: String)
  /// What a file of hostapd says of this BSS; nil: of its first.
  case hostapd(file: String, bss: String?)

  /// The program that must be there.
  package var tool: String? {
    switch self {
    case .command, .hostapd: nil
    case .networkManager: "nmcli"
    case .iw: "iw"
    }
  }

  /// 1 to 15 bytes, as the kernel takes them (IFNAMSIZ), and nothing that a program takes for an option.
  package static func isInterface(_ name: String) -> Bool {
    (1...15).contains(name.utf8.count) && !name.hasPrefix("-") && name != "." && name != ".."
      && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }
  }
}

/// Whose Wi-Fi it is, as an `ssid` event names it.
package enum SSIDSubject: Equatable, Sendable, CustomStringConvertible {
  case router(BorderAgentID)
  /// The name that routers of the login's team have announced.
  case accessPoint(String)

  package var description: String {
    switch self {
    case .router(let agent): "router \(agent)"
    case .accessPoint(let name): "access point \(name)"
    }
  }
}
