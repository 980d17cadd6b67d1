// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings
import StatePlaces
import ThreadkeeperDaemon

/// The user whose store it is: root works as that user, who could not open what root makes.
enum StoreOwner {
  /// The package's user and group.
  static let service = "threadkeeper"

  static var isRoot: Bool { getuid() == 0 }

  /// Runs `body` as the owner of the directory that the store lies in, if this is root, and else as it is.
  ///
  /// All threads of the process change: nothing else may go on meanwhile.
  static func run<R: Sendable>(
    _ settings: Settings, _ body: @Sendable () async throws -> R
  ) async throws -> R {
    guard let owner = owner(of: settings) else { return try await body() }
    let former = (user: geteuid(), group: getegid())
    guard setegid(owner.group) == 0, seteuid(owner.user) == 0 else {
      let code = errno
      setegid(former.group)
      throw CommandFailure(
        .system, "cannot work as user \(owner.user): \(String(cString: strerror(code)))")
    }
    defer {
      seteuid(former.user)
      setegid(former.group)
    }
    return try await body()
  }

  /// Makes the service's directory below `/var/lib`, where the service's user is there and it is not.
  static func prepareDirectory(_ settings: Settings) throws(CommandFailure) {
    let directory = FilePath.directory(of: settings.store.path)
    guard geteuid() == 0, directory == settings.stateDirectory, access(directory, F_OK) != 0,
      let user = SystemAccount.user(service), let group = SystemAccount.group(service)
    else { return }
    guard mkdir(directory, 0o700) == 0, chown(directory, user, group) == 0 else {
      throw CommandFailure(
        .cannotCreate, "\(directory) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Of the nearest directory that is there; nil when it is this user, or this is not root.
  private static func owner(of settings: Settings) -> (user: uid_t, group: gid_t)? {
    guard geteuid() == 0 else { return nil }
    var status = stat()
    var path = settings.store.path
    while stat(path, &status) != 0, path != "/" { path = FilePath.directory(of: path) }
    return status.st_uid == 0 ? nil : (status.st_uid, status.st_gid)
  }
}
