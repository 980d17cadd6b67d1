// SPDX-License-Identifier: Apache-2.0

/// What Mosquitto's configuration says about who may connect, and what each may do. A pure value.
package struct MosquittoOptions: Sendable, Equatable {
  package private(set) var passwordFile: String?
  package private(set) var accessList: String?
  /// A plugin decides about logins or access, or each listener has files of its own (`per_listener_settings`): what is
  /// here is not all of it.
  package private(set) var isPartial = false
  package private(set) var isPersistent = false
  /// `max_queued_messages`; 1,000 by default.
  package private(set) var queueLimit = 1000
  /// `message_size_limit` or `max_packet_size`: no client gets a message of any size.
  package private(set) var limitsMessages = false
  /// Directories whose `.conf` files belong to it, in the order of the text.
  package private(set) var includes: [String] = []
  private var anonymous: Bool?
  private var hasListener = false
  private var ports: [UInt16] = []

  package init() {}

  /// Since Mosquitto 2.0 a broker without a listener serves this machine alone, without logins.
  package var allowsAnonymous: Bool { anonymous ?? !hasListener }

  /// Whether a broker with these options is the one on a port. Without a listener it has the usual one.
  package func listens(on port: UInt16) -> Bool {
    hasListener ? ports.contains(port) : port == 1883
  }

  /// Adds the lines of one file.
  package mutating func read(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) {
      let line = Substring(line.trimmed)
      guard !line.hasPrefix("#"), let space = line.firstIndex(where: { $0 == " " || $0 == "\t" })
      else { continue }
      let value = String(line[space...].trimmed)
      switch line[..<space] {
      case "password_file": passwordFile = value
      case "acl_file": accessList = value
      case "allow_anonymous": anonymous = value == "true"
      case "per_listener_settings": isPartial = isPartial || value == "true"
      case "listener", "port":
        hasListener = true
        if let port = value.split(separator: " ").first.flatMap({ UInt16($0) }) {
          ports.append(port)
        }
      case "plugin", "auth_plugin", "global_plugin": isPartial = true
      case "persistence": isPersistent = value == "true"
      case "max_queued_messages": queueLimit = Int(value) ?? queueLimit
      case "message_size_limit", "max_packet_size":
        limitsMessages = limitsMessages || Int(value) ?? 0 > 0
      case "include_dir": includes.append(value)
      default: continue
      }
    }
  }

  /// The names in a password file.
  package static func logins(inPasswordFile text: String) -> [String] {
    text.split(whereSeparator: \.isNewline).compactMap { line in
      guard !line.hasPrefix("#"), let colon = line.firstIndex(of: ":"), colon != line.startIndex
      else { return nil }
      return String(line[..<colon])
    }
  }
}
