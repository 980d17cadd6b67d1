// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The daemon that serves all users of this machine: where its files are, whether it runs or not.
struct MachineDaemon: Sendable, Equatable {
  /// Its state directory. Others cannot look into it, and can see that it is there.
  var directory: String
  /// Where it listens for programs of other users.
  var socket: String

  var isInstalled: Bool { Self.exists(directory) || Self.exists(socket) }

  /// Whether its store is also the own store of this process's user, as it is for root where root
  /// runs the daemon.
  func isOwn(_ store: OwnStore) -> Bool {
    FilePath.isInside(store.directory, directory) && Self.owner(of: directory) == geteuid()
  }

  /// Also where it cannot be looked at, as behind a link into a directory of root's only
  /// (`DynamicUser=` of systemd).
  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 || ![ENOENT, ENOTDIR].contains(errno)
  }

  /// - Returns: nil when there is nothing at `path`, or nothing that can be looked at.
  private static func owner(of path: String) -> uid_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_uid : nil
  }

  /// That it does not run now.
  var absence: THError {
    THError(
      .notNow, "the threadkeeper of this machine does not listen on \(socket)",
      help: "start it (`systemctl start threadkeeper`) with `clients.socket: \(socket)` in its "
        + "settings, or set THREADKEEPER_STORE_PATH for a store of this program's own",
      isTemporary: true)
  }
}
