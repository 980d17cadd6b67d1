// SPDX-License-Identifier: Apache-2.0

/// Whether the one who listens on a socket may be told a password.
///
/// Whose directory it is says nothing about that: anybody can make one where others can write, put a
/// socket into it and wait. So only this user and root are believed. Root calls the keepers of others
/// too, and means the owner of the directory then.
struct ListenerTrust: Equatable {
  var caller: UInt32
  var listener: UInt32
  var directoryOwner: UInt32
  var directoryMode: UInt32

  /// Why not; nil for who may.
  var objection: String? {
    if directoryMode & 0o022 != 0 { return "others may write into its directory" }
    guard caller == 0 || directoryOwner == caller || directoryOwner == 0 else {
      return "its directory belongs to user \(directoryOwner)"
    }
    let isTrusted =
      listener == caller || listener == 0 || (caller == 0 && listener == directoryOwner)
    return isTrusted ? nil : "user \(listener) listens there"
  }
}
