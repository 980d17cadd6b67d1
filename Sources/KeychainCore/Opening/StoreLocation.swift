import Glibc
import SQLiteDatabase
import SodiumCrypto
import ThreadkeeperSupport

/// Where a store lies.
package struct StoreLocation: Equatable, Sendable {
  /// The directory of the store's files; 0700, and nothing else belongs in it.
  package let directory: String
  /// Where the anchor lies: best on another file system, so that not both are rolled back at once.
  package let anchorDirectory: String

  /// The anchor's default is the directory `anchor` beside the store's.
  package init(directory: String, anchorDirectory: String? = nil) {
    let directory = Self.withoutTrailingSlash(directory)
    self.directory = directory
    self.anchorDirectory = anchorDirectory.map(Self.withoutTrailingSlash) ?? Self.parent(of: directory) + "/anchor"
  }

  package var databasePath: String { directory + "/store.sqlite3" }
  /// What SQLite keeps beside the database.
  var logPaths: [String] { ["-wal", "-shm", "-journal"].map { databasePath + $0 } }
  /// See `SpaceReserve`.
  var reservePath: String { directory + "/store.reserve" }
  var lockPath: String { directory + "/store.lock" }
  /// A store that is being made lies under this name until it is whole, from before its key is made.
  var unfinishedPath: String { directory + "/store.sqlite3.unfinished" }

  /// A random key that stays on this machine: beside the store, and in no backup of it.
  package var deviceKeyPath: String { Self.parent(of: directory) + "/device.key" }

  func anchorPath(_ store: StoreID) -> String { anchorDirectory + "/\(store).anchor" }

  package static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "" : String(path[..<slash])
  }

  private static func withoutTrailingSlash(_ path: String) -> String {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }
}

extension StoreLocation {
  /// Whether a store can be seen. A file of no bytes is none.
  var hasStore: Bool { Self.length(of: databasePath) > 0 }

  /// Whether there is a store, for whoever would go on without one: a store that is out of reach, or
  /// that somebody took away, is not the same as none.
  ///
  /// - Parameter keys: files that open it and nothing else. They are made with it, so one without a store is left of
  ///   one.
  /// - Throws: `notAvailable` when that cannot be seen, `noSuchKeychain` when there was a store.
  package func holdsStore(keys: [String]) throws(KeychainError) -> Bool {
    if try isInPlace() { return true }
    let left = try leftovers(keys)
    // Another process may have made it just now.
    guard !left.isEmpty, try !isInPlace() else { return try isInPlace() }
    let (are, them) = left.count == 1 ? ("is", "that") : ("are", "them")
    throw KeychainError(
      .noSuchKeychain,
      "there is no store at \(databasePath) any more, and \(left.joined(separator: ", ")) \(are) left of it: put the"
        + " store back, or move \(them) away too to start with a new store")
  }

  private func isInPlace() throws(KeychainError) -> Bool { try Self.hasName(databasePath) && hasStore }

  /// What only a store leaves behind.
  private func leftovers(_ keys: [String]) throws(KeychainError) -> [String] {
    var left: [String] = []
    for path in [databasePath] + logPaths where try Self.hasName(path) { left.append(path) }
    // Made before the store is put in place: a crash may have come between, or another process makes it now.
    var made: [String] = []
    for path in keys where try Self.hasName(path) { made.append(path) }
    made += try anchors(afterFirst: false)
    guard try Self.hasName(unfinishedPath) else { return left + made }
    return try left + anchors(afterFirst: true)
  }

  /// - Parameter afterFirst: leaves out those that are written when a store is made.
  private func anchors(afterFirst: Bool) throws(KeychainError) -> [String] {
    guard let names = Self.names(in: anchorDirectory) else {
      guard errno == ENOENT || errno == ENOTDIR else { throw Self.outOfReach(anchorDirectory) }
      return []
    }
    var found: [String] = []
    for name in names.sorted() where name.hasSuffix(".anchor") {
      let path = "\(anchorDirectory)/\(name)"
      switch try Anchor(path: path).read() {
      case .missing: break
      case .generation(...1) where afterFirst: break
      case .generation, .unreadable: found.append(path)
      }
    }
    return found
  }

  private static func hasName(_ path: String) throws(KeychainError) -> Bool {
    var status = stat()
    if lstat(path, &status) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else { throw outOfReach(path) }
    return false
  }

  private static func outOfReach(_ path: String) -> KeychainError {
    let reason = String(cString: strerror(errno))
    return KeychainError(.notAvailable, "whether there is a store at \(path) cannot be seen: \(reason)")
  }
}

