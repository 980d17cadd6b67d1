// SPDX-License-Identifier: Apache-2.0

import LocalAPI
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A daemon that runs on this machine, wherever its store is: found by the socket that it listens on.
struct RunningDaemon: Equatable {
  let storePath: String
  /// The user that it runs as.
  let user: uid_t

  /// - Parameter environment: with `THREADKEEPER_SYSTEM_ROOT`, only what lies below it is found.
  static func all(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [RunningDaemon] {
    storePaths(environment).compactMap { RunningDaemon(at: $0) }
  }

  /// A place that is not believed.
  struct UnsafePlace: Equatable {
    let storePath: String
    /// The directory that other users can change.
    let directory: String
  }

  /// The stores of daemons that run as this user, and are not believed.
  static func unsafePlaces(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [UnsafePlace] {
    storePaths(environment).compactMap { path in
      guard let found = socket(at: path), found.user == geteuid(),
        let directory = changeable(found.directory, besides: found.user)
      else { return nil }
      return UnsafePlace(storePath: found.directory, directory: directory)
    }
  }

  private static func storePaths(_ environment: [String: String]) -> [String] {
    // Any user can give a socket a name that is not UTF-8.
    let table = (try? KernelFile.text("/proc/net/unix")) ?? ""
    return storePaths(in: table).filter(SystemPlaces(environment: environment).contains)
  }

  init(storePath: String, user: uid_t) {
    self.storePath = storePath
    self.user = user
  }

  /// Any user can listen on a path of any name, and whoever believes a path that was found there may hand a
  /// secret to its owner. So the socket and all directories above it must be of one user or of root, with no
  /// symbolic link among them, and nobody else may be able to exchange one of them.
  ///
  /// - Returns: nil where that is not so, or where nothing is any more.
  init?(at path: String) {
    guard let found = Self.socket(at: path),
      Self.changeable(found.directory, besides: found.user) == nil
    else { return nil }
    self.init(storePath: found.directory, user: found.user)
  }

  /// The socket in a store's directory: where that really is, and whose the socket is.
  private static func socket(at path: String) -> (directory: String, user: uid_t)? {
    var canonical = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard realpath(path, &canonical) != nil else { return nil }
    let end = canonical.firstIndex(of: 0) ?? canonical.endIndex
    let directory = String(decoding: canonical[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var socket = stat()
    guard lstat(directory + "/varlink.sock", &socket) == 0, socket.st_mode & S_IFMT == S_IFSOCK
    else { return nil }
    return (directory, socket.st_uid)
  }

  /// - Returns: the first directory from here up that somebody besides a user and root can change; nil: none.
  private static func changeable(_ directory: String, besides user: uid_t) -> String? {
    var path = directory
    var isStore = true
    while true {
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return path }
      // In a sticky directory nobody can move or delete what belongs to others.
      let isOpenToOthers = status.st_mode & 0o022 != 0 && (isStore || status.st_mode & S_ISVTX == 0)
      guard status.st_uid == user || !isStore && status.st_uid == 0, !isOpenToOthers else {
        return path
      }
      guard path != "/" else { return nil }
      path = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
      if path.isEmpty { path = "/" }
      isStore = false
    }
  }

  /// The directories with a `varlink.sock` that somebody listens on.
  ///
  /// - Parameter table: `/proc/net/unix`, see proc_pid_net(5): number, references, protocol, flags, type,
  ///   state, inode, path.
  static func storePaths(in table: String) -> [String] {
    let acceptsConnections = "00010000"
    let name = "/varlink.sock"
    return Set(
      table.split(separator: "\n").compactMap { line -> String? in
        let fields = line.split(separator: " ", maxSplits: 7, omittingEmptySubsequences: true)
        guard fields.count == 8, fields[3] == acceptsConnections, fields[7].hasPrefix("/"),
          fields[7].hasSuffix(name)
        else { return nil }
        return String(fields[7].dropLast(name.count))
      }
    ).sorted()
  }

  private static let timeout = Duration.seconds(10)

  /// The settings with the places of this daemon's store; nil when it does not answer.
  func settings(_ settings: Settings) -> (settings: Settings, process: Int32)? {
    var settings = settings
    settings.store.path = storePath
    let places = try? VarlinkClient.callNow(
      StatusMethods.places, VarlinkNothing(), at: LocalAPISocket.path(settings),
      within: Self.timeout)
    guard let places else { return nil }
    settings.store.keyFile = places.keyFile
    return (settings, places.pid)
  }
}
