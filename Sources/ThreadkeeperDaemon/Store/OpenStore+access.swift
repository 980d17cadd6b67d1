// SPDX-License-Identifier: Apache-2.0

import Glibc
import Settings

/// Whose the store is. One of another user is left to that user: files that somebody else makes or
/// takes over are files that the service cannot open.
extension OpenStore {
  /// - Throws: `CommandFailure` with status 77 when this user may not even see whether there is one.
  package static func checkAccess(_ settings: Settings) throws(CommandFailure) {
    let path = location(settings).databasePath
    guard access(path, F_OK) != 0, errno != ENOENT, errno != ENOTDIR else { return }
    guard errno == EACCES else {
      throw forbidden("can't look at \(path): \(String(cString: strerror(errno)))", settings)
    }
    throw forbidden("this user has no access to \(path)", settings)
  }

  /// - Throws: `CommandFailure` with status 77 when the store is another user's, or out of reach.
  package static func checkOwner(_ settings: Settings) throws(CommandFailure) {
    var status = stat()
    if stat(settings.store.path, &status) == 0, status.st_uid != geteuid() {
      throw anothers(settings.store.path, status.st_uid, settings)
    }
    try checkAccess(settings)
  }

  /// The same for whoever makes one: root could do it in the state directory of a service. One that is not
  /// there yet is nobody's, wherever it is to be.
  package static func checkMaking(_ settings: Settings) throws(CommandFailure) {
    try checkOwner(settings)
    let place = settings.store.path.lastIndex(of: "/").map { String(settings.store.path[..<$0]) }
    var status = stat()
    guard geteuid() == 0, let place, !place.isEmpty, stat(place, &status) == 0, status.st_uid != 0
    else { return }
    throw anothers(place, status.st_uid, settings)
  }

  private static func anothers(
    _ what: String, _ owner: UInt32, _ settings: Settings
  ) -> CommandFailure {
    CommandFailure(
      .notPermitted, "\(what) belongs to user \(name(owner)), and this is user \(name(geteuid()))",
      remedy: asUser(owner, settings))
  }

  /// What this user may not look at. A daemon that runs answers root; without one only the owner can open the store.
  package static func forbidden(_ message: String, _ settings: Settings) -> CommandFailure {
    let owner = owner(ofNearest: settings.store.path) ?? 0
    return CommandFailure(
      .notPermitted, message, remedy: asUser(isDaemonListening(settings) ? 0 : owner, settings))
  }

  private static func asUser(_ user: UInt32, _ settings: Settings) -> String {
    let isBelow = settings.store.path.hasPrefix(settings.stateDirectory + "/")
    let command = SameCommand.by(user, stateDirectory: isBelow ? settings.stateDirectory : nil)
    return "run it as \(user == 0 ? "root" : "that user"): `\(command)`"
  }

  /// As everybody can see (proc_pid_net(5)).
  private static func isDaemonListening(_ settings: Settings) -> Bool {
    let sockets = (try? KernelFile.text("/proc/net/unix")) ?? ""
    return sockets.contains(" \(LocalAPISocket.path(settings))\n")
  }

  private static func name(_ user: UInt32) -> String {
    SystemAccount.name(ofUser: user) ?? "\(user)"
  }

  /// Of the path, or the first directory above it that is there and can be seen.
  private static func owner(ofNearest path: String) -> UInt32? {
    var path = path[...]
    var status = stat()
    while stat(path.isEmpty ? "/" : String(path), &status) != 0 {
      guard let slash = path.lastIndex(of: "/") else { return nil }
      path = path[..<slash]
    }
    return status.st_uid
  }
}
