import Foundation
import TestKit
import Testing

@testable import KeychainCore

@Suite struct StoreFilesTests {
  @Test func filesAreForTheOwnerAlone() throws {
    let store = try TemporaryStore()
    try store.add("anna")
    for directory in [store.location.directory, store.location.anchorDirectory] {
      #expect(try mode(directory) == 0o700)
      for file in try FileManager.default.contentsOfDirectory(atPath: directory) {
        #expect(try mode(directory + "/" + file) == 0o600, "\(file)")
      }
    }
    #expect(FileManager.default.fileExists(atPath: store.location.databasePath + "-wal"))
  }

  @Test(arguments: ["directory", "store.sqlite3", "store.sqlite3-wal", "store.lock", "key"])
  func aFileThatOthersCanReadIsRefused(_ name: String) throws {
    let store = try TemporaryStore()
    try store.add("anna")
    let path =
      switch name {
      case "directory": store.location.directory
      case "key": store.keyFilePath
      default: store.location.directory + "/" + name
      }
    try store.openBeside().close()
    chmod(path, name == "directory" ? 0o750 : 0o640)
    let error = #expect(throws: KeychainError.self) { try store.openBeside() }
    #expect(error?.status == .notAvailable && error?.message.contains("chmod") == true)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away")) func aFileOfAnotherUserIsRefused() throws {
    let store = try TemporaryStore()
    chown(store.location.databasePath, 65534, 65534)
    refuses(.notAvailable) { try store.openBeside() }
  }

  @Test func aLinkIsRefused() throws {
    let store = try TemporaryStore()
    store.keychain.close()
    let moved = store.path + "/moved.sqlite3"
    try FileManager.default.moveItem(atPath: store.location.databasePath, toPath: moved)
    try FileManager.default.createSymbolicLink(atPath: store.location.databasePath, withDestinationPath: moved)
    refuses(.notAvailable) { try store.openBeside() }
  }

  @Test func whereThereIsNoStoreThatIsSaid() throws {
    let directory = try TemporaryDirectory()
    let location = StoreLocation(directory: directory.file("none"))
    #expect(!Keychain.exists(at: location))
    refuses(.noSuchKeychain) { try Keychain.open(at: location, with: .keyFile(path: directory.file("key"))) }
    let store = try TemporaryStore()
    #expect(Keychain.exists(at: store.location))
    store.keychain.close()
    refuses(.duplicateKeychain) { try Keychain.create(at: store.location, slots: [store.keyFile]) }
  }

  @Test("Nothing is made below a home directory that is missing, nor that directory") func noHome() throws {
    let directory = try TemporaryDirectory()
    let home = directory.file("home")
    for path in [home, home + "/.local/share/threadkeeper/store", home + "//a"] {
      for home in [home, home + "/"] {
        do {
          try StoreLocation.makeDirectory(path, home: home)
          Issue.record("made \(path)")
        } catch { #expect(error.status == .writePermission && error.message.contains("home is missing: make that")) }
      }
    }
    #expect(!FileManager.default.fileExists(atPath: home))
    for home in [home, directory.path, "", "home", nil] {
      let path = directory.file("homes/\(UUID())/store")
      try StoreLocation.makeDirectory(path, home: home)
      #expect(try mode(path) == 0o700)
    }
  }

  @Test(arguments: ["-wal", "-shm", "-journal"]) func theLogOfAnEarlierStoreIsNotPlayedIntoANewOne(_ suffix: String)
    throws
  {
    let directory = try TemporaryDirectory()
    let location = StoreLocation(directory: directory.file("store"))
    let key = KeySlotSecret.keyFile(path: directory.file("key"))
    try Keychain.create(at: location, slots: [key]).close()
    try FileManager.default.removeItem(atPath: location.databasePath)
    let leftover = location.databasePath + suffix
    try Data("of another store".utf8).write(to: URL(fileURLWithPath: leftover))
    let error = #expect(throws: KeychainError.self) { try Keychain.create(at: location, slots: [key]) }
    #expect(error?.status == .notAvailable && error?.message.contains(leftover) == true)
    #expect(FileManager.default.contents(atPath: leftover) == Data("of another store".utf8))
  }

  @Test func anAnchorThatOthersCanReachIsRefused() throws {
    let store = try TemporaryStore()
    let anchor = store.location.anchorDirectory + "/\(store.keychain.storeID).anchor"
    for (path, mode) in [(anchor, 0o600), (store.location.anchorDirectory, 0o700)] {
      chmod(path, mode_t(mode | 0o022))
      refuses(.notAvailable) { try store.openBeside() }
      chmod(path, mode_t(mode))
      try store.openBeside().close()
    }
  }

  @Test func halfAKeyFileIsInNobodysWay() throws {
    let directory = try TemporaryDirectory()
    let key = directory.file("key")
    try Data("0123".utf8).write(to: URL(fileURLWithPath: key + ".new"))
    let location = StoreLocation(directory: directory.file("store"))
    try Keychain.create(at: location, slots: [.keyFile(path: key)]).close()
    #expect(try mode(key) == 0o400)
    #expect(!FileManager.default.fileExists(atPath: key + ".new"))
  }

  @Test func whatAnInterruptedCreationLeftIsInNobodysWay() throws {
    let directory = try TemporaryDirectory()
    let location = StoreLocation(directory: directory.file("store"))
    try FileManager.default.createDirectory(
      atPath: location.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let leftover = location.directory + "/store.sqlite3.unfinished"
    try Data("half a store".utf8).write(to: URL(fileURLWithPath: leftover))
    #expect(!Keychain.exists(at: location))
    let keychain = try Keychain.create(at: location, slots: [.keyFile(path: directory.file("key"))])
    #expect(keychain.condition == .healthy && keychain.notices.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: leftover))
  }

  @Test func aFailedCreationLeavesNoKeyFile() throws {
    let disk = FaultyDisk()
    disk.arm(.full(at: 3))
    var options = KeychainOptions()
    options.vfs = disk.name
    let directory = try TemporaryDirectory()
    let location = StoreLocation(directory: directory.file("store"))
    let key = directory.file("key")
    refuses(.diskFull) { try Keychain.create(at: location, slots: [.keyFile(path: key)], options: options) }
    #expect(!Keychain.exists(at: location) && !FileManager.default.fileExists(atPath: key))
    disk.repair()
    _ = try Keychain.create(at: location, slots: [.keyFile(path: key)], options: options)
  }

  @Test(arguments: ["application_id", "user_version"]) func aFileOfAnotherFormatIsRefused(_ pragma: String) throws {
    let store = try TemporaryStore()
    store.keychain.close()
    try store.raw().run("PRAGMA \(pragma) = 5")
    refuses(pragma == "user_version" ? .notAvailable : .decode) { try store.openBeside() }
  }

  @Test func whatIsNoDatabaseIsRefused() throws {
    let store = try TemporaryStore()
    store.keychain.close()
    try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: store.location.databasePath))
    refuses(.decode) { try store.openBeside() }
    refuses(.decode) { try Keychain.open(at: store.location, with: store.keyFile) }
  }

