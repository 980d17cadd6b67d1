// SPDX-License-Identifier: Apache-2.0

import Foundation
import Security
import TestKit
import Testing

extension OwnKeychain {
  /// Programs that share a store.
  @Suite struct ProcessTests {
    @Test func twoProgramsThatBeginAtOnceShareOneStore() async throws {
      let store = try ProgramStore(groups: ["parent", "shared"])
      async let child = #expect(processExitsWith: .success) { [path = store.path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["child", "shared"]))
        for number in 0..<60 {
          guard add(password("child \(number)", secret("\(number)"))) == errSecSuccess else {
            exit(2)
          }
          // Both want these.
          let status = add(password("common \(number)", [kSecAttrAccessGroup: "shared"]))
          guard [errSecSuccess, errSecDuplicateItem].contains(status) else { exit(3) }
        }
      }
      for number in 0..<60 {
        #expect(add(password("parent \(number)", secret("\(number)"))) == errSecSuccess)
        let status = add(password("common \(number)", [kSecAttrAccessGroup: "shared"]))
        #expect([errSecSuccess, errSecDuplicateItem].contains(status))
      }
      _ = await child
      #expect(count() == 120, "the child's own are out of reach")
      store.use(groups: ["child"])
      #expect(copy(password("child 59", [kSecReturnData: true])).data == Data("59".utf8))
      #expect(count() == 60)
    }

