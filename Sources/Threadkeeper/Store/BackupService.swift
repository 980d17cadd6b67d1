import FoundationEssentials
import Glibc
import KeychainCore
import LocalAPI
import Logging
import Settings
import SodiumCrypto

/// Makes backups, in the running daemon or without one. Others use the store meanwhile.
///
/// A backup is first written into a file in the store's directory, which has no name by the time it is sent. So a
/// client that reads slowly holds up no transaction, and nothing is left when it goes.
struct BackupService {
  /// Of a backup that is being written.
  private static let draftName = "backup"
  /// The most bytes of a piece, before base64: a message is at most 512 KiB.
  private static let pieceLength = 192 << 10

  private let settings: Settings
  private let logger: Logger
  private let reserve: UInt64
  /// One after the other: each reads the whole store.
  private let turn = Locked(())

  /// - Parameter reserve: bytes that a backup leaves free for the store itself.
  init(_ settings: Settings, logger: Logger, reserve: UInt64 = 64 << 20) {
    self.reserve = reserve
    self.settings = settings
    self.logger = logger
    // What a daemon left that was killed while it wrote a backup.
    let directory = settings.store.path
    let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    for name in names where name.hasPrefix(Self.draftName + BackupDraft.suffix) { unlink(directory + "/" + name) }
  }

  /// - Parameter each: gets the next bytes of the file.
  func make(of keychain: Keychain, with machine: Data?, for actor: String, each: (Data) throws -> Void) throws
    -> BackupOutcome
  {
    let (file, outcome) = try turn.withLock { _ in try write(keychain, [UInt8](machine ?? Data())) }
    logger.notice("backup written", metadata: ["items": "\(outcome.items)", "by": "\(actor)"])
    for offset in stride(from: 0, to: outcome.fileBytes, by: Self.pieceLength) {
      try each(Data(file.read(at: offset, count: min(Self.pieceLength, outcome.fileBytes - offset))))
    }
    return outcome
  }

  private func write(_ keychain: Keychain, _ machine: [UInt8]) throws -> (FileBytes, BackupOutcome) {
    try checkSpace()
    do {
      // Without its name when this returns.
      let draft = try BackupDraft(settings.store.path + "/" + Self.draftName, replacing: true)
      let trailer = try keychain.backup(into: draft, with: machine)
      return (draft.file, BackupOutcome(trailer, fileBytes: try draft.file.length(), settings))
    } catch { throw CommandFailure(backup: error) }
  }

  /// - Throws: `CommandFailure` where the copy would take what the store needs to work.
  func checkSpace() throws(CommandFailure) {
    var (store, disk) = (stat(), statvfs())
    guard stat(OpenStore.location(settings).databasePath, &store) == 0, statvfs(settings.store.path, &disk) == 0 else {
      return
    }
    let free = UInt64(disk.f_bavail) * UInt64(disk.f_frsize)
    let needed = UInt64(clamping: store.st_size) + reserve
    guard free < needed else { return }
    throw CommandFailure(
      .cannotCreate,
      "\(settings.store.path) has \(free >> 20) MiB free, and the daemon needs \(needed >> 20) MiB there for a backup",
      remedy: "free some space")
  }
}

/// When the last backup was made: a file beside the store with the seconds since 1970 in it. For people who ask, so
/// nothing fails where it cannot be written, and it proves nothing.
enum BackupNote {
  static func path(_ settings: Settings) -> String { settings.store.path + ".last-backup" }

  /// Notes one that was made now, and is in its place. The file is the store's owner's, also where root writes it.
  static func write(_ settings: Settings) {
    let descriptor = open(path(settings), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var (file, store) = (stat(), stat())
    // The owner could have put another file's second name here, for root to write to.
    guard fstat(descriptor, &file) == 0, file.st_mode & S_IFMT == S_IFREG, file.st_nlink == 1,
      stat(settings.store.path, &store) == 0,
      file.st_uid == store.st_uid || fchown(descriptor, store.st_uid, store.st_gid) == 0, ftruncate(descriptor, 0) == 0
    else { return }
    let text = Array("\(time(nil))\n".utf8)
    _ = Glibc.write(descriptor, text, text.count)
  }

  /// Seconds since 1970; nil where none is noted, and for what no clock can have said.
  static func read(_ settings: Settings) -> Int64? {
    let descriptor = open(path(settings), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)).prefix { $0 != 0x0A }, as: UTF8.self)
    return Int64(text).flatMap { (0...Int64(UInt32.max)).contains($0) ? $0 : nil }
  }
}
