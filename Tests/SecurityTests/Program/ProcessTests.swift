import Foundation
import Security
import TestKit
import Testing

extension OwnKeychain {
  /// Programs that share a store.
  @Suite struct ProcessTests {
    private let store = ProgramStore()
    private static let items = Soak.triesAll ? 60 : 20

    @Test func twoProgramsThatBeginAtOnceShareOneStore() async {
      store.use(groups: ["parent", "shared"])
      let path = store.path
      async let child = #expect(processExitsWith: .success) { [path = path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["child", "shared"]))
        for number in 0..<Self.items {
          guard add(password("child \(number)", secret("\(number)"))) == errSecSuccess else { exit(2) }
          // Both want these.
          let status = add(password("common \(number)", [kSecAttrAccessGroup: "shared"]))
          guard [errSecSuccess, errSecDuplicateItem].contains(status) else { exit(3) }
        }
      }
      for number in 0..<Self.items {
        insert(password("parent \(number)", secret("\(number)")))
        let status = add(password("common \(number)", [kSecAttrAccessGroup: "shared"]))
        #expect([errSecSuccess, errSecDuplicateItem].contains(status))
      }
      _ = await child
      #expect(count() == 2 * Self.items, "the child's own are out of reach")
      store.use(groups: ["child"])
      #expect(text(password("child 19")) == "19")
      #expect(count() == Self.items)
    }

    @Test func aStoreThatWasMovedAwayIsNotWrittenToAnyMore() throws {
      insert(password("old"))
      try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".moved")
      defer { try? FileManager.default.removeItem(atPath: store.path + ".moved") }
      #expect(find(password("old")) == errSecItemNotFound)
      insert(password("new"))
      #expect(count() == 1)
      LinuxKeychain.bootstrap(.init(directory: store.path + ".moved", accessGroups: store.groups))
      #expect(find(password("old")) == errSecSuccess)
      #expect(find(password("new")) == errSecItemNotFound)
    }

    @Test func aStoreThatOthersCouldReadIsRefusedWithTheReason() {
      insert(password("a"))
      LinuxKeychain.close()
      chmod(store.path + "/store/store.sqlite3", 0o644)
      let reports = Reports()
      store.use(report: reports)
      #expect(find(password("a")) == errSecNotAvailable)
      #expect(add(password("b")) == errSecNotAvailable)
      #expect(reports.all.count == 2)
      #expect(reports.all.first?.0 == errSecNotAvailable)
      #expect(reports.all.first?.1.contains("chmod 600") == true)
      chmod(store.path + "/store/store.sqlite3", 0o600)
      #expect(find(password("a")) == errSecSuccess)
      #expect(find(password("z")) == errSecItemNotFound)
      #expect(reports.all.count == 2, "not found is no trouble")
    }

    private func anchor() throws -> String {
      let names = try FileManager.default.contentsOfDirectory(atPath: store.path + "/anchor")
      let name = try #require(names.first { $0.hasSuffix(".anchor") })
      return try String(contentsOfFile: store.path + "/anchor/" + name, encoding: .utf8)
    }

    /// The size of the write-ahead log, in which lies what was deleted.
    private var logSize: Int {
      let log = store.path + "/store/store.sqlite3-wal"
      return (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
    }

    /// The anchor is written, and the log emptied, once a second, so the last change may have to wait.
    @Test func aProgramThatEndsLeavesNothingUndone() async throws {
      let path = store.path
      await #expect(processExitsWith: .success) { [path = path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["team.own"]))
        for account in ["a", "b", "c"] { guard add(password(account)) == errSecSuccess else { exit(2) } }
        guard delete(password("a")) == errSecSuccess else { exit(3) }
        exit(0)
      }
      #expect(try anchor() == "generation 5\n")
      #expect(logSize == 0)
    }

    @Test func soDoesAProgramThatCallsNothingAnyMore() async throws {
      for account in ["a", "b", "c"] { insert(password(account)) }
      #expect(delete(password("a")) == errSecSuccess)
      try await eventually("the anchor") { try anchor() == "generation 5\n" }
      try await eventually("the empty log") { logSize == 0 }
      #expect(find(password("a")) == errSecItemNotFound)
    }

    @Test func aStoreThatCannotBeReachedIsNotCalledEmpty() throws {
      insert(password("a"))
      LinuxKeychain.close()
      let reports = Reports()
      store.use(report: reports)
      let (place, away) = (store.path + "/store", store.path + "/away")
      let files = FileManager.default
      // A loop of links, which keeps even root out.
      try files.moveItem(atPath: place, toPath: away)
      try files.createSymbolicLink(atPath: place, withDestinationPath: place)
      #expect(find(password("a")) == errSecNotAvailable)
      #expect(add(password("b")) == errSecNotAvailable)
      // The store alone was taken away: its anchor tells.
      try files.removeItem(atPath: place)
      #expect(find(password("a")) == errSecNoSuchKeychain)
      #expect(add(password("b")) == errSecNoSuchKeychain)
      #expect(
        reports.all.map(\.0) == [errSecNotAvailable, errSecNotAvailable, errSecNoSuchKeychain, errSecNoSuchKeychain])
      try files.moveItem(atPath: away, toPath: place)
      #expect(find(password("a")) == errSecSuccess)
      // Nor is one made beside the key of the old one; without that a new store is made.
      LinuxKeychain.close()
      for path in [place, store.path + "/anchor"] { try files.removeItem(atPath: path) }
      #expect(add(password("b")) == errSecNoSuchKeychain)
      #expect(reports.all.last?.1.contains("/store.key is left of it") == true)
      try files.removeItem(atPath: store.path + "/store.key")
      #expect(find(password("a")) == errSecItemNotFound)
      insert(password("b"))
    }

    @Test func aDirectoryThatOthersCouldChangeIsRefused() {
      insert(password("a"))
      LinuxKeychain.close()
      chmod(store.path, 0o770)
      #expect(find(password("a")) == errSecNotAvailable)
      chmod(store.path, 0o700)
      #expect(find(password("a")) == errSecSuccess)
    }

    @Test func withoutItsKeyFileAStoreStaysShut() throws {
      insert(password("a"))
      LinuxKeychain.close()
      try FileManager.default.removeItem(atPath: store.path + "/store.key")
      #expect(find(password("a")) == errSecAuthFailed)
      #expect(add(password("b")) == errSecAuthFailed)
      #expect(!FileManager.default.fileExists(atPath: store.path + "/store.key"), "no new one")
    }
  }
}
