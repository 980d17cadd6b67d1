import Glibc
import SQLiteDatabase
import SodiumCrypto
import ThreadkeeperSupport

/// What a restore has done.
package struct RestoreReport: Equatable, Sendable {
  package var backup: BackupTrailer
  /// Whether there was a store in its place.
  package var replaced: Bool
  /// By how many generations the anchor was ahead of the backup; nil where there was none to compare with.
  package var behindBy: UInt64?
  /// Changes that the backup does not have: they are lost. Nil where there is no telling how many, because a backup was
  /// restored meanwhile, or several: each leaves out `BackupRestore.margin` generations.
  package var changesLost: UInt64? { behindBy.flatMap { $0 < BackupRestore.margin ? $0 : nil } }
  /// Records that are restored.
  package var records: UInt32
  /// Items that are restored.
  package var items: UInt64
  /// Items for another device only, which are in the backup and not in the store.
  package var leftOut = 0
  /// Items that could not be tried, because their class is locked.
  package var locked = 0
  /// Items and records that do not open: they were damaged when the backup was made.
  package var damaged = 0
  /// The slot that the key file of this machine got, and whether the file was made.
  package var newSlot: KeySlot?
  package var madeKeyFile = false
  /// Why the anchor could not be written. It is then behind the store, until that is opened again.
  package var anchorProblem: String?
}

