// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings
import ThreadkeeperDaemon
import ThreadkeeperSupport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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

  /// Makes the service's directory, where the service's user is there and it is not. No other one is made as root: who
  /// may write beside it could put something else in its place.
  static func prepareDirectory(_ settings: Settings) throws(CommandFailure) {
    let directory = FilePath.directory(of: settings.store.path)
    let places = SystemPlaces(environment: ProcessInfo.processInfo.environment)
    var status = stat()
    guard geteuid() == 0, directory == places.stateDirectory, lstat(directory, &status) != 0,
      let user = SystemAccount.user(service), let group = SystemAccount.group(service)
    else { return }
    let made = mkdir(directory, 0o700)
    let descriptor =
      made == 0 ? open(directory, O_RDONLY | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC) : -1
    defer { if descriptor >= 0 { close(descriptor) } }
    guard descriptor >= 0, fchown(descriptor, user, group) == 0 else {
      throw CommandFailure(
        .cannotCreate, "\(directory) cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Of the nearest directory that is there; nil when it is this user, or this is not root.
  private static func owner(of settings: Settings) -> (user: uid_t, group: gid_t)? {
    guard geteuid() == 0 else { return nil }
    var status = stat()
    var path = settings.store.path
    while lstat(path, &status) != 0, path != "/" { path = FilePath.directory(of: path) }
    // Root's own link goes where root wants; another's is that user's, wherever it goes.
    if status.st_uid == 0, status.st_mode & S_IFMT == S_IFLNK, stat(path, &status) != 0 {
      return nil
    }
    return status.st_uid == 0 ? nil : (status.st_uid, status.st_gid)
  }
}
