// SPDX-License-Identifier: Apache-2.0

import KeychainCore
import Settings
import StatePlaces

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
    guard let table = try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8) else {
      return []
    }
    let places = SystemPlaces(environment: environment)
    return storePaths(in: table).filter(places.contains).compactMap { path in
      var status = stat()
      // A path that was bound once may be somebody else's now.
      guard stat(path + "/daemon.sock", &status) == 0, status.st_mode & S_IFMT == S_IFSOCK
      else { return nil }
      return RunningDaemon(storePath: path, user: status.st_uid)
    }
  }

  /// The directories with a `daemon.sock` that somebody listens on.
  ///
  /// - Parameter table: `/proc/net/unix`, see proc_pid_net(5): number, references, protocol, flags, type,
  ///   state, inode, path.
  static func storePaths(in table: String) -> [String] {
    let acceptsConnections = "00010000"
    let name = "/daemon.sock"
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

  /// The settings with the places of this daemon's store; nil when it has not written them.
  func settings(_ settings: Settings) -> (settings: Settings, process: Int32)? {
    var settings = settings
    settings.store.path = storePath
    guard let process = StoreLock.holder(of: OpenStore.location(settings))?.processID,
      let places = RuntimeRecord.read(settings, of: process)?.places
    else { return nil }
    settings.store.keyFile = places.keyFile
    settings.store.anchorPath = places.anchorPath
    return (settings, process)
  }
}
