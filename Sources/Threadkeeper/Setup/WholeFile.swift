import FoundationEssentials
import Glibc
import ThreadkeeperSupport

/// A file of text that setup replaces, or makes, in one step.
enum WholeFile {
  /// Owner and mode of a new one.
  struct Access: Equatable {
    var owner = geteuid()
    var group = getegid()
    var mode: mode_t

    /// For whoever looks; only who makes it changes it.
    static let open = Access(mode: 0o644)

    /// For the broker alone, where root makes it.
    static var broker: Access {
      var access = Access(mode: 0o600)
      if StoreOwner.isRoot, let user = SystemAccount.user("mosquitto"), let group = SystemAccount.group("mosquitto") {
        (access.owner, access.group) = (user, group)
      }
      return access
    }
  }

  /// Replaces the file, or makes it: it is there whole, or as it was. Owner and mode of a file stay.
  ///
  /// - Parameter check: looks once more before the file takes its place.
  /// - Throws: `CommandFailure` with status 73, and what `check` throws.
  static func write(_ text: String, to path: String, new access: Access, check: () throws(CommandFailure) -> Void)
    throws(CommandFailure)
  {
    var status = stat()
    // What is named may be a link: the file stays where it is. Another user's link could lead root anywhere.
    if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK, status.st_uid != geteuid(), status.st_uid != 0 {
      throw CommandFailure(
        .notPermitted, "\(path) is a link of user \(status.st_uid)", remedy: "put the file itself there")
    }
    let resolved = realpath(path, nil)
    defer { free(resolved) }
    let file = resolved.map { String(cString: $0) } ?? path
    let isThere = stat(file, &status) == 0
    let draft = "\(file).\(String(UInt64.random(in: 0 ... .max), radix: 16))"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    do throws(CommandFailure) {
      try StandardStream.write(text, to: descriptor)
      let owner = isThere ? (status.st_uid, status.st_gid) : (access.owner, access.group)
      // Only root can give a file away; without that it would not be the same file any more.
      guard fchown(descriptor, owner.0, owner.1) == 0,
        fchmod(descriptor, isThere ? status.st_mode & 0o777 : access.mode) == 0, fsync(descriptor) == 0
      else { throw failure(path) }
      try check()
      guard rename(draft, file) == 0 else { throw failure(path) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  /// For a copy of a file as it was, beside it: `FILE.threadkeeper-20260102-030405`
  static func copyName(of path: String, _ now: Date = Date()) -> String {
    var (seconds, parts) = (time_t(now.timeIntervalSince1970), tm())
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(parts.tm_year + 1900)\(two(parts.tm_mon + 1))\(two(parts.tm_mday))"
    let base = "\(path).threadkeeper-\(date)-\(two(parts.tm_hour))\(two(parts.tm_min))\(two(parts.tm_sec))"
    var (name, number) = (base, 1)
    while access(name, F_OK) == 0 {
      number += 1
      name = "\(base)-\(number)"
    }
    return name
  }

  static func failure(_ path: String) -> CommandFailure {
    let code = errno
    return CommandFailure(
      .cannotCreate, "\(path) cannot be written: \(String(cString: strerror(code)))",
      remedy: code == EACCES || code == EPERM ? "run it with sudo" : nil)
  }

  /// - Returns: nil for a file that is not there, that this user cannot read, or that would not be the same when it is
  ///   written again: it is not UTF-8.
  static func read(_ path: String) -> String? {
    guard let bytes = try? InputFile.read(path, limit: 1 << 22) else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }

  /// To look only: what is not UTF-8 is replaced in it.
  static func look(_ path: String) -> String? {
    (try? InputFile.read(path, limit: 1 << 22)).flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// What is to be replaced.
  ///
  /// - Returns: nil for a file that is not there.
  /// - Throws: `CommandFailure` with status 65 for one that cannot be read whole.
  static func readIfThere(_ path: String) throws(CommandFailure) -> String? {
    if let text = read(path) { return text }
    guard access(path, F_OK) != 0 else {
      throw CommandFailure(
        .badInput, "\(path) cannot be read as UTF-8 text", remedy: "make it UTF-8, or run it with --no-make-login")
    }
    return nil
  }
}