/// Puts the store of a backup in place of another one, on the machine where it was made or on another.
package struct BackupRestore {
  /// Generations that a restore leaves out. The anchor is written once a second: what was committed after it must be
  /// left behind as well.
  static let margin: UInt64 = 100_000

  package var location: StoreLocation
  /// Whether an existing store may go.
  package var isReplacing = false
  /// Asked one after the other when no secret opens the backup. They get the refusal and the slots of the backup, which
  /// nobody has verified yet.
  package var further: [(KeychainError, [KeySlot]) throws -> [KeySlotSecret]] = []
  /// The key file with which this machine opens its store. Where what opened the backup was given
  /// for this once, it gets a slot of its own, and is made if there is none. Nil: this machine has
  /// another way.
  package var keyFile: String?
  package var options = KeychainOptions()
  package var progress: (_ done: UInt64, _ total: UInt64) -> Void = { _, _ in }
  /// Gets the verified store before it is in its place.
  package var inspect: (Keychain) throws -> Void = { _ in }

  package init(to location: StoreLocation) { self.location = location }

  /// Verifies all of a backup, and changes nothing: what was given along with it, and the secret that opens it.
  ///
  /// - Throws: as `run`.
  package func attachment(of file: BackupFile, with secrets: [KeySlotSecret]) throws(KeychainError) -> (
    attachment: [UInt8], secret: KeySlotSecret
  ) {
    try KeychainError.wrap("reading the backup") {
      try Sodium.initialize()
      let place = try Self.temporaryDirectory()
      defer { try? StagingDirectory.remove(place) }
      let staging = try StagingDirectory(beside: StoreLocation(directory: place + "/store"))
      return try file.checking {
        let copied = try file.copy(to: staging.location.databasePath, progress: progress)
        let (store, secret) = try openFirst(secrets, at: staging.location)
        defer { store.close() }
        _ = try file.verify(with: store, copied: copied)
        return (try file.attachment(with: store), secret)
      }
    }
  }

  /// Root's own may be closed to the user that the store is made as.
  private static func temporaryDirectory() throws(KeychainError) -> String {
    for parent in [getenv("TMPDIR").map { String(cString: $0) }, "/tmp"] {
      guard let parent, !parent.isEmpty else { continue }
      var template = Array((parent + "/threadkeeper-XXXXXX").utf8CString)
      if mkdtemp(&template) != nil {
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
      }
    }
    throw .system("make a directory in", path: "/tmp")
  }

  /// Nobody may have the store that is replaced open for writing.
  ///
  /// Everything is verified first, with the key: each byte of the file; and which items and records open.
  /// Killed at any moment, the store is the old one or the new one. The new one counts on from the
  /// anchor, so that it is not taken for a store that was rolled back.
  ///
  /// Items for this device only stay in the backup, unless the device key that they were added with is here.
  ///
  /// - Parameter secrets: the first that opens the backup is used.
  /// - Throws: `duplicateKeychain` when there is a store and `isReplacing` is not set; `decode` for a
  ///   backup that was altered; `authFailed` when nothing opens it; `notAvailable` with `lockHolder`
  ///   when the store is in use. After any error the store is as it was.
  package func run(_ file: BackupFile, with secrets: [KeySlotSecret]) throws(KeychainError) -> RestoreReport {
    try KeychainError.wrap("restoring the backup") {
      try Sodium.initialize()
      let lock = try location.lockForMaking(replacing: isReplacing)
      let replaced = location.hasStore
      let staging = try StagingDirectory(beside: location)
      // After the exchange this removes the old store.
      defer { staging.remove() }
      let copied = try file.checking { try file.copy(to: staging.location.databasePath, progress: progress) }

      var report = RestoreReport(
        backup: file.trailer, replaced: replaced, behindBy: nil, records: file.trailer.records,
        items: file.trailer.items)
      do {
        let generation = try prepare(file, copied, secrets, in: staging, &report)
        try FileBytes(staging.location.databasePath).sync()
        // Whoever opens it must wait until the anchor is written.
        let newLock = try StoreLock(staging.location.lockPath)
        try staging.exchange()
        // The store is in its place now, and ahead of its anchor, which the next opening can fix.
        withExtendedLifetime((lock, newLock)) {
          do throws(KeychainError) { try anchor(file).write(generation) } catch { report.anchorProblem = error.message }
        }
      } catch {
        if report.madeKeyFile, let keyFile { unlink(keyFile) }
        throw error
      }
      return report
    }
  }

  private func anchor(_ file: BackupFile) -> Anchor { Anchor(path: location.anchorPath(file.trailer.store)) }

  /// Verifies the copy, and makes it this machine's store. Returns its generation.
  private func prepare(
    _ file: BackupFile, _ copied: [UInt8], _ secrets: [KeySlotSecret], in staging: StagingDirectory,
    _ report: inout RestoreReport
  ) throws -> UInt64 {
    let (staged, secret) = try file.checking { try openFirst(secrets, at: staging.location) }
    defer { staged.close() }
    (report.locked, report.damaged) = try file.checking { try file.verify(with: staged, copied: copied) }
    report.leftOut = try leaveOutOtherDevice(staged)
    report.locked -= min(report.leftOut, report.locked)
    report.items -= min(UInt64(report.leftOut), report.items)
    try admitKeyFile(to: staged, openedBy: secret, &report)
    if case .generation(let anchored) = try anchor(file).read() {
      report.behindBy = max(anchored, file.trailer.generation) - file.trailer.generation
    }
    try inspect(staged)
    let generation = try goBeyond(report, staged)
    guard try staged.database.checkpointTruncate() else {
      throw KeychainError(.notAvailable, "somebody reads the store while it is made", isTemporary: true)
    }
    return generation
  }

  private func openFirst(_ secrets: [KeySlotSecret], at location: StoreLocation) throws -> (Keychain, KeySlotSecret) {
    var refusal = KeychainError(.authFailed, "there is nothing to open it with")
    for position in 0...further.count {
      let group = try position == 0 ? secrets : further[position - 1](refusal, Keychain.slots(at: location))
      for (number, secret) in group.enumerated() {
        do { return (try Keychain.open(at: location, with: secret, options: options), secret) } catch {
          guard error.status == .authFailed else { throw error }
          // Of what was tried last, what was likeliest.
          if number == 0 { refusal = error }
        }
      }
    }
    throw refusal
  }

  /// Deletes the classes for another device only. Where that cannot be seen, because they are locked or the file of the
  /// device key cannot be read, they stay. Returns how many items it were.
  private func leaveOutOtherDevice(_ staged: Keychain) throws -> Int {
    try staged.database.write { tx in
      var count = 0
      for accessible in Accessibility.allCases where accessible.isThisDeviceOnly {
        guard let key = try KeyTable.newest(accessible.keyPurpose, in: tx), try isOfOtherDevice(key, staged.keys, tx)
        else { continue }
        let ledger = try staged.ledger(tx)
        count += try staged.deleteClass(accessible, ledger, in: tx)
        staged.auditLog.note(.deleted, "the items and keys of another device, \(accessible)", ledger)
      }
      return count
    }
  }

  private func isOfOtherDevice(_ id: KeyID, _ keys: KeyRing, _ tx: ReadTransaction) throws -> Bool {
    switch try keys.deviceKeyFile() {
    case .missing: return true
    case .unusable: return false
    case .key:
      do {
        _ = try keys.key(id, in: tx)
        return false
      } catch let error as KeychainError { return error.status == .notAvailable }
    }
  }

  private func admitKeyFile(to staged: Keychain, openedBy secret: KeySlotSecret, _ report: inout RestoreReport) throws {
    if case .systemdCredential = secret { return }
    guard let keyFile, try staged.slotsOpened(by: .keyFile(path: keyFile)).isEmpty else { return }
    report.madeKeyFile = try KeyFile.createIfAbsent(keyFile)
    report.newSlot = try staged.addKeySlot(.keyFile(path: keyFile), label: "restored")
  }

  /// Counts on, beyond all that was ever committed in the store that is replaced. Returns where it is.
  private func goBeyond(_ report: RestoreReport, _ staged: Keychain) throws -> UInt64 {
    try staged.database.write { tx in
      let ledger = try staged.ledger(tx)
      guard ledger.manifest?.advance(by: report.behindBy ?? 0) == true,
        ledger.manifest?.advance(by: Self.margin) == true, let manifest = ledger.manifest
      else { throw ManifestStore.noGenerationLeft() }
      let lost = report.changesLost.map { "\($0) changes" } ?? "all changes"
      staged.auditLog.note(.restored, "a backup; \(lost) since then are lost", ledger)
      // The commit itself is one more.
      return manifest.generation + 1
    }
  }
}