  @Test(arguments: [
    "CREATE TRIGGER planted AFTER INSERT ON items BEGIN DELETE FROM items WHERE id = 1; END",
    "CREATE INDEX planted ON items (metadata)", "DROP INDEX items_primary",
    "ALTER TABLE items RENAME COLUMN secret TO other",
  ]) func tablesThatWereAlteredAreRefused(_ sql: String) throws {
    let store = try TemporaryStore()
    store.keychain.close()
    try store.raw().run(sql)
    refuses(.decode) { try store.openBeside() }
  }
}

@Suite("A store that is gone") struct LostStoreTests {
  enum Loss: CaseIterable { case removed, emptied, empty, directory, log, logAndDirectory }

  /// What is left of it besides the log.
  enum Trace: CaseIterable { case anchorAndKey, anchor, key }

  private let directory: TemporaryDirectory
  private let location: StoreLocation
  private let key: String
  private let files = FileManager.default

  init() throws {
    directory = try TemporaryDirectory()
    location = StoreLocation(directory: directory.file("disk/store"), anchorDirectory: directory.file("anchor"))
    key = directory.file("elsewhere/store.key")
    try Keychain.create(at: location, slots: [.keyFile(path: key)]).close()
  }

  private func lose(_ loss: Loss) throws {
    let path = location.databasePath
    switch loss {
    case .removed: try files.removeItem(atPath: path)
    case .emptied:
      for name in try files.contentsOfDirectory(atPath: location.directory) {
        try files.removeItem(atPath: "\(location.directory)/\(name)")
      }
    case .empty: try Data().write(to: URL(fileURLWithPath: path))
    case .directory: try files.removeItem(atPath: location.directory)
    case .log:
      try files.removeItem(atPath: path)
      try Data("a log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
    // As where the disk is not mounted.
    case .logAndDirectory: try files.removeItem(atPath: directory.file("disk"))
    }
  }

  @Test(
    "However it went, and whatever is left of it: it is not the same as none, and nothing is made",
    arguments: Loss.allCases, Trace.allCases) func lost(_ loss: Loss, _ trace: Trace) throws
  {
    let anchors = try files.contentsOfDirectory(atPath: location.anchorDirectory).map {
      "\(location.anchorDirectory)/\($0)"
    }
    if trace == .key { for anchor in anchors { try files.removeItem(atPath: anchor) } }
    if trace == .anchor { try files.removeItem(atPath: key) }
    try lose(loss)
    let expected = (trace == .key ? [] : anchors) + (trace == .anchor ? [] : [key])
    do {
      _ = try location.holdsStore(keys: [key])
      Issue.record("it counts as none")
    } catch {
      #expect(error.status == .noSuchKeychain)
      for path in expected { #expect(error.message.contains(path), "\(error.message)") }
    }
    #expect(!Keychain.exists(at: location))
    // What the message says helps.
    for path in expected { try files.removeItem(atPath: path) }
    for path in [location.databasePath, location.databasePath + "-wal"] { try? files.removeItem(atPath: path) }
    #expect(try !location.holdsStore(keys: [key]))
    try Keychain.create(at: location, slots: [.keyFile(path: key)]).close()
    #expect(try location.holdsStore(keys: [key]))
  }

  @Test("A crash while the first store is made leaves nothing that counts as one") func unfinished() throws {
    try files.moveItem(atPath: location.databasePath, toPath: location.unfinishedPath)
    #expect(try !location.holdsStore(keys: [key]))
    let keychain = try Keychain.create(at: location, slots: [.keyFile(path: key)])
    #expect(keychain.condition == .healthy)
    #expect(!files.fileExists(atPath: location.unfinishedPath))
  }
}
