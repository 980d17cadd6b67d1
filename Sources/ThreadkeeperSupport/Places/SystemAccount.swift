import Glibc

/// Users and groups of this machine: by number, or by a name that the system knows.
package enum SystemAccount {
  /// Bytes for an entry. A group with many members needs many.
  private static let room = 1 << 18

  /// - Parameter text: decimal digits, or a name.
  /// - Returns: nil for a name that the system does not know.
  package static func user(_ text: String) -> UInt32? {
    if let number = number(text) { return number }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: room)
    guard getpwnam_r(text, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.pw_uid
  }

  /// The same for a group.
  package static func group(_ text: String) -> UInt32? {
    if let number = number(text) { return number }
    var entry: group = .init()
    var found: UnsafeMutablePointer<group>?
    var buffer = [CChar](repeating: 0, count: room)
    guard getgrnam_r(text, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
    return entry.gr_gid
  }

  /// - Returns: nil for a user without a name.
  package static func name(ofUser user: UInt32) -> String? {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: room)
    guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
      return nil
    }
    return String(cString: name)
  }

  /// The largest number means "no user" to the kernel.
  private static func number(_ text: String) -> UInt32? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let number = UInt32(text),
      number != .max
    else { return nil }
    return number
  }
}