// glibc declares it for _GNU_SOURCE only, which Swift's module of it does not set. The flag 1 is
// RENAME_NOREPLACE, 2 is RENAME_EXCHANGE.
@_silgen_name("renameat2") func renameat2(
  _: Int32, _: UnsafePointer<CChar>, _: Int32, _: UnsafePointer<CChar>, _: UInt32
) -> Int32

/// Where a store is put together before it takes the place of another one: a directory beside the
/// store's. The two are exchanged in one step of the file system, so that at every moment one whole
/// store is in place, with the log that belongs to it.
///
/// Only for who holds the store's lock.
struct StagingDirectory {
  let path: String
  private let target: StoreLocation

  /// Makes it, empty. What a killed restore has left goes.
  init(beside target: StoreLocation) throws(KeychainError) {
    self.target = target
    path = target.directory + ".restoring"
    try Self.remove(path)
    try StoreLocation.makeOwnDirectory(path)
  }

  /// The store in it. Its anchor lies in it too, and counts for nothing.
  var location: StoreLocation { StoreLocation(directory: path, anchorDirectory: path + "/anchor") }

  /// Puts it in the store's place; from here on it holds what was there.
  func exchange() throws(KeychainError) {
    FilePath.syncDirectory(path)
    guard renameat2(AT_FDCWD, path, AT_FDCWD, target.directory, 2) == 0 else {
      let code = errno
      let failed = KeychainError.system("put in place", path: target.directory, code: code)
      guard code == EBUSY || code == EXDEV || code == EINVAL || code == ENOSYS else { throw failed }
      throw KeychainError(
        .notAvailable,
        "\(failed.message): a mount point, or a file system that cannot exchange directories."
          + " Restore into a directory below it and name that in `store.path`")
    }
    FilePath.syncDirectory(FilePath.directory(of: path))
  }

  func remove() { try? Self.remove(path) }

  static func remove(_ path: String) throws(KeychainError) {
    guard let names = StoreLocation.names(in: path) else {
      if errno == ENOENT { return }
      throw .system("look into", path: path)
    }
    for name in names.map({ "\(path)/\($0)" }) where unlink(name) != 0 {
      guard errno == EISDIR else { throw .system("remove", path: name) }
      try remove(name)
    }
    guard rmdir(path) == 0 else { throw .system("remove", path: path) }
  }
}
