// SPDX-License-Identifier: Apache-2.0

/// Whether the one who listens on a socket may be told a secret.
///
/// Whose directory it is says nothing about that: anybody can make one where others can write, put a
/// socket into it and wait. So only this user and root are believed, in a directory of this user or root.
/// A command that root starts may mean the daemon of another user, which the settings name: only then is the
/// owner of the directory believed too (`actsForOwner`). A program of root's never is that command.
///
/// A daemon that serves other users listens in a directory that only root, or the caller, can have
/// given to it: nobody else may make names anywhere above.
package struct ListenerTrust: Equatable {
  package var caller: UInt32
  package var listener: UInt32
  /// The directories above the socket, the nearest first, up to `/`.
  package var directories: [SocketDirectory]
  /// Whether a daemon of another user is called, too.
  package var admitsOthers = false
  /// Whether root means the daemon of the directory's owner. Without effect for other users.
  package var actsForOwner = false

  package init(
    caller: UInt32, listener: UInt32, directories: [SocketDirectory], admitsOthers: Bool = false,
    actsForOwner: Bool = false
  ) {
    self.caller = caller
    self.listener = listener
    self.directories = directories
    self.admitsOthers = admitsOthers
    self.actsForOwner = actsForOwner
  }

  /// Why not; nil for who may.
  package var rejectionReason: String? {
    guard let directory = directories.first else { return "it lies in no directory" }
    if directory.isOpenToOthers { return "others may write into its directory" }
    let isOwn = listener == caller || listener == 0
    if isOwn, isTrusted(directory) { return nil }
    if caller == 0, actsForOwner, listener == directory.owner || listener == 0 { return nil }
    if admitsOthers { return reasonToRejectOther(in: directory) }
    return isOwn || !isTrusted(directory)
      ? "its directory belongs to user \(directory.owner)" : "user \(listener) listens there"
  }

  private func isTrusted(_ directory: SocketDirectory) -> Bool {
    directory.owner == caller || directory.owner == 0
  }

  private func reasonToRejectOther(in directory: SocketDirectory) -> String? {
    guard directory.owner == listener || directory.owner == 0 else {
      return "user \(listener) listens there, and its directory belongs to user \(directory.owner)"
    }
    let isVouchedFor = directories.dropFirst().allSatisfy {
      ($0.owner == 0 || $0.owner == caller) && !$0.isOpenToOthers
    }
    return isVouchedFor
      ? nil : "user \(listener) listens there, in a place where anybody could have made it"
  }
}
