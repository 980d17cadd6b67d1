// SPDX-License-Identifier: Apache-2.0

import Broker
import Glibc
import Settings
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A Mosquitto on this machine, as far as its files can be read.
struct HouseBroker: Sendable {
  private static let limit = 1 << 22

  let options: MosquittoOptions
  /// Where its files are.
  let directory: String
  /// Where threadkeeper's part of its configuration goes.
  let addition: String
  /// In the password file; nil when there is none, or it cannot be read.
  let logins: [String]?
  /// Nil when there is no access list, or it cannot be read.
  let accessList: String?
  /// Files of it that are here, and that this user cannot read.
  let unreadable: [String]

  /// - Parameters:
  ///   - host: of the broker; another machine's files are not here, and neither are those of a container's.
  ///   - file: Mosquitto's configuration; nil for Debian's place.
  /// - Returns: nil when nothing is known.
  init?(host: String, port: UInt16, file named: String?) {
    guard named != nil || BrokerCheck.isThisMachine(host) else { return nil }
    let root = ProcessInfo.processInfo.environment[SystemPlaces.rootVariable] ?? ""
    let file = named ?? "\(root == "/" ? "" : root)/etc/mosquitto/mosquitto.conf"
    guard let text = Self.read(file) else { return nil }
    var options = MosquittoOptions()
    options.read(text)
    var parts: [String] = []
    for directory in options.includes {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
      for name in names.sorted() where name.hasSuffix(".conf") {
        parts.append("\(directory)/\(name)")
        if let text = Self.read("\(directory)/\(name)") { options.read(text) }
      }
    }
    unreadable = (parts + [options.passwordFile, options.accessList].compactMap { $0 }).filter {
      access($0, R_OK) != 0 && errno == EACCES
    }
    // What cannot be read may name the port.
    guard named != nil || options.listens(on: port) || !unreadable.isEmpty else { return nil }
    self.options = options
    directory = FilePath.directory(of: file)
    addition = options.includes.first.map { "\($0)/threadkeeper.conf" } ?? file
    logins = options.passwordFile.flatMap(Self.read).map(MosquittoOptions.logins(inPasswordFile:))
    accessList = options.accessList.flatMap(Self.read)
  }

  /// Whether the files say all about logins and access.
  var isComplete: Bool {
    unreadable.isEmpty && !options.isPartial
      && (options.passwordFile == nil || logins != nil)
      && (options.accessList == nil || accessList != nil)
  }

  /// The command that makes a login; nil where the broker has it, or that is not known.
  func makingLogin(_ login: String) -> String? {
    guard isComplete, let logins, !logins.contains(login) else { return nil }
    return Self.makingLogin(login, in: options.passwordFile)
  }

  /// With a restart: Mosquitto 2.0.11 can crash when it reads a password file again.
  ///
  /// - Parameter file: nil where the broker's files are not seen: what its `password_file` names.
  static func makingLogin(_ login: String, in file: String?) -> String {
    "sudo mosquitto_passwd \(file?.quoted ?? "PASSWORD_FILE") \(login.quoted) && sudo systemctl restart mosquitto"
  }

  /// What the access list lacks, and allows too much: without one, everything is allowed.
  ///
  /// - Throws: `AccessListError` for names that no list can have.
  func gaps(_ wanted: AccessList) throws(AccessListError) -> [AccessGap] {
    try wanted.gaps(
      in: accessList.map { AccessRules($0) } ?? .everything, logins: logins ?? [],
      allowsAnonymous: options.allowsAnonymous)
  }

  private static func read(_ path: String) -> String? {
    guard let bytes = try? InputFile.read(path, limit: limit) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}