    /// The other program makes the first key of a class, which this one does not know yet.
    @Test func whatAnotherProgramAddsIsThereAtOnce() async throws {
      let store = try ProgramStore(groups: ["shared"])
      #expect(add(password("parent", secret("p"))) == errSecSuccess)
      await #expect(processExitsWith: .success) { [path = store.path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["shared"]))
        guard copy(password("parent", [kSecReturnData: true])).data == Data("p".utf8) else {
          exit(2)
        }
        for code in [kSecAttrAccessibleAlways, kSecAttrAccessibleAfterFirstUnlock] {
          guard
            add(password(code, secret("c").merging([kSecAttrAccessible: code]) { $1 }))
              == errSecSuccess
          else { exit(3) }
        }
        guard SecItemDelete(password("parent") as CFDictionary) == errSecSuccess else { exit(4) }
      }
      for code in [kSecAttrAccessibleAlways, kSecAttrAccessibleAfterFirstUnlock] {
        #expect(copy(password(code, [kSecReturnData: true])).data == Data("c".utf8))
        #expect(add(password("\(code) too", [kSecAttrAccessible: code])) == errSecSuccess)
      }
      #expect(copy(password("parent")).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func aStoreThatWasMovedAwayIsNotWrittenToAnyMore() throws {
      let store = try ProgramStore()
      #expect(add(password("old")) == errSecSuccess)
      try FileManager.default.moveItem(atPath: store.path, toPath: store.path + ".moved")
      defer { try? FileManager.default.removeItem(atPath: store.path + ".moved") }
      #expect(copy(password("old")).status == errSecItemNotFound)
      #expect(add(password("new")) == errSecSuccess)
      #expect(count() == 1)
      LinuxKeychain.bootstrap(
        .init(directory: store.path + ".moved", accessGroups: store.groups))
      #expect(copy(password("old")).status == errSecSuccess)
      #expect(copy(password("new")).status == errSecItemNotFound)
    }

    @Test func aStoreThatOthersCouldReadIsRefusedWithTheReason() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      LinuxKeychain.close()
      chmod(store.path + "/store/store.sqlite3", 0o644)
      let reports = Reports()
      var settings = LinuxKeychain.settings
      settings.report = { reports.note($0, $1) }
      LinuxKeychain.bootstrap(settings)
      #expect(copy(password("a")).status == errSecNotAvailable)
      #expect(add(password("b")) == errSecNotAvailable)
      #expect(reports.all.count == 2)
      #expect(reports.all.first?.0 == errSecNotAvailable)
      #expect(reports.all.first?.1.contains("chmod 600") == true)
      chmod(store.path + "/store/store.sqlite3", 0o600)
      #expect(copy(password("a")).status == errSecSuccess)
      #expect(copy(password("z")).status == errSecItemNotFound)
      #expect(reports.all.count == 2, "not found is no trouble")
    }

    private func anchor(_ store: ProgramStore) throws -> String {
      let names = try FileManager.default.contentsOfDirectory(atPath: store.path + "/anchor")
      let name = try #require(names.first { $0.hasSuffix(".anchor") })
      return try String(contentsOfFile: store.path + "/anchor/" + name, encoding: .utf8)
    }

    /// The anchor is written once a second, so the last change may have to wait.
    @Test func aProgramThatEndsLeavesNothingUndone() async throws {
      let store = try ProgramStore(groups: ["own"])
      await #expect(processExitsWith: .success) { [path = store.path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["own"]))
        for account in ["a", "b", "c"] {
          guard add(password(account)) == errSecSuccess else { exit(2) }
        }
        exit(0)
      }
      #expect(try anchor(store) == "generation 4\n")
    }

    @Test func soDoesAProgramThatCallsNothingAnyMore() async throws {
      let store = try ProgramStore()
      for account in ["a", "b", "c"] { #expect(add(password(account)) == errSecSuccess) }
      try await eventually("the anchor") { try self.anchor(store) == "generation 4\n" }
    }

    /// What cannot be seen is not the same as what is not there.
    /// What was deleted lies in the log for a second or so, however many changes there are.
    @Test func whatWasDeletedIsOutOfTheLogSoonAfter() async throws {
      let store = try ProgramStore()
      for _ in 0..<5 {
        #expect(add(password("a", secret("x"))) == errSecSuccess)
        #expect(SecItemDelete(password("a") as CFDictionary) == errSecSuccess)
      }
      let log = store.path + "/store/store.sqlite3-wal"
      try await eventually("the empty log") {
        try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0
      }
      #expect(copy(password("a")).status == errSecItemNotFound)
      withExtendedLifetime(store) {}
    }

    @Test func aProgramThatEndsLeavesNothingInTheLog() async throws {
      let store = try ProgramStore()
      #expect(add(password("a", secret("x"))) == errSecSuccess)
      LinuxKeychain.close()
      await #expect(processExitsWith: .success) { [path = store.path as String] in
        LinuxKeychain.bootstrap(.init(directory: path, accessGroups: ["team.own"]))
        guard SecItemDelete(password("a") as CFDictionary) == errSecSuccess else { exit(1) }
        exit(0)
      }
      let log = store.path + "/store/store.sqlite3-wal"
      let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
      #expect(size ?? 0 == 0)
      withExtendedLifetime(store) {}
    }

    @Test func aStoreThatCannotBeReachedIsNotCalledEmpty() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      LinuxKeychain.close()
      let reports = Reports()
      var settings = LinuxKeychain.settings
      settings.report = { reports.note($0, $1) }
      LinuxKeychain.bootstrap(settings)
      let (place, away) = (store.path + "/store", store.path + "/away")
      let files = FileManager.default
      // A loop of links, which keeps even root out.
      try files.moveItem(atPath: place, toPath: away)
      try files.createSymbolicLink(atPath: place, withDestinationPath: place)
      #expect(copy(password("a")).status == errSecNotAvailable)
      #expect(add(password("b")) == errSecNotAvailable)
      // The store alone was taken away: its anchor tells.
      try files.removeItem(atPath: place)
      #expect(copy(password("a")).status == errSecNoSuchKeychain)
      #expect(add(password("b")) == errSecNoSuchKeychain)
      #expect(
        reports.all.map(\.0) == [
          errSecNotAvailable, errSecNotAvailable, errSecNoSuchKeychain, errSecNoSuchKeychain,
        ])
      try files.moveItem(atPath: away, toPath: place)
      #expect(copy(password("a")).status == errSecSuccess)
      // Without the anchor too, a new store is made.
      LinuxKeychain.close()
      for path in [place, store.path + "/anchor"] { try files.removeItem(atPath: path) }
      #expect(copy(password("a")).status == errSecItemNotFound)
      #expect(add(password("b")) == errSecSuccess)
    }

    @Test func aDirectoryThatOthersCouldChangeIsRefused() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      LinuxKeychain.close()
      chmod(store.path, 0o770)
      #expect(copy(password("a")).status == errSecNotAvailable)
      chmod(store.path, 0o700)
      #expect(copy(password("a")).status == errSecSuccess)
    }

    @Test func withoutItsKeyFileAStoreStaysShut() throws {
      let store = try ProgramStore()
      #expect(add(password("a")) == errSecSuccess)
      LinuxKeychain.close()
      try FileManager.default.removeItem(atPath: store.path + "/store.key")
      #expect(copy(password("a")).status == errSecAuthFailed)
      #expect(add(password("b")) == errSecAuthFailed)
      #expect(!FileManager.default.fileExists(atPath: store.path + "/store.key"), "no new one")
    }
  }
}