extension StoreLocation {
  /// Makes the directory, and those above it, for this user alone. A home directory is never made: where it is missing,
  /// the user has none, or its disk is not there yet.
  ///
  /// - Parameter home: value of `HOME`.
  package static func makeDirectory(_ path: String, home: String? = getenv("HOME").map { String(cString: $0) })
    throws(KeychainError)
  {
    try checkHome(home, isAbove: path)
    if mkdir(path, 0o700) == 0 {
      FilePath.syncDirectory(FilePath.directory(of: path))
      return
    }
    if errno == EEXIST { return }
    guard errno == ENOENT, !path.isEmpty, path != "." else { throw notMade(path) }
    try makeDirectory(parent(of: path), home: home)
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw notMade(path) }
    FilePath.syncDirectory(FilePath.directory(of: path))
  }

  /// Refuses what is, or lies below, a home directory that is missing.
  private static func checkHome(_ home: String?, isAbove path: String) throws(KeychainError) {
    guard let home = home.map(withoutTrailingSlash), home.hasPrefix("/"), path == home || path.hasPrefix(home + "/")
    else { return }
    var status = stat()
    guard stat(home, &status) != 0, errno == ENOENT || errno == ENOTDIR else { return }
    throw KeychainError(
      .writePermission,
      "\(path) is not made, as the home directory \(home) is missing: make that, set HOME to one that is there, or"
        + " name another place")
  }

  private static func notMade(_ path: String) -> KeychainError {
    let error = KeychainError.system("make the directory", path: path)
    switch error.status {
    // A place where nobody can make one: below a file, in /proc, on a disk that takes no changes.
    case .noSuchKeychain, .readOnly: return KeychainError(.writePermission, error.message)
    default: return error
    }
  }

  /// Makes a directory as `makeDirectory` does, or finds one that nobody else can read.
  static func makeOwnDirectory(_ path: String) throws(KeychainError) {
    try makeDirectory(path)
    try checkDirectory(path)
  }

  /// Makes the directories of a store, and takes its lock.
  ///
  /// - Throws: `duplicateKeychain` where there is one, unless it may go.
  func lockForMaking(replacing: Bool = false) throws(KeychainError) -> StoreLock {
    for path in [directory, anchorDirectory] { try Self.makeOwnDirectory(path) }
    let lock = try StoreLock(lockPath)
    guard replacing || !hasStore else {
      throw KeychainError(.duplicateKeychain, "there is a store at \(databasePath) already")
    }
    return lock
  }

  /// The names in a directory but `.` and `..`; nil when it cannot be read, and then `errno` says why.
  static func names(in path: String) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }

  /// Whether something has that name, as far as this user can see.
  static func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// In bytes; 0 where there is nothing.
  static func length(of path: String) -> UInt64 {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt64(clamping: status.st_size) : 0
  }

  /// Refuses a directory that others could read or change, or that belongs to another.
  package static func checkDirectory(_ path: String) throws(KeychainError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .system("find the directory", path: path) }
    try check(status, S_IFDIR, path: path, remedy: "chmod 700")
  }

  /// Refuses a file that others could read or change, or that belongs to another. False when there
  /// is none. The file is not opened: closing it would drop SQLite's locks on it.
  @discardableResult static func checkFile(_ path: String, remedy: String = "chmod 600") throws(KeychainError) -> Bool {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT { return false }
      throw .system("look at", path: path)
    }
    try check(status, path: path, remedy: remedy)
    return true
  }

  /// The same for a file that is open.
  static func checkFile(open descriptor: Int32, path: String, remedy: String) throws(KeychainError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system("look at", path: path) }
    try check(status, path: path, remedy: remedy)
  }

  /// All that the store consists of.
  func checkFiles() throws(KeychainError) {
    try Self.checkDirectory(directory)
    for path in [databasePath, lockPath] + logPaths { try Self.checkFile(path) }
    if Self.isThere(anchorDirectory) { try Self.checkDirectory(anchorDirectory) }
  }

  private static func check(_ status: stat, _ kind: mode_t = S_IFREG, path: String, remedy: String)
    throws(KeychainError)
  {
    guard status.st_mode & S_IFMT == kind else {
      throw KeychainError(.notAvailable, "\(path) is no \(kind == S_IFDIR ? "directory" : "ordinary file")")
    }
    guard status.st_uid == geteuid() else {
      throw KeychainError(
        .notAvailable,
        "\(path) belongs to user \(status.st_uid), this program runs as user \(geteuid()):"
          + " run it as the owner, or give it the file with chown")
    }
    guard status.st_mode & 0o077 == 0 else {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw KeychainError(
        .notAvailable, "\(path) is open to other users (mode \(mode)): close it with \(remedy) \(path)")
    }
  }
}

/// How a keychain behaves.
package struct KeychainOptions: Sendable {
  /// Whether what a commit leaves behind waits until the owner calls `tick`: deleted secrets in the
  /// write-ahead log, and the anchor. So no call waits for it, and a hundred changes in a row are not
  /// a hundred times as much to write. Otherwise the anchor is written at most once in
  /// `anchorInterval`, and the log is emptied after each transaction that deleted an item or changed
  /// a secret.
  package var defersUpkeep = false
  /// For passphrase slots that are made.
  package var passwordHash = Argon2id.Parameters.standard
  /// The least time between two writes of the anchor after commits, in nanoseconds.
  package var anchorInterval: UInt64 = 1_000_000_000
  /// How long to wait for another process that shares the store, in nanoseconds.
  package var turnLimit: UInt64 = 10_000_000_000
  /// Microseconds since 1970, for the dates of items.
  package var now: @Sendable () -> Int64 = { KeychainOptions.systemTime() }
  /// Who makes the changes, for the audit; nil keeps none. See `Keychain.act`.
  package var auditor: String?
  /// A virtual file system of SQLite, for tests that need a failing disk.
  package var vfs: String?

  package init() {}

  var ofDatabase: SQLiteDatabase.Options {
    var options = SQLiteDatabase.Options()
    options.vfs = vfs
    return options
  }

  private static func systemTime() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
